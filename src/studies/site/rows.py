"""Find the parameter rows (a model with a decoder) that tables and claims use, and combine tables of several runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from operator import attrgetter

import pandas as pd

from studies.common.params import SYSTEMS, Params, Row
from studies.site import frames
from studies.site.collect import Results
from treebound.core.errors import InputError

#: columns that identify a row of the metrics, and columns that describe the row in tables
AT = ["corpus", "row"]
KEYS = ["corpus", "model", "learner", "decoder", "k"]


def at(corpus: str, row: Row) -> tuple[str, str]:
    """Return (corpus, row name): the values of the columns AT, which identify the results of a parameter row."""
    return corpus, row.name


def find(params: Params, corpus: str = "", **fields: object) -> list[Row]:
    """Return the rows of graph-based parsers whose fields have the given values.

    corpus  only rows of this corpus, with the tags of the corpus and the seed of the run; rows that all corpora have
            come first. Empty: only rows that all corpora have
    """
    rows = [row for row in params.rows_of(corpus) if params.plain(corpus, row)] if corpus else params.rows.values()
    ours = [row for row in rows if row.system == "graph" and (corpus or row.everywhere)]
    return [row for row in ours if all(getattr(row, name) == value for name, value in fields.items())]


def corpora_of(results: Sequence[Results], wanted: Sequence[str]) -> dict[str, list[str]]:
    """Map each provenance to its corpora among `wanted` (empty: all).

    Raises InputError for a corpus that the last run lacks.
    """
    last = results[-1]
    for corpus in wanted:
        if corpus not in last.corpora:
            available = ", ".join(last.corpora)
            raise InputError(f"no results for corpus {corpus!r}", hint=f"{last.name} has {available}; see params.yaml")
    return {r.name: [c for c in r.corpora if not wanted or c in wanted] for r in results}


def stacked(
    results: Sequence[Results], wanted: Sequence[str], frame: Callable[[Results], pd.DataFrame]
) -> pd.DataFrame:
    """Concatenate the tables that `frame` makes of the runs; a new column `provenance` has the name of the run."""
    keep = corpora_of(results, wanted)
    parts = []
    for r in results:
        data = frame(r)
        data.insert(0, "provenance", r.name)
        parts.append(data[data["corpus"].isin(keep[r.name])])
    return pd.concat(parts, ignore_index=True)


def of_one_run(data: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first run, so that sums over corpora do not count the sentences of a second run again.

    data  has a column `run`
    """
    return data[data["run"] == data["run"].iloc[0]] if len(data) else data


def agreed(data: pd.DataFrame) -> pd.DataFrame:
    """Merge equal rows of several runs into one row; its column `in` names the runs.

    Rows that differ between runs remain separate.

    data  has a column `provenance`
    """
    keys = [column for column in data.columns if column != "provenance"]
    merged = data.groupby(keys, sort=False, dropna=False)["provenance"].agg(", ".join).reset_index()
    return merged.rename(columns={"provenance": "in"})


def whole(params: Params, row: Row) -> bool:
    """Return True if the decoder of a row decodes the whole test split, not only its first sentences."""
    return params.decoders[row.decoder].sentences is None


def exhaustive(params: Params, row: Row) -> bool:
    """Return True if the decoder of a row searches without a limit on calls or nodes."""
    settings = params.decoders[row.decoder]
    return settings.max_dp_calls is None and settings.max_nodes is None


def main_rows(params: Params, learner: str, corpus: str = "") -> dict[str, Row]:
    """Map each model to its row in the main comparison, which decodes the whole test split.

    The row has the same number k of candidate heads as training.

    corpus  see `find`

    A row whose search has no limit is preferred to a row whose search may stop at a limit. Rows of AD3 are excluded.
    """
    rows = [row for row in find(params, corpus, learner=learner, k=params.train.k) if whole(params, row)]
    rows = [row for row in rows if params.decoders[row.decoder].decoder != AD3]
    chosen = {row.model: row for row in reversed(rows)}  # keep the first row of each model
    chosen |= {row.model: row for row in reversed(rows) if exhaustive(params, row)}
    return {model: chosen[model] for model in dict.fromkeys(row.model for row in rows)}


def seeds_of(params: Params, corpus: str, row: Row) -> dict[int, Row]:
    """Map each seed to the row that differs from `row` in its seed alone; the seed of `row` comes first."""
    tags, own_seed = params.tags_and_seed(corpus, row)
    fields = attrgetter("model", "system", "learner", "decoder", "k", "beam", "rerank")
    rows_by_seed = {own_seed: row}
    for candidate in params.rows_of(corpus):
        its_tags, seed = params.tags_and_seed(corpus, candidate)
        if its_tags == tags and fields(candidate) == fields(row):
            rows_by_seed.setdefault(seed, candidate)
    return rows_by_seed


def learners_of(params: Params) -> list[str]:
    """Return the learners of all rows of graph-based parsers, including rows of single corpora."""
    return list(dict.fromkeys(row.learner for corpus in ("", *params.corpora) for row in find(params, corpus)))


def metrics_of(results: Results) -> pd.DataFrame:
    """Return the `decode` metrics of all rows of graph-based parsers, indexed by the columns AT."""
    parts = [data for data in (frames.decode(results), frames.variants(results)) if len(data)]
    return pd.concat(parts).set_index(AT)


def sweep(params: Params) -> list[Row]:
    """Return the rows that differ only in k, the number of candidate heads per word, smallest k first.

    If several models have such rows, the model with the most rows is taken. Raises InputError if no model has at least
    two rows.
    """
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in find(params):
        groups.setdefault((row.model, row.learner, row.decoder), []).append(row)
    best = max(groups.values(), key=len, default=[])
    if len(best) < 2:
        raise InputError("no model is decoded with several k", path="params.yaml", hint="add rows under decode:")
    return sorted(best, key=lambda row: float("inf") if row.heads is None else row.heads)


def configurations(params: Params) -> list[Row]:
    """Return one row with the published search configuration, and then rows that search the same scores with `tuned`.

    The tuned rows have no limit on calls or nodes. If possible, the first of them has the backbone of the published
    row. Raises InputError if no model has rows of both configurations.
    """
    for published in find(params):
        settings = params.decoders[published.decoder]
        if settings.config != "published":
            continue
        same_scores = find(params, model=published.model, learner=published.learner, k=published.k)
        tuned = [
            row for row in same_scores if exhaustive(params, row) and params.decoders[row.decoder].config == "tuned"
        ]
        alike = [row for row in tuned if params.decoders[row.decoder].sentences == settings.sentences]
        tuned = alike or tuned
        if tuned:
            tuned.sort(key=lambda row: params.decoders[row.decoder].backbone != settings.backbone)
            return [published, *tuned]
    raise InputError(
        "no row is decoded with both configurations", path="params.yaml", hint="add a decode row with config published"
    )


def tour_row(params: Params, model: str = "", k: int | str = 10) -> Row:
    """Return the row of notebook 00-tour: a model decoded with `k` candidate heads.

    If possible, the row has the learner of `sweep`.

    model  name of the model; empty: the model of `sweep`

    Raises InputError if params.yaml has no row with this model and k.
    """
    swept = sweep(params)[0]
    rows = [row for row in find(params, model=model or swept.model, k=k) if whole(params, row)]
    if not rows:
        raise InputError(
            f"no row decodes {model or swept.model!r} with k = {k}", path="params.yaml", hint="see its decode:"
        )
    return next((row for row in rows if row.learner == swept.learner), rows[0])


# --- find rows by the names that the files of claims use

ALL_FACTORS, PUBLISHED_SEARCH, TUNED_SEARCH = "all factors", "published search", "tuned search"
AD3 = "ad3"  #: decoder of linear-programming relaxations; `relaxed` makes the names of its rows
#: names of rows of parsers of other projects: the names of their packages
OTHERS = tuple(name for name in SYSTEMS if name not in ("graph", "transition", "sampling"))


def named_rows(params: Params, corpus: str, learner: str) -> dict[str, Row]:
    """Map the names that claims use to the rows of a corpus and learner.

    Each model of the main comparison has its own name; the model of `sweep` is also called ALL_FACTORS. The rows of the
    sweep are called `k = 3`, `no pruning` and so on. PUBLISHED_SEARCH and TUNED_SEARCH search the same scores. A model
    that AD3 decodes has the name that `relaxed` makes.
    """
    rows = main_rows(params, learner, corpus)
    all_factors_model, swept, compared = "combined", [], []
    with suppress(InputError):
        swept = sweep(params)
        all_factors_model = swept[0].model
    with suppress(InputError):
        compared = configurations(params)
    if all_factors_model in rows:
        rows[ALL_FACTORS] = rows[all_factors_model]
    rows |= {pruning(run.k): run for run in swept if run.learner == learner}
    if compared and compared[0].learner == learner:
        rows |= {PUBLISHED_SEARCH: compared[0], TUNED_SEARCH: compared[-1]}
    for row in find(params, corpus, learner=learner, k=params.train.k):
        if params.decoders[row.decoder].decoder == AD3 and whole(params, row):
            rows.setdefault(relaxed(row.model), row)
    return rows


def row_names(params: Params) -> Collection[str]:
    """Return all names that rows can have with these parameters or with params/reference.yaml."""
    ks = ("none", params.train.k, *params.pruner.ks)
    roles = (ALL_FACTORS, PUBLISHED_SEARCH, TUNED_SEARCH)
    others = (name for name, row in params.rows.items() if row.system != "graph")
    by_ad3 = map(relaxed, params.graph_models)
    return {*params.graph_models, *roles, *(pruning(k) for k in ks), *by_ad3, *others, *OTHERS}


def relaxed(model: str) -> str:
    """Return the name of the row in which AD3 decodes a model."""
    return f"{model} by AD3"


def pruning(k: object) -> str:
    """Return the text for a number k of candidate heads in legends and tables: `k = 10` or `no pruning`."""
    return "no pruning" if str(k) == "none" else f"k = {k}"
