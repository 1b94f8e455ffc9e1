"""Score files: the command `treebound decode` and the files that it refuses."""

from __future__ import annotations

import ast
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic import synthetic_treebank
from test_cli import assert_one_line, run

import treebound
from studies.qian_liu_2013.speed import all_heads
from studies.site.execute import execute
from treebound.core.errors import InputError, TreeboundError
from treebound.core.parse import Parse
from treebound.scores import archive, command
from treebound.scores.command import decoded
from treebound.treebanks import document, storage

REPOSITORY = Path(__file__).parents[1]
SIZES = [3, 1, 6]
NAMES = ["subj", "obj"]
FORMS = [f"w{i}" for i in range(sum(SIZES))]


@pytest.fixture
def scores() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    sizes = [(n + 1, n + 1) for n in SIZES]
    return [{"arc": rng.normal(size=s).astype(np.float32), "labels": rng.normal(size=(*s, 2))} for s in sizes]


def packed(scores: list[dict[str, Any]]) -> dict[str, Any]:
    arc = np.concatenate([x["arc"].ravel() for x in scores])
    labels = np.concatenate([x["labels"].reshape(-1, 2) for x in scores])
    return {"n": SIZES, "arc": arc, "labels": labels, "label_names": NAMES, "forms": FORMS}


@pytest.mark.parametrize("form", ["packed", "listed", "positional"])
@pytest.mark.parametrize("workers", [1, 2])
def test_trees_of_a_file(scores: list[dict[str, Any]], form: str, workers: int, tmp_path: Path) -> None:
    path, out = tmp_path / "scores.npz", tmp_path / "parsed.conllu"
    if form == "positional":
        scores = [{"arc": x["arc"]} for x in scores]
        np.savez_compressed(path, *(x["arc"] for x in scores))
    elif form == "packed":
        np.savez(path, **packed(scores))
    else:
        members = {f"{name}_{i}": x[name] for i, x in enumerate(scores) for name in x}
        np.savez(path, label_names=NAMES, forms=FORMS, **members)
    options = ["--space", "non-projective", "--k-best", 3, "--margins", "--marginals", "--check", "--workers", workers]
    done = run("decode", path, "-o", out, *options)
    assert done.returncode == 0, done.stderr
    parsed = document.read(out)
    assert len(parsed) == len(SIZES)
    assert [s.strings("form") for s in parsed.treebank] == (
        [["_"] * n for n in SIZES] if form == "positional" else [FORMS[:3], FORMS[3:4], FORMS[4:]]
    )
    for i, x in enumerate(scores):
        parse = treebound.decode(**x, space="non-projective", k_best=3)
        assert parsed.treebank.heads(i).tolist() == parse.heads.tolist()
        assert f"# treebound_score = {parse.value!r}\n" in parsed.blocks[i]
        assert "# treebound_status = optimal\n" in parsed.blocks[i]
        assert any(line.startswith("# treebound_kbest = ") and line.count("|") == 2 for line in parsed.blocks[i]) == (
            i != 1
        )
        labels = ["_"] * SIZES[i] if form == "positional" else [NAMES[x] for x in parse.labels[1:]]
        assert list(parsed.treebank[i].strings("deprel")) == labels
        assert all("TreeboundMargin=" in parsed.blocks[i][row] for row in parsed.rows[i])
        assert all("TreeboundMarginal=" in parsed.blocks[i][row] for row in parsed.rows[i])


def test_integers_are_written_as_integers(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", np.array([[0, 5, 1], [0, 0, 2], [0, 7, 0]]))
    done = run("decode", tmp_path / "s.npz", "--multi-root", "--margins")
    assert done.stdout.splitlines()[:3] == [
        "# treebound_score = 8",
        "# treebound_bound = 8",
        "# treebound_status = optimal",
    ]
    assert done.stdout.splitlines()[3:5] == [
        "1\t_\t_\t_\t_\t_\t2\t_\t_\tTreeboundMargin=1",
        "2\t_\t_\t_\t_\t_\t0\t_\t_\tTreeboundMargin=1",
    ]


def test_an_empty_file_has_no_trees(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz")
    done = run("decode", tmp_path / "s.npz")
    assert done.stderr == f"treebound: warning: {tmp_path / 's.npz'} has no sentences\n"
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"arc": np.zeros(3)}, "arc is float64[3], but n requires 69 rows"),
        ({"n": [3, 1, 0]}, "a sentence has no words"),
        ({"n": [3.0, 1.0, 6.0]}, "n is float64[3]"),
        ({"labels": np.zeros((4, 2))}, "labels is float64[4, 2], but n requires 69"),
        ({"label_names": ["a"]}, "there are 1 label_names"),
        ({"label_names": None}, "labels without label_names"),
        ({"label_names": [1, 2]}, "label_names is int64[2]"),
        ({"forms": FORMS[:4]}, "4 forms for 10 words"),
        ({"forms": ["a\tb"] * 10}, "does not fit into a column"),
        ({"extra": np.zeros(3)}, "array 'extra' beside n and arc"),
        ({"n": None}, "unknown array 'arc'"),
        ({"forms": np.array([None] * 10)}, "array 'forms' holds Python objects, which are not read"),
        ({"arc": np.full(69, np.nan)}, "sentence 0: arc[0, 1] is nan"),
        ({"arc": np.full(69, -np.inf)}, "sentence 0: arc and labels admit no tree"),
    ],
)
def test_faults_of_a_file_are_named(
    scores: list[dict[str, Any]], change: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "scores.npz"
    changed = packed(scores) | change
    np.savez(path, **{name: x for name, x in changed.items() if x is not None})
    with pytest.raises(InputError) as caught:
        decoded(path, {}, 1, False, lambda items, total: items)
    assert reason in str(caught.value)
    assert str(path) in str(caught.value) or "fit" in reason


def test_a_fault_is_one_line_and_writes_nothing(scores: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    np.savez(path, **packed(scores) | {"arc": np.full(69, np.nan)})
    assert_one_line(run("decode", path, "-o", tmp_path / "o.conllu"), f"{path}: sentence 0: arc[0, 1] is nan")
    assert not (tmp_path / "o.conllu").exists()


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"arc_1": np.zeros((3, 3))}, "arc_0 is missing"),
        ({"arc_0": np.zeros((3, 3)), "arr_0": np.zeros((3, 3))}, "unknown array 'arr_0'"),
        ({"arc_0": np.zeros((3, 3)), "colour_0": np.zeros(3)}, "unknown array 'colour_0'"),
        ({"arc_0": np.zeros(9)}, "arc_0 is float64[9]"),
        ({"arc_00": np.zeros((3, 3))}, "unknown array 'arc_00'"),
    ],
)
def test_arrays_that_do_not_belong_are_named(members: dict[str, Any], reason: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", **members)
    with pytest.raises(InputError) as caught:
        archive.read(tmp_path / "s.npz")
    assert reason in str(caught.value)


def test_what_is_no_archive_is_refused(scores: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    np.savez(path, **packed(scores))
    whole = path.read_bytes()
    array = tmp_path / "array.npy"
    np.save(array, np.zeros((3, 3)))
    for content, reason in (
        (b"", "not a .npz file"),
        (b"text", "not a .npz file"),
        (array.read_bytes(), "not a .npz file"),
        (whole[: len(whole) // 2], "not a .npz file, or incomplete"),
        (whole.replace(whole[300:320], bytes(20), 1), "is damaged"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=reason):
            archive.read(path)
    for missing, reason in ((tmp_path / "none.npz", "no such file"), (tmp_path, "a folder")):
        with pytest.raises(InputError, match=reason):
            archive.read(missing)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"decoder": "oracle"}, "unknown decoder 'oracle'; choose from"),
        ({"space": "flat"}, "space = 'flat'"),
        ({"decoder": "eisner", "space": "non-projective"}, "decoder 'eisner' does not search non-projective trees"),
    ],
)
def test_options_that_do_not_fit_are_no_fault_of_the_file(
    scores: list[dict[str, Any]], how: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    np.savez(tmp_path / "scores.npz", **packed(scores))
    with pytest.raises(TreeboundError) as caught:
        decoded(tmp_path / "scores.npz", how, 1, False, lambda items, total: items)
    assert str(caught.value).startswith(reason)


def test_a_file_is_not_overwritten_by_its_trees(scores: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    np.savez(path, **packed(scores))
    before = path.read_bytes()
    assert_one_line(run("decode", path, "-o", path), "scores.npz")
    assert path.read_bytes() == before


def test_a_failed_proof_is_reported(
    scores: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez(tmp_path / "scores.npz", **packed(scores))
    parse = treebound.decode(**scores[0])

    def wrong(sentences: Any, **_: Any) -> list[Parse]:
        right = treebound.decode_all(sentences)
        return [replace(right[0], value=parse.value + 1, bound=parse.value + 1), *right[1:]]

    monkeypatch.setattr(command, "decode_all", wrong)
    with pytest.raises(TreeboundError, match="sentence 0: the tree scores"):
        decoded(tmp_path / "scores.npz", {}, 1, True, lambda items, total: items)


def test_a_search_over_all_heads_is_compared_with_a_search_over_allowed_heads() -> None:
    """Check the number of other trees. The best tree of the second sentence has an arc that is not allowed."""
    arc = np.zeros((3, 3))
    arc[0, 1] = arc[1, 2] = 1.0
    every = np.ones((3, 3), bool)
    without = every.copy()
    without[1, 2] = False
    scores = [{"arc": arc, "allowed": every}, {"arc": arc, "allowed": without}]
    table = all_heads.searches(scores)
    assert table["other trees"].tolist() == [0, 1]
    assert table["sentences"].tolist() == [2, 2]
    assert (table["CPU s"] >= 0).all()
    assert all_heads.searches(scores * 5, sentences=5)["sentences"].tolist() == [5, 5], (
        "every second sentence is decoded"
    )


def test_the_notebook_runs_on_any_treebank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(REPOSITORY / name, tmp_path)
    for split, sentences in (("train", 60), ("test", 20)):
        path = tmp_path / "data" / "converted" / "tr_twt" / f"{split}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        storage.save(synthetic_treebank(sentences, seed=sentences), path)
    monkeypatch.chdir(tmp_path)
    shown = execute(REPOSITORY / "notebooks" / "05-your-scores.ipynb", tmp_path / "out.ipynb").read_text()
    assert "On 20 evenly spaced test sentences, the search over all heads takes" in shown
    cells = json.loads(shown)["cells"]
    printed = "".join("".join(output.get("text", ())) for cell in cells for output in cell.get("outputs", ()))
    returned = re.findall(r": treebound\.check\(problem, tree\) returns (\[.*\])", printed)
    best, second = map(ast.literal_eval, returned)
    assert best == []
    assert any("is not closed" in fault for fault in second), "the second-best tree has no proof"
    # the notebook compares the trees of the file with the trees of its own matrices, and fails if they differ
    from_a_file = cells[-2]
    assert "assert_array_equal" in "".join(from_a_file["source"])
    assert from_a_file["execution_count"] is not None
