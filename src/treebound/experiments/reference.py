"""The maintainers' run over the reference corpora: small files for results/reference, with where they come from.

The main run computes; a second one tests a few systems on more corpora (params/multilingual.yaml); then the notebooks
and the report of the main run show both. Metrics, tables, figures and the report are collected. Refuses a tree with
changes that are not committed, so that the commit in run.json says exactly what was run. A run that was killed goes on
where it stopped.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from treebound.core.errors import InputError, TreeboundError
from treebound.experiments import params as parameters
from treebound.experiments import plan, renewal, scratch, stage
from treebound.experiments.run import KINDS

FOLDER = Path("build/reference")
RESULTS = Path("results/reference")
ORIGIN = RESULTS / "origin.json"  #: `report.collect.ORIGIN`: experiments import nothing of the report
OVERLAY = Path("params/reference.yaml")
MULTILINGUAL = "multilingual"
MORE_FOLDER = Path("build") / MULTILINGUAL
MORE_OVERLAY = Path("params") / f"{MULTILINGUAL}.yaml"
SIGNIFICANCE = (
    "significance-uas",
    "significance-las",
    "differences",
    "sampling-gains",
)  #: tables that need the parses, not committed
SHOWING = ("notebooks", "report")  #: stages that show what the others compute
LARGEST_REPORT = 15_000_000  #: bytes of the rendered report that are still fit to be committed


def commit() -> str:
    """The commit of the checkout. Raises InputError if tracked or new files differ from it."""
    try:
        changes = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True).stdout
        head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise InputError("not a git checkout", hint="a reference run is made from a clone") from None
    if changes:
        names = [line[3:] for line in changes.splitlines()]
        shown = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        raise InputError(f"{len(names)} files are not committed: {shown}", hint="commit them, then run this again")
    return head.strip()


def machine() -> dict[str, Any]:
    """What the run was timed on."""
    cpu = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.is_file():
        models = (line for line in information.read_text().splitlines() if line.startswith("model name"))
        cpu = next(models, f":{cpu}").partition(":")[2].strip()
    versions = {name: metadata.version(name) for name in ("numpy", "numba", "llvmlite")}
    versions["python"] = platform.python_version()
    return {"cpu": cpu, "cores": os.cpu_count(), "system": platform.system(), "versions": versions}


def collect(folder: Path, target: Path, run: dict) -> None:
    """Copy the metrics and parameters of a finished run in `folder` and say in run.json where they come from."""
    replace(folder / stage.METRICS, target / "metrics")
    stage.write(target / "params.yaml", (folder / "params.yaml").read_text(encoding="utf-8"))
    stage.write_json(target / "run.json", run)


def replace(source: Path, target: Path) -> None:
    """Put a copy of the folder `source` in the place of `target`."""
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(source, fresh)
    shutil.rmtree(target, ignore_errors=True)
    os.replace(fresh, target)


def collect_shown(folder: Path, target: Path) -> None:
    """Write tables and figures of a finished run into `target`, and copy its report."""
    export(folder, target)
    collect_report(folder / "results" / "report", target)


def collect_report(report: Path, target: Path) -> None:
    """Copy a report into `target`.

    The figures of one that is too large to be committed stay behind: they are in the notebooks' sources and, the most
    important ones, among the figures.
    """
    replace(report, target / "report")
    size = sum(path.stat().st_size for path in report.rglob("*") if path.is_file())
    if size > LARGEST_REPORT:
        stage.say(f"{report} has {size / 1e6:.0f} MB: its figures are not collected")
        shutil.rmtree(target / "report" / "figures", ignore_errors=True)


def collect_more(target: Path, head: str) -> None:
    """Collect the run on more corpora, with the tables that its metrics are not enough for."""
    collect(MORE_FOLDER, target, origin(MORE_FOLDER, head))
    export(MORE_FOLDER, target, "--only", *SIGNIFICANCE)


def export(folder: Path, target: Path, *options: str) -> None:
    """Write tables and figures of the run in `folder` into `target`."""
    command = [sys.executable, "-m", "treebound.report.export", str(target.resolve()), *options]
    if subprocess.run(command, cwd=folder).returncode:
        raise InputError("tables and figures could not be written", hint="the message stands above")


def origin(folder: Path, head: str) -> dict[str, Any]:
    """What run.json says about a finished run in `folder`: checksums of what it has converted."""
    listed = plan.planned(parameters.load(folder / "params.yaml"))["stages"]["corpora"]
    corpora = [corpus for corpus in listed if (folder / stage.CONVERTED / corpus).is_dir()]
    splits = ("train", "dev", "test")
    sums = {c: {s: stage.sha256(folder / stage.CONVERTED / c / f"{s}.conllu") for s in splits} for c in corpora}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"commit": head, "date": today, "machine": machine(), "checksums": sums}


def compute(folder: Path, *targets: str) -> None:
    """Run stages in a prepared folder. Ends the process where one fails."""
    code = scratch.run(folder, *targets)
    if code:
        sys.exit(code)


def renew_more(head: str) -> None:
    """Compute the systems of the other languages and put what is found in the place of what the reference has."""
    compute(MORE_FOLDER, "decode")
    fresh = MORE_FOLDER / "collected"  # put in place as a whole, where it is complete
    collect_more(fresh, head)
    replace(fresh, RESULTS / MULTILINGUAL)
    stage.say(f"{RESULTS / MULTILINGUAL}: ready to be committed; python -m treebound.report.again shows it")


def renew(head: str, names: list[str]) -> None:
    """Compute some stages of a prepared run and put their metrics into the reference."""
    renewal.stages_of(FOLDER, names)  # unknown ones are refused before any work
    compute(FOLDER, *names)
    files = renewal.renew(FOLDER, RESULTS, names, origin(FOLDER, head))
    stage.say(f"{RESULTS}: {files} files are ready to be committed; python -m treebound.report.again shows them")


def main() -> None:
    """Run, check that the sources stayed as they were, and collect."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "stages", nargs="*", help="renew these alone, for instance decode_transition or classifiers@zh_gsd"
    )
    parser.add_argument("--main-only", action="store_true", help="leave the other languages to another sitting")
    parser.add_argument("--multilingual", action="store_true", help="renew the other languages alone; the rest stays")
    arguments = parser.parse_args()
    part = arguments.multilingual or bool(arguments.stages)
    more = arguments.multilingual or not (arguments.main_only or part)
    try:
        head = commit()
        for folder, overlay in ((FOLDER, OVERLAY), (MORE_FOLDER, MORE_OVERLAY))[: 1 + more]:
            scratch.prepare(folder, yaml.safe_load(overlay.read_text(encoding="utf-8")))
        if arguments.multilingual:
            renew_more(head)
        if arguments.stages:
            renew(head, arguments.stages)
        if part:
            return
        (FOLDER / RESULTS / "run.json").unlink(missing_ok=True)  # no column for the reference that this one replaces
        compute(FOLDER, *(kind for kind in KINDS if kind not in SHOWING))
        if more:
            compute(MORE_FOLDER, "decode")
            collect_more(FOLDER / RESULTS / MULTILINGUAL, head)
        run = origin(FOLDER, head)
        stage.write_json(FOLDER / ORIGIN, run)  # the pages are those of the reference and say so
        compute(FOLDER)
        if commit() != head:
            raise InputError("the commit changed during the run", hint="run this again: only what changed is repeated")
        collect(FOLDER, RESULTS, run)
        if more:
            replace(FOLDER / RESULTS / MULTILINGUAL, RESULTS / MULTILINGUAL)
        collect_shown(FOLDER, RESULTS)
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    stage.say(f"{RESULTS}: parameters, metrics, tables, figures and report are ready to be committed")


if __name__ == "__main__":
    main()
