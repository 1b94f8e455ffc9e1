"""Forty things and more that a stranger gets wrong with each system: one line that says what to do, or it works."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from broken import (
    CERTIFICATES,
    DERIVATIONS,
    FILES,
    GOOD,
    MODELS,
    OF_ALL,
    OF_DECODE,
    OWN,
    PARSED,
    QUADRATIC,
    SCORES,
    SENTENCES,
    TREEBANKS,
    Case,
)
from ccg_corpus import write_auto
from synthetic import inflected_conllu
from test_cli import run

from treebound.treebanks.document import read

#: the options of a model that is trained in a moment
TRAINED = {
    "graph": "--epochs 1 --bits 12 --families adjacent-sibling,sibling --pruner-epochs 1 --label-bits 12",
    "constrained": "--epochs 1 --bits 6 --constraints {own.toml}",
    "transition": "--epochs 1 --bits 8",
    "sampling": "--epochs 1 --bits 12 --families adjacent-sibling,grandchild --sweeps 1 --restarts 2 --pruner-epochs 1",
    "correcting": "--epochs 1 --bits 12 --families adjacent-sibling --sweeps 1 --restarts 2 --pruner-epochs 1 "
    "--tagger-epochs 1 --tagger-bits 12 --tagger-folds 2 --folds 2",
    "ccg": "--chart-bits 12 --tag-bits 12 --tag-iterations 5 --iterations 5",
    "tagging": "--epochs 1 --bits 12",
}
PARSERS = [system for system in TRAINED if system != "tagging"]
SECONDS = 60  #: more than any command here takes


class Place:
    """A folder with good and broken files; names of files in commands are keys of `files`."""

    def __init__(self, folder: Path, system: str):
        self.folder, self.system = folder, system
        self.files = {"folder": folder, "missing": folder / "missing", "out": folder / "out"}
        if system in TRAINED:
            self.train(system)

    def train(self, system: str) -> None:
        """Treebanks, and a model of them."""
        folder = self.folder
        suffix = "auto" if system == "ccg" else "conllu"
        for name, seed, count in (("train", 1, 40), ("dev", 2, 10), ("few", 3, 3)):
            path = self.files[name] = folder / f"{name}.{suffix}"
            if system == "ccg":
                write_auto(path, seed, count)
            else:
                path.write_text(inflected_conllu(count, seed))
        self.write("good.conllu", GOOD.encode())
        self.write("own.toml", b"[unique-labels]\nlabels = ['subj']\n")
        self.files["model"] = folder / "model.npz"
        done = run(*self.arguments(f"train --system {system} {{train}} {{dev}} -o {{model}} {TRAINED[system]}"))
        assert done.returncode == 0, done.stderr

    def write(self, name: str, content: bytes) -> None:
        path = self.files[name.removesuffix(".conllu").removesuffix(".npz")] = self.files[name] = self.folder / name
        path.write_bytes(content)

    def arguments(self, command: str) -> list[str]:
        for name, path in self.files.items():
            command = command.replace(f"{{{name}}}", str(path))
        return command.replace("{system}", self.system).split()

    def state(self) -> dict[str, tuple[int, int]]:
        """What there is, to be compared."""
        return {
            path.name: (path.lstat().st_size, path.lstat().st_mtime_ns)
            for path in self.folder.iterdir()
            if path.is_file()
        }

    def fault(self, case: Case) -> str:
        """What is wrong with what a command does; nothing, if it is right."""
        before = self.state()
        with at_most(SECONDS):
            done = run(*self.arguments(case.command))
        said = f"{case.command}: {done.returncode} {done.stderr.strip()[-400:]!r}"
        after = self.state()
        if case.said is None:
            out = self.files["out"]
            if done.returncode or "out" not in after:
                return f"does not work: {said}"
            found = len(read(out, "conllu", annotated=False)) if case.sentences >= 0 else case.sentences
            out.unlink()
            return "" if found == case.sentences else f"{found} sentences: {said}"
        if case.command.startswith("check ") and done.stdout:  # faults of what was parsed, one a line
            lines = [f"treebound: error: {done.stdout.splitlines()[0]}"]
            done.stdout = "".join(x for x in done.stdout.splitlines() if not x.startswith("sentence "))
        else:
            lines = done.stderr.splitlines()
        if done.returncode not in (1, 2) or done.stdout or not lines or not lines[-1].startswith("treebound: error: "):
            return f"not refused in a line: {said} {done.stdout[:200]}"
        *remarks, line = lines  # what training has to say of the data
        if any("error" in other for other in remarks) or not line.isprintable() or len(line) > 600:
            return f"not one line: {said}"
        if missing := [part for part in self.parts(case) if part not in line]:
            return f"does not say {missing}: {said}"
        return "" if after == before else f"leaves {after.items() ^ before.items()}: {said}"

    def parts(self, case: Case) -> list[str]:
        return [" ".join(self.arguments(part)) if part.startswith("{") else part for part in case.said or ()]


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """TimeoutError for what waits for ever, as on a pipe that nobody writes to."""

    def late(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module", params=TRAINED)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp(request.param), request.param)


def tried(place: Place, cases: list[Case]) -> None:
    """All cases; every fault is shown."""
    faults = [fault for case in cases if (fault := place.fault(case))]
    assert not faults, "\n".join(faults)


def verb(place: Place) -> str:
    return "tag" if place.system == "tagging" else "parse"


def test_models(place: Place) -> None:
    content = place.files["model"].read_bytes()
    cases = []
    for name, (change, said) in MODELS.items():
        place.write(f"{name}.npz", change(content))
        cases.append(Case(f"{verb(place)} {{{name}}} {{good}} -o {{out}}", (f"{name}.npz: ", *said)))
    cases += [
        Case(f"{verb(place)} {{missing}} {{good}} -o {{out}}", ("{missing}: no such", "treebound train")),
        Case(f"{verb(place)} {{folder}} {{good}} -o {{out}}", ("{folder}: ",)),
        Case(f"{verb(place)} {{good}} {{model}} -o {{out}}", ("{good}: truncated or foreign file",)),
        Case(f"{verb(place)} {{model}} {{model}} -o {{out}}", ("{model}: cannot be read: it is a zip archive",)),
    ]
    tried(place, cases)


@pytest.mark.skipif(find_spec("libsvm") is None, reason="LIBSVM is not installed")
@pytest.mark.parametrize("prediction", ["branching", "combined"])
def test_models_with_a_quadratic_kernel(prediction: str, tmp_path: Path) -> None:
    place = Place(tmp_path, "transition")
    how = f"--learning quadratic --features F5 --tolerance 1 --prediction {prediction}"
    done = run(*place.arguments(f"train --system transition {{train}} {{dev}} -o {{model}} {how}"))
    assert done.returncode == 0, done.stderr
    content, cases = place.files["model"].read_bytes(), [Case("parse {model} {good} -o {out}", None, 1)]
    for name, (change, said) in (MODELS | QUADRATIC).items():
        place.write(f"{name}.npz", change(content))
        cases.append(Case(f"parse {{{name}}} {{good}} -o {{out}}", (f"{name}.npz: ", *said)))
    tried(place, [*cases, Case("parse {model} {good} -o {out} --beam 4", ("parse with --beam 1",))])


def test_a_model_in_a_pipe(place: Place) -> None:
    pipe = place.folder / "pipe"
    os.mkfifo(pipe)
    place.files["pipe"] = pipe

    def feed() -> None:
        with suppress(BrokenPipeError):
            pipe.write_bytes(place.files["model"].read_bytes())

    threading.Thread(target=feed, daemon=True).start()
    tried(place, [Case(f"{verb(place)} {{pipe}} {{good}} -o {{out}}", ("{pipe}: ",))])


def test_sentences(place: Place) -> None:
    cases = []
    for name, (content, expected) in SENTENCES.items():
        place.write(f"{name}.conllu", content)
        command = f"{verb(place)} {{model}} {{{name}}} -o {{out}}"
        works = isinstance(expected, int)
        cases.append(Case(command, None, expected) if works else Case(command, (f"{name}.conllu", *expected)))
    tried(place, cases)


def test_treebanks(place: Place) -> None:
    cases = []
    for name, (text, said) in TREEBANKS.items():
        if place.system == "tagging" and name != "nothing":
            continue  # trees are nothing to it
        place.write(f"{name}.conllu", text.encode())
        command = f"train --system {place.system} {{{name}}} {{dev}} -o {{out}} {TRAINED[place.system]}"
        cases.append(Case(command, (f"{name}.conllu:", *said)))
    tried(place, cases)


def test_options_and_outputs(place: Place) -> None:
    for name, content in FILES.items():
        place.write(name, content)
    place.write("plain.conllu", inflected_conllu(3, 3).encode())
    place.write("untagged.conllu", b"".join(b"1\ta" + b"\t_" * 4 + b"\t0\troot\t_\t_\n\n" for _ in range(2)))
    tried(place, OWN[place.system] + (OF_ALL if place.system in PARSERS else []))


def test_derivations(place: Place) -> None:
    if place.system != "ccg":
        pytest.skip("no other system reads them")
    cases = []
    for name, (text, said) in DERIVATIONS.items():
        place.write(name, text.encode())
        cases.append(Case(f"train --system ccg {{{name}}} {{dev}} -o {{out}} {TRAINED['ccg']}", (name, *said)))
    tried(place, cases)


def test_proofs(place: Place) -> None:
    if place.system not in ("graph", "ccg"):
        pytest.skip("no other system proves anything")
    how = "--integrate exact" if place.system == "ccg" else ""
    proofs, parsed = (place.files.setdefault(name, place.folder / name) for name in ("proofs.gz", "parsed.conllu"))
    parse = f"parse {{model}} {{few}} -o {{parsed.conllu}} --certificates {{proofs.gz}} {how}"
    check = "check {model} {%s} --certificates {%s}"
    assert run(*place.arguments(parse)).returncode == 0
    cases = []
    for name, (change, said) in CERTIFICATES.items():
        place.write(name, change(proofs.read_bytes()))
        cases.append(Case(check % ("parsed.conllu", name), said))
    for name, (old, new, said) in PARSED.items():
        text = parsed.read_text()
        assert old in text
        place.write(f"{name}.parsed", text.replace(old, new, 1).encode())
        cases.append(Case(check % (f"{name}.parsed", "proofs.gz"), said))
    blocks = parsed.read_text().split("\n\n")
    place.write("fewer", "\n\n".join(blocks[1:]).encode())
    place.write("more", "\n\n".join(blocks[:1] + blocks).encode())
    for name, other in (("parsed.conllu", "missing"), ("parsed.conllu", "folder"), ("parsed.conllu", "model")):
        cases.append(Case(check % (name, other), (f"{{{other}}}:",)))
    for name in ("fewer", "more", "dev", "missing", "folder", "model"):
        cases.append(Case(check % (name, "proofs.gz"), ("",)))
    tried(place, cases)


def test_scores_of_ones_own(tmp_path: Path) -> None:
    place = Place(tmp_path, "decode")
    cases = []
    for name, (content, expected) in SCORES.items():
        path = place.files[name] = tmp_path / f"{name}.npz"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            np.savez(path, **content)
        command, works = f"decode {{{name}}} -o {{out}}", isinstance(expected, int)
        cases.append(Case(command, None, expected) if works else Case(command, (f"{name}.npz: ", *expected)))
    tried(place, cases + OF_DECODE)
