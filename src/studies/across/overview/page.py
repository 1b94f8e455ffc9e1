"""docs/results.md and the figure of README.md, from the reference run.

    python -m studies.across.overview.page

Rewrites the text between the two marks in docs/results.md, and the figure in docs/, for wide and for narrow screens. A
test keeps them in step.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from studies.across.corpora import tables as corpora_tables
from studies.across.overview import practice
from studies.auli_lopez_2011.ccg_integration import tables as ccg_integration_tables
from studies.qian_liu_2013.comparison import gains
from studies.qian_liu_2013.comparison import headline as headlines
from studies.qian_liu_2013.comparison.tables import BASELINE
from studies.qian_liu_2013.speed import tables as speed_tables
from studies.riedel_clarke_2006.constraints import tables as constraints_tables
from studies.site import claims, collect
from studies.site.charts import accuracy_speed
from studies.site.command import status
from studies.site.rows import sweep
from studies.site.seen import by_corpus
from treebound.core.errors import InputError
from treebound.plots.svg import Svg, as_svg
from treebound.support.atomic import replacing

BEGIN, END = "<!-- headline: made by `python -m studies.across.overview.page` -->", "<!-- end of headline -->"
PAGE = Path("docs/results.md")
FIGURE, NARROW = Path("docs/headline.svg"), Path("docs/headline-narrow.svg")
CLAIMS = Path("results", "reference", claims.NAME)
LEARNER = "mira"
ALT = "Accuracy against speed of every row that was timed, on each treebank, the most accurate one named"


def headline(root: Path) -> tuple[str, dict[Path, Svg]]:
    """The text between the marks, and the figures; without a reference run a sentence that says so, and no figures."""
    reference = collect.reference(root)
    if reference is None:
        return "The reference run has not been made yet (`make reference`).", {}
    data = headlines.headline([reference]).xs(LEARNER, level="learner").droplevel(0)
    formatted = _formatted(data, corpora_tables.sources([reference])["title"])
    lines = _markdown(list(formatted.columns), formatted.to_numpy().tolist())
    seen, points = ALT, speed_tables.accuracy_and_speed(reference)
    figures = {path: as_svg(accuracy_speed(points, columns), seen) for path, columns in ((FIGURE, 2), (NARROW, 1))}
    run = reference.info
    lines = [
        f'<picture><source media="(max-width: 600px)" srcset="{NARROW.name}">'
        f'<img alt="{seen}" src="{FIGURE.name}"></picture>',
        "",
        *lines,
        "",
        f"Reference run {run['date']} at commit {run['commit'][:12]} on {run['machine']['cpu']}, {_tags(reference)}, "
        f"learner {LEARNER}, k = {reference.params.train.k}. *Carreras* is the paper's second-order baseline; *all "
        f"factors* adds {_added(reference)}, searched exactly. A *gain* is that over Carreras, trained with the same "
        "seed. Accuracies and gains are means over the seeds in brackets. The 95 % intervals cover other test "
        "sentences and, where there are several seeds, other trainings. Where the run keeps no paired test of two "
        "rows, their words are taken for two samples, which makes the interval wider. The interval of all factors "
        f"excludes 0 on {_clear(data)} of {len(data)} treebanks. The *best row* is the one of this project's rows "
        f"with the highest UAS on the test set. {gains.CHOSEN} Speed, proofs and calls are those of all factors with "
        "the seed of the run.",
        "",
        *_systems(reference),
        "",
        str(practice.practice(practice.published(), data, {c: reference.params.tags_of(c) for c in data.index})),
        "",
        f"**Does it replicate?** {claims.summary(claims.verdicts(root, reference))} Each [claim](../{CLAIMS}) with its "
        "figures.",
    ]
    return "\n".join(lines), figures


def _formatted(data: pd.DataFrame, titles: pd.Series) -> pd.DataFrame:
    """Return the table of the headline as text: accuracies, gains with their seeds, speed and proofs."""
    digits = {"words per CPU second": 0, "proved optimal, %": 1, "DP calls per sentence": 1}
    numbers = data.drop(columns=[*headlines.GAIN, *headlines.BEST])
    out = pd.DataFrame({name: numbers[name].map(f"{{:,.{digits.get(name, 2)}f}}".format) for name in numbers})
    out.insert(0, "treebank", [titles[corpus] for corpus in data.index])
    place = list(out.columns).index("UAS, all factors") + 1
    out.insert(place, "gain [95 % interval] (seeds)", _gains(data, headlines.GAIN))
    best = [f"{uas:.2f}, {row}" for row, uas in data[["best row", "UAS, best row"]].itertuples(index=False)]
    out.insert(place + 1, "UAS, best row", best)
    out.insert(place + 2, "its gain [95 % interval] (seeds)", _gains(data, headlines.BEST_GAIN))
    return out


def _gains(data: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return gains with intervals and numbers of seeds; empty where the best row is the baseline itself."""
    return [
        f"{gain:+.2f} [{low:+.2f}, {high:+.2f}] ({seeds:.0f})" if gain == gain else ""
        for gain, low, high, seeds in data[list(columns)].itertuples(index=False)
    ]


def _clear(data: pd.DataFrame) -> int:
    """Count the treebanks on which the interval of all factors keeps clear of 0."""
    return int(((data["low"] > 0) | (data["high"] < 0)).sum())


def _markdown(heads: list[str], rows: list[list[str]]) -> list[str]:
    """The lines of a table: a column of names, then columns of figures."""
    rule = ["---", *("---:" for _ in heads[1:])]
    return ["| " + " | ".join(row) + " |" for row in [heads, rule, *rows]]


def _systems(reference: collect.Results) -> list[str]:
    """Every system that the run has rows of, side by side."""
    table = speed_tables.by_system(reference, LEARNER)
    corpora = list(dict.fromkeys(corpus for corpus, _ in table))
    rows = []
    for (group, system), row in table.iterrows():
        there = [corpus for corpus in corpora if not pd.isna(row[corpus, "UAS"])]
        cells = [_cell(row[corpus]) if corpus in there else "" for corpus in corpora]
        sees = by_corpus({corpus: row[corpus, "sees"] for corpus in there})
        rows.append([f"{SYSTEMS.get(group, group)}: {system}", sees, *cells])
    others = {
        "50-integer-programming": constraints_tables.converted(reference),
        "92-ccg-integration": ccg_integration_tables.measured(reference),
    }
    pages = " and ".join(f"[{page}](../notebooks/{page}.ipynb)" for page, found in others.items() if found)
    return [
        "Systems side by side: UAS in % on the whole test set and, in brackets, words per CPU second with the seed of "
        "the run, where the row was timed. UAS is the mean over several seeds where their number is given, else that "
        "of one training. All see forms and tags; what else a parser sees stands in the second column, as the treebank "
        "gives it. A difference between parsers that see different things is not one of parsers alone.",
        "",
        *_markdown(["system", "sees besides", *corpora], rows),
        *(["", f"Systems that have other corpora and measures: {pages}."] if pages else []),
    ]


def _cell(row: pd.Series) -> str:
    """Return a cell of the table of systems: UAS, speed and the number of seeds."""
    facts = [] if pd.isna(row["words per CPU second"]) else [f"{row['words per CPU second']:,.0f}"]
    facts += [f"{row['seeds']:.0f} seeds"] if row["seeds"] > 1 else []
    return f"{row['UAS']:.2f} ({'; '.join(facts)})" if facts else f"{row['UAS']:.2f}"


def _tags(results: collect.Results) -> str:
    """Which tags the parsers saw, in words."""
    predicted = [corpus for corpus in results.corpora if results.params.tags_of(corpus) == "predicted"]
    return f"predicted tags on {' and '.join(predicted)}, gold tags elsewhere" if predicted else "gold tags"


def _added(results: collect.Results) -> str:
    """The factor families that the model of the headline has and the baseline has not, in words."""
    models = results.params.graph_models
    added = [f for f in models[sweep(results.params)[0].model].families if f not in models[BASELINE].families]
    names = [FAMILY_NAMES.get(family, family) for family in added]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


SYSTEMS = {"others": "of others"}
FAMILY_NAMES = {
    "grandchild": "all grandchildren",
    "sibling": "all pairs of siblings",
    "comb": "combs",
    "pattern": "hand-crafted patterns where a corpus has any",
}


def updated(page: str, text: str) -> str:
    """`page` with `text` between the marks. Raises InputError if they are not there."""
    before, found, rest = page.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        raise InputError("the marks of the headline are gone", path=PAGE, hint=f"put back {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def update() -> None:
    """Update docs/results.md and its figures."""
    root = collect.find_root()
    text, figures = headline(root)
    page = root / PAGE
    content = updated(page.read_text(encoding="utf-8"), text)
    for path, figure in figures.items():
        figure.save(root / path)
    with replacing(page) as file:
        file.write(content.encode())


def main() -> int:
    """Command line; returns the exit status."""
    return status(update)


if __name__ == "__main__":
    sys.exit(main())
