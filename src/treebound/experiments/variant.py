"""Stage: one more row of one corpus: a model trained and tested with other tags or another seed than its rows.

The pruner is trained with the same tags and seed, so that nothing is shared with the rows it is compared to.
"""

from __future__ import annotations

from dataclasses import replace

from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.decode import SPLIT, report
from treebound.experiments.params import Params
from treebound.experiments.train import specification
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.system import pruner_for
from treebound.systems.graph.trainer import train


def run(params: Params, corpus: str, model: str, learner: str, decoder: str, k: str, tags: str, seed: str) -> None:
    """Train, parse the test split, and write what the rows of `decode` write."""
    (variant,) = (
        v
        for v in params.variants
        if (v.corpus, v.model, v.learner, v.decoder, str(v.k), v.tags, str(v.seed))
        == (corpus, model, learner, decoder, k, tags, seed)
    )
    examples, dev, test = (load(corpus, s, params.limit(s), variant.tags) for s in ("train", "dev", SPLIT))
    spec = replace(specification(params, model, variant.learner, examples), seed=variant.seed)
    pruner = pruner_for(spec, examples)
    checkpoint = stage.CHECKPOINTS / f"{corpus}.{variant}.npz"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    trained = train(spec, examples, dev, pruner, checkpoint=checkpoint)
    stage.say(f"{corpus} {variant}: dev UAS {max(record['dev_uas'] for record in trained.history):.2f}")
    settings = params.decoders[decoder]
    parser = Parser(trained, decoder=settings.decoder, k=variant.run.heads, **settings.options)
    report(params, corpus, variant.run, test, parser, variant)


if __name__ == "__main__":
    stage.main(run)
