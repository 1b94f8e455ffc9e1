"""The study of valid trees: the stage on a synthetic treebank against direct counts, its tables and remarks."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest
import synthetic_results
import yaml
from synthetic import synthetic_treebank
from test_valid_parsing import errors as validated
from test_valid_parsing import universal, written

from studies.across.validity import measure, remarks, tables
from studies.across.validity.example import example
from studies.across.validity.settings import ValidTrees
from studies.across.validity.validator import Trees, errors
from studies.common import params as parameters
from studies.common.params import Params
from studies.site import collect
from treebound.core.treebank import Treebank
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.treebanks import storage
from treebound.treebanks.document import read

REPOSITORY = Path(__file__).parents[1]
SETTINGS = {
    "train": 100,
    "test": 40,
    "model": {"families": ["adjacent-sibling"], "epochs": 1, "bits": 14},
    "tagger": {"columns": ["upos", "xpos"], "epochs": 1, "bits": 14},
    "repeats": 2,
}


def converted(treebank: Treebank, folder: Path, split: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    storage.save(read(written(treebank, folder / f"{split}.conllu")).treebank, folder / f"{split}.npz")


def with_meta(folder: Path) -> None:
    """Store the description of a converted treebank's tags, as the stage `convert` does."""
    for path in folder.glob("*.npz"):
        treebank = storage.load(path)
        treebank.meta.update(
            {"tag": "xpos", "coarse": "upos", "attributes": ["suffix"], "single_root": True}
            | {"punctuation": {"column": "upos", "tags": ["PUNCT"]}}
        )
        storage.save(treebank, path)


def params_of(folder: Path, corpora: list[str]) -> Params:
    base = yaml.safe_load((REPOSITORY / "params.yaml").read_text(encoding="utf-8"))
    base["treebanks"] = [*base["corpora"], *corpora]
    base["validity"] = {"corpora": corpora, **SETTINGS}
    (folder / "params.yaml").write_text(yaml.safe_dump(base, sort_keys=False), encoding="utf-8")
    return parameters.load(folder / "params.yaml")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project whose stage has run on a synthetic treebank and on a treebank with a foreign label."""
    pytest.importorskip("udtools")
    folder = tmp_path_factory.mktemp("study")
    for name in ("toy", "other"):
        for split, sentences, seed in (("train", 120, 1), ("dev", 50, 2), ("test", 60, 3)):
            converted(universal(synthetic_treebank(sentences, seed, 10)), folder / "data/converted" / name, split)
    for path in (folder / "data/converted/other").glob("*.conllu"):
        path.write_text(path.read_text(encoding="utf-8").replace("\tobj\t", "\tdobj\t"), encoding="utf-8")
        storage.save(read(path).treebank, path.with_suffix(".npz"))
    for name in ("toy", "other"):
        with_meta(folder / "data/converted" / name)
    params = params_of(folder, ["toy", "other"])
    with contextlib.chdir(folder):
        for name in ("toy", "other"):
            measure.run(params, name)
    return folder


def metrics(project: Path, *parts: str) -> dict:
    return json.loads(project.joinpath("results", "metrics", *parts).read_text(encoding="utf-8"))


def test_all_parses_of_a_document_are_counted_apart(tmp_path: Path) -> None:
    pytest.importorskip("udtools")
    document = read(written(universal(synthetic_treebank(12, 5, 8)), tmp_path / "gold.conllu"))
    treebank = document.treebank
    chain = [np.arange(-1, n) for n in treebank.lengths]
    labels = [["root", *["nsubj"] * (n - 1)] for n in treebank.lengths]
    document.write(tmp_path / "chain.conllu", chain, labels)
    counted = errors(document, {"gold": Trees(), "chain": Trees(chain, labels), "again": Trees()})
    assert list(counted) == ["gold", "chain", "again"]
    assert counted["gold"] == counted["again"]
    for name in ("gold", "chain"):
        incidents = validated(tmp_path / f"{name}.conllu")
        assert set(counted[name].rules) == {rule for _, rule in incidents}
        assert counted[name].sentences == len({sentence for sentence, _ in incidents})
        assert sum(counted[name].rules.values()) >= len(incidents)
    assert counted["chain"].sentences > 0


def test_the_validator_sees_the_columns_of_the_parser(tmp_path: Path) -> None:
    pytest.importorskip("udtools")
    word = "{}\t{}\t{}\t{}\t_\t_\t{}\t{}\t_\t_\n".format
    text = "# text = a b\n" + word(1, "a", "a", "DET", 2, "det") + word(2, "b", "b", "VERB", 0, "root") + "\n"
    (tmp_path / "one.conllu").write_text(text)
    changed = Trees(columns={"upos": [["NOUN", "VERB"]]})
    counted = errors(read(tmp_path / "one.conllu"), {"plain": Trees(), "changed": changed})
    assert counted["plain"].rules == {}
    assert counted["changed"].rules == {"rel-upos-det": 1}


def test_the_stage_agrees_with_direct_counts(project: Path, tmp_path: Path) -> None:
    measured = metrics(project, "validity", "toy.json")
    document = read(project / "data/converted/toy/test.conllu").select(range(40))
    gold = storage.load(project / "data/converted/toy/test.npz").select(np.arange(40))
    assert (measured["sentences"], measured["words"], measured["training_sentences"]) == (40, gold.words, 100)
    model = Model.load(project / "results/models/validity/toy.npz")
    scored = np.array([tag != "PUNCT" for tag in gold.strings("upos")])
    for place, (when, rules) in enumerate((("before", None), ("after", "ud"))):
        parses = Parser(model, valid=rules).parse(gold, misc=document.misc())
        labels = [model.label_names(parse) for parse in parses]
        path = tmp_path / f"{when}.conllu"
        document.write(path, [parse.heads for parse in parses], labels)
        incidents, own = validated(path), measured["gold"][when]
        assert own["sentences"] == len({sentence for sentence, _ in incidents})
        assert set(own["rules"]) == {rule for _, rule in incidents}
        assert own["errors"] == sum(own["rules"].values())
        heads = np.concatenate([parse.heads[1:] for parse in parses])
        right = (heads == gold.head)[scored]
        names = np.array([label for sentence in labels for label in sentence])
        both = right & (names == np.array(gold.strings("deprel")))[scored]
        assert measured["gold"]["uas"][place] == pytest.approx(100 * right.mean())
        assert measured["gold"]["las"][place] == pytest.approx(100 * both.mean())
        if rules:
            assert measured["gold"]["proved"] == sum(parse.certified for parse in parses) == 40
            assert measured["gold"]["searched"] == sum(parse.work["regions"] > 1 for parse in parses) > 0
    for tags in tables.TAGS:
        own = measured[tags]
        assert own["before"]["errors"] > own["after"]["errors"] == 0
        assert own["changed"] >= own["before"]["sentences"]
        assert own["uas_gain"][0] == pytest.approx(own["uas"][1] - own["uas"][0], abs=1e-5)
        assert 0 < own["las_gain"][3] <= 1
        seconds = metrics(project, "timing", "validity", "toy.json")[tags]
        assert [len(runs) for runs in seconds.values()] == [2, 2]
        assert min(min(runs) for runs in seconds.values()) > 0


def test_a_second_run_gives_the_same_bytes(project: Path) -> None:
    path, model = project / "results/metrics/validity/toy.json", project / "results/models/validity/toy.npz"
    before = path.read_bytes(), model.read_bytes()
    with contextlib.chdir(project):
        measure.run(parameters.load(project / "params.yaml"), "toy")
    assert (path.read_bytes(), model.read_bytes()) == before


def test_a_corpus_with_other_labels_is_named_and_not_parsed(project: Path) -> None:
    measured = metrics(project, "validity", "other.json")
    assert measured["coverage"]["labels"] == ["dobj"]
    assert measured["coverage"]["tags"] == []
    assert "gold" not in measured
    run = collect.this_run(project)
    table = tables.uncovered([run])
    assert table.index.get_level_values("corpus").tolist() == ["other"]
    assert "dobj" in table["note"].iloc[0]
    assert table["parsed"].tolist() == ["no"]
    text = str(remarks.uncovered(table))
    assert text.startswith("other has 1 label that is not universal. More than 1 % of the training words of")
    assert text.endswith("so it is not parsed.")
    assert set(tables.measured([run]).index.get_level_values("corpus")) == {"toy"}
    assert example(project / "results/models/validity/other.npz", synthetic_treebank(1, 1, 4)) is None


#: a part of the metrics, the number of tags and their examples; older results have a message in place of lists
NOT_UNIVERSAL = [
    ({"tags": ["(", "N"], "labels": ["subj"]}, 2, "(, N"),
    ({"tags": ["(", "A", "B", "N"], "labels": ["subj"]}, 4, "(, A, B, ..."),
    ({"says": "2 tags that are not universal ((, N), 1 labels that are not (subj): cannot apply leaf-cc"}, 2, "(, N"),
]


@pytest.mark.parametrize(("coverage", "count", "tags"), NOT_UNIVERSAL)
def test_typing_errors_in_tags_and_labels_are_explained(coverage: dict, count: int, tags: str, tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY, with_reference=False)
    params = parameters.load(tmp_path / "params.yaml").changed(ValidTrees(corpora=("toy",)))
    synthetic_results.write(tmp_path / "results", params)
    path = tmp_path / "results/metrics/validity/toy.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored["coverage"] = coverage | {"rules": ["leaf-cc"]}
    path.write_text(json.dumps(stored), encoding="utf-8")
    table = tables.uncovered([collect.Results("this run", tmp_path / "results", params)])
    assert table.loc[("this run", "toy"), ["tags", "labels", "parsed"]].tolist() == [count, 1, "yes"]
    assert table["note"].item() == f"tags that are not universal: {tags}; labels that are not universal: subj"
    text = str(remarks.uncovered(table))
    assert text.startswith(f"toy has {count} tags and 1 label that are not universal. At most 1 % of the training ")
    assert text.endswith("In a sentence with such a tag, the rules that read tags are left out.")


def test_an_example_shows_both_trees(project: Path) -> None:
    test = storage.load(project / "data/converted/toy/test.npz")
    examples = [example(project / "results/models/validity/toy.npz", test.select([i])) for i in range(20)]
    shown = [shown_example for shown_example in examples if shown_example is not None and shown_example.broken]
    assert shown
    for shown_example in shown:
        assert shown_example.changed
        drawings = [shown_example.drawn(valid)._repr_svg_() for valid in (False, True)]
        assert drawings[0] != drawings[1]
    assert any(
        shown_example is not None and not shown_example.broken and not shown_example.changed
        for shown_example in examples
    )


def test_tables_and_remarks_follow_the_metrics(project: Path) -> None:
    run = collect.this_run(project)
    data, stored = tables.measured([run]), metrics(project, "validity", "toy.json")
    assert data.index.tolist() == [(run.name, "toy", tags) for tags in tables.TAGS]
    assert data["before"].tolist() == [stored[tags]["before"]["errors"] for tags in tables.TAGS]
    rules = tables.by_rule([run])
    assert rules[("gold tags", "without rules")].sum() == stored["gold"]["before"]["errors"]
    assert rules[("", "treebank")].sum() == stored["treebank"]["errors"]
    seconds = metrics(project, "timing", "validity", "toy.json")["gold"]
    ratio = np.median(seconds["valid"]) / np.median(seconds["plain"])
    assert tables.cost(data)["ratio"].iloc[0] == pytest.approx(ratio)
    text = str(remarks.answer(data))
    assert f"1 corpus (this run) fall from {stored['gold']['before']['errors']} to 0 under gold tags and" in text
    times = sorted(tables.cost(data)["ratio"])
    assert f"Parsing takes {times[0]:.1f}" in text
    assert f"{times[-1]:.1f} times the CPU time" in text
    proofs = str(remarks.proofs(data))
    assert proofs.startswith(
        "Test sentences of this run: 40 under gold tags and 40 under predicted tags. 80 of 80 parses"
    )
    assert "toy 100" in str(remarks.models([run]))
    assert "p = " in str(remarks.accuracy(data))


@pytest.mark.parametrize("p", [0.2, 0.01], ids=["not significant", "significant"])
def test_the_answer_says_how_often_the_rules_cost_accuracy(project: Path, p: float) -> None:
    data = tables.measured([collect.this_run(project)])
    data["uas_gain"], data["las_gain"] = [[0.05, -0.1, 0.2, 0.3]] * 2, [[0.11, -0.3, 0.4, 0.3], [-0.12, -0.5, 0.1, p]]
    text = str(remarks.answer(data))
    changes = "UAS changes by +0.05 points (95 % intervals within [-0.10, +0.20]) and LAS changes by -0.12 to +0.11 "
    count = "none" if p > 0.05 else 1
    assert f"A loss of accuracy is significant in {count} of 4 tests: {changes}points (95 % intervals within " in text
    assert "points (95 % intervals within [-0.50, +0.40])." in text


def test_pages_without_a_measured_corpus_report_it(project: Path) -> None:
    run = collect.this_run(project)
    empty = collect.Results(run.name, run.folder, run.params.changed(ValidTrees()))
    data = tables.measured([empty])
    assert str(remarks.answer(data)) == remarks.NONE
    shown = (tables.totals(data), tables.accuracy(data), tables.cost(data), tables.by_rule([empty]))
    assert [len(table) for table in (*shown, tables.peers([empty]), tables.uncovered([empty]))] == [0] * 6
    for remark in (remarks.accuracy(data), remarks.cost(data), remarks.proofs(data), remarks.models([empty])):
        assert str(remark) == ""
    assert "no parsers" in str(remarks.peers([empty], tables.peers([empty])))


def test_peers_are_shown_beside_ours_and_missing_peers_are_named(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY, with_reference=False)
    params = parameters.load(tmp_path / "params.yaml")
    with_peers = params.changed(ValidTrees(corpora=("toy",), peers={"udpipe": {}, "spacy": {}}))
    synthetic_results.write(tmp_path / "results", with_peers)
    run = collect.Results("this run", tmp_path / "results", with_peers)
    table = tables.peers([run])
    assert table.index.get_level_values("parser").tolist() == ["treebound", "treebound --valid ud", "udpipe"]
    assert table["errors"].tolist() == [7, 0, 9]
    assert str(remarks.peers([run], table)).endswith("not installed: spacy.")
    assert str(remarks.peers([run], table.rename(index={"treebound": "spacy"}))) == ""


def test_a_missing_corpus_or_an_unknown_peer_is_refused(tmp_path: Path) -> None:
    params = params_of(tmp_path, ["toy"])
    with pytest.raises(ValueError, match="elsewhere is missing in treebanks"):
        ValidTrees(corpora=("elsewhere",)).check(params)
    with pytest.raises(ValueError, match="choose from spacy, udpipe"):
        ValidTrees(peers={"stanza": {}}).check(params)
    assert ValidTrees(train=7).limit(params, "train") == 7
    assert ValidTrees(train=7).limit(params, "test") is None
