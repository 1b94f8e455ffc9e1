"""Check that two exact decoders agree over non-projective trees: branch and bound, and the integer program.

    python benchmarks/crossing.py nl_lassysmall el_gdt tr_imst eu_conll07

The benchmark trains a small non-projective model on each corpus, with every factor family except patterns. With both
decoders, it decodes short sentences whose annotated trees are not projective. Optimal scores are integers and must be
equal; otherwise the benchmark fails. It also checks the proofs of the search. `treebound convert` must have
converted the corpora.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from goals import Row, option, report

from studies.common.corpus import load
from treebound.checker.certificates import check_parse
from treebound.core.treebank import Treebank
from treebound.decoders import DECODERS
from treebound.decoders.exact.branch_and_bound.record import certificate
from treebound.factors import FAMILIES
from treebound.learning.pruner import train_pruner
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.treebanks.projectivise import is_projective


def crossing(treebank: Treebank, longest: int, count: int) -> Treebank:
    """Return the first sentences of up to `longest` words whose trees are not projective."""
    numbers = [
        i for i in range(len(treebank)) if treebank.lengths[i] <= longest and not is_projective(treebank.heads(i))
    ]
    return treebank.select(np.array(numbers[:count], np.int64))


def main() -> int:
    """Compare the decoders on every corpus, and return exit status 1 if they disagree or a proof fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", help="names of corpora in params.yaml")
    parser.add_argument("--sentences", type=int, default=70, help="Number of sentences of each corpus. Default: 70.")
    parser.add_argument("--longest", type=int, default=14, help="Largest number of words of a sentence. Default: 14.")
    parser.add_argument("--train", type=int, default=600, help="Number of sentences to train on. Default: 600.")
    parser.add_argument("-k", type=int, default=5, help="Number of candidate heads for each word. Default: 5.")
    option(parser)
    arguments = parser.parse_args()
    families = tuple(f for f in FAMILIES if f not in ("arc", "pattern"))
    faults = total = 0
    print("corpus sentences arcs_that_cross dp_calls search_s ilp_s disagreements")
    for corpus in arguments.corpora:
        examples, dev = load(corpus, "train", arguments.train, "gold"), load(corpus, "dev", 50, "gold")
        pruner = train_pruner(examples, epochs=3, bits=18, seed=1)
        spec = Settings(families, epochs=2, k=arguments.k, bits=18, max_dp_calls=100, space="non-projective")
        model = train(spec, examples, dev, pruner)
        search = Parser(model, record=True)
        judge = DECODERS["ilp"](space="non-projective")
        chosen = crossing(load(corpus, "train", tags="gold"), arguments.longest, arguments.sentences)
        calls, crossed, wrong, seconds = 0, 0, 0, [0.0, 0.0]
        for i in range(len(chosen)):
            problem = search.problem(chosen, i)
            started = time.process_time()
            ours = search.decoder.decode(problem)
            middle = time.process_time()
            theirs = judge.decode(problem)
            seconds[0] += middle - started
            seconds[1] += time.process_time() - middle
            proof_faults = check_parse(problem, ours, certificate(ours.record), "non-projective")
            if ours.value != theirs.value or not ours.certified or proof_faults:
                wrong += 1
                print(
                    f"{corpus} sentence {i}: {ours.value} ({ours.status}), {theirs.value}; {proof_faults}",
                    file=sys.stderr,
                )
            calls += ours.work["dp_calls"]
            crossed += not is_projective(ours.heads)
        mean = calls / max(1, len(chosen))
        print(f"{corpus} {len(chosen)} {crossed} {mean:.1f} {seconds[0]:.2f} {seconds[1]:.2f} {wrong}", flush=True)
        total += len(chosen)
        faults += wrong
    note = f"of {total} sentences"
    report([Row("crossing trees: disagreements of exact decoders", faults, 0, more=False, note=note)], arguments.keep)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
