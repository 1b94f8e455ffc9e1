"""Make the reference run: small files for results/reference, with a record of their origin.

A run belongs to one commit, which run.json names; a working tree with uncommitted changes is refused. First the
stages of the main run are computed. A second run tests a few systems on more corpora (params/multilingual.yaml). Then
the notebooks and the report of the main run are made; they show the results of both runs. A run that was killed
continues where it stopped, because DVC knows the finished stages. `--save` stores the stages that have ended in one
file. With this file, the run continues on another machine.

If only the sources of pages have changed since the run, `--pages` makes the pages anew from its results.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from studies.common import metrics, stage
from studies.common import params as parameters
from studies.common.cores import cores
from studies.pipeline import scratch, unfinished
from studies.pipeline.run import EXPECTED, TIMES
from treebound.core.errors import InputError, TreeboundError

FOLDER, OVERLAY = Path("build/reference"), Path("params/reference.yaml")
MORE_FOLDER, MORE_OVERLAY = Path("build/multilingual"), Path("params/multilingual.yaml")
RESULTS = Path("results/reference")
MULTILINGUAL = RESULTS / "multilingual"
ORIGIN = (
    RESULTS / "origin.json"
)  #: the same path as `site.collect.ORIGIN`, repeated because the pipeline does not import the package `site`
#: file of a finished run: what ORIGIN says. `scratch.prepare` replaces the folder of ORIGIN, but not this file
FINISHED = FOLDER / "finished.json"
#: folder with the stages that have ended, until the run is finished
UNFINISHED = Path("results/unfinished")
#: stages of the models that pages load
LOADED = ("train@tr_twt-combined", "train@tr_twt-carreras+grandchild+sibling")
#: stages that all others wait for. They are short, and their files are not stored with an unfinished run
SOURCES = ("convert", "derivations")
#: keys of params.yaml on which only pages depend
OF_PAGES = ("notebooks", "forms")
#: tables that are computed from the parses; they are exported here because the parses are not committed
SIGNIFICANCE = ("significance-uas", "significance-las", "differences", "sampling-gains")


def commit() -> str:
    """Return the commit of the checkout. Raises InputError if files were changed or added since the commit."""
    try:
        changes = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True).stdout
        head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise InputError("not a git checkout", hint="make a reference run in a clone of the repository") from None
    if changes:
        names = [line[3:] for line in changes.splitlines()]
        shown_names = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        raise InputError(f"{len(names)} files are not committed: {shown_names}", hint="commit them and start again")
    return head.strip()


def machine() -> dict[str, Any]:
    """Describe the machine of the run, on which its times depend: processor, cores, system and versions."""
    cpu = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.is_file():
        models = (line for line in information.read_text().splitlines() if line.startswith("model name"))
        cpu = next(models, f":{cpu}").partition(":")[2].strip()
    versions = {name: metadata.version(name) for name in ("numpy", "numba", "llvmlite")}
    versions["python"] = platform.python_version()
    # like the name of the processor, the number of its cores describes the machine, not the share that a run may use
    return {"cpu": cpu, "cores": os.cpu_count(), "system": platform.system(), "versions": versions}


def origin(folder: Path, head: str) -> dict[str, Any]:
    """Return the content of run.json for a finished run: commit, date, machine, checksums of its treebanks."""
    treebanks = parameters.load(folder / "params.yaml").treebanks
    splits = ("train", "dev", "test")
    sums = {c: {s: stage.sha256(folder / stage.CONVERTED / c / f"{s}.conllu") for s in splits} for c in treebanks}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"commit": head, "date": today, "machine": machine(), "checksums": sums}


def collect(folder: Path, target: Path, run: dict[str, Any]) -> None:
    """Write the metrics (one file per stage), parameters and origin of the run in `folder` into `target`."""
    shutil.rmtree(target / "metrics", ignore_errors=True)
    metrics.gather(folder / stage.METRICS, target / "metrics")
    shutil.copyfile(folder / "params.yaml", target / "params.yaml")
    if (folder / TIMES).is_file():
        shutil.copyfile(folder / TIMES, target / EXPECTED.name)
    stage.write_json(target / "run.json", run)


def replace(source: Path, target: Path) -> None:
    """Replace the folder `target` by a copy of the folder `source`."""
    copy = target.with_name(f"{target.name}.new")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy)
    shutil.rmtree(target, ignore_errors=True)
    os.replace(copy, target)


def export(folder: Path, target: Path, *options: str) -> None:
    """Write tables and figures of the run in `folder` into `target`. Raises InputError if the export fails."""
    call(folder, "studies.site.export", str(target.resolve()), *options)


def call(folder: Path, module: str, *arguments: str) -> None:
    """Run a module of the project in `folder`. Raises InputError if it fails."""
    if subprocess.run([sys.executable, "-m", module, *arguments], cwd=folder).returncode:
        raise InputError(f"{module} failed", path=folder, hint="see the message above")


def compute(folder: Path, overlay: Path, *targets: str) -> None:
    """Run stages in `folder`, where the file `overlay` overrides params.yaml; exit if a stage fails."""
    scratch.prepare(folder, yaml.safe_load(overlay.read_text(encoding="utf-8")))
    for names, allow_missing in ((SOURCES, False), (targets, True)):
        if code := scratch.run(folder, *names, allow_missing=allow_missing):
            sys.exit(code)


def made(head: str) -> dict[str, Any]:
    """Make the main and the multilingual run, and check that the sources did not change; return their description.

    `continued` in the description says that another machine may have run stages that have ended earlier.
    """
    continued = UNFINISHED.is_dir()
    FINISHED.unlink(missing_ok=True)
    unfinished.restore((FOLDER, MORE_FOLDER), UNFINISHED)
    compute(FOLDER, OVERLAY, *measured())
    compute(MORE_FOLDER, MORE_OVERLAY, "summary")
    multilingual = FOLDER / MULTILINGUAL
    collect(MORE_FOLDER, multilingual, origin(MORE_FOLDER, head))
    export(MORE_FOLDER, multilingual, "--only", *SIGNIFICANCE)
    run = origin(FOLDER, head) | {"continued": continued}
    show(run)
    if commit() != head:
        raise InputError("the commit changed during the run", hint="start again: only changed stages run again")
    replace(multilingual, MULTILINGUAL)
    stage.write_json(FINISHED, run)
    shutil.rmtree(UNFINISHED, ignore_errors=True)
    return run


def show(run: dict[str, Any]) -> None:
    """Make all pages of the main run, which `run` describes; exit if a stage fails."""
    stage.write_json(FOLDER / ORIGIN, run)  # with this file, the pages label the results as the reference run
    train(*LOADED)
    pages = yaml.safe_load((FOLDER / "params.yaml").read_text(encoding="utf-8"))["notebooks"]
    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(execute, pages))  # after an error, no further page begins
    call(FOLDER, "studies.site.render")


def train(*names: str) -> None:
    """Train models of the main run that pages load and that are missing; exit if a stage fails.

    The times of the run's own training stay in the metrics and in DVC's record. Otherwise, DVC would run all stages
    again that read these models.
    """
    places = [name.removeprefix("train@").partition("-") for name in names]
    files = [FOLDER / stage.METRICS / "timing" / "train" / corpus / f"{model}.json" for corpus, _, model in places]
    kept = {file: file.read_bytes() for file in (*files, FOLDER / "dvc.lock") if file.is_file()}
    if code := scratch.run(FOLDER, *names):
        sys.exit(code)
    for file, content in kept.items():
        file.write_bytes(content)


def execute(page: str) -> None:
    """Execute a notebook on the results of the main run. Raises InputError if it fails."""
    call(FOLDER, "studies.site.execute", f"notebooks/{page}.ipynb", f"results/notebooks/{page}.ipynb")


def shown_anew(head: str) -> dict[str, Any]:
    """Make the pages of the finished run anew by the sources of the commit `head`; return the run's description.

    The description keeps the commit of the figures. Raises InputError if there is no finished run, or if parameters
    have changed that figures depend on.
    """
    if not FINISHED.is_file():
        raise InputError("no finished run", path=FOLDER, hint="run `make reference` first")
    run = json.loads(FINISHED.read_text(encoding="utf-8")) | {"pages": head}
    old, base, overlay = (
        yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in (FOLDER / "params.yaml", Path("params.yaml"), OVERLAY)
    )
    new = scratch.overlaid(base, overlay)
    if changed := [key for key in new.keys() | old.keys() if old.get(key) != new.get(key) and key not in OF_PAGES]:
        hint = "run `make reference`, which computes the stages that depend on them"
        raise InputError(f"other parameters since the run: {', '.join(sorted(changed))}", hint=hint)
    scratch.prepare(FOLDER, overlay)
    show(run)
    return run


def main() -> None:
    """Make the runs or their pages, and collect the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--pages", action="store_true", help="only make the pages of the finished run anew")
    ways.add_argument("--save", action="store_true", help=f"only store the stages that have ended in {UNFINISHED}")
    arguments = parser.parse_args()
    try:
        if arguments.save:
            size = unfinished.save((FOLDER, MORE_FOLDER), UNFINISHED)
            stage.say(f"{UNFINISHED}: {size:,} bytes; commit it, and `make reference` continues the run elsewhere")
            return
        head = commit()
        run = shown_anew(head) if arguments.pages else made(head)
        collect(FOLDER, RESULTS, run)
        export(FOLDER, RESULTS)
        shutil.rmtree(RESULTS / "figures")  # the report has them
        replace(FOLDER / "results" / "report", RESULTS / "report")
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    stage.say(f"{RESULTS}: parameters, metrics, tables and report are ready to be committed")


def measured() -> list[str]:
    """Return the names of all stages except the stages that make notebooks and the report."""
    stages = yaml.safe_load(Path("dvc.yaml").read_text(encoding="utf-8"))["stages"]
    return [name for name in stages if name not in ("notebooks", "report")]


if __name__ == "__main__":
    main()
