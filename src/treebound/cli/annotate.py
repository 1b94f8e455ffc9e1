"""Annotate one part of a file for `treebound parse` and `treebound tag`, and return the part as CoNLL-U.

`support.workers.spread` runs both functions in worker processes: their arguments and results can be pickled.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from treebound.cli.common import derives
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.decoders.confidence import Assess
from treebound.decoders.exact.branch_and_bound.record import certificate
from treebound.systems.tagging.several import Taggers
from treebound.treebanks.ccg.derivation import to_text
from treebound.treebanks.claims import comments_of, misc_of, without_claims
from treebound.treebanks.document import Document


class WithoutTree(NamedTuple):
    """A sentence without a tree that keeps the rules.

    sentence  index of the sentence among the written ones
    proved    True if it is proved that there is no such tree, False if the search gave up
    conflict  ids of the rules in conflict; empty if they are unknown
    """

    sentence: int
    proved: bool
    conflict: tuple[str, ...]


@dataclass(frozen=True)
class Written:
    """Annotated sentences, ready to be written.

    text         CoNLL-U in UTF-8
    sentences    number of sentences
    invalid      the sentences without a tree that keeps the rules
    proofs       one line per sentence for `checker.proofs.Writer.write`; empty if no proofs were requested
    derivations  for each sentence the lines of an `.auto` file that hold its derivation or, if it has none, its
                 fragments; empty if no derivations were requested
    """

    text: bytes
    sentences: int
    invalid: list[WithoutTree] = field(default_factory=list)
    proofs: list[bytes] = field(default_factory=list)
    derivations: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class Parsing:
    """A parser and the kinds of output that it produces.

    parser       a `treebound.core.system.Parser`; only graph-based parsers have confidence and proofs of trees
    confidence   settings that say which of margins, marginals and k best trees to compute; None computes none of them
    proofs       whether to return proofs; the decoder must then record its search
    derivations  whether to return derivations; only CCG parsers have them
    """

    parser: Any
    confidence: Assess | None = None
    proofs: bool = False
    derivations: bool = False


def parsed(how: Parsing, document: Document) -> Written:
    """Parse a document and return it as CoNLL-U with heads, labels, predicted tags, MISC items and comments."""
    parser, assess, treebank = how.parser, how.confidence, document.treebank
    document = without_claims(document)
    rules = getattr(parser, "validity", None)
    misc = document.misc() if rules else None
    assessed: dict[str, Any] = {"confidence": assess} if assess else {}
    parses = parser.parse(treebank, **assessed, **({"misc": misc} if rules else {}))
    labels = [parser.label_names(p) for p in parses] if any(p.labels is not None for p in parses) else None
    added = [misc_of(p) for p in parses] if assess and (assess.margins or assess.marginals) else None
    columns = {parser.column: [parser.tags_of(p) for p in parses]} if hasattr(parser, "tags_of") else None
    out, comments = io.BytesIO(), [comments_of(p, rules.name if rules else "") for p in parses]
    document.write(out, [p.heads for p in parses], labels, comments=comments, misc=added, columns=columns)
    proved = (
        [_proof(parser, treebank, i, p, misc[i] if misc else None) for i, p in enumerate(parses)] if how.proofs else []
    )
    derived = [[to_text(d) for d in p.record.derivations] for p in parses] if how.derivations else []
    invalid = [
        WithoutTree(i, not p.work.get("gave_up"), getattr(p.record, "conflict", ()))
        for i, p in enumerate(parses)
        if rules and not p.work.get("valid")
    ]
    return Written(out.getvalue(), len(parses), invalid, proved, derived)


def _proof(parser: Any, treebank: Treebank, i: int, p: Parse, misc: Sequence[str] | None) -> bytes:
    """Return the line of sentence `i` in a certificate file.

    p     parse of the sentence, whose search was recorded
    misc  column MISC of the sentence; None if it is unknown
    """
    from treebound.checker import joint_proofs, proofs  # imported late: other commands start faster without it

    if getattr(parser, "validity", None) is not None:
        from treebound.checker.validity_proofs import validity_line

        every = bool(p.work.get("every")) or not p.work.get("valid")
        problem = parser.validity.statement(treebank, i, misc, every).scores.problem
        return validity_line(problem, p.record.proof if p.record else None)
    if derives(parser):
        return proofs.json_line(joint_proofs.encoded(p.record.joint.proof) if p.record.joint else None)
    return proofs.line(parser.problem(treebank, i), certificate(p.record) if p.record else None)


def tagged(taggers: Taggers, document: Document) -> Written:
    """Tag a document and return it as CoNLL-U with the columns that the taggers predict."""
    predicted = taggers.apply(document.treebank)
    out = io.BytesIO()
    document.write(out, columns={name: [sentence.strings(name) for sentence in predicted] for name in taggers.columns})
    return Written(out.getvalue(), len(predicted))
