"""Stage: measure the effect of the beams of a CCG parser (Auli & Lopez 2011, table 2 and figure 1).

    python -m studies.auli_lopez_2011.ccg.measure NAME

The metrics have these parts:

- `orders`: accuracy on dev and test under adaptive supertagging and its reverse, over sentences with a derivation.
- `oracle`: accuracy on dev of the best and the worst derivation of the same charts (`systems.ccg.oracle`), and of the
  best derivation if every word has only its gold category.
- `beams`: for each single beam on dev, the accuracy of the parser's derivation and of the best derivation,
  and the model score, over the sentences that have a derivation under every beam.
- `differences`: differences in labelled F-score over the same sentences, with intervals.

Sentences per CPU second are stored in a separate file. Both orders parse PART sentences before either parses the next
ones, and the CPU seconds of each part are stored. They give the interval of a ratio of speeds without repeated runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.auli_lopez_2011.ccg.files import ccg_parser, load
from studies.auli_lopez_2011.ccg.settings import CCG
from studies.common import stage
from studies.common.params import Params
from studies.common.paths import ccg_file
from treebound.core.treebank import Treebank
from treebound.metrics.timing import Stopwatch
from treebound.systems.ccg.decoding import Decoded
from treebound.systems.ccg.evaluation import difference, evaluate
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.oracle import Oracle, best_of_gold_categories
from treebound.systems.ccg.settings import ADAPTIVE, REVERSE, levels
from treebound.systems.ccg.system import Parser
from treebound.systems.ccg.training import read_derivations
from treebound.systems.ccg.words import words_of
from treebound.treebanks.ccg.derivation import Derivation

ORDERS = {"AST": ADAPTIVE, "reverse": REVERSE}
PART = 10  #: number of sentences that are timed together
Row = dict[str, Any]


class Dev:
    """Development sentences, parsed by a model and by oracles with the same charts."""

    def __init__(self, model: CCGModel, treebank: Treebank):
        self.model, self.treebank = model, treebank
        self.gold = read_derivations(treebank, model.meta["tag"])
        self.words = words_of(treebank, model.meta["tag"])

    def oracle(self, beams: tuple[str, ...], worst: bool = False) -> list[Decoded]:
        """Return, for each sentence, the derivation in the chart that is most similar to the gold derivation.

        beams  beams that are tried in turn, until a sentence has a chart with a derivation
        worst  whether to return the least similar derivation instead
        """
        model = self.model
        arguments = (
            model.tagger,
            model.made_grammar(),
            model.weights.astype(np.float64),
            levels(beams),
            model.spec.limit,
        )
        return Oracle(*arguments, gold=self.gold, worst=worst).parse(self.words)

    def oracles(self, orders: dict[str, list[Decoded]]) -> tuple[dict[str, Row], list[Row]]:
        """Return the scores of the best and worst derivations under both orders, and the differences between orders.

        The scores of the best derivations from gold categories alone are included.

        orders  derivations of the parser, by order
        """
        results = orders | {
            f"{order} {which}": self.oracle(beams, which == "worst")
            for order, beams in ORDERS.items()
            for which in ("best", "worst")
        }
        kinds = ("", " best", " worst")
        gains = [self.compared(f"reverse{kind}", f"AST{kind}", results) for kind in kinds]
        results["gold categories"] = best_of_gold_categories(self.model, self.words, self.gold)
        rows = {
            name: evaluate(self.gold, derivations).summary()
            for name, derivations in results.items()
            if name not in orders
        }
        return rows, gains

    def beams(self, beams: tuple[str, ...]) -> tuple[list[Row], list[Row]]:
        """Return one row of scores per beam, and the comparison of the last beam with the first beam.

        All rows cover the sentences that every beam parses.
        """
        parses = {beam: Parser(self.model, beams=(beam,)).parse(self.treebank) for beam in beams}
        results = {beam: [parse.record for parse in subset] for beam, subset in parses.items()}
        best = {f"{beam} best": self.oracle((beam,)) for beam in beams}
        common = [i for i in range(len(self.gold)) if all(subset[i].parsed for subset in results.values())]
        gold, rows = [self.gold[i] for i in common], []
        for beam in beams:
            subset = [parses[beam][i] for i in common]
            row = {"beam": beam, "common": len(common), "score": float(sum(parse.value for parse in subset))}
            row["covered"] = 100.0 * sum(result.parsed for result in results[beam]) / len(self.gold)
            row["oracle"] = evaluate(gold, [best[f"{beam} best"][i] for i in common]).labelled.f
            records = [parse.record for parse in subset]
            rows.append(row | evaluate(gold, records).summary() | _means(records))
        named = {"narrowest": beams[0], "widest": beams[-1]}
        ends = {end: results[beam] for end, beam in named.items()}
        ends |= {f"{end} best": best[f"{beam} best"] for end, beam in named.items()}
        return rows, [self.compared(f"widest{kind}", f"narrowest{kind}", ends) for kind in ("", " best")]

    def compared(self, a: str, b: str, results: dict[str, list[Decoded]]) -> Row:
        """Return the labelled F-score of system a minus the labelled F-score of system b, with its interval."""
        return {"a": a, "b": b} | difference(self.gold, results[a], results[b])._asdict()


def timed(model: CCGModel, treebank: Treebank) -> dict[str, tuple[list[Decoded], list[float]]]:
    """Parse a treebank with each order of beams (ORDERS), and time the parsing.

    Return, for each order, the results for all sentences, and the CPU seconds of each part of PART sentences.
    """
    parsers = {order: Parser(model, beams=beams) for order, beams in ORDERS.items()}
    machines = {order: parser.adaptive() for order, parser in parsers.items()}
    out: dict[str, tuple[list[Decoded], list[float]]] = {order: ([], []) for order in ORDERS}
    for order, machine in machines.items():
        machine.parse(
            parsers[order].words(treebank.select(np.arange(min(5, len(treebank)))))
        )  # compile before the timed runs
    for i in range(0, len(treebank), PART):
        part = treebank.select(np.arange(i, min(i + PART, len(treebank))))
        for order, (results, seconds) in out.items():
            with Stopwatch() as watch:
                results += machines[order].parse(parsers[order].words(part))
            seconds.append(watch.cpu)
    return out


def order_row(gold: list[Derivation], results: list[Decoded], beams: tuple[str, ...]) -> Row:
    """Return the scores of one order of beams. Also count, for each beam, the sentences first parsed with this beam."""
    levels_used = np.bincount([result.level for result in results if result.parsed], minlength=len(beams)).tolist()
    return {"sentences": len(gold), "levels": levels_used} | evaluate(gold, results).summary() | _means(results)


def _means(results: list[Decoded]) -> dict[str, float]:
    """Return means over the parsed sentences: lexical categories per word, and edges per chart.

    `refused` counts the sentences whose chart exceeded the limit.
    """
    parsed = [result for result in results if result.parsed]
    means = {
        name: float(np.mean([getattr(result, name) for result in parsed] or [0])) for name in ("categories", "edges")
    }
    return means | {"refused": sum(result.refused for result in results)}


def run(params: Params, name: str) -> None:
    """Write the accuracy of a parser under all orders and beams, and its speed."""
    parser, model = ccg_parser(params, name), CCGModel.load(ccg_file(name))
    orders: dict[str, dict[str, Row]] = {}
    speed: dict[str, dict[str, float]] = {}
    seconds: dict[str, dict[str, list[float]]] = {}
    for split in ("test", "dev"):
        treebank = load(name, split)
        gold, by_order = read_derivations(treebank, model.meta["tag"]), timed(model, treebank)
        orders[split] = {order: order_row(gold, results, ORDERS[order]) for order, (results, _) in by_order.items()}
        seconds[split] = {order: parts for order, (_, parts) in by_order.items()}
        speed[split] = {order: len(treebank) / max(sum(parts), 1e-9) for order, parts in seconds[split].items()}
        summary = "; ".join(
            f"{order} LF {row['LF']:.2f}, {speed[split][order]:.1f} sentences per CPU second"
            for order, row in orders[split].items()
        )
        stage.say(f"{name} {split}: {summary}")
    dev = Dev(model, treebank)
    oracles, gains = dev.oracles({order: results for order, (results, _) in by_order.items()})
    beams, beam_gains = dev.beams(params.section(CCG).beams)
    description = {"corpus": parser.corpus, "more": parser.more, "tags": parser.tags}
    tables = {"orders": orders, "oracle": oracles, "beams": beams, "differences": gains + beam_gains}
    stage.write_metrics(stage.METRICS / "ccg" / f"{name}.json", description | tables)
    stage.write_metrics(stage.METRICS / "timing" / "ccg" / f"{name}.json", speed | {"seconds": seconds})


if __name__ == "__main__":
    stage.main(run)
