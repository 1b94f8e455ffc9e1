"""Stage: train with an approximate decoder in the loop, to test whether learning repairs or suffers from search errors.

The base system of the stage `steps` is trained once with each of several decoders of the stage `approximations`. Each
of them replaces the decoder with which the base system is normally trained. The stored model comes from the epoch with
the best accuracy on dev, measured with the decoder of training. Each model then parses dev both with the decoder of its
training and with exact search. The model that was trained with exact search also parses dev with every decoder, so that
two models can be compared under the same decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.across.approximations.contestants import CONTESTANTS, EXACT
from studies.across.in_the_loop.settings import InTheLoop
from studies.common import stage
from studies.common.corpus import checksum, load, tags_of
from studies.common.params import Params
from studies.pipeline.trainers.graph import specification
from studies.qian_liu_2013.steps.settings import Steps
from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.metrics.attachment import evaluate, marks
from treebound.systems.graph.candidates import pruner_for
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import Search, accuracy, train

#: name of a trainer -> its decoder in `approximations`. The decoders are about as fast as exact search
TRAINERS: dict[str, str] = {
    "exact": EXACT,
    "capped-1": "capped, 1",
    "backbone-only": "backbone only",
    "reranked-50": "reranked, 50",
    "beam-1": "beam, 1",
    "beam-8": "beam, 8",
    "beam-64": "beam, 64",
    "climbing": "climbing",
    "dual-decomposition-30": "dual decomposition, 30",
    "belief-propagation": "belief propagation",
}
SPLIT = "dev"
FOLDER = stage.METRICS / "in-the-loop"


def how(trainer: str, spec: Settings | None = None) -> Search:
    """Return the registered name and the options of the decoder with which a trainer trains.

    trainer  a key of `TRAINERS`
    spec     settings whose limit on dynamic-program calls applies to exact search; None means no limit
    """
    name = TRAINERS[trainer]
    if name != EXACT:
        return CONTESTANTS[name].decoder, dict(CONTESTANTS[name].options)
    return CONTESTANTS[name].decoder, {"max_dp_calls": spec.max_dp_calls} if spec else {}


def _labels(model: Model, parses: Sequence[Parse]) -> list[list[str]] | None:
    """Return the names of the labels of every parse, or None if the model does not predict labels."""
    return [model.label_names(parse) for parse in parses] if model.labelling.names else None


def parsed(model: Model, dev: Treebank, trainers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Parse the development set with a model and the decoder of each trainer, and evaluate the trees.

    `trainers` must contain "exact", whose decoder runs without a limit. Besides the attachment scores, the results for
    each trainer are:

    best           number of sentences whose tree scores as much as the tree of exact search
    search_errors  number of wrong trees that score less than the gold tree
    certified      number of sentences with a proof
    right          marks of the correct words of every sentence, see `attachment.marks`
    """
    parses = {}
    for trainer in trainers:
        decoder, options = how(trainer)
        parses[trainer] = Parser(model, decoder, **options).parse(dev)
    optimum = np.array([parse.value for parse in parses["exact"]])
    gold = np.array(Parser(model).scores_of_trees(dev))
    out = {}
    for trainer, trainer_parses in parses.items():
        heads, labels = [parse.heads for parse in trainer_parses], _labels(model, trainer_parses)
        score = evaluate(dev, heads, labels)
        values = np.array([parse.value for parse in trainer_parses])
        wrong = score.sentences["correct"] < score.sentences["scored"]
        out[trainer] = score.summary | {
            "best": int((values >= optimum).sum()),
            "search_errors": int((wrong & (gold > values)).sum()),
            "certified": sum(parse.certified for parse in trainer_parses),
            "right": marks(dev, heads, labels),
        }
    return out


def run(params: Params, corpus: str, trainer: str) -> None:
    """Train with the decoder of a trainer, and write the results of this decoder and of exact search on dev.

    Raises InputError if `trainer` is no key of `TRAINERS`, or if the model is not projective.
    """
    steps = params.section(Steps)
    if trainer not in TRAINERS:
        raise InputError(f"no trainer {trainer!r}", hint=f"choose from {', '.join(TRAINERS)}")
    limit = params.limit("train", params.section(InTheLoop).train)
    examples, dev = load(corpus, "train", limit), load(corpus, SPLIT, params.limit(SPLIT))
    spec = specification(params, steps.model, examples, params.seed)
    if spec.space != "projective":
        raise InputError(
            f"{steps.model}: the model is not projective", path="params.yaml", hint="choose a projective model"
        )

    def progress(sentences: Any, what: str) -> Any:
        stage.say(f"{corpus} {trainer}: {what}")
        return sentences

    checkpoint = stage.CHECKPOINTS / f"{corpus}.in-the-loop.{trainer}.npz"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    pruner, search = pruner_for(spec, examples), how(trainer, spec)
    model = train(spec, examples, dev, pruner, decoder=search, checkpoint=checkpoint, progress=progress)
    scores = parsed(model, dev, params.section(InTheLoop).trainers if trainer == "exact" else ("exact", trainer))
    best = max(model.history, key=accuracy)["epoch"]
    stage.say(
        f"{corpus} {trainer}: dev UAS {scores[trainer]['uas']:.2f}, with exact search {scores['exact']['uas']:.2f}"
    )
    metrics = {"history": model.history, "best_epoch": best, "training_sentences": len(examples)}
    metrics |= {"corpus_checksum": checksum(corpus, SPLIT), "tags": tags_of(corpus)}
    stage.write_metrics(FOLDER / corpus / f"{trainer}.json", metrics | {"parsed": scores})


if __name__ == "__main__":
    stage.main(run)
