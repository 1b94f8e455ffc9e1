"""Tables of predicted tags, variants of rows and peers, with invented results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import synthetic_results
import yaml

from studies.across.corpora import tables as corpora_tables
from studies.qian_liu_2013.comparison import gains
from studies.qian_liu_2013.comparison import others as comparison_others
from studies.qian_liu_2013.comparison import tables as comparison_tables
from studies.qian_liu_2013.comparison.others import peer_uas
from studies.qian_liu_2013.comparison.tables import PEERS
from studies.qian_liu_2013.speed import remarks
from studies.qian_liu_2013.speed import tables as speed_tables
from studies.qian_liu_2013.steps import tables as steps_tables
from studies.site import collect, frames
from studies.site.show import Table

REPOSITORY = Path(__file__).parents[1]
MODELS = {
    "arc-gold": {"same_as": "arc", "tags": "gold", "corpora": ["tr_twt"]},
    "arc-seed2": {"same_as": "arc", "seed": 2, "corpora": ["tr_twt"]},
    "udpipe": {"system": "udpipe", "corpora": ["tr_twt"]},
    "spacy": {"system": "spacy", "corpora": ["tr_twt"]},
}
ROWS = {
    **{name: {name: {"decoder": "eisner", "k": 10}} for name in ("arc-gold", "arc-seed2")},
    **{peer: {peer: {"timed": True}} for peer in ("udpipe", "spacy")},
}
SPLITS = {
    "train": {"words": 1000, "accuracy": 93.0},
    "dev": {"words": 200, "accuracy": 94.0, "unknown_words": 20, "unknown_accuracy": 70.0},
    "test": {"words": 400, "accuracy": 94.5, "unknown_words": 40, "unknown_accuracy": 75.0},
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[collect.Results]:
    """Return results of the default parameters, with gold tags and without peers."""
    return collect.provenances(synthetic_results.project(tmp_path_factory.mktemp("plain") / "project", REPOSITORY))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[collect.Results]:
    """Return a reference with the default parameters and a run with more models and rows."""
    root = synthetic_results.project(tmp_path_factory.mktemp("project") / "project", REPOSITORY)
    base = yaml.safe_load((root / "params.yaml").read_text())
    params = base | {"tags": {"tr_twt": "predicted"}}
    params |= {"models": base["models"] | MODELS, "decode": base["decode"] | ROWS}
    (root / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    speed = {"train_cpu_s": 30.0, "jackknife_wall_s": 120.0, "workers": 2, "words_per_cpu_s": 50000.0}
    put(root, "tagger/tr_twt.json", {"tags": "predicted", "accuracy": {"xpos": SPLITS, "upos": SPLITS}})
    put(root, "timing/tagger/tr_twt.json", {"xpos": speed})  # the tagger predicts coarse tags from fine tags
    for name, tags, seed, uas in (("arc-gold", "gold", 1, 90.0), ("arc-seed2", "predicted", 2, 80.0)):
        put(root, f"decode/tr_twt/{name}.json", {name: {"uas": uas, "complete": 10.0, "tags": tags, "seed": seed}})
    for peer, uas in (("udpipe", 80.0), ("spacy", 81.0)):
        row = {"uas": uas, "las": 70.0, "complete": 5.0, "package": peer, "version": "1.0", "tags": "predicted"}
        put(root, f"decode/tr_twt/{peer}.json", {peer: row | {"notes": "invented"}})
        put(root, f"timing/train/tr_twt/{peer}.json", {"cpu_s": 60.0, "wall_s": 61.0})
    timed = json.loads((root / "results" / "metrics" / "benchmark" / "tr_twt.json").read_text())
    timed += [{"row": peer, "words_per_cpu_s": 9000.0} for peer in ("udpipe", "spacy")]
    put(root, "benchmark/tr_twt.json", timed)
    return collect.provenances(root)


def put(root: Path, name: str, data: dict) -> None:
    path = root / "results" / "metrics" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))


def test_tagging(results: list[collect.Results]) -> None:
    data = corpora_tables.tagging(results)
    assert list(data.index) == [("this run", "tr_twt", "upos"), ("this run", "tr_twt", "xpos")] or list(data.index) == [
        ("this run", "tr_twt", "xpos"),
        ("this run", "tr_twt", "upos"),
    ]
    row = data.loc[("this run", "tr_twt", "xpos")]
    assert row["accuracy, %"].tolist() == [93.0, 94.0, 94.5]
    assert row["unknown words, test"].tolist() == [10.0, 75.0]
    assert row["", "words / CPU s"] == 50000
    assert str(data.loc[("this run", "tr_twt", "upos")]["", "training, CPU s"]) == "nan"


def test_variants_are_shown_beside_their_rows(results: list[collect.Results]) -> None:
    data = comparison_others.variants(results)
    run = results[-1]
    (base,) = frames.decode(run).query("model == 'arc' and learner == 'mira' and decoder == 'eisner' and k == '10'")[
        "uas"
    ]
    assert data["UAS"].tolist() == [90.0, 80.0]
    assert data["UAS of the row"].tolist() == [base, base]
    assert data["difference"].tolist() == [90.0 - base, 80.0 - base]
    assert [key[-2:] for key in data.index] == [("gold", 1), ("predicted", 2)]


def test_peers_have_rows_of_the_same_tables(results: list[collect.Results]) -> None:
    data = comparison_others.peers(results)
    assert data["UAS"].tolist() == [80.0, 81.0]
    assert data["package"].tolist() == ["udpipe 1.0", "spacy 1.0"]
    assert peer_uas(results) == {"udpipe": {("this run", "tr_twt"): 80.0}, "spacy": {("this run", "tr_twt"): 81.0}}
    compared = comparison_tables.comparison(results, "mira")
    row = compared.loc[(PEERS, "spacy")]
    assert row["this run", "tr_twt"] == 81.0
    assert str(row["reference", "tr_twt"]) == "nan"
    points = speed_tables.accuracy_and_speed(results[-1])
    others = points[points["group"] == "others"]
    assert others[["system", "uas", "words_per_cpu_s"]].values.tolist() == [["udpipe", 80, 9000], ["spacy", 81, 9000]]
    steps = steps_tables.step_tests(steps_tables.steps(results))
    assert "On tr_twt our parsers and the peers see forms and tags only." in repr(remarks.peers(data, {}, steps))
    assert "no system in common" in str(gains.learners(compared.xs(PEERS, drop_level=False), compared))


def test_a_run_without_any_of_them(plain: list[collect.Results]) -> None:
    assert (
        len(corpora_tables.tagging(plain))
        == len(comparison_others.variants(plain))
        == len(comparison_others.peers(plain))
        == 0
    )
    assert "no run has results for this table" in Table(comparison_others.variants(plain), "Variants")._repr_html_()
    assert "No parser of others" in repr(
        remarks.peers(comparison_others.peers(plain), {}, steps_tables.step_tests(steps_tables.steps(plain)))
    )
    assert PEERS not in comparison_tables.comparison(plain, "mira").index.get_level_values(0)


def test_a_missing_metrics_file_is_named(results: list[collect.Results]) -> None:
    path = results[-1].folder / "metrics" / "decode" / "tr_twt" / "spacy.json"
    saved = path.read_text()
    path.unlink()
    try:
        with pytest.raises(Exception, match=r"spacy\.json: missing, though params\.yaml asks for it"):
            comparison_others.peers(results)
    finally:
        path.write_text(saved)
