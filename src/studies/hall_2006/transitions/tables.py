"""Tables of transition-based parsers: accuracy, speed, and the errors of greedy and beam search."""

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
from studies.common.paths import is_trained, model_file
from studies.site import frames
from studies.site.collect import Results
from studies.site.rows import main_rows
from treebound.core.treebank import Treebank
from treebound.features.tokens import attributes_of
from treebound.metrics.attachment import LABELLED, WRONG, scored_words
from treebound.metrics.calibration import wilson
from treebound.metrics.timing import Stopwatch
from treebound.systems.registry import load
from treebound.systems.transition.feature_models import chosen_model
from treebound.treebanks import storage

LENGTHS = (10, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200)  #: lengths of the timed sentences, in words
WORDS = 5000  #: total number of words of the timed sentences of one length
#: lower ends of the bins for three properties of a word: distance to its head, depth in the tree, sentence length
BINS = {"distance": (1, 2, 3, 5, 9), "depth": (1, 2, 3, 4, 6), "length": (1, 11, 21, 31, 41)}


#: function in a feature model -> the attribute of a word that the function reads
READS = {"w": "form", "p": "tag", "c": "coarse", "m": "lemma", "f": "feats"}

PREFIX = "transition-"  #: prefix of the names of rows with transition-based parsers


def short_name(row: str) -> str:
    """Return the name of a parser on pages: the name of its row without the prefix PREFIX."""
    return str(row).removeprefix(PREFIX)


def maltparser() -> pd.DataFrame:
    """Return the figures of MaltParser by corpus: UAS, LAS and tokens per second.

    `attrs["source"]` describes how these figures were measured.
    """
    content = tomllib.loads((files("studies") / "hall_2006/transitions/maltparser.toml").read_text(encoding="utf-8"))
    data = pd.DataFrame(content["rows"], columns=content["columns"]).set_index("corpus")
    data.attrs["source"] = content["source"]
    return data


def compared_with_maltparser(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Compare the accuracy of transition-based parsers with MaltParser. Rows: (run, corpus, parser).

    The difference is the UAS of the row minus the UAS of MaltParser. Rows with predicted tags are left out, because
    MaltParser saw gold tags.
    """
    figures, rows = maltparser(), {}
    for r in results:
        for row in measured(r).to_dict("records"):
            corpus = row["corpus"]
            compared = corpus in figures.index and (not wanted or corpus in wanted)
            if compared and row["tags"] == "gold" and not row["missing"]:
                cells = {"UAS": row["uas"], "LAS": row["las"], "seed": row["seed"]}
                cells |= {f"{name} of MaltParser": figures.loc[corpus, name] for name in ("UAS", "LAS")}
                rows[r.name, corpus, short_name(row["row"])] = cells | {
                    "difference": row["uas"] - figures.loc[corpus, "UAS"]
                }
    if not rows:
        return pd.DataFrame()
    return pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(rows, names=["run", "corpus", "parser"]))


def seen(results: Results, corpus: str, gold: Treebank | None, marks: dict[str, Sequence[str]]) -> pd.DataFrame:
    """List the attributes of words, the features and the tags that each parser reads.

    gold, marks  results of `marked`, which selects the parsers

    The features of a graph-based parser are its factor families. The features of a transition-based parser are its
    feature model.
    """
    if gold is None:
        return pd.DataFrame()
    rows, tags = {}, results.params.tags_of(corpus)
    for name in marks:
        row = results.params.row(name)
        settings = results.params.models[row.trained].settings
        if row.system == "transition":
            model = chosen_model(settings.features, gold.meta.get("attributes", ()))
            attributes = {READS[f] for cell in model.cells if (f := cell.split()[0]) in READS}
            features = f"feature model {settings.features}"
        else:
            attributes, features = set(attributes_of(gold)), f"parts {', '.join(('arc', *settings.families))}"
        rows[short_name(name)] = {"attributes": ", ".join(sorted(attributes)), "features": features, "tags": tags}
    return pd.DataFrame.from_dict(rows, orient="index")


def measured(results: Results) -> pd.DataFrame:
    """Return accuracy, training time and speed, one row per transition-based parser and corpus. May be empty.

    If a package was not installed, `missing` names it, and all figures are NaN.
    """
    names = ["uas", "las", "complete", "complete_labelled", "train_cpu_s", "words_per_cpu_s"]
    rows = frames.of_systems(results, "transition")
    for row in rows:
        if row.setdefault("missing", ""):
            row |= dict.fromkeys(names, float("nan"))
    return pd.DataFrame(rows, columns=["corpus", "row", "model", "tags", "seed", "missing", *names])


def parsers(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return accuracy and speed of the transition-based parsers of the main comparison. Rows: (run, corpus, parser).

    Each parser is trained with the seed of the run. Parsers have the names `short_name`. `features` is the name of the
    feature model. The column `not installed` exists only if a parser lacks a package.
    """
    parts = [measured(r).assign(run=r.name).query("seed == @r.params.seed") for r in results]
    parts = [
        data.assign(features=[r.params.models[name].settings.features for name in data["model"]])
        for r, data in zip(results, parts, strict=True)
    ]
    data = pd.concat(parts, ignore_index=True)
    data = data[data["corpus"].isin(wanted or set(data["corpus"]))].assign(parser=data["row"].map(short_name))
    data = data.set_index(["run", "corpus", "parser"])
    names = {"uas": "UAS", "las": "LAS", "complete": "complete, %", "train_cpu_s": "training, CPU s"}
    data = data.rename(columns=names | {"words_per_cpu_s": "words / CPU s", "missing": "not installed"})
    lacking = ["not installed"] * bool(data["not installed"].astype(bool).any())
    return data[["tags", "features", *names.values(), "words / CPU s", *lacking]]


def points(table: pd.DataFrame) -> pd.DataFrame:
    """Return the parsers with a known speed as points of `site.charts.accuracy_speed`, for the last run that has any.

    table  `parsers`
    """
    data = table.dropna(subset=["UAS", "words / CPU s"]).reset_index()
    data = data[data["run"] == data["run"].iloc[-1]] if len(data) else data
    names = {"UAS": "uas", "words / CPU s": "words_per_cpu_s", "parser": "system"}
    return data.rename(columns=names).assign(group=data["run"], label=data["parser"])


def marked(root: Path, results: Results, corpus: str) -> tuple[Treebank | None, dict[str, Sequence[str]]]:
    """Return the gold test sentences, and row -> `attachment.marks` of the parsers to compare on a corpus.

    The parsers are all transition-based parsers, then one graph-based parser: the last main row of the last learner.
    The result is (None, {}) if the run does not store the sentences of all these rows, if no transition-based parser is
    measured, or if the corpus is not converted.
    """
    path, params = root / stage.CONVERTED / corpus / "test.npz", results.params
    rows_of_parsers = measured(results)
    names = list(rows_of_parsers[(rows_of_parsers["corpus"] == corpus) & (rows_of_parsers["missing"] == "")]["row"])
    if not (results.keeps_sentences and path.is_file() and names):
        return None, {}
    exact = list(main_rows(params, params.learners[-1]).values())[-1]
    rows = [row for row in (*(params.row(name) for name in names), exact) if params.plain(corpus, row)]
    if not all(_sentence_file(results, corpus, row).is_file() for row in rows):
        return None, {}
    marks = {row.name: frames.sentences(results, corpus, row)["words"].tolist() for row in rows}
    gold = storage.load(path)
    return gold.select(np.arange(len(marks[exact.name]))), marks


def _sentence_file(results: Results, corpus: str, row: Row) -> Path:
    """Return the path of the stored sentences of a row."""
    return results.folder / "predictions" / corpus / "decode" / row.trained / f"{row}.csv"


def times(root: Path, results: Results, corpus: str) -> pd.DataFrame:
    """Measure the CPU ms per sentence of parsers trained with the seed of the run, by sentence length. May be empty.

    Index: words; one column per parser. A sentence of n words consists of the first n words of the test split, because
    real sentences are not long enough. The time is the minimum of three runs.
    """
    path, columns = root / stage.CONVERTED / corpus / "test.npz", {}
    for row in results.params.rows_of(corpus):
        file = root / model_file(corpus, row.trained)
        own_seed = results.params.tags_and_seed(corpus, row)[1] == results.params.seed
        if row.system == "transition" and own_seed and path.is_file() and file.is_file() and is_trained(file):
            parser, test = load(file, **({"beam": row.beam} if row.beam else {})), storage.load(path)
            columns[short_name(row.name)] = {
                n: _fastest(parser, _first_words(test, n)) for n in LENGTHS if n <= test.words
            }
    return pd.DataFrame(columns).rename_axis(index="words")


def _first_words(treebank: Treebank, n: int) -> Treebank:
    """Return WORDS / n copies of one sentence, which has the first n words of the treebank."""
    copies = max(1, WORDS // n)
    columns = {name: np.tile(column[:n], copies) for name, column in treebank.columns.items()}
    heads = np.zeros(n * copies, treebank.head.dtype)
    return replace(treebank, offsets=np.arange(copies + 1) * n, columns=columns, head=heads)


def _fastest(parser: Any, sentences: Treebank) -> float:
    """Return the CPU ms per sentence, as the minimum of three runs."""
    parser.parse(sentences.select(np.arange(1)))
    times_in_ms = []
    for _ in range(3):
        with Stopwatch() as watch:
            parser.parse(sentences)
        times_in_ms.append(1000 * watch.cpu / len(sentences))
    return min(times_in_ms)


def errors(gold: Treebank, marked: dict[str, Sequence[str]]) -> dict[str, pd.DataFrame]:
    """Return tables of the errors of each parser by distance, depth, sentence length and label.

    The result maps each property to a table with one row per bin; `BINS` defines the bins. Columns: the number of
    words, and the share of errors (%) of each parser. An error is a wrong head; in the table of labels, it is a wrong
    head or a wrong label. The table of labels has the 15 most frequent labels.

    gold    annotated sentences
    marked  row -> `attachment.marks` of its sentences
    """
    scored = scored_words(gold)
    index = np.arange(gold.words) - np.repeat(gold.offsets[:-1], gold.lengths) + 1
    heads = gold.head
    values = {
        "distance": np.where(heads == 0, 0, np.abs(heads - index)),
        "depth": np.concatenate([_depths(gold.heads(i)) for i in range(len(gold))]),
        "length": np.repeat(gold.lengths, gold.lengths),
    }
    marks_of_words = {short_name(name): np.array(list("".join(marks))) for name, marks in marked.items()}
    tables = {}
    for kind, edges in BINS.items():
        scored_values = values[kind][scored]
        bins = np.searchsorted(edges, scored_values, side="right")
        names = ["root", *(f"{a} to {b - 1}" if b > a + 1 else str(a) for a, b in pairwise(edges))]
        names.append(f"from {edges[-1]}")
        tables[kind] = _rates(bins, names, {name: marks == WRONG for name, marks in marks_of_words.items()})
    labels = np.array(gold.strings("deprel"))[scored]
    kinds, numbers = np.unique(labels, return_inverse=True)
    table = _rates(numbers, kinds.tolist(), {name: marks != LABELLED for name, marks in marks_of_words.items()})
    tables["label"] = table.sort_values("words", ascending=False).head(15)
    return tables


def _rates(bins: np.ndarray, names: Sequence[str], wrong: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return words and error rates (%) of each bin that is not empty.

    bins   int[W]: index of the bin of each word
    names  names of the bins
    wrong  row -> bool[W]: words with an error
    """
    rows = {
        name: {"words": int((bins == i).sum())} | {row: 100 * float(w[bins == i].mean()) for row, w in wrong.items()}
        for i, name in enumerate(names)
        if (bins == i).any()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _depths(heads: np.ndarray) -> np.ndarray:
    """Return int[n]: the number of arcs from each word up to the root.

    heads  int[n + 1]: head of each word, by the index of the word
    """
    depth = np.zeros(len(heads), int)
    for m in range(1, len(heads)):
        node = m
        while node > 0:
            node, depth[m] = heads[node], depth[m] + 1
    return depth[1:]


def mended(marked: dict[str, Sequence[str]]) -> pd.DataFrame:
    """Return, for each other parser, the share of the first parser's errors that it corrects, and its new errors.

    marked  row -> `attachment.marks` of its sentences, beginning with the first parser

    Rows: parsers. `low` and `high` are the 95 % interval over words of the share.
    """
    (_, greedy), *others = marked.items()
    wrong, rows = np.array(list("".join(greedy))) == WRONG, {}
    for name, marks in others:
        is_error = np.array(list("".join(marks))) == WRONG
        corrected = int((wrong & ~is_error).sum())
        low, high = wilson(corrected, int(wrong.sum()))
        rows[short_name(name)] = {
            "errors of greedy": int(wrong.sum()),
            "corrected, %": 100 * corrected / max(int(wrong.sum()), 1),
            "low": 100 * low,
            "high": 100 * high,
            "new errors": int((is_error & ~wrong).sum()),
        }
    return pd.DataFrame.from_dict(rows, orient="index")
