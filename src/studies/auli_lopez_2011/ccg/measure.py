"""Stage: what the beams of a CCG parser do (Auli & Lopez 2011, table 2 and figure 1).

    python -m studies.auli_lopez_2011.ccg.measure NAME

`orders`: of dev and test, adaptive supertagging and its reverse, scores of the sentences that have a derivation;
`oracle`: of dev, the best and the worst derivations of the same charts (`systems.ccg.oracle`), and the best ones where
every word has its gold category alone. `beams`: of dev, each beam alone; scores of the parser's derivations and of the
best ones, and the model's score, over the sentences that have a derivation under every beam. Sentences per CPU second
are kept apart. `differences`: labelled F-scores compared, sentence by sentence, with intervals.

Both orders parse PART sentences before either parses the next ones, and the CPU seconds of each part are stored: a
ratio of speeds has its interval from them, without repeats.
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
from treebound.systems.ccg.decoding import Found
from treebound.systems.ccg.evaluation import difference, evaluate
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.oracle import Oracle, best_of_gold_categories
from treebound.systems.ccg.settings import ADAPTIVE, REVERSE, levels
from treebound.systems.ccg.system import Parser
from treebound.systems.ccg.training import read_derivations
from treebound.systems.ccg.words import words_of
from treebound.treebanks.ccg.derivation import Derivation

ORDERS = {"AST": ADAPTIVE, "reverse": REVERSE}
PART = 10  #: sentences that are timed together
Row = dict[str, Any]


class Dev:
    """Development sentences: what a model and the oracles find in the same charts."""

    def __init__(self, model: CCGModel, treebank: Treebank):
        self.model, self.treebank = model, treebank
        self.gold = read_derivations(treebank, model.meta["tag"])
        self.words = words_of(treebank, model.meta["tag"])

    def oracle(self, beams: tuple[str, ...], worst: bool = False) -> list[Found]:
        """The derivations most like the gold ones, or least."""
        model = self.model
        how = model.tagger, model.made_grammar(), model.weights.astype(np.float64), levels(beams), model.spec.limit
        return Oracle(*how, gold=self.gold, worst=worst).parse(self.words)

    def oracles(self, orders: dict[str, list[Found]]) -> tuple[dict[str, Row], list[Row]]:
        """Scores of best and worst derivations of both orders, and differences; orders: the parser's derivations."""
        found = orders | {
            f"{order} {which}": self.oracle(beams, which == "worst")
            for order, beams in ORDERS.items()
            for which in ("best", "worst")
        }
        kinds = ("", " best", " worst")
        gains = [self.compared(f"reverse{kind}", f"AST{kind}", found) for kind in kinds]
        found["gold categories"] = best_of_gold_categories(self.model, self.words, self.gold)
        rows = {name: evaluate(self.gold, some).summary() for name, some in found.items() if name not in orders}
        return rows, gains

    def beams(self, beams: tuple[str, ...]) -> tuple[list[Row], list[Row]]:
        """A row for each beam, over the sentences that all beams parse; the last one compared with the first."""
        parses = {beam: Parser(self.model, beams=(beam,)).parse(self.treebank) for beam in beams}
        found = {beam: [parse.record for parse in some] for beam, some in parses.items()}
        best = {f"{beam} best": self.oracle((beam,)) for beam in beams}
        common = [i for i in range(len(self.gold)) if all(some[i].parsed for some in found.values())]
        gold, rows = [self.gold[i] for i in common], []
        for beam in beams:
            some = [parses[beam][i] for i in common]
            row = {"beam": beam, "common": len(common), "score": float(sum(parse.value for parse in some))}
            row["covered"] = 100.0 * sum(one.parsed for one in found[beam]) / len(self.gold)
            row["oracle"] = evaluate(gold, [best[f"{beam} best"][i] for i in common]).labelled.f
            records = [parse.record for parse in some]
            rows.append(row | evaluate(gold, records).summary() | _means(records))
        named = {"narrowest": beams[0], "widest": beams[-1]}
        ends = {end: found[beam] for end, beam in named.items()}
        ends |= {f"{end} best": best[f"{beam} best"] for end, beam in named.items()}
        return rows, [self.compared(f"widest{kind}", f"narrowest{kind}", ends) for kind in ("", " best")]

    def compared(self, a: str, b: str, found: dict[str, list[Found]]) -> Row:
        """Labelled F-score of a less that of b."""
        return {"a": a, "b": b} | difference(self.gold, found[a], found[b])._asdict()


def timed(model: CCGModel, treebank: Treebank) -> dict[str, tuple[list[Found], list[float]]]:
    """Parse by each order: what it finds in every sentence, and the CPU seconds of each part of PART sentences."""
    parsers = {order: Parser(model, beams=beams) for order, beams in ORDERS.items()}
    machines = {order: parser.adaptive() for order, parser in parsers.items()}
    out: dict[str, tuple[list[Found], list[float]]] = {order: ([], []) for order in ORDERS}
    for order, machine in machines.items():
        machine.parse(parsers[order].words(treebank.select(np.arange(min(5, len(treebank))))))  # compiles
    for i in range(0, len(treebank), PART):
        part = treebank.select(np.arange(i, min(i + PART, len(treebank))))
        for order, (found, seconds) in out.items():
            with Stopwatch() as watch:
                found += machines[order].parse(parsers[order].words(part))
            seconds.append(watch.cpu)
    return out


def order_row(gold: list[Derivation], found: list[Found], beams: tuple[str, ...]) -> Row:
    """What the parser does with some attempts."""
    tried = np.bincount([one.level for one in found if one.parsed], minlength=len(beams)).tolist()
    return {"sentences": len(gold), "levels": tried} | evaluate(gold, found).summary() | _means(found)


def _means(found: list[Found]) -> dict[str, float]:
    """Lexical categories a word and edges of the charts of whole derivations; charts that were over the limit."""
    whole = [one for one in found if one.parsed]
    means = {name: float(np.mean([getattr(one, name) for one in whole] or [0])) for name in ("categories", "edges")}
    return means | {"refused": sum(one.refused for one in found)}


def run(params: Params, name: str) -> None:
    """Write what a parser's beams do, and how fast."""
    parser, model = ccg_parser(params, name), CCGModel.load(ccg_file(name))
    orders: dict[str, dict[str, Row]] = {}
    speed: dict[str, dict[str, float]] = {}
    seconds: dict[str, dict[str, list[float]]] = {}
    for split in ("test", "dev"):
        treebank = load(name, split)
        gold, found = read_derivations(treebank, model.meta["tag"]), timed(model, treebank)
        orders[split] = {order: order_row(gold, some, ORDERS[order]) for order, (some, _) in found.items()}
        seconds[split] = {order: parts for order, (_, parts) in found.items()}
        speed[split] = {order: len(treebank) / max(sum(parts), 1e-9) for order, parts in seconds[split].items()}
        said = "; ".join(
            f"{order} LF {row['LF']:.2f}, {speed[split][order]:.1f} a second" for order, row in orders[split].items()
        )
        stage.say(f"{name} {split}: {said}")
    dev = Dev(model, treebank)
    oracles, gains = dev.oracles({order: some for order, (some, _) in found.items()})
    beams, more = dev.beams(params.section(CCG).beams)
    about = {"corpus": parser.corpus, "more": parser.more, "tags": parser.tags}
    tables = {"orders": orders, "oracle": oracles, "beams": beams, "differences": gains + more}
    stage.write_metrics(stage.METRICS / "ccg" / f"{name}.json", about | tables)
    stage.write_metrics(stage.METRICS / "timing" / "ccg" / f"{name}.json", speed | {"seconds": seconds})


if __name__ == "__main__":
    stage.main(run)
