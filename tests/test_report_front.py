"""The first page: abstract, example, systems, bars of verdicts, advice, and the comparison with this machine."""

from __future__ import annotations

import dataclasses
import html
import re
import shutil
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
import synthetic_results

import treebound
from studies.across.approximations import tables as approximations_tables
from studies.across.leaderboard import parsers, tables
from studies.across.mining import tables as mining_tables
from studies.across.mining.rankings import OURS
from studies.across.overview import abstract, agreement, bars, cite, claimed, exactness, example, shares, systems, use
from studies.across.overview.text_table import TextTable
from studies.auli_lopez_2011.ccg_integration import contrasts, measure
from studies.auli_lopez_2011.ccg_integration import tables as ccg_tables
from studies.auli_lopez_2011.ccg_integration.measure import Column
from studies.common import params as parameters
from studies.riedel_clarke_2006.integer_programs import remarks as integer_programs_remarks
from studies.riedel_clarke_2006.integer_programs import tables as integer_programs_tables
from studies.site import claims, collect, render
from studies.site.claims.judge import (
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_TESTED,
    REPLICATED,
    SMALLER,
    VERDICTS,
    Judged,
    effect_of,
    of_papers,
)
from studies.site.claims.load import Claim, Paper, load
from studies.site.claims.measured import Measured
from studies.site.claims.show import Replication
from studies.site.sentences import joined
from studies.site.show import typeset
from treebound.plots.style import COLOURS
from treebound.systems.ccg.integration import Integration
from treebound.systems.ccg.output import published
from treebound.systems.ccg.study import DECODERS
from treebound.systems.graph.settings import Settings

REPOSITORY = Path(__file__).parents[1]
LONGEST = 40  #: largest number of words of a sentence of the abstract


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with two synthetic runs: the reference and this run, with the reference's parameters."""
    folder = tmp_path_factory.mktemp("project") / "project"
    return synthetic_results.project(folder, REPOSITORY, overlay="reference.yaml")


@pytest.fixture(scope="module")
def runs(root: Path) -> list[collect.Results]:
    return collect.provenances(root)


@pytest.fixture(scope="module")
def committed() -> collect.Results:
    reference = collect.reference(REPOSITORY)
    assert reference is not None
    return reference


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return re.split(r"(?<=\.) (?=[A-Z0-9])", text)


def words(sentence: str) -> int:
    """Count the words and numbers of a sentence, without signs that stand alone."""
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


def verdict(low: float, high: float, place: str = "x", **settings: object) -> Judged:
    """Return a judged claim with one measured interval; NaN as `low` leaves it without a measured value."""
    texts = {"name": "a", "claim": "It helps.", "section": "4", "published": "1.0"}
    claim = Claim.model_validate(texts | {"measure": "UAS", "rows": ("a", "b"), "than": 0} | settings)
    measured = () if np.isnan(low) else (Measured(place, (low + high) / 2, low, high),)
    return Judged(Paper(key="p", cite="P", title="T"), claim, measured)


NOTHING = verdict(np.nan, np.nan)


# --- agreement


@pytest.mark.parametrize(
    ("reference", "here", "expected"),
    [
        (verdict(0.1, 0.3), verdict(0.2, 0.9), agreement.CONFIRMED),  # both replicated
        (verdict(0.1, 0.3), verdict(0.2, 0.3, effects=[0.9], margin=0.1), agreement.CONFIRMED),  # a smaller effect
        (verdict(0.1, 0.3), verdict(-0.9, -0.2), agreement.DIFFERS),
        (verdict(0.1, 0.3), verdict(-0.1, 0.6, "y"), agreement.OPEN),
        (verdict(-0.1, 0.6), verdict(0.1, 0.3, "y"), agreement.DIFFERS),
        (verdict(0.1, 0.3), verdict(-0.1, 0.5), agreement.CONFIRMED),  # undecided here, but the same value
        (verdict(0.1, 0.3), NOTHING, agreement.NOT_RUN),
        (NOTHING, verdict(0.1, 0.3), agreement.ONLY),
    ],
)
def test_a_claim_is_confirmed_differs_or_was_not_run(reference: Judged, here: Judged, expected: str) -> None:
    assert agreement.of_claim(reference, here) == expected


def test_claims_that_neither_run_tests_are_not_counted() -> None:
    counts = agreement.of_claims(
        [verdict(0.1, 0.3), verdict(0.1, 0.3), verdict(0.1, 0.3), NOTHING],
        [verdict(0.1, 0.3), verdict(-0.9, -0.2), NOTHING, NOTHING],
    )
    assert counts == {agreement.CONFIRMED: 1, agreement.DIFFERS: 1, agreement.NOT_RUN: 1}
    assert agreement.counted(counts) == "1 confirmed here, 1 differs here, 1 not run here"
    assert agreement.counted({agreement.DIFFERS: 2}) == "2 differ here"


def test_values_agree_after_rounding() -> None:
    reference = {"x": 90.123, "y": 80.0, "z": np.nan}
    assert agreement.of_values(reference, {"x": 90.1249}) == agreement.CONFIRMED
    assert agreement.of_values(reference, {"x": 90.1249, "y": 80.01}) == agreement.DIFFERS
    assert agreement.of_values(reference, {"w": 1.0, "z": 1.0, "y": np.nan}) == agreement.NOT_RUN


# --- abstract


def written(runs: list[collect.Results], root: Path) -> abstract.Abstract:
    """Return the abstract of one or two runs."""
    judged = [claims.verdicts(root, run) for run in runs]
    here, judged_here = (runs[1], judged[1]) if len(runs) > 1 else (None, ())
    return abstract.abstract(runs[0], judged[0], here, judged_here)


def test_the_abstract_of_the_reference_has_five_short_sentences(committed: collect.Results) -> None:
    text = written([committed], REPOSITORY)
    assert len(text.findings) == 5
    assert max(words(part) for finding in text.findings for part in sentences(finding.text)) <= LONGEST
    assert max(len(sentences(finding.text)) for finding in text.findings) <= 3
    assert not any(finding.here for finding in text.findings)
    stored = pd.read_csv(committed.folder / "claims.csv", keep_default_na=False).query("not ours")
    first, gain, proofs, others, honest = (finding.text for finding in text.findings)
    counts = stored["verdict"].replace(SMALLER, REPLICATED).value_counts()
    replicated = stored[stored["verdict"].isin([REPLICATED, SMALLER])]
    several = replicated[replicated["treebanks"] != "1.0"]
    significant = (several["p_adjusted"].replace("", "1").astype(float) <= 0.05).sum()
    assert f", {counts[REPLICATED]} of {len(stored)} claims of 4 papers about parsing are replicated (" in first
    assert f"({len(replicated) - len(several)} on one treebank only; of the other {len(several)}, " in first
    assert f", {significant} are significant after adjustment for the number of claims)." in first
    assert first.count("“") == counts[CONTRADICTED]
    for _, row in stored[stored["verdict"] == CONTRADICTED].iterrows():
        assert f"{float(row['effect']):.2f}" in first.partition("Contradicted are ")[2]
    assert f"{counts[INCONCLUSIVE]} {INCONCLUSIVE} and {counts[NOT_TESTED]} {NOT_TESTED}." in first
    row = stored[stored["name"] == "all-factors"].iloc[0]
    ends = f"{float(row['effect']):+.2f} UAS points [{float(row['low']):+.2f}, {float(row['high']):+.2f}]"
    assert ends in gain
    assert ("no clear gain" in gain) == (float(row["low"]) <= 0 <= float(row["high"]))
    inside = float(row["low"]) <= 0.36 <= float(row["high"])
    assert (
        f". The published +0.36 lies {'inside' if inside else 'outside'} the interval. All pairs of siblings alone "
        "bring +" in gain
    )
    for name in ("sibling", "better-than-one-family"):
        row = stored[stored["name"] == name].iloc[0]
        assert f"{float(row['effect']):+.2f} UAS points [{float(row['low']):+.2f}, {float(row['high']):+.2f}]" in gain
    data = abstract.exactness(committed)
    every = "all" if data["certified"].sum() == data["sentences"].sum() else "% of"
    assert proofs.startswith("With 10 candidate heads per word, branch and bound proves")
    assert f"{every} {data['sentences'].sum():,} test sentences" in proofs
    unpruned = abstract.exactness(committed, "none")
    assert (
        f"{100 * unpruned['certified'].sum() / unpruned['sentences'].sum():.1f} % of" in proofs.partition("Without")[2]
    )
    assert f"{unpruned['words_per_cpu_s'].min():,.0f} to {unpruned['words_per_cpu_s'].max():,.0f} words" in proofs
    assert f"{data['words_per_cpu_s'].min():,.0f} to {data['words_per_cpu_s'].max():,.0f} words per CPU" in proofs
    elsewhere = stored[stored["paper"] != "qian-liu-2013"]
    assert others.startswith(
        f"Of the {len(elsewhere)} claims of the other papers, "
        f"{elsewhere['verdict'].isin([REPLICATED, SMALLER]).sum()} are replicated and "
    )
    for own_rules, before in ((False, ""), (True, "With the output rules of the paper, it is ")):
        joint = contrasts.against_bp([committed], own_rules=own_rules)
        worse, better = (int((joint[end] * sign > 0).sum()) or "none" for end, sign in (("low", 1), ("high", -1)))
        part = others.partition(before)[2] if before else others
        assert f"better {'' if before else 'than dual decomposition '}in {better} of {len(joint)} " in part
        assert f"worse in {worse}." in part
    assert honest.startswith(
        "A parser with a pretrained encoder is more accurate: UDPipe 2 with multilingual BERT has 93.42 UAS"
    )


def test_the_abstract_names_the_best_of_all_rows_of_this_project(committed: collect.Results) -> None:
    honest = written([committed], REPOSITORY).findings[4].text
    board = parsers.parsers([committed], ["en_ewt"])
    own = board[(board["unranked"] == "") & (board["family"] != parsers.OTHER)]
    best = own.loc[own["uas"].idxmax()]
    assert f"the best row here {best['uas']:.2f} (en_ewt, row {best['system']}, " in honest


def test_the_abstract_counts_claims_on_one_treebank_and_significant_claims() -> None:
    alone = verdict(0.1, 0.3, brief="It helps")
    several = dataclasses.replace(alone, measured=tuple(Measured(f"t{i}", 0.2, 0.1, 0.3) for i in range(5)))
    loss = dataclasses.replace(several, measured=tuple(Measured(f"t{i}", -0.2, -0.3, -0.1) for i in range(5)))
    clear = [dataclasses.replace(entry, adjusted=0.01) for entry in (several, several, loss)]
    unclear = dataclasses.replace(several, adjusted=0.3)
    every = [alone, *clear, unclear, NOTHING]
    findings = abstract._papers(every, ()), abstract._others(every, ())
    assert findings[0].text == (
        "On 6 freely available treebanks, 4 of 6 claims of 1 paper about parsing are replicated (1 on one treebank "
        "only; of the other 3, 2 are significant after adjustment for the number of claims). Contradicted is “It "
        "helps” (-0.20 UAS points, 5 treebanks). The others: 1 not tested."
    )
    assert findings[1].text == ("Of the 6 claims of the other papers, 4 are replicated and 1 is contradicted.")
    assert "are replicated (1 on one treebank only)." in abstract._papers([alone, loss], ()).text.replace(
        " is ", " are "
    )
    assert "(on several treebanks, none is significant after" in abstract._papers([unclear], ()).text


def test_the_abstract_says_beside_each_finding_whether_this_machine_agrees(
    root: Path, runs: list[collect.Results], tmp_path: Path
) -> None:
    same = [dataclasses.replace(runs[1], name="reference"), runs[1]]
    text = written(same, root)
    assert max(words(part) for finding in text.findings for part in sentences(finding.text)) <= LONGEST
    assert max(len(sentences(finding.text)) for finding in text.findings) <= 3
    for finding in text.findings:
        assert "confirmed here" in finding.here
        assert "differ" not in finding.here
    # another run: every figure of the model with all factors changes
    shutil.copytree(root, tmp_path / "project")
    other = collect.this_run(tmp_path / "project")
    synthetic_results.change_rows(other.folder, "*", "combined*", certified=1)
    findings = written([same[0], other], tmp_path / "project").findings
    assert findings[2].here.startswith(f"{agreement.DIFFERS}: 1.7 % of 300 with ")
    markup = abstract.Abstract(findings)._repr_mimebundle_()["text/html"]
    mixed = dataclasses.replace(findings[0], here="1 confirmed here, 9 not run here")
    assert 'class="agrees not-run">1 confirmed here' in abstract.Abstract((mixed,))._repr_mimebundle_()["text/html"]
    assert markup.count("<li>") == markup.count('<span class="agrees ') == 5
    assert '<span class="agrees differ">differs here: 1.7 %' in markup


# --- example


def test_the_example_is_a_figure_with_its_numbers(tmp_path: Path) -> None:
    data = example.example()._repr_mimebundle_()
    lines = data["text/csv"].splitlines()
    assert lines[0] == "call,node,ub,lb"
    assert lines[-1].split(",")[2] == lines[-1].split(",")[3]
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# Start"),
            nbformat.v4.new_code_cell("example()", outputs=[nbformat.v4.new_output("display_data", data)]),
        ]
    )
    notebook.cells[1].execution_count = 1
    nbformat.write(notebook, tmp_path / "index.ipynb")
    page = render.render([tmp_path / "index.ipynb"], tmp_path / "site").read_text(encoding="utf-8")
    address = re.search(r'<figure id="(figure-[\w-]+)"', page)
    assert address
    assert f'<a href="#{address[1]}"' in page
    file = re.search(r'href="(tables/[\w-]+\.csv)"', page)
    assert file
    assert (tmp_path / "site" / file[1]).read_text(encoding="utf-8") == data["text/csv"]


def test_the_example_is_proved_and_checked() -> None:
    shown = example.example()
    assert shown.parse.status == "optimal"
    assert shown.parse.heads.tolist() == list(example.SENSIBLE)
    assert shown.parse.work["nodes"] > 1
    last = shown.parse.record.bounds[-1]
    assert max(call["lb"] for call in shown.parse.record.bounds) * example.UNIT == pytest.approx(shown.parse.value)
    assert last["ub"] <= shown.parse.value / example.UNIT + 1e-9
    assert shown.faults == ()
    assert "finds no fault in the proof" in shown.says
    wrong = dataclasses.replace(shown.parse, value=shown.parse.value + 1, bound=shown.parse.value + 1)
    faults = tuple(treebound.check(shown.problem, wrong))
    assert "finds faults: " in dataclasses.replace(shown, parse=wrong, faults=faults).says
    markup = shown._repr_html_()
    assert markup.count("<svg") == 2
    assert "<title>" not in markup


# --- systems


def test_the_headline_has_the_best_rows_of_each_family(runs: list[collect.Results]) -> None:
    data = systems.headline(runs[0])
    assert len(data) <= systems.MOST
    roles = " ".join(data.index.get_level_values("role"))
    for role in ("baseline", "all factors", "fastest", "best exact", "best transition", "best sampling"):
        assert role in roles
    means = data[list(runs[0].corpora)].mean(axis=1, skipna=False)
    np.testing.assert_allclose(data[systems.MEAN], means)
    assert systems.HERE not in data
    named = re.compile(r"carreras(-seed\d+)?")  # the row of the run's seed, and rows of other seeds
    counts = {sum(bool(named.fullmatch(row.name)) for row in runs[0].params.rows_of(c)) for c in runs[0].corpora}
    expected = " to ".join(map(str, dict.fromkeys((min(counts), max(counts)))))
    assert data.loc[("carreras", "baseline"), systems.SEEDS] == expected
    with_both = systems.headline(*runs)
    assert set(with_both[systems.HERE]) <= {"confirmed", "differs", "not run", systems.OTHER}


def test_a_system_with_other_settings_is_no_contradiction(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path / "project")
    shown = collect.reference(tmp_path / "project")
    assert shown is not None
    assert systems.agreed(shown, shown, "carreras") == agreement.CONFIRMED
    assert systems.agreed(shown, shown, "no such system") == agreement.NOT_RUN
    changed = dataclasses.replace(shown, folder=tmp_path / "other")
    shutil.copytree(shown.folder, changed.folder)
    synthetic_results.change_rows(changed.folder, "*", "carreras*", uas=1.0)
    assert systems.agreed(shown, changed, "carreras") == agreement.DIFFERS
    train = dataclasses.replace(shown.params.train, epochs=shown.params.train.epochs + 1)
    fewer = dataclasses.replace(changed, params=dataclasses.replace(shown.params, train=train))
    assert systems.agreed(shown, fewer, "carreras") == systems.OTHER


def test_the_speed_is_a_geometric_mean_and_a_share_below_100_is_never_shown_as_100() -> None:
    assert systems.geometric(pd.Series([10.0, 1000.0, np.nan])) == pytest.approx(100)
    assert np.isnan(systems.geometric(pd.Series([np.nan])))
    assert [shares.rounded(share) for share in (99.96, 99.94, 100.0)] == [99.9, 99.94, 100.0]
    assert np.isnan(shares.rounded(np.nan))
    assert (shares.of_all(20, 20), shares.of_all(9999, 10000)) == ("all 20", "99.9 % of 10,000")


def against_others(run: collect.Results) -> pd.DataFrame:
    board = tables.ranked(parsers.parsers([run]))
    return tables.against_others(board, tables.overall(board))


def test_the_second_order_rows_are_told_apart(runs: list[collect.Results]) -> None:
    data = systems.headline(runs[0])
    best = next(name for name, role in data.index if "best exact" in role)
    judged = claims.verdicts(REPOSITORY, runs[0])
    text = str(systems.described(data, runs[0], judged, against_others(runs[0])))
    models = runs[0].params.graph_models
    more = [family for family in models[best].families if family not in models["carreras"].families]
    named = systems.added(runs[0], best)
    assert named == [systems.FACTORS.get(family, family) for family in more]
    assert (f"which also has the factor families {joined(named)}." in text) == (best != "carreras")
    caption = systems.caption(data, runs[0])
    assert caption.startswith("UAS of the main systems on the test sets in ")


def test_the_gain_on_the_treebanks_of_the_table_is_told_apart(committed: collect.Results) -> None:
    data, judged = systems.headline(committed), claims.verdicts(REPOSITORY, committed)
    entry = claimed.claim_of(judged, claimed.GAIN)
    assert entry is not None
    inside = [place for place in entry.measured if place.treebank in committed.corpora]
    assert 0 < len(inside) < len(entry.measured)
    text = str(systems.described(data, committed, judged, against_others(committed)))
    assert f"gains {effect_of(inside).value:+.2f} UAS points" in text
    assert f"on the others ({len(entry.measured) - len(inside)})" in text
    assert "its search leaves out heads whose probability is below 0.001 of the best head's" in text
    others = data.xs("external", level="role")[committed.corpora].notna().sum(axis=1)
    counts = joined([f"{name} on {count}" for name, count in others.items()])
    assert f"{len(committed.corpora)} corpora ({counts} of them)" in systems.caption(data, committed)


def test_the_corpora_and_the_parsers_of_other_projects_are_explained(committed: collect.Results) -> None:
    data, compared = systems.headline(committed), against_others(committed)
    text = str(systems.described(data, committed, claims.verdicts(REPOSITORY, committed), compared))
    assert "`en_ewt` (English)" in text
    uas = data.droplevel("role")[committed.corpora].astype(float)
    best = compared.index.get_level_values("our parser")[0]
    for place, row in compared.iterrows():
        assert f"{row['difference']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}] on `{place[2]}`" in text
        assert row["difference"] == pytest.approx(uas.loc[best, place[2]] - uas.loc[place[3], place[2]])
    assert f"On `tr_twt` `{best}` sees more." in text
    assert "On `en_ewt` and `ptb_sample` both see the same columns. " in text


# --- exactness


def test_exactness_is_compared_with_the_search_that_stops_first(runs: list[collect.Results]) -> None:
    run = next(run for run in runs if len(exactness.stopped(run)))
    data = exactness.stopped(run)
    assert data.attrs["row"] == "combined-one-call"
    assert data.attrs["calls"] == 1
    for corpus in run.corpora:
        files = run.read("decode", corpus, "combined.json")
        assert data.loc[corpus, "uas_stopped"] == files["combined-one-call"]["uas"]
        assert data.loc[corpus, "uas"] == files["combined"]["uas"]
    lost = (data["uas"] - data["uas_stopped"]).mean()
    none = pd.DataFrame()
    text = str(exactness.buys(data, none, none, none, none))
    assert f"Its UAS differs by {lost:+.2f} points from a search that stops after one dynamic program" in text
    assert "branch" not in text
    assert str(exactness.buys(data.iloc[:0], none, none, none, none)) == ""
    differs = "The CPU time of exact search differs by +25 % from the time of the search that stops after one dynamic "
    total = len(run.corpora)
    noise = "this difference in time is smaller than the difference between repeated timings of one search."
    for spread, ending in (
        (5.0, f"{differs}program (geometric mean). On none of {total} treebanks, {noise}"),
        (30.0, f"{differs}program (geometric mean). On {total} of {total} treebanks, {noise}"),
        (np.nan, f"{differs}program (geometric mean; timed once)."),
    ):
        timed = data.assign(times=1.25, spread=spread)
        timed.attrs = data.attrs
        assert ending in str(exactness.buys(timed, none, none, none, none))


def test_exactness_is_compared_with_the_search_that_does_not_branch(runs: list[collect.Results]) -> None:
    run = next((run for run in runs if len(exactness.stopped(run, before_branching=True))), None)
    if run is None:
        pytest.skip("no run has a row that stops before it branches")
    data = exactness.stopped(run, before_branching=True)
    assert data.attrs["row"] == "combined-root-only"
    for corpus in run.corpora:
        assert (
            data.loc[corpus, "uas_stopped"] == run.read("decode", corpus, "combined.json")["combined-root-only"]["uas"]
        )
    gained = (data["uas"] - data["uas_stopped"]).mean()
    text = typeset(f"Its UAS differs by {gained:+.2f} points from a search that stops before it branches")
    assert text in typeset(str(exactness.summary([run])))
    files = [run.read("decode", corpus, "combined.json") for corpus in run.corpora]
    before, proved = (sum(file[name]["certified"] for file in files) for name in ("combined-root-only", "combined"))
    total, none = int(data["sentences"].sum()), pd.DataFrame()
    for count, ending in ((total, "completes the proofs."), (total - 2, f"raises this number to {total - 2:,}.")):
        some = data.assign(proved=data["proved"] + (count - proved) * (data.index == run.corpora[0]))
        counted = f"The search before branching proves {before:,} of {total:,} trees, and branching {ending}"
        assert counted in str(exactness.buys(data.iloc[:0], some, none, none, none))


def test_the_first_page_counts_comparisons_of_the_decoders_of_categorial_grammar(committed: collect.Results) -> None:
    between = contrasts.against_bp([committed])
    better, worse = int((between["low"] > 0).sum()), int((between["high"] < 0).sum())
    text = str(exactness.summary([committed]).rest)
    assert f"(DD) is significantly better in {better or 'none'} of {len(between)} comparisons, and belief" in text
    assert f"propagation (BP) in {worse or 'none'} (95 % intervals)" in text
    programs = integer_programs_tables.contest([committed])
    assert integer_programs_remarks.in_brief(programs, integer_programs_tables.arena_lengths(programs)) in text
    without = str(exactness.buys(exactness.stopped(committed), *[pd.DataFrame()] * 2, between.iloc[:0], pd.DataFrame()))
    assert "dual decomposition" not in without


def test_exactness_is_compared_with_the_fastest_equally_accurate_approximation(committed: collect.Results) -> None:
    worth = approximations_tables.worth(approximations_tables.contest([committed]))
    text = str(exactness.summary([committed]).rest)
    for space in ("projective", "non-projective"):
        rows = worth.xs(("combined", space), level=("model", "space"))
        good = rows[rows["worth it"].astype(bool)]
        assert f"{len(good)} of {len(rows)} approximations" in text
        if good.empty:
            continue
        best = good.loc[good["times as fast"].idxmax()]
        assert f"`{best.name}`, is {best['times as fast']:.1f} times as fast and finds" in text


# --- bars


def test_bars_count_the_verdicts_and_can_be_read_without_colour(committed: collect.Results) -> None:
    judged = claims.verdicts(REPOSITORY, committed)
    data = bars.counts(judged)
    stored = pd.read_csv(committed.folder / "claims.csv").query("not ours")
    for paper, rows in stored.groupby("paper"):
        row = data[data["key"] == paper].iloc[0]
        assert {name: row[name] for name in VERDICTS if row[name]} == rows["verdict"].value_counts().to_dict()
    markup = bars.Bars(data, here=False)._repr_mimebundle_()["text/html"]
    assert "This machine" not in markup
    for _, row in data.iterrows():
        described = ", ".join(f"{row[name]} {name}" for name in VERDICTS if row[name])
        assert f'role="img" aria-label="{described}"' in markup
        assert f'href="94-verdicts.ipynb#verdicts-{row["key"]}"' in markup
    anchors = Replication({"reference": judged}, "c", claims.NAME)._repr_mimebundle_()["text/html"]
    assert all(f'id="verdicts-{key}"' in anchors for key in data["key"])
    both = bars.counts(judged, judged)
    for untested, text in zip(both[NOT_TESTED] == both[list(VERDICTS)].sum(axis=1), both["this machine"], strict=True):
        assert re.fullmatch("not run" if untested else r"\d+ confirmed", text)
    assert "This machine" in bars.Bars(both, here=True)._repr_mimebundle_()["text/html"]


def test_the_reasons_of_untested_claims_are_counted(committed: collect.Results) -> None:
    judged = claims.verdicts(REPOSITORY, committed)
    stored = pd.read_csv(committed.folder / "claims.csv").query("not ours and verdict == 'not tested'")
    needs = stored["because"].str.startswith("A test of this claim needs ").sum()
    text = str(bars.undecided(judged))
    assert 0 < needs < len(stored)
    assert text.startswith(f"{sum(map(bool, [entry.reason for entry in of_papers(judged)]))} are undecided: in ")
    assert f"{len(stored)} claims are not tested: {needs} need" in text
    assert f"no results for {len(stored) - needs}." in text
    tested = str(bars.undecided([entry for entry in judged if entry.verdict != "not tested"]))
    assert "Hall, Nivre & Nilsson (2006) has no bar, because none of its published results could be read" in tested
    entries = [entry for entry in of_papers(judged) if entry.counted_as == REPLICATED]
    several = [entry for entry in entries if entry.adjusted is not None]
    kept = sum(entry.adjusted <= 0.05 for entry in several if entry.adjusted is not None)
    assert str(bars.undecided(entries)).startswith(
        f"Of {len(several)} claims that are replicated over several treebanks, {kept or 'none'} "
    )
    assert not str(bars.undecided([entry for entry in entries if entry not in several]))


def test_parts_of_bars_have_contrast_to_their_numbers() -> None:
    style = (REPOSITORY / "src" / "studies" / "site" / "templates" / "_front.css").read_text(encoding="utf-8")
    white = re.findall(r"\.bar > \.[\w-]+, \.bars \.key[^{]+\{ background: (#[0-9a-f]{6}); \}", style)
    assert len(white) == 4
    assert all(_contrast(colour, "#ffffff") >= 4.5 for colour in white)
    assert _contrast(COLOURS["pale"], COLOURS["ink"]) >= 4.5


def _contrast(a: str, b: str) -> float:
    """Return the contrast of two colours after WCAG 2."""
    values = []
    for colour in (a, b):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        values.append(0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2])
    return (max(values) + 0.05) / (min(values) + 0.05)


def test_every_paper_has_three_sentences() -> None:
    data = bars.experience(load())
    assert len(data) == len(load()) == 5
    assert data.shape[1] == 3
    for text in data.to_numpy().ravel():
        assert text.endswith(".")
        assert words(text) <= LONGEST
        assert not re.search(r"\d", text), "figures belong to the results of a run"


def test_briefs_of_claims_are_short() -> None:
    for paper in load():
        for claim in paper.claims:
            assert len(claim.brief.split()) <= 7
            assert claim.short
            assert not claim.short.endswith(".")


# --- advice


def test_commands_name_the_settings_that_differ_from_the_defaults(
    runs: list[collect.Results], committed: collect.Results
) -> None:
    """Check that a command trains the model that was measured: `treebound train` leaves out improbable heads."""
    params = runs[0].params
    epochs = f" --epochs {params.train.epochs}" * (params.train.epochs != Settings().epochs)
    assert use.command(runs[0], "combined") == f"{use.TRAIN} --threshold 0{epochs}"
    assert use.command(runs[0], "combined-pruned") == f"{use.TRAIN}{epochs}"
    assert use.command(runs[0], "non-projective") == f"{use.TRAIN} --space non-projective{epochs}"
    assert "--learner perceptron" in use.command(committed, "combined-perceptron")


def test_advice_is_computed_and_names_commands_that_exist(runs: list[collect.Results]) -> None:
    data = use.which(runs[:1])
    assert list(data.columns) == list(use.COLUMNS)
    assert len(data) == 8, "nine tasks, and this run has no results for one of them"
    best = systems.headline(runs[0]).droplevel("role")
    exact = best[best[systems.PROVED] == 100]
    first = data.iloc[0]
    assert first["row"] == exact[systems.MEAN].idxmax()
    assert f"UAS {exact[systems.MEAN].max():.2f}" in first["accuracy"]
    fast = data.loc["fast, and at most 1 point less accurate"]
    board = tables.overall(tables.ranked(parsers.parsers(runs[:1]))).set_index("system")
    assert board.loc[fast["row"], "uas"] >= board["uas"].max() - 1
    assert fast["speed"] == f"{board.loc[fast['row'], 'words_per_cpu_s']:,.0f} words / CPU s"
    fastest = data.loc["the fastest parser of the table above"]
    assert f"{best.loc[fastest['row'], systems.SPEED]:,.0f} words / CPU s" in fastest["speed"]
    assert all(command.startswith("treebound ") for command in data["command"])
    families = ",".join(runs[0].params.models[first["row"]].settings.families)
    assert families in first["command"] or "--families" not in first["command"]
    table = TextTable(data, "c", (15, 14, 18, 14, 14, 25), commands=True)._repr_mimebundle_()["text/html"]
    assert table.count("<code>") == len(data)


def test_a_task_without_results_has_no_line(committed: collect.Results, root: Path, tmp_path: Path) -> None:
    data = use.which([committed])
    assert not (data == use.MISSING).any(axis=None)
    # a later run with results adds the line and is named
    other = collect.this_run(root)
    mining, task = use.which([other]).loc["annotation errors in a treebank"], "annotation errors in a treebank"
    assert mining["accuracy"] != use.MISSING
    if task not in data.index:
        assert use.which([committed, other]).loc[task, "accuracy"] == f"{mining['accuracy']} (this run)"


def test_the_line_of_mining_is_about_models_of_folds(committed: collect.Results, root: Path) -> None:
    for run in (committed, collect.this_run(root)):
        mined = mining_tables.measured([run])
        if mined.empty:
            continue
        line = use.which([run]).loc["annotation errors in a treebank"]
        by_folds = mined[mined["trained"].str.endswith("folds")]
        released = by_folds[by_folds["later"] != ""]
        chosen = released if len(released) else by_folds
        points = mining_tables.points(chosen)
        points = points[points["ranking"] == OURS]
        k = int(re.search(r"of the first (\d+) suspects", line["accuracy"])[1])  # type: ignore[index]
        shares = sorted(100 * points.loc[points["k"] == k, "precision"])
        ends = dict.fromkeys((f"{shares[0]:.0f}", f"{shares[-1]:.0f}"))
        text = f"{' to '.join(ends)} % of the first {k} suspects"
        assert line["accuracy"].startswith(
            f"a later release changed {text}" if len(released) else f"{text} are planted"
        )
        others = [100 * row["sporadic_heads"][OURS]["at"][str(k)]["hits"] / k for row in chosen.to_dict("records")]
        ends = dict.fromkeys((f"{min(others):.0f}", f"{max(others):.0f}"))
        assert (f", {' to '.join(ends)} % without systematic changes" in line["accuracy"]) == bool(len(released))


@pytest.mark.parametrize(
    ("decoder", "iterations", "order", "options"),
    [
        ("bp", 5, "AST", "--integrate bp --iterations 5"),
        ("dd-published", 25, "AST", "--integrate dd --step published --iterations 25"),
        ("exact", 0, "AST", "--integrate exact"),
        ("parser", 0, "reverse", "--beams 0.001:150,0.005:20,0.01:20,0.03:20,0.075:20"),
    ],
)
def test_the_command_of_a_ccg_decoder(decoder: str, iterations: int, order: str, options: str) -> None:
    command = use._ccg_command(Column(decoder, iterations, published(decoder)), order)
    assert command.split() == ["treebound", "parse", "MODEL", "TEXT", *options.split()]


@pytest.mark.parametrize("decoder", DECODERS)
def test_the_options_of_a_ccg_decoder_are_those_that_were_measured(decoder: str) -> None:
    options = use.CCG_OPTIONS[decoder]
    chosen = {name.removeprefix("--"): value for name, value in zip(options[::2], options[1::2], strict=True)}
    assert Integration(**chosen, iterations=5) == measure._integration(decoder, 5)  # type: ignore[arg-type]


def test_the_line_of_ccg_has_the_fastest_decoder_that_is_almost_the_best_on_dev(committed: collect.Results) -> None:
    line = use.which([committed]).loc["categorial grammar (CCG)"]
    parser, metrics = next(iter(ccg_tables.measured(committed).items()))
    usual = [row for row in metrics["columns"] if measure.column_of(row).usual]
    same = ("order", "decoder", "iterations")
    speeds = {tuple(row[key] for key in same): row["per_second"] for row in metrics["timing"]["columns"]}
    on_dev = [row for row in usual if row["split"] == "dev"]
    close = [row for row in on_dev if row["LF"] >= max(row["LF"] for row in on_dev) - use.CLOSE]
    best = max(close, key=lambda row: speeds.get(tuple(row[key] for key in same), 0.0))
    assert len(close) > 1
    assert line["speed"] == f"{speeds[tuple(best[key] for key in same)]:,.0f} sentences / CPU s"
    on_test = next(row for row in usual if row["split"] == "test" and all(row[key] == best[key] for key in same))
    assert line["accuracy"].startswith(f"labelled F {on_test['LF']:.2f} on test, {parser}, one seed")
    assert line["row"].endswith(f", {best['order']}")
    assert (f"--iterations {best['iterations']}" in line["command"]) == bool(best["iterations"])
    proofs = [row for row in metrics["lengths"] if row["order"] == best["order"]]
    sentences = sum(row["sentences"] for row in proofs)
    assert line["proved best"] == (f"all {sentences}" if best["decoder"] == "exact" else "none")


# --- citation


def test_the_citation_is_that_of_the_repository(tmp_path: Path) -> None:
    text = str(cite.citation())
    assert "treebound: exact decoding for dependency parsing" in text
    assert f"version {treebound.__version__}" in text
    assert "MIT" in text
    assert "CITATION.cff" in str(cite.citation(tmp_path / "missing.cff"))


def test_texts_are_escaped() -> None:
    data = pd.DataFrame({"a": ["<b>"]}, index=pd.Index(["<i>"], name="n"))
    markup = TextTable(data, "<u>", (50, 50))._repr_mimebundle_()["text/html"]
    assert not {"<b>", "<i>", "<u>"} & set(re.findall("<[a-z]>", markup))
    assert "<b>" in html.unescape(markup)


def test_the_appendix_is_the_last_page() -> None:
    assert parameters.load(REPOSITORY / "params.yaml").notebooks[-1] == "99-appendix"
    source = (REPOSITORY / "notebooks" / "index.ipynb").read_text(encoding="utf-8")
    assert "(99-appendix.ipynb)" in source
    assert "provenance(" not in source
