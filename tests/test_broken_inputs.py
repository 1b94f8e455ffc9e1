"""Test more than forty mistakes with each system: the command either succeeds or prints one helpful error line."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from broken import (
    CERTIFICATES,
    DECODE_CASES,
    DERIVATIONS,
    FILES,
    GOOD,
    MODELS,
    OWN,
    PARSED,
    QUADRATIC,
    SCORES,
    SENTENCES,
    SHARED,
    TREEBANKS,
    Case,
)
from ccg_corpus import write_auto
from synthetic import inflected_conllu
from test_cli import run
from time_limits import at_most

from treebound.treebanks.document import read

#: options with which a model of each system is trained quickly
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
SECONDS = 60  #: longer than any command of this file takes


class InputFolder:
    """A folder with valid and broken files; commands name files by the keys of `files`."""

    def __init__(self, folder: Path, system: str):
        self.folder, self.system = folder, system
        self.files = {"folder": folder, "missing": folder / "missing", "out": folder / "out"}
        if system in TRAINED:
            self.train(system)

    def train(self, system: str) -> None:
        """Write treebanks and train a model on them."""
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
        process = run(*self.arguments(f"train --system {system} {{train}} {{dev}} -o {{model}} {TRAINED[system]}"))
        assert process.returncode == 0, process.stderr

    def write(self, name: str, content: bytes) -> None:
        path = self.files[name.removesuffix(".conllu").removesuffix(".npz")] = self.files[name] = self.folder / name
        path.write_bytes(content)

    def arguments(self, command: str) -> list[str]:
        for name, path in self.files.items():
            command = command.replace(f"{{{name}}}", str(path))
        return command.replace("{system}", self.system).split()

    def state(self) -> dict[str, tuple[int, int]]:
        """Return the sizes and modification times of all files, for comparison."""
        return {
            path.name: (path.lstat().st_size, path.lstat().st_mtime_ns)
            for path in self.folder.iterdir()
            if path.is_file()
        }

    def fault(self, case: Case) -> str:
        """Return a description of what is wrong with the effect of a command, or an empty text."""
        before = self.state()
        with at_most(SECONDS):
            process = run(*self.arguments(case.command))
        report = f"{case.command}: {process.returncode} {process.stderr.strip()[-400:]!r}"
        after = self.state()
        if case.message is None:
            out = self.files["out"]
            if process.returncode or "out" not in after:
                return f"fails: {report}"
            sentences = len(read(out, "conllu", annotated=False)) if case.sentences >= 0 else case.sentences
            out.unlink()
            return "" if sentences == case.sentences else f"{sentences} sentences: {report}"
        if case.command.startswith("check ") and process.stdout:  # faults of the parse, one per line
            lines = [f"treebound: error: {process.stdout.splitlines()[0]}"]
            process.stdout = "".join(x for x in process.stdout.splitlines() if ": sentence " not in x)
        else:
            lines = process.stderr.splitlines()
        if (
            process.returncode not in (1, 2)
            or process.stdout
            or not lines
            or not lines[-1].startswith("treebound: error: ")
        ):
            return f"no error line: {report} {process.stdout[:200]}"
        *remarks, line = lines  # training may print remarks about the data first
        if any("error" in remark for remark in remarks) or not line.isprintable() or len(line) > 600:
            return f"not one line: {report}"
        if missing := [part for part in self.parts(case) if part not in line]:
            return f"error line lacks {missing}: {report}"
        return "" if after == before else f"changes files {after.items() ^ before.items()}: {report}"

    def parts(self, case: Case) -> list[str]:
        return [" ".join(self.arguments(part)) if part.startswith("{") else part for part in case.message or ()]


@pytest.fixture(scope="module", params=TRAINED)
def inputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> InputFolder:
    return InputFolder(tmp_path_factory.mktemp(request.param), request.param)


def check_cases(inputs: InputFolder, cases: list[Case]) -> None:
    """Run all cases and fail with a list of all faults."""
    faults = [fault for case in cases if (fault := inputs.fault(case))]
    assert not faults, "\n".join(faults)


def verb(inputs: InputFolder) -> str:
    return "tag" if inputs.system == "tagging" else "parse"


def test_models(inputs: InputFolder) -> None:
    content = inputs.files["model"].read_bytes()
    cases = []
    for name, (change, message) in MODELS.items():
        inputs.write(f"{name}.npz", change(content))
        cases.append(Case(f"{verb(inputs)} {{{name}}} {{good}} -o {{out}}", (f"{name}.npz: ", *message)))
    cases += [
        Case(f"{verb(inputs)} {{missing}} {{good}} -o {{out}}", ("{missing}: no such", "treebound train")),
        Case(f"{verb(inputs)} {{folder}} {{good}} -o {{out}}", ("{folder}: ",)),
        Case(f"{verb(inputs)} {{good}} {{model}} -o {{out}}", ("{good}: truncated or foreign file",)),
        Case(f"{verb(inputs)} {{model}} {{model}} -o {{out}}", ("{model}: cannot be read: it is a zip archive",)),
    ]
    check_cases(inputs, cases)


@pytest.mark.skipif(find_spec("libsvm") is None, reason="LIBSVM is not installed")
@pytest.mark.parametrize("prediction", ["branching", "combined"])
def test_models_with_a_quadratic_kernel(prediction: str, tmp_path: Path) -> None:
    inputs = InputFolder(tmp_path, "transition")
    options = f"--learning quadratic --features F5 --tolerance 1 --prediction {prediction}"
    process = run(*inputs.arguments(f"train --system transition {{train}} {{dev}} -o {{model}} {options}"))
    assert process.returncode == 0, process.stderr
    content, cases = inputs.files["model"].read_bytes(), [Case("parse {model} {good} -o {out}", None, 1)]
    for name, (change, message) in (MODELS | QUADRATIC).items():
        inputs.write(f"{name}.npz", change(content))
        cases.append(Case(f"parse {{{name}}} {{good}} -o {{out}}", (f"{name}.npz: ", *message)))
    check_cases(inputs, [*cases, Case("parse {model} {good} -o {out} --beam 4", ("parse with --beam 1",))])


def test_a_model_in_a_pipe(inputs: InputFolder) -> None:
    pipe = inputs.folder / "pipe"
    os.mkfifo(pipe)
    inputs.files["pipe"] = pipe

    def feed() -> None:
        with suppress(BrokenPipeError):
            pipe.write_bytes(inputs.files["model"].read_bytes())

    threading.Thread(target=feed, daemon=True).start()
    check_cases(inputs, [Case(f"{verb(inputs)} {{pipe}} {{good}} -o {{out}}", ("{pipe}: ",))])


def test_sentences(inputs: InputFolder) -> None:
    cases = []
    for name, (content, expected) in SENTENCES.items():
        inputs.write(f"{name}.conllu", content)
        command = f"{verb(inputs)} {{model}} {{{name}}} -o {{out}}"
        works = isinstance(expected, int)
        cases.append(Case(command, None, expected) if works else Case(command, (f"{name}.conllu", *expected)))
    check_cases(inputs, cases)


def test_treebanks(inputs: InputFolder) -> None:
    cases = []
    for name, (text, message) in TREEBANKS.items():
        if inputs.system == "tagging" and name != "nothing":
            continue  # a tagger does not read trees
        inputs.write(f"{name}.conllu", text.encode())
        command = f"train --system {inputs.system} {{{name}}} {{dev}} -o {{out}} {TRAINED[inputs.system]}"
        cases.append(Case(command, (f"{name}.conllu:", *message)))
    check_cases(inputs, cases)


def test_options_and_outputs(inputs: InputFolder) -> None:
    for name, content in FILES.items():
        inputs.write(name, content)
    inputs.write("plain.conllu", inflected_conllu(3, 3).encode())
    inputs.write("untagged.conllu", b"".join(b"1\ta" + b"\t_" * 4 + b"\t0\troot\t_\t_\n\n" for _ in range(2)))
    check_cases(inputs, OWN[inputs.system] + (SHARED if inputs.system in PARSERS else []))


def test_derivations(inputs: InputFolder) -> None:
    if inputs.system != "ccg":
        pytest.skip("only CCG reads derivations")
    cases = []
    for name, (text, message) in DERIVATIONS.items():
        inputs.write(name, text.encode())
        cases.append(Case(f"train --system ccg {{{name}}} {{dev}} -o {{out}} {TRAINED['ccg']}", (name, *message)))
    check_cases(inputs, cases)


def test_proofs(inputs: InputFolder) -> None:
    if inputs.system not in ("graph", "ccg"):
        pytest.skip("only graph-based and CCG models have proofs")
    options = "--integrate exact" if inputs.system == "ccg" else ""
    proofs, parsed = (inputs.files.setdefault(name, inputs.folder / name) for name in ("proofs.gz", "parsed.conllu"))
    parse = f"parse {{model}} {{few}} -o {{parsed.conllu}} --certificates {{proofs.gz}} {options}"
    check = "check {model} {%s} --certificates {%s}"
    assert run(*inputs.arguments(parse)).returncode == 0
    cases = []
    for name, (change, message) in CERTIFICATES.items():
        inputs.write(name, change(proofs.read_bytes()))
        cases.append(Case(check % ("parsed.conllu", name), message))
    for name, (old, new, message) in PARSED.items():
        text = parsed.read_text()
        assert old in text
        inputs.write(f"{name}.parsed", text.replace(old, new, 1).encode())
        cases.append(Case(check % (f"{name}.parsed", "proofs.gz"), message))
    blocks = parsed.read_text().split("\n\n")
    inputs.write("fewer", "\n\n".join(blocks[1:]).encode())
    inputs.write("more", "\n\n".join(blocks[:1] + blocks).encode())
    for name, second in (("parsed.conllu", "missing"), ("parsed.conllu", "folder"), ("parsed.conllu", "model")):
        cases.append(Case(check % (name, second), (f"{{{second}}}:",)))
    for name in ("fewer", "more", "dev", "missing", "folder", "model"):
        cases.append(Case(check % (name, "proofs.gz"), ("",)))
    check_cases(inputs, cases)


def test_score_files(tmp_path: Path) -> None:
    inputs = InputFolder(tmp_path, "decode")
    cases = []
    for name, (content, expected) in SCORES.items():
        path = inputs.files[name] = tmp_path / f"{name}.npz"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            np.savez(path, **content)
        command, works = f"decode {{{name}}} -o {{out}}", isinstance(expected, int)
        cases.append(Case(command, None, expected) if works else Case(command, (f"{name}.npz: ", *expected)))
    check_cases(inputs, cases + DECODE_CASES)
