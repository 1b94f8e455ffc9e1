"""Words in, tags and trees out."""

from __future__ import annotations

import time
from itertools import chain
from typing import Any

import numpy as np

from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.learning.loop import Progress
from treebound.learning.system import Naming
from treebound.support.workers import spread
from treebound.systems.correcting.doubts import doubts
from treebound.systems.correcting.jackknifed import with_first
from treebound.systems.correcting.listing import Words, listed
from treebound.systems.correcting.model import CorrectingModel
from treebound.systems.sampling.parser import BLOCK
from treebound.systems.sampling.parser import Parser as Sampler


class Parser(Naming):
    """A model with a search, whose other options are those of `systems.sampling.parser.Parser`.

    taggings  of a sentence that are tried, at most; 1: the tagger is always right, as in a pipeline; None: the model's
    """

    reads = ()

    def __init__(self, model: CorrectingModel, *, taggings: int | None = None, **options: Any):
        self.model, self.sampler = model, Sampler(model.model, **options)
        self.names = self.sampler.names
        self.taggings = model.spec.taggings if taggings is None else taggings

    @property
    def column(self) -> str:
        """That of the tags."""
        return self.model.tagger.column

    def tags_of(self, parse: Parse) -> list[str]:
        """The n tags that were chosen with a tree."""
        return list(parse.record)

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """One a sentence, in order, its tags for `tags_of`; the same for any number of workers."""
        blocks = [range(i, min(i + BLOCK, len(treebank))) for i in range(0, len(treebank), BLOCK)]
        found = spread(_block, (self, self.words(treebank)), blocks, workers=workers, scheduler=scheduler, short=True)
        results = chain.from_iterable(found)
        return list(progress(results, "parse") if progress else results)

    def words(self, treebank: Treebank) -> Words:
        """Of sentences, whatever tags they come with."""
        model, spec = self.model, self.model.spec
        found = doubts(model.tagger, treebank, model.gap)[0].under(spec.doubt, spec.tags)
        tagged = with_first(treebank, model.model.meta, found.tags, model.coarse)
        return Words(self.sampler.table(tagged), found)

    def parse_sentence(self, words: Words, i: int) -> Parse:
        """The tree and the tags that the balance likes best; the tree is sought once more under these."""
        started = time.perf_counter()
        found = listed(self.sampler, words, i, self.model.coarse, self.taggings)
        best = int(np.argmax(found.features @ self.model.balance))
        sentence, arcs, runs = found.sentences[best], found.arcs[best], 0
        if best:
            _, arcs, runs = self.sampler.searched(sentence)
        labels = None if sentence.labels is None else np.append(-1, sentence.labels[arcs]).astype(np.int32)
        work, heads = {"restarts": runs, "taggings": len(found.tags)}, heads_of(index_of(sentence.problem).arcs, arcs)
        how = work, {"decode": time.perf_counter() - started}, labels, tuple(found.tags[best])
        return Parse(heads, sentence.lay(arcs), np.inf, "heuristic", *how)


def _block(given: tuple[Parser, Words], sentences: range) -> list[Parse]:
    parser, words = given
    return [parser.parse_sentence(words, i) for i in sentences]
