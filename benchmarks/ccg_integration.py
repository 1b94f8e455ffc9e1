"""Measure supertagger and parser as one model: scores, speed, number of proofs, and distance from the optimum.

    python benchmarks/ccg_integration.py ccg.npz dev.auto

The benchmark parses DEV with a model of `treebound train --system ccg`, by adaptive supertagging and by the reverse
order, with each decoder of the joint model (Auli & Lopez 2011, tables 4 and 6). It prints labelled and unlabelled
F-score, supertag accuracy, and sentences per second. It counts the sentences that are proved or have converged, and
the sentences whose joint score is below the optimum. The plain checker verifies the proofs of the --check shortest
sentences.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from goals import Row, option, report

from treebound.checker.joint_proofs import claim_faults
from treebound.core.treebank import Treebank
from treebound.systems.ccg.decoding import Adaptive
from treebound.systems.ccg.evaluation import evaluate
from treebound.systems.ccg.integration import ITERATIONS
from treebound.systems.ccg.joint import Analysis, Joint
from treebound.systems.ccg.joint_search import claim, search, statement
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.settings import ADAPTIVE, REVERSE, levels
from treebound.systems.ccg.system import Parser
from treebound.systems.ccg.training import read_derivations
from treebound.systems.ccg.words import words_of
from treebound.treebanks.document import read

DECODERS = (("exact", 0), ("none", 0), ("bp", 1), ("bp", 5), ("bp", 25), ("dd", 1), ("dd", 5), ("dd", 25))
SLOWER, MEMORY = 1.1, 2048  #: targets: CPU ratio of belief propagation with one iteration to none; peak memory in MiB


def measure(model: CCGModel, dev: Treebank, beams: tuple[str, ...], repeats: int, title: str) -> list[Row]:
    """Print one line per decoder, and return the figures that have a target.

    The exact search runs first, because its optimum is the reference for the other decoders.
    """
    taken: dict[tuple[str, int], float] = {}
    shares = []
    gold, optimum = read_derivations(dev, model.meta["tag"]), np.empty(0)
    for name, iterations in DECODERS:
        parser = Parser(model, beams=beams, integrate=name, iterations=iterations)
        parser.parse(dev.select(np.arange(min(3, len(dev)))))  # loads the compiled code
        seconds = []
        for _ in range(repeats):
            started = time.process_time()
            parses = parser.parse(dev)
            seconds.append(time.process_time() - started)
        taken[name, iterations] = min(seconds)
        analyses = [parse.record for parse in parses]
        scores, joint = evaluate(gold, analyses).summary(), [a.joint for a in analyses if a.joint]
        values = np.array([a.value for a in joint])
        if name == "exact":
            optimum = values
            shares.append(100 * float(np.mean([a.converged for a in joint])) if joint else np.nan)
        line = f"{name:5} {iterations or '':>2} {len(dev) / min(seconds):7.1f} sentences/s"
        line += "".join(f", {key} {scores[key]:.2f}" for key in ("LF", "UF", "ST", "coverage"))
        if joint:
            line += f", proved or converged {sum(a.converged for a in joint)} of {len(joint)}"
            line += f", below the optimum {int((values < optimum).sum())}"
            line += f", nodes {sum(a.nodes for a in joint)}, maximum {max(a.nodes for a in joint)}"
        print(line, flush=True)
    slower = taken["bp", 1] / taken["none", 0]
    return [
        Row(f"{title}: joint optimum proved, % of the sentences with a chart", shares[0], 100),
        Row(f"{title}: one iteration of belief propagation to none, CPU", slower, SLOWER, more=False),
    ]


def check(model: CCGModel, dev: Treebank, count: int) -> int:
    """Check the proofs of the shortest sentences in reverse order, and return the number of faulty proofs."""
    short = dev.select(np.argsort(np.diff(dev.offsets), kind="stable")[:count])
    faulty: list[str] = []
    sizes: list[int] = []

    def proved(joint: Joint) -> Analysis:
        result = search(joint, ITERATIONS["exact"], 1000)
        assert result is not None
        faulty.extend(claim_faults(statement(joint), claim(joint, *result)))
        sizes.append(len(result[1]))
        return result[0]

    weights = model.weights.astype(np.float64)
    Adaptive(model.tagger, model.made_grammar(), weights, levels(REVERSE), model.spec.limit, proved).parse(
        words_of(short, model.meta["tag"])
    )
    print(f"{len(sizes)} proofs of {sum(sizes)} nodes checked, {len(faulty)} with faults", *faulty[:3])
    return len(faulty)


def main() -> None:
    """Measure every decoder with both orders of beams, print the tables, and check some proofs."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("model", type=Path, help="model file")
    cli.add_argument("dev", type=Path, help="development treebank")
    cli.add_argument(
        "--sentences", type=int, default=0, help="Number of sentences from the start of DEV. Default: 0, all sentences."
    )
    cli.add_argument("--repeats", type=int, default=3, help="Number of runs; the fastest one counts. Default: 3.")
    cli.add_argument("--check", type=int, default=20, help="Number of proofs to check. Default: 20.")
    option(cli)
    arguments = cli.parse_args()
    model, dev = CCGModel.load(arguments.model), read(arguments.dev).treebank
    dev = dev.select(np.arange(min(arguments.sentences or len(dev), len(dev))))
    rows, corpus = [], f"CCG, {arguments.dev.resolve().parent.name}/{arguments.dev.stem}"
    for name, beams in (("adaptive", ADAPTIVE), ("reverse", REVERSE)):
        print(f"{name} supertagging, {len(dev)} sentences", flush=True)
        rows += measure(model, dev, beams, arguments.repeats, f"{corpus}, {name}")
    faults = check(model, dev, arguments.check)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report([*rows, Row(f"{corpus}, joint model: peak memory, MiB", memory, MEMORY, more=False)], arguments.keep)
    if faults:
        raise SystemExit("The checker rejected a proof; see the output above.")


if __name__ == "__main__":
    main()
