"""The state of practice: parsers with pretrained neural encoders beside this project's, with published figures."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

from studies.site.sentences import Said, about, each, listing
from treebound.support import tomlfile

#: what this project is for
PURPOSE = (
    "This project is not for the highest accuracy. It finds best trees with proofs under the scores of any parser, "
    "neural ones included, and tests on a CPU, under equal conditions, what search and features of five papers bring."
)


def published() -> pd.DataFrame:
    """Return the published figures. Columns: those of practice.toml."""
    source = files("studies.across.overview") / "practice.toml"
    text = source.read_text(encoding="utf-8")
    return pd.DataFrame(tomlfile.parse(text, "practice.toml")["systems"])


@about()
def practice(data: pd.DataFrame, headline: pd.DataFrame, tags: dict[str, str]) -> Said:
    """Set the published figures beside the best rows of this project.

    data      `published`
    headline  `headline.headline` of one run and learner, by corpus
    tags      corpus -> predicted or gold
    """
    for corpus, rows in each(data, "corpus"):
        listed = listing(
            f"{row.system} {row.UAS:.2f} UAS and {row.LAS:.2f} LAS ({row.treebank}, {_segmented(row.segmentation)}, "
            f"{row.tags} tags; {row.source})"
            for row in rows.itertuples()
        )
        yield f"Published figures of parsers with pretrained neural encoders: {listed}.", rows
        if corpus not in headline.index:
            continue
        own = headline.loc[corpus]
        more = bool((rows["UAS"] > own["UAS, best row"]).all())
        yield (
            f"The best row of this project has {own['UAS, best row']:.2f} UAS on {corpus} ({own['best row']}, gold "
            f"segmentation, {tags[corpus]} tags, punctuation left out){', less than all of these' if more else ''}. "
            "Version of the treebank, segmentation, tags and the words that count differ, so that differences between "
            "these figures are rough.",
            headline.loc[[corpus]],
        )
    yield PURPOSE


def _segmented(segmentation: str) -> str:
    return "gold words and sentences" if segmentation == "gold" else f"{segmentation} words and sentences from raw text"
