"""Parsers by transitions: accuracy, speed, and the errors of greedy and beam search."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from studies.common import stage
from studies.common.params import Row
from studies.common.paths import model_file
from studies.site import frames
from studies.site.collect import Results
from studies.site.rows import main_rows
from treebound.core.treebank import Treebank
from treebound.features.tokens import attributes_of
from treebound.metrics.attachment import LABELLED, WRONG, scored_words
from treebound.metrics.timing import Stopwatch
from treebound.systems.registry import load
from treebound.systems.transition.feature_models import chosen_model
from treebound.treebanks import storage

LENGTHS = (10, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200)  #: words of the sentences that are timed
WORDS = 5000  #: of all sentences of a length together
#: lower ends of bins of a word's distance to its head, its depth in the tree, and its sentence's length
BINS = {"distance": (1, 2, 3, 5, 9), "depth": (1, 2, 3, 4, 6), "length": (1, 11, 21, 31, 41)}


#: functions of cells of a feature model that read an attribute of a word
READS = {"w": "form", "p": "tag", "c": "coarse", "m": "lemma", "f": "feats"}


def maltparser() -> pd.DataFrame:
    """Figures of MaltParser by corpus: UAS, LAS, tokens / s; `attrs["source"]` says how they were measured."""
    stored = tomllib.loads((files("studies") / "hall_2006/transitions/maltparser.toml").read_text(encoding="utf-8"))
    data = pd.DataFrame(stored["rows"], columns=stored["columns"]).set_index("corpus")
    data.attrs["source"] = stored["source"]
    return data


def beside_maltparser(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Rows (run, corpus, row): accuracy of parsers by transitions with gold tags, that of MaltParser, UAS less its UAS.

    Rows with predicted tags are left out, as MaltParser saw gold tags.
    """
    theirs, rows = maltparser(), {}
    for r in results:
        for row in measured(r).to_dict("records"):
            corpus = row["corpus"]
            asked = corpus in theirs.index and (not wanted or corpus in wanted)
            if asked and row["tags"] == "gold" and not row["missing"]:
                cells = {"UAS": row["uas"], "LAS": row["las"], "seed": row["seed"]}
                cells |= {f"{name} of MaltParser": theirs.loc[corpus, name] for name in ("UAS", "LAS")}
                rows[r.name, corpus, row["row"]] = cells | {"difference": row["uas"] - theirs.loc[corpus, "UAS"]}
    if not rows:
        return pd.DataFrame()
    return pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(rows, names=["run", "corpus", "row"]))


def seen(results: Results, corpus: str, gold: Treebank | None, marks: dict[str, Sequence[str]]) -> pd.DataFrame:
    """List for each parser of `marked` the attributes of words that it reads, its features, and its tags.

    A parser that searches for the best tree has families of parts, a parser by transitions a feature model.
    """
    if gold is None:
        return pd.DataFrame()
    rows, tags = {}, results.params.tags_of(corpus)
    for name in marks:
        row = results.params.row(name)
        settings = results.params.models[row.trained].settings
        if row.system == "transition":
            model = chosen_model(settings.features, gold.meta.get("attributes", ()))
            read = {READS[f] for cell in model.cells if (f := cell.split()[0]) in READS}
            features = f"feature model {settings.features}"
        else:
            read, features = set(attributes_of(gold)), f"parts {', '.join(('arc', *settings.families))}"
        rows[name] = {"attributes": ", ".join(sorted(read)), "features": features, "tags": tags}
    return pd.DataFrame.from_dict(rows, orient="index")


def measured(results: Results) -> pd.DataFrame:
    """One row a transition-based parser and its corpus: accuracy, seconds of training, speed. May be empty.

    `missing` names the package that was not installed, where that is so; then all figures are NaN.
    """
    names = ["uas", "las", "complete", "complete_labelled", "train_cpu_s", "words_per_cpu_s"]
    rows = frames.of_systems(results, "transition")
    for found in rows:
        if found.setdefault("missing", ""):
            found |= dict.fromkeys(names, float("nan"))
    return pd.DataFrame(rows, columns=["corpus", "row", "model", "tags", "seed", "missing", *names])


def parsers(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Rows (run, corpus, row): the parsers by transitions of the main comparison.

    The column `not installed` is there where one lacks a package.
    """
    parts = [measured(r).assign(run=r.name) for r in results]
    data = pd.concat(parts, ignore_index=True)
    data = data[data["corpus"].isin(wanted or set(data["corpus"]))].set_index(["run", "corpus", "row"])
    names = {"uas": "UAS", "las": "LAS", "complete": "complete, %", "train_cpu_s": "training, CPU s"}
    data = data.rename(columns=names | {"words_per_cpu_s": "words / CPU s", "missing": "not installed"})
    lacking = ["not installed"] * bool(data["not installed"].astype(bool).any())
    return data[["tags", *names.values(), "words / CPU s", *lacking]]


def points(table: pd.DataFrame) -> pd.DataFrame:
    """Of `parsers`, those of the last run whose speed is known, as `site.charts.accuracy_speed` takes them."""
    data = table.dropna(subset=["UAS", "words / CPU s"]).reset_index()
    data = data[data["run"] == data["run"].iloc[-1]] if len(data) else data
    names = {"UAS": "uas", "words / CPU s": "words_per_cpu_s", "row": "system"}
    return data.rename(columns=names).assign(group=data["run"], label=data["row"].str.removeprefix("transition-"))


def marked(root: Path, results: Results, corpus: str) -> tuple[Treebank | None, dict[str, Sequence[str]]]:
    """The test sentences, and `attachment.marks` of every parser by transitions and of the richest exact one.

    None and nothing where a run does not keep its sentences, or the corpus is not there.
    """
    path, params = root / stage.CONVERTED / corpus / "test.npz", results.params
    found = measured(results)
    names = list(found[(found["corpus"] == corpus) & (found["missing"] == "")]["row"])
    if not (results.keeps_sentences and path.is_file() and names):
        return None, {}
    exact = list(main_rows(params, params.learners[-1]).values())[-1]
    rows = [row for row in (*(params.row(name) for name in names), exact) if params.plain(corpus, row)]
    if not all(_kept(results, corpus, row).is_file() for row in rows):
        return None, {}
    marks = {row.name: frames.sentences(results, corpus, row)["words"].tolist() for row in rows}
    gold = storage.load(path)
    return gold.select(np.arange(len(marks[exact.name]))), marks


def _kept(results: Results, corpus: str, row: Row) -> Path:
    return results.folder / "predictions" / corpus / "decode" / row.trained / f"{row}.csv"


def times(root: Path, results: Results, corpus: str) -> pd.DataFrame:
    """Index: words; a column a parser by transitions: CPU ms of a sentence, the least of some runs. May be empty.

    Sentences are the first words of the test split, one after the other, as real ones are not as long.
    """
    path, columns = root / stage.CONVERTED / corpus / "test.npz", {}
    for row in results.params.rows_of(corpus):
        file = root / model_file(corpus, row.trained)
        if row.system == "transition" and path.is_file() and file.is_file() and file.stat().st_size:
            parser, test = load(file, **({"beam": row.beam} if row.beam else {})), storage.load(path)
            columns[row.name] = {n: _fastest(parser, _first_words(test, n)) for n in LENGTHS if n <= test.words}
    return pd.DataFrame(columns).rename_axis(index="words")


def _first_words(treebank: Treebank, n: int) -> Treebank:
    """WORDS / n sentences, each of the first n words."""
    copies = max(1, WORDS // n)
    columns = {name: np.tile(column[:n], copies) for name, column in treebank.columns.items()}
    heads = np.zeros(n * copies, treebank.head.dtype)
    return replace(treebank, offsets=np.arange(copies + 1) * n, columns=columns, head=heads)


def _fastest(parser: Any, sentences: Treebank) -> float:
    """CPU ms of one of the sentences, at the fastest of three runs."""
    parser.parse(sentences.select(np.arange(1)))
    taken = []
    for _ in range(3):
        with Stopwatch() as watch:
            parser.parse(sentences)
        taken.append(1000 * watch.cpu / len(sentences))
    return min(taken)


def errors(gold: Treebank, marked: dict[str, Sequence[str]]) -> dict[str, pd.DataFrame]:
    """Of each kind in BINS and of labels: rows a bin, columns words and the errors (%) of each parser in it.

    gold    annotated; marked: row -> `attachment.marks` of its sentences. An error is a wrong head; of labels, either.
    """
    scored = scored_words(gold)
    index = np.arange(gold.words) - np.repeat(gold.offsets[:-1], gold.lengths) + 1
    heads = gold.head
    values = {
        "distance": np.where(heads == 0, 0, np.abs(heads - index)),
        "depth": np.concatenate([_depths(gold.heads(i)) for i in range(len(gold))]),
        "length": np.repeat(gold.lengths, gold.lengths),
    }
    found = {name: np.array(list("".join(marks))) for name, marks in marked.items()}
    tables = {}
    for kind, edges in BINS.items():
        some = values[kind][scored]
        bins = np.searchsorted(edges, some, side="right")
        names = ["root", *(f"{a} to {b - 1}" if b > a + 1 else str(a) for a, b in pairwise(edges))]
        names.append(f"from {edges[-1]}")
        tables[kind] = _rates(bins, names, {name: marks == WRONG for name, marks in found.items()})
    labels = np.array(gold.strings("deprel"))[scored]
    kinds, numbers = np.unique(labels, return_inverse=True)
    table = _rates(numbers, kinds.tolist(), {name: marks != LABELLED for name, marks in found.items()})
    tables["label"] = table.sort_values("words", ascending=False).head(15)
    return tables


def _rates(bins: np.ndarray, names: Sequence[str], wrong: dict[str, np.ndarray]) -> pd.DataFrame:
    rows = {
        name: {"words": int((bins == i).sum())} | {row: 100 * float(w[bins == i].mean()) for row, w in wrong.items()}
        for i, name in enumerate(names)
        if (bins == i).any()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _depths(heads: np.ndarray) -> np.ndarray:
    """int[n] arcs from each word up to 0."""
    depth = np.zeros(len(heads), int)
    for m in range(1, len(heads)):
        at = m
        while at > 0:
            at, depth[m] = heads[at], depth[m] + 1
    return depth[1:]


def mended(marked: dict[str, Sequence[str]]) -> pd.DataFrame:
    """A row a parser: of the words that the first one attaches wrongly the share that it mends, and its new errors.

    marked as of `errors`
    """
    (_, greedy), *others = marked.items()
    wrong, rows = np.array(list("".join(greedy))) == WRONG, {}
    for name, marks in others:
        other = np.array(list("".join(marks))) == WRONG
        share = 100 * float((wrong & ~other).sum()) / max(int(wrong.sum()), 1)
        rows[name] = {
            "errors of greedy": int(wrong.sum()),
            "of these mended, %": share,
            "new errors": int((other & ~wrong).sum()),
        }
    return pd.DataFrame.from_dict(rows, orient="index")
