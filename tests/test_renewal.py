"""A part of the reference made anew: its metrics and parameters come in, everything else stays."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import made_up_results
import pytest
import yaml

from treebound.core.errors import InputError
from treebound.experiments import params as parameters
from treebound.experiments import plan, renewal
from treebound.experiments.needs import State
from treebound.report.tables.provenance import renewed

REPOSITORY = Path(__file__).parents[1]
ORIGIN = {
    "commit": "a" * 40,
    "date": "2031-01-02",
    "machine": {"cpu": "invented"},
    "checksums": {"tr_twt": {"test": "b"}},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the reference's parameters, with invented metrics."""
    folder = tmp_path_factory.mktemp("run")
    made_up_results.project(folder, REPOSITORY, overlay="reference.yaml")
    (folder / "dvc.yaml").write_bytes((REPOSITORY / "dvc.yaml").read_bytes())
    plan.update(folder)
    (folder / "dvc.lock").write_text("stages: {}\n")
    return folder


@pytest.fixture
def kept(run: Path, tmp_path: Path) -> Path:
    """An older reference: of two rows, one of which is not the run's."""
    settings = yaml.safe_load((run / "params.yaml").read_text())
    old = {"model": "arc", "learner": "mira", "decoder": "eisner", "k": 10}
    settings |= {"decode": {"arc": settings["decode"]["arc"], "old": old}, "seed": 7}
    del settings["transition"]
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "params.yaml").write_text(yaml.safe_dump(settings))
    (folder / "run.json").write_text(json.dumps({"commit": "c" * 40, "checksums": {"tr_twt": {"test": "of before"}}}))
    return folder


def test_a_stage_brings_its_metrics_rows_and_parameters(run: Path, kept: Path) -> None:
    ours = parameters.load(run / "params.yaml")
    rows = {name for name, row in ours.decode.items() if row.system == "transition"}
    assert rows
    assert renewal.renew(run, kept, ["decode_transition"], ORIGIN)
    settings = yaml.safe_load((kept / "params.yaml").read_text())
    assert set(settings["decode"]) == {"arc", "old"} | rows
    assert settings["seed"] == 7
    assert set(settings["transition"]) == set(ours.transition)
    found = {path.stem for path in (kept / "metrics" / "decode").glob("*/*.json")}
    assert found == rows
    info = json.loads((kept / "run.json").read_text())
    assert info["commit"] == "c" * 40
    ((kind, (_, items)),) = renewal.stages_of(run, ["decode_transition"]).items()
    assert set(info["renewed"]) == {f"{kind}@{item}" for item in items}
    assert all(ORIGIN.items() <= source.items() for source in info["renewed"].values())
    assert renewed(info["renewed"]) == f"decode_transition ({len(items)}): at {'a' * 12}, 2031-01-02"


def test_a_reference_that_is_all_of_one_commit_says_only_that(run: Path, kept: Path, tmp_path: Path) -> None:
    whole = shutil.copytree(run, tmp_path / "whole")
    names = [
        name
        for name in yaml.safe_load((run / "dvc.yaml").read_text())["stages"]
        if name not in ("fetch", "notebooks", "report")
    ]
    with_metrics = []
    for name in names:
        ((do, items),) = renewal.stages_of(run, [name]).values()
        files = list(renewal.metrics_of(do, items))
        for file in files:  # those that nobody invented
            (whole / file).parent.mkdir(parents=True, exist_ok=True)
            (whole / file).touch()
        with_metrics += [name] * bool(files)
    (whole / "results/metrics/timing").mkdir(exist_ok=True)
    (whole / "results/metrics/timing/stages.csv").write_text("decode@tr_twt-arc,2.0,1.0\nreport,1.0,1.0\n")
    old = kept / "metrics" / "decode" / "tr_twt" / "old.json"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    renewal.renew(whole, kept, with_metrics[1:], ORIGIN)
    info = json.loads((kept / "run.json").read_text())
    assert info["commit"] == "c" * 40
    assert old.is_file()
    # at another commit, of which the last stage is: the others need code that is the same there
    later = ORIGIN | {"commit": "d" * 40, "date": "2031-01-03", "checksums": {"en_ewt": {"test": "e"}}}
    renewal.renew(whole, kept, with_metrics[:1], later)
    info = json.loads((kept / "run.json").read_text())
    assert info["commit"] == "d" * 40
    assert info["checksums"] == {"tr_twt": {"test": "b"}, "en_ewt": {"test": "e"}}
    assert "renewed" not in info
    first = [one for one in info["sittings"] if one.startswith(f"{with_metrics[0]}@")]
    assert all(set(info["sittings"][one]) == {"needs"} for one in first), "what is the run's own is said once"
    others = [source for one, source in info["sittings"].items() if one not in first]
    assert all(set(source) == {"commit", "date", "needs"} for source in others)
    assert {source["commit"] for source in others} == {"a" * 40}
    assert first
    # a part of it again, at a third: of which commit the others are is not lost
    renewal.renew(whole, kept, ["decode_transition"], ORIGIN | {"commit": "e" * 40})
    last = json.loads((kept / "run.json").read_text())
    assert last["commit"] == "e" * 40
    assert {one.get("commit") for one in last["sittings"].values()} == {None, "a" * 40, "d" * 40}
    assert not old.exists()
    assert yaml.safe_load((kept / "params.yaml").read_text()) == yaml.safe_load((run / "params.yaml").read_text())
    assert (kept / "metrics/timing/stages.csv").read_text() == "decode@tr_twt-arc,2.0,1.0\n"


def test_a_reference_is_not_of_one_commit_where_code_changed_between_sittings(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code = folder / "src" / "kernels" / "search.py"
    code.parent.mkdir(parents=True)
    code.write_text("old")
    (folder / "params.yaml").write_text("models: {arc: 1, both: 2}\n")
    train = {
        "deps": [{"path": "src/kernels"}, {"path": "data/x"}],
        "params": {"params.yaml": {"models.arc": 1}},
        "outs": [{"path": "models/x/arc.npz"}],
    }
    decode = {"deps": [{"path": "models/x"}, {"path": "src/decode.py"}], "outs": [{"path": "results/x.json"}]}
    (folder / "dvc.lock").write_text(yaml.safe_dump({"stages": {"train@x": train, "decode@x": decode, "other": {}}}))
    noted = State(folder).needs("decode@x")
    assert noted.code == ("src/decode.py", "src/kernels")
    assert noted.params == ("models.arc",)
    assert State(folder).has(noted)
    (folder / "params.yaml").write_text("models: {arc: 1, both: 3}\n")
    assert State(folder).has(noted)
    (folder / "params.yaml").write_text("models: {arc: 2, both: 3}\n")
    assert not State(folder).has(noted)
    (folder / "params.yaml").write_text("models: {arc: 1}\n")
    code.write_text("new")
    assert not State(folder).has(noted)


def test_a_stage_of_all_corpora_brings_those(run: Path) -> None:
    ours = parameters.load(run / "params.yaml")
    ((_, items),) = renewal.stages_of(run, ["score-time"]).values()
    assert items == {corpus: {"corpus": corpus} for corpus in ours.corpora}


def test_a_row_of_one_corpus_is_added_to_those_of_others(run: Path, kept: Path) -> None:
    name, ours = "transition-greedy", parameters.load(run / "params.yaml")
    one = {"system": "transition", "model": "greedy", "corpora": [ours.corpora[1]], "timed": True}
    path = kept / "metrics" / "benchmark" / ours.corpora[1] / "transition.json"  # the speed of one corpus is known
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([{"row": name}]))
    for old, wanted in ((None, [ours.corpora[2]]), (one, ours.corpora[1:3]), (one | {"model": "x"}, [ours.corpora[2]])):
        settings = yaml.safe_load((kept / "params.yaml").read_text())
        settings["decode"] = {name: old} if old else {}
        (kept / "params.yaml").write_text(yaml.safe_dump(settings))
        renewal.renew(run, kept, [f"decode_transition@{ours.corpora[2]}-{name}"], ORIGIN)
        row = yaml.safe_load((kept / "params.yaml").read_text())["decode"][name]
        assert row["corpora"] == list(wanted)
        assert row["timed"] is False
    (path.parent.parent / ours.corpora[2]).mkdir()
    (path.parent.parent / ours.corpora[2] / path.name).write_bytes(path.read_bytes())
    renewal.renew(run, kept, [f"decode_transition@{ours.corpora[2]}-{name}"], ORIGIN)
    row = yaml.safe_load((kept / "params.yaml").read_text())["decode"][name]
    assert row["timed"]  # now that of all its corpora is


def test_one_corpus_of_a_stage_can_be_renewed_alone(run: Path, kept: Path) -> None:
    before = {path.relative_to(kept) for path in kept.rglob("*.json")}
    renewal.renew(run, kept, ["classifiers@zh_gsd"], ORIGIN)
    added = {path.relative_to(kept) for path in kept.rglob("*.json")} - before
    assert Path("metrics/classifiers/zh_gsd.json") in added
    assert {path.stem for path in added} == {"zh_gsd"}
    assert list(json.loads((kept / "run.json").read_text())["renewed"]) == ["classifiers@zh_gsd"]
    with pytest.raises(InputError, match="classifiers@de"):
        renewal.stages_of(run, ["classifiers@de"])


def test_a_stage_brings_the_metrics_of_those_that_it_needs(run: Path, kept: Path, tmp_path: Path) -> None:
    trained = shutil.copytree(run, tmp_path / "trained")
    ((do, items),) = renewal.stages_of(run, ["train_transition"]).values()
    item, other = list(items)[:2]
    files = list(renewal.metrics_of(do, {item: items[item]}))
    decode = next(
        name
        for name in renewal.stages_of(run, ["decode_transition"])["decode_transition"][1]
        if name.startswith("tr_twt")
    )
    lock = {
        f"train_transition@{item}": {"outs": [{"path": "results/models/x"}]},
        f"train_transition@{other}": {"outs": [{"path": "results/models/y"}]},
        f"decode_transition@{decode}": {"deps": [{"path": "results/models/x/model.npz"}]},
    }
    (trained / "dvc.lock").write_text(yaml.safe_dump({"stages": lock}))
    for file in files:
        (trained / file).parent.mkdir(parents=True, exist_ok=True)
        (trained / file).write_text("{}")
    renewal.renew(trained, kept, [f"decode_transition@{decode}"], ORIGIN)
    assert files
    assert all((kept / file.relative_to("results")).read_text() == "{}" for file in files)
    found = json.loads((kept / "run.json").read_text())["renewed"]
    assert set(found) == {f"train_transition@{item}", f"decode_transition@{decode}"}
    (trained / files[0]).unlink()
    with pytest.raises(InputError, match=str(files[0])):
        renewal.renew(trained, kept, [f"decode_transition@{decode}"], ORIGIN)


def test_all_items_of_a_stage_one_by_one_are_the_stage(run: Path, kept: Path) -> None:
    info = json.loads((kept / "run.json").read_text())
    info["renewed"] = {"classifiers": {"commit": "e" * 40, "date": "2030-01-01", "checksums": {}}}
    (kept / "run.json").write_text(json.dumps(info))
    items = [f"classifiers@{corpus}" for corpus in renewal.stages_of(run, ["classifiers"])["classifiers"][1]]
    for done, name in enumerate(items, 1):
        renewal.renew(run, kept, [name], ORIGIN)
        found = json.loads((kept / "run.json").read_text())["renewed"]
        assert set(found) == {"classifiers", *items[:done]} - ({"classifiers"} if done == len(items) else set())
    assert len(items) > 1


def test_nothing_is_copied_of_a_stage_that_did_not_end(run: Path, kept: Path, tmp_path: Path) -> None:
    half = shutil.copytree(run, tmp_path / "half")
    before = {path: path.read_bytes() for path in kept.rglob("*") if path.is_file()}
    next((half / "results" / "metrics" / "decode").glob("*/transition-greedy.json")).unlink()
    with pytest.raises(InputError, match="not computed"):
        renewal.renew(half, kept, ["decode_transition"], ORIGIN)
    assert {path: path.read_bytes() for path in kept.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["decodings", "report"])
def test_a_stage_that_is_none_is_refused_by_name(name: str, run: Path) -> None:
    with pytest.raises(InputError, match=name):
        renewal.stages_of(run, [name])
