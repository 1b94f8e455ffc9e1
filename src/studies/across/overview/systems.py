"""Choose the rows of the headline table: the most useful systems, at most ten, with accuracy, speed and proofs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import nan

import pandas as pd

from studies.across.corpora import tables as corpora_tables
from studies.across.overview import agreement, practice, shares
from studies.across.overview.claimed import GAIN, claim_of
from studies.common.params import Row
from studies.qian_liu_2013.comparison import headline as headlines
from studies.qian_liu_2013.comparison.tables import BASELINE
from studies.qian_liu_2013.speed import tables as speed_tables
from studies.site import frames
from studies.site.claims.judge import Effect, Judged, effect_of
from studies.site.claims.measures import MEASURES
from studies.site.collect import Results
from studies.site.ratios import geometric
from studies.site.rows import AT, at, main_rows, metrics_of, sweep
from studies.site.sentences import Sentences, about, from_to, joined, listing
from studies.site.show import NOTHING
from treebound.treebanks import catalogue

MOST = 10  #: number of rows
DEFAULT = "combined-pruned"  #: model with the default settings of `treebound train`
OTHER = "other settings"  #: answer about a system that this machine trained with other settings
PUBLISHED = "published"  #: role of a row that another project published
MEAN, SEEDS, SPEED, PROVED, HERE = "mean UAS", "seeds", "words / CPU s", "proved, %", "this run"
TIMED = "timed"  #: attribute of the table
#: names of families of systems in the table, by the groups of `speed_tables.by_system`
FAMILIES = {"graph": "exact", "transitions": "transition", "sampling": "sampling", "others": "external"}
#: factor family -> name in sentences; every other family has its own name
FACTORS = {
    "grandchild": "all grandchildren",
    "sibling": "all pairs of siblings",
    "comb": "combs",
    "pattern": "hand-crafted patterns",
}


def headline(shown: Results, here: Results | None = None, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the headline table of one run. Index: system and role (why the row is shown).

    Columns: number of seeds, as text; UAS (%, mean over seeds) on each corpus and its mean; geometric mean of the speed
    over the timed corpora; share of proved test sentences; and `this run`: whether this machine's run has the same UAS,
    if `here` is given. A mean needs all corpora. The attribute `timed` of the table maps a system to the number of
    corpora on which it was timed.

    wanted  corpora to show; empty: all corpora of the run
    """
    learner = shown.params.learners[0]
    table = _systems(shown, learner)
    corpora = [corpus for corpus in shown.corpora if not wanted or corpus in wanted]
    proofs, rows, timed = _proofs(shown, learner), {}, {}
    for place, role in _chosen(table, corpora, sweep(shown.params)[0].model):
        uas, speed = (_of(table, place, figure).reindex(corpora) for figure in ("UAS", "words per CPU second"))
        # beside the names, because a column of text does not read well between columns of numbers
        row: dict[str, object] = {SEEDS: from_to(_of(table, place, "seeds").reindex(corpora).dropna(), "{:.0f}")}
        row |= {str(corpus): float(value) for corpus, value in uas.items()}
        row[MEAN] = float(uas.mean(skipna=False))
        row[SPEED], timed[place[1]] = geometric(speed), int(speed.notna().sum())
        row[PROVED] = proofs.get(place[1], nan) if place[0] == "graph" else nan
        if here is not None:
            row[HERE] = agreement.under_heading(agreed(shown, here, place[1]))
        rows[place[1], role] = row
    for row in practice.published().sort_values("UAS").tail(1).to_dict("records"):
        if row["corpus"] in corpora:
            figures = dict.fromkeys((*corpora, MEAN, SPEED, PROVED), nan) | {row["corpus"]: row["UAS"], SEEDS: NOTHING}
            figures |= {HERE: agreement.under_heading(agreement.NOT_RUN)} if here is not None else {}
            rows[str(row["short"]), PUBLISHED] = figures
    index = pd.MultiIndex.from_tuples(list(rows), names=["system", "role"])
    data = pd.DataFrame(list(rows.values()), index=index)
    data.attrs[TIMED] = timed
    return data


def added(results: Results, model: str = "", corpora: Sequence[str] = ()) -> list[str]:
    """Return the names of the factor families that a model has and the baseline lacks.

    Patterns are written for a treebank. If only some of the treebanks have patterns, the name says how many.

    model    name of a graph-based model; empty: the model with all factors
    corpora  treebanks on which the models are compared; empty: the main treebanks of the run
    """
    models, corpora = results.params.graph_models, corpora or results.corpora
    families = models[model or sweep(results.params)[0].model].families
    having = sum(bool(catalogue.CORPORA[corpus].patterns) for corpus in corpora)
    names = FACTORS | ({"pattern": f"{FACTORS['pattern']} ({having} treebanks)"} if having < len(corpora) else {})
    return [names.get(family, family) for family in families if family not in models[BASELINE].families]


@about()
def described(data: pd.DataFrame, shown: Results, judged: Sequence[Judged], compared: pd.DataFrame) -> Sentences:
    """Explain the table: its corpora, the gain of all factors, the best exact row, other projects, and the default.

    data      `headline`
    judged    verdicts on all claims, among them the gain that the abstract states
    compared  `leaderboard.tables.against_others` of the same run
    """
    params, corpora = shown.params, [name for name in data.columns if name in shown.corpora]
    models, names = params.graph_models, list(data.index.get_level_values("system"))
    languages = corpora_tables.sources([shown], corpora)["language"]
    named = joined([f"`{corpus}` ({languages[corpus]})" for corpus in corpora])
    yield f"A row is a trained model with one way to search. The corpora are {named}.", None
    best = next((name for name, role in data.index if f"best {FAMILIES['graph']}" in role), "")
    if len(compared):
        yield _against_others(compared, corpora), compared
    entry = claim_of(judged, GAIN)
    if entry is not None and entry.claim is not None:
        scale, parts = MEASURES[entry.claim.measure].scale, []
        for places, inside in (("the treebanks of this table", True), ("the others", False)):
            measured = [place for place in entry.measured if (place.treebank in corpora) == inside]
            if measured:
                effect = effect_of(measured, scale, entry.claim.than)
                parts.append(f"{gain(effect)} on {places} ({effect.treebanks})")
        if len(parts) > 1:
            yield f"Over `{BASELINE}`, `{sweep(params)[0].model}` gains {joined(parts)}.", None
    if best in models and BASELINE in models and best != BASELINE:
        yield (
            f"`{BASELINE}` is the second-order baseline (Carreras 2007); `{best}`, the best exact row, "
            f"is another model, which also has the factor families {joined(added(shown, best))}."
        )
    if DEFAULT in names and DEFAULT in models:
        yield (
            f"`{DEFAULT}` is what `treebound train` makes: its search leaves out heads whose probability is below "
            f"{models[DEFAULT].threshold:g} of the best head's."
        )


def _against_others(compared: pd.DataFrame, corpora: Sequence[str]) -> str:
    """Compare the parser of this project that is most accurate overall with the parsers of other projects.

    compared  `leaderboard.tables.against_others` of one run
    """
    rows = compared[compared.index.isin(corpora, level="corpus")]
    ours, parts = compared.index.get_level_values("our parser")[0], []
    for other, places in rows.groupby(level="other parser", sort=False):
        named = [
            f"{row['difference']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}] on `{place[2]}`"
            for place, row in places.iterrows()
        ]
        parts.append(f"`{other}` {joined(named)}")
    same = rows["same attributes"].astype(bool)
    equal, unequal = (list(dict.fromkeys(rows[which].index.get_level_values("corpus"))) for which in (same, ~same))
    fair = [f"On {joined([f'`{corpus}`' for corpus in equal])} both see the same columns."] if equal else []
    if unequal:
        fair.append(f"On {joined([f'`{corpus}`' for corpus in unequal])} `{ours}` sees more.")
    return (
        f"UAS of `{ours}` minus the UAS of another project's parser: {listing(parts)} (unpaired 95 % intervals over "
        f"sentences). {' '.join(fair)} The other parsers were trained here with one seed and without "
        "pretrained vectors."
    )


def caption(data: pd.DataFrame, shown: Results) -> str:
    """Return the caption of the table; it names the systems that were timed on some corpora only. data: `headline`."""
    total = sum(name in shown.corpora for name in data.columns)
    few = joined([f"{name} on {count}" for name, count in data.attrs[TIMED].items() if 0 < count < total])
    mean = f"speed is a geometric mean over the {total} corpora{f' ({few} of them)' if few else ''}"
    return f"UAS of the main systems on the test sets in {shown.title}, in %, mean over the seeds; {mean}"


def gain(effect: Effect) -> str:
    """Return a gain in UAS points with its interval, if it has one."""
    interval = f" [{effect.low:+.2f}, {effect.high:+.2f}]" if effect.has_interval else ""
    return f"{effect.value:+.2f} UAS points{interval}"


def _of(table: pd.DataFrame, place: tuple[str, str], figure: str) -> pd.Series:
    """Return one figure of a row of `speed_tables.by_system` by corpus, as floats."""
    return table.loc[place].xs(figure, level=1).astype(float)


def _systems(results: Results, learner: str) -> pd.DataFrame:
    """Return UAS and speed of the systems, as `speed_tables.by_system`, with the model that `treebound train` makes."""
    table = speed_tables.by_system(results, learner)
    speed = frames.benchmark(results).set_index(AT)["words_per_cpu_s"]
    values = headlines.accuracies(results)
    cells: dict[tuple[str, str], float] = {}
    for corpus in results.corpora:
        row = main_rows(results.params, learner, corpus).get(DEFAULT)
        if row is not None:
            cells[corpus, "UAS"], cells[corpus, "seeds"] = headlines.mean_over_seeds(results, corpus, row, values)
            cells[corpus, "words per CPU second"] = float(speed.get(at(corpus, row), nan))
    if not cells or ("graph", DEFAULT) in table.index:
        return table
    extra = pd.DataFrame([cells], index=pd.MultiIndex.from_tuples([("graph", DEFAULT)], names=table.index.names))
    graph = table.index.get_level_values("group") == "graph"
    return pd.concat([table[graph], extra.reindex(columns=table.columns), table[~graph]])


def agreed(shown: Results, here: Results, system: str) -> str:
    """Say whether two runs have the same UAS for a system, with the seed of the run and on the corpora of both runs.

    If this machine trained the system with other settings, for instance in fewer epochs, its figures cannot agree. The
    answer then states it.
    """
    values: list[dict[str, float]] = []
    settings: list[object] = []
    for run in (shown, here):
        accuracies, of_run = headlines.accuracies(run), {}
        for corpus in run.corpora:
            row = headlines.contenders(run, corpus, run.params.learners[0]).get(system)
            if row is not None:
                of_run[corpus] = accuracies.get(at(corpus, row), nan)
                settings.append(_settings(run, row))
        values.append(of_run)
    answer = agreement.of_values(values[0], values[1])
    return OTHER if answer == agreement.DIFFERS and any(entry != settings[0] for entry in settings) else answer


def _settings(results: Results, row: Row) -> tuple[object, ...]:
    """Return the values that determine the model of a row: its settings, the seed, and the part of the data."""
    params = results.params
    shared = params.train if row.system == "graph" else None
    return params.models.get(row.trained), params.seed, params.slice, shared


def _proofs(results: Results, learner: str) -> dict[str, float]:
    """Return the share of proved test sentences (%) over all corpora, by graph-based model."""
    data, proofs = metrics_of(results), {}
    for model, row in main_rows(results.params, learner).items():
        places = [at(corpus, row) for corpus in results.corpora]
        if all(place in data.index for place in places):
            share = 100 * float(data.loc[places, "certified"].sum() / data.loc[places, "sentences"].sum())
            proofs[model] = shares.rounded(share)
    return proofs


def _chosen(table: pd.DataFrame, corpora: Sequence[str], all_factors: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the rows to show with the reason, at most MOST - 1: baseline, all factors, the best of each family.

    table  `speed_tables.by_system`
    """
    uas = table.xs("UAS", axis=1, level=1)[list(corpora)].astype(float)
    speed = table.xs("words per CPU second", axis=1, level=1)[list(corpora)].astype(float)
    means, speeds = uas.mean(axis=1, skipna=False), speed.apply(geometric, axis=1)
    complete = means.notna()
    chosen: dict[tuple[str, str], str] = {}

    def add(place: tuple[str, str], role: str) -> None:
        if len(chosen) < MOST - 1 and place in table.index:
            chosen[place] = f"{chosen[place]}, {role}" if place in chosen else role

    add(("graph", BASELINE), "baseline")
    add(("graph", all_factors), "all factors")
    add(("graph", DEFAULT), "default")
    for group, family in FAMILIES.items():
        members = means[complete & (means.index.get_level_values("group") == group)]
        if len(members):
            add(members.idxmax(), f"best {family}" if group != "others" else family)
    fastest = speeds[complete & speeds.notna()]
    if len(fastest):
        add(fastest.idxmax(), "fastest")
    for place in means.index[means.index.get_level_values("group") == "others"]:
        add(place, FAMILIES["others"])
    order = list(table.index)
    yield from sorted(chosen.items(), key=lambda item: order.index(item[0]))
