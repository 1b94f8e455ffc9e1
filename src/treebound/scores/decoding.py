"""Turn scores into parses: `treebound.decode` for one sentence, `treebound.decode_all` for many."""

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
from treebound.core.problem import LARGEST_SUM, Problem
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

MANY = 4096  #: largest number of workers that is accepted
BLOCK = 64  #: number of sentences that a worker decodes at a time
_KNOWN = frozenset(ARGUMENTS) | {"words"}
_PARTS = ("allowed", "parts", "words", *TENSORS)  #: arguments that need a `Problem` instead of a matrix of arc scores
#: decoders that find the best tree exactly if only arcs have scores; one kernel then replaces each of them
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
    """Find the best dependency tree for given scores, with its certificate. The head comes first; 0 is the root.

    If only arcs and labels have scores, one dynamic program finds the tree. It takes O(n^3) time for projective trees
    (Eisner 1996) and O(n^2) if arcs may cross (Chu & Liu 1965; Tarjan 1977), and a call costs two to four microseconds
    more. Other scores are decoded exactly, in exponential time in the worst case (Qian & Liu 2013).

    Parameters
    ----------
    arc : array
        [n + 1, n + 1] scores of arcs, `arc[h, m]`, in any form that `treebound.problem` accepts: arrays of any library
        on the CPU, masked arrays, lists. Masks, for instance -1e9, forbid arcs, see `treebound.problem`. A float64
        array in C order is not copied. No array is changed.
    labels, adjacent_siblings, siblings, grandparents, parts, allowed : optional
        Further scores, and the arcs that may be used, see `treebound.problem`.
    words : Words, optional
        Forms and word classes of the sentence, required by hard constraints and validator rules.
    **how
        Settings, see `How`: space, single_root, unit, k_best, margins, marginals, scale, constraints, valid,
        label_names, memory, decoder and the options of the decoder.

    Returns
    -------
    Parse
        `heads` is int32[n + 1], with `heads[0]` = -1. `value` is the score of the tree, and `bound` is an upper bound
        on the scores of all trees. `status` says what is proved: `optimal`, or less if the decoder stopped early or is
        not exact. `labels` int32[n + 1] holds the labels of the arcs, if `labels` are given.

    Raises
    ------
    InputError
        If an argument cannot be used (the message names the argument), or if there is no tree.
    UnsupportedError
        If the decoder does not support a factor family, a space or an option.

    References
    ----------
    Chu & Liu (1965), On the shortest arborescence of a directed graph, Scientia Sinica 14.
    Eisner (1996), Three new probabilistic models for dependency parsing, COLING.
    Qian & Liu (2013), Branch and bound algorithm for dependency parsing with non-local features, TACL 1.
    Tarjan (1977), Finding optimum branchings, Networks 7.

    Examples
    --------
    Three words, integer scores: `arc[h, m]` with the head first, 0 the root.

    >>> import numpy as np
    >>> import treebound
    >>> arc = [[0, 1, 9, 1], [0, 0, 2, 3], [0, 8, 0, 7], [0, 2, 4, 0]]
    >>> parse = treebound.decode(arc)
    >>> parse.heads.tolist(), parse.value, parse.bound, parse.status
    ([-1, 2, 0, 2], 24.0, 24.0, 'optimal')

    Find the two best trees, and for each arc the margin over the best tree without this arc.

    >>> parse = treebound.decode(arc, k_best=2, margins=True)
    >>> [(tree.heads[1:].tolist(), tree.value) for tree in parse.confidence.trees]
    [([2, 0, 2], 24.0), ([2, 3, 0], 13.0)]
    >>> parse.confidence.margins[1:].tolist()
    [14.0, 11.0, 11.0]

    Change the tree by a score for two words that share a head: `siblings` as triples (h, s, m) and their scores.

    >>> treebound.decode(arc, siblings=([(2, 1, 3)], [-12])).heads.tolist()
    [-1, 2, 3, 0]

    Find the best tree that the validator of Universal Dependencies accepts: no word has two subjects.

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

    If only arcs and labels have scores, a sentence costs a few microseconds beyond the dynamic program.

    Parameters
    ----------
    sentences : iterable, or array
        For each sentence a matrix of arc scores, or a dictionary of all its scores, `{"arc": .., "labels": .., ..}`.
        With `lengths`: one padded tensor [B, n + 1, n + 1] of arc scores, or one dictionary of padded tensors whose
        first axis is the sentence.
    lengths : array of int, optional
        [B] numbers of words of the sentences of a padded tensor. Sentence i has the scores
        `arc[i, : lengths[i] + 1, : lengths[i] + 1]`; the entries beyond them are ignored.
    workers : int, default 1
        Number of worker processes. They share the scores with this process and send back only parses.
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
        If a sentence cannot be decoded (the message gives its number, counted from 0), or if `lengths` do not fit.

    Notes
    -----
    The time is the sum over the sentences, see `decode`. Memory holds all scores, and one sentence per worker.

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
    shared = _settings(how), sequence
    blocks = [range(i, min(i + BLOCK, len(sequence))) for i in range(0, len(sequence), BLOCK)]
    results = chain.from_iterable(spread(_block, shared, blocks, workers=workers, short=True))
    return list(progress(results, "decode") if progress else results)


@dataclass(frozen=True)
class How:
    """Settings of `treebound.decode`, checked once and used for many sentences.

    Attributes
    ----------
    decoder : Decoder
        The named decoder of `treebound.decoders.DECODERS`, built with the options and for the `space`.
    space, single_root, unit
        Set of trees and unit of scores, see `treebound.problem`.
    assess : Assess, optional
        Margins, marginals (with `scale`) and k best trees, see `treebound.decoders.confidence.Assess`. With k_best = 1
        only the best tree is returned.
    hard : Hard, optional
        Hard constraints, from the arguments `constraints` and `label_names`. `constraints` is a corpus of
        `treebound.constraints.corpora`, or a list returned by `treebound.constraints.parse`; `label_names` names the
        entries of the last axis of `labels`. With branch and bound, the tree satisfies those constraints that can be
        forbidden as parts, with every arc having its best label. With "incremental-ilp", the tree satisfies all
        constraints, and its labels are chosen together with it.
    valid : Valid, optional
        Rules that the tree and its labels satisfy, from the arguments `valid` and `label_names`. `valid` is a name or
        file, see `treebound.constraints.ud.load`, or a `RuleSet`. The result is the best tree that satisfies the rules,
        with labels chosen together with the tree. The arguments `words` and `label_names` are required. If no tree
        satisfies the rules, InputError is raised.
    memory : float
        Memory limit in GiB for the tables of one sentence (`treebound.core.limits`). A sentence with a higher estimate
        raises InputError before the memory is allocated.
    kernel : bool
        Whether one kernel can decode sentences with scores of arcs and labels only. This is so if only the best tree is
        requested, without a unit, constraints or options.
    rows : int
        The largest number of rows of a matrix that `memory` allows.
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
        """Return the checked settings of a call of `treebound.decode`. Raises InputError and UnsupportedError."""
        checked_setting(space, single_root, unit)
        if isinstance(k_best, bool) or not isinstance(k_best, int | np.integer) or k_best < 1:
            raise InputError(f"k_best = {brief(k_best)}", hint="give a number from 1")
        if not is_size(scale):
            raise InputError(f"scale = {brief(scale)}", hint="give a finite number of at least 0")
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
                raise UnsupportedError(f"{decoder} has no margins and k best", hint="omit k_best and margin options")
        built_decoder = decoder_for(decoder, space, options)
        kernel = decoder in _FIRST_ORDER and not options and assess is None and hard is rules is unit is None
        with memory_limit(memory):
            rows = longest(CELL)
        return cls(built_decoder, space, bool(single_root), unit, assess, hard, rules, float(memory), kernel, rows)


@lru_cache(64, typed=True)
def _kernel_settings(**how: Any) -> How | None:
    """Return the settings of keyword arguments if one kernel can decode with them, else None.

    Equal arguments share one settings object, which is cached. Calls and threads thus share its decoder. This is
    safe, because the decoders of `_FIRST_ORDER` have no state. Other decoders, for instance those that draw random
    numbers, are built for every call.
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
    """Build a registered decoder for a space. Raises UnsupportedError for an unknown option or an unsupported space."""
    if not isinstance(name, str):
        raise InputError(f"decoder = {brief(name)}", hint="give the name of a decoder")
    try:
        decoder = DECODERS[name](**options)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise UnsupportedError(f"decoder {name!r}: {error}", hint="omit the option, or give another value") from None
    if decoder.space == space:
        return decoder
    try:
        return DECODERS[name](space=space, **options)
    except (InputError, TypeError, ValueError):
        hint = f"space={decoder.space!r}, or decoder='branch-and-bound'"
        raise UnsupportedError(f"decoder {name!r} does not search {space} trees", hint=hint) from None


def _block(shared: tuple[How, Sequence[Any]], block: range) -> list[Parse]:
    """Return the parses of a block of sentences; an InputError names the sentence."""
    settings, sentences = shared
    parses = []
    for i in block:
        try:
            parses.append(_decoded(settings, sentences[i]))
        except InputError as error:
            raise InputError(f"sentence {i}: {error}") from None
    return parses


def _decoded(settings: How, scores: Any) -> Parse:
    """Return the parse of a sentence, which is a matrix or a dictionary of scores."""
    parse = None
    if isinstance(scores, np.ndarray) or not isinstance(scores, Mapping):
        if settings.kernel:
            parse = _first_order(settings, scores, None)
        scores = {"arc": scores}
    elif settings.kernel and scores.keys() <= _KNOWN and all(scores.get(name) is None for name in _PARTS):
        parse = _first_order(settings, scores.get("arc"), scores.get("labels"))
    return _decode_problem(settings, scores) if parse is None else parse


def _decode_problem(settings: How, scores: Mapping[str, Any]) -> Parse:
    """Return the parse of a sentence by building a `Problem`. An InputError explains what is wrong with the scores."""
    arcs_alone = settings.kernel and all(scores.get(name) is None for name in _PARTS)
    arguments = {name: x for name, x in scores.items() if name != "words"}
    with memory_limit(settings.memory):
        statement = stated(arguments, settings.space, settings.single_root, settings.unit)
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
    """Return the parse of a problem by the decoder of the settings."""
    problem = statement.problem
    if how.hard is not None and isinstance(how.decoder, IncrementalProgram):
        return program(how.decoder, statement, words, how.hard)
    if how.hard is not None:
        problem = forbidding(statement, words, how.hard)
    decoder = how.decoder if how.valid is None else how.valid.decoder(how.decoder, statement, words)
    parse = decoder.decode(problem)
    return parse if how.assess is None or parse.status == "infeasible" else how.assess(decoder, problem, parse)


def no_tree(scores: Mapping[str, Any], statement: Statement, conflict: Sequence[str] = ()) -> InputError:
    """Return the error for scores, masks, constraints or rules that together forbid every tree.

    Parameters
    ----------
    scores : mapping
        Arguments of `treebound.decode` by name.
    statement : Statement
        Problem of the scores.
    conflict : sequence of str
        Names of the constraints or rules that together exclude all trees.
    """
    arguments = sorted(name for name, x in scores.items() if x is not None)
    claim = f"{' and '.join(arguments)} {'admits' if len(arguments) == 1 else 'admit'} no tree"
    if conflict:
        return InputError(f"{claim} that satisfies {', '.join(conflict)}", hint="leave out one constraint")
    if statement.mask > -np.inf:
        reason = f"{claim} without scores of {statement.mask:.3g} or less, which count as -inf"
        return InputError(reason, hint="treebound.problem explains masks")
    return InputError(f"{claim}{_cause(statement.problem)}", hint="-inf and allowed forbid arcs and parts")


def _cause(problem: Problem) -> str:
    """Return why candidate arcs form no tree, for an error message; an empty text if no single word is the cause."""
    possible = problem.arc > -np.inf
    without = np.setdiff1d(np.arange(1, problem.n + 1), problem.mod[possible])
    if len(without):
        return f": every arc to word {without[0]} is forbidden"
    return "" if np.any(problem.head[possible] == 0) else ": every arc from the root is forbidden"


def _first_order(settings: How, arc: Any, labels: Any) -> Parse | None:
    """Return the best tree for scores of arcs, and of labels if given, directly from the matrix.

    Return None if the input is invalid, or if scores are so low that they may be masks. `_decode_problem` then decodes
    the sentence or raises the error that explains the fault. A float64 matrix in C order is not copied.
    """
    matrix, all_integers = array("arc", arc)
    if matrix.ndim != 2:
        return None
    size = len(matrix)
    if size > settings.rows:
        with memory_limit(settings.memory):
            check_matrix(size - 1)
    if matrix.dtype is not FLOAT64 or not matrix.flags.carray:
        matrix = np.array(matrix, np.float64, order="C")  # the kernel is compiled for C-ordered float64 only
    if labels is not None:
        labels, integers = array("labels", labels)
        all_integers &= integers
        if labels.ndim != 3 or labels.shape[:2] != matrix.shape or not labels.shape[2]:
            return None
        with np.errstate(invalid="ignore", over="ignore"):  # cells that are no arcs may be NaN; two masks add to -inf
            matrix = matrix + labels.max(axis=2)
    if size < 2 or matrix.shape[1] != size:
        return None
    heads = np.empty(size, np.int32)
    outcome, value, largest, total = BEST_TREE[settings.space == "projective"](matrix, settings.single_root, heads)
    if outcome != FOUND or (not total < LARGEST_SUM if all_integers else largest > -HIGHEST):
        return None
    parse = Parse.best(heads, value)
    return parse if labels is None else _labelled(parse, labels)


def _best_tree(settings: How, statement: Statement) -> Parse:
    """Return the best tree of a problem with scores of arcs only; `gap` if float64 is too inexact for a proof."""
    problem = statement.problem
    matrix = np.full((problem.n + 1, problem.n + 1), -np.inf)
    matrix[problem.head, problem.mod] = problem.arc
    heads = np.empty(problem.n + 1, np.int32)
    outcome, value, _, _ = BEST_TREE[settings.space == "projective"](matrix, settings.single_root, heads)
    if outcome != FOUND:
        return Parse(heads, -np.inf, -np.inf, "infeasible", {"dp_calls": 1})
    return within_tolerance(problem, Parse(heads, value, value, "optimal", {"dp_calls": 1}))


def _labelled(parse: Parse, labels: np.ndarray) -> Parse:
    """Return the parse with the best label for every arc of its tree; a tie goes to the lower label number."""
    words = np.arange(1, len(parse.heads))
    best = np.full(len(parse.heads), -1, np.int32)
    best[1:] = labels[parse.heads[1:], words].argmax(axis=1)
    return parse.with_labels(best)
