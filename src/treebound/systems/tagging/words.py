"""Word tables: the attributes of words as hashes, and the candidate tags of words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from treebound.core.hashing import hash_string
from treebound.core.treebank import Treebank
from treebound.systems.tagging.sequence import PAD, Candidates
from treebound.systems.tagging.templates import ATTRIBUTES

FREQUENT = 5  #: a form with at least this many occurrences in training has only its tags in training as candidates
FEW = 10  #: all other forms may have every tag of the forms that occur fewer times than this in training


def shape(form: str) -> str:
    """Return the kinds of a form's characters, with runs as one: "Xx" for Ankara, "X-d" for B-52, "d,d" for 1,000."""
    out = ""
    for character in form:
        kind = "d" if character.isdigit() else "X" if character.isupper() else "x" if character.isalpha() else character
        if not out.endswith(kind):
            out += kind
    return out


def kind(form: str) -> str:
    """Return a coarse shape: the case of the letters, with marks for digits, hyphens and a final punctuation sign."""
    letters = [c for c in form if c.isalpha()]
    if not letters:
        case = "-"
    elif all(c.isupper() for c in letters):
        case = "X" if len(letters) > 1 else "I"
    elif letters[0].isupper():
        case = "Xx"
    else:
        case = "xX" if any(c.isupper() for c in letters) else "x"
    return case + "d" * any(c.isdigit() for c in form) + "-" * ("-" in form) + "." * (not form[-1:].isalnum())


class Dictionary:
    """The candidate tags of words: the tags in training for a frequent form, and the open tags for any other form.

    Open tags are the tags that rare forms have in training.

    forms         frequent form -> number of its list of tags; list 0 has the open tags, for all other forms
    lists_by_tag  tag of another column -> list for other forms with this tag, in a tagger that reads such a column
    """

    def __init__(
        self,
        forms: dict[str, int],
        lists: list[tuple[int, ...]],
        seen: dict[str, int],
        lists_of_given: dict[str, int] | None = None,
    ):
        self.forms, self.lists, self.seen, self.lists_by_tag = forms, lists, seen, lists_of_given or {}
        self.candidates = Candidates(
            np.cumsum([0] + [len(tags) for tags in lists]).astype(np.int32),
            np.array([tag for tags in lists for tag in tags], np.int32),
        )

    @classmethod
    def count(cls, forms: Iterable[str], tags: Iterable[int], frequent: int = FREQUENT) -> Dictionary:
        """Return the dictionary of a training treebank, given its forms and tags."""
        seen: dict[str, Counter[int]] = defaultdict(Counter)
        for form, tag in zip(forms, tags, strict=True):
            seen[form][tag] += 1
        rare = [counts for counts in seen.values() if counts.total() < max(FEW, frequent)]
        everything = {tag for counts in seen.values() for tag in counts}
        lists = {tuple(sorted({tag for counts in rare for tag in counts} or everything)): 0}
        listed = {}
        for form in sorted(seen):
            listed[form] = lists.setdefault(tuple(sorted(seen[form])), len(lists))
        frequent_forms = {form: i for form, i in listed.items() if seen[form].total() >= frequent}
        return cls(frequent_forms, list(lists), listed)

    def with_tag_column(self, sources: Iterable[str], tags: Iterable[int]) -> Dictionary:
        """Return a dictionary that also lists, for each tag of another column, the tags of the words that carry it.

        sources  the tag of each word in the other column
        tags     the tag of each word that the tagger is to predict
        """
        tags_of_source: dict[str, set[int]] = defaultdict(set)
        for source, tag in zip(sources, tags, strict=True):
            tags_of_source[source].add(tag)
        numbers = {listed: i for i, listed in enumerate(self.lists)}
        lists = {
            source: numbers.setdefault(tuple(sorted(tags_of_source[source])), len(numbers))
            for source in sorted(tags_of_source)
        }
        return Dictionary(self.forms, list(numbers), self.seen, lists)

    def classes(self, strings: Iterable[str]) -> np.ndarray:
        """Return the number of the list of candidate tags for each form, as int32."""
        return np.array([self.forms.get(string, 0) for string in strings], np.int32)


def word_table(
    treebank: Treebank, dictionary: Dictionary, source: str = ""
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the hashed attributes of all words of a treebank, and the candidates of each word. O(W + vocabulary).

    source  another column with tags, or "" for none. Its tags become the attribute `tag`, and the tag of an infrequent
            word determines the candidates of the word

    The result is (rows int64[len(ATTRIBUTES), W + 2 PAD S], starts int64[S], group int32[W]). The columns of sentence s
    begin at starts[s], including padding. `group` has the number of the candidate list of each word.
    """
    strings = treebank.vocab["form"].strings
    classes = dictionary.classes(strings)
    by_form = np.array([_hashes(form, dictionary) for form in strings], np.int64).reshape(-1, len(ATTRIBUTES))
    form = treebank.columns["form"]
    sentences = np.arange(len(treebank))
    starts = treebank.offsets[:-1] + 2 * PAD * sentences
    column = np.arange(treebank.words) + PAD + np.repeat(2 * PAD * sentences, treebank.lengths)
    rows = np.empty((len(ATTRIBUTES), treebank.words + 2 * PAD * len(treebank)), np.int64)
    for offset in range(PAD):
        rows[:, starts + offset] = _PADDING[PAD - 1 - offset][:, None]
        rows[:, starts + PAD + treebank.lengths + offset] = _PADDING[PAD + offset][:, None]
    rows[:, column] = by_form.T[:, form]
    rows[ATTRIBUTES.index("case"), column] = np.repeat(_cases(treebank), treebank.lengths)
    group = classes[form]
    if source:
        tags, column_of = treebank.vocab[source].strings, treebank.columns[source]
        rows[ATTRIBUTES.index("tag"), column] = np.array([hash_string(f"tag={tag}") for tag in tags], np.int64)[
            column_of
        ]
        lists = np.array([dictionary.lists_by_tag.get(tag, 0) for tag in tags], np.int32)[column_of]
        frequent = np.array([string in dictionary.forms for string in strings], bool)[form]
        group = np.where(frequent, group, lists).astype(np.int32)
    return rows, starts, group


def alone(starts: np.ndarray, treebank: Treebank) -> tuple[np.ndarray, np.ndarray]:
    """Return (starts, offsets) that make every word a sentence of its own, with its neighbours as padding."""
    first = np.repeat(starts - treebank.offsets[:-1], treebank.lengths)
    return first + np.arange(treebank.words), np.arange(treebank.words + 1)


def _hashes(form: str, dictionary: Dictionary) -> list[int]:
    lower = form.lower()
    classes = [dictionary.forms.get(form, 0)]
    for variant in (lower, form.capitalize()):
        classes.append((dictionary.seen if variant != form else dictionary.forms).get(variant, 0))
    values = [form, lower, shape(form), kind(form), *(repr(dictionary.lists[c]) for c in classes)]
    values.append(_stem(lower, dictionary))
    values += [lower[:k] if len(lower) > k else "" for k in (1, 2, 3, 4)]
    values += [lower[-k:] if len(lower) > k else "" for k in (1, 2, 3, 4, 5)]
    return [hash_string(f"{name}={value}") for name, value in zip(ATTRIBUTES, [*values, "", ""], strict=True)]


def _stem(lower: str, dictionary: Dictionary) -> str:
    """Return a text with the tags of the longest proper prefix that is a training word, and the letters behind it.

    Prefixes have at least three letters. Without such a prefix, the text is empty.
    """
    for end in range(len(lower) - 1, 2, -1):
        number = dictionary.seen.get(lower[:end])
        if number is not None:
            return f"{dictionary.lists[number]}{lower[end:] if len(lower) - end < 5 else '...'}"
    return ""


def _cases(treebank: Treebank) -> np.ndarray:
    """Return int64[S], the share of capitalised words in each sentence, in quarters, hashed.

    Only words that begin with a letter count.
    """
    strings = treebank.vocab["form"].strings
    lettered = np.array([form[:1].isalpha() for form in strings], np.int64)[treebank.columns["form"]]
    capital = np.array([form[:1].isupper() for form in strings], np.int64)[treebank.columns["form"]]
    if not treebank.words:
        return np.zeros(len(treebank), np.int64)
    total, large = (np.add.reduceat(flags, treebank.offsets[:-1]) for flags in (lettered, capital))
    names = np.array([hash_string(f"case={quarter}") for quarter in range(5)], np.int64)
    return names[np.where(total > 0, (4 * large + total - 1) // np.maximum(total, 1), 0)]


#: hashes of the padding before a sentence, nearest word first, and of the padding after it
_PADDING = np.array(
    [[hash_string(f"{a}=<{side}{i}>") for a in ATTRIBUTES] for side in "be" for i in range(1, PAD + 1)], np.int64
)
