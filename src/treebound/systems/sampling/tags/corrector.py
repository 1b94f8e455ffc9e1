"""Search for the best tree and tags of a sentence together, by annealed chains and greedy search."""

from __future__ import annotations

import numpy as np

from treebound.core.treebank import Treebank
from treebound.decoders.approximate.sampling.decoder import deviation
from treebound.features.tokens import TokenTable
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.learning.pruner import Pruner
from treebound.systems.sampling.parser import COLD, HOT
from treebound.systems.sampling.sentence import Scoring, allowed_arcs
from treebound.systems.sampling.settings import Settings
from treebound.systems.sampling.tags.candidates import Candidates
from treebound.systems.sampling.tags.joint import Chain, Joint, NoTreeError
from treebound.systems.sampling.tags.learning import options_of

SWEEPS = 1  #: steps of a chain per word; few, because the sentence is scored anew for every new tag sequence


def correct(
    by: Scoring, pruner: Pruner, candidates: Candidates, spec: Settings, treebank: Treebank
) -> list[tuple[np.ndarray, tuple[str, ...]]]:
    """Return heads int32[n + 1] and tags of each sentence of a treebank with predicted tags.

    by          weights and settings that score sentences
    pruner      the model that chooses candidate arcs
    candidates  the candidate tags of words
    spec        settings of the search
    """
    table = TokenTable(treebank)
    words = zip(treebank.strings("form"), treebank.strings(treebank.meta.get("tag", "xpos")), strict=True)
    tags, results = [candidates.of(*word) for word in words], []
    for i in range(len(treebank)):
        rows, tag = table.sentence(i)
        own = tags[table.offsets[i] : table.offsets[i + 1]]
        allowed = allowed_arcs(by, pruner, rows, tag, spec.k, spec.threshold)
        options = options_of(rows, tag, own, candidates.coarse)
        rng = np.array([(i * 2654435761 + spec.seed * 40503) % 2**64], np.uint64)
        try:
            heads, choice = search(Joint(by, rows, tag, allowed, options), spec, rng)
        except NoTreeError:  # the candidate arcs make up no tree: add the arcs of the pruner's best tree
            allowed[pruner.tree(rows, tag, by.single_root)[1:], np.arange(1, len(tag))] = True
            heads, choice = search(Joint(by, rows, tag, allowed, options), spec, rng)
        results.append((heads, tuple(words[c] for words, c in zip(own, choice, strict=True))))
    return results


def search(joint: Joint, spec: Settings, rng: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return the heads, int32[n + 1], and the tag sequence of the best run of a search.

    There are `spec.restarts` runs at most, and the search stops after `spec.patience` runs without a better result. The
    first run is a greedy search from the tree of local factors under the predicted tags; later runs anneal from the
    best.
    """
    tagging = (0,) * len(joint.options)
    sentence = joint.under(tagging).sentence
    sd, best, value, since = deviation(sentence.problem), (tagging, sentence.first_tree(rng)), -np.inf, 0
    for run in range(spec.restarts):
        chain = Chain(joint, *best)
        if run and spec.search != "greedy":
            chain.anneal(SWEEPS * len(tagging), HOT * sd, COLD * sd, rng)
        chain.climb(rng)
        since += 1
        if chain.value > value:
            best, value, since = chain.state, chain.value, 0
        if since >= spec.patience:
            break
    return heads_of(index_of(sentence.problem).arcs, best[1]), best[0]
