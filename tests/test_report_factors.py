"""The page about factor families: it shows every family with the parts of its tree, and its bounds are valid."""

from __future__ import annotations

from pathlib import Path

import nbformat
import numpy as np
import pytest
import synthetic_results

from studies.site import factors
from treebound.core.errors import InputError
from treebound.core.problem import PRODUCTS
from treebound.factors import FAMILIES
from treebound.plots.svg import Svg
from treebound.plots.tree import tree_svg
from treebound.treebanks.projectivise import is_projective

REPOSITORY = Path(__file__).parents[1]
BOUNDED = [f for f in FAMILIES if f in PRODUCTS or f in ("grand-sibling", "valency")]


def test_the_notebook_shows_every_family() -> None:
    notebook = nbformat.read(REPOSITORY / "notebooks" / "21-factors.ipynb", as_version=4)
    source = "\n".join(cell.source for cell in notebook.cells)
    for family in FAMILIES:
        assert f'factors.show("{family}")' in source


def test_parts_of_a_tree_are_shown_beside_parts_of_a_search() -> None:
    table = factors.overview()
    assert list(table.index) == list(FAMILIES)
    assert table.loc["arc"].tolist() == [1, 13, 13 * 13]
    for family in FAMILIES:
        assert table.loc[family, "parts in the tree"] == len(factors.example(family).parts)
    text = str(factors.counted(table))
    assert text.startswith("A tree of 13 words has 1 (comb) to 26 (outermost-grandchild) parts of a family")
    assert "to 6,864 (great-grandchild)" in text


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_are_in_the_tree(family: str) -> None:
    example = factors.example(family)
    assert is_projective(example.heads)
    assert example.parts
    assert len(example.table()) == len(example.parts)
    assert len(set(example.parts)) == len(example.parts)
    for part in example.parts:
        if family == "valency":
            assert (example.heads == part[0]).sum() == part[1]
        else:
            assert all(example.heads[m] == h for h, m in (x for x in part if not isinstance(x, int)))
    if example.listed is not None:
        assert example.listed >= len(example.parts)
    tree, *tables = factors.show(family)
    assert isinstance(tree, Svg)
    assert "; marked: " in tree.alt
    assert len(tables) == (2 if family in BOUNDED else 1)


@pytest.mark.parametrize("family", [f for f in BOUNDED if f != "valency"])
def test_bounds_of_products(family: str) -> None:
    table = factors.example(family).bound(6.0)
    for sign in ("score +6", "score -6"):
        values = table[sign]
        assert (values["bound at the start"] >= values["score"]).all()
        assert (values["slack"] == values["bound at the start"] - values["score"]).all()
        assert (values["best bound"] == values["score"]).all()
        assert set(values["score"]) == {0.0, float(sign.split()[1])}
    assert (table["score +6", "slack"] > 0).any()
    assert (table["score -6", "slack"] > 0).any()


def test_lines_are_tight_upper_bounds() -> None:
    table = factors.example("valency").bound(6.0)
    slacks = table[[c for c in table.columns if "slack" in c]]
    assert slacks.shape[1] == 3
    assert (slacks.to_numpy() >= 0).all()
    assert (slacks.min(axis=0) == 0).all()
    assert np.ptp(table["score"]) > 0


def test_marked_arcs_stand_out() -> None:
    plain = tree_svg(["a", "b"], [-1, 2, 0])
    marked = tree_svg(["a", "b"], [-1, 2, 0], marked=[(2, 1)])
    assert marked.alt.endswith("; marked: b → a")
    blue = "#0072B2".lower()
    assert plain.markup.lower().count(blue) == 2 * marked.markup.lower().count(blue) > 0


def test_tables_of_the_analysis(tmp_path: Path) -> None:
    synthetic_results.analysis(tmp_path / "results" / "reference" / "patterns", "en_ewt", "en_ud")
    table = factors.patterns(tmp_path, "en_ewt", "en_ud")
    assert table.loc["rather-than", "arcs"] == "outside → rather, rather → than"
    assert table.loc["rather-than", "consistent, %"] == 95
    assert len(factors.candidates(tmp_path, "en_ewt", 7)) == 7
    with pytest.raises(InputError, match=r"missing; python -m studies.qian_liu_2013.patterns pt_petrogold"):
        factors.candidates(tmp_path, "pt_petrogold", 7)
    with pytest.raises(InputError, match="no row for visto-que"):
        factors.patterns(tmp_path, "en_ewt", "pt_ud")


def test_the_stored_tables_have_every_shipped_pattern() -> None:
    for corpus, name in (("en_ewt", "en_ud"), ("ptb_sample", "en_penn"), ("pt_petrogold", "pt_ud")):
        table = factors.patterns(REPOSITORY, corpus, name)
        for pattern, row in table.iterrows():
            text = (REPOSITORY / f"src/treebound/factors/patterns/{name}.toml").read_text(encoding="utf-8")
            comment = text.partition(f"[{pattern}]")[0].strip().splitlines()[-1]
            assert comment.startswith(f"# {row['matches'] or 'no'} match"), pattern
            if row["matches"]:
                assert f"{row['consistent, %']:.1f} % consistent, {row['mistaken']} mistaken" in comment
