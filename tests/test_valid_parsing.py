"""Parses under the rules of the validator: valid for the official validator, and optimal for an integer program."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from synthetic import synthetic_treebank
from test_cli import assert_one_line, run
from universal_treebanks import universal, written

import treebound
from treebound.cli import annotate
from treebound.constraints import CONSTRAINTS, TREE
from treebound.constraints.rows import Words
from treebound.constraints.ud import load
from treebound.core.labelled import best_labels
from treebound.decoders.confidence import Assess
from treebound.decoders.exact import valid_trees
from treebound.decoders.exact.programs.incremental import IncrementalProgram
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser, _table
from treebound.systems.registry import SYSTEMS
from treebound.treebanks.document import read

VALIDATOR = Path(sys.executable).with_name("udvalidate")


def errors(path: Path) -> set[tuple[str, str]]:
    """Return (sentence, rule) of every error that the real validator reports for rules of the set `ud`."""
    command = [VALIDATOR, path, "--level", "3", "--lang", "ud", "--max-err", "0", "--include-only", *load("ud").ids]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    lines = [line for line in (done.stderr + done.stdout).splitlines() if "[Line" in line and "WARNING" not in line]
    return {(line.split("Sent ")[1].split("]")[0], line.split("[L")[2].split("]")[0].split()[-1]) for line in lines}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("valid")
    written(universal(synthetic_treebank(150, 1, 14)), folder / "train.conllu")
    written(universal(synthetic_treebank(40, 2, 14)), folder / "dev.conllu")
    written(universal(synthetic_treebank(150, 3, 12)), folder / "test.conllu")
    written(universal(synthetic_treebank(6, 4, 8)), folder / "few.conllu")
    for name, families in (("model", "adjacent-sibling,grandchild,sibling"), ("arcs", "")):
        done = run("train", folder / "train.conllu", folder / "dev.conllu", "-o", folder / f"{name}.npz",
                   "--epochs", 1, "--bits", 14, "--families", families)  # fmt: skip
        assert done.returncode == 0, done.stderr
    return folder


def test_written_parses_pass_the_validator_and_are_proved(folder: Path, tmp_path: Path) -> None:
    for name, options in (("plain", ()), ("valid", ("--valid", "ud"))):
        done = run("parse", folder / "model.npz", folder / "test.conllu", "-o", tmp_path / f"{name}.conllu", *options)
        assert done.returncode == 0, done.stderr
    assert len(errors(tmp_path / "plain.conllu")) > 10
    assert errors(tmp_path / "valid.conllu") == set()
    text = (tmp_path / "valid.conllu").read_text()
    assert text.count("# treebound_valid = ud\n") == text.count("# treebound_status = optimal\n") == 150


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_the_tree_is_that_of_the_integer_program(folder: Path, space: str) -> None:
    treebank = read(folder / "test.conllu").treebank
    parser = treebound.load(folder / "arcs.npz", valid="ud", k=None, space=space)
    program = IncrementalProgram([*TREE, CONSTRAINTS["ud"](rules="ud")], space=space)
    table, parses = _table(parser.model, treebank), parser.parse(treebank)
    searched = [i for i, parse in enumerate(parses) if parse.work["regions"] > 1][:12]
    assert len(searched) == 12
    changed = 0
    for i in [*searched, *range(5)]:
        words = parser.validity.words(treebank, i)
        scores = parser.validity.decoder(table, i, words).scores
        best = program.decode_labelled(best_labels(scores.problem, scores.table, 99, scores.names), words)
        assert parses[i].status == "optimal"
        assert best.status == "optimal"
        assert parses[i].value == pytest.approx(best.value, abs=0.5)
        changed += parses[i].value < parser.decoder.decode(scores.problem.with_arc(scores.table.max(axis=1))).value
    assert changed >= 12


def test_workers_and_batches_change_nothing(folder: Path) -> None:
    treebank = read(folder / "test.conllu").treebank
    parser = treebound.load(folder / "model.npz", valid="ud")
    alone, together = parser.parse(treebank), parser.parse(treebank, workers=2)
    for a, b in zip(alone, together, strict=True):
        assert a.heads.tolist() == b.heads.tolist()
        assert a.labels.tolist() == b.labels.tolist()
        assert a.value == b.value


def test_k_best_trees_and_margins_are_those_of_valid_trees(folder: Path) -> None:
    treebank = read(folder / "test.conllu").treebank
    some = treebank.select(np.flatnonzero(treebank.lengths <= 7)[:20])
    parser = treebound.load(folder / "model.npz", valid="ud")
    for i, parse in enumerate(parser.parse(some, confidence=Assess(margins=True, k=3))):
        trees = parse.confidence.trees
        assert trees[0].value == parse.value
        assert [t.value for t in trees] == sorted(t.value for t in trees)[::-1]
        search = parser.validity.decoder_of(_table(parser.model, some), i, parser.validity.words(some, i), parse)
        assert all(search.violation(tree) is None for tree in trees)
        for m in range(1, len(parse.heads)):
            others = [tree.value for tree in trees if tree.heads[m] != parse.heads[m]]
            assert not others or parse.confidence.margins[m] == parse.value - others[0]


def test_sentences_without_a_valid_tree_are_named_and_written(folder: Path, tmp_path: Path) -> None:
    for name in ("train", "dev"):  # no label of this model is allowed at the root
        text = (folder / f"{name}.conllu").read_text().replace("\troot\t", "\tdep\t")
        (tmp_path / f"{name}.conllu").write_text(text)
    done = run("train", tmp_path / "train.conllu", tmp_path / "dev.conllu", "-o", tmp_path / "rootless.npz",
               "--epochs", 1, "--bits", 12, "--families", "")  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = tmp_path / "text.conllu"
    text.write_text("".join(f"1\tv{i}\tv{i}\tVERB\tVERB\t_\t_\t_\t_\t_\n\n" for i in range(12)))
    done = run("parse", tmp_path / "rootless.npz", text, "--valid", "ud", "--certificates", tmp_path / "proofs.jsonl",
               "--k-best", 2)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (tmp_path / "parsed.conllu").write_text(done.stdout)
    for options in (("--certificates", tmp_path / "proofs.jsonl"), ()):
        checked = run("check", tmp_path / "rootless.npz", tmp_path / "parsed.conllu", "--valid", "ud", *options)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert "12 proved to have no tree; 0 faults" in checked.stderr
    for old, new, fault in (
        ("score = ", "score = 1", "sentence 1: the tree scores "),
        ("kbest = ", "kbest = 1", "sentence 1: tree 1 of kbest: the tree scores "),
        ("\t0\tdep", "\t0\tnsubj", "sentence 1: word 1: label nsubj, the model's is dep"),
    ):
        assert old in done.stdout
        (tmp_path / "forged.conllu").write_text(done.stdout.replace(old, new, 1))
        checked = run("check", tmp_path / "rootless.npz", tmp_path / "forged.conllu", "--valid", "ud")
        assert checked.returncode == 1, checked.stderr
        assert fault in checked.stdout
    assert done.stdout.count("# treebound_valid = none") == 12
    assert done.stdout.count("\t0\tdep\t") == 12
    assert "sentence 1: no tree of its arcs keeps the rules 0-is-not-root of ud" in done.stderr
    assert "12 of 12 sentences" in done.stderr


def test_a_search_that_gives_up_claims_nothing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valid_trees, "MOST_WORK", 0)
    monkeypatch.setattr(valid_trees, "MOST_DIVES", 0)
    document = read(folder / "test.conllu")
    model = Model.load(folder / "model.npz")
    written = annotate.parsed(annotate.Parsing(Parser(model, valid="ud")), document)
    given_up = [failed.sentence for failed in written.invalid if not failed.proved]
    assert given_up
    assert len(given_up) == len(written.invalid)
    assert written.text.decode().count("# treebound_valid = unknown") == len(given_up)
    (tmp_path / "parsed.conllu").write_bytes(written.text)
    checked = run("check", folder / "model.npz", tmp_path / "parsed.conllu", "--valid", "ud")
    assert checked.returncode == 0, checked.stdout
    assert f"{len(given_up)} claim a tree and its score alone" in checked.stderr
    claim = "heuristic\n# treebound_valid = unknown"
    forged = written.text.decode().replace(claim, claim.replace("heuristic", "optimal"), 1)
    (tmp_path / "forged.conllu").write_text(forged)
    checked = run("check", folder / "model.npz", tmp_path / "forged.conllu", "--valid", "ud")
    assert checked.returncode == 1
    assert "the tree is called optimal" in checked.stdout


def test_a_foreign_tagset_is_reported_with_the_rules_that_it_disables(folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.conllu"
    text.write_text("1\tv1\tv1\tVBZ\tVERB\t_\t_\t_\t_\t_\n2\tn1\tn1\tNN\tNOUN\t_\t_\t_\t_\t_\n\n")
    done = run("parse", folder / "model.npz", text, "--valid", "ud")
    assert done.returncode == 0, done.stderr
    assert "NN" in done.stderr
    assert "rel-upos-aux" in done.stderr
    assert "too-many-subjects" not in done.stderr
    assert "# treebound_valid = ud" in done.stdout


def test_wrong_arguments_give_one_line(folder: Path, tmp_path: Path) -> None:
    done = run("parse", folder / "model.npz", folder / "test.conllu", "--valid", "nonsense")
    assert_one_line(done, "nonsense", "choose from ud")
    (tmp_path / "rules.toml").write_text('rules = ["leaf-nothing"]\n')
    done = run("parse", folder / "model.npz", folder / "test.conllu", "--valid", tmp_path / "rules.toml")
    assert_one_line(done, "rules.toml", "leaf-nothing")


@pytest.mark.parametrize("name", ["none", "unknown", "mine, all arcs", "my\nrules", " mine", "mine "])
def test_rules_whose_name_has_another_meaning_in_a_comment_are_refused(folder: Path, tmp_path: Path, name: str) -> None:
    rules = tmp_path / f"{name}.toml"
    rules.write_text('rules = ["leaf-det"]\n')
    done = run("parse", folder / "model.npz", folder / "test.conllu", "--valid", rules)
    assert_one_line(done, f"rules cannot be called {name!r}", "rename the file")


def test_a_model_without_labels_or_with_other_labels_is_refused(folder: Path) -> None:
    system = SYSTEMS["graph"]()
    train, dev = universal(synthetic_treebank(30, 1, 8)), universal(synthetic_treebank(10, 2, 8))
    settings = system.settings(families=(), epochs=1, bits=12, labels="second-stage", pruner_folds=0)
    with pytest.raises(treebound.InputError, match="does not choose labels with the tree"):
        Parser(system.train(settings, train, dev), valid="ud")
    joint_model = system.train(
        replace(settings, labels="joint"), synthetic_treebank(30, 1, 8), synthetic_treebank(10, 2, 8)
    )
    with pytest.raises(treebound.InputError, match="labels of Universal Dependencies"):
        Parser(joint_model, valid="ud")


@pytest.fixture(scope="module")
def parsed(folder: Path) -> Path:
    done = run("parse", folder / "model.npz", folder / "test.conllu", "-o", folder / "parsed.conllu",
               "--valid", "ud", "--certificates", folder / "proofs.jsonl")  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "parsed.conllu"


def test_proofs_are_checked_from_a_file_and_as_a_search_proposes_them(folder: Path, parsed: Path) -> None:
    for options in (("--certificates", folder / "proofs.jsonl"), ()):
        done = run("check", folder / "model.npz", parsed, "--valid", "ud", *options)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "150 sentences: 150 proved optimal; 0 faults" in done.stderr


def test_bounds_of_limited_searches_are_proved(folder: Path, tmp_path: Path) -> None:
    parsed, proofs = tmp_path / "parsed.conllu", tmp_path / "proofs.gz"
    done = run("parse", folder / "model.npz", folder / "test.conllu", "--valid", "ud", "-o", parsed,
               "--certificates", proofs, "--max-dp-calls", 1)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert parsed.read_text().count("# treebound_status = limit\n") >= 5
    for options in (("--certificates", proofs), ()):
        done = run("check", folder / "model.npz", parsed, "--valid", "ud", *options)
        assert done.returncode == 0, done.stdout
        assert "with a proved bound; 0 faults" in done.stderr


def test_rules_must_be_those_of_the_parse(folder: Path, parsed: Path) -> None:
    done = run("check", folder / "model.npz", parsed)
    assert done.returncode == 1
    assert "use the same --valid" in done.stdout
    proofs = folder / "proofs.jsonl"
    assert_one_line(run("check", folder / "model.npz", parsed, "--certificates", proofs), "about valid trees")
    done = run("check", folder / "model.npz", parsed, "--valid", "ud-warnings")
    assert done.returncode == 1
    assert "not claimed to keep the rules ud-warnings" in done.stdout


def test_a_tree_that_breaks_a_rule_is_found(folder: Path, parsed: Path, tmp_path: Path) -> None:
    lines = parsed.read_text().splitlines(keepends=True)
    changed = next(i for i, line in enumerate(lines) if line.split("\t")[7:8] == ["root"])
    lines[changed] = lines[changed].replace("\troot\t", "\tobj\t")
    (tmp_path / "changed.conllu").write_text("".join(lines))
    done = run("check", folder / "model.npz", tmp_path / "changed.conllu", "--valid", "ud", "--fast")
    assert done.returncode == 1
    assert "its labels break the rule 0-is-not-root" in done.stdout


def test_forged_lists_of_valid_trees_are_found(folder: Path, tmp_path: Path) -> None:
    """The second tree of a list gets another score, or breaks a rule."""
    parsed = tmp_path / "parsed.conllu"
    done = run("parse", folder / "model.npz", folder / "few.conllu", "--valid", "ud", "--k-best", 3, "-o", parsed)
    assert done.returncode == 0, done.stderr
    text = parsed.read_text()
    honest = run("check", folder / "model.npz", parsed, "--valid", "ud")
    assert honest.returncode == 0, honest.stdout
    score, heads = re.search(r"kbest = [^|\n]* \| (-?\d+): ([\d ]+) \|", text).groups()  # type: ignore[union-attr]
    root = " ".join("0" for _ in heads.split())
    for forged in (
        text.replace(f"| {score}:", f"| {int(score) - 1}:", 1),
        text.replace(f": {heads} |", f": {root} |", 1),
    ):
        assert forged != text
        parsed.write_text(forged)
        done = run("check", folder / "model.npz", parsed, "--valid", "ud")
        assert done.returncode == 1, done.stderr
        assert "tree 2 of kbest: " in done.stdout


def test_a_better_valid_tree_is_found(folder: Path, parsed: Path, tmp_path: Path) -> None:
    """The second best valid tree with its own score and status `optimal` fails the check."""
    treebank = read(folder / "test.conllu").treebank
    some = treebank.select(np.flatnonzero(treebank.lengths >= 6)[:1])
    parser = treebound.load(folder / "model.npz", valid="ud")
    (parse,) = parser.parse(some, confidence=Assess(k=2))
    second = parse.confidence.trees[1]
    labelled = parser.validity.labelled(second, some, 0, parser.validity.statement(some, 0, None, False))
    path = written(some.with_heads(second.heads[1:]), tmp_path / "second.conllu")
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    for row, label in zip([row for row in rows if len(row) > 1], parser.label_names(labelled), strict=True):
        row[7] = label
    claims = [f"# treebound_score = {second.value:.0f}", f"# treebound_bound = {second.value:.0f}"]
    claims += ["# treebound_status = optimal", "# treebound_valid = ud"]
    path.write_text("\n".join([*claims, *("\t".join(row) for row in rows), ""]))
    done = run("check", folder / "model.npz", path, "--valid", "ud")
    assert done.returncode == 1, done.stderr
    assert "is not closed" in done.stdout


WORDS = Words.of(["They", "see", "it"], ["PRON", "VERB", "PRON"])


def test_decode_returns_the_best_valid_tree_of_scores() -> None:
    rng = np.random.default_rng(1)
    names = ("nsubj", "obj", "root", "punct")
    program = IncrementalProgram([*TREE, CONSTRAINTS["ud"](assume_empty=True)], space="projective")
    changed = 0
    for _ in range(20):
        arc = rng.integers(-5, 6, (4, 4)).astype(float)
        labels = rng.integers(-5, 6, (4, 4, 4)).astype(float)
        parse = treebound.decode(arc, labels=labels, label_names=names, words=WORDS, valid="ud")
        best = treebound.decode(arc, labels=labels, label_names=names, words=WORDS, decoder="incremental-ilp",
                                constraints=program.constraints, space="projective")  # fmt: skip
        assert parse.status == "optimal"
        assert parse.value == pytest.approx(best.value)
        changed += parse.value < treebound.decode(arc, labels=labels).value
    assert changed > 10
    listed = treebound.decode(arc, labels=labels, label_names=names, words=WORDS, valid="ud", k_best=2, margins=True)
    assert listed.confidence.trees[0].value == parse.value


@pytest.mark.parametrize(
    ("how", "part"),
    [
        ({"valid": 3}, "valid is a int"),
        ({"valid": "nothing"}, "no set of validity rules"),
        ({"label_names": None}, "label_names are not given"),
        ({"label_names": ["nsubj"]}, "label_names has 1"),
        ({"words": None}, "words is a NoneType"),
        ({"label_names": ["punct", "obj"]}, "admit no tree that satisfies 0-is-not-root"),
        ({"constraints": [*TREE]}, "constraints and valid are given together"),
    ],
)
def test_faults_of_decode(how: dict, part: str) -> None:
    settings = {"labels": np.zeros((4, 4, 2)), "label_names": ["root", "obj"], "words": WORDS, "valid": "ud"} | how
    with pytest.raises(treebound.InputError, match=part):
        treebound.decode(np.zeros((4, 4)), **settings)


def test_the_constrained_system_keeps_the_rules(folder: Path, tmp_path: Path) -> None:
    done = run("train", folder / "train.conllu", folder / "dev.conllu", "-o", tmp_path / "labelled.npz",
               "--system", "constrained", "--epochs", 1, "--bits", 14)  # fmt: skip
    assert done.returncode == 0, done.stderr
    some = written(read(folder / "test.conllu").treebank.select(np.arange(40)), tmp_path / "some.conllu")
    for name, options in (("plain", ()), ("valid", ("--valid", "ud"))):
        done = run("parse", tmp_path / "labelled.npz", some, "-o", tmp_path / f"{name}.conllu", *options)
        assert done.returncode == 0, done.stderr
    assert len(errors(tmp_path / "plain.conllu")) > 5
    assert errors(tmp_path / "valid.conllu") == set()
