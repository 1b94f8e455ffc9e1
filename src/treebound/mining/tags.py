"""Suspects among tags: where the best tag sequence of a tagger differs from the annotation, and by what margin.

The margin of a word is the score of the best tag sequence of its sentence less that of the best sequence in which the
word has the annotated tag, each found by exact dynamic programming (`treebound.systems.tagging.sequence`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treebound.core.treebank import Treebank
from treebound.mining.suspects import Suspect
from treebound.systems.tagging.sequence import Candidates, Table, best_tags, contexts
from treebound.systems.tagging.tagger import Tagger
from treebound.systems.tagging.words import alone, word_table

NO_GOLD = np.empty(0, np.int32)


class TagMiner:
    """Finds the tags of a treebank that a tagger doubts.

    tagger    has not seen the treebank
    treebank  the annotated sentences
    names, numbers  as of `treebound.mining.sentences.Miner`
    """

    def __init__(self, tagger: Tagger, treebank: Treebank, names: list[str], numbers: np.ndarray):
        self.tagger, self.treebank, self.names, self.numbers = tagger, treebank, names, numbers
        self.table = Table(tagger.weights, tagger.mask, len(tagger.tags))
        self.rows, self.starts, group = word_table(treebank, tagger.dictionary, tagger.given)
        self.offsets = treebank.offsets
        if tagger.given:
            self.starts, self.offsets = alone(self.starts, treebank)
        self.annotated = treebank.strings(tagger.column)
        number = {tag: i for i, tag in enumerate(tagger.tags)}
        self.gold = np.array([number.get(tag, -1) for tag in self.annotated], np.int32)
        self.lists = [tuple(listed) for listed in tagger.dictionary.lists]
        self.candidates, self.group, self.single = self._candidates(group)

    def _candidates(self, group: np.ndarray) -> tuple[Candidates, np.ndarray, int]:
        """Return lists of tags, the list of each word with its annotated tag added, and the first list of a single tag.

        The list of the tag t alone is the one numbered t more than the first.
        """
        numbers: dict[tuple[int, ...], int] = {}
        wider = np.empty_like(group)
        for w, (g, tag) in enumerate(zip(group.tolist(), self.gold.tolist(), strict=True)):
            listed = self.lists[g]
            if tag >= 0 and tag not in listed:
                listed = tuple(sorted((*listed, tag)))
            wider[w] = numbers.setdefault(listed, len(numbers))
        lists = [*numbers, *((tag,) for tag in range(len(self.tagger.tags)))]
        first = np.cumsum([0] + [len(listed) for listed in lists]).astype(np.int32)
        return Candidates(first, np.array([t for listed in lists for t in listed], np.int32)), wider, len(numbers)

    def mine(self) -> list[Suspect]:
        """Return the suspects of all sentences, in order."""
        out: list[Suspect] = []
        sentence_of = np.repeat(np.arange(len(self.treebank)), self.treebank.lengths)
        for s, start in enumerate(self.starts.tolist()):
            a, b = self.offsets[s : s + 2].tolist()
            context = contexts(self.tagger.compiled, self.rows[:, start:], b - a)
            for w, tag, margin in self._doubted(context, a, b):
                i = int(sentence_of[w])
                out.append(self._suspect(i, w, self.tagger.tags[tag], margin))
        return out

    def _doubted(self, context: np.ndarray, a: int, b: int) -> Iterator[tuple[int, int, float]]:
        """Yield (word, best tag, margin) of the words a .. b - 1, a sequence, whose best tag is not the annotated one.

        The tagger does not know a tag that occurs in no training sentence. Its margin is that of the tag that the
        tagger likes least among the candidates of the word.
        """
        group, best = self.group[a:b], np.empty(b - a, np.int32)
        score = self._score(context, group, best)
        for k in np.flatnonzero(best != self.gold[a:b]).tolist():
            tag = int(self.gold[a + k])
            first = self.candidates.first[group[k] : group[k] + 2].tolist()
            rivals = [tag] if tag >= 0 else self.candidates.tags[first[0] : first[1]].tolist()
            changed = group.copy()
            scores = []
            for rival in rivals:
                changed[k] = self.single + rival
                scores.append(self._score(context, changed, np.empty(b - a, np.int32)))
            yield a + k, int(best[k]), float(score - min(scores))

    def _score(self, context: np.ndarray, group: np.ndarray, tags: np.ndarray) -> int:
        """Return the score of the best tag sequence over lists of candidates, and write its tags to `tags`."""
        return best_tags(self.tagger.compiled, context, group, self.candidates, self.table, NO_GOLD, 0, tags)

    def _suspect(self, i: int, w: int, tag: str, margin: float) -> Suspect:
        word = w - int(self.treebank.offsets[i]) + 1
        head = int(self.treebank.head[w])
        label = self.treebank.vocab["deprel"][int(self.treebank.columns["deprel"][w])]
        return Suspect(
            sentence=int(self.numbers[i]),
            sent_id=self.names[i],
            word=word,
            form=self.treebank.vocab["form"][int(self.treebank.columns["form"][w])],
            kind="tag",
            head=head,
            label=label,
            tag=self.annotated[w],
            proposed_head=head,
            proposed_label=label,
            proposed_tag=tag,
            margin=margin / self.tagger.unit,
            certified=bool(self.gold[w] >= 0),
            marginal=float("nan"),
        )
