"""Documents in, CoNLL-U with what a model predicts out: what `treebound parse` and `treebound tag` do to each part.

Both functions are made for `support.workers.spread`: all that they need can be sent, and what they return is written
as it is.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treebound.core.parse import Parse
from treebound.decoders.confidence import Assess
from treebound.decoders.record import certificate
from treebound.evaluation import proofs
from treebound.systems.tagging.several import Taggers
from treebound.treebanks.document import Document


@dataclass(frozen=True)
class Written:
    """Some sentences as they are to be written.

    text    CoNLL-U in UTF-8
    proofs  per sentence a line for `evaluation.proofs.Writer.write`, where proofs were asked for
    """

    text: bytes
    sentences: int
    proofs: list[bytes] = field(default_factory=list)


@dataclass(frozen=True)
class Parsing:
    """How sentences are parsed.

    parser      a `treebound.core.system.Parser`; one of a graph-based model where more than trees is wanted
    confidence  margins, marginals and k best trees, where they are wanted
    proofs      return the proofs; the parser's decoder keeps a record then
    """

    parser: Any
    confidence: Assess | None = None
    proofs: bool = False


def parsed(how: Parsing, document: Document) -> Written:
    """A document of CoNLL-U with heads, labels, confidence in MISC, and comments on what is proved."""
    parser, sure, treebank = how.parser, how.confidence, document.treebank
    parses = parser.parse(treebank, confidence=sure) if sure else parser.parse(treebank)
    labels = [parser.label_names(p) for p in parses] if any(p.labels is not None for p in parses) else None
    misc = [_misc(p, parser.model.unit) for p in parses] if sure and (sure.margins or sure.marginals) else None
    out = io.BytesIO()
    document.write(out, [p.heads for p in parses], labels, comments=[_comments(p) for p in parses], misc=misc)
    proved = []
    if how.proofs:
        for i, p in enumerate(parses):
            proved.append(proofs.line(parser.problem(treebank, i), certificate(p.record) if p.record else None))
    return Written(out.getvalue(), len(parses), proved)


def tagged(taggers: Taggers, document: Document) -> Written:
    """A document of CoNLL-U with the taggers' columns."""
    found = taggers.apply(document.treebank)
    out = io.BytesIO()
    document.write(out, columns={name: [sentence.strings(name) for sentence in found] for name in taggers.columns})
    return Written(out.getvalue(), len(found))


def _comments(parse: Parse) -> list[str]:
    """What is proved about a sentence. Scores of trained models are integers and are written as such."""
    comments = [f"score = {_score(parse.value)}", f"bound = {_score(parse.bound)}", f"status = {parse.status}"]
    if math.isnan(parse.value):  # of a parser that gives none
        return comments[2:]
    if parse.confidence is not None and parse.confidence.trees:
        trees = (f"{_score(t.value)}: {' '.join(map(str, t.heads[1:].tolist()))}" for t in parse.confidence.trees)
        complete = "yes" if parse.confidence.complete else "no"
        comments += [f"kbest = {' | '.join(trees)}", f"kbest_complete = {complete}"]
    return comments


def _score(x: float) -> str:
    return str(int(x)) if float(x).is_integer() else repr(float(x))


def _misc(parse: Parse, unit: float) -> list[dict[str, str]]:
    """Margin, in the unit of the scores in comments, and Marginal of every word, as far as they are known."""
    found, out = parse.confidence, []
    for m in range(1, len(parse.heads)):
        known = {}
        if found is not None and found.margins is not None and not np.isnan(found.margins[m]):
            known["Margin"] = _score(np.rint(found.margins[m] * unit))
        if found is not None and found.marginals is not None and not np.isnan(found.marginals[m]):
            known["Marginal"] = f"{found.marginals[m]:.6g}"
        out.append(known)
    return out
