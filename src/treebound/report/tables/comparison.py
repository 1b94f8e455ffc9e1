"""Table 2 of Qian & Liu (2013): accuracy, system by system."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from treebound.evaluation.significance import paired_bootstrap
from treebound.experiments.params import Run
from treebound.report.collect import Results
from treebound.report.published import QIAN_LIU, table
from treebound.report.tables.others import peer_uas
from treebound.report.tables.rows import KEYS, at, corpora_of, main_rows, sweep

BASELINE = "carreras"
#: row of the published comparison -> (our model, what is to be said about ours)
SYSTEMS: dict[str, tuple[str | None, str]] = {
    "baseline": (BASELINE, ""),
    "grandchild": ("carreras+grandchild", ""),
    "great-grandchild": (None, "not built yet"),
    "sibling": ("carreras+sibling", ""),
    "tri-sibling": (None, "not built yet"),
    "comb": (None, "not built yet"),
    "pattern": (None, "not built yet"),
    "combined": ("carreras+grandchild+sibling", "ours without comb and hand-crafted factors"),
    "third-order": (None, "not built yet"),
}
#: rows of ours that the paper does not have
OWN = {
    "arc": "first order (Eisner 1996)",
    "eisner+grandchild+sibling": "B&B + all grandchild + all sibling over a first-order backbone",
}
PUBLISHED = "published"


#: accuracy -> its column among the metrics of a row, and that of right words among its sentences
FIGURES = {
    "UAS": ("uas", "correct"),
    "LAS": ("las", "correct_labelled"),
    "complete": ("complete", "complete"),
    "complete, labelled": ("complete_labelled", "complete_labelled"),
}


def accuracy(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """All of FIGURES (%) for our main rows. Rows (learner, system, corpus); columns (provenance, figure).

    Figures that no row has are left out (labelled ones where nothing is labelled).
    """
    keep = corpora_of(results, wanted)
    cells: dict[tuple[str, str], dict[tuple[str, str, str], float]] = {}
    for r in results:
        data = r.decode().set_index(KEYS)
        for learner in r.params.learners:
            for model, run in main_rows(r.params, learner).items():
                for corpus in keep[r.name]:
                    for figure, (column, _) in FIGURES.items():
                        cells.setdefault((r.name, figure), {})[learner, model, corpus] = data.loc[
                            at(corpus, run), column
                        ]
    table = pd.DataFrame(cells).dropna(axis=1, how="all")
    return table.rename_axis(["learner", "system", "corpus"])


def comparison(results: Sequence[Results], learner: str, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """UAS (%) of every system. Rows (group, system); columns (provenance, corpus), at last a note.

    A row of ours is the model of the same name, trained with `learner`. NaN: no figure, and the note says why.
    """
    keep = corpora_of(results, wanted)
    uas = {r.name: r.decode().set_index(KEYS)["uas"] for r in results}
    ours = {r.name: main_rows(r.params, learner) for r in results}
    index, cells = [], []
    for label, model, figures, note in _systems({model for rows in ours.values() for model in rows}):
        notes = [note] if note else []
        for r in results:
            run = ours[r.name].get(model) if model else None
            if model and run is None:
                notes.append(f"not run: not among the rows of {r.name}")
            for corpus in keep[r.name]:
                figures[r.name, corpus] = float("nan") if run is None else uas[r.name][at(corpus, run)]
        index.append(label)
        cells.append({**figures, ("", "note"): "; ".join(notes)})
    for peer, figures in peer_uas(results, wanted).items():
        index.append(("parsers of others, trained here", peer))
        cells.append({**figures, ("", "note"): "has a learner of its own"})
    data = pd.DataFrame(cells, index=pd.MultiIndex.from_tuples(index, names=["", "system"]))
    return in_order(data, results, keep)


def _systems(models: set[str]) -> list[tuple[tuple[str, str], str | None, dict, str]]:
    """Label, model of ours, published figures and note of every row: the paper's rows, ours after the paper's own."""
    rows: list[tuple[tuple[str, str], str | None, dict, str]] = []
    for row in table(QIAN_LIU, "comparison").itertuples():
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


def significance(results: Results, wanted: Sequence[str] = (), figure: str = "UAS") -> pd.DataFrame:
    """Each system against the baseline of the same learner on the same sentences of this run.

    figure  "UAS" or "LAS"; corpora without labels have no rows for LAS
    Rows (corpus, learner, system); columns: its difference, low and high end of its 95 % interval, p (two-sided).
    """
    right = FIGURES[figure][1]

    def sentences(corpus: str, run: Run) -> pd.DataFrame:
        data = results.sentences(corpus, run)
        return data.assign(correct=data[right]) if right in data else data.iloc[:0]

    rows = []
    for corpus in corpora_of([results], wanted)[results.name]:
        for learner in results.params.learners:
            runs = main_rows(results.params, learner)
            if BASELINE not in runs:
                continue
            base = sentences(corpus, runs[BASELINE])
            for model, run in runs.items():
                if model != BASELINE and len(base):
                    test = paired_bootstrap(sentences(corpus, run), base, seed=results.params.seed)
                    rows.append({"corpus": corpus, "learner": learner, "system": model, **test})
    names = ["corpus", "learner", "system"]
    return pd.DataFrame(rows, columns=[*names, "difference", "low", "high", "p"]).set_index(names)


def headline(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Of each run, corpus and learner: accuracy of the baseline and of all factors, speed, proofs.

    LAS is left out where no row has labels.
    """
    keep = corpora_of(results, wanted)
    rows = []
    for r in results:
        data = r.decode().merge(r.benchmark()[[*KEYS, "words_per_cpu_s"]], on=KEYS).set_index(KEYS)
        every = sweep(r.params)[0].model
        for corpus in keep[r.name]:
            for learner in r.params.learners:
                runs = main_rows(r.params, learner)
                if every not in runs:
                    continue
                found = data.loc[at(corpus, runs[every])]
                base = data.loc[at(corpus, runs[BASELINE]), "uas"] if BASELINE in runs else float("nan")
                rows.append(
                    {
                        "": r.name,
                        "corpus": corpus,
                        "learner": learner,
                        "UAS, Carreras": base,
                        "UAS, all factors": found["uas"],
                        "LAS, all factors": found["las"],
                        "words per CPU second": found["words_per_cpu_s"],
                        "proved optimal, %": 100 * found["certified"] / found["sentences"],
                        "DP calls per sentence": found["dp_calls"] / found["sentences"],
                    }
                )
    table = pd.DataFrame(rows).set_index(["", "corpus", "learner"])
    return table if table["LAS, all factors"].notna().any() else table.drop(columns="LAS, all factors")
