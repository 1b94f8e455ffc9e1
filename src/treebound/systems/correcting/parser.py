"""The parser of a correcting model: it finds the tags and the tree of a sentence."""

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
    """A parser that chooses tags and tree of a sentence together.

    taggings  number of tag sequences to try per sentence, at most. 1 keeps the tags of the tagger, as in a pipeline.
              None takes the number from the model's settings

    All other options are the options of `systems.sampling.parser.Parser`.
    """

    reads = ()

    def __init__(self, model: CorrectingModel, *, taggings: int | None = None, **options: Any):
        self.model, self.sampler = model, Sampler(model.model, **options)
        self.names = self.sampler.names
        self.taggings = model.spec.taggings if taggings is None else taggings

    @property
    def column(self) -> str:
        """The name of the column of predicted tags."""
        return self.model.tagger.column

    def tags_of(self, parse: Parse) -> list[str]:
        """Return the n tags that were chosen together with a tree."""
        return list(parse.record)

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """Return one parse per sentence, in order, whose tags `tags_of` returns. Workers do not change the result."""
        blocks = [range(i, min(i + BLOCK, len(treebank))) for i in range(0, len(treebank), BLOCK)]
        parsed_blocks = spread(
            _block, (self, self.words(treebank)), blocks, workers=workers, scheduler=scheduler, short=True
        )
        results = chain.from_iterable(parsed_blocks)
        return list(progress(results, "parse") if progress else results)

    def words(self, treebank: Treebank) -> Words:
        """Return the sentences with the tags and the doubts of the tagger. Tags in the treebank are ignored."""
        model, spec = self.model, self.model.spec
        candidates = doubts(model.tagger, treebank, model.gap)[0].under(spec.doubt, spec.tags)
        tagged = with_first(treebank, model.model.meta, candidates.tags, model.coarse)
        return Words(self.sampler.table(tagged), candidates)

    def parse_sentence(self, words: Words, i: int) -> Parse:
        """Return the tree and tags that the balance prefers.

        If the preferred tags are not the tagger's own, the tree is the result of a second, complete search.
        """
        started = time.perf_counter()
        choices = listed(self.sampler, words, i, self.model.coarse, self.taggings)
        best = int(np.argmax(choices.features @ self.model.balance))
        sentence, arcs, runs = choices.sentences[best], choices.arcs[best], 0
        if best:
            _, arcs, runs = self.sampler.searched(sentence)
        labels = None if sentence.labels is None else np.append(-1, sentence.labels[arcs]).astype(np.int32)
        work, heads = {"restarts": runs, "taggings": len(choices.tags)}, heads_of(index_of(sentence.problem).arcs, arcs)
        details = work, {"decode": time.perf_counter() - started}, labels, tuple(choices.tags[best])
        return Parse(heads, sentence.lay(arcs), np.inf, "heuristic", *details)


def _block(task: tuple[Parser, Words], sentences: range) -> list[Parse]:
    parser, words = task
    return [parser.parse_sentence(words, i) for i in sentences]
