"""Stage: what each approximation costs, in score and in accuracy, where the best tree is known. Runs alone, timed.

Every decoder gets the same scored sentences: of trained models, and made-up ones, dense, as no pruner has seen them. A
decoder that does not search a space, or does not score a family, is left out there. Of two proofs that contradict each
other one is wrong: the stage then fails and says where.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

import numpy as np
import pandas as pd

from studies.across.approximations.contestants import CONTESTANTS, Contestant
from studies.across.approximations.made_up import MADE_UP, made_up
from studies.across.approximations.settings import Approximations
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

WARM = 0.5
#: CPU ms: within how many of them so many optima were found, so many proved
WITHIN = tuple(round(10 ** (e / 4), 4) for e in range(-4, 17))


def made(contestant: Contestant, space: Space, settings: Approximations) -> Decoder | None:
    """The decoder of a contestant for a space; None if it does not search it."""
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
    """One row a contestant and sentence; value, bound and tolerance in units of the model's score.

    judge  (a parse a sentence) -> a row a sentence about its tree
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
    """Compile: what only some sentences call for as well, as long as that takes no more than `WARM` CPU seconds."""
    decoder.decode(scored[0])
    started = time.process_time()
    for problem in scored[1:]:
        if time.process_time() - started > WARM:
            return
        decoder.decode(problem)


def _row(problem: Problem, parse: Parse) -> dict[str, Any]:
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
    """What `contest` is to know of trees of a treebank: right words, and what the model gives the gold tree (-inf where
    it cannot be found).
    """
    projective = parser.decoder.space == "projective"
    value = [
        PartScore(problem).score(gold.heads(i)) / (problem.unit or 1.0)
        if in_space(gold.heads(i), projective, problem.single_root)
        else -np.inf
        for i, problem in enumerate(scored)
    ]

    def judge(parses: list[Parse]) -> pd.DataFrame:
        labels = [parser.label_names(parser.labelled(parse, gold, i)) for i, parse in enumerate(parses)]
        sentences = pd.DataFrame(evaluate(gold, [parse.heads for parse in parses], labels).sentences)
        kept = [c for c in ("scored", "correct", "correct_labelled") if c in sentences]
        return sentences[kept].assign(gold=value)

    return judge


def run(params: Params, corpus: str, model: str) -> None:
    """Write values and seconds of every decoder on the scores of a model; of the first one, on made-up scores as well.

    Raises TreeboundError where two decoders contradict each other.
    """
    settings = params.section(Approximations)
    test = load(corpus, "test")
    gold = test.select(np.array(evenly(test, settings.sentences)))
    tables, wrong = [], ""
    for space in get_args(Space):
        for name, scored, judge in _problems(settings, corpus, model, gold, space):
            data = contest(scored, space, settings, judge)
            tables.append(data.assign(model=name, space=space))
            stage.say(f"{corpus}: {name}, {space}: {data['seconds'].sum():.1f} s")
            if contradiction := disagreement(data):
                wrong = wrong or f"{corpus}: {name}, {space}: {contradiction}"
    whole = pd.concat(tables, ignore_index=True)
    path = stage.PREDICTIONS / corpus / "approximations" / f"{model}.csv"
    stage.write(path, whole.to_csv(index=False, lineterminator="\n"))
    if wrong:
        raise TreeboundError(wrong)
    sums = {"rows": summary(whole), "within": within(whole)}
    stage.write_metrics(stage.METRICS / "approximations" / corpus / f"{model}.json", sums)


def _problems(
    settings: Approximations, corpus: str, name: str, gold: Treebank, space: Space
) -> Iterator[tuple[str, list[Problem], Callable[[list[Parse]], pd.DataFrame]]]:
    """(name, scored sentences, judge of trees) of a model, then of made-up scores for sentences of such lengths."""
    parser = Parser(Model.load(model_file(corpus, name)), k=settings.k, space=space)
    scored = [parser.problem(gold, i) for i in range(len(gold))]
    yield name, scored, against(gold, parser, scored)
    if name != settings.models[0]:
        return
    lengths = [n for n in gold.lengths.tolist() if 2 <= n <= settings.longest][: settings.made_up]
    for kind in MADE_UP if lengths else ():
        scored = [made_up(kind, n, i, space) for i, n in enumerate(lengths)]
        yield kind, scored, lambda parses: pd.DataFrame(index=range(len(parses)))


#: what is known of a tree where there is a gold tree
COUNTS = ("scored", "correct", "correct_labelled")


def joined(data: pd.DataFrame) -> pd.DataFrame:
    """With the best value that any decoder found of a sentence, and what each tree is against it and against gold."""
    keys = ["model", "space", "sentence"]
    found = data[data["found"]].groupby(keys)["value"].max().rename("best")
    known = data.groupby(keys)["proved"].max().rename("known")
    data = data.join(found, on=keys).join(known, on=keys)
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
    """A row a model, space, decoder and bin of lengths (those longer than `longer_than`), in sums over sentences.

    best: a tree as good as the best that is known, which is `known` to be the best of all; gap: bound less that value,
    of those with a bound; loss: that value less the tree's; search_errors: wrong trees below the gold tree.
    """
    table = joined(data)
    table = table.assign(longer_than=np.array((0, *LENGTHS))[np.searchsorted(LENGTHS, table["n"])])
    rows = []
    for key, some in table.groupby(["model", "space", "solver", "longer_than"], sort=False):
        row: dict[str, Any] = dict(zip(("model", "space", "solver", "longer_than"), key, strict=True))
        row["longer_than"] = int(row["longer_than"])
        row |= {"sentences": len(some), "words": int(some["n"].sum()), "bounded": int(some["gap"].notna().sum())}
        row |= {name: int(some[name].sum()) for name in ("known", "proved", "found", "wrong")}
        row |= {"best": int(some["is_best"].sum()), "search_errors": int(some["search_error"].sum())}
        row |= {name: float(some[name].sum()) for name in ("seconds", "gap", "loss")}
        row |= {name: int(some[name].sum()) if some[name].notna().all() else None for name in COUNTS}
        rows.append(row | {"slowest": float(some["seconds"].max())})
    return rows


def within(data: pd.DataFrame) -> list[dict[str, Any]]:
    """A row a model, space and decoder: of how many sentences it had the best tree, a proof, within so many CPU ms."""
    rows = []
    for (model, space, solver), some in joined(data).groupby(["model", "space", "solver"], sort=False):
        ms = 1e3 * some["seconds"].to_numpy()
        row = {"model": model, "space": space, "solver": solver, "sentences": len(some)}
        for name, of in (("best", some["is_best"]), ("proved", some["proved"])):
            row[name] = [int(((ms <= limit) & of.to_numpy(bool)).sum()) for limit in WITHIN]
        rows.append(row)
    return rows


if __name__ == "__main__":
    stage.main(run)
