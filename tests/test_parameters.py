"""How much a function may be told: at most eight things, keywords and all; options that belong together are a class."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "treebound"
MOST = 8
#: file -> functions that take more, and why no class of options would serve there
MORE = {
    "scores/statement.py": {"problem"},  # an interface for users: each table of scores is an argument of its own,
    "scores/decoding.py": {"of"},  # and what of it is asked for
    "systems/graph/model.py": {"__init__"},  # what stands in a model's file, field by field
    "systems/constrained/model.py": {"__init__"},
    "systems/sampling/model.py": {"__init__"},
    "kernels/features/scoring.py": {"_score", "_score_usual"},  # two kernels, chosen by an argument of its own
    "features/scorer.py": {"features"},  # an append to three growing arrays, in whose loop nothing is packed
}


def test_no_function_has_many_parameters() -> None:
    """Commands aside: their parameters are options of the command line."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(PACKAGE))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and not name.startswith("cli/"):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                if sum(a.arg not in ("self", "cls") for a in arguments) > MOST:
                    found.setdefault(name, set()).add(node.name)
    assert found == MORE
