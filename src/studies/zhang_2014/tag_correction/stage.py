"""Stage: what choosing tags with trees does to both on the test split (Zhang et al. 2014, Table 3).

Tags are predicted here, whatever the other parsers of the corpus see: see `studies.zhang_2014.tag_correction.measure`.
"""

from __future__ import annotations

from studies.common import stage
from studies.common.corpus import SPLITS, gold
from studies.common.params import Params
from studies.zhang_2014.tag_correction.measure import measured
from studies.zhang_2014.tag_correction.settings import TagCorrection


def run(params: Params, corpus: str) -> None:
    """Write accuracy of tags and trees, predicted, corrected and right, and the tests of what the correction gains."""
    train, dev, test = (gold(corpus, split, params.limit(split)) for split in SPLITS)
    section = params.section(TagCorrection)
    found = measured(section.settings, train, dev, test)
    stage.say(f"{corpus}: tags {found['tags_predicted']:.2f} % predicted, {found['tags_corrected']:.2f} % corrected")
    if corpus in section.published:
        found["published"] = measured(section.settings, train, dev, test, gold=False, as_published=True)
        stage.say(f"{corpus}: tags {found['published']['tags_corrected']:.2f} % corrected as published")
    stage.write_metrics(stage.METRICS / "tag-correction" / f"{corpus}.json", found)


if __name__ == "__main__":
    stage.main(run)
