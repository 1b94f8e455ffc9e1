"""Claims of the papers and the verdicts on them, on invented figures; and the files that are shipped."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import tomllib
from pathlib import Path

import made_up_results
import pandas as pd
import pytest

from studies.common import params as parameters
from studies.qian_liu_2013.comparison.files import claimed
from studies.site import claims, collect, export, published
from studies.site.claims.judge import CONTRADICTED as AGAINST
from studies.site.claims.judge import HOLDS, MIXED, NOT_TESTED, UNDECIDED, Judged, judge, side
from studies.site.claims.load import Claim, Paper, load, read
from studies.site.claims.measured import Measured, exact
from studies.site.claims.measures import PAPERS
from studies.site.claims.show import Replication, frame, replication
from treebound.core.errors import InputError

REPOSITORY = Path(__file__).parents[1]
STUDIES = REPOSITORY / "src" / "studies"
TEXTS = {"name": "a", "claim": "It helps.", "section": "4", "published": "1.0"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the reference's parameters."""
    folder = tmp_path_factory.mktemp("project") / "project"
    return made_up_results.project(folder, REPOSITORY, overlay="reference.yaml")


@pytest.fixture(scope="module")
def unchanged(root: Path) -> collect.Results:
    """The run, its parameters read once."""
    return collect.this_run(root)


@pytest.fixture
def run(root: Path, tmp_path: Path) -> collect.Results:
    """A copy of the run whose files a test may change."""
    shutil.copytree(root, tmp_path / "project")
    return collect.this_run(tmp_path / "project")


def claim(**settings: object) -> Claim:
    return Claim.model_validate(TEXTS | {"measure": "UAS", "rows": ("a", "b"), "than": 0} | settings)


def judged(run: collect.Results, **settings: object) -> Judged:
    (one,) = judge([run], [Paper(key="p", cite="P", title="T", claims=(claim(**settings),))])
    return one


def change(run: collect.Results, place: str, **figures: object) -> None:
    """Overwrite figures of metrics."""
    for path in sorted((run.folder / "metrics").glob(place)):
        path.write_text(json.dumps(json.loads(path.read_text()) | figures))


# --- tests and verdicts


@pytest.mark.parametrize(
    ("test", "low", "high", "expected"),
    [
        ({"test": "more"}, 0.1, 0.5, 1),
        ({"test": "more"}, -0.1, 0.5, 0),
        ({"test": "more"}, -0.5, -0.1, -1),
        ({"test": "more"}, 0.0, 0.0, -1),
        ({"test": "at least"}, 0.0, 0.0, 1),
        ({"test": "less"}, -0.5, -0.1, 1),
        ({"test": "less"}, 0.1, 0.5, -1),
        ({"test": "at most", "than": 5}, 5.0, 5.0, 1),
        ({"test": "within", "than": 5, "tolerance": 1}, 4.5, 5.5, 1),
        ({"test": "within", "than": 5, "tolerance": 1}, 5.5, 6.5, 0),
        ({"test": "within", "than": 5, "tolerance": 1}, 6.5, 7.5, -1),
    ],
)
def test_the_whole_interval_passes_or_fails(test: dict, low: float, high: float, expected: int) -> None:
    assert side(claim(**test), Measured("x", (low + high) / 2, low, high)) == expected


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((1, 1, 0), HOLDS),
        ((1, 0, 0), MIXED),
        ((1, 1, 1, -1), MIXED),
        ((-1, -1, 0), AGAINST),
        ((-1, 0, 0), MIXED),
        ((0, 0, 0), UNDECIDED),
        ((), NOT_TESTED),
    ],
)
def test_most_corpora_and_none_the_other_way_make_a_verdict(values: tuple[int, ...], verdict: str) -> None:
    paper = Paper(key="p", cite="P", title="T")
    measured = tuple(exact("x", value) if value else Measured("x", 0.0, -1.0, 1.0) for value in values)
    one = Judged(paper, claim(), measured)
    assert one.verdict == verdict
    if len(values) > 1:
        assert f"of {len(values)} tests {values.count(1)} for it, {values.count(-1)} against it" in one.because


def test_what_cannot_be_tested_says_why() -> None:
    paper = Paper(key="p", cite="P", title="T")
    needs = Judged(paper, Claim.model_validate(TEXTS | {"needs": "a licence"}))
    assert (needs.verdict, needs.because) == (NOT_TESTED, "It needs a licence.")
    assert Judged(paper, None).verdict == NOT_TESTED
    assert "are not there" in Judged(paper, claim()).because


# --- measures: a changed figure changes the verdict


def test_a_changed_accuracy_changes_the_verdict(run: collect.Results) -> None:
    rows = ("all factors", "carreras")
    assert judged(run, rows=rows).verdict != HOLDS
    for path in run.folder.glob("predictions/*/decode/*/*.csv"):
        data = pd.read_csv(path, dtype={"words": str})
        right = "combined" in path.name
        data.assign(correct=data["scored"] * right).to_csv(path, index=False)
    one = judged(run, rows=rows)
    assert one.verdict == HOLDS
    assert {m.value for m in one.measured} == {100.0}
    learners = {"mira", "perceptron"}
    assert {m.place for m in one.measured} == {f"{c}, {learner}" for c in run.corpora for learner in learners}
    assert judged(run, rows=rows[::-1]).verdict == AGAINST
    assert len(judged(run, rows=rows, corpora=("en_ewt",)).measured) == len(learners)
    assert judged(run, rows=("combined", "no pruning", "carreras")).verdict == AGAINST  # the first pair is alike


def test_a_row_that_a_run_lacks_is_not_tested(run: collect.Results) -> None:
    assert judged(run, rows=("great-aunt", "carreras")).verdict == NOT_TESTED
    places = [m.place for m in judged(run, rows=("carreras+pattern", "carreras")).measured]
    assert places == ["pt_petrogold, mira", "en_ewt, mira", "ptb_sample, mira"]


def test_a_reference_keeps_the_differences_of_its_claims(run: collect.Results, tmp_path: Path) -> None:
    whole = claimed(run)
    assert set(whole["interval"]) == {"paired", "unpaired"}  # unpaired: the parsers of others
    kept = tmp_path / "kept"
    shutil.copytree(run.folder / "metrics", kept / "metrics")
    reference = dataclasses.replace(run, folder=kept, info={"commit": "f" * 40})
    bare = claimed(reference)
    assert set(bare["interval"]) == {"unpaired"}
    pd.testing.assert_series_equal(bare["difference"], whole["difference"])
    assert export.export(run.folder.parent, kept, only=("differences",)) == []
    pd.testing.assert_frame_equal(claimed(reference), whole)


def test_speed_and_calls_are_compared_step_by_step(run: collect.Results) -> None:
    steps = ("k = 3", "k = 5", "k = 10", "k = 20", "no pruning")
    speed = {"measure": "speed", "rows": steps, "compare": "next", "than": 1}
    assert judged(run, **speed).verdict == HOLDS
    path = run.folder / "metrics" / "benchmark" / "tr_twt.json"
    rows = json.loads(path.read_text())
    for row in rows:
        if row["row"] == "combined-k5":
            row.update(cpu_s=100.0, cpu_s_range=[99.0, 101.0])
    path.write_text(json.dumps(rows))
    assert judged(run, **speed).verdict == MIXED
    calls = {"measure": "calls", "rows": steps[::-1], "compare": "next", "than": 1}
    assert judged(run, **calls).verdict == HOLDS
    made_up_results.change_rows(run.folder, "*", "combined-unpruned", dp_calls=1)
    assert judged(run, **calls).verdict == AGAINST


def test_a_search_that_gives_up_is_not_exact(run: collect.Results) -> None:
    exact_search = {"measure": "proved", "rows": ("carreras+sibling",), "test": "at least", "than": 100}
    assert judged(run, **exact_search).verdict == HOLDS
    made_up_results.change_rows(run.folder, "zh_gsd", "sibling*", certified=59)
    assert judged(run, **exact_search).verdict == MIXED
    work = {"measure": "calls of a row", "rows": ("published search",), "test": "at most", "than": 50}
    assert judged(run, **work).verdict == AGAINST
    made_up_results.change_rows(run.folder, "*", "*published*", dp_calls=600)
    one = judged(run, **work)
    assert (one.verdict, one.measured[0].value) == (HOLDS, 10.0)


def test_folds_have_an_interval_of_leaving_one_out(run: collect.Results) -> None:
    gain = {"measure": "UAC", "rows": ("constraints", "baseline")}
    (same,) = judged(run, **gain).measured
    assert same.value == pytest.approx(same.low) == pytest.approx(same.high)  # all invented folds are alike
    path = run.folder / "metrics" / "constraints" / "nl_alpino" / "0.json"
    fold = json.loads(path.read_text())
    fold["systems"]["constraints"]["heads"] = 0
    path.write_text(json.dumps(fold))
    (other,) = judged(run, **gain).measured
    assert other.low < other.value < other.high
    assert other.value < same.value
    assert judged(run, measure="first iteration", rows=("constraints",), than=24).verdict == HOLDS
    assert judged(run, measure="better", rows=("constraints",), than=50).verdict == HOLDS


@pytest.mark.parametrize("one", [c for p in load() for c in p.claims if c.measure], ids=lambda c: c.name)
def test_every_claim_can_be_judged_by_the_reference(one: Claim, unchanged: collect.Results) -> None:
    found = judge([unchanged], [Paper(key="p", cite="P", title="T", claims=(one,))])[0]
    assert found.measured or one.corpora == ("ptb",)


# --- files


def write(folder: Path, **settings: object) -> Path:
    path = folder / "paper.toml"
    values = TEXTS | {"measure": "UAS", "rows": ["arc", "carreras"], "than": 0} | settings
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items() if value is not None]
    path.write_text("\n".join(['key = "p"', 'cite = "P"', 'title = "T"', "", "[[claims]]", *lines, ""]))
    return path


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rowz": ["a"]}, "paper.toml:13: a: rowz: unknown key; valid keys are name, claim"),
        ({"measure": "beauty"}, "paper.toml:10: a: measure: no measure 'beauty'; choose from "),
        ({"test": "prettier"}, "paper.toml:13: a: test: Input should be 'more'"),
        ({"test": "within"}, "paper.toml:5: a: tolerance goes with the test within"),
        ({"than": None}, "paper.toml:5: a: than is missing"),
        ({"measure": ""}, "paper.toml:5: a: give a measure, or what it needs"),
        ({"section": None}, "paper.toml:5: a: section: Field required"),
        ({"rows": ["arc", "great-aunt"]}, "paper.toml:11: a: rows: no row 'great-aunt'; choose from all factors"),
    ],
)
def test_what_is_misspelt_is_said_with_its_line(settings: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read(write(tmp_path, **settings), parameters.load(REPOSITORY / "params.yaml"))


def test_files_of_claims_are_read_strictly(tmp_path: Path) -> None:
    path = write(tmp_path)
    text = path.read_text()
    assert len(read(path).claims) == 1
    path.write_text(text + text[text.index("[[claims]]") :])
    with pytest.raises(InputError, match=r"paper.toml:19: a: rows: a claim of this name stands above"):
        read(path)
    path.write_text(text + "=")
    with pytest.raises(InputError, match="not valid TOML"):
        read(path)
    path.write_text("colour = 1\n" + text)
    with pytest.raises(InputError, match=r"paper.toml:1: colour: unknown key; valid keys are key, cite"):
        read(path)


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*/claims.toml")), ids=lambda path: path.parent.name)
def test_shipped_claims_name_what_there_is(path: Path) -> None:
    params = parameters.load(REPOSITORY / "params.yaml")
    paper = read(path, params)
    corpora = set(
        tomllib.loads((REPOSITORY / "src" / "treebound" / "treebanks" / "catalogue.toml").read_text(encoding="utf-8"))
    )
    assert paper.claims
    for one in paper.claims:
        assert not one.page or one.page in params.notebooks
        assert set(one.corpora) <= corpora
        if one.measure:
            assert one.page


def test_published_figures_are_those_that_are_stored() -> None:
    for folder in PAPERS:
        paper = read(folder / "claims.toml")
        text = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("published.toml"))
        stored = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)}
        assert published.paper(folder.name)["cite"] == paper.cite
        for one in paper.claims:
            for number in re.findall(r"\d+(?:\.\d+)?", one.published):
                assert float(number) in stored, (one.name, number)


# --- what is shown


def test_the_table_links_to_pages_and_carries_itself_as_csv(root: Path) -> None:
    table = replication(root)
    data = table._repr_mimebundle_()
    assert data["text/html"].count("<tbody>") == len(load()) == 5
    assert 'href="20-main-comparison.ipynb#claim-qian-liu-2013-all-factors"' in data["text/html"]
    assert 'href="claims.csv"' in data["text/html"]
    found = pd.read_csv(pd.io.common.StringIO(data["text/csv"]))
    assert list(found["verdict"]) == [one.verdict for one in claims.verdicts(root, collect.this_run(root))]
    here = replication(root, "50-integer-programming")
    names = {c.name for paper in load() for c in paper.claims if c.page == "50-integer-programming"}
    assert {one.claim.name for one in here.judged["this run"] if one.claim} == names
    assert "text/csv" not in here._repr_mimebundle_()
    odd = Judged(Paper(key="p", cite="<P>", title="T"), claim(claim="a < b"), (exact("x", 1.0),))
    html = Replication({"run": [odd]}, "c")._repr_mimebundle_()["text/html"]
    assert "&lt;P&gt;" in html
    assert "a &lt; b" in html
    assert ">Verdict<" in html


def test_the_summary_counts_verdicts_paper_by_paper() -> None:
    paper = Paper(key="p", cite="P", title="T")
    every = [Judged(paper, claim(), (exact("x", value),)) for value in (1, 1, -1)]
    absent = Judged(Paper(key="q", cite="Q", title="T"), None)
    assert str(claims.summary([*every, absent])) == "P, 3 claims: 2 hold, 1 contradicted."
    assert frame([*every, absent])["figures"].tolist() == ["+1.00 UAS (x)", "+1.00 UAS (x)", "-1.00 UAS (x)", ""]


def test_the_committed_verdicts_are_those_of_the_committed_metrics(tmp_path: Path) -> None:
    kept = collect.reference(REPOSITORY)
    assert kept is not None
    claims.write(REPOSITORY, kept, tmp_path / "claims.csv")
    assert (tmp_path / "claims.csv").read_bytes() == (kept.folder / "claims.csv").read_bytes()
