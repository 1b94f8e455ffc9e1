"""The maintainers' run over the reference corpora: small files for results/reference, with where they come from.

A run is of one commit, which run.json names: a tree with changes that are not committed is refused. The main run
computes; a second one tests a few systems on more corpora (params/multilingual.yaml); then the notebooks and the report
of the main run show both. A run that was killed goes on where it stopped: DVC knows what is done.
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

from studies.common import metrics, stage
from studies.common import params as parameters
from studies.pipeline import scratch
from studies.pipeline.run import EXPECTED, TIMES
from treebound.core.errors import InputError, TreeboundError

FOLDER, OVERLAY = Path("build/reference"), Path("params/reference.yaml")
MORE_FOLDER, MORE_OVERLAY = Path("build/multilingual"), Path("params/multilingual.yaml")
RESULTS = Path("results/reference")
MULTILINGUAL = RESULTS / "multilingual"
ORIGIN = RESULTS / "origin.json"  #: `site.collect.ORIGIN`: the pipeline imports nothing of the site
#: tables that need the parses, which are not committed
SIGNIFICANCE = ("significance-uas", "significance-las", "differences", "sampling-gains")


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
    """Processor, system and versions, for the times of the run."""
    cpu = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.is_file():
        models = (line for line in information.read_text().splitlines() if line.startswith("model name"))
        cpu = next(models, f":{cpu}").partition(":")[2].strip()
    versions = {name: metadata.version(name) for name in ("numpy", "numba", "llvmlite")}
    versions["python"] = platform.python_version()
    return {"cpu": cpu, "cores": os.cpu_count(), "system": platform.system(), "versions": versions}


def origin(folder: Path, head: str) -> dict[str, Any]:
    """Content of run.json for a finished run in `folder`: commit, date, machine, checksums of its treebanks."""
    treebanks = parameters.load(folder / "params.yaml").treebanks
    splits = ("train", "dev", "test")
    sums = {c: {s: stage.sha256(folder / stage.CONVERTED / c / f"{s}.conllu") for s in splits} for c in treebanks}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"commit": head, "date": today, "machine": machine(), "checksums": sums}


def collect(folder: Path, target: Path, run: dict[str, Any]) -> None:
    """Write metrics, one file a stage, parameters and origin of a finished run in `folder` into `target`."""
    shutil.rmtree(target / "metrics", ignore_errors=True)
    metrics.gather(folder / stage.METRICS, target / "metrics")
    shutil.copyfile(folder / "params.yaml", target / "params.yaml")
    if (folder / TIMES).is_file():
        shutil.copyfile(folder / TIMES, target / EXPECTED.name)
    stage.write_json(target / "run.json", run)


def replace(source: Path, target: Path) -> None:
    """Put a copy of the folder `source` in the place of `target`."""
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(source, fresh)
    shutil.rmtree(target, ignore_errors=True)
    os.replace(fresh, target)


def export(folder: Path, target: Path, *options: str) -> None:
    """Write tables and figures of the run in `folder` into `target`."""
    command = [sys.executable, "-m", "studies.site.export", str(target.resolve()), *options]
    if subprocess.run(command, cwd=folder).returncode:
        raise InputError("tables and figures could not be written", hint="the message stands above")


def compute(folder: Path, overlay: Path, *targets: str) -> None:
    """Run stages with the parameters of an overlay. Ends the process where one fails."""
    scratch.prepare(folder, yaml.safe_load(overlay.read_text(encoding="utf-8")))
    if code := scratch.run(folder, *targets):
        sys.exit(code)


def main() -> None:
    """Run, check that the sources stayed as they were, and collect."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    try:
        head = commit()
        compute(FOLDER, OVERLAY, *measured())
        compute(MORE_FOLDER, MORE_OVERLAY, "summary")
        more = FOLDER / MULTILINGUAL
        collect(MORE_FOLDER, more, origin(MORE_FOLDER, head))
        export(MORE_FOLDER, more, "--only", *SIGNIFICANCE)
        run = origin(FOLDER, head)
        stage.write_json(FOLDER / ORIGIN, run)  # the pages are those of the reference and say so
        if code := scratch.run(FOLDER):
            sys.exit(code)
        if commit() != head:
            raise InputError("the commit changed during the run", hint="run this again: only what changed is repeated")
        collect(FOLDER, RESULTS, run)
        replace(more, MULTILINGUAL)
        export(FOLDER, RESULTS)
        replace(FOLDER / "results" / "report", RESULTS / "report")
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    stage.say(f"{RESULTS}: parameters, metrics, tables, figures and report are ready to be committed")


def measured() -> list[str]:
    """Names of the stages that compute: all but pages and report."""
    stages = yaml.safe_load(Path("dvc.yaml").read_text(encoding="utf-8"))["stages"]
    return [name for name in stages if name not in ("notebooks", "report")]


if __name__ == "__main__":
    main()
