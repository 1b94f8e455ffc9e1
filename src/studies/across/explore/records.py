"""Decode the forty sentences and record how each tree is found, its alternatives and the rules that trees break.

    python -m studies.across.explore.records [--corpus en_ewt] [--sentences 0] [--out results/reference/explore.json]

The command trains taggers and a model on a converted corpus and writes the file that the page of the reference reads.
It takes about three minutes on two cores.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from studies.across.explore.breaches import UD, Breach, Rules
from studies.across.explore.models import Trained, trained
from studies.across.explore.stored import DIGITS, NAME, Origin, Proof, Search, Sentence, Stored, Tree, write
from studies.qian_liu_2013.confidence.measure import fitted_scale
from studies.site.command import status
from studies.site.playground import tagged
from treebound.checker.certificates import check_parse
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.treebank import Treebank
from treebound.decoders.confidence import Assess
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, BranchAndBound
from treebound.decoders.exact.branch_and_bound.record import certificate
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.validity import words_of

TREES = 5  #: number of best trees of each sentence
CALLS = 400  #: limit of dynamic-program calls of the stored search
#: options of the stored search: one step of the multipliers in each node, so that it has more nodes than by default
STEPS: dict[str, int] = {"root_steps": 1, "node_steps": 1, "stars": 0, "max_dp_calls": CALLS}
NONE_YET = 1e15  #: a larger score means that there is no tree, or no tree yet


def sentences() -> list[str]:
    """Return the forty sentences, with a space between words. We wrote them; no treebank contains them."""
    return files(__package__).joinpath("sentences.txt").read_text(encoding="utf-8").splitlines()


def options(parser: Parser) -> dict[str, Any]:
    """Return the options of the search whose steps are stored.

    A projective parser gets the smallest backbone that supports all factor families of the model, if there is one.
    """
    families = frozenset(parser.model.spec.families) | {"arc"}
    if parser.decoder.space == "non-projective":
        return dict(STEPS)
    names = [name for name, backbone in BACKBONES.items() if backbone.space == "projective"]
    backbone = next((name for name in names if families <= BranchAndBound(backbone=name).supports), None)
    return {**({"backbone": backbone} if backbone else {}), **STEPS}


@dataclass
class Recorder:
    """A parser that decodes sentences and records searches, alternatives and broken rules.

    scale   number that multiplies the scores before probabilities are computed
    broken  (set, rule) -> number, for every rule that some tree has broken so far
    """

    parser: Parser
    rules: Rules
    scale: float
    broken: dict[tuple[str, str], int] = field(default_factory=dict)

    def sentence(self, treebank: Treebank) -> Sentence:
        """Decode the first sentence of a treebank and return its record."""
        problem, parser = self.parser.problem(treebank, 0), self.parser
        space = parser.decoder.space
        default = BranchAndBound(record=True, space=space)
        parse = default.decode(problem)
        assess = Assess(margins=True, marginals=True, k=TREES, scale=self.scale)
        confidence = assess(default, problem, parse).confidence
        assert confidence is not None
        assert confidence.margins is not None
        assert confidence.marginals is not None
        unit = problem.unit or 1.0
        best, *others = [self._tree(treebank, tree, unit) for tree in confidence.trees]
        proof = Proof(parse.status, parse.work["dp_calls"], parse.work["nodes"], _faults(problem, parse, space))
        words = treebank[0]
        return Sentence(
            words.strings("form"),
            words.strings("upos"),
            [best, *others],
            confidence.complete,
            self._valid(treebank, best, problem),
            [_rounded(margin / unit) for margin in confidence.margins[1:]],
            [_rounded(p) for p in confidence.marginals[1:]],
            self._search(treebank, problem, confidence.trees),
            proof,
        )

    def _tree(self, treebank: Treebank, parse: Parse, unit: float) -> Tree:
        """Return a tree with the labels that the model chooses, and with the rules that it breaks."""
        names = list(self.rules.names)
        score, heads = float(round(parse.value / unit, DIGITS)), parse.heads[1:].tolist()
        if not names:
            return Tree(score, heads, [], [])
        labelled = parse if parse.labels is not None else self.parser.labelled(parse, treebank, 0)
        labels = self.parser.label_names(labelled)
        broken = self.rules.broken(words_of(treebank, 0), parse.heads, labels)
        return Tree(
            score, heads, [names.index(label) for label in labels], [self._numbered(breach) for breach in broken]
        )

    def _numbered(self, breach: Breach) -> tuple[int, list[int]]:
        """Return (number of the rule, its words) for a broken rule. A rule without a number gets the next one."""
        rules, rule, words = breach
        return self.broken.setdefault((rules, rule), len(self.broken)), list(words)

    def _valid(self, treebank: Treebank, best: Tree, problem: Problem) -> Tree | None:
        """Return the best valid tree if the best tree breaks a rule of Universal Dependencies, and None otherwise."""
        universal = {number for (rules, _), number in self.broken.items() if rules == UD}
        if self.parser.model.labelling.joint is None or not any(rule in universal for rule, _ in best.broken):
            return None
        valid = Parser(self.parser.model, valid=self.rules.universal).parse(treebank)[0]
        return self._tree(treebank, valid, problem.unit or 1.0) if valid.work.get("valid") else None

    def _search(self, treebank: Treebank, problem: Problem, known: Sequence[Parse]) -> Search:
        """Run the search that the page shows, and record its calls, nodes, incumbents and the check of its proof.

        The search itself reports the scores of its incumbents, but not the trees. The trees are found by repeating the
        search with every smaller limit on dynamic-program calls, or in `known`, by their scores. A tree found in
        neither way is recorded as None.

        known  the best trees of the sentence
        """
        chosen, space, unit = options(self.parser), self.parser.decoder.space, problem.unit or 1.0
        parse = BranchAndBound(record=True, space=space, **chosen).decode(problem)
        record = parse.record
        calls = [(int(c["node"]), float(round(c["ub"], DIGITS)), _rounded(c["lb"])) for c in record.bounds]
        nodes = [
            (n["parent"], *(n["arc"] or (-1, -1)), n["value"], _rounded(n["ub"]), int(n["status"] == "branched"))
            for n in record.nodes
        ]
        by_score = {_rounded(tree.value / unit): tree for tree in known}
        for limit in range(1, len(calls) + 1):
            short = BranchAndBound(space=space, **{**chosen, "max_dp_calls": limit}).decode(problem)
            by_score[_rounded(short.value / unit)] = short
        by_score[_rounded(parse.value / unit)] = parse
        scores = [lower for _, _, lower in calls]
        changes = [i for i, score in enumerate(scores) if score is not None and (i == 0 or score != scores[i - 1])]
        better = [(i + 1, by_score.get(scores[i])) for i in changes]
        best = [(call, None if tree is None else self._tree(treebank, tree, unit)) for call, tree in better]
        return Search(parse.status, _rounded(parse.bound / unit), calls, nodes, best, _faults(problem, parse, space))


def _faults(problem: Problem, parse: Parse, space: str) -> list[str]:
    """Return the faults that the independent checker finds in a parse with its proof."""
    return check_parse(problem, parse, certificate(parse.record), space)  # type: ignore[arg-type]


def _rounded(value: float) -> float | None:
    """Round a score to DIGITS decimals; None if there is no finite score."""
    return float(round(value, DIGITS)) if abs(value) < NONE_YET else None


def recorded(trained: Trained, texts: Sequence[str]) -> Stored:
    """Decode sentences with a model and return the content of the file."""
    parser, model, meta = trained.parser, trained.model, trained.dev.meta
    names = tuple(model.labelling.names)
    rules = Rules(names, trained.corpus, parser.decoder.space, parser.single_root)
    scale, _ = fitted_scale(parser, trained.taggers.apply(trained.dev))
    recorder = Recorder(parser, rules, scale)
    rows = [recorder.sentence(tagged(text, trained.taggers)) for text in texts]
    origin = Origin(
        corpus=trained.corpus,
        title=str(meta.get("title", trained.corpus)),
        licence=str(meta.get("licence", "")),
        model=trained.name,
        families=list(model.spec.families),
        heads=model.spec.k or 0,
        trained=trained.sentences,
        dev=len(trained.dev),
        measured={name: round(value, 2) for name, value in trained.measured().items()},
        options=options(parser),
        scale=float(scale),
    )
    return Stored(origin, list(names), list(recorder.broken), rules.applied, rows)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.across.explore.records", description="Decode the forty sentences of the page Explore."
    )
    parser.add_argument("--corpus", default="en_ewt", help="converted English corpus to train on (default: en_ewt)")
    parser.add_argument("--sentences", type=int, default=0, help="number of training sentences (default: 0, for all)")
    parser.add_argument("--root", type=Path, default=Path(), help="project folder with data/ (default: this folder)")
    parser.add_argument(
        "--out", type=Path, default=Path("results/reference") / NAME, help="file to write (default: %(default)s)"
    )
    args = parser.parse_args(argv)

    def work() -> None:
        write(recorded(trained(args.root, args.corpus, args.sentences), sentences()), args.out)

    return status(work)


if __name__ == "__main__":
    sys.exit(main())
