"""Stage: what a CCG parser's beams do (Auli & Lopez 2011, table 2 and figure 1, the columns of the best derivation).

    python -m treebound.experiments.ccg MODEL DERIVATIONS.auto OUT.json

`adaptive`: adaptive supertagging and its reverse, scores of the sentences that have a derivation, sentences per CPU
second. `beams`: each beam alone, narrow ones first; scores and the model's score over the sentences that have a
derivation under every beam.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.experiments import stage
from treebound.experiments.params import Params
from treebound.systems.ccg.evaluation import evaluate
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.settings import ADAPTIVE, REVERSE
from treebound.systems.ccg.system import Parser
from treebound.systems.ccg.training import read_derivations
from treebound.treebanks.document import read

#: those of figure 1 as far as charts keep within the limit
BEAMS = ("0.075:20", "0.03:20", "0.01:20", "0.005:20", "0.001:20", "0.0005:20", "0.0001:20")


def adaptive_rows(model: CCGModel, treebank: Treebank) -> list[dict[str, Any]]:
    """A row for adaptive supertagging and one for its reverse."""
    gold, rows = read_derivations(treebank, model.meta["tag"]), []
    for name, beams in (("AST", ADAPTIVE), ("reverse", REVERSE)):
        parser = Parser(model, beams=beams)
        parser.parse(treebank.select(np.arange(min(5, len(treebank)))))
        started = time.process_time()
        parses = parser.parse(treebank)
        seconds = time.process_time() - started
        found = [parse.record for parse in parses]
        levels = np.bincount([one.level for one in found if one.parsed], minlength=len(beams)).tolist()
        row = {"name": name, "sentences": len(treebank), "per_second": len(treebank) / seconds, "levels": levels}
        rows.append(row | evaluate(gold, found).summary() | _means(parses))
    return rows


def beam_rows(model: CCGModel, treebank: Treebank, beams: tuple[str, ...] = BEAMS) -> list[dict[str, Any]]:
    """A row for each beam, over the sentences that have a derivation under all of them."""
    gold = read_derivations(treebank, model.meta["tag"])
    parses = {beam: Parser(model, beams=(beam,)).parse(treebank) for beam in beams}
    common = [i for i in range(len(treebank)) if all(parses[beam][i].record.parsed for beam in beams)]
    rows = []
    for beam in beams:
        some = [parses[beam][i] for i in common]
        summary = evaluate([gold[i] for i in common], [parse.record for parse in some]).summary()
        covered = 100.0 * sum(parse.record.parsed for parse in parses[beam]) / max(1, len(treebank))
        total = float(sum(parse.value for parse in some))
        row = {"beam": beam, "common": len(common), "score": total, "covered": covered}
        rows.append(row | summary | _means(some))
    return rows


def _means(parses: list[Parse]) -> dict[str, float]:
    """Lexical categories a word and edges of the charts of whole derivations."""
    whole = [parse.record for parse in parses if parse.record.parsed]
    means = {name: float(np.mean([getattr(one, name) for one in whole] or [0])) for name in ("categories", "edges")}
    return means | {"refused": sum(parse.record.refused for parse in parses)}


def run(params: Params, model: str, derivations: str, out: str) -> None:
    """Write the tables of a model on a file of derivations."""
    loaded, treebank = CCGModel.load(Path(model)), read(derivations).treebank
    if not len(treebank):
        raise InputError("has no sentences", path=derivations, hint="give an .auto file")
    stage.write_json(Path(out), {"adaptive": adaptive_rows(loaded, treebank), "beams": beam_rows(loaded, treebank)})


if __name__ == "__main__":
    stage.main(run)
