"""Stage: measure the cost of each approximation in score, accuracy and time, compared with exact search.

The stage is timed and runs alone. All decoders parse the same sentences. One set is scored by trained models; the
other has synthetic scores of all arcs and parts, without a pruner. A decoder is skipped for spaces and factor families
that it cannot handle. If two proofs contradict each other, one of them is wrong; the stage then fails and names the
sentence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

import numpy as np
import pandas as pd

from studies.across.approximations.contestants import CONTESTANTS, Contestant
from studies.across.approximations.settings import Approximations
from studies.across.approximations.synthetic import SYNTHETIC, synthetic
from studies.common import stage
from studies.common.corpus import evenly, load
from studies.common.params import Params
from studies.common.paths import model_file
from studies.common.solvers import LENGTHS, TOLERANCE, disagreement, timed
from treebound.core.errors import InputError, TreeboundError
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder
from treebound.core.spaces import Space
from treebound.core.treebank import Treebank
from treebound.decoders import DECODERS
from treebound.features.tree_score import PartScore
from treebound.metrics.attachment import evaluate
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.treebanks.projectivise import in_space

#: CPU seconds after which the warm-up of a decoder ends
WARM = 0.5
#: time limits, in CPU ms, within which `within` counts best trees and proofs
WITHIN = tuple(round(10 ** (e / 4), 4) for e in range(-4, 17))


def made(contestant: Contestant, space: Space, settings: Approximations) -> Decoder | None:
    """Make the decoder of a contestant for a space of trees, or return None if the decoder cannot search this space."""
    options = {**contestant.options} | {name: getattr(settings, field) for name, field in contestant.settings.items()}
    decoder = DECODERS[contestant.decoder](**options)
    if decoder.space == space:
        return decoder
    try:
        return DECODERS[contestant.decoder](space=space, **options)
    except InputError:
        return None


def contest(
    scored: Sequence[Problem], space: Space, settings: Approximations, judge: Callable[[list[Parse]], pd.DataFrame]
) -> pd.DataFrame:
    """Decode sentences with every contestant. Return one row per contestant and sentence.

    The columns value, bound and tolerance are on the scale of the scores of the model.

    judge  function from the parses of all sentences to a table that evaluates the trees, with one row per sentence
    """
    tables = []
    families = frozenset().union(*(problem.families for problem in scored))
    for name, contestant in CONTESTANTS.items():
        decoder = made(contestant, space, settings)
        if decoder is None or not families <= decoder.supports:
            continue
        _warm(decoder, scored)
        parses, seconds = zip(*(timed(decoder, problem) for problem in scored), strict=True)
        rows = [_row(problem, parse) for problem, parse in zip(scored, parses, strict=True)]
        about = pd.DataFrame(rows).assign(solver=name, sentence=range(len(scored)), seconds=seconds)
        tables.append(pd.concat([about, judge(list(parses))], axis=1))
    return pd.concat(tables, ignore_index=True)


def _warm(decoder: Decoder, scored: Sequence[Problem]) -> None:
    """Decode sentences without timing, to compile all kernels, until `WARM` CPU seconds have passed.

    More than one sentence is decoded because not every sentence uses all kernels.
    """
    decoder.decode(scored[0])
    start = time.process_time()
    for problem in scored[1:]:
        if time.process_time() - start > WARM:
            return
        decoder.decode(problem)


def _row(problem: Problem, parse: Parse) -> dict[str, Any]:
    """Return length, value, bound and tolerance of one sentence, and whether a tree was found and proved."""
    unit = problem.unit or 1.0
    scores = (problem.arc, *(table.score for table in problem.parts.values()))
    largest = max(float(np.abs(s[np.isfinite(s)]).max(initial=0.0)) for s in scores)
    return {
        "n": problem.n,
        "value": parse.value / unit,
        "bound": parse.bound / unit,
        "tolerance": TOLERANCE * largest / unit,
        "found": bool(np.isfinite(parse.value)) and not parse.work.get("fallback", 0),
        "proved": parse.certified,
    }


def against(gold: Treebank, parser: Parser, scored: Sequence[Problem]) -> Callable[[list[Parse]], pd.DataFrame]:
    """Return the argument `judge` of `contest`: a function that evaluates parses of a treebank by its gold trees.

    The function counts the correct words of each tree. It also reports the score that the model gives the gold tree;
    this score is -inf if the gold tree is not in the space.
    """
    projective = parser.decoder.space == "projective"
    gold_scores = [
        PartScore(problem).score(gold.heads(i)) / (problem.unit or 1.0)
        if in_space(gold.heads(i), projective, problem.single_root)
        else -np.inf
        for i, problem in enumerate(scored)
    ]

    def judge(parses: list[Parse]) -> pd.DataFrame:
        """Count the correct words of each tree, and add the score of the gold tree."""
        labels = [parser.label_names(parser.labelled(parse, gold, i)) for i, parse in enumerate(parses)]
        sentences = pd.DataFrame(evaluate(gold, [parse.heads for parse in parses], labels).sentences)
        names = [c for c in ("scored", "correct", "correct_labelled") if c in sentences]
        return sentences[names].assign(gold=gold_scores)

    return judge


def run(params: Params, corpus: str, model: str) -> None:
    """Write the values and CPU seconds of every decoder on the scores of a model.

    For the first model of the settings, also write the values and CPU seconds on synthetic scores. Raises
    TreeboundError if two decoders contradict each other.
    """
    settings = params.section(Approximations)
    test = load(corpus, "test")
    gold = test.select(np.array(evenly(test, settings.sentences)))
    tables, first_contradiction = [], ""
    for space in get_args(Space):
        for name, scored, judge in _problems(settings, corpus, model, gold, space):
            data = contest(scored, space, settings, judge)
            tables.append(data.assign(model=name, space=space))
            stage.say(f"{corpus}: {name}, {space}: {data['seconds'].sum():.1f} s")
            if contradiction := disagreement(data):
                first_contradiction = first_contradiction or f"{corpus}: {name}, {space}: {contradiction}"
    whole = pd.concat(tables, ignore_index=True)
    path = stage.PREDICTIONS / corpus / "approximations" / f"{model}.csv"
    stage.write(path, whole.to_csv(index=False, lineterminator="\n"))
    if first_contradiction:
        raise TreeboundError(first_contradiction)
    sums = {"rows": summary(whole), "within": within(whole)}
    stage.write_metrics(stage.METRICS / "approximations" / corpus / f"{model}.json", sums)


def _problems(
    settings: Approximations, corpus: str, name: str, gold: Treebank, space: Space
) -> Iterator[tuple[str, list[Problem], Callable[[list[Parse]], pd.DataFrame]]]:
    """Yield (name, scored sentences, judge): first with the scores of a model, then with synthetic scores.

    The function `judge` is an argument of `contest`. Only the first model of the settings is followed by synthetic
    scores, one result per kind. Sentences with synthetic scores have the lengths of sentences in `gold`.

    name  name of the model
    """
    parser = Parser(Model.load(model_file(corpus, name)), k=settings.k, space=space)
    scored = [parser.problem(gold, i) for i in range(len(gold))]
    yield name, scored, against(gold, parser, scored)
    if name != settings.models[0]:
        return
    lengths = [n for n in gold.lengths.tolist() if 2 <= n <= settings.longest][: settings.synthetic]
    for kind in SYNTHETIC if lengths else ():
        scored = [synthetic(kind, n, i, space) for i, n in enumerate(lengths)]
        yield kind, scored, lambda parses: pd.DataFrame(index=range(len(parses)))


#: counts that exist only for sentences with a gold tree
COUNTS = ("scored", "correct", "correct_labelled")


def joined(data: pd.DataFrame) -> pd.DataFrame:
    """Compare each tree with the best value that any decoder found for its sentence, and with the gold tree.

    Adds these columns to the table of `contest`:

    best          best value that any decoder found for the sentence
    known         whether a decoder proved the best tree of the sentence
    is_best       whether the tree scores as much as `best`
    gap           bound of the decoder minus `best`; NaN for an infinite bound
    loss          `best` minus the value of the tree; NaN if the decoder found no tree
    wrong         whether the tree has a wrong head
    search_error  whether the tree is wrong and scores less than the gold tree
    """
    keys = ["model", "space", "sentence"]
    best = data[data["found"]].groupby(keys)["value"].max().rename("best")
    known = data.groupby(keys)["proved"].max().rename("known")
    data = data.join(best, on=keys).join(known, on=keys)
    data = data.assign(**{name: np.nan for name in (*COUNTS, "gold") if name not in data})
    wrong = data["scored"].notna() & (data["correct"] < data["scored"])
    return data.assign(
        is_best=data["found"] & (data["value"] >= data["best"] - data["tolerance"]),
        gap=(data["bound"] - data["best"]).clip(lower=0.0).replace(np.inf, np.nan),
        loss=(data["best"] - data["value"]).clip(lower=0.0).where(data["found"]),
        wrong=wrong,
        search_error=wrong & (data["gold"] > data["value"] + data["tolerance"]),
    )


def summary(data: pd.DataFrame) -> list[dict[str, Any]]:
    """Sum the measures over sentences, one row per model, space, decoder and length bin (`longer_than` words).

    The columns with a special meaning are:

    best           sentences whose tree scores as much as the best tree that any decoder found
    known          sentences whose best tree is proved by at least one decoder
    gap            bound minus the best value, over sentences with a finite bound
    loss           best value minus the value of the tree
    search_errors  wrong trees that score less than the gold tree
    """
    table = joined(data)
    table = table.assign(longer_than=np.array((0, *LENGTHS))[np.searchsorted(LENGTHS, table["n"])])
    rows = []
    for key, group in table.groupby(["model", "space", "solver", "longer_than"], sort=False):
        row: dict[str, Any] = dict(zip(("model", "space", "solver", "longer_than"), key, strict=True))
        row["longer_than"] = int(row["longer_than"])
        row |= {"sentences": len(group), "words": int(group["n"].sum()), "bounded": int(group["gap"].notna().sum())}
        row |= {name: int(group[name].sum()) for name in ("known", "proved", "found", "wrong")}
        row |= {"best": int(group["is_best"].sum()), "search_errors": int(group["search_error"].sum())}
        row |= {name: float(group[name].sum()) for name in ("seconds", "gap", "loss")}
        row |= {name: int(group[name].sum()) if group[name].notna().all() else None for name in COUNTS}
        rows.append(row | {"slowest": float(group["seconds"].max())})
    return rows


def within(data: pd.DataFrame) -> list[dict[str, Any]]:
    """Count the sentences that a decoder solves within each time limit of `WITHIN`.

    Returns one row per model, space and decoder. The list `best` counts the sentences whose best tree the decoder finds
    within each limit. The list `proved` counts the sentences with a proof within each limit.
    """
    rows = []
    for (model, space, solver), group in joined(data).groupby(["model", "space", "solver"], sort=False):
        ms = 1e3 * group["seconds"].to_numpy()
        row = {"model": model, "space": space, "solver": solver, "sentences": len(group)}
        for name, reached in (("best", group["is_best"]), ("proved", group["proved"])):
            row[name] = [int(((ms <= limit) & reached.to_numpy(bool)).sum()) for limit in WITHIN]
        rows.append(row)
    return rows


if __name__ == "__main__":
    stage.main(run)
