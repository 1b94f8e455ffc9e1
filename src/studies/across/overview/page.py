"""docs/results.md and the figure of README.md, from the reference run.

    python -m studies.across.overview.page

Rewrites the text between the two marks in docs/results.md, and the figure in docs/, for wide and for narrow screens. A
test keeps them in step.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from studies.across.corpora import tables as corpora_tables
from studies.auli_lopez_2011.ccg_integration import tables as ccg_integration_tables
from studies.qian_liu_2013.comparison import tables as comparison_tables
from studies.qian_liu_2013.comparison.tables import BASELINE, GAIN
from studies.qian_liu_2013.speed import tables as speed_tables
from studies.riedel_clarke_2006.constraints import tables as constraints_tables
from studies.site import claims, collect
from studies.site.charts import accuracy_speed
from studies.site.command import status
from studies.site.rows import sweep
from studies.site.show import p_value
from treebound.core.errors import InputError
from treebound.plots.svg import Svg, as_svg
from treebound.support.atomic import replacing

BEGIN, END = "<!-- headline: made by `python -m studies.across.overview.page` -->", "<!-- end of headline -->"
PAGE = Path("docs/results.md")
FIGURE, NARROW = Path("docs/headline.svg"), Path("docs/headline-narrow.svg")
CLAIMS = Path("results", "reference", claims.NAME)
LEARNER = "mira"


def headline(root: Path) -> tuple[str, dict[Path, Svg]]:
    """The text between the marks, and the figures; without a reference run a sentence that says so, and no figures."""
    reference = collect.reference(root)
    if reference is None:
        return "The reference run has not been made yet (`make reference`).", {}
    data = comparison_tables.headline([reference]).xs(LEARNER, level="learner").droplevel(0)
    tested = data[list(GAIN)]
    data = data.drop(columns=list(GAIN))
    titles = corpora_tables.sources([reference])["title"]
    digits = {"words per CPU second": 0, "proved optimal, %": 1, "DP calls per sentence": 1}
    formatted = pd.DataFrame({column: data[column].map(f"{{:,.{digits.get(column, 2)}f}}".format) for column in data})
    formatted.insert(0, "treebank", [titles[corpus] for corpus in data.index])
    gains = [f"{gain:+.2f} [{low:+.2f}, {high:+.2f}]" for gain, low, high, _ in tested.itertuples(index=False)]
    formatted.insert(1 + list(data).index("UAS, all factors") + 1, "gain [95 % interval]", gains)
    formatted.insert(1 + list(data).index("UAS, all factors") + 2, "p", [p_value(p) for p in tested["p"]])
    lines = _markdown(list(formatted.columns), formatted.to_numpy().tolist())
    seen, points = "Accuracy against speed of every system on each treebank", speed_tables.accuracy_and_speed(reference)
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
        f"factors* adds {_added(reference)}, searched exactly. *Gain* is all factors less Carreras; interval and "
        "two-sided "
        f"*p* are those of a paired bootstrap over test sentences: significant at 5 % on "
        f"{(tested['p'] < 0.05).sum()} of {len(tested)} treebanks, with one training of each system.",
        "",
        *_systems(reference),
        "",
        f"**Does it replicate?** {claims.summary(claims.verdicts(root, reference))} Each [claim](../{CLAIMS}) with its "
        "figures.",
    ]
    return "\n".join(lines), figures


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
        cells = [(row[corpus, "UAS"], row[corpus, "words per CPU second"]) for corpus in corpora]
        shown = ["" if pd.isna(uas) else f"{uas:.2f} ({speed:,.0f})" for uas, speed in cells]
        rows.append([f"{SYSTEMS.get(group, group)}: {system}", *shown])
    others = {
        "50-integer-programming": constraints_tables.converted(reference),
        "92-ccg-integration": ccg_integration_tables.measured(reference),
    }
    pages = " and ".join(f"[{page}](../notebooks/{page}.ipynb)" for page, found in others.items() if found)
    seen = "Ours see lemmas and morphological features where a treebank has its own, parsers of others do not."
    return [
        "Systems side by side: UAS in % on the whole test set and, in brackets, words per CPU second, each of one "
        f"training with one seed.{f' {seen}' if 'others' in table.index.unique('group') else ''}",
        "",
        *_markdown(["system", *corpora], rows),
        *(["", f"Systems that have other corpora and measures: {pages}."] if pages else []),
    ]


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
