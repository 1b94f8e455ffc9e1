"""Limits for functions: at most eight parameters, keywords included, and at most sixty lines without the docstring."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "src"
MOST, LONGEST = 8, 60
#: functions with more parameters, with the reason why an options class would not help
MORE = {
    "treebound/scores/decoding.py": {"of"},  # one keyword per field of its class
    "treebound/systems/graph/model.py": {"__init__"},  # one parameter per field of a model file
    "treebound/systems/constrained/model.py": {"__init__"},
    "treebound/systems/sampling/model.py": {"__init__"},
    "treebound/kernels/features/scoring.py": {"_score", "_score_usual"},  # two kernels, selected by an argument
    "treebound/features/scorer.py": {"features"},  # appends to three growing arrays in a loop that packs nothing
}
#: Longer functions. Most are kernels, single loops over a chart or a chain whose parts share nearly all variables. A
#: separate function for a part would take more than eight arguments and would be compiled and cached separately.
LONG = {
    "treebound/kernels/chart/backbones.py": {"grandparent_sibling_graph", "carreras_graph"},
    "treebound/kernels/chart/spanning.py": {"spanning_tree_marginals"},
    "treebound/kernels/arcs/parts.py": {"parts_of_tree"},
    "treebound/kernels/bounded.py": {"fold_products"},
    "treebound/kernels/head_stars/chain.py": {"best_counted_chain"},
    "treebound/kernels/head_stars/chain_search.py": {"search_chain"},
    "treebound/kernels/head_stars/set_search.py": {"search_modifiers"},
    "treebound/kernels/head_stars/scoring.py": {"score_head"},
    "treebound/decoders/exact/branch_and_bound/search.py": {"search_node"},
    "treebound/checker/compiled/stars.py": {"_search"},
    "studies/qian_liu_2013/frames.py": {"_frames"},
}


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield path.relative_to(SOURCES).as_posix(), node


def parameters(node: ast.FunctionDef) -> int:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return sum(a.arg not in ("self", "cls") for a in arguments)


def lines(node: ast.FunctionDef) -> int:
    assert node.end_lineno is not None
    first = node.body[0]
    docstring = 0
    if ast.get_docstring(node) is not None:
        assert first.end_lineno is not None
        docstring = first.end_lineno - first.lineno + 1
    return node.end_lineno - node.lineno + 1 - docstring


@pytest.mark.parametrize(
    ("size", "limit", "exceptions"), [(parameters, MOST, MORE), (lines, LONGEST, LONG)], ids=["parameters", "lines"]
)
def test_no_function_is_large(size, limit: int, exceptions: dict[str, set[str]]) -> None:
    large: dict[str, set[str]] = {}
    for name, node in functions():
        if size(node) > limit:
            large.setdefault(name, set()).add(node.name)
    assert large == exceptions
