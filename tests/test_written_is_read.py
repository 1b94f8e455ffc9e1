"""Every output of a command can be read by the command that takes it as input, under every suffix of inputs.

Words, tags, labels and all other columns hold blanks of all kinds, control characters, brackets, and text like the
syntax of a format. `WRITTEN` has an entry for each option that names an output. The test fails if an option has no
entry.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from ccg_corpus import Maker, read_parg
from test_cli import run

from treebound.cli import application
from treebound.core.cells import is_cell
from treebound.core.treebank import STRING_COLUMNS
from treebound.systems.registry import SYSTEMS
from treebound.treebanks import storage
from treebound.treebanks.ccg import derivation
from treebound.treebanks.ccg.derivation import Derivation, Entry, escaped, from_text, to_text, unescaped
from treebound.treebanks.document import read

SUFFIXES = ("", ".gz", ".BZ2", ".xz")
BLANKS = [c for c in map(chr, range(0x3001)) if c.isspace() and c not in "\t\n\r"]
#: pieces of cells: blanks, controls, zero-width marks, private and astral characters, and syntax
PIECES = [
    *BLANKS,
    *"\x01\x07\x08\x1b\x7f\u200b\u200d\u2060\ufeff\ue000\U0001f600é模",
    *(
        "(<L",
        "(<T",
        ">)",
        "(",
        ")",
        "<",
        ">",
        "#",
        "|",
        "=",
        ":",
        "\\",
        "/",
        "\\u00a0",
        "\\u005c",
        "\\u00",
        "\\u",
        "u00a0",
    ),
    *("ID=", "-LRB-", '"', "'", "_", "-", "%", "{", "}", "1", "0.1", "2-3", "\\N", "a", "b"),
]
WRITTEN: dict[tuple[str, str], Callable[[Place], None]] = {}
#: options that name an input
INPUTS = {("check", "certificates"), ("mine", "accept"), ("mine", "model")}
#: commands that write to the folder of --data-dir, or print text that no command reads; also `mine`, whose tables and
#: treebanks tests/test_mining_outputs.py reads
OTHERS = {"fetch", "convert", "evaluate", "check", "mine"}


class Place:
    """A folder with a treebank of unusual cells and a bank of derivations with unusual words.

    Tagger and parser are trained on them.
    """

    def __init__(self, folder: Path, seed: int):
        self.folder, self.rng = folder, random.Random(seed)
        self.number = count()
        cells = {name: [self.cell() for _ in range(6)] for name in ("form", "lemma", "upos", "xpos", "feats", "deprel")}
        self.cells = cells
        for name, sentences in (("train", 24), ("dev", 6)):
            text = "".join(self.sentence() for _ in range(sentences))
            (folder / f"{name}.conllu").write_bytes(text.encode())
        self.strange = {word: self.cell() for word in ("dog", "cat", "sees", "the", "NN", "DT", "VBZ", ".")}
        maker = Maker(seed)
        for name, sentences in (("train", 60), ("dev", 20)):
            entries = [Entry(f"{self.strange['dog']}.{i}", self.renamed(maker.sentence())) for i in range(sentences)]
            derivation.write(folder / f"{name}.auto", entries)

    def cell(self) -> str:
        """Return a value that a column may have."""
        while True:
            value = "".join(self.rng.choices(PIECES, k=self.rng.randint(1, 4)))
            if is_cell(value) and value != "_":
                return value

    def sentence(self) -> str:
        n = self.rng.randint(1, 7)
        rows = ["# text = " + self.cell(), "# " + self.cell()]
        for i in range(1, n + 1):
            form, lemma, upos, xpos, feats, label = (self.rng.choice(values) for values in self.cells.values())
            misc = self.cell().replace("|", "")
            rows.append("\t".join((str(i), form, lemma, upos, xpos, feats, str(i - 1), label, "_", misc or "_")))
        return "\n".join(rows) + "\n\n"

    def renamed(self, node: Derivation) -> Derivation:
        """Return a derivation with strange words and tags."""
        names, children = self.strange, tuple(map(self.renamed, node.children))
        word, tag = names.get(node.word, node.word), names.get(node.tag, node.tag)
        return Derivation(node.category, node.rule, node.head, children, word, tag)

    def __call__(self, *arguments: object) -> str:
        """Run a command, check its exit status, and return its standard output."""
        done = run(*arguments)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def names(self, stem: str) -> Iterator[Path]:
        """Yield a fresh path for each suffix."""
        for suffix in SUFFIXES:
            yield self.folder / f"{next(self.number)} {stem}{suffix}"

    def made(self, name: str, *arguments: object) -> Path:
        """Return a model, which is trained at the first request."""
        path = self.folder / name
        if not path.exists():
            self("train", *arguments, "-o", path)
        return path

    def parser(self) -> Path:
        return self.made("m.npz", self.train, self.dev, "--epochs", 1, "--bits", 14)

    def tagger(self) -> Path:
        return self.made("t.npz", self.train, self.dev, "--epochs", 1, "--bits", 14, "--system", "tagging")

    def deriver(self) -> Path:
        sizes = ("--chart-bits", 12, "--tag-bits", 12, "--tag-iterations", 5, "--iterations", 5)
        return self.made("c.npz", *(self.folder / f"{n}.auto" for n in ("train", "dev")), "--system", "ccg", *sizes)

    @property
    def train(self) -> Path:
        return self.folder / "train.conllu"

    @property
    def dev(self) -> Path:
        return self.folder / "dev.conllu"


def same_columns(path: Path, copy: Path, *columns: str) -> bool:
    ours, theirs = (read(name, annotated=False).treebank for name in (path, copy))
    return all(ours.strings(name) == theirs.strings(name) for name in columns)


def writes(command: str, option: str) -> Callable:
    def register(function: Callable[[Place], None]) -> Callable[[Place], None]:
        WRITTEN[command, option] = function
        return function

    return register


@writes("parse", "output")
def parsed(place: Place) -> None:
    for path in place.names("parsed.conllu"):
        place("parse", place.parser(), place.dev, "-o", path, "--k-best", 3, "--margins", "--marginals")
        assert same_columns(path, place.dev, "form", "lemma", "upos", "xpos", "feats")
        place("evaluate", place.dev, path)
        place("check", place.parser(), path)
        place("parse", place.parser(), path, "-o", place.folder / "again.conllu")
        place("train", path, path, "-o", place.folder / "again.npz", "--epochs", 1, "--bits", 14)


@writes("parse", "certificates")
def proved(place: Place) -> None:
    parsed = place.folder / "proved.conllu"
    for path in place.names("proofs.gz"):
        place("parse", place.parser(), place.dev, "-o", parsed, "--certificates", path)
        place("check", place.parser(), parsed, "--certificates", path)


@writes("parse", "derivations")
def derived(place: Place) -> None:
    source, output = place.folder / "dev.auto", place.folder / "derived.conllu"
    for path in place.names("derived.auto"):
        place("parse", place.deriver(), source, "-o", output, "--derivations", path)
        assert read(path).treebank.strings("form") == read(source).treebank.strings("form")
        assert len(list(derivation.read(path))) >= len(read(source))
        place("parse", place.deriver(), path, "-o", place.folder / "again.conllu")
        place("evaluate", path, path)
    place("evaluate", source, output)


@writes("tag", "output")
def tagged(place: Place) -> None:
    for path in place.names("tagged.conllu"):
        place("tag", place.tagger(), place.dev, "-o", path)
        assert same_columns(path, place.dev, "form", "deprel")
        place("parse", place.parser(), path, "-o", place.folder / "again.conllu")


@writes("jackknife", "output")
def jackknifed(place: Place) -> None:
    for path in place.names("predicted.conllu"):
        place("jackknife", place.train, "-o", path, "--epochs", 1, "--bits", 14)
        assert same_columns(path, place.train, "form", "deprel")
        place("train", path, place.dev, "-o", place.folder / "again.npz", "--epochs", 1, "--bits", 14)


@writes("decode", "output")
def decoded(place: Place) -> None:
    rng, forms = np.random.default_rng(1), [place.cell() for _ in range(7)]
    labels = [place.cell() for _ in range(2)]
    scores = {f"arc_{i}": rng.normal(size=(n + 1, n + 1)) for i, n in enumerate((3, 4))}
    tables = {f"labels_{i}": rng.normal(size=(n + 1, n + 1, 2)) for i, n in enumerate((3, 4))}
    # numpy drops NUL characters at the end of strings, which no cell has
    np.savez(place.folder / "scores.npz", **scores, **tables, forms=np.array(forms), label_names=np.array(labels))
    for path in place.names("decoded.conllu"):
        place("decode", place.folder / "scores.npz", "-o", path, "--k-best", 2, "--margins", "--marginals", "--check")
        assert read(path).treebank.strings("form") == forms
        assert set(read(path).treebank.strings("deprel")) <= set(labels)
        place("evaluate", path, path)


@writes("train", "output")
def trained(place: Place) -> None:
    """Train a model of every system. Systems of peers have their own test."""
    for system in [name for name in SYSTEMS if name not in ("udpipe", "spacy", "ccg", "tagging")]:
        path = place.folder / f"{system} ü.npz"
        place("train", place.train, place.dev, "-o", path, "--system", system, "--epochs", 1, "--bits", 14)
        place("parse", path, place.dev, "-o", place.folder / "again.conllu")
        place("evaluate", place.dev, place.folder / "again.conllu")
    place("parse", place.deriver(), place.folder / "dev.auto", "-o", place.folder / "again.conllu")
    place("tag", place.tagger(), place.dev, "-o", place.folder / "again.conllu")


@writes("train_many", "output")
def trained_many(place: Place) -> None:
    several = place.folder / "several.yaml"
    several.write_text("models: {'ü b': {train: train.conllu, dev: dev.conllu}}\nsettings: {epochs: 1, bits: 14}")
    place("train-many", several, "-o", place.folder / "out ü")
    place("parse", place.folder / "out ü" / "ü b.npz", place.dev, "-o", place.folder / "again.conllu")


@pytest.fixture(scope="module", params=[1, 2])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("place"), request.param)


def test_every_option_that_names_an_output_is_tested() -> None:
    options = set()
    commands = [registered.callback for registered in application().registered_commands]
    for command in commands:
        for parameter in inspect.signature(command, eval_str=True).parameters.values():
            kind, *info = get_args(parameter.annotation) or (None,)
            paths = kind is Path or Path in get_args(kind)
            if paths and any(type(i).__name__ == "OptionInfo" for i in info) and parameter.name != "data_dir":
                options.add((command.__name__, parameter.name))
    assert options == WRITTEN.keys() | INPUTS
    assert {command.__name__ for command in commands} == {name for name, _ in WRITTEN} | OTHERS


@pytest.mark.parametrize("output", WRITTEN, ids=" ".join)
def test_what_is_written_is_read(output: tuple[str, str], place: Place) -> None:
    WRITTEN[output](place)


def test_a_dash_means_standard_output_for_every_command_that_writes_text(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.folder)
    (place.folder / "n.npz").unlink(missing_ok=True)
    np.savez("n.npz", np.ones((3, 3)))
    for arguments in (
        ("parse", place.parser(), place.dev),
        ("tag", place.tagger(), place.dev),
        ("jackknife", place.train, "--epochs", 1, "--bits", 14),
        ("decode", "n.npz"),
    ):
        assert place(*arguments, "-o", "-") == place(*arguments) != ""
    derived = place("parse", place.deriver(), "dev.auto", "-o", "x.conllu", "--derivations", "-")
    assert derived.startswith("ID=1 PARSER=treebound")
    assert not Path("-").exists()


def test_a_converted_bank_of_derivations_is_read(place: Place) -> None:
    """A converted bank of derivations can be read, even with blanks in the names of its sentences."""
    bank, data = place.folder / "bank", place.folder / "data"
    for section in (2, 0, 23):
        (bank / "AUTO" / f"{section:02}").mkdir(parents=True)
        text = (place.folder / "dev.auto").read_bytes()
        (bank / "AUTO" / f"{section:02}" / f"wsj_{section:02}01.auto").write_bytes(text)
    place("convert", "ccgbank", "--path", bank, "--to", "ccg", "--data-dir", data)
    for split in ("train", "dev", "test"):
        path = data / "ccg" / "ccgbank" / f"{split}.auto"
        assert read(path).treebank.strings("form") == read(place.folder / "dev.auto").treebank.strings("form")
        assert [entry.name for entry in derivation.read(path)] == [
            unescaped(name) for name, _ in read_parg(path.with_suffix(".parg"))
        ]
        place("evaluate", path, path)


def test_a_stored_treebank_is_read(place: Place, tmp_path: Path) -> None:
    treebank = read(place.train).treebank
    storage.save(treebank, tmp_path / "t.npz")
    stored = storage.load(tmp_path / "t.npz")
    assert all(stored.strings(name) == treebank.strings(name) for name in STRING_COLUMNS)


def test_words_of_derivations_are_escaped_without_loss() -> None:
    rng = random.Random(3)
    for _ in range(5000):
        word = "".join(rng.choices([*PIECES, "\t", "\n", "\r", "\0"], k=rng.randint(1, 8)))
        field = escaped(word)
        assert len(field.split()) == 1
        assert unescaped(field) == word
        node = Derivation(derivation.parse("N"), word=word, tag=word)
        line = to_text(node)
        assert len(line.splitlines()) == 1 or "\n" not in line
        back = from_text(line)
        assert (back.word, back.tag) == (word, word)
    assert escaped(r"1\/2") == r"1\/2", "words of CCGbank are unchanged"
    assert unescaped(r"\u1234\u0041") == r"\u1234\u0041", "other codes are not escapes"
