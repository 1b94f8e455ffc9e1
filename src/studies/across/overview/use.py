"""Recommend a parser for each task: the best row, its accuracy, speed and proofs, and the command that makes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from math import nan
from typing import Any, NamedTuple

import pandas as pd

from studies.across.approximations import tables as approximations_tables
from studies.across.approximations.contestants import EXACT
from studies.across.approximations.synthetic import SYNTHETIC
from studies.across.mining import summaries as mining_summaries
from studies.across.mining import tables as mining_tables
from studies.across.mining.rankings import OURS
from studies.across.overview import shares, systems
from studies.across.validity import tables as validity_tables
from studies.auli_lopez_2011.ccg.measure import ORDERS
from studies.auli_lopez_2011.ccg_integration import tables as ccg_tables
from studies.auli_lopez_2011.ccg_integration.measure import Column, column_of
from studies.common.params import Row
from studies.qian_liu_2013.comparison import headline as headlines
from studies.qian_liu_2013.comparison.headline import OTHER_SYSTEMS
from studies.qian_liu_2013.confidence import tables as confidence_tables
from studies.qian_liu_2013.confidence.settings import Confidence
from studies.qian_liu_2013.languages import remarks as languages_remarks
from studies.qian_liu_2013.languages import tables as languages_tables
from studies.site import frames
from studies.site.collect import Results
from studies.site.rows import AT, at, main_rows, metrics_of, whole
from studies.site.sentences import from_to
from studies.site.show import NOTHING
from treebound.systems.ccg.settings import Settings as CCGSettings
from treebound.systems.graph.settings import Settings

TRAIN = "treebound train TRAIN DEV -o MODEL"
#: tasks
USUAL = "the default settings"
ACCURATE = "the most accurate trees, with proofs"
FAST = f"fast, and at most {shares.POINT:g} point less accurate"
FASTEST = "the fastest parser of the table above"
OWN_SCORES = "score matrices of your own parser"
CROSSING = "trees whose arcs may cross, with proofs"
VALID = "trees that the UD validator accepts"
CATEGORIAL = "categorial grammar (CCG)"
SEVERAL = "several trees, or confidence in arcs"
ERRORS = "annotation errors in a treebank"
MISSING = f"{NOTHING} (no results in this run)"
CLOSE = 0.5  #: loss in labelled F-score on dev that the search for a fast CCG decoder accepts
UNTIMED = f"{NOTHING} (not timed)"
#: decoder of the joint CCG model, as the metrics name it -> options of `treebound parse` that choose it
CCG_OPTIONS = {
    "parser": (),
    "bp": ("--integrate", "bp"),
    "dd": ("--integrate", "dd"),
    "dd-published": ("--integrate", "dd", "--step", "published"),
    "exact": ("--integrate", "exact"),
}


class Advice(NamedTuple):
    """A line of the table: a task, the row that suits it, and what the run measured for the row."""

    task: str
    row: str
    accuracy: str
    speed: str
    proves: str
    command: str


COLUMNS = ("row", "accuracy", "speed", "proved best", "command")


#: task -> notebook about it
PAGES = {
    USUAL: "30-accuracy-and-speed",
    ACCURATE: "20-main-comparison",
    FAST: "30-accuracy-and-speed",
    FASTEST: "71-transitions",
    OWN_SCORES: "05-your-scores",
    CROSSING: "60-multilingual",
    VALID: "33-valid-trees",
    CATEGORIAL: "92-ccg-integration",
    SEVERAL: "32-confidence",
    ERRORS: "34-annotation-errors",
}


def which(runs: Sequence[Results], more: Results | None = None) -> pd.DataFrame:
    """Return the advice for all tasks. Rows: tasks. Columns: COLUMNS, as text.

    Each line is computed from the first run that has results for the task; the accuracy names a later run. A task
    without results in all runs has no line.

    more  the reference's run over more corpora, which the line about crossing trees mentions; None: there is none
    """
    advice = []
    for make in (_usual, _accurate, _fast, _fastest, _own_scores, _crossing, _valid, _ccg, _confidence, _mining):
        first, *others = (make(run) for run in runs)
        if first.speed == MISSING:
            names = [run.name for run in runs[1:]]
            other = next(((n, a) for n, a in zip(names, others, strict=True) if a.speed != MISSING), None)
            if other is not None:
                first = other[1]._replace(accuracy=f"{other[1].accuracy} ({other[0]})")
        if first.speed != MISSING:
            advice.append(first)
    gained = languages_remarks.crossing_in_brief(languages_tables.multilingual(more))
    advice = [
        line._replace(accuracy=f"{line.accuracy}; {gained}") if gained and line.task == CROSSING else line
        for line in advice
    ]
    data = pd.DataFrame([line[1:] for line in advice], columns=list(COLUMNS))
    return data.set_index(pd.Index([line.task for line in advice], name="task"))


def _usual(results: Results) -> Advice:
    """Recommend the graph-based row with the default settings of `treebound train`."""
    if systems.DEFAULT not in systems.headline(results).index.get_level_values("system"):
        return Advice(USUAL, MISSING, MISSING, MISSING, MISSING, TRAIN)
    return _of_graph(results, USUAL, systems.DEFAULT, against=_most_accurate(results).max())


def _accurate(results: Results) -> Advice:
    """Recommend the graph-based row with the highest mean UAS among those that prove every tree."""
    return _of_graph(results, ACCURATE, _most_accurate(results).idxmax())


def _most_accurate(results: Results) -> pd.Series:
    """Return the mean UAS of the graph-based rows that prove every tree, or of all if there is none."""
    table = systems.headline(results).droplevel("role")
    exact = table[table.index.isin(list(main_rows(results.params, results.params.learners[0])))]
    proving = exact[exact[systems.PROVED] == 100]
    return (proving if len(proving) else exact)[systems.MEAN].astype(float)


def _crossing(results: Results) -> Advice:
    """Recommend the graph-based row with the highest mean UAS among those that search all trees, crossing or not."""
    params, learner = results.params, results.params.learners[0]
    rows = {name: row for c in results.corpora for name, row in main_rows(params, learner, c).items()}
    crossing = [name for name, row in rows.items() if params.models[row.trained].settings.space == "non-projective"]
    task = CROSSING
    means = {name: _accuracy(results, name)[0] for name in crossing}
    known = {name: mean for name, mean in means.items() if mean == mean}
    if not known:
        return Advice(task, MISSING, MISSING, MISSING, "all", f"{TRAIN} --space non-projective")
    advice = _of_graph(results, task, max(known, key=lambda name: known[name]))
    if advice.speed != UNTIMED:
        return advice
    exact = _exact(results, "non-projective")
    if exact.empty:
        return advice
    speed = f"{_geometric_speed(exact):,.0f} words / CPU s, decoding alone"
    flat = _exact(results, "projective")
    if len(flat):
        ratio = _geometric_speed(flat) / _geometric_speed(exact)
        speed += f"; {ratio:.0f} times the time of projective trees"
    return advice._replace(speed=speed)


def _exact(results: Results, space: str) -> pd.DataFrame:
    """Return the rows of exact search in `approximations.tables.contest` with the scores of the last trained model."""
    data = approximations_tables.contest([results])
    if data.empty:
        return data
    exact = data[~data["model"].isin(SYNTHETIC) & (data["space"] == space) & (data["solver"] == EXACT)]
    return exact[exact["model"] == exact["model"].iloc[-1]] if len(exact) else exact


def _decoding(exact: pd.DataFrame) -> str:
    """Return the geometric mean of the speed of decoding alone over the corpora. exact: `_exact`, with rows."""
    return f"{_geometric_speed(exact):,.0f} words / CPU s, decoding alone"


def _geometric_speed(exact: pd.DataFrame) -> float:
    """Return the geometric mean of words per CPU second over the corpora. exact: `_exact`, with rows."""
    model, space = exact[["model", "space"]].iloc[0]
    return systems.geometric(approximations_tables.exact_speeds(exact, model, space))


def _of_graph(results: Results, task: str, model: str, against: float = nan) -> Advice:
    """Return the advice to take a graph-based model. against: mean UAS to compare the model with; NaN: none."""
    learner = results.params.learners[0]
    mean, seeds = _accuracy(results, model)
    rows = {corpus: main_rows(results.params, learner, corpus)[model] for corpus in results.corpora}
    places = [at(corpus, row) for corpus, row in rows.items()]
    data = metrics_of(results).loc[places]
    proved, total = int(data["certified"].sum()), int(data["sentences"].sum())
    timed = frames.benchmark(results).set_index(AT)["words_per_cpu_s"]
    proves = shares.of_all(proved, total)
    trained = rows[results.corpora[0]].trained
    loss = f" ({_loss(mean, against)})" if against == against else ""
    accuracy = f"UAS {mean:.2f}{loss}, {_where(results.corpora)}, {seeds}"
    return Advice(
        task, model, accuracy, _mean_speed(timed[timed.index.isin(places)]), proves, command(results, trained)
    )


def _fast(results: Results) -> Advice:
    """Recommend the fastest row of this project whose mean UAS is at most POINT below the highest one."""
    task = FAST
    rows = pd.DataFrame(
        [(row, *_measured(results, row)) for row in _with_commands(results)], columns=["row", "uas", "speed", "seeds"]
    ).dropna()
    if rows.empty:
        return Advice(task, MISSING, MISSING, MISSING, MISSING, TRAIN)
    row, uas, speed, counts = rows[rows["uas"] >= rows["uas"].max() - shares.POINT].sort_values("speed").iloc[-1]
    proves = "none"
    if row.system == "graph":
        data = metrics_of(results).loc[[at(corpus, row) for corpus in results.corpora]]
        proves = shares.of_all(int(data["certified"].sum()), int(data["sentences"].sum()))
    line = command(results, row.trained)
    if row.system == "graph" and row.k != results.params.train.k:
        line += f"; treebound parse MODEL TEXT --k {row.k}"
    name = headlines.titles(results, results.corpora[0])[row.name]
    accuracy = (
        f"UAS {uas:.2f} ({_loss(uas, _most_accurate(results).max())}), {_where(results.corpora)}, {_seeds(counts)}"
    )
    per_second = f"{speed:,.0f} words / CPU s"
    return Advice(task, name, accuracy, per_second, proves, line)


def _loss(uas: float, best: float) -> str:
    """Return the difference of two accuracies as printed. best: mean UAS of the row of the first task."""
    return f"{round(uas, 2) - round(best, 2):+.2f}"


def _with_commands(results: Results) -> Iterator[Row]:
    """Yield the rows of this project that a command of `treebound` makes on all corpora, with the first learner.

    A graph-based row has the decoder of the main row of its model, with any number of candidate heads.
    """
    params = results.params
    main = main_rows(params, params.learners[0])
    for row in params.rows.values():
        if not all(row in params.rows_of(corpus) and params.plain(corpus, row) for corpus in results.corpora):
            continue
        own = main.get(row.model) if row.system == "graph" and row.learner == params.learners[0] else None
        same_search = own is not None and row.decoder == own.decoder and whole(params, row)
        if same_search or row.system in OTHER_SYSTEMS:
            yield row


def _measured(results: Results, row: Row) -> tuple[float, float, tuple[int, ...]]:
    """Return the mean UAS of a row over the corpora, the geometric mean of its speed, and its seeds on each corpus.

    UAS and speed are NaN if a corpus lacks them.
    """
    values = headlines.accuracies(results)
    uas, speeds, seeds = [], [], []
    for corpus in results.corpora:
        timed = {line["row"]: line["words_per_cpu_s"] for line in results.read("benchmark", f"{corpus}.json")}
        mean, count = headlines.mean_over_seeds(results, corpus, row, values)
        uas.append(mean)
        seeds.append(count)
        speeds.append(timed.get(row.name, float("nan")) if row.benchmarked else float("nan"))
    speed = systems.geometric(pd.Series(speeds)) if pd.notna(speeds).all() else float("nan")
    return sum(uas) / len(uas), speed, tuple(seeds)


def _fastest(results: Results) -> Advice:
    """Recommend the row of this project with the highest speed in the headline table."""
    table = systems.headline(results).droplevel("role")
    graph, rows = main_rows(results.params, results.params.learners[0]), results.params.rows
    own = [name for name in table.index if name in graph or (name in rows and rows[name].system in OTHER_SYSTEMS)]
    best = table.loc[table.loc[own, systems.SPEED].astype(float).idxmax()]
    name = str(best.name)
    model = graph[name].trained if name in graph else rows[name].trained
    proofs = best[systems.PROVED]
    proves = f"{proofs:.1f} %" if proofs == proofs else "none"
    return Advice(
        FASTEST,
        name,
        f"UAS {best[systems.MEAN]:.2f} ({_loss(best[systems.MEAN], _most_accurate(results).max())}), "
        f"{_where(results.corpora)}",
        f"{best[systems.SPEED]:,.0f} words / CPU s",
        proves,
        command(results, model),
    )


def _own_scores(results: Results) -> Advice:
    """Recommend exact decoding for score matrices of another parser, with the speed of decoding alone."""
    exact = _exact(results, "projective")
    speed = proves = MISSING
    accuracy = f"{NOTHING} (depends on the scores)"
    if len(exact):
        accuracy = f"{NOTHING} (timed on scores of {exact['model'].iloc[0]})"
        speed = _decoding(exact)
        proves = shares.of_all(int(exact["proved"].sum()), int(exact["sentences"].sum()))
    return Advice(
        OWN_SCORES,
        "branch-and-bound",
        accuracy,
        speed,
        proves,
        "treebound decode SCORES.npz -o PARSED --check",
    )


def _valid(results: Results) -> Advice:
    """Report the errors of the validator without and with the rules of Universal Dependencies."""
    data = validity_tables.measured([results])
    accuracy = speed = MISSING
    proves = MISSING
    if len(data):
        rows = data.xs(data.index.get_level_values("tags")[0], level="tags")
        before, after = (f"{rows[when].sum():,.0f}" for when in ("before", "after"))
        accuracy = f"validator errors {before} → {after}, {_where(rows.index.get_level_values('corpus'))}"
        speed = f"{rows['cpu_s_valid'].sum() / rows['cpu_s'].sum():.1f} times the time without rules"
        proves = shares.of_all(int(rows["proved"].sum()), int(rows["sentences"].sum()))
    return Advice(
        VALID,
        "any graph model",
        accuracy,
        speed,
        proves,
        "treebound parse MODEL TEXT --valid ud",
    )


def _ccg(results: Results) -> Advice:
    """Recommend the fastest decoder of the first CCG parser of the run, at most CLOSE below the best F-score on dev.

    Only decoders with the output rule of the paper are compared, because a command makes these.
    """
    task, line = CATEGORIAL, f"{TRAIN} --system ccg"
    parsers = ccg_tables.measured(results)
    if not parsers:
        return Advice(task, MISSING, MISSING, MISSING, "derivations", line)
    parser, metrics = next(iter(parsers.items()))
    usual = [row for row in metrics["columns"] if column_of(row).usual]
    on_dev, on_test = (
        {(row["order"], column_of(row)): row["LF"] for row in usual if row["split"] == split}
        for split in ("dev", "test")
    )
    timing = metrics["timing"]["columns"]
    timed = {(row["order"], row["decoder"], row["iterations"]): row["per_second"] for row in timing}
    speeds = {(order, column): timed.get((order, column.decoder, column.iterations), 0.0) for order, column in on_dev}
    close = [key for key, value in on_dev.items() if value >= max(on_dev.values()) - CLOSE]
    order, column = max(close, key=lambda key: (speeds[key], on_dev[key]))
    speed = speeds[order, column]  # 0 if the decoder was not timed
    lengths = [row for row in metrics["lengths"] if row["order"] == order]
    proved, sentences = (sum(row[name] for row in lengths) for name in ("proved", "sentences"))
    return Advice(
        task,
        f"{ccg_tables.name(column.decoder, column.iterations)}, {order}",
        f"labelled F {on_test[order, column]:.2f} on test, {parser}, one seed",
        f"{speed:,.0f} sentences / CPU s" if speed else UNTIMED,
        shares.of_all(proved, sentences) if column.decoder == "exact" else "none",
        f"{line}; {_ccg_command(column, order)}",
    )


def _ccg_command(column: Column, order: str) -> str:
    """Return the command that parses with the decoder of a column of the joint model and with an order of the beams."""
    options = [*CCG_OPTIONS[column.decoder]]
    options += ["--iterations", str(column.iterations)] * bool(column.iterations)
    options += ["--beams", ",".join(ORDERS[order])] * (ORDERS[order] != CCGSettings().beams)
    return " ".join(["treebound parse MODEL TEXT", *options])


def _confidence(results: Results) -> Advice:
    """Report the lists of best trees and the accuracy of their best members."""
    task, line = SEVERAL, "treebound parse MODEL TEXT --k-best 10 --margins"
    section = results.params.section(Confidence)
    if not section.model or not results.has("confidence"):
        return Advice(task, MISSING, MISSING, MISSING, "lists of trees", line)
    data = confidence_tables.measured(results)
    best = pd.DataFrame(data["best_of_list"].tolist()).mean()
    k = max(best.index, key=int)
    return Advice(
        task,
        section.model,
        f"UAS {best['1']:.2f}; best of {k} trees {best[k]:.2f}, {_where(data['corpus'])}, one seed, "
        f"at most {data['sentences'].max():,} sentences each",
        UNTIMED,
        f"{shares.of_all(int(data['complete'].sum()), int(data['sentences'].sum()))} lists",
        f"{command(results, section.model)}; {line}",
    )


def _mining(results: Results) -> Advice:
    """Report the share of errors among the first suspects of treebanks that are mined as the command mines them.

    The command trains its models on folds of the treebank itself. Treebanks with planted errors count only if no
    treebank has a later release.
    """
    task, line = ERRORS, "treebound mine TREEBANK -o suspects.html"
    mined = mining_tables.measured([results])
    points = mining_tables.points(mined)
    if points.empty:
        return Advice(task, MISSING, MISSING, MISSING, NOTHING, line)
    by_folds = mined[mined["trained"] != mining_tables.RELEASE]
    released = by_folds[by_folds["planted"] == 0]
    chosen = (released if len(released) else by_folds).set_index("run")
    points = points[(points["ranking"] == OURS) & points["run"].isin(chosen.index)]
    if points.empty:
        return Advice(task, MISSING, MISSING, MISSING, NOTHING, line)
    k = sorted(points["k"].unique())[(points["k"].nunique() - 1) // 2]
    precision = 100 * points.loc[points["k"] == k, "precision"]
    text = f"{from_to(precision.round())} % of the first {k} suspects are planted errors"
    if len(released):
        text = f"a later release changed {from_to(precision.round())} % of the first {k} suspects"
        single = mining_summaries.systematic_totals(mined)
        single = single[single.index.get_level_values("run").isin(chosen.index)]["errors, %"].dropna()
        text += f", {from_to(single.round())} % without systematic changes" * (len(single) > 0)
    return Advice(
        task,
        "default of mine",
        f"{text} ({_where(chosen['treebank'])})",
        UNTIMED,
        NOTHING,
        line,
    )


def command(results: Results, model: str) -> str:
    """Return the command that trains a model of params.yaml, with the options that differ from the defaults."""
    entry = results.params.models[model]
    values: Any = entry.settings
    usual: dict[str, Any] = {}
    if entry.system == "graph":
        own = replace(values, epochs=values.epochs or results.params.train.epochs)
        same = Settings(space=own.space, threshold=own.threshold)  # the folds of the pruner follow from the threshold
        default = asdict(Settings(space=own.space)) | {"space": Settings().space, "pruner_folds": same.pruner_folds}
        values, usual = asdict(own), default
    elif not isinstance(values, dict):
        values, usual = asdict(values), asdict(type(values)())
    options = [] if entry.system == "graph" else ["--system", entry.system]
    for name, value in values.items():
        if name not in usual or value != usual[name]:
            options += [f"--{name.replace('_', '-')}", _written(value)]
    return " ".join([TRAIN, *options])


def _written(value: Any) -> str:
    """Return the value of a setting as an option has it."""
    if isinstance(value, tuple):
        return ",".join(value) or '""'
    return f"{value:g}" if isinstance(value, float) else str(value)


def _accuracy(results: Results, model: str) -> tuple[float, str]:
    """Return the mean UAS of a graph-based model over the corpora, and its seeds in words. NaN if a corpus lacks it."""
    values, learner = headlines.accuracies(results), results.params.learners[0]
    means = []
    for corpus in results.corpora:
        row = main_rows(results.params, learner, corpus).get(model)
        means.append(headlines.mean_over_seeds(results, corpus, row, values) if row is not None else (float("nan"), 0))
    return sum(mean for mean, _ in means) / len(means), _seeds([count for _, count in means])


def _seeds(counts: Sequence[int]) -> str:
    """Return the number of seeds on each corpus in words, as a range if the numbers differ."""
    text = from_to(pd.Series(counts))
    return f"{text} seed{'' if text == '1' else 's'}"


def _mean_speed(speeds: pd.Series) -> str:
    """Return the geometric mean of several speeds, or a note that the row was not timed."""
    return f"{systems.geometric(speeds):,.0f} words / CPU s" if len(speeds) else UNTIMED


def _where(corpora: Sequence[str] | pd.Series | pd.Index) -> str:
    """Name the corpus, or count the corpora over which a figure is averaged."""
    names = list(dict.fromkeys(corpora))
    return f"on {names[0]}" if len(names) == 1 else f"{len(names)} corpora"
