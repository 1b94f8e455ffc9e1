"""Table 2 of Qian & Liu (2013): accuracy, system by system."""

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
#: row of the published comparison -> (our model, what is to be said about ours)
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
#: rows of ours that the paper does not have
OWN = {
    "arc": "first order (Eisner 1996)",
    "carreras+grandchild+sibling": "B&B + all grandchild + all sibling",
    "combined-pruned": "B&B, the combined system with a threshold in pruning",
    "non-projective": "B&B, the combined system over trees that may cross",
    "eisner+grandchild+sibling": "B&B + all grandchild + all sibling over a first-order backbone",
}
PUBLISHED = "published"
AGAINST = " against the baseline"


#: accuracy -> its column among the metrics of a row, and that of right words among its sentences
FIGURES = {
    "UAS": ("uas", "correct"),
    "LAS": ("las", "correct_labelled"),
    "complete": ("complete", "complete"),
    "complete, labelled": ("complete_labelled", "complete_labelled"),
}

PROVED = "proved, %"
PEERS = "parsers of others, trained here"  #: group of rows; their learner is their own


def accuracy(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """All of FIGURES (%) for our main rows, and the share of test sentences whose tree is proved optimal.

    Rows (learner, system, corpus); columns (provenance, figure). Figures that no row has are left out (labelled ones
    where nothing is labelled).
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
                        found = {figure: float(row[column]) for figure, (column, _) in FIGURES.items()}
                        found[PROVED] = 100 * float(row["certified"]) / float(row["sentences"])
                        for figure, value in found.items():
                            cells.setdefault((r.name, figure), {})[learner, model, corpus] = value
    table = pd.DataFrame(cells).dropna(axis=1, how="all")
    return table.rename_axis(["learner", "system", "corpus"])


def _models(results: Results, corpora: Sequence[str], learner: str) -> list[str]:
    """The models that have a row with this learner: those of every corpus, then those of some."""
    some = [model for corpus in corpora for model in main_rows(results.params, learner, corpus)]
    return list(dict.fromkeys([*main_rows(results.params, learner), *some]))


def comparison(results: Sequence[Results], learner: str, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """UAS (%) of every system. Rows (group, system); columns (provenance, corpus), at last a note.

    A row of ours is the model of the same name, trained with `learner`. NaN: no figure, and the note says why.
    """
    keep = corpora_of(results, wanted)
    uas = {r.name: metrics_of(r)["uas"] for r in results}
    ours = {(r.name, c): main_rows(r.params, learner, c) for r in results for c in keep[r.name]}
    index, cells = [], []
    for label, model, figures, note in _systems({model for rows in ours.values() for model in rows}):
        notes = [note] if note else []
        for r in results:
            runs = {corpus: ours[r.name, corpus].get(model) if model else None for corpus in keep[r.name]}
            missing = [corpus for corpus, run in runs.items() if run is None]
            if model and missing:
                where = f" on {', '.join(missing)}" if len(missing) < len(runs) else ""
                notes.append(f"not run: not among the rows of {r.name}{where}")
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
    """Label, model of ours, published figures and note of every row: the paper's rows, ours after the paper's own."""
    rows: list[tuple[tuple[str, str], str | None, dict, str]] = []
    for row in table(QIAN_LIU, "comparison").itertuples():
        model: str | None
        model, note = SYSTEMS.get(row.id, (None, "published figure only"))
        rows.append(((row.group, row.system), model, {(PUBLISHED, "PTB"): row.PTB, (PUBLISHED, "CTB"): row.CTB}, note))
    known = {model for model, _ in SYSTEMS.values()}
    after = 1 + max(i for i, row in enumerate(rows) if row[0][0] == "this paper")
    nothing = {(PUBLISHED, "PTB"): float("nan"), (PUBLISHED, "CTB"): float("nan")}
    own = [(("ours besides", OWN.get(m, m)), m, dict(nothing), "not in the paper") for m in sorted(models - known)]
    return [*rows[:after], *own, *rows[after:]]


def in_order(data: pd.DataFrame, results: Sequence[Results], keep: dict[str, list[str]]) -> pd.DataFrame:
    """The columns published, reference, this run, note, in this order."""
    columns = [(PUBLISHED, "PTB"), (PUBLISHED, "CTB"), *((r.name, c) for r in results for c in keep[r.name])]
    data.columns = pd.MultiIndex.from_tuples(list(data.columns))
    return data[[*columns, ("", "note")]]


def significance(
    results: Results, wanted: Sequence[str] = (), figure: str = "UAS", models: Sequence[str] = ()
) -> pd.DataFrame:
    """Each system against the baseline of the same learner on the same sentences of one run.

    figure  "UAS" or "LAS"; corpora without labels have no rows for LAS
    models  systems to test; empty: all
    Rows (corpus, learner, system); columns: its difference, low and high end of its 95 % interval, p of a paired
    bootstrap over sentences; words that only it and only the baseline has right, p of McNemar's exact test over words.
    Both p are two-sided. Of a reference, whose sentences are not kept, the rows that it kept.
    """
    keep = corpora_of([results], wanted)[results.name]
    names = ["corpus", "learner", "system"]
    if not results.keeps_sentences:
        kept = results.kept_table(f"significance-{figure.lower()}").reindex(columns=[*names, *TESTED])
        kept = kept[kept["corpus"].isin(keep) & (kept["system"].isin(models) | (not models))]
        return kept.set_index(names)
    rows = []
    for corpus in keep:
        for learner in learners_of(results.params):
            runs = main_rows(results.params, learner, corpus)
            if BASELINE not in runs:
                continue
            base = scored(results, corpus, runs[BASELINE], figure)
            for model, run in runs.items() if len(base) else ():
                if model != BASELINE and (not models or model in models):
                    found = scored(results, corpus, run, figure)
                    row = {"corpus": corpus, "learner": learner, "system": model}
                    rows.append(row | tested(found, base, figure, results.params.seed))
    return pd.DataFrame(rows, columns=[*names, *TESTED]).set_index(names)


def against_baseline(results: Sequence[Results], wanted: Sequence[str] = (), figure: str = "UAS") -> pd.DataFrame:
    """`significance` of every run. Rows (run, corpus, learner, system)."""
    keep = corpora_of(results, wanted)
    parts = {r.name: significance(r, keep[r.name], figure) for r in results if keep[r.name]}
    return pd.concat(parts, names=["run"])


#: what `tested` tells of a system
TESTED = ("difference", "low", "high", "p", "only it", "only the baseline", "p (words)")


def tested(found: pd.DataFrame, base: pd.DataFrame, figure: str, seed: int) -> dict[str, float]:
    """TESTED of a system against another one on the same sentences (ValueError otherwise); see `significance`.

    found, base  one row a sentence: scored (words), correct (of them, by the figure), words (`attachment.marks`)
    figure       "UAS" or "LAS"
    """
    test = paired_bootstrap(found, base, seed=seed)
    words = mcnemar_words(_right(found, figure), _right(base, figure))
    return test | {"only it": words["only_a"], "only the baseline": words["only_b"], "p (words)": words["p"]}


def scored(results: Results, corpus: str, run: Row, figure: str) -> pd.DataFrame:
    """`frames.sentences` with `correct` for the figure; empty where it is one of labels and there are none."""
    data = frames.sentences(results, corpus, run)
    right = FIGURES[figure][1]
    return data.assign(correct=data[right]) if right in data else data.iloc[:0]


def _right(data: pd.DataFrame, figure: str) -> np.ndarray:
    """bool[W]: whether each scored word of `scored` counts as right."""
    good = (LABELLED,) if figure == "LAS" else (HEAD, LABELLED)
    return np.isin(list("".join(data["words"])), good)
