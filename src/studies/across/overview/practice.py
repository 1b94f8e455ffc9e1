"""Published accuracies of parsers with pretrained neural encoders, beside the best results of this project."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

from studies.site.sentences import Sentences, about, each, listing
from treebound.support import tomlfile

#: sentences that state the purpose of this project, for the page with the comparison
PURPOSE = (
    "This project does not aim at the highest accuracy. It finds best trees with proofs under the scores of any "
    "parser, including neural parsers. It also measures, on a CPU and under equal conditions, the effect of the search "
    "methods and features of five papers."
)


def published() -> pd.DataFrame:
    """Return the published figures, one row per entry of practice.toml and one column per key."""
    source = files("studies.across.overview") / "practice.toml"
    text = source.read_text(encoding="utf-8")
    return pd.DataFrame(tomlfile.parse(text, "practice.toml")["systems"])


@about()
def practice(data: pd.DataFrame, headline: pd.DataFrame, tags: dict[str, str]) -> Sentences:
    """Compare the published figures with the best rows of this project.

    data      `published`
    headline  result of `headline.headline` for one run and learner, indexed by corpus
    tags      corpus -> "predicted" or "gold", the tags that our parsers see
    """
    for _, rows in each(data, "corpus"):
        listed = listing(
            f"{row.system} {row.UAS:.2f} UAS and {row.LAS:.2f} LAS ({row.treebank}, {_segmented(row.segmentation)}, "
            f"{row.tags} tags; {row.source})"
            for row in rows.itertuples()
        )
        yield f"Published figures of parsers with pretrained neural encoders: {listed}.", rows
    for sentence in compared(data, headline, tags).sentences:
        yield sentence, headline


def table(data: pd.DataFrame) -> pd.DataFrame:
    """Return `published` as a table for readers. Rows: systems. Columns: treebank, input, tags, UAS, LAS, source."""
    words = data.assign(segmentation=data["segmentation"].map(_segmented))
    columns = {"treebank": "treebank", "segmentation": "input", "tags": "tags", "UAS": "UAS", "LAS": "LAS"}
    return words.set_index("system")[[*columns, "source"]].rename(columns=columns)


@about()
def compared(data: pd.DataFrame, headline: pd.DataFrame, tags: dict[str, str]) -> Sentences:
    """Compare the best rows of this project with published figures that a table lists; see `practice`."""
    for corpus, rows in each(data, "corpus"):
        if corpus not in headline.index:
            continue
        own = headline.loc[corpus]
        more = bool((rows["UAS"] > own["UAS, best row"]).all())
        yield (
            f"The best row of this project has {own['UAS, best row']:.2f} UAS on {corpus} ({own['best row']}, gold "
            f"segmentation, {tags[corpus]} tags, punctuation left out)"
            f"{', less than every published figure' if more else ''}. The figures differ in the version of the "
            "treebank, the segmentation, the tags and the words that are scored, so the comparison is rough.",
            headline.loc[[corpus]],
        )
    yield PURPOSE


def _segmented(segmentation: str) -> str:
    """Describe whether the division into words and sentences is gold or predicted from raw text."""
    return "gold words and sentences" if segmentation == "gold" else f"{segmentation} words and sentences from raw text"
