"""Feature models and instances: files and their errors, the kernel against plain Python, words of instances."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import inflected_conllu, synthetic_treebank

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.systems.transition.configuration import KINDS, SYSTEMS, allowed, configuration, start, take
from treebound.systems.transition.encoding import Encoding, classes_of
from treebound.systems.transition.extraction import (
    FIRST,
    FUNCTIONS,
    LABEL_OF,
    NONE,
    ROOT,
    UNKNOWN,
    derivations,
    extract,
    instances,
)
from treebound.systems.transition.feature_models import FeatureModel, chosen_model, load_models
from treebound.treebanks.document import read

MODELS = load_models()


def test_the_models_of_the_paper_grow() -> None:
    papers = [MODELS[f"F{i}"] for i in range(1, 7)]
    assert [len(model.cells) for model in papers] == [5, 9, 11, 13, 14, 19]
    for small, large in pairwise(papers):
        assert large.cells[: len(small.cells)] == small.cells
        assert large.joins[: len(small.joins)] == small.joins
    lexicalised = [any(cell.startswith("w ") for cell in model.cells) for model in papers]
    assert lexicalised == [False, False, True, True, True, True]
    stated = {
        cell for model in papers for cell, origin in zip(model.cells, model.origins, strict=True) if origin == "paper"
    }
    assert stated == {"p s0", "d l(t0)"}


def test_a_user_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[mine]\ncells = """\np s0   ours\ndist s0 t0 ours\n"""\njoins = """\ndist s0 t0 + p s0 ours\n"""\n'
    )
    assert load_models(path) == {"mine": FeatureModel(("p s0", "dist s0 t0"), ((1, 0),), ("ours", "ours"))}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('[a]\ncells = """\np s0 ours\nq s0 ours\n"""', 4, "unknown function 'q'"),
        ('[a]\ncells = """\np s0 ours\np x0 ours\n"""', 4, "'x0' is no address"),
        ('[a]\ncells = """\np l(s0 ours\n"""', 3, "'l(s0' is no address"),
        ('[a]\ncells = """\np h(h(h(h(s0)))) ours\n"""', 3, "more than 3 steps"),
        ('[a]\ncells = """\np s0\n"""', 3, "not in 's0'"),
        ('[a]\ncells = """\ndist s0 ours\n"""', 3, "takes 2 addresses, not 1"),
        ('[a]\ncells = """\np s0 ours\np s0  paper\n"""', 4, "occurs twice"),
        ('[a]\ncells = """\np s0 ours\n"""\njoins = """\np s0 + p t0 ours\n"""', 6, "'p t0' is no cell"),
        ('[a]\ncells = """\np s0 ours\n"""\njoins = """\np s0 + p s0 ours\n"""', 6, "a join needs two or more"),
        ('[a]\nsome = "x"\n', 2, "unknown key 'some'"),
        ("[a]\ncells = 3\n", 2, "cells is not a string"),
        ('[a]\nextends = "b"\n', 2, "extends 'b'"),
        ("[a]\n", 1, "has no cells"),
        ("[a]\ncells = \n", 2, "not TOML"),
        ("", None, "no feature model"),
    ],
)
def test_faults_are_named_with_their_line(tmp_path: Path, text: str, line: int | None, reason: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_models(path)
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert reason in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_models(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"[a]\npaper = '\xe9'\n")
    with pytest.raises(InputError, match="not UTF-8"):
        load_models(tmp_path / "latin.toml")


# --- the kernel ---


class Plain:
    """A configuration in plain Python, with the addresses and functions as they are defined."""

    def __init__(self, system: str, n: int):
        self.stack = [0] if SYSTEMS[system].rooted else []
        self.buffer = list(range(1, n + 1))
        self.arcs: dict[int, tuple[int, int]] = {}
        self.system = system

    def take(self, kind: str, label: int) -> None:
        stack, buffer = self.stack, self.buffer
        if kind == "SHIFT":
            stack.append(buffer.pop(0))
        elif kind == "REDUCE":
            stack.pop()
        elif kind == "SWAP":
            buffer.insert(0, stack.pop(-2))
        elif self.system in ("arc-standard", "swap"):
            head, d = (-1, -2) if kind == "LEFT-ARC" else (-2, -1)
            self.arcs[stack[d]] = (stack[head], label)
            del stack[d]
        elif kind == "LEFT-ARC":
            self.arcs[stack.pop()] = (buffer[0], label)
        elif self.system == "arc-hybrid":
            d = stack.pop()
            self.arcs[d] = (stack[-1], label)
        else:
            self.arcs[buffer[0]] = (stack[-1], label)
            stack.append(buffer.pop(0))

    def modifiers(self, word: int, side: str) -> list[int]:
        """Return the dependents of a word on one side, from the outermost inwards."""
        dependents = sorted(m for m, (h, _) in self.arcs.items() if h == word and (m < word) == (side == "l"))
        return dependents if side == "l" else dependents[::-1]

    def address(self, text: str) -> int | None:
        if "(" not in text:
            words = self.stack[::-1] if text[0] == "s" else self.buffer
            return words[int(text[1:])] if int(text[1:]) < len(words) else None
        step, inner = text[:-1].split("(", 1)
        word = self.address(inner)
        if word is None:
            return None
        if step == "h":
            return self.arcs.get(word, (0,))[0] if word else None
        dependents = self.modifiers(word, step[0])
        place = int(step[1:] or 1) - 1
        return dependents[place] if place < len(dependents) else None

    def value(self, cell: str, tokens: np.ndarray, root: int) -> int:
        function, *addresses = cell.split()
        word, *others = map(self.address, addresses)
        if word is None or None in others:
            return NONE
        if function in "wpcmf":
            return int(tokens["wpcmf".index(function), word - 1]) if word else ROOT
        if function == "d":
            return FIRST + self.arcs.get(word, (0, root))[1] if word else ROOT
        if function == "dist":
            distance = abs(word - others[0])
            return FIRST + next(i for i, most in enumerate([0, 1, 2, 3, 4, 6, 10, 999]) if distance <= most)
        dependents = self.modifiers(word, function[1])
        if function[0] == "v":
            return FIRST + min(len(dependents), 8)
        return sum({1 << (self.arcs[m][1] % 31) for m in dependents})


ADDRESSES = ("s0", "s1", "t0", "t2", "h(s0)", "l(t0)", "r(s0)", "l2(s0)", "r2(s1)", "h(h(s0))", "r(l(h(s0)))")
OF_ONE = tuple(f"{function} {address}" for function in FUNCTIONS[:-1] for address in ADDRESSES)
EVERYTHING = FeatureModel((*OF_ONE, "dist s0 t0", "dist t1 l(s0)"))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.sampled_from(list(SYSTEMS)))
def test_the_kernel_reads_cells_as_defined(n: int, seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    c, plain = configuration(n), Plain(name, n)
    tokens = rng.integers(UNKNOWN, 99, (5, n)).astype(np.int32)
    start(SYSTEMS[name], c, n, 7)
    cells, out = EVERYTHING.compiled(), np.empty(len(EVERYTHING.cells), np.int32)
    while kinds := allowed(SYSTEMS[name], c):
        extract(c, tokens, cells, out)
        assert out.tolist() == [plain.value(cell, tokens, 7) for cell in EVERYTHING.cells]
        kind = int(rng.choice([k for k in range(5) if kinds >> k & 1]))
        label = int(rng.integers(40))
        take(SYSTEMS[name], c, kind, label)
        plain.take(KINDS[kind], label)


# --- lemmas and morphological features ---

#: the nouns depend on the verb, and the adjective depends on the second noun
SMALL = """\
1\tkediler\tkedi\tNOUN\tN\tCase=Nom|Number=Plur\t4\tnsubj\t_\t_
2\tbüyük\tbüyük\tADJ\tA\t_\t3\tamod\t_\t_
3\tevi\tev\tNOUN\tN\tCase=Acc|Number=Sing\t4\tobj\t_\t_
4\tgördü\tgör\tVERB\tV\tTense=Past\t0\troot\t_\t_

"""


def small_treebank(text: str = SMALL) -> Treebank:
    return read(text.encode().splitlines(keepends=True), "conllu").treebank


def test_cells_of_lemmas_and_features_at_every_address() -> None:
    train, c = small_treebank(), configuration(4)
    places = ("s0", "s1", "t0", "t1", "h(s0)", "l(t0)", "l2(t0)", "r(s0)")
    model = FeatureModel(tuple(f"{function} {place}" for function in "mf" for place in places))
    encoding = Encoding.learn(train, model)
    words, out = encoding.words(train), np.empty(len(model.cells), np.int32)

    def values() -> dict[str, str]:
        extract(c, words.tokens, model.compiled(), out)
        return {cell: as_text(encoding, cell, x) for cell, x in zip(model.cells, out.tolist(), strict=True)}

    system, number = SYSTEMS["arc-eager"], encoding.labels.get
    start(system, c, 4, encoding.root)
    shift, left_arc = KINDS.index("SHIFT"), KINDS.index("LEFT-ARC")
    take(system, c, shift, -1)
    take(system, c, shift, -1)
    seen = values()
    assert (seen["m s0"], seen["m s1"], seen["m t0"], seen["m t1"]) == ("büyük", "kedi", "ev", "gör")
    assert (seen["f s0"], seen["f s1"], seen["f t0"]) == ("_", "Case=Nom|Number=Plur", "Case=Acc|Number=Sing")
    assert (seen["m h(s0)"], seen["f h(s0)"], seen["f l(t0)"], seen["m r(s0)"]) == (*["<root>"] * 2, *["<none>"] * 2)
    take(system, c, left_arc, number("amod"))
    assert (values()["m l(t0)"], values()["f l(t0)"], values()["f s1"]) == ("büyük", "_", "<none>")
    take(system, c, shift, -1)
    take(system, c, left_arc, number("obj"))
    take(system, c, left_arc, number("nsubj"))
    seen = values()
    assert (seen["m l(t0)"], seen["m l2(t0)"]) == ("kedi", "ev")
    assert (seen["f l(t0)"], seen["f l2(t0)"]) == ("Case=Nom|Number=Plur", "Case=Acc|Number=Sing")
    unknown_words = encoding.words(small_treebank(SMALL.replace("Case=Acc", "Case=Dat").replace("\tev\t", "\tevi\t")))
    assert unknown_words.tokens[[3, 4], 2].tolist() == [UNKNOWN, UNKNOWN]


@pytest.mark.parametrize(
    ("attributes", "functions"), [(["feats", "lemma"], "mf"), (["suffix", "lemma"], "m"), (["feats"], "f")]
)
def test_attributes_choose_cells(attributes: list[str], functions: str) -> None:
    rich, chosen = MODELS["zhang-nivre-morphology"], chosen_model("auto", attributes)
    plain_cells = [cell for cell in rich.cells if cell[0] not in "mf" or cell[0] in functions]
    assert list(chosen.cells) == plain_cells
    assert len(chosen.origins) == len(plain_cells)

    def texts(model: FeatureModel) -> list[list[str]]:
        return [[model.cells[i] for i in join] for join in model.joins]

    assert texts(chosen) == [join for join in texts(rich) if set(join) <= set(plain_cells)]
    assert len(chosen.compiled().function) == len(plain_cells)


def test_without_such_attributes_the_model_is_the_plain_one() -> None:
    plain = MODELS["zhang-nivre-coarse"]
    assert chosen_model("auto") == chosen_model("auto", ["suffix", "prefix", "length"]) == plain
    for name, model in MODELS.items():
        assert chosen_model(name, ["feats", "lemma"]) == model
        assert any(cell[0] in "mf" for cell in model.cells) == (name == "zhang-nivre-morphology")


def test_a_named_model_keeps_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[a]\ncells = """\nm s0 ours\nf t0 ours\n"""\njoins = """\nm s0 + f t0 ours\n"""\n')
    assert chosen_model(str(path), []).cells == ("m s0", "f t0")
    encoding = Encoding.learn(
        read(inflected_conllu(5, 1).encode().splitlines(keepends=True), "conllu").treebank, chosen_model(str(path))
    )
    assert [len(vocabulary) > 0 for vocabulary in encoding.strings] == [False, False, False, True, True]


# --- instances ---


def as_text(encoding: Encoding, cell: str, value: int) -> str:
    """Return the text that `value` encodes; `cell` is the feature of the feature model that has this value."""
    function = FUNCTIONS.index(cell.split()[0])
    if function > LABEL_OF:
        return str(value)
    strings = encoding.labels if function == LABEL_OF else encoding.strings[function]
    return strings[value - FIRST] if value >= FIRST else ("<none>", "<root>", "<unknown>")[value]


def test_instances_hold_the_words_of_their_configurations() -> None:
    train = synthetic_treebank(20, seed=3)
    model = MODELS["F5"]
    encoding = Encoding.learn(train, model)
    words = encoding.words(train)
    c = configuration(int(train.lengths.max()))
    moves, counts, derivable = derivations(SYSTEMS["arc-eager"], words, c, encoding.root)
    assert derivable.all()
    classes = classes_of(moves, len(encoding.labels))
    X = instances(SYSTEMS["arc-eager"], model.compiled(), words, c, encoding.root, moves, counts)
    y = classes.number[moves[:, 0], moves[:, 1] + 1]
    assert counts.sum() == len(X)
    rows = [[as_text(encoding, cell, x) for cell, x in zip(model.cells, row, strict=True)] for row in X.tolist()]
    kinds = [KINDS[kind] for kind in classes.kind[y]]
    assert kinds[0] == "SHIFT"
    first = dict(zip(model.cells, rows[0], strict=False))
    assert (first["p s0"], first["p t0"], first["w t0"]) == (
        "<none>",
        train.strings("upos")[0],
        train.strings("form")[0],
    )
    place = model.cells.index("w t0")
    forms = [row[place] for row, kind in zip(rows, kinds, strict=True) if kind in ("SHIFT", "RIGHT-ARC")]
    assert forms == train.strings("form")  # every word leaves the buffer once, in the order of the sentence
