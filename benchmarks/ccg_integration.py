"""Supertagger and parser together: scores, sentences per CPU second, what is proved, and how far from the best.

    python benchmarks/ccg_integration.py ccg.npz dev.auto

parses DEV with a model of `treebound train --system ccg` by adaptive supertagging and by its reverse, with each decoder
of the joint model (Auli & Lopez 2011, tables 4 and 6): labelled and unlabelled F-score, supertag accuracy, sentences a
second, sentences that are proved or have converged, and those whose joint score is less than the optimum. Proofs of the
--check shortest sentences are checked by plain code.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from goals import Row, option, told

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
SLOWER, MEMORY = 1.1, 2048  #: targets: CPU of one iteration of belief propagation to that of none, MiB


def measure(model: CCGModel, dev: Treebank, beams: tuple[str, ...], repeats: int, what: str) -> list[Row]:
    """A line for each decoder; the search comes first, as the others are held against it. What has a target."""
    taken: dict[tuple[str, int], float] = {}
    shares = []
    gold, optimum = read_derivations(dev, model.meta["tag"]), np.empty(0)
    for name, iterations in DECODERS:
        parser = Parser(model, beams=beams, integrate=name, iterations=iterations)
        parser.parse(dev.select(np.arange(min(3, len(dev)))))  # compiled code is loaded
        seconds = []
        for _ in range(repeats):
            started = time.process_time()
            parses = parser.parse(dev)
            seconds.append(time.process_time() - started)
        taken[name, iterations] = min(seconds)
        found = [parse.record for parse in parses]
        scores, joint = evaluate(gold, found).summary(), [one.joint for one in found if one.joint]
        values = np.array([one.value for one in joint])
        if name == "exact":
            optimum = values
            shares.append(100 * float(np.mean([one.converged for one in joint])) if joint else np.nan)
        said = f"{name:5} {iterations or '':>2} {len(dev) / min(seconds):7.1f} sentences/s"
        said += "".join(f", {key} {scores[key]:.2f}" for key in ("LF", "UF", "ST", "coverage"))
        if joint:
            said += f", proved or converged {sum(one.converged for one in joint)} of {len(joint)}"
            said += f", less than the optimum {int((values < optimum).sum())}"
            said += f", nodes {sum(one.nodes for one in joint)}, most {max(one.nodes for one in joint)}"
        print(said, flush=True)
    slower = taken["bp", 1] / taken["none", 0]
    return [
        Row(f"{what}: joint optimum proved, % of the sentences with a chart", shares[0], 100),
        Row(f"{what}: one iteration of belief propagation to none, CPU", slower, SLOWER, more=False),
    ]


def check(model: CCGModel, dev: Treebank, count: int) -> int:
    """Proofs of the shortest sentences, by the reverse; how many have faults."""
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
    """The tables."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("model", type=Path)
    cli.add_argument("dev", type=Path)
    cli.add_argument("--sentences", type=int, default=0, help="the first so many; 0: all")
    cli.add_argument("--repeats", type=int, default=3, help="the fastest of so many runs counts")
    cli.add_argument("--check", type=int, default=20, help="proofs to check")
    option(cli)
    given = cli.parse_args()
    model, dev = CCGModel.load(given.model), read(given.dev).treebank
    dev = dev.select(np.arange(min(given.sentences or len(dev), len(dev))))
    rows, corpus = [], f"CCG, {given.dev.resolve().parent.name}/{given.dev.stem}"
    for name, beams in (("adaptive", ADAPTIVE), ("reverse", REVERSE)):
        print(f"{name} supertagging, {len(dev)} sentences", flush=True)
        rows += measure(model, dev, beams, given.repeats, f"{corpus}, {name}")
    faults = check(model, dev, given.check)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told([*rows, Row(f"{corpus}, joint model: peak memory, MiB", memory, MEMORY, more=False)], given.keep)
    if faults:
        raise SystemExit("a proof does not hold")


if __name__ == "__main__":
    main()
