"""Sentences that answer which parser is the most accurate, which is fast, and which proves its trees."""

from __future__ import annotations

import numpy as np
import pandas as pd

from studies.across.leaderboard.parsers import FAMILIES, OVER_WORDS
from studies.across.leaderboard.tables import MEAN
from studies.across.overview.shares import POINT
from studies.site.collect import title
from studies.site.sentences import Sentences, about, difference, each, listing

#: text that limits every choice of a best row
CHOSEN = (
    "The choice was made on the test sets themselves, so the UAS of a chosen row is slightly too high. A parser with "
    "several seeds is ranked by their mean, and any other parser by a single training, which may be lucky."
)


@about("No run has results of parsers.")
def answer(board: pd.DataFrame, means: pd.DataFrame) -> Sentences:
    """Name the most accurate parser, the fastest parser near it, and the parsers that prove their trees.

    board  result of `tables.ranked`
    means  result of `tables.overall`

    Each run gives three sentences. A run of one corpus has no overall ranking, so the corpus itself is described.
    """
    for run, data in each(board, "run"):
        rows, place = _ranking(data, means[means["run"] == run])
        if not len(rows):
            continue
        best = rows.iloc[0]
        equal = int(best["last"]) - 1
        yield (
            f"{_of_run(run)}{best['system']} ({best['family']}) has the highest {place[0]}, {best['uas']:.2f} % "
            f"[{best['low']:.2f}, {best['high']:.2f}] ({place[1]}), among {len(rows)} ranked parsers, chosen "
            f"on the test sets themselves; the 95 % intervals of {equal} others overlap with its interval.",
            rows.head(8),
        )
        near = rows[(rows["uas"] >= best["uas"] - POINT) & rows["words_per_cpu_s"].notna()]
        if len(near):
            fast = near.loc[near["words_per_cpu_s"].idxmax()]
            ratio = fast["words_per_cpu_s"] / best["words_per_cpu_s"]
            times = f", {ratio:.1f} times as many as {best['system']}" if ratio == ratio and ratio != 1 else ""
            yield (
                f"The fastest parser at most {POINT:g} point below it is {fast['system']}: {fast['uas']:.2f} % UAS and "
                f"{fast['words_per_cpu_s']:,.0f} words per CPU second{times}.",
                near.sort_values("words_per_cpu_s", ascending=False).head(8),
            )
        proved = rows[rows["proved"] == 100]
        first = f", and the most accurate of them is {proved['system'].iloc[0]}" if len(proved) else ""
        yield (
            f"{len(proved)} of these {len(rows)} parsers prove that every tree is the best one over its candidate "
            f"heads under their own scores{first}; a proof says nothing about agreement with the treebank.",
            rows[["system", "proved"]],
        )
    yield CHOSEN


def _ranking(data: pd.DataFrame, means: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, str]]:
    """Return the ranked parsers of a run, best first, and two texts: the score that ranks them, and its corpora.

    With several corpora, the parsers are ranked by mean UAS; otherwise, by UAS on the first corpus.

    data   rows of `tables.ranked` for the run
    means  rows of `tables.overall` for the run
    """
    corpora = list(dict.fromkeys(data["corpus"]))
    own = means[means["rank"].notna()] if len(means) else means
    if len(corpora) > 1 and len(own):
        return own, ("mean UAS", f"{MEAN} {listing(corpora)}")
    first = data[(data["corpus"] == corpora[0]) & data["rank"].notna()]
    return first, ("UAS", f"test set of {corpora[0]}")


def _of_run(run: object) -> str:
    """Return the words that open a sentence about a run."""
    return f"In {title(str(run))}, "


@about("No parser of another project was run.")
def others(compared: pd.DataFrame, languages: dict[str, str], lacking: pd.DataFrame) -> Sentences:
    """Compare the parser that is best overall with the parsers of other projects on English, and count the rest.

    compared   result of `tables.against_others`
    languages  corpus -> code of its language
    lacking    result of `tables.not_run`
    """
    for run, data in each(compared, "run"):
        ours = data.index.get_level_values("our parser")[0]
        data = data.droplevel("our parser")
        alike = data["same attributes"].astype(bool)
        english = [languages.get(corpus) == "en" for corpus in data.index.get_level_values("corpus")]
        english = data[alike.to_numpy() & np.array(english)]
        if len(english):
            listed = listing(f"{other} on {corpus}: {difference(row)}" for (corpus, other), row in english.iterrows())
            yield (
                f"{_of_run(run)}on English treebanks where both parsers see the same attributes, UAS of {ours} minus "
                f"UAS of the other parser is: {listed} (points).",
                english,
            )
        if not alike.all():
            places = listing(dict.fromkeys(data[~alike].index.get_level_values("corpus")))
            yield (
                f"{_of_run(run)}the two parsers see different attributes in {int((~alike).sum())} of {len(data)} "
                f"comparisons ({places}), so these differences are not due to the parsers alone.",
                data[~alike],
            )
        better, worse = int((data["low"] > 0).sum()), int((data["high"] < 0).sum())
        yield (
            f"{_of_run(run)}of {len(data)} comparisons over all languages, {ours} is significantly more accurate in "
            f"{better} and significantly less accurate in {worse} (95 % intervals). The other parsers were trained on "
            "forms and tags alone, without pretrained vectors.",
            data,
        )
        gaps = lacking[lacking["run"] == run]
        if len(gaps):
            listed = "; ".join(f"{row.parser} on {row.corpora}" for row in gaps.itertuples())
            yield f"Some comparisons were not run, because params.yaml has no rows for them: {listed}.", gaps


@about()
def intervals(board: pd.DataFrame) -> Sentences:
    """Say how the intervals and the possible ranks are computed. board: result of `tables.ranked`."""
    yield (
        "The rank of a parser on a corpus is its position by UAS, the mean over its seeds, in % of the test words "
        "without punctuation. Its possible ranks run from 1 plus the number of parsers whose 95 % interval lies "
        "entirely above its own, to the number of parsers whose interval does not lie entirely below it. All "
        "parsers have the same test sentences, so a paired test may separate two parsers whose intervals overlap."
    )
    for run, rows in each(board, "run"):
        if (rows["unit"] == OVER_WORDS).any():
            yield (
                f"{_of_run(run)}the interval covers the choice of test words, as if words were independent, and of "
                "seeds where a parser has several. Errors within a sentence depend on each other, so these intervals "
                "are too narrow. The run stores no results by sentence, from which wider intervals could be computed.",
                rows[["corpus", "system", "unit"]],
            )
        else:
            yield (
                f"{_of_run(run)}the interval covers the choice of test sentences, and of seeds where a parser "
                "has several.",
                rows[["corpus", "system", "unit"]],
            )
    several, ours = board[board["seeds"] > 1], board["family"].isin(FAMILIES.values())
    yield (
        f"{len(several)} of {int(ours.sum())} rows of this project have several seeds; the other "
        "intervals do not cover the choice of the seed.",
        several,
    )
    yield (
        "Speed counts words per second on one CPU core, from features to heads, without reading files and without "
        "the tagger. Training time leaves out the tagger, and the pruner that graph-based parsers share."
    )
    yield _of_memory(board)


def _of_memory(board: pd.DataFrame) -> str | tuple[str, pd.DataFrame]:
    """Say what the column of memory counts, and which runs lack it. board: result of `tables.ranked`."""
    counted = (
        "Memory is the peak resident memory of one process that loads the model and parses the whole test set, in MB "
        "(1,000,000 bytes). It includes Python, the libraries, and the compiler if the process compiles kernels. "
        "One process parses all rows of a model, so a later row also holds compiled code of earlier rows."
    )
    measured = board[board["peak_mb"].notna()]
    if not len(measured):
        return f"{counted} No run on this page measured it, so the column has no values."
    lacking = [run for run, rows in each(board, "run") if rows["peak_mb"].isna().all()]
    older = f" These runs are older than the measurement: {listing(lacking)}." if lacking else ""
    return f"{counted}{older}", measured[["run", "corpus", "system", "peak_mb"]]
