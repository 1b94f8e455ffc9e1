"""Hashed features: from templates and token tables to weights, scores and updates.

A feature is a line of LINE consecutive weights (one cache line of four-byte weights) and an offset within it. Together
they are the slot s. The feature by itself has weight s; joined with variant v >= 1 it has weight s ^ v. Reading both
takes one memory access.

Variants of a pair of words (i, j):
- of an arc: 1 + 7 * (j > i) + distance bin (1, 2, 3, 4-5, 6-10, 11-20, more);
- within a larger part: 1 + 4 * side + distance bin (1, 2, 3-5, more). The side is the position of the third word: left
  of both, between, or right of both. If both words are the same, the variant is 13 + side. The variant of a valency
  part is 1 + the number of modifiers.

Weights are float32 in training. They are int32 (fixed point) in a finished model, whose scores are then exact integer
sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.problem import LONGEST_COMB, SHORTEST_COMB
from treebound.kernels.arcs.numbering import index_arcs
from treebound.kernels.arcs.parts import (
    COMB,
    GRAND_SIBLING,
    GRANDCHILD,
    GREAT_GRANDCHILD,
    OUTERMOST_GRANDCHILD,
    VALENCY,
    WIDTH,
    count_parts,
    count_usual_parts,
    fill_parts,
    fill_usual_parts,
    index_parts,
)
from treebound.kernels.features.hashing import M1 as _M1
from treebound.kernels.features.hashing import finish as _finish
from treebound.kernels.features.memory import prefetch, sum_of
from treebound.kernels.features.templates import unpacked_arcs, unpacked_families
from treebound.kernels.reference import where_none
from treebound.support.jit import kernel


class Place(NamedTuple):
    """The region of the weight array that hashed features use.

    The region begins at index `first`. `mask` selects the bits of a hash that number a line of the region.
    """

    first: int
    mask: int


class Output(NamedTuple):
    """Arrays to which features are appended. Kernels do not check whether the arrays are long enough.

    `slots` int64[*] contains the indices of weights. `signs` float32[*] contains the counts of their features, which
    are multiples of `sign`.
    """

    slots: np.ndarray
    signs: np.ndarray
    sign: float
    place: Place


LINE = 16
PAD = 2
AHEAD = 32  #: number of features between prefetching a weight and reading it
BATCH = 256  #: number of arcs or parts whose features are hashed before their weights are read


@kernel(inline="always")
def _slots(mask):
    """Return the mask that selects the slot (line and offset) from a hash, given the mask that selects the line."""
    return mask * LINE + LINE - 1


@kernel(inline="always")
def _feature(templates, t, tokens, r0, r1, r2, r3):
    """Return the hash of template t over the words in rows r0, r1, r2, r3 of the token table."""
    x = templates.seed[t]
    for k in range(templates.start[t], templates.start[t + 1]):
        slot = templates.slot[k]
        row = r0 if slot == 0 else r1 if slot == 1 else r2 if slot == 2 else r3
        x = (x ^ tokens[templates.attr[k], row + templates.offset[k]]) * _M1
    return _finish(x)


@kernel(inline="always")
def _row(word, n):
    """Return the row of a word in the token table; NONE and NONE_OUTER have rows behind the padding."""
    return word + PAD if word >= 0 else n + 2 * PAD - word


@kernel
def arc_variant(h, m):
    """Return the variant of the arc h -> m, 1..14."""
    d = m - h if m > h else h - m
    b = d - 1 if d <= 3 else 3 if d <= 5 else 4 if d <= 10 else 5 if d <= 20 else 6
    return 1 + (7 if m > h else 0) + b


@kernel
def pair_variant(i, j, side):
    """Return the variant of the words i and j of a larger part whose third word is on `side`, 1..15."""
    d = abs(j - i)
    near = 1 + 4 * side + (d > 1) + (d > 2) + (d > 5)  # no branches, here and below, because they would be mispredicted
    return 1 + 4 * side if min(i, j) < 0 else near if d > 0 else 13 + side


@kernel
def side_of(k, i, j):
    """Return 0 if word k is left of i and j, 1 if between, 2 if right of both.

    If i or j is an empty slot, its position is the position of the other word.
    """
    lo, hi = min(i, j), max(i, j)
    return (k >= (hi if lo < 0 else lo)) + (k > hi)


@kernel
def between_tags(tag, h, m, seen, stamp, out):
    """Write the position of the first word of every distinct tag strictly between h and m to `out`.

    `seen` stores for every tag the stamp of the last call that met the tag, so `stamp` must differ from call to call.
    Return the number of positions.
    """
    lo, hi = (h, m) if h < m else (m, h)
    c = 0
    for b in range(lo + 1, hi):
        if seen[tag[b]] != stamp:
            seen[tag[b]] = stamp
            out[c] = b
            c += 1
    return c


@kernel
def local_tags(tag):
    """Return int32[n + 1]: for every word, the first word with the same tag, as a tag number within the sentence.
    O(n^2).
    """
    # sorting would be faster for more than a few hundred words, but takes seconds to compile
    out = np.zeros(len(tag), np.int32)
    for w in range(1, len(tag)):
        first = 1
        while tag[first] != tag[w]:
            first += 1
        out[w] = first
    return out


@kernel
def hash_all(templates, t, tokens, rows, first, keep, x):
    """Write the masked hash of template t for each part to `x` int64[*].

    x[i] is `hash & keep` over the words of part first + i, whose rows in the token table are rows[:, first + i].
    The outer loop runs over atoms and the inner loop over parts. The inner loop has no branch, so the compiler
    vectorises it. Unsigned indices, here and below, avoid the test for negative indices, which would double the time.
    """
    count = len(x)
    seed = templates.seed[t]
    for i in range(count):
        x[i] = seed
    for k in range(templates.start[t], templates.start[t + 1]):
        column = tokens[templates.attr[k]]
        row = rows[templates.slot[k]]
        offset = templates.offset[k]
        for i in range(count):
            x[i] = (x[i] ^ column[np.uint64(row[np.uint64(first + i)] + offset)]) * _M1
    for i in range(count):
        x[i] = _finish(x[i]) & keep


@kernel
def _add_all(templates, span, tokens, rows, variant, weights, mask, out):
    """Add to out[i] the weights of templates span[0] .. span[1] - 1 over rows[:, i], by themselves and with variant[i].

    rows[:, i] are the rows of the words of part i in the token table. The loop runs part by part, so that a sum stays
    in a register. The cache lines of a later part are prefetched meanwhile; after the last part, the prefetched lines
    are arbitrary.
    """
    T = span[1] - span[0]
    ahead = AHEAD // max(T, 1) + 1
    x = np.empty((T, min(len(out), BATCH) + ahead), np.int64)
    for first in range(0, len(out), BATCH):
        count = min(len(out) - first, BATCH)
        for t in range(T):
            hash_all(templates, span[0] + t, tokens, rows, first, _slots(mask), x[t, :count])
        for i in range(count):
            v = variant[first + i]
            total = out[first + i]
            for t in range(T):
                prefetch(weights, x[t, np.uint64(i + ahead)])
                s = x[t, np.uint64(i)]
                total += sum_of(weights, s, s ^ v)
            out[first + i] = total


@kernel
def _add_pairs(templates, span, tokens, rows, variants, weights, mask, out):
    """Write to out[q, side] the sum of the weights of pair templates over pair q of words, for each of three sides.

    Each template scores by itself and with the variant variants[q, side]. The templates are span[0] .. span[1] - 1,
    and rows[:, q] are the rows of pair q in the token table.
    """
    T = span[1] - span[0]
    ahead = AHEAD // max(T, 1) + 1
    x = np.empty((T, min(len(out), BATCH) + ahead), np.int64)
    for first in range(0, len(out), BATCH):
        count = min(len(out) - first, BATCH)
        for t in range(T):
            hash_all(templates, span[0] + t, tokens, rows, first, _slots(mask), x[t, :count])
        for i in range(count):
            q = first + i
            left, between, right = variants[q, 0], variants[q, 1], variants[q, 2]
            x0, x1, x2 = 0.0, 0.0, 0.0
            for t in range(T):
                prefetch(weights, x[t, np.uint64(i + ahead)])
                s = x[t, np.uint64(i)]
                x0 += sum_of(weights, s, s ^ left)
                x1 += sum_of(weights, s, s ^ between)
                x2 += sum_of(weights, s, s ^ right)
            out[q, 0], out[q, 1], out[q, 2] = x0, x1, x2


@kernel
def _word_lines(templates, tokens, n, weights, mask):
    """Return float64[n + 1, LINE]: for each word and variant, the sum of the weights of one-word templates.

    Variant 0 stands for the features that are joined with no variant.
    """
    out = np.zeros((n + 1, LINE), np.float64)
    rows = np.empty((1, n + 1), np.int32)
    for w in range(n + 1):
        rows[0, w] = w + PAD
    x = np.empty(n + 1, np.int64)
    for t in range(len(templates.seed)):
        hash_all(templates, t, tokens, rows, 0, _slots(mask), x)
        for w in range(n + 1):
            prefetch(weights, x[w])
        for w in range(n + 1):
            for v in range(LINE):
                out[w, v] += np.float64(weights[np.uint64(x[w] ^ v)])
    return out


@kernel
def word_lines(arc_templates, tokens, n, weights, mask):
    """Return two results of `_word_lines`: for every word as a head, and for every word as a modifier. O(n T)."""
    as_head = _word_lines(arc_templates[0], tokens, n, weights, mask)
    as_mod = _word_lines(arc_templates[1], tokens, n, weights, mask)
    return as_head, as_mod


@kernel
def score_pairs(t_pair, words, tokens, head, mod, weights, mask):
    """Return (scores float64[A], rows int32[2, A], variants int64[A]) of arcs. O(A T).

    Templates for the words in between do not enter the scores. The rows are the rows of head and modifier in the token
    table, and the variants are the results of `arc_variant`. `words` is the result of `word_lines`.
    """
    as_head, as_mod = words
    A = len(head)
    rows = np.empty((2, A), np.int32)
    variant = np.empty(A, np.int64)
    out = np.empty(A, np.float64)
    for a in range(A):
        h, m = head[a], mod[a]
        v = arc_variant(h, m)
        rows[0, a], rows[1, a], variant[a] = h + PAD, m + PAD, v
        out[a] = as_head[h, 0] + as_head[h, v] + as_mod[m, 0] + as_mod[m, v]
    first = np.int64(0)  # not a literal, because numba would compile the kernel a second time for a literal
    _add_all(t_pair, (first, len(t_pair.seed)), tokens, rows, variant, weights, mask, out)
    return out, rows, variant


@kernel
def score_arcs(arc_templates, tokens, tag, head, mod, weights, mask):
    """Return float64[A]: the scores of arcs. O(A (T + distance)).

    - `arc_templates`: (head, modifier, bigram, between) Templates.
    - `tokens`, `tag`: the results of `TokenTable.sentence`.
    """
    t_pair, t_between = arc_templates[2], arc_templates[3]
    n = len(tag) - 1
    A = len(head)
    words = word_lines(arc_templates, tokens, n, weights, mask)
    out, rows, variant = score_pairs(t_pair, words, tokens, head, mod, weights, mask)
    if len(t_between.seed) > 0:
        tags = local_tags(tag)
        distinct = 0
        for w in range(1, n + 1):
            distinct += tags[w] == w
        seen = np.full(n + 2, -1, np.int32)
        between = np.empty(n + 1, np.int32)
        total = 0
        for a in range(A):
            total += min(abs(head[a] - mod[a]) - 1, distinct)
        triple = np.empty((3, total), np.int32)
        arc_of = np.empty(total, np.int32)
        c = 0
        for a in range(A):
            for i in range(between_tags(tags, head[a], mod[a], seen, a, between)):
                triple[0, c], triple[1, c], triple[2, c] = rows[0, a], between[i] + PAD, rows[1, a]
                arc_of[c] = a
                c += 1
        x = np.empty(c, np.int64)
        for t in range(len(t_between.seed)):
            hash_all(t_between, t, tokens, triple, 0, _slots(mask), x)
            for i in range(c):
                prefetch(weights, x[min(i + AHEAD, c - 1)])
                out[arc_of[i]] += sum_of(weights, x[i], x[i] ^ variant[arc_of[i]])
    return out


@kernel
def _with_runs(tokens, n):
    """Return `tokens` with a further column for every run of SHORTEST_COMB .. LONGEST_COMB consecutive words.

    The column contains, for each attribute, a hash of the values of the words. The column of the run of `size` words
    from word w on is `_run_row(w, size, n)`. O(n attributes).
    """
    width = tokens.shape[1]
    out = np.zeros((len(tokens), width + n * (LONGEST_COMB - SHORTEST_COMB + 1)), np.int64)
    for a in range(len(tokens)):
        for i in range(width):  # not a slice, for which numba would compile an error message about shapes
            out[a, i] = tokens[a, i]
        for w in range(1, n + 1):
            x = np.int64(0)
            for size in range(1, min(LONGEST_COMB, n - w + 1) + 1):
                x = (x ^ tokens[a, w + size - 1 + PAD]) * _M1
                if size >= SHORTEST_COMB:
                    out[a, _run_row(w, size, n)] = _finish(x)
    return out


@kernel(inline="always")
def _run_row(w, size, n):
    return n + 2 * PAD + 4 + (w - 1) * (LONGEST_COMB - SHORTEST_COMB + 1) + size - SHORTEST_COMB


@kernel(inline="always")
def _part_row(code, words, p, slot, n):
    """Return the row in the token table of the word in a slot of part p, for families of four words."""
    if code == COMB and slot == 3:
        nearest, farthest = words[p, 1], words[p, 2]
        return _run_row(min(nearest, farthest), abs(nearest - farthest) + 1, n)
    return _row(words[p, slot], n)


@kernel
def _score_counts(families, f, words, tokens, n, weights, mask, out):
    """Write the scores of valency parts. O(n T + F T).

    The templates of a word are hashed once for all its counts.
    """
    rows = np.empty((1, n + 1), np.int32)
    for w in range(n + 1):
        rows[0, w] = w + PAD
    x = np.empty(n + 1, np.int64)
    out[:] = 0.0
    for t in range(families.part_first[f], families.part_first[f + 1]):
        hash_all(families.part, t, tokens, rows, 0, _slots(mask), x)
        for p in range(len(words)):
            s = x[words[p, 0]]
            out[p] += sum_of(weights, s, s ^ (1 + words[p, 1]))


@kernel
def score_parts(families, f, words, tokens, n, weights, mask, out):
    """Write the scores of the parts `words` (int32[F, 4]) of family f, other than valency, to `out` float64[F].

    `tokens` is a result of `TokenTable.sentence`, or of `_with_runs` for combs. The sums of pair templates are stored
    per pair of words, for the three possible sides of the third word. O(F T_part + pairs T_pair).
    """
    code = families.code[f]
    x_slot, y_slot, z_slot, u_slot = families.slot[f]
    F = len(words)
    rows = np.empty((3 if u_slot < 0 else 4, F), np.int32)
    variant = np.empty(F, np.int64)
    pair_of = np.empty(F, np.int32)
    side_at = np.empty(F, np.int8)
    pair_number = np.full((n + 1) * (n + 3), -1, np.int32)
    pair_rows = np.zeros((4, min(F, (n + 1) * (n + 3))), np.int32)
    pair_variants = np.empty((min(F, (n + 1) * (n + 3)), 3), np.int64)
    pairs = 0
    for p in range(F):
        i, j, k = words[p, x_slot], words[p, y_slot], words[p, z_slot]
        side = side_of(k, i, j)
        variant[p] = pair_variant(i, j, side)
        side_at[p] = side
        rows[x_slot, p], rows[y_slot, p], rows[z_slot, p] = _row(i, n), _row(j, n), _row(k, n)
        # at most one of i and j is empty, and it is the same slot in all parts of a family
        cell = i * (n + 3) + (j if j >= 0 else n - j) if i >= 0 else j * (n + 3) + n - i
        q = pair_number[cell]
        if q < 0:
            q = pair_number[cell] = pairs
            pair_rows[x_slot, pairs], pair_rows[y_slot, pairs] = rows[x_slot, p], rows[y_slot, p]
            for s in range(3):
                pair_variants[pairs, s] = pair_variant(i, j, s)
            pairs += 1
        pair_of[p] = q
    if u_slot >= 0:
        for p in range(F):
            rows[u_slot, p] = _part_row(code, words, p, u_slot, n)
    span = families.pair_first[f], families.pair_first[f + 1]
    memo = np.zeros((pairs, 3), np.float64)
    _add_pairs(families.pair, span, tokens, pair_rows, pair_variants, weights, mask, memo)
    for p in range(F):
        out[p] = memo[pair_of[p], side_at[p]]
    span = families.part_first[f], families.part_first[f + 1]
    _add_all(families.part, span, tokens, rows, variant, weights, mask, out)


@kernel
def _clear_impossible(code, words, out):
    """Set the score to 0 for parts that contain an arc and its reverse, which no tree has. O(F).

    Only listings for non-projective trees contain them.
    """
    for p in range(len(words)):
        a, b, c, d = words[p]
        if code in (OUTERMOST_GRANDCHILD, GRANDCHILD):
            back = a == c
        elif code == GREAT_GRANDCHILD:
            back = a == c or b == d
        else:
            back = code == GRAND_SIBLING and a in (c, d)
        if back:
            out[p] = 0.0


def _count_usual(wide, code, index, parts):
    return count_usual_parts(code, index, parts)


@where_none(_count_usual)
def _count(wide, code, index, parts):
    return count_parts(code, index, parts)


def _fill_usual(wide, code, index, parts, arcs, words):
    fill_usual_parts(code, index, parts, arcs, words)


@where_none(_fill_usual)
def _fill(wide, code, index, parts, arcs, words):
    fill_parts(code, index, parts, arcs, words)


def _score_usual(wide, families, f, words, tokens, n, weights, mask, out):
    score_parts(families, f, words, tokens, n, weights, mask, out)


@where_none(_score_usual)
def _score(wide, families, f, words, tokens, n, weights, mask, out):
    if families.code[f] == VALENCY:
        _score_counts(families, f, words, tokens, n, weights, mask, out)
    else:
        score_parts(families, f, words, tokens, n, weights, mask, out)


@kernel
def score_sentence(templates, tokens, tag, allowed, single_root, projective, weights, mask):
    """Return all scores that a decoder needs for a sentence, in one call.

    - `templates`: (array, wide). The array contains the packed templates of arcs, then of families. `wide` is None if
      all families are in USUAL, and any other value if not.
    - `allowed`: bool[n + 1, n + 1] candidate arcs, head first.

    Return (ArcIndex, PartIndex, arc scores float64[A], first int64[families + 1], arcs int32[*], words int32[parts, 4],
    scores float64[parts]). Family f has the parts first[f] .. first[f + 1] - 1. The arcs int32[F, r] of the families
    follow one another in `arcs`.
    """
    array, wide = templates
    arc_templates, end = unpacked_arcs(array)
    families = unpacked_families(array, end)
    n = len(tag) - 1
    index = index_arcs(n, allowed)
    parts = index_parts(index, single_root, projective)
    arc = score_arcs(arc_templates, tokens, tag, index.head, index.mod, weights, mask)
    count = len(families.code)
    first = np.zeros(count + 1, np.int64)
    cells = 0
    for f in range(count):
        first[f + 1] = first[f] + _count(wide, families.code[f], index, parts)
        cells += WIDTH[families.code[f]] * (first[f + 1] - first[f])
    arcs = np.empty(cells, np.int32)
    words = np.empty((first[count], 4), np.int32)
    scores = np.empty(first[count], np.float64)
    cells = 0
    for f in range(count):
        code, lo, hi = families.code[f], first[f], first[f + 1]
        width = WIDTH[code]
        table = arcs[cells : cells + width * (hi - lo)].reshape((hi - lo, width))
        cells += width * (hi - lo)
        _fill(wide, code, index, parts, table, words[lo:hi])
        family_tokens = _with_runs(tokens, n) if code == COMB else tokens
        _score(wide, families, f, words[lo:hi], family_tokens, n, weights, mask, scores[lo:hi])
        if not projective:
            _clear_impossible(code, words[lo:hi], scores[lo:hi])
    return index, parts, arc, first, arcs, words, scores


@kernel
def _emit(x, v, mask, sign, slots, signs, c):
    slots[c] = x & _slots(mask)
    slots[c + 1] = slots[c] ^ v
    signs[c] = sign
    signs[c + 1] = sign
    return c + 2


@kernel
def arc_features(arc_templates, tokens, tag, arcs, head, mod, out, c):
    """Append the weight slots of the features of the given arcs to an Output with `c` slots; return the new number."""
    slots, signs, sign, (_, mask) = out
    t_head, t_mod, t_pair, t_between = arc_templates
    n = len(tag) - 1
    tags = local_tags(tag)
    seen = np.full(n + 2, -1, np.int32)
    between = np.empty(n + 1, np.int32)
    for a in arcs:
        h, m = head[a], mod[a]
        v = arc_variant(h, m)
        for t in range(len(t_head.seed)):
            c = _emit(_feature(t_head, t, tokens, h + PAD, 0, 0, 0), v, mask, sign, slots, signs, c)
        for t in range(len(t_mod.seed)):
            c = _emit(_feature(t_mod, t, tokens, m + PAD, 0, 0, 0), v, mask, sign, slots, signs, c)
        for t in range(len(t_pair.seed)):
            c = _emit(_feature(t_pair, t, tokens, h + PAD, m + PAD, 0, 0), v, mask, sign, slots, signs, c)
        for i in range(between_tags(tags, h, m, seen, a, between)):
            for t in range(len(t_between.seed)):
                x = _feature(t_between, t, tokens, h + PAD, between[i] + PAD, m + PAD, 0)
                c = _emit(x, v, mask, sign, slots, signs, c)
    return c


@kernel
def part_features(families, f, words, chosen, tokens, n, out, c):
    """Append the weight slots of the parts `chosen` of family f to an Output with `c` slots; return the new number."""
    slots, signs, sign, (_, mask) = out
    code = families.code[f]
    x_slot, y_slot, z_slot, u_slot = families.slot[f]
    if code == COMB and len(chosen) > 0:
        tokens = _with_runs(tokens, n)
    for p in chosen:
        r0, r1, r2, r3 = _row(words[p, 0], n), 0, 0, 0
        if code == VALENCY:
            v = 1 + words[p, 1]
        else:
            i, j, k = words[p, x_slot], words[p, y_slot], words[p, z_slot]
            v = pair_variant(i, j, side_of(k, i, j))
            r1, r2 = _row(words[p, 1], n), _row(words[p, 2], n)
            if u_slot >= 0:
                r3 = _part_row(code, words, p, 3, n)
        for t in range(families.pair_first[f], families.pair_first[f + 1]):
            c = _emit(_feature(families.pair, t, tokens, r0, r1, r2, r3), v, mask, sign, slots, signs, c)
        for t in range(families.part_first[f], families.part_first[f + 1]):
            c = _emit(_feature(families.part, t, tokens, r0, r1, r2, r3), v, mask, sign, slots, signs, c)
    return c


@kernel
def only_in(first, second):
    """Return the elements of `first` that are not in `second` (int32 arrays); both arrays are sorted in place."""
    first.sort()
    second.sort()
    out = np.empty(len(first), np.int32)
    c = 0
    j = 0
    for x in first:
        while j < len(second) and second[j] < x:
            j += 1
        if j < len(second) and second[j] == x:
            continue
        out[c] = x
        c += 1
    return out[:c]
