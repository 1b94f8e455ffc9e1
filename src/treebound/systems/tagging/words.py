"""Word tables: the attributes of words as hashes, and the tags that a word may have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from treebound.core.hashing import hash_string
from treebound.core.treebank import Treebank
from treebound.systems.tagging.sequence import PAD, Candidates
from treebound.systems.tagging.templates import ATTRIBUTES

FREQUENT = 5  #: a form seen so often in training has no tags but those it was seen with
FEW = 10  #: ... and one seen more rarely any tag that forms seen less often than this have


def shape(form: str) -> str:
    """Kinds of its characters, repeats dropped: "Xx" for Ankara, "X-d" for B-52, "d,d" for 1,000."""
    out = ""
    for character in form:
        kind = "d" if character.isdigit() else "X" if character.isupper() else "x" if character.isalpha() else character
        if not out.endswith(kind):
            out += kind
    return out


def kind(form: str) -> str:
    """A coarse shape: case of the first character and of the others, digits, hyphens, other characters."""
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
    """Which tags a word may have: those of training for a frequent form, the open ones for any other.

    forms   frequent form -> list of its tags; the list numbered 0 has the open tags
    given   tag of another column -> list for the other forms that have it; of a tagger that is given such tags
    """

    def __init__(
        self,
        forms: dict[str, int],
        lists: list[tuple[int, ...]],
        seen: dict[str, int],
        given: dict[str, int] | None = None,
    ):
        self.forms, self.lists, self.seen, self.given = forms, lists, seen, given or {}
        self.candidates = Candidates(
            np.cumsum([0] + [len(tags) for tags in lists]).astype(np.int32),
            np.array([tag for tags in lists for tag in tags], np.int32),
        )

    @classmethod
    def count(cls, forms: Iterable[str], tags: Iterable[int], frequent: int = FREQUENT) -> Dictionary:
        """From the words of a training treebank."""
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

    def with_given(self, given: Iterable[str], tags: Iterable[int]) -> Dictionary:
        """The same with lists for the tags of another column, from the words of the same treebank."""
        together: dict[str, set[int]] = defaultdict(set)
        for other, tag in zip(given, tags, strict=True):
            together[other].add(tag)
        numbers = {listed: i for i, listed in enumerate(self.lists)}
        lists = {other: numbers.setdefault(tuple(sorted(together[other])), len(numbers)) for other in sorted(together)}
        return Dictionary(self.forms, list(numbers), self.seen, lists)

    def classes(self, strings: Iterable[str]) -> np.ndarray:
        """int32: the number of the list of each form."""
        return np.array([self.forms.get(string, 0) for string in strings], np.int32)


def word_table(
    treebank: Treebank, dictionary: Dictionary, given: str = ""
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Attributes of all words of a treebank, hashed.

    given  a column whose tags are the attribute `tag`; words that are not frequent have the candidates of theirs

    Returns (rows int64[len(ATTRIBUTES), W + 2 PAD S], starts int64[S], group int32[W]): sentence s stands in the
    columns from starts[s], padding included; group is the list of candidates of each word. O(W + vocabulary).
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
    if given:
        tags, column_of = treebank.vocab[given].strings, treebank.columns[given]
        rows[ATTRIBUTES.index("tag"), column] = np.array([hash_string(f"tag={tag}") for tag in tags], np.int64)[
            column_of
        ]
        lists = np.array([dictionary.given.get(tag, 0) for tag in tags], np.int32)[column_of]
        frequent = np.array([string in dictionary.forms for string in strings], bool)[form]
        group = np.where(frequent, group, lists).astype(np.int32)
    return rows, starts, group


def alone(starts: np.ndarray, treebank: Treebank) -> tuple[np.ndarray, np.ndarray]:
    """(starts, offsets) under which every word is a sentence of its own, and its neighbours are the padding."""
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
    """The tags of the longest proper prefix that training has as a word, and what follows it."""
    for end in range(len(lower) - 1, 2, -1):
        found = dictionary.seen.get(lower[:end])
        if found is not None:
            return f"{dictionary.lists[found]}{lower[end:] if len(lower) - end < 5 else '...'}"
    return ""


def _cases(treebank: Treebank) -> np.ndarray:
    """int64[S]: which share of a sentence's words with letters begins with a capital, in quarters, hashed."""
    strings = treebank.vocab["form"].strings
    lettered = np.array([form[:1].isalpha() for form in strings], np.int64)[treebank.columns["form"]]
    capital = np.array([form[:1].isupper() for form in strings], np.int64)[treebank.columns["form"]]
    if not treebank.words:
        return np.zeros(len(treebank), np.int64)
    total, large = (np.add.reduceat(flags, treebank.offsets[:-1]) for flags in (lettered, capital))
    names = np.array([hash_string(f"case={quarter}") for quarter in range(5)], np.int64)
    return names[np.where(total > 0, (4 * large + total - 1) // np.maximum(total, 1), 0)]


#: words before the first one, nearest first, then those behind the last one
_PADDING = np.array(
    [[hash_string(f"{a}=<{side}{i}>") for a in ATTRIBUTES] for side in "be" for i in range(1, PAD + 1)], np.int64
)
