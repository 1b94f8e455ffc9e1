"""The leaderboard: ranks, intervals and reasons for missing cells, with invented results, and filters in a browser."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
import synthetic_results
import yaml
from nbformat.v4 import new_markdown_cell, new_notebook

from studies.across.leaderboard import parsers, remarks, tables
from studies.common import params as parameters
from studies.qian_liu_2013.comparison.headline import titles
from studies.site import collect
from studies.site.execute import execute
from studies.site.render import render

REPOSITORY = Path(__file__).parents[1]
NAME = "01-leaderboard"
CORPORA = ["tr_twt", "en_ewt"]
MODELS = {
    "arc-gold": {"same_as": "arc", "tags": "gold", "corpora": ["en_ewt"]},
    "arc-seed2": {"same_as": "arc", "seed": 2, "corpora": ["tr_twt"]},
    "udpipe": {"system": "udpipe", "corpora": ["tr_twt"]},
    "spacy": {"system": "spacy"},
}
ROWS = {
    **{name: {name: {"decoder": "eisner", "k": 10}} for name in ("arc-gold", "arc-seed2")},
    "arc": {"arc-wide": {"decoder": "eisner", "k": 20, "timed": False}},
    **{peer: {peer: {"timed": True}} for peer in ("udpipe", "spacy")},
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project whose run has two corpora, several seeds, other tags and parsers of other projects."""
    root = synthetic_results.project(tmp_path_factory.mktemp("project") / "project", REPOSITORY)
    base = yaml.safe_load((root / "params.yaml").read_text())
    params = base | {"corpora": CORPORA, "treebanks": [], "tags": {"en_ewt": "predicted"}}
    rows = {name: base["decode"].get(name, {}) | own for name, own in ROWS.items()}
    params |= {"models": base["models"] | MODELS, "decode": base["decode"] | rows}
    few = {"both-few": {"decoder": "few", "k": 10, "timed": False}}
    params["decoders"] = base["decoders"] | {"few": {"decoder": "branch-and-bound", "sentences": 20}}
    params["decode"]["carreras+grandchild+sibling"] = base["decode"]["carreras+grandchild+sibling"] | few
    (root / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    loaded = parameters.load(root / "params.yaml")
    synthetic_results.write(root / "results", loaded)
    return root


@pytest.fixture(scope="module")
def run(root: Path) -> collect.Results:
    return collect.this_run(root)


@pytest.fixture(scope="module")
def board(run: collect.Results) -> pd.DataFrame:
    return tables.ranked(parsers.parsers([run]))


# --- intervals


def test_the_interval_over_sentences_agrees_with_a_bootstrap() -> None:
    rng = np.random.default_rng(3)
    scored = rng.integers(1, 60, 800)
    correct = rng.binomial(scored, rng.beta(8, 2, 800))  # errors within a sentence depend on each other
    value, half = parsers.over_sentences(pd.DataFrame({"correct": correct, "scored": scored}))
    draws = rng.integers(0, 800, (4000, 800))
    resampled = 100 * correct[draws].sum(axis=1) / scored[draws].sum(axis=1)
    assert value == pytest.approx(100 * correct.sum() / scored.sum())
    assert half == pytest.approx(1.96 * resampled.std(), rel=0.06)
    over_words = 1.96 * np.sqrt(value * (100 - value) / scored.sum())
    assert half > 1.5 * over_words


def test_a_run_with_sentences_uses_sentences_and_a_reference_uses_its_stored_table_or_words(
    run: collect.Results, tmp_path: Path
) -> None:
    computed = parsers.intervals(run)
    assert set(computed["unit"]) == {parsers.OVER_SENTENCES}
    kept = tmp_path / "reference"
    shutil.copytree(run.folder / "metrics", kept / "metrics")
    reference = replace(run, name=collect.REFERENCE, folder=kept, info={"commit": "0" * 40})
    older = parsers.intervals(reference, ["tr_twt"])
    assert set(older["unit"]) == {parsers.OVER_WORDS}
    assert set(older.index.get_level_values("corpus")) == {"tr_twt"}
    (kept / "tables").mkdir()
    computed.to_csv(kept / "tables" / f"{parsers.KEPT}.csv")
    stored = parsers.intervals(reference)
    pd.testing.assert_frame_equal(stored, computed)


# --- ranks


def test_ranks_and_possible_ranks_are_counts_over_pairs_of_parsers(board: pd.DataFrame) -> None:
    for _, rows in board[board["unranked"] == ""].groupby("corpus"):
        lines = rows.to_dict("records")
        assert len(lines) > 10
        for own in lines:
            assert own["rank"] == 1 + sum(other["uas"] > own["uas"] for other in lines)
            assert own["first"] == 1 + sum(other["low"] > own["high"] for other in lines)
            assert own["last"] == len(lines) - sum(other["high"] < own["low"] for other in lines)
            assert own["first"] <= own["rank"] <= own["last"]
        assert [line["rank"] for line in lines] == sorted(line["rank"] for line in lines)


def test_every_row_of_the_parameters_is_a_row_or_a_seed_of_one(run: collect.Results, board: pd.DataFrame) -> None:
    for corpus in CORPORA:
        shown = board[(board["corpus"] == corpus) & (board["family"] != parsers.PUBLISHED)]
        names = {row.name for row in run.params.rows_of(corpus)}
        assert names - set(shown["row"]) == ({"arc-seed2"} if corpus == "tr_twt" else set())
        assert set(shown["row"].dropna()) <= names
        assert set(shown[shown["row"].isna()]["system"]) == {"maltparser"}


def test_a_row_has_the_name_of_its_model_as_on_other_pages(run: collect.Results, board: pd.DataFrame) -> None:
    names = titles(run, "tr_twt")
    assert names["both"] == "carreras+grandchild+sibling"
    assert names["both-few"] == "carreras+grandchild+sibling-few"
    assert names["both-k5"] == "carreras+grandchild+sibling-k5"
    assert names["transition-greedy"] == "transition-greedy"
    assert len(set(names.values())) == len(names)
    assert not set(board["system"]) & {"both", "sibling"}


def test_seeds_are_averaged(run: collect.Results, board: pd.DataFrame) -> None:
    arc = board[(board["corpus"] == "tr_twt") & (board["system"] == "arc")].iloc[0]
    uas = [run.read("decode", "tr_twt", f"{name}.json")[name]["uas"] for name in ("arc", "arc-seed2")]
    assert arc["seeds"] == 2
    assert arc["uas"] == pytest.approx(np.mean(uas))
    single = parsers.intervals(run).loc[("tr_twt", "arc")]
    assert arc["high"] - arc["low"] > single["high"] - single["low"]


def test_rows_that_cannot_be_compared_have_no_rank_and_a_reason(board: pd.DataFrame) -> None:
    by_reason = {why: set(rows["system"]) for why, rows in board.groupby("unranked")}
    assert by_reason[parsers.OTHER_TAGS] == {"arc-gold"}
    assert by_reason[parsers.OUTSIDE] == {"maltparser"}
    assert by_reason[parsers.PART] == {"carreras+grandchild+sibling-few"}
    assert by_reason[parsers.FROM_PAPER] == set(board[board["family"] == parsers.PUBLISHED]["system"])
    assert by_reason[parsers.ONE_TRAINING] == {"arc-wide"}
    assert len(by_reason) == 6
    assert board[board["unranked"] != ""]["rank"].isna().all()
    assert board[board["unranked"] == ""]["rank"].notna().all()


def test_the_overall_ranking_needs_all_corpora(board: pd.DataFrame) -> None:
    means = tables.overall(board).set_index("system")
    by_place = board[board["unranked"] == ""].set_index(["system", "corpus"])
    for system in ("spacy", "carreras"):
        places = by_place.loc[system]
        assert means.loc[system, "uas"] == pytest.approx(places["uas"].mean())
        half = np.sqrt((((places["high"] - places["low"]) / 2) ** 2).sum()) / 2
        assert means.loc[system, "high"] - means.loc[system, "uas"] == pytest.approx(half)
    assert means.loc["udpipe", "lacking"] == "en_ewt"
    assert np.isnan(means.loc["udpipe", "rank"])
    assert np.isnan(means.loc["udpipe", "uas"])


def test_an_incomplete_share_of_proofs_is_never_shown_as_100(board: pd.DataFrame) -> None:
    changed = board.assign(proved=board["proved"].where(board["system"] != "carreras", 99.96))
    table, _ = tables.leaderboard(changed, "A board")
    assert set(table.data.loc["carreras", "proved, %"]) == {99.9}
    shown = tables.overall_table(tables.overall(changed), "Means")
    assert shown.data.loc["carreras", "proved, %"] == 99.9
    assert "udpipe" not in shown.data.index, "it has no rank"
    assert "udpipe" in shown._repr_mimebundle_()["text/csv"]


def test_each_cell_without_a_value_has_a_letter_with_a_reason(board: pd.DataFrame) -> None:
    table, reasons = tables.leaderboard(board, "A board")
    cells = re.findall(r"<td[^>]*>– (\w)</td>", table._repr_html_())
    assert len(cells) == reasons.data["cells"].sum() > 10
    assert set(cells) == set(reasons.data.index)
    assert "<td>–</td>" not in table._repr_html_()
    assert "not measured" not in set(reasons.data["reason"])
    stored = table._repr_mimebundle_()["text/csv"]
    assert stored.startswith("system,run,corpus,family,uas,low,high")
    assert parsers.NOT_TIMED in stored


def test_memory_is_shown_and_its_absence_in_an_older_run_is_explained(
    run: collect.Results, board: pd.DataFrame, tmp_path: Path
) -> None:
    table, _ = tables.leaderboard(board, "A board")
    headings = list(table.data.columns)
    assert headings.index("memory, MB") == headings.index("training, CPU s") + 1
    peaks = run.read("timing", "decode", "tr_twt", "carreras+grandchild+sibling.json")
    ours = board[(board["corpus"] == "tr_twt") & board["row"].isin(peaks)].set_index("row")["peak_mb"]
    assert len(ours) == len(peaks) > 5
    assert ours.nunique() > 5
    assert ours.to_dict() == {name: row["peak_mb"] for name, row in peaks.items()}
    assert board[board["row"].isna()]["peak_mb"].isna().all(), "no published figure has a value"
    means = tables.overall(board).set_index("system")
    assert means.loc["carreras", "peak_mb"] == board[board["system"] == "carreras"]["peak_mb"].max()
    assert "memory, MB" in tables.overall_table(tables.overall(board), "Means").data

    kept = tmp_path / "reference"
    shutil.copytree(run.folder / "metrics", kept / "metrics")
    shutil.rmtree(kept / "metrics" / "timing" / "decode")
    older = tables.ranked(parsers.parsers([replace(run, folder=kept, name="reference", info={"commit": "0" * 40})]))
    assert older["peak_mb"].isna().all()
    assert older["train_cpu_s"].notna().any()
    _, reasons = tables.leaderboard(older, "An older board")
    explained = reasons.data.set_index("reason")["cells"]
    assert explained[parsers.NO_MEMORY] == older["row"].notna().sum()
    assert parsers.NO_MEMORY not in set(tables.leaderboard(board, "A board")[1].data["reason"])
    assert np.isnan(tables.overall(older).set_index("system").loc["carreras", "peak_mb"])
    assert "No run on this page measured it" in repr(remarks.intervals(older))
    assert "These runs are older than the measurement: reference." in repr(
        remarks.intervals(pd.concat([older, board], ignore_index=True))
    )
    text = repr(remarks.intervals(board))
    assert "Memory is the peak resident memory" in text
    assert "older than the measurement" not in text


# --- answers


def test_winners_are_the_maxima(board: pd.DataFrame) -> None:
    means = tables.overall(board)
    best = tables.winners(board, means)
    assert list(best.index) == [*CORPORA, tables.MEAN]
    for corpus in CORPORA:
        rows = board[(board["corpus"] == corpus) & board["rank"].notna()]
        assert best.loc[corpus, (tables.QUESTIONS[0], "UAS, %")] == rows["uas"].max()
        near = rows[rows["uas"] >= rows["uas"].max() - 1]
        assert best.loc[corpus, (tables.QUESTIONS[1], "words per CPU second")] == near["words_per_cpu_s"].max()
        assert best.loc[corpus, (tables.QUESTIONS[2], "UAS, %")] == rows[rows["proved"] == 100]["uas"].max()


def test_others_are_compared_under_the_same_tags(board: pd.DataFrame) -> None:
    means = tables.overall(board)
    compared = tables.against_others(board, means)
    places = [place[2:] for place in compared.index]
    assert sorted(places) == [("en_ewt", "spacy"), ("tr_twt", "spacy"), ("tr_twt", "udpipe")]
    assert (compared["difference"] == compared["UAS of ours"] - compared["UAS of the other"]).all()
    shown = tables.compared_table(compared)
    assert list(shown.columns[:2]) == ["corpus", "difference"]
    assert "our parser" not in shown
    assert all(note.startswith(f"on {corpus}, ") for corpus, note in shown[["corpus", "note"]].itertuples(index=False))
    text = repr(remarks.others(compared, {"en_ewt": "en", "tr_twt": "tr"}, tables.not_run(board)))
    english = compared.xs("en_ewt", level="corpus").iloc[0]
    assert f"spacy on en_ewt: {english['difference']:+.2f}" in text
    assert "no rows for them: udpipe on en_ewt." in text
    assert "spacy on tr_twt" not in text
    different = ~compared["same attributes"].astype(bool)
    places = set(compared[different].index.get_level_values("corpus"))
    counted = f"see different attributes in {different.sum()} of 3 comparisons (tr_twt)"
    assert (counted in text) == (places == {"tr_twt"})
    other = compared.assign(**{"same attributes": False})
    assert "spacy on en_ewt" not in repr(remarks.others(other, {"en_ewt": "en"}, tables.not_run(board)))


def test_the_answer_names_the_best_the_fast_and_the_proved(board: pd.DataFrame) -> None:
    means = tables.overall(board)
    text = repr(remarks.answer(board, means))
    own = means[means["rank"].notna()]
    best = own.loc[own["uas"].idxmax()]
    assert f"{best['system']} ({best['family']}) has the highest mean UAS, {best['uas']:.2f} %" in text
    assert f"{(own['proved'] == 100).sum()} of these {len(own)} parsers" in text
    alone = board[board["corpus"] == "en_ewt"]
    first = alone[alone["rank"] == 1].iloc[0]
    assert f"{first['system']} ({first['family']}) has the highest UAS" in repr(
        remarks.answer(alone, tables.overall(alone))
    )


# --- the page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
#: script that filters and sorts the large table, and writes what it sees into the page
TRY = """<script>addEventListener("load", () => {
  const table = [...document.querySelectorAll("table.leaderboard")].pop();
  const bar = table.closest(".scroll").previousElementSibling;
  const shown = () => [...table.tBodies[0].rows].filter((row) => row.offsetHeight > 0);
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const cells = (name) => shown().map((row) => row.cells[names.indexOf(name)].textContent);
  const change = (control, value) => { control.value = value; control.dispatchEvent(new Event("input")); };
  const labelled = (text) =>
    [...bar.querySelectorAll("label")].find((one) => one.textContent.startsWith(text)).querySelector("select, input");
  const seen = { rows: shown().length, labels: [...bar.querySelectorAll("label")].length };
  change(labelled("run"), "this run"); change(labelled("corpus"), "en_ewt");
  seen.corpora = [...new Set(cells("corpus"))];
  change(labelled("family"), "sampling");
  seen.families = [...new Set(cells("family"))];
  seen.count = bar.textContent;
  seen.few = shown().length;
  change(labelled("family"), ""); change(labelled("contains"), "UNPRUNED");
  seen.found = cells("parser");
  change(labelled("contains"), "");
  table.tHead.querySelectorAll("button")[names.indexOf("UAS, %")].click();
  seen.sorted = cells("UAS, %").map(Number);
  seen.height = document.documentElement.scrollHeight;
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  seen.open = document.documentElement.scrollHeight;
  seen.wide = document.documentElement.scrollWidth > innerWidth;
  const frame = table.closest(".scroll");
  frame.scrollLeft = 400; frame.scrollTop = 300;
  const box = frame.getBoundingClientRect();
  seen.first = Math.round(shown()[20].cells[0].getBoundingClientRect().left - box.left);
  seen.head = Math.round(table.tHead.rows[0].cells[3].getBoundingClientRect().top - box.top);
  parent.postMessage([innerWidth, seen], "*");
});</script>"""
FRAMES = """<body><script>addEventListener("message", ({data}) => {
  const line = document.createElement("pre"); line.textContent = JSON.stringify(data); document.body.append(line);
});</script>"""


@pytest.fixture(scope="module")
def page(root: Path) -> Path:
    """Return the rendered page of a reference and of a run with two corpora."""
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    folder = root / "results" / "notebooks"
    folder.mkdir(exist_ok=True)
    index = new_notebook(cells=[new_markdown_cell("# Index\n\nThe entry.")], metadata=metadata)
    (folder / "index.ipynb").write_text(nbformat.writes(index), encoding="utf-8")
    with contextlib.chdir(root):
        executed = execute(REPOSITORY / "notebooks" / f"{NAME}.ipynb", folder / f"{NAME}.ipynb")
        return render([folder / "index.ipynb", executed], root / "results" / "report").parent / f"{NAME}.html"


def test_the_page_is_readable_without_script(page: Path, board: pd.DataFrame) -> None:
    html = page.read_text(encoding="utf-8")
    large = html.split('<table class="figures leaderboard many"')[2]
    assert large.count("<tr>") > len(board)  # the rows of this run and of the reference
    assert '<details class="long">' not in html
    assert "<select" not in html
    assert 'data-filters="run|corpus|family"' in html


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_filters_and_sorts_the_leaderboard(page: Path, board: pd.DataFrame, tmp_path: Path) -> None:
    looked = shutil.copytree(page.parent, tmp_path / "site")
    (looked / page.name).write_text(page.read_text(encoding="utf-8").replace("</head>", f"{TRY}</head>"))
    widths = (390, 1200)
    frames = [
        f'<iframe src="{page.name}" style="width: {width}px; height: 900px; border: 0"></iframe>' for width in widths
    ]
    (looked / "frames.html").write_text(FRAMES + "".join(frames))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--virtual-time-budget=20000"]
    flags += [f"--user-data-dir={tmp_path / 'profile'}", "--host-resolver-rules=MAP * 127.0.0.1:9", "--dump-dom"]
    command = [str(CHROMIUM), *flags, (looked / "frames.html").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    reported = dict(map(json.loads, re.findall("<pre>(.*?)</pre>", shown, re.S)))
    assert set(reported) == set(widths)
    own = board[board["corpus"] == "en_ewt"]
    sampling = own[own["family"] == "sampling"]
    for width, seen in reported.items():
        assert seen["labels"] == 4
        assert seen["rows"] > len(board)
        assert seen["corpora"] == ["en_ewt"]
        assert seen["families"] == ["sampling"]
        assert seen["few"] == len(sampling)
        assert f"{len(sampling)} of {seen['rows']} rows" in seen["count"]
        assert seen["found"] == [name for name in own["system"] if "unpruned" in name]
        assert seen["sorted"] == pytest.approx(sorted(own["uas"].round(2), reverse=True), abs=0.011)
        assert not seen["wide"]
        assert (seen["first"], seen["head"]) == (0, 0), "names of rows and headings stay in sight"
        if width == 1200:
            assert seen["open"] <= 8000


def test_a_parser_that_is_not_installed_has_no_measured_values(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path / "project")
    run = collect.this_run(tmp_path / "project")
    synthetic_results.change_rows(run.folder, "tr_twt", "udpipe", missing="udpipe: not installed", las=0.0)
    board = parsers.parsers([run], ["tr_twt"]).set_index("row")
    measured = ["las", "words_per_cpu_s", "train_cpu_s", "peak_mb"]
    assert board.loc["udpipe", measured].isna().all()
    assert board.loc["udpipe", "unranked"].startswith("not installed")
    assert board.loc["arc", ["las", "words_per_cpu_s"]].notna().all()
