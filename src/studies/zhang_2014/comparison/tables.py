"""Tables that compare parsers that sample with exact parsers: accuracy and differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from studies.common.params import Params, Row
from studies.site import frames, published
from studies.site.collect import Results
from studies.site.pooled import Z, over_seeds
from studies.site.rows import AT, at, main_rows, metrics_of, seeds_of
from studies.zhang_2014.score_time.tables import LISTS
from treebound.metrics.significance import paired_bootstrap

PAPER = "zhang_2014"
UNLABELLED = "-unlabelled"  #: suffix of the names of models that learn heads but no labels


def measured(results: Results) -> pd.DataFrame:
    """Return one row per sampling parser and corpus: accuracy, seconds of training, speed. May be empty.

    search_errors  number of sentences whose gold tree scores more than the returned tree
    """
    names = ["uas", "complete", "search_errors", "sentences", "train_cpu_s", "words_per_cpu_s"]
    return pd.DataFrame(
        frames.of_systems(results, "sampling"), columns=["corpus", "row", "model", "tags", "seed", *names]
    )


def ways(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs of row names, and the same pairs with the names of sampling models that learn no labels."""
    alone = {name: name + UNLABELLED * name.startswith("sampling") for pair in pairs for name in pair}
    return [*pairs, *((alone[first], alone[second]) for first, second in pairs)]


FULL, TURBO, EXACT = "sampling full", "sampling turbo", "combined"
#: pairs to compare by language; the three rows are sampling with all global features, sampling with the features of
#: the Turbo parser, and exact search.
GLOBAL = ((FULL, EXACT), (FULL, TURBO), (TURBO, EXACT))
#: pairs of sampling and of reranking lists of trees with the same model
LISTED = tuple((FULL, f"{FULL}, best of {k}") for k in LISTS)
#: pairs over trees that may cross, as in the paper; the exact search has a second-order model
CROSSING = ((f"{FULL}-crossing", f"{TURBO}-crossing"), (f"{FULL}-crossing", "second-order-crossing"))
#: all pairs of rows that are compared: they differ in features, search, reranked lists or training
PAIRS = (
    *ways(GLOBAL),
    *LISTED,
    ("sampling shared", "carreras+grandchild+sibling"),
    ("sampling full", "sampling full-published"),
    ("sampling full-published", "sampling full-neighbour"),
    ("sampling full-published", "sampling full-gold"),
    ("sampling full-neighbour", "sampling full-gold"),
    ("sampling small", "carreras+grandchild+sibling"),
    *CROSSING,
    ("sampling second-crossing", "second-order-crossing"),
    ("sampling samplerank", "sampling samplerank-neighbour"),
    ("sampling samplerank", "sampling samplerank-gold"),
    ("sampling samplerank-neighbour", "sampling samplerank-gold"),
)
DIFFERENCES = ["difference", "low", "high", "seeds", "words"]  #: columns of `gains`
KEPT = "sampling-gains"  #: name of the table of `gains` that a reference stores


def rows_of(results: Results, corpus: str) -> dict[str, Row]:
    """Return the rows to compare, by name.

    A sampling row is named `sampling MODEL`, followed by `, best of K` if it reranks lists of K trees. A row of exact
    search over a linear model has the name of the model.
    """
    params = results.params
    sampling = {
        f"sampling {row.model}" + (f", best of {row.rerank}" if row.rerank else ""): row
        for row in params.rows_of(corpus)
        if row.system == "sampling" and params.plain(corpus, row)
    }
    return sampling | main_rows(params, "mira", corpus)


def names(params: Params) -> set[str]:
    """Return every name that `rows_of` can use."""
    lists = ("", *(f", best of {k}" for k in LISTS))
    sampling = [name for name, model in params.models.items() if model.system == "sampling"]
    return {*(f"sampling {name}{ending}" for name in sampling for ending in lists), *params.graph_models}


def accuracy(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return UAS on the corpora with a sampling parser, and the mean. Rows: (run, corpus). Columns: parsers.

    This is the paper's Table 2. Each UAS is a mean over the seeds of the parser.
    """
    lines: dict[tuple[str, str], dict[str, float]] = {}
    for r in results:
        sampled = set(measured(r)["corpus"])
        places = [c for c in r.corpora if c in sampled and c in (wanted or r.corpora)]
        if not places:
            continue
        means = means_over_seeds(r)
        lines |= {(r.name, corpus): means[corpus] for corpus in places}
        table = pd.DataFrame([line for (run, _), line in lines.items() if run == r.name])
        lines[r.name, "mean"] = table.mean().where(table.notna().all()).to_dict()
    index = pd.MultiIndex.from_tuples(list(lines), names=["run", "corpus"]) if lines else None
    return pd.DataFrame(list(lines.values()), index=index)


def means_over_seeds(results: Results) -> dict[str, dict[str, float]]:
    """Return the mean UAS of each row over its seeds: corpus -> name in `rows_of` -> mean."""
    uas = pd.concat([metrics_of(results)["uas"], measured(results).set_index(AT)["uas"]]).to_dict()
    means: dict[str, dict[str, float]] = {}
    for corpus in results.corpora:
        means[corpus] = {}
        for name, row in rows_of(results, corpus).items():
            repeats = [at(corpus, repeat) for repeat in seeds_of(results.params, corpus, row).values()]
            if known := [uas[place] for place in repeats if place in uas]:
                means[corpus][name] = float(np.mean(known))
    return means


def proved(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.Series:
    """Return the share (%) of trees that exact search proves to be optimal. Index: (run, parser, corpus).

    The parsers are the rows of EXACT and CROSSING that are searched exactly, with the first seed.
    """
    shares = {}
    for r in results:
        data = metrics_of(r)
        for name in (EXACT, CROSSING[-1][1]):
            for corpus in (c for c in r.corpora if c in (wanted or r.corpora)):
                row = main_rows(r.params, "mira", corpus).get(name)
                if row is not None:
                    metrics = data.loc[at(corpus, row)]
                    shares[r.name, name, corpus] = 100 * float(metrics["certified"]) / float(metrics["sentences"])
    index = pd.MultiIndex.from_tuples(list(shares) or [("", "", "")], names=["run", "parser", "corpus"])[: len(shares)]
    return pd.Series(list(shares.values()), index=index, dtype=float)


def details(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return accuracy, search errors and times. Index: (run, corpus, parser), with the names of `rows_of`."""
    data = pd.concat([_named(r, measured(r)).assign(run=r.name) for r in results], ignore_index=True)
    data = data[data["corpus"].isin(wanted or set(data["corpus"]))].set_index(["run", "corpus", "parser"])
    data = data.sort_index(level=["run", "corpus"], sort_remaining=False, kind="stable")
    data["search errors, %"] = 100 * data["search_errors"].astype(float) / data["sentences"].astype(float)
    shown = {"uas": "UAS", "complete": "complete, %", "search errors, %": "search errors, %"}
    shown |= {"sentences": "sentences"}
    shown |= {"train_cpu_s": "training, CPU s", "words_per_cpu_s": "words / CPU s"}
    return data.rename(columns=shown)[list(shown.values())]


def _named(results: Results, data: pd.DataFrame) -> pd.DataFrame:
    """Add the column `parser`: the name of a row in `rows_of`, with the seed of a training that repeats this row.

    A row without a name in `rows_of` keeps its own name.

    data  `measured`
    """
    names = {
        (corpus, repeat.name): name if repeat.name == row.name else f"{name}, seed {seed}"
        for corpus in set(data["corpus"])
        for name, row in rows_of(results, corpus).items()
        for seed, repeat in seeds_of(results.params, corpus, row).items()
    }
    pairs = zip(data["corpus"], data["row"], strict=True)
    return data.assign(parser=[names.get((corpus, row), row) for corpus, row in pairs])


def published_accuracy() -> pd.DataFrame:
    """Return the paper's Table 2."""
    return published.table(PAPER, "uas").set_index("language")


def gains(results: Results, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return the UAS of the first row of each pair minus the UAS of the second, with a 95 % interval.

    Index: (corpus, row, other). The columns `seeds` and `words` hold the numbers of seeds and of compared words. The
    difference is a mean over the seeds that both rows have. The interval is a paired bootstrap over sentences. If there
    are several seeds, it also covers the variation between seeds (`site.pooled.over_seeds`).

    A pair has no lines in a run that lacks one of its rows. For a reference run that is committed without its
    sentences, the stored gains of PAIRS are returned.
    """
    keys, columns = ["corpus", "row", "other"], DIFFERENCES
    if not results.keeps_sentences:
        stored = results.kept_table(KEPT).reindex(columns=[*keys, *columns, "interval"]).set_index(keys)
        stored = stored[stored.index.droplevel("corpus").isin(pairs)]
        older = stored["interval"].isna()  # older references store 99 % intervals
        for end in ("low", "high"):
            shorter = stored["difference"] + (stored[end] - stored["difference"]) * Z / 2.575829
            stored[end] = stored[end].where(~older, shorter)
        return stored[columns].fillna({"seeds": 1})
    lines: dict[tuple[str, str, str], list[float]] = {}
    by_seed = {}
    for corpus in results.corpora:
        rows = rows_of(results, corpus)
        for a, b in pairs:
            if a in rows and b in rows:
                marks = frames.sentences(results, corpus, rows[a])["words"].fillna("").astype(str)
                lines[corpus, a, b] = [int(marks.str.len().sum())]
                by_seed[corpus, a, b] = _by_seed(results, corpus, rows[a], rows[b])
    for pair in pairs:  # the variance between seeds is estimated from all corpora of a pair
        places = [key for key in lines if key[1:] == pair]
        for key, mean in zip(places, over_seeds([by_seed[key] for key in places]), strict=True):
            lines[key] = [*mean, *lines[key]]
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "", "")], names=keys)[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index, columns=columns)


def unit_of_intervals(results: Results) -> str:
    """Return what the intervals of `gains` treat as independent: sentences, or words in older references."""
    if results.keeps_sentences:
        return "sentences"
    stored = results.kept_table(KEPT)
    return str(stored["interval"].iloc[0]) if "interval" in stored and len(stored) else "words"


def compared(results: Sequence[Results]) -> pd.DataFrame:
    """Return the `gains` of PAIRS in all runs. Rows: (run, pair, corpus), in the order of PAIRS. Columns: DIFFERENCES.

    The name of a pair is `first minus second`.
    """
    parts = {r.name: gains(r, PAIRS) for r in results}
    keys = ["run", "pair", "corpus"]
    if not any(map(len, parts.values())):
        return pd.DataFrame(columns=[*keys, *DIFFERENCES]).set_index(keys)
    data = pd.concat(parts, names=["run"]).reset_index()
    order = [f"{first} minus {second}" for first, second in PAIRS]
    data["pair"] = pd.Categorical(data["row"] + " minus " + data["other"], list(dict.fromkeys(order)))
    data = data.sort_values(["pair"], kind="stable").astype({"pair": str})
    return data.sort_values("run", kind="stable", key=lambda runs: runs.map(list(parts).index)).set_index(keys)[
        DIFFERENCES
    ]


def _by_seed(results: Results, corpus: str, row: Row, other: Row) -> list[list[float]]:
    """Return difference, low and high of a paired bootstrap for each seed that both rows have."""
    first, second = (seeds_of(results.params, corpus, which) for which in (row, other))
    tests = []
    for seed in first:
        if seed in second:
            by_sentence = (frames.sentences(results, corpus, which[seed]) for which in (first, second))
            test = paired_bootstrap(*by_sentence, seed=results.params.seed)
            tests.append([test[name] for name in ("difference", "low", "high")])
    return tests


def picture(results: Sequence[Results]) -> pd.DataFrame:
    """Return the `gains` of PAIRS for the figure `site.charts.gains`.

    The figure has one line per pair, and one colour per corpus and run.
    """
    runs = {r.title: gains(r, PAIRS).reset_index() for r in results}
    data = pd.concat(runs, names=["run"]).reset_index("run")
    several = data["run"].nunique() > 1
    corpora = data["corpus"] + ", " + data["run"] if several else data["corpus"]
    return data.assign(system=corpora, corpus=data["row"] + " minus " + data["other"])
