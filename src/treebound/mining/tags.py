"""Suspects among tags: words whose annotated tag differs from a tagger's best tag sequence, with their margins.

The margin of a word is the difference between the scores of two tag sequences of its sentence: the best sequence, and
the best sequence in which the word has the annotated tag. Both are found by exact dynamic programming
(`treebound.systems.tagging.sequence`).
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
    """A finder of the suspects among the tags of sentences.

    tagger    a tagger that was not trained on these sentences
    treebank  the annotated sentences
    names, numbers  ids and indices of the sentences, as for `treebound.mining.sentences.Miner`
    """

    def __init__(self, tagger: Tagger, treebank: Treebank, names: list[str], numbers: np.ndarray):
        self.tagger, self.treebank, self.names, self.numbers = tagger, treebank, names, numbers
        self.table = Table(tagger.weights, tagger.mask, len(tagger.tags))
        self.rows, self.starts, group = word_table(treebank, tagger.dictionary, tagger.tag_column)
        self.offsets = treebank.offsets
        if tagger.tag_column:
            self.starts, self.offsets = alone(self.starts, treebank)
        self.annotated = treebank.strings(tagger.column)
        number_of_tag = {tag: i for i, tag in enumerate(tagger.tags)}
        self.gold = np.array([number_of_tag.get(tag, -1) for tag in self.annotated], np.int32)
        self.lists = [tuple(listed) for listed in tagger.dictionary.lists]
        self.candidates, self.group, self.single = self._candidates(group)

    def _candidates(self, group: np.ndarray) -> tuple[Candidates, np.ndarray, int]:
        """Return (all lists of candidate tags, number of the list of each word, number of the first one-tag list).

        The list of a word holds the tags of the tagger's dictionary, and the annotated tag if the tagger knows it.
        After the lists of words, there is one list for each tag alone. The list of tag t has the number of the first
        one-tag list plus t.

        group  number of each word's list in the tagger's dictionary
        """
        numbers: dict[tuple[int, ...], int] = {}
        widened = np.empty_like(group)
        for w, (list_number, tag) in enumerate(zip(group.tolist(), self.gold.tolist(), strict=True)):
            listed = self.lists[list_number]
            if tag >= 0 and tag not in listed:
                listed = tuple(sorted((*listed, tag)))
            widened[w] = numbers.setdefault(listed, len(numbers))
        lists = [*numbers, *((tag,) for tag in range(len(self.tagger.tags)))]
        first = np.cumsum([0] + [len(listed) for listed in lists]).astype(np.int32)
        return Candidates(first, np.array([t for listed in lists for t in listed], np.int32)), widened, len(numbers)

    def mine(self) -> list[Suspect]:
        """Return the suspects of all sentences, in order."""
        suspects: list[Suspect] = []
        sentence_of = np.repeat(np.arange(len(self.treebank)), self.treebank.lengths)
        for s, start in enumerate(self.starts.tolist()):
            a, b = self.offsets[s : s + 2].tolist()
            context = contexts(self.tagger.compiled, self.rows[:, start:], b - a)
            for w, tag, margin in self._doubted(context, a, b):
                i = int(sentence_of[w])
                suspects.append(self._suspect(i, w, self.tagger.tags[tag], margin))
        return suspects

    def _doubted(self, context: np.ndarray, a: int, b: int) -> Iterator[tuple[int, int, float]]:
        """Yield (word, best tag, margin) for the words of a sequence whose best tag differs from the annotated tag.

        context  the features of the sequence's words
        a, b     the sequence consists of the words a .. b - 1 of the treebank

        An annotated tag may be unknown to the tagger because it does not occur in training. The margin is then the
        largest margin of the word's candidate tags.
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
        """Return the score of the best tag sequence, and write its tags to `tags`.

        group  the number of each word's list of candidate tags, as `_candidates` returns it
        """
        return best_tags(self.tagger.compiled, context, group, self.candidates, self.table, NO_GOLD, 0, tags)

    def _suspect(self, i: int, w: int, tag: str, margin: float) -> Suspect:
        """Return the suspect for word w of the treebank, which is in sentence i, from the best tag and its margin."""
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
