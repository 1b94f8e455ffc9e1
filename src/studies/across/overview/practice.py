"""Published accuracies of parsers with pretrained neural encoders, beside the best results of this project."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

from studies.qian_liu_2013.comparison import headline as headlines
from studies.site.collect import Results
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


def own(results: Results, headline: pd.DataFrame) -> pd.DataFrame:
    """Return the most accurate rows of this project for each corpus of a headline.

    headline  result of `headline.headline` for one run and learner, indexed by corpus

    Columns: the row with the highest UAS among all rows and its UAS (%, mean over seeds), the same for the rows of the
    main comparison, and the tags that our parsers see.
    """
    values, lines = headlines.accuracies(results), {}
    for corpus, main in headline.iterrows():
        row = headlines.highest(results, str(corpus), values)
        assert row is not None
        lines[corpus] = {
            "best row": headlines.titles(results, str(corpus))[row.name],
            "UAS, best row": headlines.mean_over_seeds(results, str(corpus), row, values)[0],
            "best main row": main["best row"],
            "UAS, best main row": main["UAS, best row"],
            "tags": results.params.tags_of(str(corpus)),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


@about()
def practice(data: pd.DataFrame, best: pd.DataFrame) -> Sentences:
    """Compare the published figures with the best rows of this project.

    data  `published`
    best  `own`
    """
    for _, rows in each(data, "corpus"):
        listed = listing(
            f"{row.system} {row.UAS:.2f} UAS and {row.LAS:.2f} LAS ({row.treebank}, {_segmented(row.segmentation)}, "
            f"{row.tags} tags; {row.source})"
            for row in rows.itertuples()
        )
        yield f"Published figures of parsers with pretrained neural encoders: {listed}.", rows
    for sentence in compared(data, best).sentences:
        yield sentence, best


def table(data: pd.DataFrame) -> pd.DataFrame:
    """Return `published` as a table for readers. Rows: systems. Columns: treebank, input, tags, UAS, LAS, source."""
    words = data.assign(segmentation=data["segmentation"].map(_segmented))
    columns = {"treebank": "treebank", "segmentation": "input", "tags": "tags", "UAS": "UAS", "LAS": "LAS"}
    return words.set_index("system")[[*columns, "source"]].rename(columns=columns)


@about()
def compared(data: pd.DataFrame, best: pd.DataFrame) -> Sentences:
    """Compare the best rows of this project with published figures that a table lists; see `practice`."""
    for corpus, rows in each(data, "corpus"):
        if corpus not in best.index:
            continue
        ours = best.loc[corpus]
        more = bool((rows["UAS"] > ours["UAS, best row"]).all())
        main = (
            f"; {ours['UAS, best main row']:.2f} in the main comparison, {ours['best main row']}"
            if ours["best main row"] != ours["best row"]
            else ""
        )
        yield (
            f"The best row of this project has {ours['UAS, best row']:.2f} UAS on {corpus} ({ours['best row']}{main}; "
            f"gold segmentation, {ours['tags']} tags, punctuation left out)"
            f"{', less than every published figure' if more else ''}. The figures differ in the version of the "
            "treebank, the segmentation, the tags and the words that are scored, so the comparison is rough.",
            best.loc[[corpus]],
        )
    yield PURPOSE


def _segmented(segmentation: str) -> str:
    """Describe whether the division into words and sentences is gold or predicted from raw text."""
    return "gold words and sentences" if segmentation == "gold" else f"{segmentation} words and sentences from raw text"
