"""Stage: measure the effect of choosing tags together with trees on the test split (Zhang et al. 2014, Table 3).

Tags are predicted here, independently of the tags that other parsers of the corpus see. See
`studies.zhang_2014.tag_correction.measure`.
"""

from __future__ import annotations

from studies.common import stage
from studies.common.corpus import SPLITS, gold
from studies.common.params import Params
from studies.zhang_2014.tag_correction.measure import measured
from studies.zhang_2014.tag_correction.settings import TagCorrection


def run(params: Params, corpus: str) -> None:
    """Write accuracies of tags and trees with predicted, corrected and gold tags, and tests of the gains."""
    train, dev, test = (gold(corpus, split, params.limit(split)) for split in SPLITS)
    section = params.section(TagCorrection)
    metrics = measured(section.settings, train, dev, test)
    stage.say(
        f"{corpus}: tags {metrics['tags_predicted']:.2f} % predicted, {metrics['tags_corrected']:.2f} % corrected"
    )
    if corpus in section.published:
        metrics["published"] = measured(section.settings, train, dev, test, gold=False, as_published=True)
        stage.say(f"{corpus}: tags {metrics['published']['tags_corrected']:.2f} % corrected as published")
    stage.write_metrics(stage.METRICS / "tag-correction" / f"{corpus}.json", metrics)


if __name__ == "__main__":
    stage.main(run)
