"""Stage: training with an approximate decoder in the loop: does learning repair the errors of its search, or suffer?

The base system of `steps` is trained once with each of a few decoders of `approximations` in the place of its own; the
epoch is kept that is best on dev as that decoder parses it. Dev is then parsed with the same decoder and exactly; of
the system trained as usual, with every one of them, so that what differs is what was learned.
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

#: decoders by the names of their trainings: those that take no longer than some exact searches
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
    """A decoder as registered, and its options; the exact one as `spec` limits it in training, without a limit else."""
    name = TRAINERS[trainer]
    if name != EXACT:
        return CONTESTANTS[name].decoder, dict(CONTESTANTS[name].options)
    return CONTESTANTS[name].decoder, {"max_dp_calls": spec.max_dp_calls} if spec else {}


def _labels(model: Model, parses: Sequence[Parse]) -> list[list[str]] | None:
    return [model.label_names(parse) for parse in parses] if model.labelling.names else None


def parsed(model: Model, dev: Treebank, trainers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What the decoder of each trainer makes of dev with a model; "exact", which must be one of them, without a limit.

    best: sentences whose tree scores as much as the exact search's; search_errors: wrong trees that score less than the
    gold tree; right: `marks`.
    """
    parses = {}
    for trainer in trainers:
        decoder, options = how(trainer)
        parses[trainer] = Parser(model, decoder, **options).parse(dev)
    most = np.array([parse.value for parse in parses["exact"]])
    gold = np.array(Parser(model).scores_of_trees(dev))
    out = {}
    for trainer, some in parses.items():
        heads, labels = [parse.heads for parse in some], _labels(model, some)
        score = evaluate(dev, heads, labels)
        value = np.array([parse.value for parse in some])
        wrong = score.sentences["correct"] < score.sentences["scored"]
        out[trainer] = score.summary | {
            "best": int((value >= most).sum()),
            "search_errors": int((wrong & (gold > value)).sum()),
            "certified": sum(parse.certified for parse in some),
            "right": marks(dev, heads, labels),
        }
    return out


def run(params: Params, corpus: str, trainer: str) -> None:
    """Train with a decoder and write what it and the exact search make of dev. InputError for one that is none of
    TRAINERS.
    """
    steps = params.section(Steps)
    if trainer not in TRAINERS:
        raise InputError(f"no trainer {trainer!r}", hint=f"choose from {', '.join(TRAINERS)}")
    examples, dev = (load(corpus, split, params.limit(split)) for split in ("train", SPLIT))
    spec = specification(params, steps.model, examples, params.seed)
    if spec.space != "projective":
        raise InputError(f"{steps.model}: trees that cross", path="params.yaml", hint="choose a projective model")

    def progress(sentences: Any, what: str) -> Any:
        stage.say(f"{corpus} {trainer}: {what}")
        return sentences

    checkpoint = stage.CHECKPOINTS / f"{corpus}.in-the-loop.{trainer}.npz"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    pruner, loop = pruner_for(spec, examples), how(trainer, spec)
    model = train(spec, examples, dev, pruner, decoder=loop, checkpoint=checkpoint, progress=progress)
    found = parsed(model, dev, params.section(InTheLoop).trainers if trainer == "exact" else ("exact", trainer))
    best = max(model.history, key=accuracy)["epoch"]
    stage.say(f"{corpus} {trainer}: dev UAS {found[trainer]['uas']:.2f}, exactly {found['exact']['uas']:.2f}")
    about = {"history": model.history, "best_epoch": best, "training_sentences": len(examples)}
    about |= {"corpus_checksum": checksum(corpus, SPLIT), "tags": tags_of(corpus)}
    stage.write_metrics(FOLDER / corpus / f"{trainer}.json", about | {"parsed": found})


if __name__ == "__main__":
    stage.main(run)
