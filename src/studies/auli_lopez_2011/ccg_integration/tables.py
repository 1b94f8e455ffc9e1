"""CCG: supertagger and parser as one model (Auli & Lopez 2011, tables 4 to 6, figures 4 to 6), and the proved optimum.

Every function takes what several runs have; where none has anything, there are no rows of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from studies.auli_lopez_2011.ccg import tables as ccg_tables
from studies.auli_lopez_2011.ccg_integration.measure import Column, column_named, column_of
from studies.site import published
from studies.site.collect import Results

PAPER = "auli_lopez_2011/ccg_integration"
PRINTED = "published"  #: the run that the paper's own figures are of
ROW = ["run", "parser", "decoder"]
ORDERS = ("AST", "reverse")
SPLITS = ("dev", "test")
FIGURES = ("LF", "UF", "ST")
Row = dict[tuple[str, ...], float]
Cells = dict[tuple[str, str, str], Row]


def measured(results: Results) -> dict[str, dict[str, Any]]:
    """CCG parser -> what the stage `ccg-integration` wrote, with its `timing`; none in runs from before it."""
    if not results.has("ccg-integration"):
        return {}
    return {
        name: results.read("ccg-integration", f"{name}.json")
        | {"timing": results.read("timing", "ccg-integration", f"{name}.json")}
        for name in ccg_tables.parsers(results)
    }


def _each(results: Sequence[Results]) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """(run and parser, what is known of its joint model)."""
    for r in results:
        for name, found in measured(r).items():
            yield {"run": r.name, "parser": name}, found


#: decoders whose names in tables are others
NAMES = {"bp": "BP", "dd": "DD", "dd-published": "DD, steps as published", "parser": "baseline"}


def name(decoder: str, iterations: int = 0, output: str = "") -> str:
    """What a column is called: `BP, k = 5`, `exact, least risk`. output: a rule that is not the paper's."""
    counted = f"k = {iterations}" if iterations else ""
    return ", ".join(part for part in (NAMES.get(decoder, decoder), counted, RULES.get(output, "")) if part)


#: output rules as tables name them
RULES = {"viterbi": "Viterbi", "least-risk": "least risk"}


def _titled(column: Column) -> str:
    return name(column.decoder, column.iterations, "" if column.usual else column.output)


def titled(column: str) -> str:
    """Return what tables call a column (`BP, k = 1`), from its name in comparisons (`reverse bp 1`)."""
    return _titled(column_named(column)[1])


def _table(rows: Cells) -> pd.DataFrame:
    """Of cells by row and column."""
    if not rows:
        return pd.DataFrame([], columns=ROW).set_index(ROW)
    data = pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(list(rows), names=ROW))
    heads = list(dict.fromkeys(column[:-1] for column in data.columns))  # what belongs together stands together
    data = data[[column for head in heads for column in data.columns if column[:-1] == head]]
    data.columns = pd.MultiIndex.from_tuples(data.columns)
    return data


def accuracy(results: Sequence[Results]) -> pd.DataFrame:
    """Tables 4 and 5: rows (run, parser, decoder), columns (split, order, figure); the paper's own rows first."""
    rows: Cells = {}
    for line in published.table(PAPER, "accuracy").to_dict("records"):
        key = (PRINTED, "CCGbank", name(line["decoder"], line["iterations"]))
        rows.setdefault(key, {}).update(_figures(line))
    for about, found in _each(results):
        for row in found["columns"]:
            key = (about["run"], about["parser"], _titled(column_of(row)))
            rows.setdefault(key, {}).update(_figures(row))
    return _table(rows)


def predicted_tags() -> pd.DataFrame:
    """The paper's Table 5, by decoder and split."""
    data = published.table(PAPER, "predicted-tags")
    data["decoder"] = [name(row.decoder, row.iterations) for row in data.itertuples()]
    return data.drop(columns="iterations").set_index(["decoder", "split"])


def _figures(row: Mapping[Any, Any]) -> Row:
    return {(row["split"], row["order"], figure): row[figure] for figure in FIGURES}


def errors(results: Sequence[Results]) -> pd.DataFrame:
    """Rows (run, parser, decoder), columns (split, order, ...): derivations (%) that score less than the optimum, of
    how many whose optimum is proved, and how much less those score on average.
    """
    rows: Cells = {}
    for about, found in _each(results):
        for row in found["columns"]:
            key = (about["run"], about["parser"], _titled(column_of(row)))
            at, share = (row["split"], row["order"]), 100 * row["less"] / max(1, row["proved"])
            rows.setdefault(key, {}).update(
                {(*at, "worse, %"): share, (*at, "of"): row["proved"], (*at, "by"): row["lost"]}
            )
    return _table(rows)


def speed(results: Sequence[Results]) -> pd.DataFrame:
    """Table 6: rows (run, parser, decoder), columns (order, ...): sentences a CPU second, LF and errors on dev."""
    rows: Cells = {}
    for line in published.table(PAPER, "speed").to_dict("records"):
        key = (PRINTED, "CCGbank 00", name(line["decoder"], line["iterations"]))
        cells: Row = {(line["order"], "sentences / s"): line["sentences / s"], (line["order"], "LF"): line["LF"]}
        rows.setdefault(key, {}).update(cells)
    for about, found in _each(results):
        usual = [row for row in found["columns"] if row["split"] == "dev" and column_of(row).usual]
        dev = {(row["order"], row["decoder"], row["iterations"]): row for row in usual}
        for line in found["timing"]["columns"]:
            row = dev[line["order"], line["decoder"], line["iterations"]]
            key = (about["run"], about["parser"], name(line["decoder"], line["iterations"]))
            own = rows.setdefault(key, {})
            own[line["order"], "sentences / s"], own[line["order"], "LF"] = line["per_second"], row["LF"]
            own[line["order"], "worse, %"] = 100 * row["less"] / max(1, row["proved"])
    return _table(rows)


def curves(results: Sequence[Results]) -> pd.DataFrame:
    """Figures 4 and 6: run, parser, order, decoder, iterations, LF (nan where it is not shown), settled (%)."""
    rows = [about | row for about, found in _each(results) for row in found["curves"]]
    return pd.DataFrame(rows, columns=["run", "parser", "order", "decoder", "iterations", "LF", "settled"])


def baselines(results: Sequence[Results]) -> pd.DataFrame:
    """Rows (run, parser, order): LF on dev of the parser alone and of the optimum."""
    rows = []
    for about, found in _each(results):
        for order in ORDERS:
            usual = [row for row in found["columns"] if column_of(row).usual]
            of = {row["decoder"]: row["LF"] for row in usual if (row["split"], row["order"]) == ("dev", order)}
            rows.append(about | {"order": order, "parser alone": of["parser"], "exact": of["exact"]})
    columns = ["run", "parser", "order", "parser alone", "exact"]
    return pd.DataFrame(rows, columns=columns).set_index(columns[:3])


def of_parser(table: pd.DataFrame, curve: pd.DataFrame) -> pd.DataFrame:
    """The rows of `table` (run, parser, ...) that are of the parser of a part of `curves`, without these two keys."""
    first = curve.iloc[0]
    return table.xs(first["run"], level="run").xs(first["parser"], level="parser")


def settled(results: Sequence[Results]) -> pd.DataFrame:
    """Rows (run, parser, order, decoder): share of dev (%) that has settled after some iterations, and the most."""
    data = curves(results)
    keys = ["run", "parser", "order", "decoder"]
    if not len(data):
        return data.set_index(keys)
    wanted = sorted({1, 5, 10, 25, 50, 100, 1000, int(data["iterations"].max())} & set(data["iterations"]))
    wide = data[data["iterations"].isin(wanted)].pivot(index=keys, columns="iterations", values="settled")
    return wide.rename(index=NAMES, level="decoder")


def beams(results: Sequence[Results]) -> pd.DataFrame:
    """Figure 5: rows (run, parser, decoder, beam), on the sentences that all beams parse: joint score and LF."""
    rows = [
        about | {"decoder": name(row["decoder"]), "beam": row["beam"], "joint score": row["score"], "LF": row["LF"]}
        for about, found in _each(results)
        for row in found["beams"]
    ]
    keys = [*ROW, "beam"]
    return pd.DataFrame(rows, columns=[*keys, "joint score", "LF"]).set_index(keys)


def lengths(results: Sequence[Results]) -> pd.DataFrame:
    """Rows (run, parser, order, words), dev and test together: what proofs of the optimum took.

    at once: of dual decomposition alone, without branching
    """
    columns = [
        "run",
        "parser",
        "order",
        "from",
        "sentences",
        "proved",
        "at once",
        "nodes, most",
        "edges",
        "CPU s",
        "most",
    ]
    rows = []
    for about, found in _each(results):
        for row, seconds in zip(found["lengths"], found["timing"]["lengths"], strict=True):
            figures = (row["sentences"], row["proved"], row["root"], row["nodes"], row["edges"] * row["sentences"])
            times = (seconds["cpu_s"] * row["sentences"], seconds["cpu_s_max"])
            rows.append([about["run"], about["parser"], row["order"], row["from"], *figures, *times])
    data = pd.DataFrame(rows, columns=columns)
    sums = {c: "max" if c in ("nodes, most", "most") else "sum" for c in columns[4:]}
    data = data.groupby(columns[:4], sort=False).agg(sums).astype(float)
    n = data["sentences"]
    out = pd.DataFrame({"sentences": n, "proved, %": 100 * data["proved"] / n, "at once, %": 100 * data["at once"] / n})
    out["nodes, most"], out["edges"] = data["nodes, most"], data["edges"] / n
    out["CPU ms"], out["CPU ms, most"] = 1000 * data["CPU s"] / n, 1000 * data["most"]
    return out.rename_axis([*columns[:3], "words from"])


def proof_times(proofs: pd.DataFrame) -> pd.DataFrame:
    """Of `lengths`, what `site.charts.times` takes: CPU ms of the proofs, a panel an order."""
    data = proofs[["CPU ms", "CPU ms, most"]].rename(columns={"CPU ms": "mean", "CPU ms, most": "most"}).reset_index()
    places = {"corpus": data["parser"], "model": "joint model", "space": data["order"]}
    data = data.assign(**places, longer_than=data["words from"] - 1)
    return data.set_index(["run", "corpus", "model", "space", "longer_than"])[["mean", "most"]]


def differences(results: Sequence[Results], split: str = "test") -> pd.DataFrame:
    """Rows (run, parser, what, than): LF of one less that of the other, with its 95 % interval, in each order, over
    so many sentences.

    Columns are compared with the parser alone, one iteration of belief propagation and the optimum under the same
    output rule; with the paper's rules, and the two rules of one decoder, as well.
    """
    rows = []
    for about, found in _each(results):
        for of in found["differences"]:
            order, _, b = of["b"].partition(" ")
            base = b.removesuffix(" least-risk").removesuffix(" viterbi")
            if of["split"] == split and of["a"].startswith(order) and base in ("parser", "bp 1", "exact"):
                figures = {"difference": of["value"], "low": of["low"], "high": of["high"]}
                rows.append(about | {"what": of["a"], "than": of["b"]} | figures | {"sentences": of["sentences"]})
    keys = ["run", "parser", "what", "than"]
    return pd.DataFrame(rows, columns=[*keys, "difference", "low", "high", "sentences"]).set_index(keys)
