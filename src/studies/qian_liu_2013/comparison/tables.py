"""Table 2 of Qian & Liu (2013): the accuracy of each system."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from studies.common.params import Row
from studies.qian_liu_2013.comparison.others import peer_uas
from studies.site import frames
from studies.site.collect import Results
from studies.site.published import QIAN_LIU, table
from studies.site.rows import at, corpora_of, learners_of, main_rows, metrics_of
from treebound.metrics.attachment import HEAD, LABELLED
from treebound.metrics.significance import mcnemar_words, paired_bootstrap

BASELINE = "carreras"
#: row of the published comparison -> (our model, note on our model)
SYSTEMS: dict[str, tuple[str, str]] = {
    "baseline": (BASELINE, ""),
    "grandchild": ("carreras+grandchild", ""),
    "great-grandchild": ("carreras+great-grandchild", ""),
    "sibling": ("carreras+sibling", ""),
    "tri-sibling": ("carreras+tri-sibling", ""),
    "comb": ("carreras+comb", ""),
    "pattern": ("carreras+pattern", "patterns are written for a corpus: see factor families"),
    "combined": ("combined", "hand-crafted factors where the corpus has any"),
    "third-order": ("third-order", ""),
}
#: additional models of ours -> label of their row
OWN = {
    "arc": "first order (Eisner 1996)",
    "carreras+grandchild+sibling": "B&B + all grandchild + all sibling",
    "combined-pruned": "B&B, the combined system with a threshold in pruning",
    "non-projective": "B&B, the combined system over trees that may cross",
    "eisner+grandchild+sibling": "B&B + all grandchild + all sibling over a first-order backbone",
}
PUBLISHED = "published"
AGAINST = " against the baseline"


#: accuracy -> (column of the metrics of a row, column that counts the right words of a sentence)
FIGURES = {
    "UAS": ("uas", "correct"),
    "LAS": ("las", "correct_labelled"),
    "complete": ("complete", "complete"),
    "complete, labelled": ("complete_labelled", "complete_labelled"),
}

PROVED = "proved, %"
PEERS = "parsers of others, trained here"  #: group name for the rows of peers, which are trained by their own learners


def accuracy(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return all FIGURES (%) of our main rows, and the share of test sentences whose tree is proved optimal.

    Rows: (learner, system, corpus). Columns: (name of the run, figure). A figure without values is left out, for
    example labelled figures if no corpus has labels.
    """
    keep = corpora_of(results, wanted)
    cells: dict[tuple[str, str], dict[tuple[str, str, str], float]] = {}
    for r in results:
        data = metrics_of(r)
        for learner in learners_of(r.params):
            for model in _models(r, keep[r.name], learner):
                for corpus in keep[r.name]:
                    run = main_rows(r.params, learner, corpus).get(model)
                    if run is not None:
                        row = data.loc[at(corpus, run)]
                        accuracies = {figure: float(row[column]) for figure, (column, _) in FIGURES.items()}
                        accuracies[PROVED] = 100 * float(row["certified"]) / float(row["sentences"])
                        for figure, value in accuracies.items():
                            cells.setdefault((r.name, figure), {})[learner, model, corpus] = value
    table = pd.DataFrame(cells).dropna(axis=1, how="all")
    return table.rename_axis(["learner", "system", "corpus"])


def _models(results: Results, corpora: Sequence[str], learner: str) -> list[str]:
    """Return the models that have a main row with this learner: first the models that all corpora have."""
    of_corpora = [model for corpus in corpora for model in main_rows(results.params, learner, corpus)]
    return list(dict.fromkeys([*main_rows(results.params, learner), *of_corpora]))


def comparison(results: Sequence[Results], learner: str, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the UAS (%) of every system: published figures beside the figures of our runs.

    Rows: (group, system). Columns: ("published" or the name of a run, corpus), and a note. Our figures come from the
    model of the same name, trained with `learner`. A NaN means that there is no figure; the note states the reason.
    """
    keep = corpora_of(results, wanted)
    uas = {r.name: metrics_of(r)["uas"] for r in results}
    own_rows = {(r.name, c): main_rows(r.params, learner, c) for r in results for c in keep[r.name]}
    index, cells = [], []
    for label, model, figures, note in _systems({model for rows in own_rows.values() for model in rows}):
        notes = [note] if note else []
        for r in results:
            runs = {corpus: own_rows[r.name, corpus].get(model) if model else None for corpus in keep[r.name]}
            missing = [corpus for corpus, run in runs.items() if run is None]
            if model and missing:
                place = f" on {', '.join(missing)}" if len(missing) < len(runs) else ""
                notes.append(f"not run: {r.title} has no such row{place}")
            for corpus, run in runs.items():
                figures[r.name, corpus] = float("nan") if run is None else uas[r.name][at(corpus, run)]
        index.append(label)
        cells.append({**figures, ("", "note"): "; ".join(notes)})
    for peer, figures in peer_uas(results, wanted).items():
        index.append((PEERS, peer))
        cells.append({**figures, ("", "note"): "has a learner of its own"})
    data = pd.DataFrame(cells, index=pd.MultiIndex.from_tuples(index, names=["", "system"]))
    return in_order(data, results, keep)


def _systems(models: set[str]) -> list[tuple[tuple[str, str], str | None, dict, str]]:
    """Return label, model, published figures and note of every row of the comparison.

    The model is None for published rows without a model of ours. Our additional rows follow the paper's own rows.

    models  names of our models that have a main row
    """
    rows: list[tuple[tuple[str, str], str | None, dict, str]] = []
    for row in table(QIAN_LIU, "comparison").itertuples():
        model: str | None
        model, note = SYSTEMS.get(row.id, (None, "published figure only"))
        rows.append(((row.group, row.system), model, {(PUBLISHED, "PTB"): row.PTB, (PUBLISHED, "CTB"): row.CTB}, note))
    known = {model for model, _ in SYSTEMS.values()}
    end_of_paper = 1 + max(i for i, row in enumerate(rows) if row[0][0] == "this paper")
    nothing = {(PUBLISHED, "PTB"): float("nan"), (PUBLISHED, "CTB"): float("nan")}
    additional = [
        (("ours besides", OWN.get(m, m)), m, dict(nothing), "not in the paper") for m in sorted(models - known)
    ]
    return [*rows[:end_of_paper], *additional, *rows[end_of_paper:]]


def in_order(data: pd.DataFrame, results: Sequence[Results], keep: dict[str, list[str]]) -> pd.DataFrame:
    """Order the columns: published figures, then the corpora of each run, then the note.

    keep  name of a run -> corpora to include, as `corpora_of` returns them
    """
    columns = [(PUBLISHED, "PTB"), (PUBLISHED, "CTB"), *((r.name, c) for r in results for c in keep[r.name])]
    data.columns = pd.MultiIndex.from_tuples(list(data.columns))
    return data[[column for column in [*columns, ("", "note")] if column in data]]


def significance(
    results: Results, wanted: Sequence[str] = (), figure: str = "UAS", models: Sequence[str] = ()
) -> pd.DataFrame:
    """Test each system against the baseline of the same learner on the same sentences of one run.

    figure  "UAS" or "LAS"; corpora without labels have no rows for LAS
    models  systems to test; empty means all

    Rows: (corpus, learner, system). Columns: the difference, the ends of its 95 % interval and p of a paired bootstrap
    over sentences; the words that only the system and only the baseline has right, and p of McNemar's exact test over
    words. Both p are two-sided. For a reference run without sentences, the stored rows are returned.
    """
    keep = corpora_of([results], wanted)[results.name]
    names = ["corpus", "learner", "system"]
    if not results.keeps_sentences:
        stored = results.kept_table(f"significance-{figure.lower()}").reindex(columns=[*names, *TESTED])
        stored = stored[stored["corpus"].isin(keep) & (stored["system"].isin(models) | (not models))]
        return stored.set_index(names)
    rows = []
    for corpus in keep:
        for learner in learners_of(results.params):
            runs = main_rows(results.params, learner, corpus)
            if BASELINE not in runs:
                continue
            base = scored(results, corpus, runs[BASELINE], figure)
            for model, run in runs.items() if len(base) else ():
                if model != BASELINE and (not models or model in models):
                    sentences = scored(results, corpus, run, figure)
                    row = {"corpus": corpus, "learner": learner, "system": model}
                    rows.append(row | tested(sentences, base, figure, results.params.seed))
    return pd.DataFrame(rows, columns=[*names, *TESTED]).set_index(names)


def against_baseline(results: Sequence[Results], wanted: Sequence[str] = (), figure: str = "UAS") -> pd.DataFrame:
    """Return the `significance` of every run. Rows: (run, corpus, learner, system)."""
    keep = corpora_of(results, wanted)
    parts = {r.name: significance(r, keep[r.name], figure) for r in results if keep[r.name]}
    return pd.concat(parts, names=["run"])


#: keys of the result of `tested`
TESTED = ("difference", "low", "high", "p", "only it", "only the baseline", "p (words)")


def tested(system: pd.DataFrame, base: pd.DataFrame, figure: str, seed: int) -> dict[str, float]:
    """Test a system against another system on the same sentences. Return a mapping with the keys TESTED.

    `significance` explains the values.

    system, base  tables with one row per sentence. Columns: scored (number of scored words), correct (number of words
                  that count as right for `figure`), words (result of `attachment.marks`)
    figure        "UAS" or "LAS"

    Raises ValueError if the sentences differ.
    """
    test = paired_bootstrap(system, base, seed=seed)
    words = mcnemar_words(_right(system, figure), _right(base, figure))
    return test | {"only it": words["only_a"], "only the baseline": words["only_b"], "p (words)": words["p"]}


def scored(results: Results, corpus: str, run: Row, figure: str) -> pd.DataFrame:
    """Return `frames.sentences` of a row. The column `correct` counts the words of a sentence that are right.

    figure  a key of FIGURES, which decides whether a word with the right head also needs the right label

    The table is empty for a labelled figure if the row has no labels.
    """
    data = frames.sentences(results, corpus, run)
    right = FIGURES[figure][1]
    return data.assign(correct=data[right]) if right in data else data.iloc[:0]


def _right(data: pd.DataFrame, figure: str) -> np.ndarray:
    """Return bool[W]: whether each scored word counts as right for UAS or LAS. `data` is a result of `scored`."""
    right_marks = (LABELLED,) if figure == "LAS" else (HEAD, LABELLED)
    return np.isin(list("".join(data["words"])), right_marks)
