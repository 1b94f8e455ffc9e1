"""params.yaml: the values that are read, and the one-line errors for invalid files."""

from dataclasses import replace
from pathlib import Path

import pytest

from studies.common import params
from studies.zhang_2014.score_time.settings import ScoreTime
from treebound.core.errors import InputError
from treebound.support import yamlfile

PROJECT = Path(__file__).parents[1]
SEED = "{same_as: arc, families: [], corpora: [tr_twt], seed: 2}"
PEER = "{system: spacy, corpora: [tr_twt]}"
TEXT = (PROJECT / "params.yaml").read_text(encoding="utf-8")
MODELS, ROWS = "models:\n", "decode:\n"  #: the first line of each section


def with_added(models: str, rows: str) -> str:
    """Return params.yaml with further models and rows."""
    return TEXT.replace(MODELS, f"{MODELS}{models}").replace(ROWS, f"{ROWS}{rows}")


def test_the_projects_parameters_are_valid() -> None:
    loaded = params.load(PROJECT / "params.yaml")
    assert loaded.corpora == ("tr_twt",)
    assert loaded.row("both-k5").heads == 5
    assert loaded.row("transition-greedy").heads is None


@pytest.mark.parametrize("overlay", sorted((PROJECT / "params").glob("*.yaml")), ids=lambda path: path.stem)
def test_overlays_are_valid(overlay: Path, tmp_path: Path) -> None:
    import yaml

    from studies.pipeline.scratch import overlaid

    merged = overlaid(yaml.safe_load(TEXT), yaml.safe_load(overlay.read_text()))
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(merged))
    assert params.load(tmp_path / "params.yaml") != params.load(PROJECT / "params.yaml")


@pytest.mark.parametrize(
    ("old", "new", "line_of", "message"),
    [
        (
            "seed: 1",
            "sed: 1",
            "sed: 1",
            "sed: unknown key; valid keys are treebanks, corpora, paths, seed, slice, forms, tags, tagger",
        ),
        ("seed: 1\n", "", None, "seed: missing key"),
        ("epochs: 3\n", "epoch: 3\n", "epoch: 3", "pruner.epoch: unknown key; valid keys are epochs, bits, ks"),
        ("epochs: 3\n", "epochs: many\n", "epochs: many", "pruner.epochs: Input should be a valid integer"),
        (
            "config: tuned",
            "confg: tuned",
            "confg: tuned",
            "confg: unknown key; valid keys are decoder, config, space, backbone",
        ),
        ("k: 5}", "k: 0}", "k: 0}", "expected a number of heads (1 or more) or none, not 0"),
        (
            "decoder: tuned, k: 20",
            "decoder: tund, k: 20",
            None,
            "no decoder 'tund'; choose from eisner, carreras, tuned",
        ),
        ("  carreras: {carreras: {", "  carera: {carreras: {", None, "no model 'carera'; choose from arc, carreras"),
        ("k: 20}", "k: 5}", None, "decode: both-k5 and both-k20 are the same row of tr_twt"),
        ("k: 20}", "k: 20, kk: 1}", "kk: 1", "both-k20.kk: unknown key; valid keys are decoder, k, beam, rerank"),
        (", k: 20}", "}", None, "decode: both-k20: missing key k"),
        ("  both-k20:", "  both/k20:", None, "String should match pattern"),
        (
            "  both-k20: {",
            "  both-k20: 3 # {",
            None,
            "both-k20: Input should be a dictionary or",
        ),
        ("{carreras: {", "{arc: {", None, "decode: arc and carreras both have a row 'arc'"),
        (
            "  sentences: 40 ",
            "  sentenses: 40 ",
            "sentenses",
            "ablation.sentenses: unknown key; valid keys are model",
        ),
        ("  model: carreras+grandchild+sibling\n", "  model: big\n", None, "ablation: no row trains 'big'"),
        (
            "treebanks: [tr_twt, pt_petrogold]",
            "treebanks: [en_ewt]",
            "corpora: [tr_twt]",
            "corpora: tr_twt is missing in treebanks",
        ),
        ("corpora: [tr_twt]", "corpora: []", "corpora: []", "corpora: Tuple should have at least 1 item"),
        ("corpora: [tr_twt]", "corpora: [../x]", "corpora: [../x]", "corpora.0: String should match pattern"),
        ("arc: {families: []}", "arc: {families: [], learner: svm}", "svm", "models.arc.learner: Input should be"),
        (
            "arc: {families: []}",
            "arc: {family: []}",
            "family:",
            "models.arc.family: unknown key; valid keys are",
        ),
        ("arc: {families: []}", "arc: {families: [], same_as: x}", None, "models: arc: no model 'x'; choose from arc"),
        ("arc: {families: []}", "arc: 3", "arc: 3", "models.arc: "),
        ("epochs: 2}", "epochs: two}", "epochs: two", "models.beam.epochs: Input should be a valid integer"),
        ("  C: 0.01", "  C: [", None, "not valid YAML"),
        ("tags: {}", "tags: {tr_twt: silver}", "silver", "tags.tr_twt: Input should be 'gold' or 'predicted'"),
        (MODELS, f"{MODELS}  x: {PEER.replace('spacy', 'malt')}\n", "malt", "unknown system 'malt'; choose from"),
        ("  C: 0.01", "  C: .nan", "C: .nan", "train.C: Input should be a finite number"),
        ("  C: 0.01", "  C: .inf", "C: .inf", "train.C: Input should be a finite number"),
        ("  C: 0.01", "  C: 1.0e+300", "C: 1.0e+300", "train.C: Input should be less than or equal to 1000000"),
        ("seed: 1\n", "seed: 1\nseed: 2\n", "seed: 2", "the key 'seed' is given twice"),
        ("  C: 0.01", "  C: 0.01\n  'C': 0.02", "'C': 0.02", "the key 'C' is given twice"),
        ("seed: 1\n", f"seed: {'9' * 5000}\n", f"seed: {'9' * 5000}", f"'{'9' * 30}' is not a valid value"),
        (
            "seed: 1\n",
            f"seed: {'9' * 30}\n",
            f"seed: {'9' * 30}",
            "seed: Input should be less than 9223372036854775808",
        ),
        ("seed: 1\n", "seed: 2020-99-99\n", "seed: 2020-99-99", "'2020-99-99' is not a valid value"),
        ("seed: 1\n", "seed: a\0b\n", "seed: a", "YAML does not allow the character 0x0; delete it"),
        ("seed: 1\n", f"seed: {'[' * 3000}1{']' * 3000}\n", None, "nested too deeply"),
        (
            "samplerank: {system: sampling, schedule: sample,",
            "samplerank: {system: sampling,",
            "samplerank: {",
            "models.samplerank.proposal: random walks build trees with crossing arcs",
        ),
        ("seed: 1\n", 'seed: 1\n"a\\nb": 1\n', '"a\\nb"', r"a\nb: unknown key"),
        ("arc: {families: []}", '"a\\nb": {families: [], same_as: x}', None, r"models.a\nb"),
        ("paths: {}", 'paths: {ptb: "a\\0b"}', "paths: {ptb", "paths.ptb: 'a\\x00b' cannot be a path"),
        ("paths: {}", 'paths: {ptb: "\\ud800"}', "paths: {ptb", "paths.ptb: '\\ud800' cannot be a path"),
    ],
)
def test_one_line_error(old: str, new: str, line_of: str | None, message: str, tmp_path: Path) -> None:
    text = TEXT.replace(old, new)
    assert text != TEXT, f"params.yaml has no {old!r} any more"
    path = tmp_path / "params.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        params.load(path)
    error = str(caught.value)
    assert message in error
    assert "\n" not in error
    assert str(path) in error
    if line_of is not None:
        numbers = [i for i, line in enumerate(text.splitlines(), 1) if line_of in line]
        assert f"{path}:{numbers[0]}: " in error


def test_bytes_that_are_not_utf8_are_reported_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_bytes(TEXT.encode() + b"\n# caf\xe9\n")
    with pytest.raises(InputError, match=rf"params.yaml:{TEXT.count(chr(10)) + 2}: byte 0xe9 is not utf-8; save it"):
        params.load(path)


def test_a_missing_file_says_where_to_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run from the project's folder"):
        params.load(tmp_path / "params.yaml")


def test_slices() -> None:
    loaded = params.load(PROJECT / "params.yaml")
    assert loaded.limit("test") is None
    assert [replace(loaded, slice=200).limit(split) for split in ("train", "dev", "test")] == [200, 50, 50]


def test_published_pages_show_no_words_of_treebanks() -> None:
    loaded = params.load(PROJECT / "params.yaml")
    assert loaded.shown(["the", "dog"]) == ["the", "dog"]
    _, overlay = yamlfile.read(PROJECT / "params" / "reference.yaml")
    assert replace(loaded, forms=overlay["forms"]).shown(["the", "dog"]) == ["1", "2"]


def test_reproduce_all_takes_every_open_corpus() -> None:
    import yaml

    from treebound.treebanks.catalogue import CORPORA, UserPath

    listed = yaml.safe_load((PROJECT / "params" / "all.yaml").read_text())["corpora"]
    # other corpora are older releases of treebanks that the list contains
    earlier = {name for name in CORPORA if "_r" in name}
    assert set(listed) == {name for name in CORPORA if not isinstance(CORPORA[name].source, UserPath)} - earlier


def test_parameters_of_an_older_run_are_read(tmp_path: Path) -> None:
    """The parameters of an older reference run are read. Newer keys get their defaults."""
    import yaml

    older = yaml.safe_load(TEXT)
    for key in ("treebanks", "tags", "tagger", "score_time"):
        del older[key]
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(older))
    loaded = params.load(tmp_path / "params.yaml")
    assert (loaded.tags_of("en_ewt"), loaded.section(ScoreTime)) == ("gold", ScoreTime())


@pytest.mark.parametrize(
    ("models", "rows", "message"),
    [
        (f"  x: {PEER.replace('tr_twt', 'en')}\n", "  x: {x: {}}\n", "no corpus 'en'; choose from tr_twt"),
        (f"  x: {PEER}\n", "  x: {x: {}, y: {}}\n", "decode: x and y are the same row of tr_twt"),
        (
            f"  x: {SEED.replace('seed: 2', 'tags: predicted')}\n",
            "  x: {x: {decoder: eisner, k: 3}}\n",
            "gold; change its entry in tags",
        ),
        (
            f"  x: {SEED.replace('seed: 2', 'seed: 1')}\n",
            "  x: {x: {decoder: eisner, k: 10}}\n",
            "decode: arc and x are the same row of tr_twt",
        ),
    ],
)
def test_models_and_rows_that_do_not_fit(models: str, rows: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text(with_added(models, rows))
    with pytest.raises(InputError) as caught:
        params.load(tmp_path / "params.yaml")
    assert message in str(caught.value)


def test_rows_of_a_corpus_follow_those_of_all(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text(with_added(f"  x: {SEED}\n", "  x: {x: {decoder: eisner, k: 10}}\n"))
    loaded = params.load(tmp_path / "params.yaml")
    row = loaded.rows_of("tr_twt")[-1]
    assert (row.name, row.model, row.trained) == ("x", "arc", "x")
    assert (row.everywhere, loaded.plain("tr_twt", row)) == (False, False)
    assert loaded.tags_and_seed("tr_twt", row) == ("gold", 2)


def test_a_row_that_reranks_shares_no_seed_with_a_row_that_searches(tmp_path: Path) -> None:
    import yaml

    from studies.pipeline.scratch import overlaid
    from studies.site.rows import seeds_of

    settings = yaml.safe_load(TEXT)
    settings["models"]["full"] = {"system": "sampling"}
    settings["decode"]["full"] = {"sampling": {}, "reranked": {"rerank": 50}}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(overlaid(settings, {"seeds": {"full": 2}})))
    loaded = params.load(tmp_path / "params.yaml")
    (corpus,) = loaded.corpora
    names = {
        name: [row.name for row in seeds_of(loaded, corpus, loaded.row(name)).values()]
        for name in ("sampling", "reranked")
    }
    assert names == {"sampling": ["sampling", "sampling-seed2"], "reranked": ["reranked"]}


def test_seeds_of_an_overlay_are_models_and_rows(tmp_path: Path) -> None:
    import yaml

    from studies.pipeline.scratch import overlaid
    from studies.site.rows import seeds_of
    from treebound.core.errors import InputError

    settings = yaml.safe_load(TEXT)
    merged = overlaid(settings, {"seeds": {"carreras": 3}})
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(merged))
    loaded = params.load(tmp_path / "params.yaml")
    (corpus,) = loaded.corpora
    row = loaded.row("carreras")
    assert {seed: row.name for seed, row in seeds_of(loaded, corpus, row).items()} == {
        1: "carreras",
        2: "carreras-seed2",
        3: "carreras-seed3",
    }
    assert loaded.row("carreras-seed2").model == "carreras"
    assert not loaded.row("carreras-seed2").benchmarked
    assert "carreras-seed2" not in settings["models"]
    with pytest.raises(InputError, match="seeds: great-aunt is no model with rows"):
        overlaid(settings, {"seeds": {"great-aunt": 3}})


def test_seeds_of_an_overlay_differ_by_corpus(tmp_path: Path) -> None:
    import yaml

    from studies.pipeline.scratch import overlaid
    from studies.site.rows import seeds_of
    from treebound.core.errors import InputError

    settings = yaml.safe_load(TEXT)
    (corpus,) = settings["corpora"]
    settings["corpora"] = [corpus, "cs_cltt"]
    settings["treebanks"] = [*settings["treebanks"], "cs_cltt"]
    merged = overlaid(settings, {"seeds": {"carreras": {"default": 3, corpus: 2}}})
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(merged))
    loaded = params.load(tmp_path / "params.yaml")
    row = loaded.row("carreras")
    assert list(seeds_of(loaded, corpus, row)) == [1, 2]
    assert list(seeds_of(loaded, "cs_cltt", row)) == [1, 2, 3]
    assert merged["models"]["carreras-seed3"]["corpora"] == ["cs_cltt"]
    limited = settings | {
        "models": settings["models"] | {"carreras": settings["models"]["carreras"] | {"corpora": [corpus]}}
    }
    seeds = {"carreras": {"default": 3, corpus: 2}}
    assert "carreras-seed3" not in overlaid(limited, {"seeds": seeds})["models"], (
        "no corpus has the model and this seed"
    )
    with pytest.raises(InputError, match="seeds: carreras: tr_imst is no corpus of the run"):
        overlaid(settings, {"seeds": {"carreras": {"tr_imst": 3}}})
