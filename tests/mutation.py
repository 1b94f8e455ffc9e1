"""Test the tests: change the sources in one place at a time, and see whether a test fails.

`python tests/mutation.py` needs the packages of the project and `pip install cosmic-ray==8.7.0`, which makes the
changes. It works in a copy of the checkout below `build/mutation`, and it continues a run that was interrupted.
tests/mutation.toml lists the modules and the tests of each file. tests/mutation_survivors.csv explains the changes that
no test can find, because they do not change the behaviour.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import difflib
import hashlib
import importlib
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "tests" / "mutation.toml").read_text())
SURVIVORS = ROOT / "tests" / "mutation_survivors.csv"
#: options of pytest; tests/conftest.py would change the order of the files
PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--noconftest")
FOUND = ("killed", "timed out")  #: outcomes of changes that a test found
#: decorators without which a function returns the same values, only more slowly
FASTER = re.compile(r"@(kernel|cache|lru_cache|functools\.cache)\b")
#: comparisons by identity instead of equality: the same for None and for the small integers and strings of constants
IDENTITY = re.compile(r"ComparisonOperator_((Eq|NotEq)_(Is|IsNot)|(Is|IsNot)_(Eq|NotEq))$")


class Mutant(NamedTuple):
    """A change of one place.

    key identifies the change: file, operator, text of the line, column, and number among equal lines.
    """

    key: str
    file: str
    line: int
    place: tuple[str, str, int]
    mutation: Any


def tests_of(file: str) -> dict[str, Any]:
    """Return the first table of SETTINGS whose patterns fit a file: its tests and how they are run."""
    return next(group for group in SETTINGS["tests"] if any(fnmatch(file, f"src/{x}") for x in group["files"]))


def copy_sources(folder: Path) -> None:
    """Copy the files of the checkout that git knows or does not ignore."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    shutil.rmtree(folder, ignore_errors=True)
    for name in filter(lambda name: (ROOT / name).is_file(), names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)


def without_effect(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the ranges (line, column) of annotations, which are not evaluated, and of imports for types alone."""
    nodes: list[ast.AST | None] = []
    for node in ast.walk(ast.parse(source)):
        nodes += [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes.append(node)
    return [((n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset)) for n in nodes if n]  # type: ignore[attr-defined]


def changes(lines: dict[str, list[str]], folder: Path) -> list[Any]:
    """Return all changes of the given files that the tool can make. They are stored, as the tool takes a minute."""
    from cosmic_ray.commands.init import init
    from cosmic_ray.work_db import WorkDB

    path = folder / f"{hashlib.blake2b(repr(lines).encode(), digest_size=8).hexdigest()}.sqlite"
    is_new = not path.exists()
    database = WorkDB(path, WorkDB.Mode.create)
    if is_new:
        init(map(Path, lines), database, {})
    return [item.mutations[0] for item in database.work_items]


def mutants(folder: Path) -> Iterator[Mutant]:
    """Yield all changes of the modules, except those that have no effect by their kind."""
    paths = [path for module in SETTINGS["modules"] for path in sorted(Path("src").glob(f"{module}*"))]
    files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    lines = {str(file): file.read_text().split("\n") for file in files}
    skipped = {file: without_effect("\n".join(text)) for file, text in lines.items()}
    equal: Counter[str] = Counter()
    mutations = changes(lines, folder)
    for mutation in sorted(mutations, key=lambda m: (str(m.module_path), m.start_pos, m.operator_name, m.occurrence)):
        file, line, column = str(mutation.module_path), *mutation.start_pos
        operator, text = mutation.operator_name.removeprefix("core/"), lines[file][line - 1].strip()
        if IDENTITY.search(operator) or (operator == "RemoveDecorator" and FASTER.match(text)):
            continue
        if any(start <= (line, column) < end for start, end in skipped[file]):
            continue
        if operator == "ReplaceTrueWithFalse" and "strict=True" in text:  # an assertion of equal lengths
            continue
        key = f"{file}|{operator}|{text}|{column}"
        equal[key] += 1
        yield Mutant(f"{key}|{equal[key]}", file, line, (file, f"{text}|{equal[key]}", column), mutation)


def order(name: object) -> bytes:
    """Return a pseudo-random number. It depends on a changed line alone, so that edits elsewhere keep the sample."""
    return hashlib.blake2b(f"{SETTINGS['seed']}|{name}".encode()).digest()


def sample(every: list[Mutant]) -> list[Mutant]:
    """Draw places, and one change at each place, from each module in proportion to its places."""
    drawn: dict[str, dict[tuple, Mutant]] = defaultdict(dict)
    for mutant in sorted(every, key=lambda mutant: order(mutant.key)):
        module = next(module for module in SETTINGS["modules"] if mutant.file.startswith(f"src/{module}"))
        drawn[module].setdefault(mutant.place, mutant)
    places = sum(map(len, drawn.values()))
    chosen = []
    for module in SETTINGS["modules"]:
        size = max(SETTINGS["least"], round(SETTINGS["size"] * len(drawn[module]) / places))
        chosen += sorted(drawn[module].values(), key=lambda mutant: order(mutant.place))[:size]
    return sorted(chosen, key=lambda mutant: order(mutant.place))  # an interrupted run has tested a random sample, too


def enter(folder: str) -> None:
    """Make a copy of the checkout for this process, which changes files there, and import what the tests need."""
    copy = Path(folder) / f"copy-{os.getpid()}"
    copy_sources(copy)
    os.chdir(copy)
    sys.path[:1] = [str(copy / "src"), str(copy / "tests")]
    os.environ |= {"PYTHONPATH": os.pathsep.join(sys.path[:2]), "NUMBA_DISABLE_JIT": "1"}
    every = sorted({name.split("::")[0] for group in SETTINGS["tests"] for name in group["tests"]})
    subprocess.run([sys.executable, *PYTEST, "--collect-only", *every], check=True, stdout=subprocess.DEVNULL)
    for name in SETTINGS["preload"]:
        importlib.import_module(name)


def run_tests(names: list[str], seconds: int, output: Path) -> None:
    """Run tests in this process within a limit of CPU seconds, and exit with the code of pytest."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))  # the clock would depend on other programs
    sys.dont_write_bytecode = True
    with output.open("w") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        os._exit(int(importlib.import_module("pytest").main([*PYTEST[2:], *names])))


def tested(mutant: Mutant) -> dict[str, Any]:
    """Make a change, run the tests, and return the outcome. Without a mutation, the tests run on unchanged sources."""
    from cosmic_ray.mutating import use_mutation
    from cosmic_ray.plugins import get_operator

    started, group, output = time.monotonic(), tests_of(mutant.file), Path("output.txt").resolve()
    old = new = ""
    with contextlib.ExitStack() as stack:
        if mutant.mutation is not None:
            operator = get_operator(mutant.mutation.operator_name)()
            change = use_mutation(mutant.mutation.module_path, operator, mutant.mutation.occurrence)
            old, new = stack.enter_context(change)
        process = multiprocessing.get_context("fork").Process(
            target=run_tests, args=(group["tests"], group["seconds"], output)
        )
        process.start()
        process.join()
        late = process.exitcode == -signal.SIGXCPU
        outcome = "timed out" if late else "survived" if process.exitcode == 0 else "killed"
    lines = list(difflib.unified_diff(old.split("\n"), new.split("\n"), n=0, lineterm=""))[2:]
    before, after = (" ".join(x[1:].strip() for x in lines if x[0] == sign) for sign in "-+")
    failed = (re.findall(r"^(?:FAILED|ERROR) (\S+)", output.read_text(), re.MULTILINE) or [""])[0]
    outcomes = {"before": before, "after": after, "outcome": outcome, "failed": failed}
    seconds = round(time.monotonic() - started, 1)
    return {"key": mutant.key, "file": mutant.file, "line": mutant.line, **outcomes, "seconds": seconds}


def unchanged(waiting: list[Mutant], done: set[str]) -> list[Mutant]:
    """Return a mutant without a change for each list of tests that has not run on the unchanged sources."""
    tests = {" ".join(tests_of(mutant.file)["tests"]): mutant.file for mutant in waiting}
    return [Mutant(key, file, 0, (file, key, 0), None) for key, file in tests.items() if key not in done]


def read(path: Path) -> list[dict[str, Any]]:
    """Return the outcomes in a file, the last one of each change."""
    outcomes = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
    return list({outcome["key"]: outcome for outcome in outcomes}.values())


def is_explained(outcome: dict[str, Any]) -> bool:
    """Return whether SURVIVORS tells why no test can find a change."""
    with SURVIVORS.open(newline="") as stream:
        changed = ("file", "before", "after")
        return any(all(row[x] == outcome[x] for x in changed) for row in csv.DictReader(stream))


def table(chosen: list[Mutant], outcomes: list[dict[str, Any]]) -> str:
    """Return the numbers by module, and the changes that no test found."""
    rows, unexplained = [("sample", "killed", "timed out", "equivalent", "survived", "module")], []
    keys = {mutant.key for mutant in chosen}
    for module in (*SETTINGS["modules"], ""):
        size = sum(mutant.file.startswith(f"src/{module}") for mutant in chosen)
        tested_ones = [x for x in outcomes if x["key"] in keys and x["file"].startswith(f"src/{module}")]
        count = Counter(x["outcome"] for x in tested_ones)
        alive = [x for x in tested_ones if x["outcome"] not in FOUND]
        unexplained = [x for x in alive if not is_explained(x)]
        equivalent = len(alive) - len(unexplained)
        numbers = size, count["killed"], count["timed out"], equivalent, len(unexplained)
        rows.append((*map(str, numbers), module or "all"))
    killed, total = count["killed"] + count["timed out"], max(1, len(tested_ones))
    shares = f"killed: {killed / total:.1%} of {total} tested, {killed / max(1, total - equivalent):.1%} if equivalent "
    listed = [f"{x['file']}:{x['line']}\n  - {x['before']}\n  + {x['after']}" for x in unexplained]
    return "\n".join(["\t".join(row) for row in rows] + [shares + "changes are left out", *listed])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutation", help="Folder of copies and outcomes.")
    parser.add_argument("--jobs", type=int, default=1, help="Number of changes that are tested at once. Default: 1.")
    parser.add_argument("--only", default="", help="Start of the names of the files to test, after src/. Default: all.")
    parser.add_argument("--again", action="store_true", help="Test the changes again that no test found.")
    parser.add_argument("--table", action="store_true", help="Print the table of the outcomes, and test nothing.")
    options = parser.parse_args()
    folder, path = options.folder.resolve(), options.folder.resolve() / "outcomes.jsonl"
    for copy in folder.glob("copy-*"):
        shutil.rmtree(copy)
    copy_sources(folder / "list")
    os.chdir(folder / "list")
    chosen = sample(list(mutants(folder)))
    if not options.table:
        again = options.again
        done = {x["key"] for x in read(path) if not again or not x["line"] or x["outcome"] in FOUND or is_explained(x)}
        waiting = [x for x in chosen if x.key not in done and x.file.startswith(f"src/{options.only}")]
        print(f"{len(chosen)} mutants in the sample, {len(waiting)} to test", flush=True)
        with (
            ProcessPoolExecutor(options.jobs, initializer=enter, initargs=(str(folder),)) as pool,
            path.open("a") as out,
        ):
            for outcome in pool.map(tested, [*unchanged(waiting, done), *waiting]):
                print(*(outcome[x] for x in ("outcome", "seconds", "file", "line", "failed")), flush=True)
                print(json.dumps(outcome), file=out, flush=True)
                if not outcome["line"] and outcome["outcome"] != "survived":
                    sys.exit(f"the tests of {outcome['file']} fail without a change")
    print(table(chosen, read(path)))


if __name__ == "__main__":
    main()
