"""The maintainers' run over the reference corpora: small files for results/reference, with where they come from.

Refuses a tree with changes that are not committed, so that the commit in run.json says exactly what was run. A run that
was killed goes on where it stopped.
"""

from __future__ import annotations

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
from treebound.experiments import scratch, stage

FOLDER = Path("build/reference")
RESULTS = Path("results/reference")
OVERLAY = Path("params/reference.yaml")


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
    fresh = target / "metrics.new"
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(folder / stage.METRICS, fresh)
    shutil.rmtree(target / "metrics", ignore_errors=True)
    os.replace(fresh, target / "metrics")
    stage.write(target / "params.yaml", (folder / "params.yaml").read_text(encoding="utf-8"))
    stage.write_json(target / "run.json", run)


def main() -> None:
    """Run, check that the sources stayed as they were, and collect."""
    try:
        head = commit()
        overlay = yaml.safe_load(OVERLAY.read_text(encoding="utf-8"))
        scratch.prepare(FOLDER, overlay)
        code = scratch.run(FOLDER)
        if code:
            sys.exit(code)
        if commit() != head:
            raise InputError("the commit changed during the run", hint="run this again: only what changed is repeated")
        corpora = parameters.load(FOLDER / "params.yaml").corpora
        splits = ("train", "dev", "test")
        sums = {c: {s: stage.sha256(FOLDER / stage.CONVERTED / c / f"{s}.conllu") for s in splits} for c in corpora}
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        collect(FOLDER, RESULTS, {"commit": head, "date": today, "machine": machine(), "checksums": sums})
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    stage.say(f"{RESULTS}: run.json, params.yaml and metrics are ready to be committed")


if __name__ == "__main__":
    main()
