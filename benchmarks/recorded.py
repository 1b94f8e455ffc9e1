"""Compare the metrics of a finished run with their targets, without measuring anything.

    python benchmarks/recorded.py                      # results/reference
    python benchmarks/recorded.py build/transitions    # another run: the folder with its params.yaml and results

Rows are left out if the run lacks the corpus, the gold tags or the package for which a target is stated.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import Any

from ccg import PUBLISHED
from classifiers import SPEED
from goals import Row, option, report

from studies.auli_lopez_2011.ccg import tables as ccg_tables
from studies.auli_lopez_2011.ccg_integration import tables as ccg_integration_tables
from studies.auli_lopez_2011.derivations import tables as derivations_tables
from studies.hall_2006.transitions import tables as transitions_tables
from studies.site import frames
from studies.site.collect import Results, reference, this_run
from studies.zhang_2014.comparison import tables as comparison_tables
from studies.zhang_2014.score_time import tables
from studies.zhang_2014.tag_correction import tables as tag_correction_tables
from treebound.core.errors import InputError

#: UAS of MaltParser with gold tags; page 71 shows it with its source
MALTPARSER = transitions_tables.maltparser()["UAS"].to_dict()
ABOVE = {"quadratic": 0.0, "beam": 1.0}  #: targets: difference in UAS to MaltParser, by kind of model
GREEDY = 100_000  #: target: words per CPU second
#: CCG: treebanks of Penn trees; target: share of their sentences with a derivation, in %
PENN, BUILT = ("ptb_sample", "en_craft"), 99.0


def transitions(results: Results) -> Iterator[Row]:
    """Yield figures of transition parsers with gold tags: differences to MaltParser, and speeds."""
    for row in transitions_tables.measured(results).to_dict("records"):
        if row["seed"] != results.params.seed:
            continue  # another training of a row that is listed
        corpus, kind = row["corpus"], str(row["model"]).partition("-")[0]
        name = f"{corpus} test, {row['row']}"
        if row["tags"] == "gold" and kind in ABOVE and corpus in MALTPARSER and not isnan(row["uas"]):
            yield Row(f"{name}: UAS above MaltParser's", row["uas"] - MALTPARSER[corpus], ABOVE[kind])
        target = {"quadratic": SPEED.get(corpus), "greedy": GREEDY}.get(kind)
        if target and not isnan(row["words_per_cpu_s"]):
            yield Row(f"{name}: words per CPU second", row["words_per_cpu_s"], target)


def samplers(results: Results) -> Iterator[Row]:
    """Yield figures of sampling.

    The figures are the share of proved optima found at a given speed, and the UAS of sampling with full features minus
    the UAS of exact search. A third figure counts the corpora on which tag correction improves tags or UAS
    significantly.
    """
    for (_, corpus, model), row in tables.targets([results]).iterrows():
        speed, share = f"{row['words / CPU s']:,.0f}", float(row["optima found, %"])
        name = f"{corpus} test, {model}: proved optima found at {speed} words per CPU second, %"
        if not isnan(share):
            yield Row(name, share, row["target, %"], note=row["method"])
    uas = comparison_tables.measured(results).query("row == 'sampling'").set_index("corpus")["uas"]
    if len(uas):
        exact = frames.decode(results).query("row == 'combined'").set_index("corpus")["uas"]
        gaps = (uas - exact).dropna()
        name = "sampling with full features, projective trees: UAS above exact search, mean"
        yield Row(name, gaps.mean(), 0.0, note=f"{len(gaps)} corpora")
    if len(corrected := tag_correction_tables.measured(results)):
        for measure, p in (("tags", "p_tags"), ("uas", "p_uas")):
            better = (corrected[f"{measure}_corrected"] > corrected[f"{measure}_predicted"]) & (corrected[p] < 0.05)
            name = f"tag correction: corpora with better {measure}, significantly"
            yield Row(name, int(better.sum()), 3, note=f"of {len(corrected)}")


def grammars(results: Results) -> Iterator[Row]:
    """Yield figures of CCG.

    They cover the translation of Penn trees, the speed of the parser, belief propagation, and proved joint optima.
    """
    for corpus, metrics in derivations_tables.measured(results).items():
        if corpus in PENN:
            yield Row(f"{corpus}: sentences with a derivation, %", metrics["all"]["coverage"], BUILT)
    for parser, metrics in ccg_tables.measured(results).items():
        name = f"CCG {parser}: adaptive supertagging, sentences per CPU second"
        speeds = [split["AST"] for key, split in metrics["speed"].items() if key != "seconds"]
        yield Row(name, min(speeds), PUBLISHED)
    for parser, metrics in ccg_integration_tables.measured(results).items():
        speed = {
            (row["decoder"], row["iterations"]): row["per_second"] for row in _adaptive(metrics["timing"]["columns"])
        }
        name = f"CCG {parser}: speed with one iteration of belief propagation to the parser's"
        yield Row(name, speed["bp", 1] / speed["parser", 0], 0.9)
        exact = [row for row in metrics["columns"] if row["decoder"] == "exact"]
        proved, parsed = (sum(row[key] for row in exact) for key in ("proved", "parsed"))
        yield Row(f"CCG {parser}: joint optima proved, %", 100 * proved / parsed, 100, note=f"of {parsed}")


def _adaptive(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of adaptive supertagging."""
    return [row for row in rows if row["order"] == "AST"]


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?", help="Folder of the run. Default: the reference run.")
    option(parser)
    arguments = parser.parse_args()
    results = this_run(arguments.run) if arguments.run else reference(Path())
    if results is None:
        parser.error("there is no reference run here; name the folder of a run")
    rows = []
    for section in (transitions, samplers, grammars):
        try:
            rows += list(section(results))
        except InputError as error:  # an incomplete run
            print(f"left out, {section.__name__}: {error}", file=sys.stderr)
    report(rows, arguments.keep)


if __name__ == "__main__":
    main()
