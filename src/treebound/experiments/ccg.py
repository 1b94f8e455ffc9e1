"""Stage: what the beams of a CCG parser do (Auli & Lopez 2011, table 2 and figure 1).

    python -m treebound.experiments.ccg NAME

`orders`: of dev and test, adaptive supertagging and its reverse, scores of the sentences that have a derivation;
`oracle`: of dev, the best and the worst derivations of the same charts (`systems.ccg.oracle`), and the best ones where
every word has its gold category alone. `beams`: of dev, each beam alone; scores of the parser's derivations and of the
best ones, and the model's score, over the sentences that have a derivation under every beam. Sentences per CPU second
are kept apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.evaluation.timing import Stopwatch
from treebound.experiments import stage
from treebound.experiments.ccg_files import ccg_parser, load
from treebound.experiments.params import Params
from treebound.experiments.plan import ccg_file
from treebound.systems.ccg.decoding import Found
from treebound.systems.ccg.evaluation import evaluate
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.oracle import Oracle, best_of_gold_categories
from treebound.systems.ccg.settings import ADAPTIVE, REVERSE, levels
from treebound.systems.ccg.system import Parser
from treebound.systems.ccg.training import read_derivations
from treebound.systems.ccg.words import words_of
from treebound.treebanks.ccg.derivation import Derivation

ORDERS = {"AST": ADAPTIVE, "reverse": REVERSE}


def order_row(model: CCGModel, treebank: Treebank, beams: tuple[str, ...]) -> tuple[dict[str, Any], float]:
    """What the parser does with some attempts, and sentences per CPU second."""
    parser, gold = Parser(model, beams=beams), read_derivations(treebank, model.meta["tag"])
    parser.parse(treebank.select(np.arange(min(5, len(treebank)))))  # compiles
    with Stopwatch() as watch:
        parses = parser.parse(treebank)
    found = [parse.record for parse in parses]
    tried = np.bincount([one.level for one in found if one.parsed], minlength=len(beams)).tolist()
    row = {"sentences": len(treebank), "levels": tried} | evaluate(gold, found).summary() | _means(parses)
    return row, len(treebank) / max(watch.cpu, 1e-9)


def oracle(
    model: CCGModel, treebank: Treebank, gold: Sequence[Derivation], beams: tuple[str, ...], worst: bool = False
) -> list[Found]:
    """The derivations most like the gold ones, or least, of the charts that some attempts give."""
    how = model.tagger, model.made_grammar(), model.weights.astype(np.float64), levels(beams), model.spec.limit
    return Oracle(*how, gold=gold, worst=worst).parse(words_of(treebank, model.meta["tag"]))


def oracle_rows(model: CCGModel, treebank: Treebank) -> dict[str, dict[str, float]]:
    """Best and worst derivations of both orders, and the best ones with gold categories."""
    gold = read_derivations(treebank, model.meta["tag"])
    rows = {
        f"{name} {which}": evaluate(gold, oracle(model, treebank, gold, beams, which == "worst")).summary()
        for name, beams in ORDERS.items()
        for which in ("best", "worst")
    }
    return rows | {"gold categories": evaluate(gold, best_of_gold_categories(model, treebank, gold)).summary()}


def beam_rows(model: CCGModel, treebank: Treebank, beams: tuple[str, ...]) -> list[dict[str, Any]]:
    """A row for each beam, over the sentences that have a derivation under all of them."""
    gold = read_derivations(treebank, model.meta["tag"])
    parses = {beam: Parser(model, beams=(beam,)).parse(treebank) for beam in beams}
    best = {beam: oracle(model, treebank, gold, (beam,)) for beam in beams}
    common = [i for i in range(len(treebank)) if all(parses[beam][i].record.parsed for beam in beams)]
    right, rows = [gold[i] for i in common], []
    for beam in beams:
        some = [parses[beam][i] for i in common]
        covered = 100.0 * sum(parse.record.parsed for parse in parses[beam]) / len(treebank)
        total, most = float(sum(parse.value for parse in some)), evaluate(right, [best[beam][i] for i in common])
        row = {"beam": beam, "common": len(common), "score": total, "covered": covered, "oracle": most.labelled.f}
        rows.append(row | evaluate(right, [parse.record for parse in some]).summary() | _means(some))
    return rows


def _means(parses: list[Parse]) -> dict[str, float]:
    """Lexical categories a word and edges of the charts of whole derivations; charts that were over the limit."""
    whole = [parse.record for parse in parses if parse.record.parsed]
    means = {name: float(np.mean([getattr(one, name) for one in whole] or [0])) for name in ("categories", "edges")}
    return means | {"refused": sum(parse.record.refused for parse in parses)}


def run(params: Params, name: str) -> None:
    """Write what a parser's beams do, and how fast."""
    parser, model = ccg_parser(params, name), CCGModel.load(ccg_file(name))
    orders: dict[str, dict[str, Any]] = {}
    speed: dict[str, dict[str, float]] = {}
    for split in ("dev", "test"):
        treebank = load(name, split)
        found = {order: order_row(model, treebank, beams) for order, beams in ORDERS.items()}
        orders[split] = {order: row for order, (row, _) in found.items()}
        speed[split] = {order: per_second for order, (_, per_second) in found.items()}
        said = "; ".join(f"{order} LF {row['LF']:.2f}, {rate:.1f} a second" for order, (row, rate) in found.items())
        stage.say(f"{name} {split}: {said}")
    dev = load(name, "dev")
    about = {"corpus": parser.corpus, "more": parser.more, "tags": parser.tags}
    parts = {"orders": orders, "oracle": oracle_rows(model, dev), "beams": beam_rows(model, dev, params.ccg.beams)}
    stage.write_json(stage.METRICS / "ccg" / f"{name}.json", about | parts)
    stage.write_json(stage.METRICS / "timing" / "ccg" / f"{name}.json", speed)


if __name__ == "__main__":
    stage.main(run)
