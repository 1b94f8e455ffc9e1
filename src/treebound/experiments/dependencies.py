"""Write the source dependencies of every stage into dvc.yaml, from what its module imports.

    python -m treebound.experiments.dependencies          # after a module was added, moved or imported elsewhere
    python -m treebound.experiments.dependencies --check  # exit status 1 where they are out of date

A folder stands for its modules where a stage uses all of them, so that a new one there is not forgotten.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from functools import cache
from pathlib import Path

from treebound.support.atomic import replacing
from treebound.support.imports import PACKAGE, closure, module_of, path_of

PIPELINE = Path("dvc.yaml")
#: imports that change no result of a stage
WITHOUT = frozenset(
    {
        # values are checked, which are tracked as parameters
        ("experiments.params", "systems.ccg.settings"),
        ("experiments.params", "systems.correcting.settings"),
        ("experiments.params", "systems.graph.settings"),
        ("experiments.params", "systems.transition.settings"),
        ("experiments.params", "systems.sampling.settings"),
    }
)
#: rooms and modules that change no result: where files lie, how they are written, how many processes there are
PLUMBING = ("support", "experiments.params", "experiments.plan")
#: modules that choose what they run by name, from a registry that imports it then: any of these rooms' modules
BY_NAME = {
    "experiments.approximations": "decoders",
    "experiments.arena": "decoders",
    "experiments.confidence": "decoders",
    "experiments.in_the_loop": "decoders",
    "experiments.score_time": "decoders",
    "experiments.rooms.parse_graph": "decoders",
}
#: what every stage uses, named as a whole: short lists are read
WHOLE = ("core",)
_STAGE, _USES = re.compile(r"  [\w-]+:"), re.compile(r"meta: \{uses: (\w+)\}")
_COMMAND, _SOURCE = re.compile(r"python -m treebound\.(experiments\.\w+)"), re.compile(r" +- src/treebound")


def sources(module: str, uses: str = "") -> list[str]:
    """Files and folders, from the project's root, that a stage of this module depends on, and of `rooms` this one."""
    start = [module, f"experiments.rooms.{uses}"] if uses else [module]
    for room in {BY_NAME[m] for m in start if m in BY_NAME}:
        start += [module_of(path) for path in (PACKAGE / room).rglob("*.py")]
    used = {m for m in closure(start, without=WITHOUT) if not _under(m, PLUMBING)}
    files = {path for m in used if (path := path_of(m)) and _has_code(path)}
    files |= {data for path in files for data in _data_of(path)}
    files |= {path for room in WHOLE for path in (PACKAGE / room).glob("*.py")}
    return sorted(str(path.relative_to(PACKAGE.parents[1])) for path in _folded(files))


def written(text: str) -> str:
    """The text of dvc.yaml with the sources of every stage whose command is a module of the experiments."""
    lines: list[str] = []
    module = uses = ""
    for line in text.splitlines():
        if _STAGE.fullmatch(line):
            module = uses = ""
        if found := _USES.search(line):
            uses = found[1]
        if found := _COMMAND.search(line):
            module = found[1]
        if module and _SOURCE.match(line):
            continue
        if module and line.strip() == "outs:":
            indent = " " * (len(line) - len(line.lstrip()) + 2)
            lines += [f"{indent}- {path}" for path in sources(module, uses)]
        lines.append(line)
    return "\n".join(lines) + "\n"


def _under(module: str, rooms: tuple[str, ...]) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


@cache
def _has_code(path: Path) -> bool:
    """Whether there is more than a docstring in a file."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    return len(module.body) > (ast.get_docstring(module) is not None)


def _data_of(path: Path) -> list[Path]:
    """Files beside a module that it names."""
    text = path.read_text(encoding="utf-8")
    return [p for p in path.parent.iterdir() if p.suffix in (".toml", ".txt") and f'"{p.name}"' in text]


def _folded(files: set[Path]) -> set[Path]:
    """The files, with the outermost folders instead of those that make them up."""
    folders = sorted({parent for file in files for parent in file.parents if PACKAGE in parent.parents})
    whole = [f for f in folders if {p for p in f.rglob("*.py") if _has_code(p)} <= files]
    outermost = {f for f in whole if not any(other in f.parents for other in whole)}
    return outermost | {file for file in files if not any(f in file.parents for f in outermost)}


def main() -> None:
    """Update dvc.yaml, or say that it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit status 1 where something would change"
    )
    check = parser.parse_args().check
    text = PIPELINE.read_text(encoding="utf-8")
    if (new := written(text)) == text:
        return
    if check:
        sys.exit(
            f"error: {PIPELINE}: source dependencies are out of date: run python -m treebound.experiments.dependencies"
        )
    with replacing(PIPELINE) as file:
        file.write(new.encode())


if __name__ == "__main__":
    main()
