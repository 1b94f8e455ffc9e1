"""The page Explore: its file is checked, its records agree with the parser, and a browser steps through it."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import numpy as np
import pytest
import synthetic_results
from nbformat.v4 import new_markdown_cell, new_notebook
from oracles.score import scores
from oracles.trees import trees
from synthetic import synthetic_treebank

from studies.across.explore import page, source, stored
from studies.across.explore.breaches import UD, Rules
from studies.across.explore.models import Trained, model_path
from studies.across.explore.records import NONE_YET, recorded, sentences
from studies.site import collect
from studies.site import rows as site_rows
from studies.site.execute import execute
from studies.site.playground import tagged
from studies.site.render import render
from treebound.constraints.rows import Words
from treebound.core.errors import InputError
from treebound.learning.pruner import train_pruner
from treebound.support.settings import SettingError
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.systems.tagging.several import train_taggers
from treebound.treebanks import storage

REPOSITORY = Path(__file__).parents[1]
FILE = REPOSITORY / "results" / "reference" / stored.NAME
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def reference() -> stored.Stored:
    return stored.read(FILE)


# --- the stored file


def test_the_stored_file_has_the_forty_sentences_and_is_small(reference: stored.Stored) -> None:
    texts = sentences()
    assert len(set(texts)) == 40
    lengths = [len(text.split()) for text in texts]
    assert min(lengths) <= 6
    assert max(lengths) >= 25
    assert [" ".join(sentence.words) for sentence in reference.sentences] == texts
    assert FILE.stat().st_size < 250_000
    assert stored.as_json(reference) == FILE.read_text(encoding="utf-8")


def test_the_stored_searches_are_proofs(reference: stored.Stored) -> None:
    for sentence in reference.sentences:
        search, best = sentence.search, sentence.trees[0]
        assert (search.faults, sentence.default.faults) == ([], [])
        assert search.status == "optimal"
        assert search.bound == best.score == search.calls[-1][2]
        assert search.best[-1][1] == best
        lower = [score for _, _, score in search.calls if score is not None]
        assert lower == sorted(lower)
        for parent, _, _, _, upper, branched in search.nodes:
            assert branched or upper is None or upper <= best.score + 1e-3
            assert parent < 0 or search.nodes[parent][5] == 1
        scores_of_trees = [tree.score for tree in sentence.trees]
        assert scores_of_trees == sorted(scores_of_trees, reverse=True)
        assert len({tuple(tree.heads) for tree in sentence.trees}) == len(sentence.trees)
        finite = [margin for margin in sentence.margins if margin is not None]
        assert min(finite) == pytest.approx(best.score - sentence.trees[1].score, abs=2e-4)
    assert sum(len(sentence.search.nodes) > 1 for sentence in reference.sentences) >= 15
    assert any(tree.broken for sentence in reference.sentences for tree in sentence.trees[1:])
    assert any(sentence.valid for sentence in reference.sentences)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("sentences", 0, "heads"), [], "sentences.0.heads: Unexpected keyword argument"),
        (("sentences", 0, "trees", 0, "heads"), [0], "sentences.0: heads of tree 0 has 1 entries for"),
        (("sentences", 1, "trees", 0, "heads", 0), 99, "sentences.1: head 99 of"),
        (("sentences", 0, "trees", 0, "labels", 0), 500, "sentences.0: label 500 of"),
        (("sentences", 0, "trees", 0, "broken"), [[77, [1]]], "sentences.0: rule 77 of"),
        (("sentences", 0, "search", "calls", 0), [77, 1.0, 1.0], "sentences.0: node of a call 77 of"),
        (("sentences", 0, "search", "nodes", 0, 0), 3, "sentences.0: parent 3 of node 0"),
        (("sentences", 0, "margins", 0), "high", "sentences.0.margins.0: Input should be a valid number"),
        (("sentences",), [], "sentences: List should have at least 1 item"),
        (("origin", "trained"), -5, "origin.trained: Input should be greater than or equal to 0"),
    ],
)
def test_a_damaged_file_is_refused(path: tuple, value: object, message: str, tmp_path: Path) -> None:
    data = json.loads(FILE.read_text(encoding="utf-8"))
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    (tmp_path / "explore.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        stored.read(tmp_path / "explore.json")


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b"\xff\xfe"])
def test_a_file_that_is_no_json_is_refused(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "explore.json").write_bytes(content)
    with pytest.raises(InputError, match=r"explore\.json"):
        stored.read(tmp_path / "explore.json")


# --- records


@pytest.fixture(scope="module")
def small() -> Trained:
    learn = synthetic_treebank(60, 1, 12)
    dev = learn.select(np.arange(10))
    spec = Settings(("grandchild", "sibling"), epochs=1, bits=14, k=None)
    model = train(spec, learn, dev, train_pruner(learn, epochs=1, bits=12))
    taggers = train_taggers(learn, dev, ("upos", "xpos"), epochs=1, bits=12, seed=1)
    return Trained("synthetic", "small", model, taggers, len(learn), dev)


TEXTS = ("d1 n1 v1 a2 .", "n1 v1 n2 .")


def test_records_equal_the_enumeration_of_all_trees(small: Trained) -> None:
    result = recorded(small, TEXTS)
    for text, sentence in zip(TEXTS, result.sentences, strict=True):
        problem = small.parser.problem(tagged(text, small.taggers), 0)
        values = {
            tuple(heads[1:]): value / (problem.unit or 1.0)
            for heads, value in zip(trees(problem.n).tolist(), scores(problem), strict=True)
            if abs(value) < NONE_YET
        }
        ranked = sorted(values.values(), reverse=True)
        assert [tree.score for tree in sentence.trees] == pytest.approx(ranked[: len(sentence.trees)], abs=1e-4)
        for tree in sentence.trees:
            assert values[tuple(tree.heads)] == pytest.approx(tree.score, abs=1e-4)
        for word, margin in enumerate(sentence.margins):
            rivals = [v for heads, v in values.items() if heads[word] != sentence.trees[0].heads[word]]
            assert margin == pytest.approx(ranked[0] - max(rivals), abs=1e-4)
        for call, tree in sentence.search.best:
            if tree is not None:
                assert values[tuple(tree.heads)] == pytest.approx(sentence.search.calls[call - 1][2], abs=1e-4)
        assert sentence.search.faults == sentence.default.faults == []
    assert stored.parsed(stored.as_json(result)) == result


def test_broken_rules_name_their_words() -> None:
    """A verb with two subjects breaks a rule of Universal Dependencies and a constraint of the corpus."""
    names = ("det", "nsubj", "obj", "punct", "root")
    words = Words.of(["Dogs", "cats", "sleep", "."], ["NOUN", "NOUN", "VERB", "PUNCT"]).with_empty_columns()
    heads, rules = np.array([-1, 3, 3, 0, 3], np.int32), Rules(names, "en_ewt")
    assert rules.broken(words, heads, ["nsubj", "obj", "root", "punct"]) == []
    breaches = rules.broken(words, heads, ["nsubj", "nsubj", "root", "punct"])
    assert ("en_ewt", "unique-labels", (1, 2)) in breaches
    assert any(rules == UD and rule == "too-many-subjects" and set(at) >= {1, 2} for rules, rule, at in breaches)
    assert Rules((), "en_ewt").applied == {}
    assert Rules(names, "tr_twt").applied.keys() == {UD}


# --- the source of the sentences of a page


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_results.project(tmp_path_factory.mktemp("project"), REPOSITORY)


def test_a_run_without_an_english_model_shows_the_reference(project: Path, tmp_path: Path) -> None:
    chosen = source.choose(project, repository=FILE)
    assert chosen.stored == stored.read(FILE)
    assert chosen.origin.startswith("This run has no model of an English corpus.")
    nothing = source.choose(project, repository=tmp_path / "missing.json")
    assert nothing.stored is None
    assert page.sentence_table(None).empty
    assert "no run has results" in page.Explorer(None)._repr_html_()
    assert "No run has decoded sentences" in str(page.answer(nothing) + page.origin(nothing))
    with pytest.raises(SettingError, match="unknown corpus 'xx'"):
        source.choose(project, "xx")
    with pytest.raises(InputError, match="no such model"):
        source.choose(project, "tr_twt")


def test_a_stored_file_of_the_run_comes_first(project: Path, tmp_path: Path, reference: stored.Stored) -> None:
    root = shutil.copytree(project, tmp_path / "run")
    stored.write(
        stored.Stored(**{**vars(reference), "sentences": reference.sentences[:2]}), root / "results" / stored.NAME
    )
    chosen = source.choose(root)
    assert chosen.stored is not None
    assert len(chosen.stored.sentences) == 2
    assert "2 of 2 sentences" in str(page.answer(chosen))
    assert "the backbone `eisner` and at most 1 change of the multipliers in a node" in str(page.answer(chosen))


def test_a_model_of_the_run_decodes_the_sentences(project: Path, tmp_path: Path) -> None:
    root = shutil.copytree(project, tmp_path / "run")
    learn = synthetic_treebank(60, 1, 12)
    dev = learn.select(np.arange(10))
    spec = Settings(("adjacent-sibling", "sibling"), epochs=1, bits=14, k=3, labels="none", threshold=0.01)
    name = site_rows.tour_row(collect.this_run(root).params, "", 10).trained
    path = model_path(root, "tr_twt", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    train(spec, learn, dev, train_pruner(learn, epochs=1, bits=12)).save(path)
    for split, treebank in (("train", learn), ("dev", dev)):
        storage.save(treebank, root / "data" / "converted" / "tr_twt" / f"{split}.npz")
    chosen = source.choose(root, "tr_twt")
    assert chosen.origin == f"The sentences were decoded with the model `{name}` of this run, trained on tr_twt."
    assert chosen.stored is not None
    assert [" ".join(sentence.words) for sentence in chosen.stored.sentences] == sentences()
    assert (chosen.stored.labels, chosen.stored.applied) == ([], {})
    assert chosen.stored.origin.options["backbone"] == "carreras"
    assert "The model has no labels to which rules apply." in str(page.origin(chosen))
    assert "violations, best" not in page.sentence_table(chosen.stored)
    assert stored.parsed(stored.as_json(chosen.stored)) == chosen.stored
    assert source.choose(root, repository=FILE).stored == stored.read(FILE)  # tr_twt is not English


def test_tables_count_what_the_file_has(reference: stored.Stored) -> None:
    table = page.sentence_table(reference)
    assert len(table) == 40
    assert table["violations, others"].sum() == sum(
        len(tree.broken) for sentence in reference.sentences for tree in sentence.trees[1:]
    )
    more = table["calls, default"] > table["calls, shown"]
    assert more.any()
    assert ((table["note"] != "") == more).all(), "only a default search with more calls needs an explanation"
    rules = page.rule_table(reference)
    assert (rules["best trees"] + rules["other trees"]).min() >= 1
    facts = page.model_table(reference)
    assert "sentences" in str(facts.index)
    assert not any("_" in name for name in facts.index), "options have names that readers know"


# --- the page in a browser

#: script that uses the page as a reader does and reports the faults that it sees
USE = f"<script>{(REPOSITORY / 'tests' / 'explore_page.js').read_text(encoding='utf-8')}</script>"


@pytest.fixture(scope="module")
def site(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site with an index and the page Explore."""
    folder = tmp_path_factory.mktemp("pages")
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    index = new_notebook(cells=[new_markdown_cell("# Index")], metadata=metadata)
    (folder / "index.ipynb").write_text(nbformat.writes(index), encoding="utf-8")
    with contextlib.chdir(project):
        explored = execute(REPOSITORY / "notebooks" / "07-explore.ipynb", folder / "07-explore.ipynb")
    return render([folder / "index.ipynb", explored], folder / "site").parent


def test_the_page_is_readable_without_a_script(site: Path) -> None:
    text = (site / "07-explore.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 400_000
    plain = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    for sentence in sentences():
        assert f"<th scope=row>{sentence}<" in plain  # browsers need neither the end tag nor quotation marks
    assert "Dependency tree: " in plain
    assert "<svg" in plain
    assert not re.search(r"(src|href)=\"(https?:)?//", text)
    script = (site / "explore.js").read_text(encoding="utf-8")
    assert not re.search(r"\beval\(|new Function|innerHTML|fetch\(|XMLHttpRequest", script)
    assert "explore.js" not in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [1600, 1200, 832, 390])
def test_a_browser_steps_through_every_search(width: int, site: Path, tmp_path: Path) -> None:
    """A frame has the width, because the window of a headless browser has a smallest width."""
    looked = shutil.copytree(site, tmp_path / "site")
    used = looked / "07-explore.html"
    used.write_text(used.read_text(encoding="utf-8").replace("</head>", f"{USE}</head>"), encoding="utf-8")
    reported = _report(used, width, tmp_path)
    assert reported == {"width": width, "faults": []}
    script = looked / "explore.js"
    text = script.read_text(encoding="utf-8")
    assert "state.step + 1)" in text
    script.write_text(text.replace("state.step + 1)", "state.step + 2)"), encoding="utf-8")
    if width == 1200:  # the report finds a step that is skipped
        assert any("call" in fault for fault in _report(used, width, tmp_path)["faults"])


def _report(path: Path, width: int, folder: Path) -> dict:
    """Return the report of the script USE in a frame of the given width."""
    frame = path.with_name("frame.html")
    show = "addEventListener('message', (event) => { document.body.append(event.data); });"
    frame.write_text(
        f'<!DOCTYPE html><body><script>{show}</script><iframe src="{path.name}" '
        f'style="width: {width}px; height: 900px; border: 0"></iframe>',
        encoding="utf-8",
    )
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder / 'profile'}"]
    command = [str(CHROMIUM), *flags, "--virtual-time-budget=60000", "--dump-dom", frame.as_uri()]
    text = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    match = re.search(r'\{"width".*\}', text)
    assert match, text[-500:]
    return json.loads(match[0].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
