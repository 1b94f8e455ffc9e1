"""Documents in, CoNLL-U with what a model predicts out: what `treebound parse` and `treebound tag` do to each part.

Both functions are made for `support.workers.spread`: all that they need can be sent, and what they return is written
as it is.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from treebound.cli.common import derives
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.decoders.confidence import Assess
from treebound.decoders.exact.branch_and_bound.record import certificate
from treebound.systems.tagging.several import Taggers
from treebound.treebanks.ccg.derivation import to_text
from treebound.treebanks.claims import comments_of, misc_of, without_claims
from treebound.treebanks.document import Document


@dataclass(frozen=True)
class Written:
    """Some sentences as they are to be written.

    text    CoNLL-U in UTF-8
    invalid  places of the sentences for which no tree keeps the rules, and the rules that exclude all trees of each
    proofs  per sentence a line for `checker.proofs.Writer.write`, where proofs were asked for
    derivations  per sentence its derivation as a line of `.auto`, or its fragments, where they were asked for
    """

    text: bytes
    sentences: int
    invalid: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    proofs: list[bytes] = field(default_factory=list)
    derivations: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class Parsing:
    """How sentences are parsed.

    parser      a `treebound.core.system.Parser`; one of a graph-based model where more than trees is wanted
    confidence  margins, marginals and k best trees, where they are wanted
    proofs      return the proofs; the parser's decoder keeps a record then
    derivations return the derivations, of a parser by CCG
    """

    parser: Any
    confidence: Assess | None = None
    proofs: bool = False
    derivations: bool = False


def parsed(how: Parsing, document: Document) -> Written:
    """A document of CoNLL-U with heads, labels, tags that were chosen with them, confidence in MISC, and comments."""
    parser, sure, treebank = how.parser, how.confidence, document.treebank
    document = without_claims(document)
    rules = getattr(parser, "validity", None)
    misc = document.misc() if rules else None
    more: dict[str, Any] = {"confidence": sure} if sure else {}
    parses = parser.parse(treebank, **more, **({"misc": misc} if rules else {}))
    labels = [parser.label_names(p) for p in parses] if any(p.labels is not None for p in parses) else None
    added = [misc_of(p) for p in parses] if sure and (sure.margins or sure.marginals) else None
    columns = {parser.column: [parser.tags_of(p) for p in parses]} if hasattr(parser, "tags_of") else None
    out, comments = io.BytesIO(), [comments_of(p, rules.name if rules else "") for p in parses]
    document.write(out, [p.heads for p in parses], labels, comments=comments, misc=added, columns=columns)
    proved = (
        [_proof(parser, treebank, i, p, misc[i] if misc else None) for i, p in enumerate(parses)] if how.proofs else []
    )
    derived = [[to_text(d) for d in p.record.derivations] for p in parses] if how.derivations else []
    unkept = [i for i, p in enumerate(parses) if not p.work.get("valid")] if rules else []
    invalid = [(i, getattr(parses[i].record, "conflict", ())) for i in unkept]
    return Written(out.getvalue(), len(parses), invalid, proved, derived)


def _proof(parser: Any, treebank: Treebank, i: int, p: Parse, misc: Sequence[str] | None) -> bytes:
    """Return the line of a sentence in a certificate file."""
    from treebound.checker import joint_proofs, proofs  # a command without --proofs starts faster without the checker

    if getattr(parser, "validity", None) is not None:
        from treebound.checker.validity_proofs import validity_line

        every = bool(p.work.get("every")) or not p.work.get("valid")
        problem = parser.validity.statement(treebank, i, misc, every).scores.problem
        return validity_line(problem, p.record.proof if p.record else None)
    if derives(parser):
        return proofs.json_line(joint_proofs.encoded(p.record.joint.proof) if p.record.joint else None)
    return proofs.line(parser.problem(treebank, i), certificate(p.record) if p.record else None)


def tagged(taggers: Taggers, document: Document) -> Written:
    """A document of CoNLL-U with the taggers' columns."""
    found = taggers.apply(document.treebank)
    out = io.BytesIO()
    document.write(out, columns={name: [sentence.strings(name) for sentence in found] for name in taggers.columns})
    return Written(out.getvalue(), len(found))
