"""Test proof files of the joint model: `check` verifies what `parse` writes, and no damaged file proves a false claim.

The false claims name other derivations of the same charts, with their true scores, as the best ones.
"""

from __future__ import annotations

import gzip
import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from ccg_corpus import write_auto
from test_ccg_system import call

import treebound
from treebound.checker.joint_proofs import decoded, encoded
from treebound.cli.checking import Checked, Claimed
from treebound.cli.checking_derivations import Checking, checked, read_off
from treebound.core.errors import InputError
from treebound.systems.ccg.decoding import Supertagged
from treebound.systems.ccg.joint import Joint
from treebound.systems.ccg.joint_search import proof, search
from treebound.systems.ccg.words import words_of
from treebound.treebanks.ccg.columns import heads_of
from treebound.treebanks.claims import number
from treebound.treebanks.document import stream

BEAMS = "0:1000"
EXACT = ("--beams", BEAMS, "--integrate", "exact", "--iterations", "1")  # few iterations, so that nodes are split


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a small model and its parses of some sentences with their proofs."""
    path = tmp_path_factory.mktemp("proofs")
    write_auto(path / "train.auto", 1, 60)
    write_auto(path / "dev.auto", 2, 40)
    sizes = {"chart_bits": 12, "tag_bits": 12, "tag_iterations": 5, "iterations": 5}
    options = [part for name, n in sizes.items() for part in (f"--{name.replace('_', '-')}", n)]
    call("train", path / "train.auto", path / "dev.auto", "-o", path / "m.npz", "--system", "ccg", *options)
    parse(path, "exact", *EXACT)
    return path


def parse(folder: Path, name: str, *options: str) -> None:
    files = ("-o", folder / f"{name}.conllu", "--certificates", folder / f"{name}.gz")
    call("parse", folder / "m.npz", folder / "dev.auto", *files, *options)


def check(folder: Path, name: str, *options: str, proofs: str = "") -> None:
    files = (folder / "m.npz", folder / f"{name}.conllu", "--certificates", folder / f"{proofs or name}.gz")
    call("check", *files, *(options or ("--beams", BEAMS)))


@pytest.mark.parametrize(
    ("name", "options", "summary"),
    [
        ("exact", EXACT, r"40 sentences: (3[0-9]|40) proved optimal(, \d with a proved bound)?"),
        ("dd", ("--beams", BEAMS, "--integrate", "dd", "--iterations", "3"), "with a proved bound"),
        ("bp", ("--beams", BEAMS, "--integrate", "bp"), "0 proved optimal, 40 claim a tree and its score alone"),
    ],
)
def test_written_proofs_are_verified(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, options: tuple[str, ...], summary: str
) -> None:
    if name != "exact":
        parse(folder, name, *options)
    check(folder, name)
    out, error = capsys.readouterr()
    assert (out, re.search(summary, error) is not None) == ("", True), error
    check(folder, name, "--beams", BEAMS, "--fast")
    assert "0 proved optimal" in capsys.readouterr().err


def test_fragments_must_agree_with_the_parser(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--beams", "0.5:1", "--limit", "12")
    parse(folder, "fragments", *options, "--integrate", "exact")
    with gzip.open(folder / "fragments.gz") as file:
        assert b"null\n" in file.readlines()
    check(folder, "fragments", *options)
    capsys.readouterr()
    text = (folder / "fragments.conllu").read_text()
    changed = re.sub(
        r"# treebound_score = (.*)\n# treebound_bound = inf", r"# treebound_score = 1\n# treebound_bound = inf", text
    )
    assert changed != text
    (folder / "fragments.conllu").write_text(changed)
    check(folder, "fragments", *options)
    assert "fragments differ from the parser's" in capsys.readouterr().out


def test_files_that_do_not_belong_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="the check of a CCG model needs its proofs"):
        call("check", folder / "m.npz", folder / "exact.conllu")
    with pytest.raises(InputError, match="only the joint model has proofs"):
        parse(folder, "none")
    check(folder, "exact", "--beams", "0.9:5")
    assert "words, variables and edges" in capsys.readouterr().out
    lines = gzip.decompress((folder / "exact.gz").read_bytes()).splitlines(keepends=True)
    for proof_lines, message in (
        (lines[:-1], "ends before"),
        ([*lines, b"null\n"], "goes on after"),
        ([lines[0].replace(b"derivations", b"projective"), *lines[1:]], "model needs proofs about derivations"),
    ):
        (folder / "other.gz").write_bytes(gzip.compress(b"".join(proof_lines)))
        with pytest.raises(InputError, match=message):
            check(folder, "exact", proofs="other")


class Sentence(NamedTuple):
    """A parsed sentence, its proof as JSON data, and a worse derivation of its chart.

    `text` is CoNLL-U. `false_text` is the same text with the claim that the worse derivation is the best. `worse_edges`
    lists the edges of the worse derivation.
    """

    text: str
    proof: dict[str, Any]
    false_text: str
    worse_edges: list[int]


@pytest.fixture(scope="module")
def setup(folder: Path) -> Checking:
    return Checking(treebound.load(folder / "m.npz", beams=(BEAMS,)), "exact.conllu", folder / "exact.gz")


@pytest.fixture(scope="module")
def sentences(folder: Path, setup: Checking) -> list[Sentence]:
    """Return the sentences that have a worse derivation."""
    texts = (folder / "exact.conllu").read_text().split("\n\n")
    with gzip.open(folder / "exact.gz") as file:
        proofs = [json.loads(line) for line in file.readlines()[1:]]
    result = []
    for text, data in zip(texts, proofs, strict=False):
        document = next(stream(io.BytesIO(f"{text}\n\n".encode()), 1, annotated=False))
        words = words_of(document.treebank, "xpos")
        joint = setup.charts.joint(Supertagged(setup.parser.model.tagger, words), 0)
        assert joint is not None
        if (inferior := worse(joint, data["derivation"])) is not None:
            value, edges = inferior
            derivation = read_off(joint, edges, words.strings)
            names = [str(leaf.category) for leaf in derivation.leaves()]
            false = replaced(f"{text}\n\n", heads_of(derivation), names)
            result.append(Sentence(f"{text}\n\n", data, claiming(false, value, value, "optimal"), edges))
    return result


def worse(joint: Joint, edges: list[int]) -> tuple[float, list[int]] | None:
    """Return (score, edges) of a derivation that scores less than the best derivation, or None if none is found.

    A category of the best derivation is forbidden: the first one without which the best score is lower.
    """
    graph, possible = joint.packed.chart.graph, joint.possible
    best = search(joint, 50, 100)
    assert best is not None
    for v in [int(graph.var[e]) for e in edges if graph.var[e] < len(possible)]:
        joint.possible = possible & (np.arange(len(possible)) != v)
        result = search(joint, 50, 100)
        joint.possible = possible
        if result is not None and result[0].value < best[0].value:
            return result[0].value, proof(joint, *result).derivation
    return None


def replaced(text: str, heads: list[int], categories: list[str]) -> str:
    lines, position = text.split("\n"), 0
    for i, line in enumerate(lines):
        if "\t" in line:
            fields = line.split("\t")
            lines[i] = "\t".join([*fields[:6], str(heads[position]), categories[position], *fields[8:]])
            position += 1
    return "\n".join(lines)


def claiming(text: str, score: float, bound: float, status: str) -> str:
    for key, value in (("score", number(score)), ("bound", number(bound)), ("status", status)):
        text = re.sub(rf"(?m)^# treebound_{key} = .*$", f"# treebound_{key} = {value}", text)
    return text


def check_claim(setup: Checking, text: str, data: Any) -> Checked:
    document = next(stream(io.BytesIO(text.encode()), 1, annotated=False))
    return checked(setup, Claimed(1, document, (2, json.dumps(data).encode())))


def test_claims_of_every_kind(setup: Checking, sentences: list[Sentence]) -> None:
    assert len(sentences) > 8
    assert sum(len(sentence.proof["nodes"]) > 1 for sentence in sentences) > 3
    for sentence in sentences[:8]:
        assert check_claim(setup, sentence.text, sentence.proof) == Checked([], "optimal")
        assert check_claim(setup, sentence.text, encoded(decoded(sentence.proof))) == Checked([], "optimal")
        assert check_claim(setup, sentence.text, None).verdict == "faulty"
        (score,) = map(float, re.findall("# treebound_score = (.*)", sentence.text))
        for claim, verdict in (
            ((score, score + 1, "gap"), "bounded"),
            ((score, score + 1, "optimal"), "faulty"),
            ((score, score, "limit"), "bounded"),
            ((score, np.inf, "heuristic"), "scored"),
            ((score, score, "heuristic"), "faulty"),
            ((score, np.inf, "gap"), "scored"),
            ((score, score - 1, "gap"), "faulty"),
            ((score + 2**-20, score + 2**-20, "optimal"), "faulty"),
            ((score + 2**-24, score + 2**-24, "optimal"), "faulty"),
            ((score - 1, score, "gap"), "faulty"),
            ((-np.inf, -np.inf, "infeasible"), "faulty"),
        ):
            assert check_claim(setup, claiming(sentence.text, *claim), sentence.proof).verdict == verdict, claim


def test_claims_that_are_not_verified_are_named(setup: Checking, sentences: list[Sentence]) -> None:
    more = "# treebound_kbest = 1: 0\n# treebound_kbest_complete = yes\n# treebound_valid = ud\n# treebound_status"
    answer = check_claim(setup, sentences[0].text.replace("# treebound_status", more, 1), sentences[0].proof)
    assert answer.verdict == "optimal"
    assert answer.ignored == {
        "lists of k best trees",
        "that lists of k best trees are complete",
        "that trees keep rules",
    }


def test_heads_and_categories_must_agree_with_the_derivation(setup: Checking, sentences: list[Sentence]) -> None:
    for sentence in sentences[:8]:
        lines = sentence.text.split("\n")
        for i, line in enumerate(lines):
            for column, value in ((6, "1"), (7, "S/S")):
                fields = line.split("\t")
                if len(fields) > 7 and fields[column] != value and not (column == 6 and fields[0] == "1"):
                    fields[column] = value
                    text = "\n".join([*lines[:i], "\t".join(fields), *lines[i + 1 :]])
                    assert check_claim(setup, text, sentence.proof).verdict == "faulty"
        assert (
            check_claim(setup, sentence.false_text, sentence.proof).verdict == "faulty"
        )  # the proof has another derivation


def damaged(rng: np.random.Generator, data: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of the proof with one number, list or entry changed."""
    data = json.loads(json.dumps(data))
    nodes = data.get("nodes")
    try:
        decoded(data)
    except (TypeError, ValueError, KeyError, AttributeError):
        return data
    if not nodes:
        return data
    node = nodes[int(rng.integers(len(nodes)))]
    odd = [-1, 0, 1, 2, 10**30, -(10**30), 0.5, True, None, "1", [1], {}]
    value = odd[int(rng.integers(len(odd)))] if rng.random() < 0.4 else int(rng.integers(-3, 60))
    kind = int(rng.integers(9))
    if kind == 0:
        data[str(rng.choice(["words", "variables", "edges", "derivation", "nodes", "more"]))] = value
    elif kind == 1:
        del data[str(rng.choice(list(data)))]
    elif kind == 2:
        data["derivation"][int(rng.integers(len(data["derivation"])))] = value
    elif kind == 3:
        node[int(rng.integers(3))] = value
    elif kind == 4:
        node[3], node[4] = [*node[3], data["variables"] - int(rng.integers(-2, 3))], [*node[4], 10**12]
    elif kind == 5 and node[3]:
        node[3 + int(rng.integers(2))][int(rng.integers(len(node[3])))] = value
    elif kind == 6 and node[3]:
        index = int(rng.integers(len(node[4])))
        node[4][index] = int(node[4][index] * rng.choice([-1, 0, 2, 100]))
    elif kind == 7:
        del nodes[int(rng.integers(len(nodes)))]
    else:
        nodes.append(node)
    return data


def test_no_damage_makes_a_worse_derivation_pass_for_the_best(setup: Checking, sentences: list[Sentence]) -> None:
    """Check that proofs of the claim that the worse derivation is the best are refused, whatever their damage.

    The proofs contain the worse derivation with its true score, but the nodes of the search for the best derivation.
    """
    rng, counts = np.random.default_rng(1), Counter[str]()
    for sentence in sentences:
        lie = sentence.proof | {"derivation": sentence.worse_edges}
        honest = claiming(
            sentence.false_text,
            float(re.findall("# treebound_score = (.*)", sentence.false_text)[0]),
            np.inf,
            "heuristic",
        )
        assert check_claim(setup, honest, lie).verdict == "scored"
        assert check_claim(setup, sentence.false_text, lie).verdict == "faulty"
        for _ in range(100):
            outcome = verdict(
                setup, sentence.false_text, damaged(rng, damaged(rng, lie) if rng.random() < 0.5 else lie)
            )
            assert outcome in ("faulty", "unreadable")
            counts[outcome] += 1
    assert min(counts.values()) > 100


def verdict(setup: Checking, text: str, data: Any) -> str:
    try:
        return check_claim(setup, text, data).verdict
    except InputError as error:
        if "not a certificate of this sentence" not in str(error):
            raise
        return "unreadable"
