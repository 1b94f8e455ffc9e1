"""Scores in arrays of all kinds: fast path and general path agree, padded batches, arrays of other libraries."""

from __future__ import annotations

import dataclasses
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest
from strategies import tries

import treebound
from treebound.core.errors import InputError, TreeboundError
from treebound.core.limits import TooLargeError
from treebound.core.parse import Parse
from treebound.scores.arrays import array_of
from treebound.scores.decoding import How, _decode_problem

SPACES = ("projective", "non-projective")
every_space = pytest.mark.parametrize("space", SPACES)
every_root = pytest.mark.parametrize("single_root", [True, False], ids=["one-root", "several"])


def outcome(decode: Any) -> tuple:
    """Return what a call returns or raises, in a form that can be compared."""
    try:
        parse = decode()
    except TreeboundError as error:
        return type(error), str(error)
    labels = None if parse.labels is None else parse.labels.tolist()
    return parse.heads.tolist(), parse.value, parse.bound, parse.status, parse.work, labels, parse.heads.dtype


def same(parses: list[Parse], others: list[Parse]) -> bool:
    return [outcome(lambda p=p: p) for p in parses] == [outcome(lambda p=p: p) for p in others]


# fast path


#: numbers that a matrix may hold; the last ones require the general path
NUMBERS = (0.0, 1.0, 1.0, -2.0, 0.5, -np.inf, -1e4, -1e9, -1e32, 1e7, np.nan, np.inf)


def forms(arc: np.ndarray) -> dict[str, Any]:
    """Return copies of a matrix with other memory layouts and types."""
    wide = np.zeros((len(arc) + 1, 2 * len(arc)))
    wide[:-1, ::2] = arc
    read_only = arc.copy()
    read_only.setflags(write=False)
    return {
        "as it is": arc,
        "read-only": read_only,
        "columns first": np.asfortranarray(arc),
        "strided": wide[:-1, ::2],
        "big endian": arc.astype(">f8"),
        "lists": arc.tolist(),
    }


@every_space
@every_root
@tries(150, 3000)
def test_the_fast_path_and_the_general_path_agree(single_root: bool, space: str, tries: int) -> None:
    """The paths return equal trees, values, statuses and errors, for each form of the array."""
    rng = np.random.default_rng(17)
    how: dict[str, Any] = {"space": space, "single_root": single_root}
    for case in range(tries):
        n, most = int(rng.integers(1, 5)), (5, 6, 9, len(NUMBERS))[case % 4]
        arc = rng.choice(NUMBERS[:most], (n + 1, n + 1))
        before = arc.copy()
        scores: dict[str, Any] = {"arc": arc}
        if case % 3 == 0:
            scores["labels"] = rng.choice(NUMBERS[:most], (n + 1, n + 1, 2))
        expected = outcome(lambda scores=scores: _decode_problem(How.of(**how), scores))
        for name, form in forms(arc).items():
            assert (
                outcome(lambda arguments={**scores, "arc": form}: treebound.decode(**arguments, **how)) == expected
            ), name
            if "labels" not in scores:
                batch = outcome(lambda arguments=form: treebound.decode_all([arguments], **how)[0])
                assert batch == expected or batch == (expected[0], f"sentence 0: {expected[1]}")
        np.testing.assert_array_equal(arc, before)


@every_space
def test_all_small_matrices_of_a_few_numbers(space: str) -> None:
    for numbers in product((0.0, 1.0, -1e9, -np.inf), repeat=4):
        arc = np.full((3, 3), np.nan)
        arc[0, 1], arc[0, 2], arc[1, 2], arc[2, 1] = numbers
        for single_root in (True, False):
            how: dict[str, Any] = {"space": space, "single_root": single_root}
            expected = outcome(lambda arc=arc, how=how: _decode_problem(How.of(**how), {"arc": arc}))
            assert outcome(lambda arc=arc, how=how: treebound.decode(arc, **how)) == expected, numbers


@every_space
@pytest.mark.parametrize("dtype", ["float16", "float32", "longdouble", "int8", "uint16", "int64", "uint64"])
def test_every_dtype_is_decoded_as_its_numbers(dtype: str, space: str) -> None:
    rng = np.random.default_rng(3)
    for n in (1, 3, 8):
        arc = rng.integers(0, 100, (n + 1, n + 1)).astype(dtype)
        expected = outcome(lambda arc=arc: treebound.decode(arc.astype(np.float64), space=space))
        assert outcome(lambda arc=arc: treebound.decode(arc, space=space)) == expected
    arc = np.array([[0, 2**40, 0], [0, 0, 2**62], [0, 2**62, 0]], np.int64)
    assert outcome(lambda: treebound.decode(arc)) == outcome(lambda: _decode_problem(How.of(), {"arc": arc}))


def test_settings_are_checked_although_equal_ones_are_kept() -> None:
    arc = np.zeros((3, 3))
    for _ in range(2):
        assert treebound.decode(arc, single_root=True).status == "optimal"
        assert treebound.decode(arc, single_root=1).status == "optimal"
        with pytest.raises(InputError, match=r"single_root = 1.0; give True or False"):
            treebound.decode(arc, single_root=1.0)
        with pytest.raises(InputError, match=r"k_best = True; give a number from 1"):
            treebound.decode(arc, k_best=True)
        with pytest.raises(InputError, match=r"k_best = \[1\]; give a number from 1"):
            treebound.decode(arc, k_best=[1])
        with pytest.raises(InputError, match="branch-and-bound has no option 'turbo'"):
            treebound.decode(arc, turbo=True)
        assert treebound.decode(arc, label_names=["a"]).status == "optimal"  # a list cannot be hashed
        assert treebound.decode(arc, k_best=2).confidence is not None


def test_limits_of_memory_hold() -> None:
    small, large = np.zeros((4, 4)), np.zeros((5, 5))
    memory = 64 * 16 / 2**30  # memory for four rows
    siblings = np.zeros((5, 5, 5))
    for how in ({}, {"space": "non-projective"}, {"siblings": siblings}):
        if "siblings" not in how:
            assert treebound.decode(small, memory=memory, **how).status == "optimal"
        with pytest.raises(TooLargeError, match=r"arc: a matrix of 4 words would take about 0\.0 GiB"):
            treebound.decode(large, memory=memory, **how)
        assert treebound.decode(large, **how).status == "optimal"
    with pytest.raises(InputError, match="sentence 1: arc: a matrix of 4 words"):
        treebound.decode_all([small, large], memory=memory)
    assert treebound.decode(large, memory=1e308).status == "optimal"


def test_threads_decode_at_the_same_time() -> None:
    rng = np.random.default_rng(5)
    arcs = [rng.normal(size=(n + 1, n + 1)) for n in rng.integers(1, 30, 200)]
    ways = [{"space": space, "single_root": single} for space in SPACES for single in (True, False)]
    calls = [(arc, ways[i % 4]) for i, arc in enumerate(arcs)]
    expected = [treebound.decode(arc, **way) for arc, way in calls]
    with ThreadPoolExecutor(8) as pool:
        assert same(list(pool.map(lambda call: treebound.decode(call[0], **call[1]), calls)), expected)


def test_a_parse_of_the_fast_path_is_an_ordinary_parse() -> None:
    heads = np.array([-1, 0], np.int32)
    short, whole = Parse.best(heads, 2.0), Parse(heads, 2.0, 2.0, "optimal", {"dp_calls": 1})
    assert vars(whole) == dataclasses.asdict(short) | {"heads": heads}
    assert repr(short) == repr(whole)
    assert dataclasses.replace(short, value=1.0).value == 1.0
    unpickled = pickle.loads(pickle.dumps(short))
    assert (unpickled.labels, unpickled.record, unpickled.confidence, unpickled.seconds) == (None, None, None, {})
    assert Parse.best(heads, 1.0).work is not short.work
    with pytest.raises(dataclasses.FrozenInstanceError):
        short.value = 1.0  # type: ignore[misc]


# --- padded batches


def batch(rng: np.random.Generator, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a padded tensor of 70 sentences and their lengths. The padding is NaN or the lowest integer."""
    lengths = rng.integers(1, 9, 70)
    padding = np.nan if np.dtype(dtype).kind == "f" else np.iinfo(dtype).min
    tensor = np.full((70, 9, 9), padding, dtype)
    for i, n in enumerate(lengths):
        tensor[i, : n + 1, : n + 1] = rng.integers(-99, 99, (n + 1, n + 1))
    return tensor, lengths


@every_space
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int16"])
def test_a_padded_batch_is_its_sentences(dtype: str, workers: int, space: str) -> None:
    rng = np.random.default_rng(8)
    tensor, lengths = batch(rng, dtype)
    listed = [tensor[i, : n + 1, : n + 1] for i, n in enumerate(lengths)]
    expected = treebound.decode_all(listed, space=space)
    for form in (tensor, np.asfortranarray(tensor), list(tensor), {"arc": tensor}, {"arc": tensor, "labels": None}):
        assert same(treebound.decode_all(form, lengths=lengths, workers=workers, space=space), expected)
    assert same(treebound.decode_all(tensor, lengths=lengths.tolist(), space=space), expected)
    assert treebound.decode_all(tensor[:0], lengths=[]) == []
    units = {treebound.problem(arc).unit for arc in listed}
    assert units == {1.0 if dtype == "int16" else 0.0}


@every_space
def test_padded_dictionaries(space: str) -> None:
    rng = np.random.default_rng(9)
    lengths = rng.integers(1, 6, 12)
    scores = {
        "arc": rng.normal(size=(12, 7, 7)),
        "labels": rng.normal(size=(12, 7, 7, 3)),
        "allowed": rng.random((12, 7, 7)) < 0.95,
        "grandparents": rng.normal(size=(12, 7, 7, 7)),
    }
    scores["allowed"][:, 0] = True
    for names in (["arc", "labels"], ["arc", "allowed"], ["arc", "grandparents"], list(scores)):
        listed: list[dict[str, Any]] = []
        for i, n in enumerate(lengths):
            part = slice(n + 1)
            listed.append({name: scores[name][i, part, part] for name in names})
            if "grandparents" in names:
                listed[-1]["grandparents"] = scores["grandparents"][i, part, part, part]
        how: dict[str, Any] = {"space": space, "single_root": False}
        parses = treebound.decode_all({name: scores[name] for name in names}, lengths=lengths, **how)
        expected = treebound.decode_all(listed, **how)
        assert [p.heads.tolist() for p in parses] == [p.heads.tolist() for p in expected]
        assert [p.value for p in parses] == [p.value for p in expected]
        assert all((p.labels is None) == ("labels" not in names) for p in parses)


def test_masked_batches() -> None:
    rng = np.random.default_rng(2)
    tensor = np.ma.masked_array(rng.integers(-9, 9, (6, 5, 5)), rng.random((6, 5, 5)) < 0.1)
    tensor.mask[:, 0] = False
    lengths = [1, 2, 3, 4, 4, 1]
    listed = [tensor[i, : n + 1, : n + 1] for i, n in enumerate(lengths)]
    assert same(treebound.decode_all(tensor, lengths=lengths), treebound.decode_all(listed))


BATCH = np.zeros((2, 4, 4))


@pytest.mark.parametrize(
    ("sentences", "lengths", "reason"),
    [
        (
            BATCH,
            [1, 4],
            r"lengths\[1\] is 4; give numbers of words from 1 to 3: the tensor has 4 rows, one of",
        ),
        (BATCH, [0, 3], r"lengths\[0\] is 0; give numbers of words from 1 to 3"),
        (BATCH, [-1, 3], r"lengths\[0\] is -1; give"),
        (BATCH, [3], r"lengths is int64\[1\] for 2 sentences; give the number of words of each"),
        (BATCH, 3, r"lengths is int64\[\] for 2 sentences"),
        (BATCH, [[1, 2]], r"lengths is int64\[1, 2\] for 2 sentences"),
        (BATCH, [1.0, 2.0], r"lengths is float64\[2\]; give an array of integers"),
        (BATCH, [True, True], r"lengths is bool\[2\]; give an array of integers"),
        (BATCH, [1, 2**40], "lengths has numbers beyond 32 bits"),
        (BATCH, np.ma.masked_array([1, 2], [True, False]), "lengths has masked entries"),
        (BATCH, "ab", "lengths is <U2"),
        (BATCH[0], [1, 2], r"sentences is float64\[4, 4\]; with lengths, give a padded tensor \[B, n \+ 1, n \+ 1\]"),
        (BATCH[:, :3], [1, 2], r"sentences is float64\[2, 3, 4\]; with lengths, give"),
        (BATCH[:, :1, :1], [1, 1], r"lengths\[0\] is 1; with lengths, give a padded tensor"),
        (None, [1], "sentences is None"),
        ([np.zeros((2, 2)), np.zeros((3, 3))], [1, 2], "sentences: lists of different lengths, or not of numbers"),
        ({"labels": np.zeros((2, 4, 4, 1))}, [1, 2], r"sentences\['arc'\] is None"),
        (
            {"arc": BATCH, "labels": BATCH},
            [1, 2],
            r"sentences\['labels'\] is float64\[2, 4, 4\]; the arcs are",
        ),
        (
            {"arc": BATCH, "siblings": np.zeros((2, 4, 4, 3))},
            [1, 2],
            r"sentences\['siblings'\] is float64\[2, 4, 4, 3\]",
        ),
        (
            {"arc": BATCH, "words": []},
            [1, 2],
            r"sentences\['words'\] is given with lengths; only arc, labels, allowed, ",
        ),
        (np.full((2, 4, 4), np.nan), [1, 2], r"sentence 0: arc\[0, 1\] is nan"),
        (BATCH.astype(str), [1, 2], "sentence 0: arc is <U32"),
    ],
)
def test_lengths_and_tensors_that_do_not_fit_are_named(sentences: Any, lengths: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        treebound.decode_all(sentences, lengths=lengths)


# --- arrays of other libraries


class Exchanged:
    """An array of another library that only has the DLPack protocol."""

    def __init__(self, array: np.ndarray):
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class Old(Exchanged):
    """An array whose DLPack protocol has no versions yet."""

    def __dlpack__(self, *, stream: Any = None) -> Any:  # type: ignore[override]
        return self.array.__dlpack__(stream=stream)


class Convertible:
    """An array of another library that numpy can convert."""

    def __init__(self, array: np.ndarray):
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.array


def read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


@every_space
@pytest.mark.parametrize("library", [Exchanged, Old, Convertible])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_arrays_of_other_libraries(dtype: str, library: Any, space: str) -> None:
    rng = np.random.default_rng(4)
    arc = rng.integers(-9, 9, (6, 6)).astype(dtype)
    expected = outcome(lambda: treebound.decode(arc, space=space))
    assert outcome(lambda: treebound.decode(library(arc), space=space)) == expected
    assert np.shares_memory(array_of("arc", library(arc)), arc)
    tensor, lengths = batch(rng, dtype)
    arrays = library(tensor), library(lengths)
    assert same(
        treebound.decode_all(arrays[0], lengths=arrays[1], space=space),
        treebound.decode_all(tensor, lengths=lengths, space=space),
    )
    whole = rng.integers(-9, 9, (5, 4, 4)).astype(dtype)
    assert same(treebound.decode_all(library(whole), space=space), treebound.decode_all(list(whole), space=space))


@pytest.mark.parametrize("library", [Exchanged, Convertible])
def test_arrays_that_may_not_be_written(library: Any) -> None:
    arc = read_only(np.random.default_rng(4).normal(size=(6, 6)))
    expected = outcome(lambda: treebound.decode(np.array(arc)))
    assert outcome(lambda: treebound.decode(library(arc))) == expected
    assert np.shares_memory(array_of("arc", library(arc)), arc)


class Refusing:
    """A tensor that numpy cannot convert."""

    def __init__(self, error: Exception):
        self.error = error

    def __array__(self, *arguments: Any, **options: Any) -> np.ndarray:
        raise self.error


def test_arrays_that_cannot_be_converted_get_a_hint() -> None:
    narrow = Refusing(TypeError("Got unsupported ScalarType BFloat16"))
    message = (
        r"arc: Got unsupported ScalarType BFloat16; give float32; for a tensor, tensor.detach\(\).cpu\(\).float\(\)"
    )
    with pytest.raises(InputError, match=message):
        treebound.decode(narrow)
    with pytest.raises(InputError, match="sentences: Got unsupported ScalarType BFloat16; give float32"):
        treebound.decode_all(narrow, lengths=[1])
    far = Refusing(TypeError("can't convert cuda:0 device type tensor to numpy.\nCopy it first."))
    with pytest.raises(
        InputError, match=r"sentences: can't convert cuda:0 .*; give an array of numbers; for a tensor,"
    ):
        treebound.decode_all(far)


def test_bfloat16_of_jax() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    arc = np.random.default_rng(4).normal(size=(6, 6)).astype(ml_dtypes.bfloat16)
    assert outcome(lambda: treebound.decode(arc)) == outcome(lambda: treebound.decode(arc.astype(np.float32)))
