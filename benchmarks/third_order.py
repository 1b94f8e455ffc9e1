"""Compare the third-order dynamic programs of Koo & Collins (2010) with branch and bound over smaller backbones.

    python benchmarks/third_order.py CORPUS... [--models FOLDER] [--model NAME] [--k 10] [--sentences N]

On every test sentence, branch and bound must find the same scores as the dynamic programs. With all grandchildren over
the first-order backbone, it must find the score of Model 0. With adjacent siblings, all grandchildren and
grand-siblings over the Carreras backbone, it must find the score of Model 1. Each comparison takes the scores of its
families from a trained model, FOLDER/CORPUS/NAME.npz. Families that the model lacks are left out and reported. Scores
are integers, so the comparison is exact. CPU seconds are for decoding. The benchmark fails if a score differs or a
sentence is not proved.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from studies.common.corpus import load
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder
from treebound.decoders import DECODERS
from treebound.systems.graph.parser import load as load_parser

#: dynamic program, backbone of branch and bound, and families of both
COMPARISONS = (
    ("koo-model0", "eisner", ("grandchild",)),
    ("koo-model1", "carreras", ("adjacent-sibling", "grandchild", "grand-sibling")),
)


def timed(decoder: Decoder, problems: Sequence[Problem]) -> tuple[list, float]:
    """Return (parses, CPU seconds) of a decoder."""
    decoder.decode(problems[0])  # compiles
    started = time.process_time()
    parses = [decoder.decode(problem) for problem in problems]
    return parses, time.process_time() - started


def compare(corpus: str, problems: Sequence[Problem], program: str, backbone: str, families: tuple[str, ...]) -> bool:
    """Print one comparison, and return whether no score differs and all sentences are proved."""
    scored = [f for f in families if f in problems[0].parts]
    search = DECODERS["branch-and-bound"](backbone=backbone)
    bounded = [f for f in scored if f in search.supports]
    problems = [dataclasses.replace(p, parts={f: p.parts[f] for f in bounded}) for p in problems]
    parses, seconds = timed(DECODERS[program](), problems)
    others, other_seconds = timed(search, problems)
    different = sum(x.value != y.value for x, y in zip(parses, others, strict=True))
    proved = sum(y.certified for y in others)
    calls = sum(y.work["dp_calls"] for y in others)
    without = [f for f in families if f not in bounded]
    print(
        f"{corpus:16} {program:11} {seconds:8.2f} s   {backbone:9} {other_seconds:8.2f} s {calls / len(problems):8.1f} "
        f"DP calls   {len(problems)} sentences, {different} differ, {len(problems) - proved} unproved"
        + (f"   (without {', '.join(without)})" if without else ""),
        flush=True,
    )
    return different == 0 and proved == len(problems)


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", metavar="CORPUS", help="names of corpora in params.yaml")
    parser.add_argument(
        "--models",
        type=Path,
        default=Path("results/models"),
        help="folder of the models of a run (default: %(default)s)",
    )
    parser.add_argument(
        "--model", default="carreras+grandchild+sibling", help="name of the model (default: %(default)s)"
    )
    parser.add_argument("--k", type=int, default=10, help="number of candidate heads per word (default: %(default)s)")
    parser.add_argument(
        "--sentences", type=int, help="Number of sentences from the start of the test split. Default: all."
    )
    arguments = parser.parse_args()
    same = True
    for corpus in arguments.corpora:
        scorer = load_parser(arguments.models / corpus / f"{arguments.model}.npz", k=arguments.k)
        test = load(corpus, "test", arguments.sentences)
        problems = [scorer.problem(test, i) for i in range(len(test))]
        for comparison in COMPARISONS:
            same &= compare(corpus, problems, *comparison)
    sys.exit(0 if same else "error: some scores differ or are not proved; see the output above")


if __name__ == "__main__":
    main()
