"""Sets of validity rules by name: the sets of the library, and TOML files of the user."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from treebound.constraints.ud import clauses, crossings, words
from treebound.constraints.ud.base import UdRule
from treebound.core.errors import InputError
from treebound.core.registry import Registry
from treebound.support import tomlfile

#: id -> rule; the rules of levels 2 and 3 that concern only heads, labels, tags, FEATS, MISC and lemmas
RULES: Registry[UdRule] = Registry("validity rule")
for _rule in (*words.RULES, *clauses.RULES, *crossings.RULES):
    RULES.register(_rule.id, _rule)

#: ids of rules that every tree keeps, because decoders return only trees
STRUCTURE = ("head-self-loop", "multiple-roots", "non-tree")

_FOLDER = files(__package__).joinpath("sets")
_KEYS = ("base", "drop", "rules")


@dataclass(frozen=True)
class RuleSet:
    """A set of rules that trees have to keep.

    name   name of the set, or of its file
    rules  the rules, in the order of `RULES`
    """

    name: str
    rules: tuple[UdRule, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids that the validator of Universal Dependencies gives to the rules of the set."""
        return tuple(rule.id for rule in self.rules)

    def without(self, ids: Iterable[str]) -> RuleSet:
        """Return the set without the rules with these ids. Raises InputError for an id that is not in the set."""
        dropped = set(ids)
        if unknown := sorted(dropped - set(self.ids)):
            raise InputError(f"{self.name} has no rule {unknown[0]!r}", hint=f"choose from {', '.join(self.ids)}")
        return RuleSet(self.name, tuple(rule for rule in self.rules if rule.id not in dropped))


def rule_sets() -> list[str]:
    """Return the names of the sets that come with the library."""
    return sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml"))


def load(name: str | Path) -> RuleSet:
    """Load a set of rules.

    Parameters
    ----------
    name
        `ud` (all errors of the validator), `ud-warnings` (all errors and warnings), or a TOML file. The file has a list
        `rules` of ids, or a list `drop` of ids that are removed from the set `base`, by default `ud`.

    Raises
    ------
    InputError
        The set or file does not exist, or the file names no rules. The error names the file and the line.

    Examples
    --------
    >>> len(load("ud").rules) < len(load("ud-warnings").rules)
    True
    """
    if str(name) in rule_sets():
        return parse(_FOLDER.joinpath(f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml")
    try:
        content = tomlfile.text(name)
    except (OSError, ValueError):
        if Path(name).suffix:
            raise InputError("no such file of validity rules", path=name, hint="check the name") from None
        hint = f"choose from {', '.join(rule_sets())}, or name a TOML file"
        raise InputError(f"no set of validity rules {str(name)!r}", hint=hint) from None
    return parse(content, name)


def parse(content: str, path: str | Path = "rules.toml") -> RuleSet:
    r"""Read a set of rules from a TOML text.

    Raises
    ------
    InputError
        The text is not TOML, or it has unknown keys, sets or rules. The error names the file and the line.

    Examples
    --------
    >>> parse('rules = ["leaf-punct", "leaf-det"]').ids
    ('leaf-det', 'leaf-punct')
    """
    table = tomlfile.parse(content, path)
    for key in table:
        if key not in _KEYS:
            raise _error(content, path, key, f"unknown key {key!r}", f"valid keys are {', '.join(_KEYS)}")
    if ("rules" in table) == ("drop" in table):
        reason = "has both lists `rules` and `drop`" if "rules" in table else "has neither a list `rules` nor `drop`"
        raise InputError(reason, path=path, hint="give a list `rules`, or a list `drop` of rules that are left out")
    if "rules" in table:
        if "base" in table:
            raise _error(content, path, "base", "base has no effect on `rules`", "give `drop`, or leave base out")
        selected_ids = _ids(content, path, table, "rules", RULES)
    else:
        base = table.get("base", "ud")
        if base not in rule_sets():
            raise _error(content, path, "base", f"unknown base {base!r}", f"choose from {', '.join(rule_sets())}")
        base_ids = load(base).ids
        selected_ids = set(base_ids) - _ids(content, path, table, "drop", base_ids)
    return RuleSet(Path(path).stem, tuple(RULES[name] for name in RULES if name in selected_ids))


def _ids(content: str, path: str | Path, table: dict[str, Any], key: str, known: Iterable[str]) -> set[str]:
    """Return the rule ids in the list `key` of a parsed TOML table. Raises InputError for an id outside `known`."""
    values, known = table[key], list(known)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise _error(content, path, key, f"{key} is not a list of strings", 'write it as in ["leaf-det", "leaf-cc"]')
    for value in values:
        if value in STRUCTURE:
            raise _error(content, path, value, f"every tree keeps {value}", "remove it from the list")
        if value not in known:
            raise _error(content, path, value, f"unknown rule {value!r}", f"choose from {', '.join(known)}")
    return set(values)


def _error(content: str, path: str | Path, text: str, reason: str, hint: str) -> InputError:
    """Return an error that names the first line of the TOML file `content` in which `text` occurs."""
    lines = [i for i, line in enumerate(content.splitlines(), 1) if text in line.partition("#")[0]]
    return InputError(reason, path=path, line=lines[0] if lines else None, hint=hint)
