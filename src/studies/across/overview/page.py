"""Generate the headline of docs/results.md and the figure of README.md from the reference run.

    python -m studies.across.overview.page

The command rewrites the text between the two marks in docs/results.md, and the figure in docs/ for wide and for narrow
screens. A test checks that these files match the reference run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

import pandas as pd

from studies.across.corpora import tables as corpora_tables
from studies.across.overview import practice, systems
from studies.auli_lopez_2011.ccg_integration import tables as ccg_integration_tables
from studies.qian_liu_2013.comparison import gains
from studies.qian_liu_2013.comparison import headline as headlines
from studies.qian_liu_2013.speed import tables as speed_tables
from studies.riedel_clarke_2006.constraints import tables as constraints_tables
from studies.site import claims, collect
from studies.site.charts import accuracy_speed
from studies.site.command import status
from studies.site.seen import by_corpus
from studies.site.sentences import joined
from treebound.core.errors import InputError
from treebound.plots.svg import Svg, as_svg
from treebound.support.atomic import replacing

BEGIN, END = "<!-- headline: made by `python -m studies.across.overview.page` -->", "<!-- end of headline -->"
PAGE = Path("docs/results.md")
FIGURE, NARROW = Path("docs/headline.svg"), Path("docs/headline-narrow.svg")
CLAIMS = Path("results", "reference", claims.NAME)
LEARNER = "mira"
ALT = "Accuracy against speed of every timed row, one panel per treebank"


def headline(root: Path) -> tuple[str, dict[Path, Svg]]:
    """Return the text that belongs between the two marks in docs/results.md, and the figures by path.

    If there is no reference run, the text is a sentence that states this, and there are no figures.
    """
    reference = collect.reference(root)
    if reference is None:
        return "The reference run has not been made yet (`make reference`).", {}
    data = headlines.headline([reference]).xs(LEARNER, level="learner").droplevel(0)
    formatted = _formatted(data, corpora_tables.sources([reference])["title"])
    lines = _markdown(list(formatted.columns), formatted.to_numpy().tolist())
    drawn = as_svg(accuracy_speed(speed_tables.accuracy_and_speed(reference)), ALT)
    figures = {FIGURE: drawn, NARROW: Svg(drawn.narrow, drawn.alt)}
    run = reference.info
    lines = [
        f'<picture><source media="(max-width: 600px)" srcset="{NARROW.name}">'
        f'<img alt="{escape(drawn.alt)}" src="{FIGURE.name}"></picture>',
        "",
        *lines,
        "",
        f"Reference run of {run['date']} at commit {run['commit'][:12]} on {run['machine']['cpu']}: "
        f"{_tags(reference)}, "
        f"learner {LEARNER}, {reference.params.train.k} candidate heads per word. "
        f"*Carreras* is the paper's second-order baseline; *all factors* adds {joined(systems.added(reference))} "
        "(where a corpus has any), and is searched exactly. A *gain* is the difference in UAS to Carreras, "
        "trained with the same seed. Accuracies and gains are means over the seeds in brackets. The 95 % intervals "
        "cover the choice of test sentences and, where there are several seeds, the choice of the seed. Where the run "
        "stores no paired test of two rows, their words are treated as two independent samples, which makes the "
        f"interval wider. The interval of the gain of all factors excludes "
        f"0 on {_clear(data)} of {len(data)} treebanks. The *best "
        f"row* is the row with the highest UAS on the test set among the rows with {reference.params.train.k} "
        f"candidate heads per word and the parsers without candidate heads. {gains.CHOSEN} Speed, proofs and "
        "calls are measured for all factors with the seed of the run.",
        "",
        *_systems(reference),
        "",
        str(practice.practice(practice.published(), practice.own(reference, data))),
        "",
        f"**Does it replicate?** {claims.summary(claims.verdicts(root, reference))} See each "
        f"[claim](../{CLAIMS}) with its figures.",
    ]
    return "\n".join(lines), figures


def _formatted(data: pd.DataFrame, titles: pd.Series) -> pd.DataFrame:
    """Return the headline table as text: accuracies, gains with their numbers of seeds, speed and proofs."""
    digits = {"words per CPU second": 0, "proved optimal, %": 1, "DP calls per sentence": 1}
    numbers = data.drop(columns=[*headlines.GAIN, *headlines.BEST])
    out = pd.DataFrame({name: numbers[name].map(f"{{:,.{digits.get(name, 2)}f}}".format) for name in numbers})
    out.insert(0, "treebank", [titles[corpus] for corpus in data.index])
    position = list(out.columns).index("UAS, all factors") + 1
    out.insert(position, "gain [95 % interval] (seeds)", _gains(data, headlines.GAIN))
    best = [f"{uas:.2f}, {row}" for row, uas in data[["best row", "UAS, best row"]].itertuples(index=False)]
    out.insert(position + 1, "UAS, best row", best)
    out.insert(position + 2, "gain of best row [95 % interval] (seeds)", _gains(data, headlines.BEST_GAIN))
    return out


def _gains(data: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return one text per row: a gain with its interval and number of seeds.

    The text is empty if the gain is missing. A gain of the best row is missing if the best row is the baseline.

    columns  names of the four columns gain, low, high and number of seeds
    """
    return [
        f"{gain:+.2f} [{low:+.2f}, {high:+.2f}] ({seeds:.0f})" if gain == gain else ""
        for gain, low, high, seeds in data[list(columns)].itertuples(index=False)
    ]


def _clear(data: pd.DataFrame) -> int:
    """Count the treebanks on which the interval of a gain excludes 0. data: one row per treebank, with low and high."""
    return int(((data["low"] > 0) | (data["high"] < 0)).sum())


def _markdown(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Return the lines of a Markdown table: a left-aligned column of names, then right-aligned columns of figures."""
    rule = ["---", *("---:" for _ in heads[1:])]
    return ["| " + " | ".join(row) + " |" for row in [heads, rule, *rows]]


def _systems(reference: collect.Results) -> list[str]:
    """Return the lines of the table that compares all systems of a run, with its explanation."""
    table = speed_tables.by_system(reference, LEARNER)
    corpora = list(dict.fromkeys(corpus for corpus, _ in table))
    rows = []
    for (group, system), row in table.iterrows():
        present = [corpus for corpus in corpora if not pd.isna(row[corpus, "UAS"])]
        cells = [_cell(row[corpus]) if corpus in present else "" for corpus in corpora]
        attributes = by_corpus({corpus: row[corpus, "sees"] for corpus in present})
        rows.append([f"{SYSTEMS.get(group, group)}: {system}", attributes, *cells])
    pages = {
        "50-integer-programming": constraints_tables.converted(reference),
        "92-ccg-integration": ccg_integration_tables.measured(reference),
    }
    links = " and ".join(f"[{page}](../notebooks/{page}.ipynb)" for page, measured in pages.items() if measured)
    return [
        "The next table compares the systems. Each cell gives the UAS in % on the whole test set and, in brackets, "
        "words per CPU second with the seed of the run, if the row was timed. If a number of seeds is given, the UAS "
        "is the mean over that many seeds; otherwise it is the UAS of one training. All parsers see forms and tags. "
        "The second column lists the other attributes of the treebank that a parser sees. Parsers that see different "
        "attributes differ by more than the parsing method.",
        "",
        *_markdown(["system", "other attributes", *corpora], rows),
        *(["", f"Systems with other corpora and measures: {links}."] if links else []),
    ]


def _cell(row: pd.Series) -> str:
    """Return a cell of the table of systems: UAS and, in brackets, the speed and the number of seeds."""
    facts = [] if pd.isna(row["words per CPU second"]) else [f"{row['words per CPU second']:,.0f}"]
    facts += [f"{row['seeds']:.0f} seeds"] if row["seeds"] > 1 else []
    return f"{row['UAS']:.2f} ({'; '.join(facts)})" if facts else f"{row['UAS']:.2f}"


def _tags(results: collect.Results) -> str:
    """Describe in words on which corpora the parsers saw predicted tags and on which corpora gold tags."""
    predicted = [corpus for corpus in results.corpora if results.params.tags_of(corpus) == "predicted"]
    return f"predicted tags on {' and '.join(predicted)}, gold tags elsewhere" if predicted else "gold tags"


SYSTEMS = {"others": "other projects"}


def updated(page: str, text: str) -> str:
    """Return `page` with `text` between the two marks. Raise InputError if a mark is missing."""
    before, opened, remainder = page.partition(BEGIN)
    _, closed, after = remainder.partition(END)
    if not opened or not closed:
        raise InputError("the marks of the headline are missing", path=PAGE, hint=f"add the lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def update() -> None:
    """Rewrite the headline of docs/results.md and its figures."""
    root = collect.find_root()
    text, figures = headline(root)
    page = root / PAGE
    content = updated(page.read_text(encoding="utf-8"), text)
    for path, figure in figures.items():
        figure.save(root / path)
    with replacing(page) as file:
        file.write(content.encode())


def main() -> int:
    """Run the command and return its exit status."""
    return status(update)


if __name__ == "__main__":
    sys.exit(main())
