"""Scores in, parses out: `treebound.decode` for a sentence, `treebound.decode_all` for many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from treebound.constraints.rows import Constraint, Words
from treebound.constraints.ud import RuleSet
from treebound.core.errors import InputError, UnsupportedError
from treebound.core.limits import MEMORY, longest, memory_limit
from treebound.core.parse import Parse
from treebound.core.problem import LARGEST_SUM
from treebound.core.protocols import Decoder
from treebound.core.spaces import Space
from treebound.decoders import DECODERS
from treebound.decoders.base import within_tolerance
from treebound.decoders.confidence import Assess
from treebound.decoders.exact.programs.incremental import IncrementalProgram
from treebound.kernels.chart.first_order import BEST_TREE, FOUND
from treebound.scores.arrays import FLOAT64, brief, is_flag, is_size
from treebound.scores.arrays import scores as array
from treebound.scores.batches import listed, padded
from treebound.scores.constrained import Hard, Valid, forbidding, program
from treebound.scores.masks import HIGHEST
from treebound.scores.statement import (
    ARGUMENTS,
    CELL,
    TENSORS,
    Statement,
    Tensor,
    check_matrix,
    checked_setting,
    stated,
)
from treebound.support.workers import spread

MANY = 4096  #: no machine has use for more workers
BLOCK = 64  #: sentences that a worker takes at a time
_KNOWN = frozenset(ARGUMENTS) | {"words"}
_PARTS = ("allowed", "parts", "words", *TENSORS)  #: arguments for which scores of arcs in a matrix are not enough
#: decoders that find the best tree of arcs' scores alone; what they then do is one kernel
_FIRST_ORDER = frozenset({"branch-and-bound", "eisner", "chu-liu-edmonds"})


def decode(
    arc: Any,
    *,
    labels: Any = None,
    adjacent_siblings: Tensor = None,
    siblings: Tensor = None,
    grandparents: Tensor = None,
    parts: Mapping[str, tuple[Any, Any]] | None = None,
    allowed: Any = None,
    words: Words | None = None,
    **how: Any,
) -> Parse:
    """Find the best tree of scores of one's own, with its certificate. The head comes first; 0 is the root.

    Scores of arcs, with labels or without, take one dynamic program, O(n^3) for projective trees (Eisner 1996) and
    O(n^2) where arcs may cross (Chu & Liu 1965; Tarjan 1977), and two to four microseconds. Other scores are decoded
    exactly, in exponential time at worst (Qian & Liu 2013).

    Parameters
    ----------
    arc : array
        [n + 1, n + 1] scores of arcs, `arc[h, m]`, as `treebound.problem` takes them: arrays of any library on the CPU,
        masked arrays, lists. Masks such as -1e9 forbid arcs, see `treebound.problem`. A float64 array in the order of C
        is not copied. No array is changed.
    labels, adjacent_siblings, siblings, grandparents, parts, allowed : optional
        Further scores, and the arcs that may be used, as `treebound.problem` takes them.
    words : Words, optional
        Forms and word classes, which hard constraints look at.
    **how
        What is to be found, see `How`: space, single_root, unit, k_best, margins, marginals, scale, constraints, valid,
        label_names, memory, decoder and the options of the decoder.

    Returns
    -------
    Parse
        `heads` int32[n + 1], `heads[0]` = -1. `value` is the score of the tree, `bound` an upper bound of the scores of
        all trees. `status` says what is proved: `optimal`, or what the decoder's limits allow. `labels` int32[n + 1]
        are the labels of the arcs, if `labels` are given.

    Raises
    ------
    InputError
        If an argument cannot be used, which the message names, or if there is no tree.
    UnsupportedError
        If the decoder does not have a family, a space or an option.

    Examples
    --------
    Three words, integer scores: `arc[h, m]` with the head first, 0 the root.

    >>> import numpy as np
    >>> import treebound
    >>> arc = [[0, 1, 9, 1], [0, 0, 2, 3], [0, 8, 0, 7], [0, 2, 4, 0]]
    >>> parse = treebound.decode(arc)
    >>> parse.heads.tolist(), parse.value, parse.bound, parse.status
    ([-1, 2, 0, 2], 24.0, 24.0, 'optimal')

    The two best trees, and by how much the best one beats the best tree without each of its arcs.

    >>> parse = treebound.decode(arc, k_best=2, margins=True)
    >>> [(tree.heads[1:].tolist(), tree.value) for tree in parse.confidence.trees]
    [([2, 0, 2], 24.0), ([2, 3, 0], 13.0)]
    >>> parse.confidence.margins[1:].tolist()
    [14.0, 11.0, 11.0]

    A score for two words that share a head changes the tree: `siblings` by places (h, s, m) and their scores.

    >>> treebound.decode(arc, siblings=([(2, 1, 3)], [-12])).heads.tolist()
    [-1, 2, 3, 0]

    The best tree that the validator of Universal Dependencies accepts: no word has two subjects.

    >>> from treebound.constraints.rows import Words
    >>> words = Words.of(["They", "see", "it"], ["PRON", "VERB", "PRON"])
    >>> names, labels = ["nsubj", "obj", "root"], np.zeros((4, 4, 3))
    >>> labels[2, :, 0], labels[2, 3, 1], labels[0, :, 2] = 5, 4, 9
    >>> [names[i] for i in treebound.decode(arc, labels=labels).labels[1:]]
    ['nsubj', 'root', 'nsubj']
    >>> parse = treebound.decode(arc, labels=labels, label_names=names, words=words, valid="ud")
    >>> [names[i] for i in parse.labels[1:]], parse.status
    (['nsubj', 'root', 'obj'], 'optimal')
    """
    arcs_alone = adjacent_siblings is siblings is grandparents is parts is allowed is words is None
    settings = _settings(how)
    if arcs_alone and settings.kernel:
        parse = _first_order(settings, arc, labels)
        if parse is not None:
            return parse
    scores = {"labels": labels, "adjacent_siblings": adjacent_siblings, "siblings": siblings}
    scores |= {"arc": arc, "grandparents": grandparents, "parts": parts, "allowed": allowed, "words": words}
    return _decode_problem(settings, scores)


def decode_all(
    sentences: Iterable[Any],
    *,
    lengths: Any = None,
    workers: int = 1,
    progress: Callable[[Iterable, str], Iterable] | None = None,
    **how: Any,
) -> list[Parse]:
    """Decode many sentences; the result is the same for any number of workers.

    Scores of arcs, with labels or without, cost a few microseconds for each sentence beyond the dynamic program.

    Parameters
    ----------
    sentences : iterable, or array
        A matrix of scores of arcs for each sentence, or a dictionary of all scores of each sentence,
        `{"arc": .., "labels": .., ..}`. With `lengths`: one padded tensor [B, n + 1, n + 1] of scores of arcs, or one
        dictionary of padded tensors whose first axis is the sentence.
    lengths : array of int, optional
        [B] numbers of words of the sentences of a padded tensor. Sentence i has the scores
        `arc[i, : lengths[i] + 1, : lengths[i] + 1]`; what stands beyond them is not looked at.
    workers : int, default 1
        Processes on this machine. They share the scores with this process; only parses are sent.
    progress : callable, optional
        Function like `treebound.support.progress.over`, which shows how many sentences are decoded.
    **how
        Keyword arguments of `decode`, the same for all sentences.

    Returns
    -------
    list of Parse
        One parse for each sentence, in order.

    Raises
    ------
    InputError
        If a sentence cannot be decoded; the message names the sentence, counted from 0. If `lengths` do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> import treebound
    >>> short, long = [[0, 2], [0, 0]], [[0, 1, 3], [0, 0, 2], [0, 4, 0]]
    >>> [parse.heads.tolist() for parse in treebound.decode_all([short, long])]
    [[-1, 0], [-1, 2, 0]]
    >>> batch = np.zeros((2, 3, 3))
    >>> batch[0, :2, :2], batch[1] = short, long
    >>> [parse.heads.tolist() for parse in treebound.decode_all(batch, lengths=[1, 2])]
    [[-1, 0], [-1, 2, 0]]
    """
    if isinstance(workers, bool) or not isinstance(workers, int | np.integer) or not 1 <= workers <= MANY:
        raise InputError(f"workers = {brief(workers)}", hint=f"give a number from 1 to {MANY}")
    sequence = listed(sentences) if lengths is None else padded(sentences, lengths)
    given = _settings(how), sequence
    blocks = [range(i, min(i + BLOCK, len(sequence))) for i in range(0, len(sequence), BLOCK)]
    results = chain.from_iterable(spread(_block, given, blocks, workers=workers, short=True))
    return list(progress(results, "decode") if progress else results)


@dataclass(frozen=True)
class How:
    """What is to be found, made once for many sentences.

    decoder      a name of `treebound.decoders.DECODERS`, made with `options` for the `space`
    space, single_root, unit  as of `treebound.problem`
    assess       margins, marginals (with `scale`) and k best trees, as `treebound.decoders.confidence.Assess` explains;
                 k_best = 1 is the tree alone
    hard         constraints: a corpus of `treebound.constraints.corpora`, or a list as `treebound.constraints.parse`
                 makes it; label_names are the names of the last axis of `labels`. With branch and bound the tree keeps
                 what can be forbidden under every arc's best label; with "incremental-ilp" it keeps all, and labels are
                 chosen with it
    valid        rules that the tree and its labels keep: a name or file as for `treebound.constraints.ud.load`, or a
                 `RuleSet`. The tree is the best one among those that keep them, labels being chosen with it; status
                 `infeasible` is an InputError. `words` are needed, and label_names
    memory       GiB that the tables of one sentence may take (`treebound.core.limits`). A sentence with a higher
                 estimate is an InputError, before the memory is taken
    kernel       one kernel finds what is wanted where there are scores of arcs and labels alone: the best tree, and
                 no unit is given
    rows         the largest number of rows of a matrix that `memory` allows
    """

    decoder: Decoder
    space: Space
    single_root: bool
    unit: float | None
    assess: Assess | None
    hard: Hard | None
    valid: Valid | None
    memory: float
    kernel: bool
    rows: int

    @classmethod
    def of(
        cls,
        *,
        space: Space = "projective",
        single_root: bool = True,
        unit: float | None = None,
        k_best: int = 1,
        margins: bool = False,
        marginals: bool = False,
        scale: float = 1.0,
        constraints: str | Sequence[Constraint] | None = None,
        valid: str | RuleSet | None = None,
        label_names: Sequence[str] | None = None,
        memory: float = MEMORY,
        decoder: str = "branch-and-bound",
        **options: Any,
    ) -> How:
        """Raises InputError and UnsupportedError for what cannot be."""
        checked_setting(space, single_root, unit)
        if isinstance(k_best, bool) or not isinstance(k_best, int | np.integer) or k_best < 1:
            raise InputError(f"k_best = {brief(k_best)}", hint="give a number from 1")
        if not is_size(scale):
            raise InputError(f"scale = {brief(scale)}", hint="give a finite number, at least 0")
        for name, flag in (("margins", margins), ("marginals", marginals)):
            if not is_flag(flag):
                raise InputError(f"{name} = {brief(flag)}", hint="give True or False")
        if not is_size(memory) or not memory:
            raise InputError(f"memory = {brief(memory)}", hint="give a number of GiB above 0")
        hard = None if constraints is None else Hard.of(constraints, label_names)
        rules = None if valid is None else Valid.of(valid, label_names)
        if hard is not None and rules is not None:
            hint = "give valid alone, or the constraints and treebound.constraints.CONSTRAINTS['ud']() as one list"
            raise UnsupportedError("constraints and valid are given together", hint=hint)
        assess = None
        if k_best > 1 or margins or marginals:
            assess = Assess(bool(margins), bool(marginals), int(k_best) if k_best > 1 else 0, float(scale))
        if hard is not None and isinstance(decoder, str) and decoder == IncrementalProgram.name:
            options["constraints"] = hard.constraints
            if assess is not None:
                raise UnsupportedError(f"{decoder} has no margins and k best", hint="leave k_best, margins, marginals")
        made = decoder_for(decoder, space, options)
        kernel = decoder in _FIRST_ORDER and not options and assess is None and hard is rules is unit is None
        with memory_limit(memory):
            rows = longest(CELL)
        return cls(made, space, bool(single_root), unit, assess, hard, rules, float(memory), kernel, rows)


@lru_cache(64, typed=True)
def _kernel_settings(**how: Any) -> How | None:
    """Return the settings of keyword arguments for which a kernel will do, None for others; made once for equal ones.

    Calls, and threads, share the decoder of such settings: one of `_FIRST_ORDER`, which have no state. Decoders that
    draw random numbers, for instance, are made for every call.
    """
    settings = How.of(**how)
    return settings if settings.kernel else None


def _settings(how: Mapping[str, Any]) -> How:
    """Return the checked settings of the keyword arguments of `decode`."""
    try:
        return _kernel_settings(**how) or How.of(**how)
    except TypeError:  # an argument cannot be hashed
        return How.of(**how)


def decoder_for(name: str, space: Space, options: Mapping[str, Any]) -> Decoder:
    """A registered decoder for the space. UnsupportedError where it has no such option, or searches another space."""
    if not isinstance(name, str):
        raise InputError(f"decoder = {brief(name)}", hint="give the name of a decoder")
    try:
        made = DECODERS[name](**options)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise UnsupportedError(
            f"decoder {name!r}: {error}", hint="leave the option out, or give another value"
        ) from None
    if made.space == space:
        return made
    try:
        return DECODERS[name](space=space, **options)
    except (InputError, TypeError, ValueError):
        hint = f"space={made.space!r}, or decoder='branch-and-bound'"
        raise UnsupportedError(f"decoder {name!r} does not search {space} trees", hint=hint) from None


def _block(given: tuple[How, Sequence[Any]], block: range) -> list[Parse]:
    settings, sentences = given
    parses = []
    for i in block:
        try:
            parses.append(_decoded(settings, sentences[i]))
        except InputError as error:
            raise InputError(f"sentence {i}: {error}") from None
    return parses


def _decoded(settings: How, scores: Any) -> Parse:
    """Return the parse of a sentence: a matrix, or a dictionary of scores."""
    parse = None
    if isinstance(scores, np.ndarray) or not isinstance(scores, Mapping):
        if settings.kernel:
            parse = _first_order(settings, scores, None)
        scores = {"arc": scores}
    elif settings.kernel and scores.keys() <= _KNOWN and all(scores.get(name) is None for name in _PARTS):
        parse = _first_order(settings, scores.get("arc"), scores.get("labels"))
    return _decode_problem(settings, scores) if parse is None else parse


def _decode_problem(settings: How, scores: Mapping[str, Any]) -> Parse:
    """Return the parse of a sentence by way of a `Problem`. Raise the error that says what is wrong with the scores."""
    arcs_alone = settings.kernel and all(scores.get(name) is None for name in _PARTS)
    given = {name: x for name, x in scores.items() if name != "words"}
    with memory_limit(settings.memory):
        statement = stated(given, settings.space, settings.single_root, settings.unit)
        if arcs_alone:
            parse = _best_tree(settings, statement)
        else:
            parse = _searched(settings, statement, scores.get("words"))
    if parse.status == "infeasible":
        raise no_tree(scores, statement, getattr(parse.record, "conflict", ()))
    if statement.labels is None or parse.labels is not None:
        return parse
    return _labelled(parse, statement.labels)


def _searched(how: How, statement: Statement, words: Words | None) -> Parse:
    """The parse of a problem by the decoder that was asked for."""
    made = statement.problem
    if how.hard is not None and isinstance(how.decoder, IncrementalProgram):
        return program(how.decoder, statement, words, how.hard)
    if how.hard is not None:
        made = forbidding(statement, words, how.hard)
    decoder = how.decoder if how.valid is None else how.valid.decoder(how.decoder, statement, words)
    parse = decoder.decode(made)
    return parse if how.assess is None or parse.status == "infeasible" else how.assess(decoder, made, parse)


def no_tree(scores: Mapping[str, Any], statement: Statement, conflict: Sequence[str] = ()) -> InputError:
    """Return the error for scores, masks, constraints or rules that forbid every tree.

    conflict  names of the constraints or rules that exclude all trees together
    """
    given = " and ".join(sorted(name for name, x in scores.items() if x is not None))
    if conflict:
        names = ", ".join(conflict)
        return InputError(f"{given} admit no tree that keeps {names}", hint="leave one of these constraints out")
    if statement.mask > -np.inf:
        reason = f"{given} admit no tree without scores from {statement.mask:.3g} down, which count as -inf"
        return InputError(reason, hint="treebound.problem explains masks")
    return InputError(f"{given} admit no tree", hint="-inf and allowed forbid arcs and parts")


def _first_order(settings: How, arc: Any, labels: Any) -> Parse | None:
    """Return the best tree of scores of arcs, with labels or without, straight from the matrix.

    None for what is not quite right, and for scores so low that they may be masks: `_decode_problem` explains what it
    is. A matrix of float64 in the order of C is not copied.
    """
    matrix, whole = array("arc", arc)
    if matrix.ndim != 2:
        return None
    size = len(matrix)
    if size > settings.rows:
        with memory_limit(settings.memory):
            check_matrix(size - 1)
    if matrix.dtype is not FLOAT64 or not matrix.flags.carray:
        matrix = np.array(matrix, np.float64, order="C")  # the kernel is compiled for such arrays alone
    if labels is not None:
        labels, integers = array("labels", labels)
        whole &= integers
        if labels.ndim != 3 or labels.shape[:2] != matrix.shape or not labels.shape[2]:
            return None
        with np.errstate(invalid="ignore", over="ignore"):  # in places that are no arcs; two masks are -inf
            matrix = matrix + labels.max(axis=2)
    if size < 2 or matrix.shape[1] != size:
        return None
    heads = np.empty(size, np.int32)
    outcome, value, largest, total = BEST_TREE[settings.space == "projective"](matrix, settings.single_root, heads)
    if outcome != FOUND or (not total < LARGEST_SUM if whole else largest > -HIGHEST):
        return None
    parse = Parse.best(heads, value)
    return parse if labels is None else _labelled(parse, labels)


def _best_tree(settings: How, statement: Statement) -> Parse:
    """The best tree of a problem that has scores of arcs alone; `gap` where float64 does not bear out a proof."""
    problem = statement.problem
    matrix = np.full((problem.n + 1, problem.n + 1), -np.inf)
    matrix[problem.head, problem.mod] = problem.arc
    heads = np.empty(problem.n + 1, np.int32)
    found, value, _, _ = BEST_TREE[settings.space == "projective"](matrix, settings.single_root, heads)
    if found != FOUND:
        return Parse(heads, -np.inf, -np.inf, "infeasible", {"dp_calls": 1})
    return within_tolerance(problem, Parse(heads, value, value, "optimal", {"dp_calls": 1}))


def _labelled(parse: Parse, labels: np.ndarray) -> Parse:
    """The parse with the best label of every arc of its tree; ties go to the lower label."""
    words = np.arange(1, len(parse.heads))
    best = np.full(len(parse.heads), -1, np.int32)
    best[1:] = labels[parse.heads[1:], words].argmax(axis=1)
    return parse.with_labels(best)
