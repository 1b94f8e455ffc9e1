"""Table 3 and Figures 4 and 5 of Qian & Liu (2013): pruning, speed and sentence length."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import pandas as pd

from studies.hall_2006.transitions import tables as transitions_tables
from studies.qian_liu_2013.comparison.headline import OTHER_SYSTEMS, accuracies, best, contenders, mean_over_seeds
from studies.qian_liu_2013.comparison.tables import BASELINE, PUBLISHED, in_order
from studies.site import frames, seen
from studies.site.collect import Results
from studies.site.published import QIAN_LIU, paper, table
from studies.site.rows import AT, KEYS, at, corpora_of, find, main_rows, pruning, sweep, whole
from studies.zhang_2014.comparison import tables as comparison_tables


def pruning_table(results: Sequence[Results], figure: str, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return one figure of Table 3, published and measured.

    Rows: systems. Columns: ("published" or the name of a run, corpus), and a note.

    figure  "UAS" or "LAS" (%; no LAS was published, so its table has no published columns), "w/s" (ours: words per CPU
            second; published: per second), "DP calls" (per sentence) or "total DP calls" (of the test set)
    """
    keep = corpora_of(results, wanted)
    printed = table(QIAN_LIU, "speed").set_index("id")
    calls = table(QIAN_LIU, "calls").set_index("corpus")
    counts = {"DP calls": "DP calls per sentence", "total DP calls": "DP calls"}
    own_figures = {r.name: _swept(r, figure) for r in results}
    models = {r.name: sweep(r.params)[0].model for r in results}
    published_notes = paper(QIAN_LIU)["speed"]["notes"]
    ids = [i for i in printed.index if i.startswith("k-") or figure in ("UAS", "w/s")]
    ids += dict.fromkeys(i for r in results for _, i in own_figures[r.name].index if i not in ids)
    cells = []
    for i in ids:
        row: dict[tuple[str, str], object] = {}
        for corpus in ("PTB", "CTB") if figure != "LAS" else ():  # no LAS is published
            row[PUBLISHED, corpus] = float("nan")
            if figure in ("UAS", "w/s"):
                row[PUBLISHED, corpus] = printed[f"{corpus} {figure}"].get(i, float("nan"))
            elif figure in counts and i == "k-none":
                row[PUBLISHED, corpus] = calls.loc[corpus, counts[figure]]
        notes = [] if i.startswith("k-") else ["published figure only"]
        if figure == "w/s" and i in published_notes:
            notes.append(published_notes[i])
        for r in results:
            if i.startswith("k-") and i not in own_figures[r.name].index.get_level_values(1):
                notes.append(f"not run: {r.title} has no such row")
            for corpus in keep[r.name]:
                row[r.name, corpus] = own_figures[r.name].get((corpus, i), float("nan"))
            if figure != "w/s" and (missing := unproved(r, keep[r.name]).get(i[2:])):
                notes.append(f"{f'{r.name}: ' * (len(results) > 1)}not proved optimal: {missing}")
        if len(set(models.values())) > 1:
            notes += [f"{name}: {model}" for name, model in models.items()]
        cells.append({**row, ("", "note"): "; ".join(notes)})
    names = [printed["system"].get(i, f"branch and bound, k = {i[2:]}") for i in ids]
    return in_order(pd.DataFrame(cells, index=pd.Index(names, name="system")), results, keep)


def unproved(results: Results, corpora: Sequence[str]) -> dict[str, str]:
    """Map each number k of candidate heads to a text that counts the sentences without a proof on each corpus.

    The rows of `sweep` differ in k alone. A k is left out if all sentences are proved.
    """
    data = frames.decode(results).set_index(AT)
    by_k = {}
    for run in sweep(results.params):
        metrics = {corpus: data.loc[at(corpus, run)] for corpus in corpora}
        counts = {c: (int(row["sentences"] - row["certified"]), int(row["sentences"])) for c, row in metrics.items()}
        if listed := [f"{n} of {total:,} sentences ({c})" for c, (n, total) in counts.items() if n]:
            by_k[str(run.k)] = ", ".join(listed)
    return by_k


def _swept(results: Results, figure: str) -> pd.Series:
    """Return one figure of Table 3 for the rows that differ only in k, the number of candidate heads per word.

    Index: (corpus, "k-<k>"). `figure` has the same values as in `pruning_table`, for instance "UAS".
    """
    column = {"UAS": "uas", "LAS": "las", "w/s": "words_per_cpu_s"}.get(figure, "dp_calls")
    data = (frames.benchmark(results) if figure == "w/s" else frames.decode(results)).set_index(AT)
    values = data[column] / data["sentences"] if figure == "DP calls" else data[column]
    runs = sweep(results.params)
    return pd.Series({(c, f"k-{run.k}"): float(values[at(c, run)]) for c in results.corpora for run in runs})


def accuracy_and_speed(results: Results, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the points of the accuracy-speed figure: one for every timed row that decodes whole test sets.

    Columns: corpus; system (the model); group (the learner, or "all factors, by pruning"); label (k in the group "all
    factors, by pruning", otherwise the decoder if it differs from the decoder of the main comparison); uas (mean over
    the trainings that `seeds` counts); words_per_cpu_s; proved (% of the sentences; NaN if the system proves nothing);
    sees (treebank columns that the system reads besides forms and tags, see `site.seen`). Transition-based parsers,
    samplers and peers form separate groups.
    """
    decoded, speed = frames.decode(results).set_index(AT), frames.benchmark(results).set_index(AT)["words_per_cpu_s"]
    values, offered = accuracies(results), seen.offered(results)
    proved = 100 * decoded["certified"] / decoded["sentences"]
    swept, corpora = sweep(results.params), corpora_of([results], wanted)[results.name]
    main = {run for learner in results.params.learners for run in main_rows(results.params, learner).values()}
    rows = []
    for corpus in corpora:
        for run in find(results.params):
            if whole(results.params, run) and at(corpus, run) in speed.index:
                group: str = run.learner
                label = "" if run in main else run.decoder
                if run in swept:
                    group, label = "all factors, by pruning", pruning(run.k)
                place, (uas, seeds) = at(corpus, run), mean_over_seeds(results, corpus, run, values)
                point = {"uas": uas, "seeds": seeds, "words_per_cpu_s": speed[place], "proved": proved[place]}
                point["sees"] = seen.seen(results, corpus, run, offered[corpus])
                rows.append({"corpus": corpus, "system": run.model, "group": group, "label": label, **point})
    transitions = (
        transitions_tables.measured(results).assign(group="transitions", label="").rename(columns={"row": "system"})
    )
    samplers = comparison_tables.measured(results).assign(group="sampling", label="").rename(columns={"row": "system"})
    peers = frames.peers(results).assign(group="others").rename(columns={"peer": "system"})
    peers = peers.assign(label=peers["system"])
    measured = pd.concat([part for part in (transitions, samplers, peers) if len(part)] or [peers])
    measured = measured[measured["corpus"].isin(corpora) & measured["words_per_cpu_s"].notna()]
    points, other_points = pd.DataFrame(rows), []
    for point in measured[["corpus", "system", "group", "label", "uas", "words_per_cpu_s"]].to_dict("records"):
        corpus, run = point["corpus"], results.params.rows[point["system"]]
        uas, seeds = mean_over_seeds(results, corpus, run, values)
        means = {"uas": uas, "seeds": seeds} if seeds else {"seeds": 1}
        other_points.append(point | means | {"sees": seen.seen(results, corpus, run, offered[corpus])})
    return pd.concat([points, pd.DataFrame(other_points)], ignore_index=True) if other_points else points


def by_system(results: Results, learner: str) -> pd.DataFrame:
    """Return the accuracy and speed of every system on whole test sets. Systems without rows in the run are left out.

    Index: group, system. Columns: (corpus, name), where the names are "UAS", "seeds" (number of seeds in the mean UAS),
    "words per CPU second" and "sees". Three kinds of graph-based models with `learner` are included: the baseline, all
    factors with the number of heads of training, and every model that is the best row of some corpus (`headline.best`).
    The speed of a best row that was not timed is NaN.
    """
    params, values, offered = results.params, accuracies(results), seen.offered(results)
    points = accuracy_and_speed(results)
    chosen = {corpus: best(results, corpus, learner, values) for corpus in results.corpora}
    graph = dict.fromkeys((BASELINE, sweep(params)[0].model, *chosen.values()))
    speed = frames.benchmark(results).set_index(AT)["words_per_cpu_s"]
    cells: dict[tuple[str, str], dict[tuple[str, str], object]] = {}

    def add(group: str, system: str, corpus: str, figures: Sequence[object]) -> None:
        row = cells.setdefault((group, system), {})
        row.update({(corpus, name): figure for name, figure in zip(COMPARED, figures, strict=True)})

    for corpus in results.corpora:
        rows = main_rows(params, learner, corpus)
        for model in graph:
            if model in rows:
                uas, seeds = mean_over_seeds(results, corpus, rows[model], values)
                sees = seen.seen(results, corpus, rows[model], offered[corpus])
                add("graph", model, corpus, (uas, seeds, float(speed.get(at(corpus, rows[model]), nan)), sees))
    for point in points[points["group"].isin(["transitions", "sampling", "others"])].to_dict("records"):
        figures = [point[name] for name in ("uas", "seeds", "words_per_cpu_s", "sees")]
        add(point["group"], point["system"], point["corpus"], figures)
    for corpus in results.corpora:
        for name in dict.fromkeys(chosen.values()):
            run = contenders(results, corpus, learner).get(name)
            if run is not None and run.system in OTHER_SYSTEMS:
                group = "transitions" if run.system == "transition" else run.system
                if (corpus, "UAS") not in cells.get((group, name), {}):
                    uas, seeds = mean_over_seeds(results, corpus, run, values)
                    add(group, name, corpus, (uas, seeds, nan, seen.seen(results, corpus, run, offered[corpus])))
    order = [(corpus, figure) for corpus in results.corpora for figure in COMPARED]
    groups = ("graph", "transitions", "sampling", "others")
    index = sorted(cells, key=lambda place: groups.index(place[0]))
    names = pd.MultiIndex.from_tuples(index, names=["group", "system"])
    columns = pd.MultiIndex.from_tuples(order)
    return pd.DataFrame([cells[place] for place in index], index=names).reindex(columns=columns)


#: figures of `by_system` for each corpus
COMPARED = ("UAS", "seeds", "words per CPU second", "sees")


def benchmarked(results: Results, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return every row of the benchmark. Index: KEYS.

    Columns: seconds, speed, spread of the repeats (NaN for a single repeat), work per sentence, and proofs.
    """
    data = frames.benchmark(results)
    data = data[data["corpus"].isin(corpora_of([results], wanted)[results.name])].set_index(KEYS)
    return pd.DataFrame(
        {
            "sentences": data["sentences"],
            "repeats": data["repeats"],
            "CPU s": data["cpu_s"],
            "wall s": data["wall_s"],
            "spread, %": spreads(data),
            "words / CPU s": data["words_per_cpu_s"],
            "DP calls": data["dp_calls"] / data["sentences"],
            "nodes": data["nodes"] / data["sentences"],
            "proved, %": 100 * data["certified"] / data["sentences"],
        }
    )


def spreads(timed: pd.DataFrame) -> pd.Series:
    """Return the spread of the repeats of each row of `frames.benchmark`, in % of its time; NaN for a single repeat."""
    spread = [
        100 * (high - low) / middle for (low, high), middle in zip(timed["cpu_s_range"], timed["cpu_s"], strict=True)
    ]
    return pd.Series(spread, index=timed.index).where(timed["repeats"] > 1)


def lengths(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return time and DP calls by sentence length, for the rows that differ only in k, the smallest k first.

    The number k counts the candidate heads per word. There is one line per row and length bin. The column `corpus`
    contains the name of the run as well.
    """
    keep = corpora_of(results, wanted)
    parts = []
    for r in results:
        data = frames.by_length(r).set_index(AT)
        for corpus in keep[r.name]:
            for run in sweep(r.params):
                part = data.loc[[at(corpus, run)]].reset_index()
                parts.append(part.assign(corpus=r.place(corpus)))
    return pd.concat(parts, ignore_index=True)


def without_proof(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the sentences without a proof, one line for each corpus and row of `sweep` that has any.

    Columns: corpus, with the name of the run; k (candidate heads per word); sentences; unproved; shortest and longest
    (words of the unproved sentences). Runs that are committed without their sentences are left out.
    """
    keep, rows = corpora_of(results, wanted), []
    for r in results:
        for corpus in keep[r.name] if r.keeps_sentences else ():
            for run in sweep(r.params):
                data = frames.sentences(r, corpus, run)
                words = data.loc[data["status"] != "optimal", "n"]
                counts = {"sentences": len(data), "unproved": len(words)}
                if len(words):
                    ends = {"shortest": words.min(), "longest": words.max()}
                    rows.append({"corpus": r.place(corpus), "k": str(run.k), **counts, **ends})
    return pd.DataFrame(rows, columns=["corpus", "k", "sentences", "unproved", "shortest", "longest"])


def length_table(curves: pd.DataFrame) -> pd.DataFrame:
    """Return `lengths` as a table. Rows: (corpus, words). Columns: sentences, then DP calls and ms for every k."""
    data = curves.assign(words=[f"{lo}-{hi}" for lo, hi in zip(curves["lo"], curves["hi"], strict=True)])
    data = data.assign(ms=1e3 * data["mean_s"]).rename(columns={"mean_dp_calls": "DP calls"})
    names = {k: pruning(k) for k in dict.fromkeys(data["k"])}
    index = ["corpus", "words"]
    order = data.drop_duplicates(["corpus", "lo"]).sort_values("lo").set_index(index)
    order = order.loc[list(dict.fromkeys(data["corpus"]))]
    columns = {("", "sentences"): order["sentences"]}
    for figure in ("DP calls", "ms"):
        for k, name in names.items():
            columns[figure, name] = data[data["k"] == k].set_index(index)[figure].reindex(order.index)
    return pd.DataFrame(columns)


def beaten(points: pd.DataFrame) -> pd.DataFrame:
    """Count, for each parser of another project, our rows that beat this parser in both accuracy and speed.

    points  result of `accuracy_and_speed`

    Rows: (corpus, parser). The first columns are UAS (%) and words per CPU second of the parser. The other columns
    count our rows on the corpus, the rows that are more accurate and faster, and the rows among them that see more
    columns of the treebank.
    """
    lines = {}
    for peer in points[points["group"] == "others"].itertuples():
        own = points[(points["group"] != "others") & (points["corpus"] == peer.corpus)]
        better = own[(own["uas"] >= peer.uas) & (own["words_per_cpu_s"] >= peer.words_per_cpu_s)]
        lines[peer.corpus, peer.system] = {
            "UAS": peer.uas,
            "words / CPU s": peer.words_per_cpu_s,
            "our rows": len(own),
            "more accurate and faster": len(better),
            "with more columns of the treebank": int((better["sees"].map(len) > len(peer.sees)).sum()),
        }
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "")], names=["corpus", "parser"])[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index)
