"""Random commands with odd inputs: treebanks, models, scores, settings, claims, lists of models, and options."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import yaml
from broken import FILES
from mutants import FIELDS, JUNK, flipped, input_mutants, model_mutants
from odd_files import ENCODINGS, SENTENCES, odd_files
from other_formats import ALPINO, BRACKETS, COMPRESSED

from attacks.odd_scores import odd_scores

SOURCES = Path(__file__).parents[2] / "src" / "treebound"
#: valid settings files: rules, patterns, constraints and feature models
SETTINGS = [path.read_bytes() for path in sorted(SOURCES.rglob("*.toml"))]
#: options with which a model of each system is trained quickly
TRAINED = {
    "graph": "--epochs 1 --bits 12 --families adjacent-sibling,grandchild,sibling --pruner-epochs 1 --label-bits 12",
    "constrained": "--epochs 1 --bits 6 --constraints en_ewt",
    "transition": "--epochs 1 --bits 8",
    "sampling": "--epochs 1 --bits 12 --families adjacent-sibling,grandchild --sweeps 1 --restarts 2 --pruner-epochs 1",
    "tagging": "--epochs 1 --bits 12",
}
#: values of options that are often valid, and values that never are
PLAUSIBLE = (
    *("0", "1", "2", "3", "0.5", "1e-3", "none", "model", "ud", "projective", "non-projective", "tuned", "published"),
    *("sibling", "grandchild,sibling", "mira", "joint", "both", "upos", "xpos", "lemma", "utf-8", "eisner", "en_ewt"),
)  # fmt: skip
ODD = (
    *("", "-1", "1.5", "nan", "inf", "-inf", "1e400", "x", "9" * 30, "0x1", "1_0", "+1", " 1", "\u0663", "1e3", "all"),
    *("sibling,,x", "utf-16", "utf-99", "/dev/null", "/", ".", "\udcff", "a\nb", "%s", "{}", "~", "gibbs", "auto"),
)  # fmt: skip
#: options that run long, start processes, or contact other machines
EXCLUDED = frozenset({"--workers", "--scheduler", "--help", "--help-for", "--output", "--memory"})
COMMANDS = ("parse", "tag", "evaluate", "check", "train", "decode", "jackknife", "mine", "train-many")
QUICK = ("--epochs", 1, "--bits", 12)


class Command(NamedTuple):
    """A command line and the kind of its input.

    checks  whether the command may print faults on standard output, one per line, and then exits with 1
    claims  the text of the honest parses, if the command checks changed parses
    """

    kind: str
    arguments: list[Any]
    checks: bool = False
    claims: str = ""


class Folder(Protocol):
    """A folder with models and good files.

    odd       folder of the files of one case
    good      a treebank
    models    system -> model file
    contents  system -> content of the model file
    claims    name -> (model file, parses, proofs, options of the check)
    options   command -> its options
    """

    odd: Path
    good: Path
    models: dict[str, Path]
    contents: dict[str, bytes]
    claims: dict[str, tuple[Path, str, bytes, tuple[str, ...]]]
    options: dict[str, list[str]]

    def write(self, name: str, content: bytes) -> Path:
        """Write an odd file and return its path."""


def treebank_file(files: Folder, rng: random.Random) -> Path:
    """Write an odd treebank and return its path."""
    suffix, content = next(odd_files(rng.getrandbits(32), 1))
    chance = rng.random()
    if chance < 0.4:
        suffix, content = ".conllu", list(input_mutants(rng.getrandbits(32), 10))[rng.randrange(10)]
    elif chance < 0.55:
        suffix = rng.choice((".mrg", ".xml", *COMPRESSED))
        whole = {".mrg": BRACKETS, ".xml": ALPINO}.get(suffix, SENTENCES).encode()
        content = flipped(COMPRESSED.get(suffix, bytes)(whole), rng)
        suffix = suffix if suffix in (".mrg", ".xml") else ".conllu" + suffix
    return files.write(f"bad{suffix}", content)


def treebank(files: Folder, rng: random.Random) -> Command:
    """Return a command that reads an odd treebank."""
    bad, out = treebank_file(files, rng), files.odd / "out"
    if rng.random() < 0.3:
        out.write_bytes(b"old")
    graph = files.models["graph"]
    parser = files.models[rng.choice(("graph", "constrained", "transition", "sampling"))]
    proofs = ("--valid", "ud", "--certificates", out.with_suffix(".gz"))
    train = (files.good, bad) if rng.random() < 0.3 else (bad, files.good)
    name, arguments = rng.choice(
        (
            ("parse", ("parse", parser, bad, "-o", out)),
            ("parse --valid", ("parse", graph, bad, "-o", out, *proofs)),
            ("tag", ("tag", files.models["tagging"], bad, "-o", out)),
            ("evaluate", ("evaluate", bad, rng.choice((bad, files.good)))),
            ("evaluate", ("evaluate", files.good, bad)),
            ("check", ("check", graph, bad)),
            ("jackknife", ("jackknife", bad, "-o", out, *QUICK)),
            ("train", ("train", *train, "-o", out, *QUICK, "--labels", "none")),
            ("mine", ("mine", bad, "-o", out.with_suffix(".tsv"), "--model", graph)),
        )
    )
    encoding = ("--encoding", rng.choice(ENCODINGS)) if rng.random() < 0.2 else ()
    return Command(f"treebank, {name}", [*arguments, *encoding], checks=name == "check")


def model(files: Folder, rng: random.Random) -> Command:
    """Return a command that reads a damaged or forged model file."""
    name = rng.choice(list(files.models))
    mutants = list(model_mutants(files.contents[name], rng.getrandbits(32), 8))
    path = files.write("model.npz", rng.choice(mutants)[1])
    verb = "tag" if name == "tagging" else rng.choice(("parse", "parse", "check"))
    output = () if verb == "check" else ("-o", files.odd / "out")
    return Command(f"model, {name}, {verb}", [verb, path, files.good, *output], checks=verb == "check")


def scores(files: Folder, rng: random.Random) -> Command:
    """Return a command that reads an odd file of scores."""
    path = files.write("scores.npz", odd_scores(rng))
    options: list[Any] = [x for x in ("--check", "--margins", "--marginals", "--multi-root") if rng.random() < 0.25]
    options += ["--k-best", rng.randint(1, 4)] if rng.random() < 0.2 else []
    options += ["--space", "non-projective"] if rng.random() < 0.4 else []
    decoder = rng.choice(("eisner", "chu-liu-edmonds", "carreras", "ad3", "beam", "ilp", "gibbs"))
    options += ["--decoder", decoder] if rng.random() < 0.15 else []
    return Command("scores, decode", ["decode", path, "-o", files.odd / "out", *options])


def settings(files: Folder, rng: random.Random) -> Command:
    """Return a command that reads an odd file of rules, patterns, constraints or features."""
    content = rng.choice((*FILES.values(), *SETTINGS, *SETTINGS, b'rules = ["leaf-det"]\n', b'drop = ["leaf-cc"]\n'))
    chance = rng.random()
    if chance < 0.4 and content:
        content = flipped(content, rng)
    elif chance < 0.7:
        lines = content.split(b"\n")
        row = rng.randrange(len(lines))
        lines[row : row + 1] = rng.choice(([], lines[row : row + 1] * 2, [lines[row].replace(b'"', b"")], lines[:3]))
        content = b"\n".join(lines)
    elif chance < 0.85:
        key = rng.choice(("rules", "drop", "base", "about", "x.match", "x.arcs", '"a b"'))
        content += f"\n{key} = {json.dumps(rng.choice(JUNK))}\n".encode("utf-8", "replace")
    path, out = files.write("settings.toml", content), files.odd / "out"
    train = ("train", files.good, files.good, "-o", out, "--epochs", 1)
    name, arguments = rng.choice(
        (
            ("--valid", ("parse", files.models["graph"], files.good, "-o", out, "--valid", path)),
            ("--patterns", (*train, "--bits", 12, "--families", "pattern", "--patterns", path)),
            ("--constraints", (*train, "--system", "constrained", "--bits", 6, "--constraints", path)),
            ("--features", (*train, "--system", "transition", "--bits", 8, "--features", path)),
        )
    )
    return Command(f"settings, {name}", list(arguments))


def _changed_claims(text: str, rng: random.Random) -> str:
    """Return parses in which a head, a label or a comment of some lines has another value."""
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 2))):
        row = rng.choice([i for i, line in enumerate(lines) if "\t" in line or "treebound" in line])
        if "\t" in lines[row]:
            fields = lines[row].split("\t")
            fields[rng.choice((6, 7))] = rng.choice((*FIELDS[:20], "0", "1", "2", "nsubj", "root"))
            lines[row] = "\t".join(fields)
        else:
            key, _, value = lines[row].partition(" = ")
            value = value.translate({ord(rng.choice("0123456789")): rng.choice("0123456789")})
            changed = rng.choice((*FIELDS[:20], "optimal", "gap", "limit", "infeasible", "none", "ud", "inf", "-inf"))
            lines[row] = rng.choice((f"{key} = {changed}", f"{key} = {value}", key, "", lines[row] + "\n" + lines[row]))
    return "\n".join(lines)


def claims(files: Folder, rng: random.Random) -> Command:
    """Return a command that checks changed parses or damaged proofs."""
    name = rng.choice(list(files.claims))
    path_of_model, honest, proofs, options = files.claims[name]
    text = _changed_claims(honest, rng) if rng.random() < 0.7 else honest
    parsed = files.write("parsed.conllu", text.encode("utf-8", "surrogatepass"))
    if rng.random() < 0.4:
        rows = proofs.split(b"\n")
        row = rng.randrange(len(rows) - 1)
        broken = flipped(rows[row], rng).replace(b"\n", b"")
        rows[row] = rng.choice((broken, rows[rng.randrange(len(rows))], b"null", b"{}"))
        proofs = b"\n".join(rows)
    packed = gzip.compress(proofs)
    path = files.write("proofs.gz", flipped(packed, rng) if rng.random() < 0.1 else packed)
    stored: list[Any] = ["--certificates", path] if rng.random() < 0.7 else []
    arguments = ["check", path_of_model, parsed, *stored, *options]
    return Command(f"claims, {name}, check", arguments, checks=True, claims=honest)


def many(files: Folder, rng: random.Random) -> Command:
    """Return a command that reads an odd list of models to train."""
    pair = {"train": str(files.good), "dev": str(files.good)}
    data: Any = {"settings": {"epochs": 1, "bits": 12}, "models": {"a": pair, "b": dict(pair)}}
    for _ in range(rng.choice((0, 1, 1, 2))):
        models = data["models"]
        target = rng.choice((data, models, *(x for x in models.values() if isinstance(x, dict))))
        key = rng.choice([*target, "x", "families", "a/b", "", "labels"])
        target[key] = rng.choice((*JUNK, "a/b", "..", str(files.good)))
        if not isinstance(data.get("models"), dict):
            break
    text = yaml.safe_dump(data).encode("utf-8", "replace")
    path = files.write("many.yaml", flipped(text, rng) if rng.random() < 0.4 else text)
    return Command("list, train-many", ["train-many", path, "-o", files.odd / "models"])


def line(files: Folder, rng: random.Random) -> Command:
    """Return a command with random options and arguments."""
    name, system = rng.choice(COMMANDS), rng.choice(list(TRAINED))
    parser, out = files.models[system], files.odd / "out"
    arguments: dict[str, list[Any]] = {
        "parse": [parser, files.good, "-o", out],
        "tag": [parser, files.good, "-o", out],
        "evaluate": [files.good, files.good],
        "check": [files.models["graph"], files.good.with_name("plain.conllu")],
        "train": [files.good, files.good, "-o", out, "--system", system, *TRAINED[system].split()],
        "decode": [files.good.with_name("scores.npz"), "-o", out],
        "jackknife": [files.good, "-o", out, *QUICK],
        "mine": [files.good, "-o", files.odd / "out.tsv", *QUICK, "--folds", 2],
        "train-many": [files.good, "-o", out],
    }
    words = [name, *arguments[name]]
    for _ in range(rng.choice((1, 1, 2, 3))):
        option = rng.choice(files.options[name] or ["--x"])
        value = rng.choice(PLAUSIBLE if rng.random() < 0.6 else ODD)
        words += [option] if rng.random() < 0.2 else [option, value]
    if rng.random() < 0.1:
        place = rng.randrange(1, len(words))
        words[place] = rng.choice((*PLAUSIBLE, *ODD, files.good.parent, files.good.with_name("none"), "--", "-x"))
    return Command(f"command line, {name}", words, checks=name == "check")


#: functions that return random commands, with the shares of cases
KINDS: dict[Callable[[Folder, random.Random], Command], float] = {
    treebank: 5.0, model: 2.0, scores: 4.0, settings: 2.0, claims: 3.0, many: 0.5, line: 4.0,
}  # fmt: skip
