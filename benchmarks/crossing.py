"""Do two exact decoders agree where arcs may cross? Branch and bound against the integer program, on real sentences.

    python benchmarks/crossing.py nl_lassysmall el_gdt tr_imst eu_conll07

trains a small non-projective model with every factor family on each corpus, and decodes its sentences whose annotated
trees are not projective with both. Optimal scores are integers and must be equal; it fails otherwise. Proofs of the
search are checked as well. Corpora have to be converted (`treebound convert`).
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from goals import Row, option, told

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


def crossing(treebank: Treebank, longest: int, wanted: int) -> Treebank:
    """Its first sentences of up to `longest` words whose trees are not projective."""
    some = [i for i in range(len(treebank)) if treebank.lengths[i] <= longest and not is_projective(treebank.heads(i))]
    return treebank.select(np.array(some[:wanted], np.int64))


def main() -> int:
    """Exit status 1 if anything disagrees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--sentences", type=int, default=70, help="of each corpus")
    parser.add_argument("--longest", type=int, default=14, help="words of a sentence")
    parser.add_argument("--train", type=int, default=600, help="sentences to train on")
    parser.add_argument("-k", type=int, default=5, help="heads that the pruner keeps for each word")
    option(parser)
    given = parser.parse_args()
    families = tuple(f for f in FAMILIES if f not in ("arc", "pattern"))
    faults = total = 0
    print("corpus sentences arcs_that_cross dp_calls search_s ilp_s disagreements")
    for corpus in given.corpora:
        examples, dev = load(corpus, "train", given.train, "gold"), load(corpus, "dev", 50, "gold")
        pruner = train_pruner(examples, epochs=3, bits=18, seed=1)
        spec = Settings(families, epochs=2, k=given.k, bits=18, max_dp_calls=100, space="non-projective")
        model = train(spec, examples, dev, pruner)
        search = Parser(model, record=True)
        judge = DECODERS["ilp"](space="non-projective")
        chosen = crossing(load(corpus, "train", tags="gold"), given.longest, given.sentences)
        calls, crossed, wrong, seconds = 0, 0, 0, [0.0, 0.0]
        for i in range(len(chosen)):
            problem = search.problem(chosen, i)
            started = time.process_time()
            ours = search.decoder.decode(problem)
            middle = time.process_time()
            theirs = judge.decode(problem)
            seconds[0] += middle - started
            seconds[1] += time.process_time() - middle
            found = check_parse(problem, ours, certificate(ours.record), "non-projective")
            if ours.value != theirs.value or not ours.certified or found:
                wrong += 1
                print(f"{corpus} sentence {i}: {ours.value} ({ours.status}), {theirs.value}; {found}", file=sys.stderr)
            calls += ours.work["dp_calls"]
            crossed += not is_projective(ours.heads)
        mean = calls / max(1, len(chosen))
        print(f"{corpus} {len(chosen)} {crossed} {mean:.1f} {seconds[0]:.2f} {seconds[1]:.2f} {wrong}", flush=True)
        total += len(chosen)
        faults += wrong
    note = f"of {total} sentences"
    told([Row("crossing trees: disagreements of exact decoders", faults, 0, more=False, note=note)], given.keep)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
