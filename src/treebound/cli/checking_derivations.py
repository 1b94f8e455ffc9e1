"""Verify the claims of one sentence of a CCG parser with the joint model, for `treebound check`.

The chart of the parser and the supertagger's chain of lexical categories are built again from the model. From there,
`checker.joint_proofs` works in integer arithmetic. It verifies that the derivation of the certificate file belongs to
the chart and has the claimed score, heads and categories. It also verifies that no other derivation scores more than
the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from treebound.checker.certificates import claim_faults as status_faults
from treebound.checker.joint_proofs import Claim, Proof, claim_faults, decoded
from treebound.checker.proofs import read_line
from treebound.cli.checking import Checked, Claimed, Verdict, comments_in, ignored_claims
from treebound.core.parse import Parse
from treebound.systems.ccg.decoding import Adaptive, Supertagged
from treebound.systems.ccg.joint import UNIT, Joint
from treebound.systems.ccg.joint_search import statement
from treebound.systems.ccg.system import Parser
from treebound.systems.ccg.words import words_of
from treebound.treebanks.ccg.columns import heads_of
from treebound.treebanks.ccg.derivation import Derivation
from treebound.treebanks.claims import VALID, number_in
from treebound.treebanks.document import Document

#: comments that CCG parsers do not write and that are not verified: key -> name in the report
UNCHECKED = {"kbest": "lists of k best trees", VALID: "that trees keep rules"}


@dataclass(frozen=True)
class Checking:
    """The parser and the files of a check.

    parsed        name of the parsed file, for messages
    certificates  file with the derivations and the proofs
    """

    parser: Parser
    parsed: str
    certificates: Path

    @cached_property
    def charts(self) -> Adaptive:
        """Return the builder of charts, one for each worker process."""
        return self.parser.adaptive()


def checked(how: Checking, claimed: Claimed) -> Checked:
    """Verify the claims of a sentence. Raises InputError for a damaged proof and for a sentence without claims."""
    document = claimed.document
    comments, faults = comments_in(how.parsed, claimed)
    ignored = ignored_claims(document, comments) | {text for key, text in UNCHECKED.items() if key in comments}
    assert claimed.proof is not None
    proof = read_line(how.certificates, *claimed.proof, decoded)
    if not faults:
        score, bound = (number_in(comments[key]) for key in ("score", "bound"))
        parse = Parse(document.treebank.heads(0), score, bound, cast("Any", comments["status"]))
        faults = status_faults(parse)
        if parse.status == "optimal" and score != bound:
            faults.append(f"called optimal with the score {score} and the bound {bound}")
        if parse.status == "infeasible":
            faults.append("called infeasible, but every sentence has fragments")
    if faults:
        return Checked(faults, "faulty", ignored)
    words = words_of(document.treebank, how.parser.model.meta["tag"])
    tagged = Supertagged(how.parser.model.tagger, words)
    joint = how.charts.joint(tagged, 0)
    verdict: Verdict = "scored"
    if joint is None:
        faults = _fragment_faults(how, parse, document, proof)
    elif proof is None:
        faults = ["the chart has a derivation, but the certificate file does not"]
    else:
        faults, verdict = _claim_faults(joint, parse, proof, claimed.prove)
        faults = faults or _word_faults(document, read_off(joint, proof.derivation, words.strings))
    return Checked(faults, "faulty" if faults else verdict, ignored)


def _claim_faults(joint: Joint, parse: Parse, proof: Proof, prove: bool) -> tuple[list[str], Verdict]:
    """Return the faults of the claimed score and bound, and the verdict on the sentence if there are no faults."""
    sizes = joint.words, len(joint.emission), len(joint.packed.chart.graph.left)
    if sizes != proof[:3]:
        return [f"its chart has {sizes} words, variables and edges, but the certificate {proof[:3]}"], "faulty"
    whole = [None if x == math.inf else Fraction(x) / Fraction(UNIT) for x in (parse.value, parse.bound)]
    if any(x is not None and x.denominator > 1 for x in whole):
        return ["score or bound is no multiple of the unit 2^-20"], "faulty"
    value, bound = (None if x is None else int(x) for x in whole)
    assert value is not None
    claim = Claim(proof.derivation, value, bound if prove else None, proof.nodes)
    faults = claim_faults(statement(joint), claim)
    if bound is None:
        return faults, "scored"
    return faults, ("optimal" if parse.status == "optimal" else "bounded") if prove else "unproved"


def read_off(joint: Joint, edges: list[int], strings: list[tuple[str, str]]) -> Derivation:
    """Return the derivation with the given edges of the chart, which have been verified."""
    graph = joint.packed.chart.graph
    best = np.zeros(len(graph.first) - 1, np.int32)
    stack = [len(best) - 1]
    for e in edges:
        best[stack.pop()] = e
        stack += [int(tail) for tail in (graph.right[e], graph.left[e]) if tail]
    return joint.packed.derivation(best, strings)


def _word_faults(document: Document, derivation: Derivation) -> list[str]:
    """Return the words whose heads or categories differ from the derivation."""
    heads, labels = document.treebank.heads(0)[1:].tolist(), document.treebank.strings("deprel")
    derived = zip(heads_of(derivation), [str(leaf.category) for leaf in derivation.leaves()], strict=True)
    words = enumerate(zip(zip(heads, labels, strict=True), derived, strict=True), 1)
    return [f"word {m}: head and category are {a}, but {b} in the derivation" for m, (a, b) in words if a != b]


def _fragment_faults(how: Checking, parse: Parse, document: Document, proof: Proof | None) -> list[str]:
    """Return the faults of a sentence without a derivation, whose fragments must equal the fragments of the parser."""
    (result,) = how.parser.parse(document.treebank)
    if proof is not None:
        return ["the certificate file has a derivation, but the chart does not"]
    if (parse.status, parse.bound) != ("limit", math.inf):
        return [f"called {parse.status} with the bound {parse.bound}, but its chart has no derivation"]
    labels = document.treebank.strings("deprel")
    same = result.value == parse.value and result.heads.tolist() == parse.heads.tolist()
    return [] if same and how.parser.label_names(result) == labels else ["its fragments differ from the parser's"]
