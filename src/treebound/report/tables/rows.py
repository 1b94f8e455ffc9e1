"""Which rows of the parameters play which part in the tables, and how runs stand beside each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import get_args

import pandas as pd

from treebound.core.errors import InputError
from treebound.experiments.params import Params, PeerName, Run, Variant
from treebound.plots.figures import pruning
from treebound.report.collect import Results

#: what identifies a row of the metrics
KEYS = ["corpus", "model", "learner", "decoder", "k"]


def at(corpus: str, run: Run | Variant) -> tuple[str, str, str, str, str]:
    """The values of KEYS for a run."""
    return corpus, run.model, run.learner, run.decoder, str(run.k)


def corpora_of(results: Sequence[Results], wanted: Sequence[str]) -> dict[str, list[str]]:
    """Provenance -> its corpora among `wanted` (empty: all). Raises InputError for one that the last run lacks."""
    last = results[-1]
    for corpus in wanted:
        if corpus not in last.corpora:
            there = ", ".join(last.corpora)
            raise InputError(f"no results for corpus {corpus!r}", hint=f"{last.name} has {there}; see params.yaml")
    return {r.name: [c for c in r.corpora if not wanted or c in wanted] for r in results}


def stacked(results: Sequence[Results], wanted: Sequence[str], frame: str) -> pd.DataFrame:
    """The frame `Results.<frame>()` of every provenance, one below the other, with a first column `provenance`."""
    keep = corpora_of(results, wanted)
    parts = []
    for r in results:
        data = getattr(r, frame)()
        data.insert(0, "provenance", r.name)
        parts.append(data[data["corpus"].isin(keep[r.name])])
    return pd.concat(parts, ignore_index=True)


def agreed(data: pd.DataFrame) -> pd.DataFrame:
    """Rows that several provenances share become one, whose column `in` names them; rows that differ stay apart."""
    keys = [column for column in data.columns if column != "provenance"]
    merged = data.groupby(keys, sort=False, dropna=False)["provenance"].agg(", ".join).reset_index()
    return merged.rename(columns={"provenance": "in"})


def whole(params: Params, run: Run) -> bool:
    """Whether a row decodes the whole test set, not the first sentences alone."""
    return params.decoders[run.decoder].sentences is None


def exhaustive(params: Params, run: Run) -> bool:
    """Whether the decoder of a row searches without a limit on its work, where it is one that could have a limit."""
    settings = params.decoders[run.decoder]
    return settings.max_dp_calls is None and settings.max_nodes is None


def main_rows(params: Params, learner: str) -> dict[str, Run]:
    """Model -> its row of the main comparison: the whole test set, decoded with the k of training.

    The row of a search without a limit is preferred to one of a search that may give up.
    """
    runs = [r for r in params.decode if r.learner == learner and r.k == params.train.k and whole(params, r)]
    rows: dict[str, Run] = {run.model: run for run in reversed(runs)}  # each in its place, the first of a model
    rows |= {run.model: run for run in reversed(runs) if exhaustive(params, run)}
    return {model: rows[model] for model in dict.fromkeys(run.model for run in runs)}


def corpus_rows(params: Params, corpus: str, learner: str) -> dict[str, Run | Variant]:
    """`main_rows` and those of this corpus alone: model -> row."""
    rows: dict[str, Run | Variant] = dict(main_rows(params, learner))
    for variant in params.variants:
        main = variant.corpus == corpus and variant.learner == learner and variant.k == params.train.k
        if main and params.plain(variant) and whole(params, variant.run):
            rows.setdefault(variant.model, variant)
    return rows


def learners_of(params: Params) -> list[str]:
    """The learners of all rows, those of single corpora included."""
    return list(dict.fromkeys((*params.learners, *(v.learner for v in params.variants if params.plain(v)))))


def metrics_of(results: Results) -> pd.DataFrame:
    """`Results.decode` and the rows that one corpus alone has, by KEYS."""
    variants = results.variants()
    plain = [results.params.plain(v) for v in results.params.variants]
    return pd.concat([results.decode(), variants[plain]] if any(plain) else [results.decode()]).set_index(KEYS)


def sweep(params: Params) -> list[Run]:
    """The rows that differ in k alone, from most to least pruned: of the model that has most of them."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in params.decode:
        groups.setdefault((run.model, run.learner, run.decoder), []).append(run)
    best = max(groups.values(), key=len, default=[])
    if len(best) < 2:
        raise InputError("no model is decoded with several k", path="params.yaml", hint="add rows under decode:")
    return sorted(best, key=lambda run: float("inf") if run.k == "none" else int(run.k))


def configurations(params: Params) -> list[Run]:
    """The rows that decode the same scores with the published configuration, then with tuned ones.

    First the tuned one over the backbone that the published one has, where there is such a row.
    """
    for published in params.decode:
        settings = params.decoders[published.decoder]
        if settings.config != "published":
            continue
        scores = published.model, published.learner, published.k
        same = [run for run in params.decode if (run.model, run.learner, run.k) == scores]
        tuned = [run for run in same if exhaustive(params, run) and params.decoders[run.decoder].config == "tuned"]
        alike = [run for run in tuned if params.decoders[run.decoder].sentences == settings.sentences]
        tuned = alike or tuned
        if tuned:
            tuned.sort(key=lambda run: params.decoders[run.decoder].backbone != settings.backbone)
            return [published, *tuned]
    raise InputError(
        "no row is decoded with both configurations", path="params.yaml", hint="add a decode row with config published"
    )


def tour_row(params: Params, model: str = "", k: int | str = 10) -> Run:
    """A row for the tour: `model` (or that of the sweep) at `k`, with the learner of the sweep if there is a choice.

    Raises InputError where params.yaml has none.
    """
    model = model or sweep(params)[0].model
    rows = [run for run in params.decode if run.model == model and run.k == k and whole(params, run)]
    if not rows:
        raise InputError(f"no row decodes {model!r} with k = {k}", path="params.yaml", hint="see its list decode:")
    learner = sweep(params)[0].learner
    return next((run for run in rows if run.learner == learner), rows[0])


# --- rows by name: how claims call them

ALL_FACTORS, PUBLISHED_SEARCH, TUNED_SEARCH = "all factors", "published search", "tuned search"


def named_rows(params: Params, corpus: str, learner: str) -> dict[str, Run | Variant]:
    """The rows of a corpus and learner by name: each model's of the main comparison; that of the model of `sweep` as
    ALL_FACTORS, and pruned otherwise as `k = 3`, `no pruning`; the same scores searched as published and as tuned.
    """
    rows = corpus_rows(params, corpus, learner)
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
    return rows


def row_names(params: Params) -> Collection[str]:
    """Every name that a row of these parameters, or a parser of others, can have."""
    ks = ("none", params.train.k, *params.pruner.ks)
    roles = (ALL_FACTORS, PUBLISHED_SEARCH, TUNED_SEARCH)
    return {*params.models, *roles, *(pruning(k) for k in ks), *get_args(PeerName)}
