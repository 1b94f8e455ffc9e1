"""Tables and remarks of integer programming: sums over folds, tests, times by length, the arena, and empty runs."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_results

from studies.common import params as parameters
from studies.riedel_clarke_2006.constraints import remarks as constraints_remarks
from studies.riedel_clarke_2006.constraints import tables as constraints_tables
from studies.riedel_clarke_2006.constraints.settings import Constraints
from studies.riedel_clarke_2006.integer_programs import remarks as integer_programs_remarks
from studies.riedel_clarke_2006.integer_programs import tables as integer_programs_tables
from studies.riedel_clarke_2006.integer_programs.settings import IntegerPrograms
from studies.site import charts, collect
from studies.site.claims.measures import MEASURES
from studies.site.collect import Results
from studies.site.show import Table

REPOSITORY = Path(__file__).parents[1]
FOLDS = (0, 2, 3)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("results")
    params = parameters.load(REPOSITORY / "params.yaml")
    settings = dataclasses.replace(params.section(Constraints), corpora=("nl_made_up",), folds=FOLDS, looped=(0, 2, 3))
    both = dataclasses.replace(params.section(IntegerPrograms), models=("arc", *params.section(IntegerPrograms).models))
    params = params.changed(settings).changed(both)
    synthetic_results.write(folder, params)
    return Results("this run", folder, params)


@pytest.fixture(scope="module")
def empty_run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    params = parameters.load(REPOSITORY / "params.yaml")
    return Results("this run", tmp_path_factory.mktemp("empty"), params.changed(IntegerPrograms()))


def test_folds_add_up(results: Results) -> None:
    data = constraints_tables.cross_validated([results])
    words = sum(3 * i + 2 for i in range(20))
    row = data.set_index("system").loc["constraints"]
    assert (row["folds"], row["n"], row["sentences"], row["gained"]) == (3, 3 * words, 60, 30)
    assert row["status"] == {"optimal": 60}
    assert sum(length_bin["sentences"] for length_bin in row["by_length"]) == 60
    table = constraints_tables.constraint_accuracy(data)
    ours = table.loc["nl_made_up, this run", "constraints"]
    assert ours["LAC"] == pytest.approx(100 * sum(3 * i for i in range(20)) / words)
    assert ours["UAC"] > table.loc["nl_made_up, this run", "Chu-Liu-Edmonds"]["UAC"]
    assert (ours["better"], ours["worse"], ours["p, sign"]) == (30, 0, pytest.approx(2 * 0.5**30))
    assert table.loc["published", "constraints"]["LAC"] == 85.1
    assert constraints_tables.cross_validated([results], ["another"]).empty


def test_times_and_approximation(results: Results) -> None:
    data = constraints_tables.cross_validated([results])
    times = constraints_tables.constraint_times(data)
    assert [words for _, words in times.index] == ["1-10", "11-20", "21-30", "31-40", "41-50", "over 50"]
    assert times["Chu-Liu-Edmonds", "ms"].tolist() == pytest.approx([10.0] * 6)
    assert times["ours", "first, ms"].tolist() == pytest.approx([5.0] * 6)
    drawn = constraints_tables.solver_times(data)
    assert list(drawn.columns) == ["Chu-Liu-Edmonds", "ours", "as published"]
    for name in drawn:
        assert drawn[name].tolist() == pytest.approx(times[name, "ms"].tolist())
    assert len(charts.times(drawn).axes[0].lines) == 3
    targets = constraints_tables.constraint_targets(data).loc["nl_made_up, this run", "ours"]
    assert targets["fewer than 20 iterations, %"] == 100
    assert targets["share of the first iteration, %"] == pytest.approx(25)
    status = pd.Series([{"limit": 1, "infeasible": 2, "optimal": 57}] * len(data), data.index)
    stopped = constraints_tables.constraint_targets(data.assign(status=status)).loc["nl_made_up, this run", "ours"]
    assert stopped[[constraints_tables.LONG, "stopped at the limit", "no tree"]].tolist() == [0, 1, 2]
    q = constraints_tables.approximation(data).loc["nl_made_up, this run"]
    assert list(q.index) == ["Chu-Liu-Edmonds", "q = 2", "q = 10", "all"]
    assert q.loc["q = 2", "no tree"] == 3
    assert q.loc["q = 10", "time saved, %"] == pytest.approx(100 * (1 - 5 / 2))


def test_slow_sentences_are_counted_or_bounded(results: Results, tmp_path: Path) -> None:
    """Sentences of more than 1 s are counted over folds. Models that are trained in the loop do not count."""
    folder = shutil.copytree(results.folder, tmp_path / "run")
    path = folder / "predictions" / "nl_made_up" / "constraints.2.csv"
    rows = pd.read_csv(path)
    assert set(rows["training"]) == {"baseline", "constraints"}
    ours = rows["system"] == constraints_tables.CONSTRAINTS
    rows.loc[ours & rows["sentence"].isin([3, 4]), "seconds"] = 1.001
    rows.loc[ours & (rows["sentence"] == 5), "seconds"] = 1.0
    rows.loc[rows["system"] == constraints_tables.PUBLISHED_LOOP, "seconds"] = 2.0
    rows.to_csv(path, index=False)
    run = dataclasses.replace(results, folder=folder)
    data = constraints_tables.cross_validated([run])
    slow = data.set_index("system")["slow"]
    assert slow[[constraints_tables.BASELINE, constraints_tables.CONSTRAINTS]].tolist() == [0, 2]
    assert slow[constraints_tables.PUBLISHED_LOOP] == 20
    text = str(constraints_remarks.times(data))
    shares = "3.3 % [0.9, 11.4] (ours) and 33.3 % [22.7, 45.9] (as published) of 60 sentences"
    assert f"On nl_made_up (this run), {shares} take more than 1 s of CPU time" in text
    # a reference keeps the counts only
    (folder / "tables").mkdir()
    constraints_tables.slow_sentences(run).to_frame().to_csv(folder / "tables" / f"{constraints_tables.KEPT}.csv")
    shutil.rmtree(folder / "predictions")
    kept = dataclasses.replace(run, info={"commit": "x"})
    pd.testing.assert_series_equal(constraints_tables.cross_validated([kept])["slow"], data["slow"])
    # an older reference has no counts, so the sentences of half a second or more are an upper bound
    (folder / "tables" / f"{constraints_tables.KEPT}.csv").unlink()
    older = constraints_tables.cross_validated([kept])
    assert older["slow"].isna().all()
    older.loc[older["system"] == constraints_tables.CONSTRAINTS, "short"] = 54
    text = str(constraints_remarks.times(older))
    assert "at most 10.0 % [4.7, 20.1] (ours) and 0.0 % [0.0, 6.0] (as published) of 60 sentences" in text


def test_families_and_the_loop(results: Results) -> None:
    worth = constraints_tables.family_worth([results])
    assert worth["trees that break it, %", "gold"].tolist() == [0.0, 5.0]
    assert "5.0 % (selective-projectivity) of sentences" in str(constraints_remarks.families(worth))
    assert "nl_made_up, this run, fold 0 (20 sentences), a family" in str(constraints_remarks.families(worth))
    decisive = worth.copy()
    decisive[("words, alone", "gained")], decisive[("words, alone", "lost")] = [30, *[0] * (len(worth) - 1)], 0
    brief = str(constraints_remarks.families_in_brief(decisive))
    name, gain = worth.index[0][1], worth["LAC", "alone"].iloc[0]
    assert f"{len(worth) - 1} of {len(worth)} families of constraints have no significant effect" in brief
    assert brief.endswith(f"; {name} alone changes it by {gain:+.2f} points.")
    assert str(constraints_remarks.families_in_brief(worth.iloc[:0])) == ""
    loop = constraints_tables.in_the_loop([results])
    assert len(loop) == 4
    assert loop["folds"].tolist() == [3] * 4


def test_training_in_the_loop_is_paired_over_folds(results: Results) -> None:
    """The gain of training in the loop is paired by fold. It is 0, 2 and 3 of 610 words on folds 0, 2 and 3."""
    (gain,) = MEASURES["in the loop"].read(results, ["constraints"], "each")
    words = sum(3 * i + 2 for i in range(20))
    assert gain.value == pytest.approx(100 * 5 / (3 * words))
    by_hand = [100 * (5 - fold) / (2 * words) for fold in FOLDS]
    half = 4.302653 * np.sqrt(2 / 3 * np.sum(np.square(by_hand - np.mean(by_hand))))
    assert (gain.low, gain.high) == pytest.approx((gain.value - half, gain.value + half))
    text = str(constraints_remarks.loop(constraints_tables.loop_gains([results])))
    assert f"changes the LAC of the constraints by +{gain.value:.2f} [{gain.low:+.2f}, {gain.high:+.2f}]" in text
    assert "(3 folds, 60 sentences, one seed" in text


def test_reading_and_features_are_added_to_the_solver(results: Results) -> None:
    """Whole runs add 0.6 s of reading and 2.4 s of features to the time of the solver.

    The solvers take 0.01 s and 0.05 s for each of 60 sentences.
    """
    (ratio,) = MEASURES["whole run, ratio"].read(results, ["constraints, q = 10", "baseline"], "each")
    assert ratio.value == pytest.approx((0.6 + 2.4 + 3.0) / (0.6 + 2.4 + 0.6))
    text = str(constraints_remarks.times(constraints_tables.cross_validated([results])))
    assert "reading takes 0.6 s, and features with their scores 2.4 s" in text
    assert "takes 3.6 s, and the constraints with q = 10 take 6.0 s, 1.67 times as long" in text


def test_a_sentence_that_is_stopped_after_two_minutes_counts_as_longer(results: Results, tmp_path: Path) -> None:
    """The limit is elapsed time, so that the CPU time of a stopped sentence may be shorter than two minutes."""
    row = "constraints, published loop"
    for fold in FOLDS:
        path = Path("metrics", "constraints", "nl_made_up", f"{fold}.json")
        metrics = json.loads((results.folder / path).read_text())
        metrics["systems"][row] |= {"long": fold, "status": {"optimal": 19, "limit": 1}}
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(json.dumps(metrics))
    (stopped,) = MEASURES["over 120 s"].read(dataclasses.replace(results, folder=tmp_path), [row], "each")
    assert (stopped.part, stopped.whole) == (1 + 2 + 3, 60)
    (none,) = MEASURES["over 120 s"].read(results, [row], "each")
    assert none.part == 0


def test_runs_without_timers_and_with_one_fold_in_the_loop_are_read() -> None:
    """Tables and claims of the committed reference can be read, even if it was computed before there were timers.

    Gains of training in the loop have an interval even for a single fold.
    """
    reference = collect.reference(REPOSITORY)
    assert reference is not None
    for gain in MEASURES["in the loop"].read(reference, ["constraints"], "each"):
        assert gain.low < gain.value < gain.high
    data = constraints_tables.cross_validated([reference])
    if data["reading"].isna().all():
        assert not list(MEASURES["whole run, ratio"].read(reference, ["constraints, q = 10", "baseline"], "each"))
        assert "with their scores" not in str(constraints_remarks.times(data))
    assert len(constraints_tables.in_the_loop([reference])) == 4
    assert len(constraints_remarks.loop(constraints_tables.loop_gains([reference])).sentences) == 1


def test_the_arena(results: Results) -> None:
    data = integer_programs_tables.contest([results])
    lengths = integer_programs_tables.arena_lengths(data)
    assert lengths["best program / branch and bound"].tolist() == pytest.approx([100.0] * len(lengths))
    table = integer_programs_tables.arena_table(data).xs("relaxation, incremental", level="solver")
    assert table["best tree, %"].tolist() == [75.0] * 4
    assert table["gap"].tolist() == pytest.approx([0.05] * 4)
    assert integer_programs_tables.integrality(data).to_numpy().tolist() == [[50.0] * 3] * 4
    assert "100 times as long as branch and bound in the median bin, and 100.0 times (" in str(
        integer_programs_remarks.arena(data, lengths)
    )
    brief = str(integer_programs_remarks.answer(data, lengths))
    assert brief.startswith(
        f"Branch and bound proves {4 * 16} of {4 * 16} problems. On 64 problems with scores of arc and "
        "carreras+grandchild+sibling, the fastest integer program takes 100 times as long as branch and bound (median"
    )
    figure = charts.times(lengths.drop(columns=["sentences", "best program / branch and bound"]))
    assert len(figure.axes) == 4


def test_a_sentence_over_the_limit_is_reported(results: Results) -> None:
    data = integer_programs_tables.contest([results])
    lengths = integer_programs_tables.arena_lengths(data)
    text = str(integer_programs_remarks.arena(data, lengths))
    assert "problems, without a limit. Integer programs prove" in text
    assert "with a limit of 5 s of wall-clock time per sentence. The fastest program takes" in text
    ratio = lengths["best program / branch and bound"]
    assert (
        f" {ratio.median():,.0f} times as long as branch and bound in the median of {ratio.notna().sum()} groups"
        in text
    )
    unknown = integer_programs_remarks.arena(data, lengths.assign(**{ratio.name: np.nan})).sentences[0]
    assert "groups" not in unknown
    some = ratio.where(np.arange(len(ratio)) > 0)
    missing = integer_programs_remarks.arena(data, lengths.assign(**{ratio.name: some})).sentences[0]
    assert missing.endswith(" groups of problems; in 1 others, no program proves all.")
    assert "HiGHS" not in text
    assert "(this run; 1 corpus; models arc, carreras+grandchild+sibling; projective, non-projective trees)" in text
    longer = data.assign(slowest=data["slowest"].where(data["solver"] != "explicit", 6.257))
    text = str(integer_programs_remarks.arena(longer, lengths))
    assert " The slowest program used 6.26 CPU s, because HiGHS checks its limit only between steps. If" in text
    two = pd.concat([data, data.assign(run="reference")])
    text = str(integer_programs_remarks.arena(two, integer_programs_tables.arena_lengths(two)))
    assert text.count("Branch and bound proves 64 of 64 problems") == 2, "figures of two runs are not added"


def test_a_program_that_gave_up_is_not_the_best() -> None:
    rows = [
        {"model": "m", "space": "s", "solver": solver, "longer_than": 0, "sentences": 2, "proved": proved, "seconds": t}
        for solver, proved, t in (("branch and bound", 2, 0.1), ("incremental", 1, 0.2), ("explicit", 2, 5.0))
    ]
    lengths = integer_programs_tables.arena_lengths(pd.DataFrame(rows).assign(run="r", corpus="c"))
    assert lengths["best program / branch and bound"].tolist() == pytest.approx([50.0])


def test_runs_without_any_of_it(empty_run: Results) -> None:
    data = constraints_tables.cross_validated([empty_run])
    tables = [
        f(data)
        for f in (
            constraints_tables.constraint_times,
            constraints_tables.constraint_targets,
            constraints_tables.approximation,
            constraints_tables.solver_times,
        )
    ]
    tables += [
        f([empty_run])
        for f in (constraints_tables.family_worth, constraints_tables.in_the_loop, constraints_tables.folded_corpora)
    ]
    arena_data = integer_programs_tables.contest([empty_run])
    tables += [
        f(arena_data)
        for f in (
            integer_programs_tables.arena_table,
            integer_programs_tables.arena_lengths,
            integer_programs_tables.integrality,
        )
    ]
    assert all(table.empty for table in tables)
    assert all(
        Table(table, "empty")._repr_html_() == "<p>empty: no run has results for this table.</p>" for table in tables
    )
    assert len(constraints_tables.constraint_accuracy(data)) == 2  # only published figures remain
    for remark in (constraints_remarks.accuracy, constraints_remarks.times):
        assert "params/ilp.yaml" in str(remark(data))
    assert "pipeline.run integer-programs" in str(integer_programs_remarks.arena(arena_data, arena_data))
