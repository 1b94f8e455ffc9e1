"""Sentences in, parses out: the Python interface to a trained model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


from treebound.core.parse import Parse
from treebound.core.problem import PartTable, Problem
from treebound.core.treebank import Treebank
from treebound.decoders import DECODERS
from treebound.factors import FAMILIES
from treebound.features.tokens import TokenTable
from treebound.kernels.arcs import index_arcs
from treebound.kernels.parts import index_parts, list_parts
from treebound.learning.model import Model


class Parser:
    """A model with a decoder.

    decoder  a name of `treebound.decoders.DECODERS`; further options go to it
    k        candidate heads a word, None for all; "model": as in training
    """

    def __init__(self, model: Model, decoder: str = "branch-and-bound", k: int | None | str = "model", **options):
        self.model = model
        self.k = model.spec.k if k == "model" else k
        self.decoder = DECODERS[decoder](**options)

    def problem(self, treebank: Treebank, i: int) -> Problem:
        """The scored problem of sentence i."""
        return self._problem(_table(self.model, treebank), i)

    def _problem(self, table: TokenTable, i: int) -> Problem:
        model = self.model
        rows, tag = table.sentence(i)
        n = len(tag) - 1
        single_root = bool(model.meta.get("single_root", True))
        index = index_arcs(n, model.pruner.allowed(rows, tag, self.k))
        parts = index_parts(index, single_root)
        arc, scores, _ = model.scorer.score(model.weights, rows, tag, index, parts)
        tables = {f: PartTable(f, list_parts(FAMILIES[f].code, index, parts)[0], s) for f, s in scores.items()}
        return Problem(n, index.head, index.mod, arc, tables, single_root, model.unit)

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Callable[[Iterable, str], Iterable] | None = None
    ) -> list[Parse]:
        """One Parse a sentence, in order; the same whatever the number of workers (threads: the kernels release the GIL)."""
        table = _table(self.model, treebank)

        def one(i: int) -> Parse:
            started = time.perf_counter()
            problem = self._problem(table, i)
            scored = time.perf_counter()
            parse = self.decoder.decode(problem)
            parse.seconds.update(features=scored - started, decode=time.perf_counter() - scored)
            return parse

        indices: Iterable[int] = range(len(treebank))
        if workers == 1:
            return [one(i) for i in (progress(indices, "parse") if progress else indices)]
        with ThreadPoolExecutor(workers) as pool:
            results = pool.map(one, indices)
            return list(progress(results, "parse") if progress else results)


def _table(model: Model, treebank: Treebank) -> TokenTable:
    """Token table under the conventions that the model was trained with."""
    meta = treebank.meta | {k: model.meta[k] for k in ("tag", "coarse", "attributes") if k in model.meta}
    return TokenTable(Treebank(treebank.name, treebank.offsets, treebank.columns, treebank.vocab, treebank.head, meta))


def load(path: str | Path, **options) -> Parser:
    """A parser from a model file; `options` as for `Parser`."""
    return Parser(Model.load(path), **options)


