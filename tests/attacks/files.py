"""The commands with odd files and options: a success, or one error line and no file that was begun and not finished."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ccg_corpus import write_auto
from mutants import JUNK, TEXT, flipped
from synthetic import synthetic_treebank
from test_cli import run
from time_limits import at_most
from universal_treebanks import universal, written

from attacks.commands import COMMANDS, EXCLUDED, KINDS, TRAINED, Command
from studies.common import params
from treebound.core.errors import InputError

SECONDS = 60  #: longest time of a command
CCG = "--chart-bits 12 --tag-bits 12 --tag-iterations 5 --iterations 5"  #: options of a quick training
#: options of further graph-based models, whose parses must pass the check
PARSERS = {
    "crossing": "--epochs 1 --bits 12 --space non-projective --families grandchild,head-bigram --pruner-epochs 1",
    "second-stage": "--epochs 1 --bits 12 --labels both --families tri-sibling,valency,grand-sibling --pruner-epochs 1",
    "arcs": "--epochs 1 --bits 12 --labels joint --families= --pruner-folds 0",
}
PARAMS = Path(__file__).parents[2] / "params.yaml"
#: values and texts that replace a value in params.yaml
YAML = ("[", "{", "&a *a", "!!python/x", "'", "- 1", "2020-01-01", "1:1", ".nan", "0o7", "~", *map(json.dumps, JUNK))


class Files:
    """A folder with models and good files, and the odd files of one case in the folder `odd`; see `commands.Folder`."""

    def __init__(self, folder: Path):
        self.folder, self.odd, self.seen = folder, folder / "odd", set[bytes]()
        self.models: dict[str, Path] = {}
        self.contents: dict[str, bytes] = {}
        self.good = folder / "good.conllu"
        self.good.write_text(TEXT, encoding="utf-8")
        np.savez(folder / "scores.npz", np.arange(16.0).reshape(4, 4), np.zeros((2, 2)))
        train, few = folder / "train.conllu", folder / "few.conllu"
        written(universal(synthetic_treebank(40, 1, 8)), train)
        written(universal(synthetic_treebank(4, 2, 8)), few)
        for name, options in TRAINED.items():
            path = self.models[name] = folder / f"{name}.npz"
            self.succeed("train", "--system", name, train, few, "-o", path, *options.split())
            self.contents[name] = path.read_bytes()
        self.parsers = [self.models["graph"]]
        for name, options in PARSERS.items():
            self.parsers.append(folder / f"{name}.npz")
            self.succeed("train", train, few, "-o", self.parsers[-1], *options.split())
        self.claims: dict[str, tuple[Path, str, bytes, tuple[str, ...]]] = {}
        for name, valid in (("plain", ()), ("valid", ("--valid", "ud"))):
            self.claim(name, self.models["graph"], few, ("--k-best", 3, "--margins"), valid)
        derivations, ccg = folder / "train.auto", folder / "ccg.npz"
        write_auto(derivations, 1, 40)
        write_auto(folder / "few.auto", 3, 3)
        self.succeed("train", "--system", "ccg", derivations, derivations, "-o", ccg, *CCG.split())
        self.claim("ccg", ccg, folder / "few.auto", ("--integrate", "exact"), ())
        helps = {command: self.succeed(command, "--help") for command in COMMANDS}
        self.options = {c: sorted({*re.findall(r"--[a-zA-Z][a-zA-Z-]*", text)} - EXCLUDED) for c, text in helps.items()}

    def claim(self, name: str, model: Path, text: Path, options: tuple[Any, ...], shared: tuple[str, ...]) -> None:
        """Parse a text, and store the parses with their proofs; the check has the options `shared` as well."""
        parsed, proofs = self.folder / f"{name}.conllu", self.folder / f"{name}.gz"
        self.succeed("parse", model, text, "-o", parsed, "--certificates", proofs, *options, *shared)
        content = parsed.read_text(encoding="utf-8"), gzip.decompress(proofs.read_bytes())
        self.claims[name] = model, *content, shared

    def succeed(self, *arguments: Any) -> str:
        """Run a command that must succeed; return what it prints."""
        done = run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, name: str, content: bytes) -> Path:
        """Write an odd file and return its path."""
        path = self.odd / name
        path.write_bytes(content)
        return path

    def state(self) -> dict[str, bytes]:
        """Return the content of all files in the folder of the case."""
        return {str(p.relative_to(self.odd)): p.read_bytes() for p in self.odd.rglob("*") if p.is_file()}

    def is_new(self, *content: Any) -> bool:
        """Return whether an input has not occurred before."""
        digest = hashlib.sha256(repr(content).encode("utf-8", "surrogatepass")).digest()
        new = digest not in self.seen
        self.seen.add(digest)
        return new

    def outcome(self, command: Command) -> list[str]:
        """Run a command and return the kind of its input with the outcome; nothing if the input is not new."""
        before = self.state()
        names = [str(x).replace(str(self.folder), "") for x in command.arguments]
        if not self.is_new(names, sorted(before.items())):
            return []
        # an odd name of an output file, such as "1e3", is a file of the current folder
        with at_most(SECONDS), contextlib.chdir(self.odd):
            done = run(*command.arguments)
        report = f"{names}: {done.returncode} {done.stdout[-200:]!r} {done.stderr[-600:]!r}"
        after, lines = self.state(), done.stderr.splitlines()
        errors = [line for line in lines if line.startswith("treebound: error: ")]
        assert not re.search(r"Traceback|Warning: |internal error", done.stderr), report
        if done.returncode == 0:
            assert not errors, report
            if command.claims:
                check_claims(command.claims, (self.odd / "parsed.conllu").read_text(encoding="utf-8"), report)
            return [f"{command.kind}: success"]
        assert done.returncode in (1, 2), report
        assert after == before, f"{report}: changes {after.keys() ^ before.keys() or 'a file'}"
        if command.checks and done.stdout and not errors:
            assert all(re.match(r".*parsed\.conllu: sentence \d+: .+", line) for line in done.stdout.splitlines()), (
                report
            )
            return [f"{command.kind}: faults"]
        assert len(errors) == 1, report
        assert lines[-1] == errors[0], report
        assert errors[0].isprintable(), report
        assert len(errors[0]) <= 1100, report
        return [f"{command.kind}: refused"]


def _claims_of(text: str) -> dict[tuple[str, ...], dict[str, str]]:
    """Return the comments of treebound by the forms of a sentence, for all sentences with such comments."""
    claimed = {}
    for block in text.replace("\r\n", "\n").split("\n\n"):
        forms = tuple(re.findall(r"^\d+\t([^\t]*)", block, re.M))
        comments = dict(re.findall(r"^# treebound_(\w+) = (.*)$", block, re.M))
        claimed |= {forms: comments} if comments and forms else {}
    return claimed


def check_claims(honest: str, changed: str, report: str) -> None:
    """Check that parses which the check accepts claim nothing that the honest parses refute.

    The score of the best tree is unique, and so is the score at each place of a list of k best trees.
    """
    right = _claims_of(honest)
    for forms, comments in _claims_of(changed).items():
        true, score, bound = right[forms], float(comments["score"]), float(comments["bound"])
        note = f"{report}: accepts {comments}, true is {true}"
        if comments["status"] == "optimal":
            assert score == bound == float(true["score"]), note
        assert bound >= float(true["score"]) >= score, note
        listed, best = (
            [float(x.partition(":")[0]) for x in c.get("kbest", "").split("|") if x.strip()] for c in (comments, true)
        )
        assert all(a <= b for a, b in zip(listed, best, strict=False)), note


def sentences(rng: random.Random) -> str:
    """Return random sentences with universal tags, some of which are replaced, so that few trees are valid."""
    share, lines = rng.choice((0.0, 0.1, 0.4)), []
    treebank = universal(synthetic_treebank(rng.randint(1, 6), rng.getrandbits(31), rng.choice((2, 6, 10))))
    forms, tags = treebank.strings("form"), treebank.strings("upos")
    for start, length in zip(np.cumsum([0, *treebank.lengths[:-1]]).tolist(), treebank.lengths.tolist(), strict=True):
        for m in range(length):
            tag = rng.choice(("PUNCT", "ADP", "AUX", "DET", "CCONJ", "VERB", "X")) if rng.random() < share else None
            tag = tag or tags[start + m]
            lines.append(f"{m + 1}\t{forms[start + m]}\t_\t{tag}\t{tag}\t_\t_\t_\t_\t_")
        lines.append("")
    return "\n".join([*lines, ""])


def round_trip(files: Files, rng: random.Random) -> list[str]:
    """Parse random sentences with random options; the check with the same options must find no fault."""
    shared: list[Any] = ["--valid", "ud"] if rng.random() < 0.5 else []
    shared += ["--k", rng.choice((1, 2, 5, "none"))] if rng.random() < 0.4 else []
    shared += ["--threshold", rng.choice((0, 0.01, 0.5))] if rng.random() < 0.2 else []
    own: list[Any] = ["--max-dp-calls", rng.choice((1, 2, 5))] if rng.random() < 0.4 else []
    own += ["--k-best", rng.choice((1, 2, 5))] if rng.random() < 0.4 else []
    own += [x for x in ("--margins", "--marginals") if rng.random() < 0.2]
    text = files.write("text.conllu", sentences(rng).encode())
    parsed, proofs = files.odd / "parsed.conllu", files.odd / "proofs.gz"
    stored = ["--certificates", proofs] if rng.random() < 0.6 else []
    if not files.is_new(text.read_bytes(), shared, own, stored):
        return []
    parser = rng.choice(files.parsers)
    done = run("parse", parser, text, "-o", parsed, *shared, *own, *stored)
    assert done.returncode == 0, f"{shared} {own}: {done.stderr}"
    checked = run("check", parser, parsed, *shared, *stored)
    report = f"{parser.name} {shared} {own} {stored}: {checked.stdout} {checked.stderr}"
    assert checked.returncode == 0, report
    assert "; 0 faults" in checked.stderr, report
    kind = "valid" if "--valid" in shared else "plain"
    return [f"round trip, {kind}, {'limited' if '--max-dp-calls' in own else 'no limit'}: success"]


def parameters(files: Files, rng: random.Random) -> list[str]:
    """Read a changed params.yaml: the result is valid, or the error is one line that names the file."""
    lines = PARAMS.read_text(encoding="utf-8").split("\n")
    for _ in range(rng.choice((1, 1, 2, 3))):
        row = rng.choice([i for i, text in enumerate(lines) if ":" in text and not text.lstrip().startswith("#")])
        key, _, value = lines[row].partition(":")
        new = rng.choice(YAML)
        changes = (
            f"{key}: {new}",
            f"{key}x:{value}",
            "",
            lines[row] + "\n" + lines[row],
            f"{key}:{value} {new}",
            value,
        )
        lines[row] = rng.choice(changes)
        if rng.random() < 0.5:  # change one number or word of the line instead
            words = re.findall(r"[\w.-]+", f"{key}:{value}")
            lines[row] = f"{key}:{value}".replace(rng.choice(words), new, 1)
    text = "\n".join(lines).encode("utf-8", "replace")
    path = files.write("params.yaml", flipped(text, rng) if rng.random() < 0.2 else text)
    if not files.is_new(path.read_bytes()):
        return []
    error = None
    try:
        params.load(path)
    except InputError as caught:
        error = caught
    assert error is None or ("\n" not in str(error) and str(path) in str(error)), str(error)
    return ["params.yaml: refused" if error else "params.yaml: success"]


def cases(folder: Path) -> Callable[[int], list[str]]:
    """Return a function that runs the case of a seed; `folder` gets models and good files."""
    files = Files(folder)

    def case(seed: int) -> list[str]:
        """Run one command with odd input and return the kind of the input with the outcome."""
        rng = random.Random(seed)
        shutil.rmtree(files.odd, ignore_errors=True)
        files.odd.mkdir()
        chance = rng.random()
        if chance < 0.15:
            return (parameters if chance < 0.07 else round_trip)(files, rng)
        (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
        return files.outcome(kind(files, rng))

    return case
