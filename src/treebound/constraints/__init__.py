"""Hard linear constraints on labelled trees: one module per family, one TOML file of settings per corpus.

`CONSTRAINTS[name](**settings)` makes a family from its table in a corpus's TOML file.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from treebound.constraints.argument_compatibility import ArgumentCompatibility
from treebound.constraints.argument_side import ArgumentSide
from treebound.constraints.asymmetric_coordination import AsymmetricCoordination
from treebound.constraints.coordination import Conjunctions
from treebound.constraints.coordination_commas import CoordinationCommas
from treebound.constraints.no_cycles import NoCycles
from treebound.constraints.one_head import OneHead
from treebound.constraints.rows import Constraint
from treebound.constraints.selective_projectivity import SelectiveProjectivity
from treebound.constraints.symmetric_coordination import SymmetricCoordination
from treebound.constraints.ud.as_rows import UniversalDependencies
from treebound.constraints.unique_labels import UniqueLabels
from treebound.core.errors import InputError
from treebound.core.registry import Registry
from treebound.support import tomlfile
from treebound.support.settings import SettingError

CONSTRAINTS: Registry[Callable[..., Constraint]] = Registry("constraint")


def _commas(separators: list[str] | None = None, **conjunctions: Any) -> CoordinationCommas:
    """Return the constraint on commas; its settings are `separators` and the settings of `Conjunctions`."""
    return CoordinationCommas(Conjunctions(**conjunctions), tuple(separators or (",",)))


CONSTRAINTS.register("one-head", OneHead)
CONSTRAINTS.register("no-cycles", NoCycles)
CONSTRAINTS.register("unique-labels", UniqueLabels)
CONSTRAINTS.register("symmetric-coordination", lambda **s: SymmetricCoordination(Conjunctions(**s)))
CONSTRAINTS.register("asymmetric-coordination", lambda **s: AsymmetricCoordination(Conjunctions(**s)))
CONSTRAINTS.register("coordination-commas", _commas)
CONSTRAINTS.register("argument-compatibility", ArgumentCompatibility)
CONSTRAINTS.register("selective-projectivity", SelectiveProjectivity)
CONSTRAINTS.register("argument-side", ArgumentSide)
CONSTRAINTS.register("ud", UniversalDependencies)

_FOLDER = files(__package__).joinpath("corpora")
#: constraints that define trees: every tree keeps them
TREE: tuple[Constraint, ...] = (OneHead(), NoCycles())


def corpora() -> list[str]:
    """Return the names of the corpora that have a file of constraints."""
    return sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml"))


def load(corpus: str, tree: tuple[Constraint, ...] = TREE) -> list[Constraint]:
    """Return the constraints `tree`, followed by the constraints of a corpus or a TOML file. Raises InputError."""
    return parse(text(corpus), f"{corpus}.toml", tree)


def text(name: str) -> str:
    """Return the text of a corpus's file of constraints, or of another TOML file. Raises InputError."""
    if name in corpora():
        return _FOLDER.joinpath(f"{name}.toml").read_text(encoding="utf-8")
    try:
        return tomlfile.text(name)
    except (OSError, ValueError):
        hint = f"choose from {', '.join(corpora())}, or name a file"
        raise SettingError("constraints", f"no constraints for corpus {name!r}", hint) from None


def parse(content: str, path: str | Path = "constraints.toml", tree: tuple[Constraint, ...] = TREE) -> list[Constraint]:
    r"""Return the constraints `tree`, followed by the constraints of a TOML text.

    Each family has one table. Its keys are the arguments of the family's class.

    Raises InputError naming the file, the family and the key.

    Examples
    --------
    >>> [constraint.name for constraint in parse('[unique-labels]\nlabels = ["nsubj"]')]
    ['one-head', 'no-cycles', 'unique-labels']
    """
    constraints = list(tree)
    for name, settings in tomlfile.parse(content, path).items():
        if name not in CONSTRAINTS:
            raise InputError(f"unknown constraint {name!r}", path=path, hint="choose from " + ", ".join(CONSTRAINTS))
        try:
            constraints.append(CONSTRAINTS[name](**settings))
        except (TypeError, ValueError) as error:
            raise InputError(f"{name}: {error}", path=path, hint="correct the table of this constraint") from None
    return constraints
