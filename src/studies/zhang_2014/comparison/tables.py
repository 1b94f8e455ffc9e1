"""Parsers that sample beside exact ones: accuracy and differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from studies.common.params import Params, Row
from studies.site import frames, published
from studies.site.collect import Results
from studies.site.pooled import Z, over_seeds
from studies.site.rows import main_rows, seeds_of
from studies.zhang_2014.score_time.tables import LISTS
from treebound.metrics.attachment import WRONG
from treebound.metrics.significance import mcnemar_words, paired_bootstrap

PAPER = "zhang_2014"
UNLABELLED = "-unlabelled"  #: end of the names of models that learn heads alone, of treebanks without labels


def measured(results: Results) -> pd.DataFrame:
    """One row a parser that samples and its corpus: accuracy, seconds of training, speed. May be empty.

    search_errors: sentences whose right tree scores more than the one that was found.
    """
    names = ["uas", "complete", "search_errors", "sentences", "train_cpu_s", "words_per_cpu_s"]
    return pd.DataFrame(
        frames.of_systems(results, "sampling"), columns=["corpus", "row", "model", "tags", "seed", *names]
    )


def ways(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs, and those of models that learn heads alone."""
    alone = {name: name + UNLABELLED * name.startswith("sampling") for pair in pairs for name in pair}
    return [*pairs, *((alone[one], alone[other]) for one, other in pairs)]


FULL, TURBO, EXACT = "sampling full", "sampling turbo", "combined"
#: by languages: all global features with exact search and with none, and those of none with exact search
GLOBAL = ((FULL, EXACT), (FULL, TURBO), (TURBO, EXACT))
#: search with lists of the same model's trees
LISTED = tuple((FULL, f"{FULL}, best of {k}") for k in LISTS)
#: the same over trees that may cross, as in the paper; the exact search has a second-order model
CROSSING = ((f"{FULL}-crossing", f"{TURBO}-crossing"), (f"{FULL}-crossing", "second-order-crossing"))
#: rows that are compared: these, and each way of learning
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
DIFFERENCES = ["difference", "low", "high", "seeds", "words", "p"]  #: columns of `gains`
KEPT = "sampling-gains"  #: what a reference keeps of `gains`


def rows_of(results: Results, corpus: str) -> dict[str, Row]:
    """The rows that are compared: `sampling MODEL`, with `, best of K` where it reranks so many trees, and by their
    models the rows of exact search over linear models.
    """
    params = results.params
    found = {
        f"sampling {row.model}" + (f", best of {row.rerank}" if row.rerank else ""): row
        for row in params.rows_of(corpus)
        if row.system == "sampling" and params.plain(corpus, row)
    }
    return found | main_rows(params, "mira", corpus)


def names(params: Params) -> set[str]:
    """Every name that `rows_of` can give."""
    lists = ("", *(f", best of {k}" for k in LISTS))
    sampling = [name for name, model in params.models.items() if model.system == "sampling"]
    return {*(f"sampling {name}{of}" for name in sampling for of in lists), *params.graph_models}


def accuracy(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Index (run, corpus), a column a parser: UAS on corpora where one samples, and their mean. The paper's Table 2."""
    lines = {}
    for r in results:
        scores = pd.concat([frames.decode(r), measured(r)], ignore_index=True)
        places = [c for c in r.corpora if c in set(measured(r)["corpus"]) and c in (wanted or r.corpora)]
        if not places:
            continue
        for corpus in places:
            of = scores[scores["corpus"] == corpus].set_index("row")["uas"]
            rows = rows_of(r, corpus)
            lines[r.name, corpus] = {name: of[row.name] for name, row in rows.items() if row.name in of}
        table = pd.DataFrame([line for (run, _), line in lines.items() if run == r.name])
        lines[r.name, "mean"] = table.mean().where(table.notna().all()).to_dict()
    index = pd.MultiIndex.from_tuples(list(lines), names=["run", "corpus"]) if lines else None
    return pd.DataFrame(list(lines.values()), index=index)


def details(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Index (run, corpus, row): accuracy, sentences whose right tree scores more than the one found, times."""
    data = pd.concat([measured(r).assign(run=r.name) for r in results], ignore_index=True)
    data = data[data["corpus"].isin(wanted or set(data["corpus"]))].set_index(["run", "corpus", "row"])
    data = data.sort_index(level=["run", "corpus"], sort_remaining=False, kind="stable")
    data["search errors, %"] = 100 * data["search_errors"].astype(float) / data["sentences"].astype(float)
    shown = {"uas": "UAS", "complete": "complete, %", "search errors, %": "search errors, %"}
    shown |= {"sentences": "sentences"}
    shown |= {"train_cpu_s": "training, CPU s", "words_per_cpu_s": "words / CPU s"}
    return data.rename(columns=shown)[list(shown.values())]


def published_accuracy() -> pd.DataFrame:
    """The paper's Table 2."""
    return published.table(PAPER, "uas").set_index("language")


def gains(results: Results, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Index (corpus, row, other): UAS of a row less another's, its 95 % interval, seeds, words, McNemar's p.

    A mean over the seeds that both rows have; the interval is that of a paired bootstrap over sentences, and covers
    other seeds where there are several (`site.pooled.over_seeds`). p is that of the seed of the run. No lines where a
    run lacks a row; a reference that is committed without its sentences has what it kept of PAIRS.
    """
    keys, columns = ["corpus", "row", "other"], DIFFERENCES
    if not results.keeps_sentences:
        kept = results.kept_table(KEPT).reindex(columns=[*keys, *columns, "interval"]).set_index(keys)
        kept = kept[kept.index.droplevel("corpus").isin(pairs)]
        before = kept["interval"].isna()  # older references: of 99 %
        for end in ("low", "high"):
            shorter = kept["difference"] + (kept[end] - kept["difference"]) * Z / 2.575829
            kept[end] = kept[end].where(~before, shorter)
        return kept[columns].fillna({"seeds": 1})
    lines, by_seed = {}, {}
    for corpus in results.corpora:
        rows = rows_of(results, corpus)
        for a, b in pairs:
            if a in rows and b in rows:
                one, two = (_right(results, corpus, rows[name]) for name in (a, b))
                lines[corpus, a, b] = [len(one), mcnemar_words(one, two)["p"]]
                by_seed[corpus, a, b] = _by_seed(results, corpus, rows[a], rows[b])
    for pair in pairs:  # how much seeds differ is estimated from all corpora of a pair
        places = [key for key in lines if key[1:] == pair]
        for key, mean in zip(places, over_seeds([by_seed[key] for key in places]), strict=True):
            lines[key] = [*mean, *lines[key]]
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "", "")], names=keys)[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index, columns=columns)


def _by_seed(results: Results, corpus: str, row: Row, other: Row) -> list[list[float]]:
    """Difference, low and high of a paired bootstrap for each seed that both rows have."""
    one, two = (seeds_of(results.params, corpus, which) for which in (row, other))
    out = []
    for seed in one:
        if seed in two:
            by_sentence = (frames.sentences(results, corpus, which[seed]) for which in (one, two))
            test = paired_bootstrap(*by_sentence, seed=results.params.seed)
            out.append([test[name] for name in ("difference", "low", "high")])
    return out


def picture(results: Sequence[Results]) -> pd.DataFrame:
    """`gains` of PAIRS as `site.charts.gains` takes them, a line a pair and a colour a corpus of a run."""
    runs = {r.title: gains(r, PAIRS).reset_index() for r in results}
    data = pd.concat(runs, names=["run"]).reset_index("run")
    several = data["run"].nunique() > 1
    corpora = data["corpus"] + ", " + data["run"] if several else data["corpus"]
    return data.assign(system=corpora, corpus=data["row"] + " less " + data["other"])


def _right(results: Results, corpus: str, row: Row) -> np.ndarray:
    """bool[scored words]: which of them the row attaches rightly."""
    marks = frames.sentences(results, corpus, row)["words"].fillna("").astype(str)
    return np.array(list("".join(marks))) != WRONG
