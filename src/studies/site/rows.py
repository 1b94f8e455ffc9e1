"""Which rows of the parameters play which part in the tables, and how runs stand beside each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

import pandas as pd

from studies.common.params import SYSTEMS, Params, Row
from studies.site import frames
from studies.site.collect import Results
from treebound.core.errors import InputError

#: what identifies a row of the metrics, and how tables show it
AT = ["corpus", "row"]
KEYS = ["corpus", "model", "learner", "decoder", "k"]


def at(corpus: str, row: Row) -> tuple[str, str]:
    """The values of AT."""
    return corpus, row.name


def find(params: Params, corpus: str = "", **fields: object) -> list[Row]:
    """The rows of our own parser that have these fields.

    corpus  its rows with its tags and the seed of the run, those that all corpora have first; without one the latter
    """
    rows = [row for row in params.rows_of(corpus) if params.plain(corpus, row)] if corpus else params.rows.values()
    ours = [row for row in rows if row.system == "graph" and (corpus or row.everywhere)]
    return [row for row in ours if all(getattr(row, name) == value for name, value in fields.items())]


def corpora_of(results: Sequence[Results], wanted: Sequence[str]) -> dict[str, list[str]]:
    """Provenance -> its corpora among `wanted` (empty: all). Raises InputError for one that the last run lacks."""
    last = results[-1]
    for corpus in wanted:
        if corpus not in last.corpora:
            there = ", ".join(last.corpora)
            raise InputError(f"no results for corpus {corpus!r}", hint=f"{last.name} has {there}; see params.yaml")
    return {r.name: [c for c in r.corpora if not wanted or c in wanted] for r in results}


def stacked(
    results: Sequence[Results], wanted: Sequence[str], frame: Callable[[Results], pd.DataFrame]
) -> pd.DataFrame:
    """A frame of every provenance, one below the other, with a first column `provenance`."""
    keep = corpora_of(results, wanted)
    parts = []
    for r in results:
        data = frame(r)
        data.insert(0, "provenance", r.name)
        parts.append(data[data["corpus"].isin(keep[r.name])])
    return pd.concat(parts, ignore_index=True)


def of_one_run(data: pd.DataFrame) -> pd.DataFrame:
    """The rows of the first run that has any: what is summed over corpora counts no sentence of two runs twice.

    data  with a column `run`
    """
    return data[data["run"] == data["run"].iloc[0]] if len(data) else data


def agreed(data: pd.DataFrame) -> pd.DataFrame:
    """Rows that several provenances share become one, whose column `in` names them; rows that differ stay apart."""
    keys = [column for column in data.columns if column != "provenance"]
    merged = data.groupby(keys, sort=False, dropna=False)["provenance"].agg(", ".join).reset_index()
    return merged.rename(columns={"provenance": "in"})


def whole(params: Params, row: Row) -> bool:
    """Whether a row decodes the whole test set, not the first sentences alone."""
    return params.decoders[row.decoder].sentences is None


def exhaustive(params: Params, row: Row) -> bool:
    """Whether the decoder of a row searches without a limit on its work, where it is one that could have a limit."""
    settings = params.decoders[row.decoder]
    return settings.max_dp_calls is None and settings.max_nodes is None


def main_rows(params: Params, learner: str, corpus: str = "") -> dict[str, Row]:
    """Model -> its row of the main comparison: the whole test set, decoded with the k of training.

    The row of a search without a limit is preferred to one of a search that may give up; a row of AD3 is none of them.
    corpus: as in `find`
    """
    rows = [row for row in find(params, corpus, learner=learner, k=params.train.k) if whole(params, row)]
    rows = [row for row in rows if params.decoders[row.decoder].decoder != AD3]
    chosen = {row.model: row for row in reversed(rows)}  # the first of a model
    chosen |= {row.model: row for row in reversed(rows) if exhaustive(params, row)}
    return {model: chosen[model] for model in dict.fromkeys(row.model for row in rows)}


def seeds_of(params: Params, corpus: str, row: Row) -> dict[int, Row]:
    """Seed -> the row that differs from this one in nothing else, its own seed first."""
    tags, own = params.tags_and_seed(corpus, row)
    same = lambda other: (other.model, other.system, other.learner, other.decoder, other.k)  # noqa: E731
    out = {own: row}
    for other in params.rows_of(corpus):
        its_tags, seed = params.tags_and_seed(corpus, other)
        if its_tags == tags and same(other) == same(row):
            out.setdefault(seed, other)
    return out


def learners_of(params: Params) -> list[str]:
    """The learners of all rows, those of single corpora included."""
    return list(dict.fromkeys(row.learner for corpus in ("", *params.corpora) for row in find(params, corpus)))


def metrics_of(results: Results) -> pd.DataFrame:
    """What `decode` wrote of all rows of our own parser, by AT."""
    parts = [data for data in (frames.decode(results), frames.variants(results)) if len(data)]
    return pd.concat(parts).set_index(AT)


def sweep(params: Params) -> list[Row]:
    """The rows that differ in k alone, from most to least pruned: of the model that has most of them."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in find(params):
        groups.setdefault((row.model, row.learner, row.decoder), []).append(row)
    best = max(groups.values(), key=len, default=[])
    if len(best) < 2:
        raise InputError("no model is decoded with several k", path="params.yaml", hint="add rows under decode:")
    return sorted(best, key=lambda row: float("inf") if row.heads is None else row.heads)


def configurations(params: Params) -> list[Row]:
    """The rows that decode the same scores with the published configuration, then with tuned ones.

    First the tuned one over the backbone that the published one has, where there is such a row.
    """
    for published in find(params):
        settings = params.decoders[published.decoder]
        if settings.config != "published":
            continue
        same = find(params, model=published.model, learner=published.learner, k=published.k)
        tuned = [row for row in same if exhaustive(params, row) and params.decoders[row.decoder].config == "tuned"]
        alike = [row for row in tuned if params.decoders[row.decoder].sentences == settings.sentences]
        tuned = alike or tuned
        if tuned:
            tuned.sort(key=lambda row: params.decoders[row.decoder].backbone != settings.backbone)
            return [published, *tuned]
    raise InputError(
        "no row is decoded with both configurations", path="params.yaml", hint="add a decode row with config published"
    )


def tour_row(params: Params, model: str = "", k: int | str = 10) -> Row:
    """A row for the tour: `model` (or that of the sweep) at `k`, with the learner of the sweep if there is a choice.

    Raises InputError where params.yaml has none.
    """
    swept = sweep(params)[0]
    rows = [row for row in find(params, model=model or swept.model, k=k) if whole(params, row)]
    if not rows:
        raise InputError(
            f"no row decodes {model or swept.model!r} with k = {k}", path="params.yaml", hint="see its decode:"
        )
    return next((row for row in rows if row.learner == swept.learner), rows[0])


# --- rows by name: how claims call them

ALL_FACTORS, PUBLISHED_SEARCH, TUNED_SEARCH = "all factors", "published search", "tuned search"
AD3 = "ad3"  #: decoder of rows that are called after their model (`relaxed`)
#: rows of parsers of others, which are called as their packages are
OTHERS = tuple(name for name in SYSTEMS if name not in ("graph", "transition", "sampling"))


def named_rows(params: Params, corpus: str, learner: str) -> dict[str, Row]:
    """The rows of a corpus and learner by name: each model's of the main comparison; that of the model of `sweep` as
    ALL_FACTORS, and pruned otherwise as `k = 3`, `no pruning`; the same scores searched as published and as tuned; a
    model decoded with AD3 under the name that `relaxed` gives.
    """
    rows = main_rows(params, learner, corpus)
    every, swept, compared = "combined", [], []
    with suppress(InputError):
        swept = sweep(params)
        every = swept[0].model
    with suppress(InputError):
        compared = configurations(params)
    if every in rows:
        rows[ALL_FACTORS] = rows[every]
    rows |= {pruning(run.k): run for run in swept if run.learner == learner}
    if compared and compared[0].learner == learner:
        rows |= {PUBLISHED_SEARCH: compared[0], TUNED_SEARCH: compared[-1]}
    for row in find(params, corpus, learner=learner, k=params.train.k):
        if params.decoders[row.decoder].decoder == AD3 and whole(params, row):
            rows.setdefault(relaxed(row.model), row)
    return rows


def row_names(params: Params) -> Collection[str]:
    """Every name that a row of these parameters, or of params/reference.yaml, can have."""
    ks = ("none", params.train.k, *params.pruner.ks)
    roles = (ALL_FACTORS, PUBLISHED_SEARCH, TUNED_SEARCH)
    others = (name for name, row in params.rows.items() if row.system != "graph")
    by_ad3 = map(relaxed, params.graph_models)
    return {*params.graph_models, *roles, *(pruning(k) for k in ks), *by_ad3, *others, *OTHERS}


def relaxed(model: str) -> str:
    """Name of a model's row that AD3 decodes."""
    return f"{model} by AD3"


def pruning(k: object) -> str:
    """Name of a pruning setting in legends and tables."""
    return "no pruning" if str(k) == "none" else f"k = {k}"
