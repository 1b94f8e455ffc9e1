"""Proofs of the best valid trees, as lines of a certificate file whose header says `"valid": "ud"`.

A line is `null` if nothing was proved, and otherwise an object with these entries:

    words, arcs  numbers of words and candidate arcs; a reader compares them to recognise the file of another parse
    regions      [parent, inside, word, pairs, rule, certificate] of every region

The number inside is 1 for the trees that use a pair of the parent's split, and 0 for all others. The entries word and
pairs hold the split of a region that is divided, with pairs as lists of a head and its labels. They are 0 and empty for
a closed region. The certificate has the form of `proofs.encoded`, or is null.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from treebound.checker.proofs import decoded, encoded, json_line, read_line
from treebound.core.problem import Problem
from treebound.core.validity import Region, Split, ValidityProof

_ENTRIES = {"words", "arcs", "regions"}


def validity_line(problem: Problem, proof: ValidityProof | None) -> bytes:
    """Return the line of a sentence, for `proofs.Writer.write`; `problem` is `LabelledProblem.problem`."""
    return json_line(None if proof is None else encoded_validity(problem, proof))


def read_validity(problem: Problem, path: Path, number: int, text: bytes) -> ValidityProof | None:
    """Return the proof in line `number` of a file, or None for null. Raises InputError for invalid lines."""
    return read_line(path, number, text, partial(decoded_validity, problem))


def encoded_validity(problem: Problem, proof: ValidityProof) -> dict[str, Any]:
    """Return a proof as JSON data.

    Parameters
    ----------
    problem
        `LabelledProblem.problem`. Its words, arcs and parts are used, but not the scores of arcs.
    proof
        The regions of a search.

    Returns
    -------
    dict
        The entries of a line, as the module describes them.
    """
    return {
        "words": problem.n,
        "arcs": problem.arcs,
        "regions": [_encoded_region(problem, region) for region in proof.regions],
    }


def decoded_validity(problem: Problem, data: dict[str, Any]) -> ValidityProof:
    """Return the proof that `encoded_validity` encoded.

    Parameters
    ----------
    problem
        See `encoded_validity`.
    data
        JSON data.

    Returns
    -------
    ValidityProof
        A proof of the right form. `validity.validity_faults` checks whether it proves the claim.

    Raises
    ------
    ValueError
        If the data are no proof about this problem. Damaged certificates raise other exceptions, too, which
        `proofs.read_line` turns into an InputError.
    """
    if data.keys() != _ENTRIES:
        raise ValueError(f"its entries are {', '.join(map(str, data))}")
    if data["words"] != problem.n or data["arcs"] != problem.arcs:
        raise ValueError(f"it has {data['words']} words and {data['arcs']} arcs, not {problem.n} and {problem.arcs}")
    return ValidityProof([_decoded_region(problem, *region) for region in data["regions"]])


def _encoded_region(problem: Problem, region: Region) -> list[Any]:
    """Return the entries of a region in the file."""
    word, pairs = 0, []
    if region.split is not None:
        word = int(region.split.word)
        ordered = sorted((int(head), int(label)) for head, label in region.split.pairs)
        pairs = [[head, *(label for _, label in group)] for head, group in groupby(ordered, lambda pair: pair[0])]
    certificate = None if region.bound is None else encoded(problem, region.bound)
    return [int(region.parent), int(region.inside), word, pairs, region.rule, certificate]


def _decoded_region(
    problem: Problem, parent: Any, inside: Any, word: Any, pairs: Any, rule: Any, certificate: Any
) -> Region:
    """Return a region from its entries in the file. Raises ValueError for malformed entries."""
    if not all(type(x) is int for x in (parent, inside, word)) or inside not in (0, 1) or not isinstance(rule, str):
        raise ValueError(f"a malformed region {str([parent, inside, word, rule])[:60]}")
    if not 0 <= word <= problem.n or (word == 0 and pairs != []):
        raise ValueError(f"a region divides the unknown word {word}, or has pairs without a word")
    split = None if word == 0 else Split(word, frozenset(pair for row in pairs for pair in _pairs(problem, *row)))
    bound = None if certificate is None else decoded(problem, certificate)
    return Region(parent, inside == 1, split, rule, bound)


def _pairs(problem: Problem, head: Any, *labels: Any) -> list[tuple[int, int]]:
    """Return the (head, label) pairs of one head."""
    if not all(type(x) is int and x >= 0 for x in (head, *labels)) or head > problem.n or not labels:
        raise ValueError(f"malformed pairs {str([head, *labels])[:60]}")
    return [(head, label) for label in labels]
