"""What `treebound check` does to each sentence, as a worker can do it: claims in, what is wrong with them out.

A parsed file claims a tree and its score, and by its bound and status something about all other trees. The first is
always verified; the second is verified where a proof is at hand, and said to be unverified where none was looked at.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
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
from treebound.core.spaces import Space
from treebound.decoders.exact.branch_and_bound.record import certificate
from treebound.systems.graph.parser import Parser
from treebound.treebanks.claims import CLAIMS, COMMENT, KBEST, VALID, claims_in, number_in
from treebound.treebanks.document import Document

#: what is verified about a sentence: that its tree is the best, that none exceeds its bound, that there is none; that
#: it has the score alone, no more being claimed; that much alone, though more is claimed; nothing: there are faults
Verdict = Literal["optimal", "bounded", "infeasible", "scored", "unproved", "faulty"]


@dataclass(frozen=True)
class Checking:
    """How sentences are checked.

    parsed        name of the file, for messages
    certificates  the file that proofs are from; None: a search proposes them
    """

    parser: Parser
    parsed: str
    certificates: Path | None = None


@dataclass(frozen=True)
class Claimed:
    """A sentence of the parsed file.

    number  counted from 1
    proof   its line of the certificate file and the line's number
    prove   verify the bound, too
    """

    number: int
    document: Document
    proof: tuple[int, bytes] | None = None
    prove: bool = True


@dataclass(frozen=True)
class Checked:
    """What came out: faults, in sentences; what is verified; claims that nothing here looks at."""

    faults: list[str]
    verdict: Verdict
    ignored: frozenset[str] = frozenset()


@dataclass
class Summary:
    """What came out about a file."""

    verdicts: Counter[str] = field(default_factory=Counter)
    ignored: set[str] = field(default_factory=set)
    faults: int = 0

    def add(self, checked: Checked) -> None:
        """Count a sentence."""
        self.verdicts[checked.verdict] += 1
        self.ignored |= checked.ignored
        self.faults += len(checked.faults)

    def __str__(self) -> str:
        said = {
            "bounded": "with a proved bound",
            "infeasible": "proved to have no tree",
            "scored": "claim a tree and its score alone",
            "unproved": "claim more than a tree and its score, which was not verified",
            "faulty": "with faults",
        }
        count = self.verdicts
        parts = [f"{count['optimal']} proved optimal"] + [f"{count[v]} {text}" for v, text in said.items() if count[v]]
        text = f"{count.total()} sentences: {', '.join(parts)}; {self.faults} faults"
        return text + (f"; not checked: {', '.join(sorted(self.ignored))}" if self.ignored else "")


def checked(how: Checking, claimed: Claimed) -> Checked:
    """Verify what is claimed about a sentence. InputError where its proof is none, or no parser wrote the sentence."""
    parser, document = how.parser, claimed.document
    comments, faults = comments_in(how.parsed, claimed)
    if not faults and VALID in comments:
        faults = ["its tree is claimed to be the best valid one: give --valid as it was given to parse"]
    ignored = ignored_claims(document, comments)
    problem = parser.problem(document.treebank, 0)
    stored = None  # read even where it is not used: a damaged file is one, sampled or not
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
    faults = faults or _kbest_faults(problem, parse, comments, space)
    if not faults and parser.model.labelling.names and score > -math.inf:
        best = parser.model.label_names(parser.labelled(parse, document.treebank, 0))
        words = enumerate(zip(document.treebank.strings("deprel"), best, strict=True), 1)
        faults = [f"word {m}: label {a}, the model's is {b}" for m, (a, b) in words if a != b]
    return Checked(faults, "faulty" if faults else verdict, ignored)


def _proposed(parser: Parser, problem: Problem, bound: float) -> Certificate | None:
    """What the search takes for a proof of the bound; nobody has checked it yet."""
    # an int would have the search compiled once more; this only proposes, and the checker has the exact bound
    record = cast("Any", parser.decoder).proof(problem, float(bound))
    return None if record is None else certificate(record)


def comments_in(parsed: str, claimed: Claimed) -> tuple[dict[str, str], list[str]]:
    """What the comments of a sentence claim, and what is wrong about how they do."""
    found = claims_in(claimed.document, 0).comments
    if not any(key in found for key in CLAIMS):
        raise InputError(
            f"sentence {claimed.number}: no comments {', '.join(COMMENT + key for key in CLAIMS)}",
            path=parsed,
            hint="give a file that `treebound parse` wrote",
        )
    faults = [f"{key} is not given" for key in CLAIMS if key not in found]
    faults += [f"{key} is given {len(found[key])} times" for key in (*CLAIMS, *KBEST) if len(found.get(key, ())) > 1]
    for key in ("score", "bound"):
        faults += [f"{key} {value[:40]!r} is no number" for value in found.get(key, ())[:1] if number_in(value) is None]
    return {key: values[0] for key, values in found.items()}, faults


def ignored_claims(document: Document, comments: dict[str, str]) -> frozenset[str]:
    """Return the other claims of a sentence, which nothing here verifies."""
    ignored = {f"{key.lower()}s" for key in claims_in(document, 0).misc}
    if comments.get("kbest_complete") == "yes":
        ignored.add("that lists of k best trees are complete")
    return frozenset(ignored)


def _kbest_faults(problem: Problem, parse: Parse, comments: dict[str, str], space: Space) -> list[str]:
    """What is wrong about the k best trees: each is one and has its score, in order, the sentence's own first."""
    if comments.get("kbest_complete", "no") not in ("yes", "no"):
        return [f"kbest_complete is {comments['kbest_complete'][:40]!r}"]
    if parse.value == -math.inf:  # its list is that of the tree that is none
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
        faults = check_parse(problem, Parse(np.array(tree, INDEX), value, math.inf, "heuristic"), space=space)
        if faults:
            return [f"tree {number} of kbest: {fault}" for fault in faults]
        if value > last or tree in trees:
            return [f"tree {number} of kbest scores more than the one before it, or is there twice"]
        trees.append(tree)
        last = value
    own = tuple(parse.heads.tolist())
    return [] if trees[0] == own else ["the first tree of kbest is not the sentence's own"]
