"""Stage: train the base system with one step of learning changed, and measure accuracy on the development set.

The pruner is trained on the same data as the model, so that no run shares a pruner with the run that it is compared
with. The model is taken from the best epoch. The development set is then parsed without a limit on the search, even if
training had a limit, so that only the learned weights differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from studies.common import stage
from studies.common.corpus import checksum, load, tags_of
from studies.common.params import Params
from studies.pipeline.trainers.graph import specification
from studies.qian_liu_2013.steps.settings import Step, Steps
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.factors.templates import Lines
from treebound.metrics.attachment import evaluate, marks
from treebound.systems.graph.candidates import pruner_for
from treebound.systems.graph.model import templates_for
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import accuracy, train

SPLIT = "dev"


def bare(spec: Settings) -> Lines:
    """Return the feature templates of a model, without the two-word templates for factors of more than one arc."""
    return {name: () if name.endswith("-pair") else lines for name, lines in templates_for(spec).items()}


def changed(spec: Settings, examples: Treebank, step: Step) -> tuple[Settings, Treebank]:
    """Return the settings `spec` of the trainer and the training data `examples`, both with the changes of a step.

    Labels or patterns are not added to a corpus that has none. Unseen attributes are removed from the attributes of the
    corpus, which leaves out their templates. The parser uses the attributes of training, so the development set needs
    no change.
    """
    settings = {name: value for name, value in step.settings.items() if name != "labels" or spec.labels != "none"}
    added = (f for f in step.add if f != "pattern" or examples.meta.get("patterns"))
    families = (*(f for f in spec.families if f not in step.drop), *added)
    seen = [name for name in examples.meta.get("attributes", ()) if name not in step.unseen]
    blinded = replace(examples, meta=examples.meta | {"attributes": seen})
    return replace(spec, families=families, **settings), blinded


def run(params: Params, corpus: str, name: str) -> None:
    """Write the accuracy after every epoch, and which words of the development set the best model attaches correctly.

    If a corpus lacks the data that the step leaves out, the training would equal the base system. Then nothing is
    trained, and `applies` is False in the result. Raises InputError for a run that the parameters do not list.
    """
    steps = params.section(Steps)
    if name not in steps.runs:
        raise InputError(f"steps: no run {name!r}", path="params.yaml", hint=f"its runs: {', '.join(steps.runs)}")
    examples, dev = (load(corpus, split, params.limit(split)) for split in ("train", SPLIT))
    base = specification(params, steps.model, examples, params.seed)
    spec, seen = changed(base, examples, steps.runs[name])
    path = stage.METRICS / "steps" / corpus / f"{name}.json"
    attributes = sorted(seen.meta["attributes"])
    word_pairs = steps.runs[name].word_pairs
    if name != steps.base and word_pairs and spec == base and attributes == sorted(examples.meta.get("attributes", ())):
        stage.say(f"{corpus} {name}: nothing to change here")
        stage.write_metrics(path, {"applies": False})
        return

    def progress(sentences: Iterable, phase: str) -> Iterable:
        stage.say(f"{corpus} {name}: {phase}")
        return sentences

    checkpoint = stage.CHECKPOINTS / f"{corpus}.steps.{name}.npz"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    inputs = spec, seen, dev, pruner_for(spec, seen)
    templates = None if word_pairs else bare(spec)
    model = train(*inputs, templates=templates, checkpoint=checkpoint, progress=progress)
    parses = Parser(model).parse(dev)
    labels = [model.label_names(parse) for parse in parses] if model.labelling.names else None
    heads = [parse.heads for parse in parses]
    score = evaluate(dev, heads, labels).summary
    best = max(model.history, key=accuracy)["epoch"]
    las = f", LAS {score['las']:.2f}" if "las" in score else ""
    stage.say(f"{corpus} {name}: dev UAS {score['uas']:.2f}{las} after {best} epochs")
    recall, heads_a_word = model.pruner.kept(dev, spec.k, float(spec.threshold or 0))
    metrics = {
        "applies": True,
        "spec": spec.as_dict(),
        "attributes": attributes,
        "history": model.history,
        "best_epoch": best,
        "certified": sum(parse.certified for parse in parses),
        "training_sentences": len(examples),
        "recall": recall,
        "heads_a_word": heads_a_word,
        "right": marks(dev, heads, labels),
        "corpus_checksum": checksum(corpus, SPLIT),
        "tags": tags_of(corpus),
    }
    stage.write_metrics(path, score | metrics)


if __name__ == "__main__":
    stage.main(run)
