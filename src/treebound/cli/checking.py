"""Verify the claims of one parsed sentence for `treebound check`, in a worker process.

A parsed file claims a tree and its score. By its bound and status it also claims something about all other trees. The
first claim is always verified. The second claim is verified with a proof, and reported as unverified without one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from treebound.checker.certificates import Certificate, certificate_faults, check_parse
from treebound.checker.proofs import proof
from treebound.core.dtypes import INDEX
from treebound.core.errors import InputError
from treebound.core.limits import TooLargeError
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.decoders.exact.branch_and_bound.record import certificate
from treebound.systems.graph.parser import Parser
from treebound.treebanks.claims import CLAIMS, COMMENT, KBEST, VALID, claims_in, number_in
from treebound.treebanks.document import Document

#: result of a check. optimal: the tree is proved to be the best one. bounded: no tree exceeds the bound. infeasible:
#: the sentence has no tree. scored: tree and score are right, and nothing else is claimed. unproved: tree and score are
#: right, and the bound was not checked. faulty: some claim is wrong
Verdict = Literal["optimal", "bounded", "infeasible", "scored", "unproved", "faulty"]


@dataclass(frozen=True)
class Checking:
    """The parser and the files of a check.

    parsed        name of the parsed file, for messages
    certificates  file with the proofs; None if a search proposes the proofs
    """

    parser: Parser
    parsed: str
    certificates: Path | None = None


@dataclass(frozen=True)
class Claimed:
    """One sentence of the parsed file.

    number  number of the sentence, from 1
    proof   number and text of its line in the certificate file
    prove   whether to verify the bound
    """

    number: int
    document: Document
    proof: tuple[int, bytes] | None = None
    prove: bool = True


@dataclass(frozen=True)
class Checked:
    """The result of the check of one sentence: its faults in plain text, the verdict, and the unchecked claims."""

    faults: list[str]
    verdict: Verdict
    ignored: frozenset[str] = frozenset()


@dataclass
class Summary:
    """Counts of the results of all sentences of a file."""

    verdicts: Counter[str] = field(default_factory=Counter)
    ignored: set[str] = field(default_factory=set)
    faults: int = 0

    def add(self, checked: Checked) -> None:
        """Count the result of one sentence."""
        self.verdicts[checked.verdict] += 1
        self.ignored |= checked.ignored
        self.faults += len(checked.faults)

    def __str__(self) -> str:
        texts = {
            "bounded": "with a proved bound",
            "infeasible": "proved to have no tree",
            "scored": "claim a tree and its score alone",
            "unproved": "claim more than a tree and its score, which was not verified",
            "faulty": "with faults",
        }
        count = self.verdicts
        parts = [f"{count['optimal']} proved optimal"] + [f"{count[v]} {text}" for v, text in texts.items() if count[v]]
        text = f"{count.total()} sentences: {', '.join(parts)}; {self.faults} faults"
        return text + (f"; not checked: {', '.join(sorted(self.ignored))}" if self.ignored else "")


def checked(how: Checking, claimed: Claimed) -> Checked:
    """Verify the claims of a sentence. Raises InputError for a damaged proof and for a sentence without claims."""
    parser, document = how.parser, claimed.document
    comments, faults = comments_in(how.parsed, claimed)
    if not faults and VALID in comments:
        faults = ["its tree is claimed to be the best valid one: use the same --valid as for parse"]
    ignored = ignored_claims(document, comments)
    problem = parser.problem(document.treebank, 0)
    stored = None  # read even if it is not used, so that --sample does not hide damage
    if claimed.proof and claimed.prove and how.certificates is not None:
        stored = proof(problem, how.certificates, *claimed.proof)
    if faults:
        return Checked(faults, "faulty", ignored)
    score, bound, status = number_in(comments["score"]), number_in(comments["bound"]), comments["status"]
    parse = Parse(document.treebank.heads(0), score, bound, cast("Any", status))
    space = parser.decoder.space
    faults = check_parse(problem, parse, space=space)
    verdict: Verdict = "scored"
    if not faults and bound < math.inf:
        verdict = "unproved"
        if claimed.prove:
            proof_ = stored if how.certificates is not None else _proposed(parser, problem, bound)
            faults = ["no proof of its bound"]
            if proof_ is not None:
                try:
                    faults = certificate_faults(problem, bound, proof_, space)
                except TooLargeError as error:
                    unchecked = f"the proof of sentence {claimed.number} ({error.reason})"
                    return Checked([], "unproved", ignored | {unchecked})
            verdict = "infeasible" if status == "infeasible" else "optimal" if status == "optimal" else "bounded"
    faults = faults or kbest_faults(parse, comments, partial(check_parse, problem, space=space))
    faults = faults or label_faults(parser, parse, document)
    return Checked(faults, "faulty" if faults else verdict, ignored)


def _proposed(parser: Parser, problem: Problem, bound: float) -> Certificate | None:
    """Search for a proof of the bound, and return the proof, which is not verified yet."""
    # a float avoids a second compilation of the search; the checker uses the exact bound
    record = cast("Any", parser.decoder).proof(problem, float(bound))
    return None if record is None else certificate(record)


def label_faults(parser: Parser, parse: Parse, document: Document) -> list[str]:
    """Return the labels of a tree that are not the labels that the model chooses for it."""
    if not parser.model.labelling.names or parse.value == -math.inf:
        return []
    return other_labels(document, parser.model.label_names(parser.labelled(parse, document.treebank, 0)))


def other_labels(document: Document, best: Sequence[str]) -> list[str]:
    """Return one fault for each word whose label is not the label in `best`."""
    words = enumerate(zip(document.treebank.strings("deprel"), best, strict=True), 1)
    return [f"word {m}: label {a}, the model's is {b}" for m, (a, b) in words if a != b]


def comments_in(parsed: str, claimed: Claimed) -> tuple[dict[str, str], list[str]]:
    """Return the claims in the comments of a sentence, and the faults of the comments."""
    comments = claims_in(claimed.document, 0).comments
    if not any(key in comments for key in CLAIMS):
        raise InputError(
            f"sentence {claimed.number}: no comments {', '.join(COMMENT + key for key in CLAIMS)}",
            path=parsed,
            hint="give a file that `treebound parse` wrote",
        )
    faults = [f"{key} is missing" for key in CLAIMS if key not in comments]
    several = [key for key in (*CLAIMS, *KBEST, VALID) if len(comments.get(key, ())) > 1]
    faults += [f"{key} appears {len(comments[key])} times" for key in several]
    for key in ("score", "bound"):
        values = comments.get(key, ())[:1]
        faults += [f"{key} {value[:40]!r} is no number" for value in values if number_in(value) is None]
    return {key: values[0] for key, values in comments.items()}, faults


def ignored_claims(document: Document, comments: dict[str, str]) -> frozenset[str]:
    """Return the claims of a sentence that `treebound check` does not verify."""
    ignored = {f"{key.lower()}s" for key in claims_in(document, 0).misc}
    if comments.get("kbest_complete") == "yes":
        ignored.add("that lists of k best trees are complete")
    return frozenset(ignored)


def kbest_faults(parse: Parse, comments: dict[str, str], faults_of: Callable[[Parse], list[str]]) -> list[str]:
    """Return the faults of a list of k best trees, which must be trees with their true scores, the best tree first.

    faults_of  function that returns the faults of a tree and its score
    """
    if comments.get("kbest_complete", "no") not in ("yes", "no"):
        return [f"kbest_complete is {comments['kbest_complete'][:40]!r}"]
    if parse.value == -math.inf:  # the sentence has no tree, and its list must be empty
        good = comments.get("kbest", "-inf:").startswith("-inf:") and "|" not in comments.get("kbest", "")
        return [] if good else ["kbest gives trees, though none is claimed"]
    if "kbest" not in comments:
        return ["kbest_complete without kbest"] if "kbest_complete" in comments else []
    trees: list[tuple[int, ...]] = []
    last: float = math.inf
    for number, text in enumerate(comments["kbest"].split("|"), 1):
        score, _, heads = text.partition(":")
        value = number_in(score.strip())
        if value is None or not re.fullmatch(r"\d{1,9}( \d{1,9})*", heads.strip(), re.ASCII):
            return [f"tree {number} of kbest is not written as SCORE: HEADS"]
        tree = (-1, *map(int, heads.split()))
        if faults := faults_of(Parse(np.array(tree, INDEX), value, math.inf, "heuristic")):
            return [f"tree {number} of kbest: {fault}" for fault in faults]
        if value > last or tree in trees:
            return [f"tree {number} of kbest scores more than the tree before it, or appears twice"]
        trees.append(tree)
        last = value
    own = tuple(parse.heads.tolist())
    return [] if trees[0] == own else ["the first tree of kbest is not the tree of the sentence"]
