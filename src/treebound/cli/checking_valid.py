"""Verify for `treebound check --valid` that the tree of a sentence is the best one that keeps the rules."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from treebound.checker.certificates import check_parse
from treebound.checker.ud_rules import broken_rules
from treebound.checker.ud_words import WordFacts
from treebound.checker.validity import validity_faults
from treebound.checker.validity_proofs import read_validity
from treebound.cli.checking import (
    Checked,
    Checking,
    Claimed,
    Verdict,
    comments_in,
    ignored_claims,
    kbest_faults,
    label_faults,
    other_labels,
)
from treebound.core.labelled import LabelledProblem, best_labels
from treebound.core.limits import TooLargeError
from treebound.core.parse import Parse, Status
from treebound.core.validity import ValidityProof
from treebound.decoders.exact.valid_trees import ValidRecord
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.validity import SentenceDecoder
from treebound.treebanks.claims import ALL_ARCS, NONE, UNKNOWN, VALID, number_in
from treebound.treebanks.document import Document

Faults = list[str]


def checked(how: Checking, claimed: Claimed) -> Checked:
    """Verify the claims of a sentence. Raises InputError for a damaged proof and for a sentence without claims."""
    document, validity = claimed.document, how.parser.validity
    assert validity is not None
    comments, faults = comments_in(how.parsed, claimed)
    ignored = ignored_claims(document, comments)
    rules = comments.get(VALID, "")
    if not faults and rules.removesuffix(ALL_ARCS) not in (validity.name, NONE, UNKNOWN):
        faults = [f"its tree is not claimed to keep the rules {validity.name} ({VALID} is {rules[:40]!r})"]
    none = rules == NONE
    misc = document.misc()
    decoder = validity.statement(document.treebank, 0, misc[0] if misc else None, none or rules.endswith(ALL_ARCS))
    stored = None
    if claimed.proof and claimed.prove and how.certificates is not None:
        stored = read_validity(decoder.scores.problem, how.certificates, *claimed.proof)
    if faults:
        return Checked(faults, "faulty", ignored)
    score, bound, status = number_in(comments["score"]), number_in(comments["bound"]), comments["status"]
    parse = Parse(document.treebank.heads(0), score, bound, cast("Status", status))
    if rules == UNKNOWN:  # nothing is claimed about valid trees
        faults = _no_claim(parse) or _other_tree(how.parser, parse, comments, document)
        return Checked(faults, "faulty" if faults else "scored", ignored)
    proof = None
    if claimed.prove and (none or bound < math.inf):
        proof = stored if how.certificates is not None else _proposed(decoder)
    try:
        faults = _no_valid_tree(parse, decoder, proof) if none else _best_valid_tree(parse, decoder, proof)
    except TooLargeError as error:
        unchecked = f"the proof of sentence {claimed.number} ({error.reason})"
        return Checked([], "unproved", ignored | {unchecked})
    if not faults and claimed.prove and proof is None and (none or bound < math.inf):
        faults = ["no proof of its bound"]
    if none:
        faults = faults or _other_tree(how.parser, parse, comments, document)
    else:
        faults = faults or kbest_faults(parse, comments, partial(_best_valid_tree, decoder=decoder, proof=None))
        faults = faults or _label_faults(how, claimed, decoder, parse)
    return Checked(faults, "faulty" if faults else _verdict(parse, proof, none), ignored)


def _verdict(parse: Parse, proof: ValidityProof | None, none: bool) -> Verdict:
    """Return the verdict on a sentence without faults. `none` is True if the claim is that no tree is valid."""
    if proof is None:
        return "unproved" if none or parse.bound < math.inf else "scored"
    return "infeasible" if none else "optimal" if parse.status == "optimal" else "bounded"


def _statement(decoder: SentenceDecoder) -> LabelledProblem:
    """Return the problem with all labels of every arc."""
    scores = decoder.scores
    return best_labels(scores.problem, scores.table, len(scores.names), scores.names)


def _rules(decoder: SentenceDecoder) -> list[str]:
    return [rule.id for rule in decoder.rules]


def _proposed(decoder: SentenceDecoder) -> ValidityProof | None:
    """Search for a proof of the claim, and return the proof, which is not verified yet."""
    recording = copy.copy(decoder)
    recording.decoder, recording.record = copy.copy(decoder.decoder), True
    cast("Any", recording.decoder).record = True
    record = recording.decode(decoder.scores.problem).record
    return record.proof if isinstance(record, ValidRecord) else None


def _best_valid_tree(parse: Parse, decoder: SentenceDecoder, proof: ValidityProof | None) -> Faults:
    """Return the faults of the claim that a tree with its best valid labels is the best valid tree."""
    try:
        labels = decoder.labels_for(parse.heads)
    except (ValueError, IndexError):
        labels = None
    if labels is None:
        labels = np.zeros(len(parse.heads), np.int32)  # the checker reports the fault
    labelled = replace(parse, labels=labels)
    return validity_faults(_statement(decoder), decoder.words, _rules(decoder), labelled, proof, decoder.space)


def _no_valid_tree(parse: Parse, decoder: SentenceDecoder, proof: ValidityProof | None) -> Faults:
    """Return the faults of the claim that no tree is valid. The tree in the file is another one, see `_other_tree`."""
    if faults := _no_claim(parse):
        return faults
    heads = np.zeros(len(parse.heads), np.int32)
    heads[0] = -1
    nothing = Parse(heads, -math.inf, -math.inf, "infeasible")
    return validity_faults(_statement(decoder), decoder.words, _rules(decoder), nothing, proof, decoder.space)


def _no_claim(parse: Parse) -> Faults:
    """Return a fault if the score of a tree that need not be valid is claimed to be the highest, or bounded."""
    if parse.status != "heuristic" or parse.bound != math.inf:
        return [f"no valid tree is claimed, but the tree is called {parse.status} with the bound {parse.bound}"]
    return []


def _other_tree(parser: Parser, parse: Parse, comments: dict[str, str], document: Document) -> Faults:
    """Return the faults of the tree of a sentence without a valid tree: its score, its k-best list and its labels."""
    faults_of = partial(check_parse, parser.problem(document.treebank, 0), space=parser.decoder.space)
    return faults_of(parse) or kbest_faults(parse, comments, faults_of) or label_faults(parser, parse, document)


def _label_faults(how: Checking, claimed: Claimed, decoder: SentenceDecoder, parse: Parse) -> Faults:
    """Return the rules that the labels break or, if there are none, the labels that are not the best valid ones."""
    treebank, parser, validity = claimed.document.treebank, how.parser, how.parser.validity
    assert validity is not None
    written = treebank.strings("deprel")
    facts, heads = WordFacts.read(decoder.words), [int(h) for h in parse.heads]
    broken = broken_rules(_rules(decoder), facts, heads, ["", *written], decoder.space == "projective")
    if broken:
        return [f"its labels break the rule {rule}" for rule in broken]
    return other_labels(claimed.document, parser.model.label_names(validity.labelled(parse, treebank, 0, decoder)))
