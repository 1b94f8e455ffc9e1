"""Files with unusual characters are written byte for byte as they were read, except for treebound's own values.

Cells and comments hold every Unicode blank, control and private-use character, and letters that are split into
combining characters. Every command writes the content that the reader accepted, and the reader reads the output.
"""

from __future__ import annotations

import io
import random
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from test_cli import run

from treebound.treebanks.document import read

FORBIDDEN = "\t\n\r\0"
#: all blank, control, format and line-separating characters, and a few private-use characters
ODD = [
    c
    for c in map(chr, range(0x11_0000))
    if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp", "Zs"} and c not in FORBIDDEN
] + [
    "\ue000",
    "\uf8ff",
    "\U000f0000",
    "\U0010fffd",
    "\ufffe",
    "\u0301",
    "\U0001f600",
    "|",
    "=",
    "#",
    "_",
    '"',
    "\\",
    " ",
]
FILES = 25
OURS = re.compile(r"# treebound_\w+ = .*")
TAGS = ["\u00a0p. ", "v\u2003", "n", ". |"]
LABELS = ["obj ", "\u00a0nsubj", "root\x85", "punct"]


def cell(rng: random.Random) -> str:
    """Return a value of one to four characters, or `_`."""
    if rng.random() < 0.3:
        return "_"
    return "".join(rng.choice(ODD if rng.random() < 0.7 else "abé語") for _ in range(rng.randint(1, 4)))


def misc(rng: random.Random) -> str:
    """Return a MISC value, some of whose items resemble the items that treebound writes."""
    items = [
        "SpacesAfter=\u00a0",
        "SpacesAfter=\\s\u3000",
        "Margin=left",
        "Marginal=Yes",
        "Gloss= x ",
        cell(rng),
        "\u3000",
    ]
    return "|".join(rng.sample(items, rng.randint(1, 3)))


def comment(rng: random.Random) -> str:
    bodies = [
        " status = reviewed by hand",
        " score = 4.5 of 5",
        " bound = volume 3",
        "Status = kept",
        cell(rng) + "\t" + cell(rng),
    ]
    return "#" + rng.choice(bodies)


def odd_file(rng: random.Random) -> str:
    """Return a treebank of a few sentences, with ranges and empty words."""
    lines = []
    for _ in range(rng.randint(1, 4)):
        lines += [comment(rng) for _ in range(rng.randint(0, 4))]
        n = rng.randint(1, 6)
        for i in range(1, n + 1):
            if rng.random() < 0.2 and i < n and i % 2:  # ranges may not overlap
                lines.append("\t".join([f"{i}-{i + 1}", cell(rng), *"_______", misc(rng)]))
            head, label = (0, LABELS[2]) if i == 1 else (1, rng.choice(LABELS))
            lines.append(
                "\t".join([str(i), cell(rng), cell(rng), rng.choice(TAGS), rng.choice(TAGS), cell(rng), str(head)])
                + f"\t{label}\t{cell(rng)}\t{misc(rng) if rng.random() < 0.7 else '_'}"
            )
            if rng.random() < 0.15:
                lines.append("\t".join([f"{i}.1", cell(rng), *"___", cell(rng), "_", "_", cell(rng), misc(rng)]))
        lines.append("")
    return "\n".join(lines) + "\n"


def without(columns: tuple[int, ...]) -> Callable[[str], list[str]]:
    """Return a function that lists the lines of a text without some columns.

    It also leaves out the comments and the MISC items that treebound writes.
    """

    def without_ours(text: str) -> list[str]:
        lines = []
        for line in text.split("\n"):
            fields = line.split("\t")
            if not line.startswith("#") and len(fields) == 10 and fields[0].isdigit():
                for column in columns:
                    fields[column] = ""
                items = [item for item in fields[9].split("|") if not item.startswith("Treebound")]
                fields[9] = "|".join(items) or "_"
                line = "\t".join(fields)
            if not OURS.fullmatch(line):
                lines.append(line)
        return lines

    return without_ours


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a parser and a tagger that are trained on odd files, with tags and labels of odd characters."""
    folder = tmp_path_factory.mktemp("lossless")
    rng = random.Random(11)
    (folder / "train.conllu").write_text("".join(odd_file(rng) for _ in range(20)), encoding="utf-8", newline="\n")
    files = {"train": folder / "train.conllu"}
    for name, options in {
        "parser": ("--epochs", 1, "--bits", 14, "--tag", "xpos"),
        "tagger": ("--system", "tagging", "--epochs", 1),
    }.items():
        files[name] = folder / f"{name}.npz"
        done = run("train", *options, files["train"], files["train"], "-o", files[name])
        assert done.returncode == 0, done.stderr
    return files


def attack(models: dict[str, Path], folder: Path, seed: int) -> None:
    """Check one odd file through the reader and writer and through all commands that write treebanks."""
    text = odd_file(random.Random(seed))
    source, target = folder / "in.conllu", folder / "out.conllu"
    source.write_text(text, encoding="utf-8", newline="\n")
    copy = io.BytesIO()
    document = read(source)
    document.write(copy)
    assert copy.getvalue().decode() == text
    labels = [document.treebank.strings("deprel")[a:b] for a, b in _spans(document.treebank.offsets)]
    copy = io.BytesIO()
    document.write(copy, labels=labels)
    assert copy.getvalue().decode() == text, "values that were read can be written"
    commands: list[tuple[tuple[object, ...], tuple[int, ...]]] = [
        (("parse", models["parser"]), (6, 7)),
        (("parse", models["parser"], "--margins", "--marginals", "--k-best", 2), (6, 7)),
        (("tag", models["tagger"]), (2, 3, 4, 5)),
    ]
    for command, columns in commands:
        done = run(*command, source, "-o", target)
        assert done.returncode == 0, done.stderr
        remaining = without(columns)
        output = target.read_bytes().decode()
        assert remaining(output) == remaining(text), command
        read(target)
    reread = folder / "again.conllu"
    done = run("parse", models["parser"], source, "-o", target)
    done = run("parse", models["parser"], target, "-o", reread)
    assert done.returncode == 0, done.stderr
    assert reread.read_bytes() == target.read_bytes(), "treebound's own comments are replaced by equal ones"


def _spans(offsets) -> list[tuple[int, int]]:
    return list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))


@pytest.mark.parametrize("seed", range(FILES))
def test_odd_files_come_back(seed: int, models: dict[str, Path], tmp_path: Path) -> None:
    attack(models, tmp_path, seed)


def test_training_reads_the_output_of_jackknifing(models: dict[str, Path], tmp_path: Path) -> None:
    done = run("jackknife", models["train"], "-o", tmp_path / "out.conllu")
    assert done.returncode == 0, done.stderr
    remaining = without((3, 4, 5, 2))
    assert remaining((tmp_path / "out.conllu").read_bytes().decode()) == remaining(
        models["train"].read_bytes().decode()
    )


@pytest.mark.long
def test_many_odd_files_come_back(models: dict[str, Path], tmp_path: Path) -> None:
    for seed in range(1000, 1400):
        attack(models, tmp_path, seed)
