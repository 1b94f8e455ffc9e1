"""Parsers that sample, and sampling decoders beside proved optima.

Every function takes what several runs have and leaves out runs that have nothing; where none has, there are no rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from studies.common.params import Params, Row
from studies.site import published
from studies.site.collect import Results
from studies.site.tables.rows import main_rows
from treebound.metrics.attachment import WRONG
from treebound.metrics.significance import mcnemar_words

PAPER = "zhang-et-al-2014"
METHODS = ("greedy", "gibbs", "random-walk")
LISTS = (50, 500)  #: trees of a reranker, as in the paper
UNLABELLED = "-unlabelled"  #: end of the names of models that learn heads alone, of treebanks without labels


def ways(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs, and those of models that learn heads alone."""
    alone = {name: name + UNLABELLED * name.startswith("sampling") for pair in pairs for name in pair}
    return [*pairs, *((alone[one], alone[other]) for one, other in pairs)]


FULL, TURBO, EXACT = "sampling full", "sampling turbo", "combined"
#: by languages: all global features with exact search and with none, and those of none with exact search
GLOBAL = ((FULL, EXACT), (FULL, TURBO), (TURBO, EXACT))
#: search with lists of the same model's trees
LISTED = tuple((FULL, f"{FULL}, best of {k}") for k in LISTS)
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
)
DIFFERENCES = ["difference", "low", "high", "words", "p"]  #: columns of `gains`
KEPT = "sampling-gains"  #: what a reference keeps of `gains`
#: % of the proved projective optima, at so many words per CPU second: of models without head bigrams, and with them
TARGETS = {False: (99.5, 4000), True: (98.0, 1000)}


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
        scores = pd.concat([r.decode(), r.samplers()], ignore_index=True)
        places = [c for c in r.corpora if c in set(r.samplers()["corpus"]) and c in (wanted or r.corpora)]
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
    data = pd.concat([r.samplers().assign(run=r.name) for r in results], ignore_index=True)
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
    """Index (corpus, row, other): UAS of a row less another's, the ends of its 99 % interval, words, McNemar's p.

    The interval is that of paired words. No lines where a run lacks a row; a reference that is committed without its
    sentences has what it kept of PAIRS.
    """
    keys, columns = ["corpus", "row", "other"], DIFFERENCES
    if not results.keeps_sentences:
        kept = results.kept_table(KEPT).reindex(columns=[*keys, *columns]).set_index(keys)
        return kept[kept.index.droplevel("corpus").isin(pairs)]
    lines = {}
    for corpus in results.corpora:
        rows = rows_of(results, corpus)
        for a, b in pairs:
            if a in rows and b in rows:
                one, two = (_right(results, corpus, rows[name]) for name in (a, b))
                test, n = mcnemar_words(one, two), len(one)
                more, changed = test["only_a"] - test["only_b"], test["only_a"] + test["only_b"]
                half = 2.5758 * np.sqrt(max(changed - more**2 / n, 0.0)) / n
                lines[corpus, a, b] = [100 * x for x in (more / n, more / n - half, more / n + half)] + [n, test["p"]]
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "", "")], names=keys)[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index, columns=columns)


def picture(results: Sequence[Results]) -> pd.DataFrame:
    """`gains` of PAIRS as `plots.gains.gains` takes them, a line a pair and a colour a corpus of a run."""
    runs = {r.title: gains(r, PAIRS).reset_index() for r in results}
    data = pd.concat(runs, names=["run"]).reset_index("run")
    several = data["run"].nunique() > 1
    corpora = data["corpus"] + ", " + data["run"] if several else data["corpus"]
    return data.assign(system=corpora, corpus=data["row"] + " less " + data["other"])


def _right(results: Results, corpus: str, row: Row) -> np.ndarray:
    """bool[scored words]: which of them the row attaches rightly."""
    marks = results.sentences(corpus, row)["words"].fillna("").astype(str)
    return np.array(list("".join(marks))) != WRONG


def score_time(results: Sequence[Results], wanted: Sequence[str] = (), model: str = "") -> pd.DataFrame:
    """Index (run, corpus, space, method, patience): shares of proved optima found (%), of all sentences and of those of
    more than 30 words; what the trees score less than the optima together (%); time. The mean of all seeds.

    model  as of `Results.score_time`
    """
    parts = [r.score_time(model).assign(run=r.name) for r in results]
    data = pd.concat(parts, ignore_index=True)
    data = data[data["corpus"].isin(wanted or set(data["corpus"]))]
    keys = ["run", "corpus", "space", "method", "patience"]
    numbers = data.set_index(keys)[["optima", "long_optima", "score", "runs", "cpu_s", "proved", "long", "words"]]
    means = numbers.astype(float).groupby(level=keys, sort=False).mean()
    return pd.DataFrame(
        {
            "optima found, %": 100 * means["optima"] / means["proved"],
            "of long sentences, %": 100 * means["long_optima"] / means["long"].replace(0, np.nan),
            "score lost, %": 100 * (1 - means["score"]),
            "runs": means["runs"],
            "CPU us / word": 1e6 * means["cpu_s"] / means["words"],
            "sentences": means["proved"],
            "long ones": means["long"],
        }
    )


def targets(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Index (run, corpus, model): of what samples projective trees as fast as TARGETS ask, what finds the most optima.

    Speed is that of decoding alone. low, high: exact 95 % interval over sentences of the mean of the seeds, which knows
    nothing of the choice among methods and budgets. met: whether the share is; where nothing is as fast, it is none.
    """
    lines = {}
    for r, model in [(r, name) for r in results if (s := r.params.score_time) for name in s.models]:
        table = score_time([r], wanted, model)
        for corpus, of in table.loc[r.name].groupby(level="corpus", sort=False) if len(table) else ():
            share, speed = TARGETS["head-bigram" in r.params.models[model].settings.families]
            sampled = of.droplevel("corpus").loc["projective"].drop(index="branch-and-bound")
            fast = sampled[sampled["CPU us / word"] <= 1e6 / speed].sort_values("CPU us / word")
            line: dict[str, Any] = {"target, %": share, "words / CPU s": float(speed), "met": "no", "method": ""}
            line["optima found, %"] = np.nan
            if len(fast):
                best, n = fast["optima found, %"].idxmax(), int(fast["sentences"].iloc[0])
                row = fast.loc[best]
                low, high = _interval(row["optima found, %"] / 100, n)
                line |= {"method": f"{best[0]}, patience {best[1]}", "optima found, %": row["optima found, %"]}
                line |= {"low": low, "high": high, "found at": 1e6 / row["CPU us / word"]}
                line |= {name: row[name] for name in ("of long sentences, %", "long ones", "sentences")}
                line["met"] = "yes" if row["optima found, %"] >= share else "no"
            lines[r.name, corpus, model] = line
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "", "")], names=["run", "corpus", "model"])[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index)


def tag_correction(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Index (run, corpus): tags (%) and UAS, predicted, corrected and with right tags; tests. The paper's Table 3."""
    data = pd.concat([r.tag_correction().assign(run=r.name) for r in results], ignore_index=True)
    data = data[data["corpus"].isin(wanted or set(data["corpus"]))].set_index(["run", "corpus"])
    shown = {"tags_predicted": "tags, %", "tags_corrected": "corrected, %", "mended": "mended", "spoilt": "spoilt"}
    shown |= {
        "p_tags": "p, tags",
        "uas_predicted": "UAS",
        "uas_corrected": "UAS corrected",
        "uas_right": "UAS, right tags",
    }
    shown |= {"low": "gain from", "high": "to", "p_uas": "p, UAS", "words": "words"}
    return data.rename(columns=shown)[list(shown.values())]


def corrected(results: Results, what: str) -> Iterator[tuple[str, float, float, float]]:
    """What a correction gains on a corpus: of UAS with a bootstrap's 95 % interval, of tags (%) with McNemar's."""
    for row in results.tag_correction().to_dict("records"):
        if what == "UAS":
            yield row["corpus"], row["difference"], row["low"], row["high"]
        else:
            more, changed, n = row["mended"] - row["spoilt"], row["mended"] + row["spoilt"], row["words"]
            half = 1.96 * np.sqrt(max(changed - more**2 / n, 0.0)) / n
            yield (row["corpus"], *(100 * x for x in (more / n, more / n - half, more / n + half)))


# --- what claims ask of `Results.score_time`: (place, value, low, high)


def equal_time(results: Results, one: str, other: str) -> Iterator[tuple[str, float, float, float]]:
    """By how much (% of the optima) the trees of a method score more than another's found in the same time.

    The mean over the budgets of the other within the times of the first, between whose budgets logarithms of time are
    interpolated. No interval: seeds are averaged.
    """
    for corpus, curves in _curves(results, one, other):
        mine, its = curves
        inside = its[(its["time"] >= mine["time"].min()) & (its["time"] <= mine["time"].max())]
        if len(inside):
            there = np.interp(np.log(inside["time"]), np.log(mine["time"]), mine["score"])
            value = float(np.mean(100 * (there - inside["score"])))
            yield corpus, value, value, value


def in_the_end(results: Results, one: str, other: str) -> Iterator[tuple[str, float, float, float]]:
    """By how much (% of the optima) the trees of a method score more than another's, both with the largest budget."""
    for corpus, (mine, its) in _curves(results, one, other):
        value = float(100 * (mine["score"].iloc[-1] - its["score"].iloc[-1]))
        yield corpus, value, value, value


def optima(results: Results, method: str) -> Iterator[tuple[str, float, float, float]]:
    """Share of proved projective optima (%) that a method finds with its largest budget, mean of the seeds."""
    data = results.score_time()
    data = data[(data["method"] == method) & (data["space"] == "projective")]
    for corpus, of in data.groupby("corpus", sort=False):
        last = of[of["patience"] == of["patience"].max()]
        if proved := int(last["proved"].iloc[0]):
            found = float(last["optima"].mean()) / proved
            yield (str(corpus), 100 * found, *_interval(found, proved))


def _interval(share: float, sentences: int) -> tuple[float, float]:
    """Exact 95 % interval (%) over sentences; seeds are averaged before, which all parse the same ones."""
    from scipy.stats import binomtest

    ends = binomtest(round(share * sentences), sentences).proportion_ci(0.95)
    return 100 * ends.low, 100 * ends.high


def _curves(results: Results, one: str, other: str) -> Iterator[tuple[str, tuple[pd.DataFrame, pd.DataFrame]]]:
    """Corpus -> of two methods over crossing trees, time and score by budget, the fastest first; means of seeds."""
    data = results.score_time()
    data = data[data["space"] == "non-projective"]
    for corpus, of in data.assign(time=data["cpu_s"] / data["words"]).groupby("corpus", sort=False):
        each = [of[of["method"] == name].groupby("patience")[["time", "score"]].mean() for name in (one, other)]
        if all(len(curve) for curve in each):
            yield str(corpus), (each[0].sort_values("time"), each[1].sort_values("time"))
