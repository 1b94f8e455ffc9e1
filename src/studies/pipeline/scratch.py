"""Run the pipeline with other parameters in a copy of the project, without changing a tracked file.

`make reproduce-all`, `make reference` and the checks of a change use this module. A short parameter file, the overlay,
overrides keys of params.yaml; everything else is copied from the project. git ignores the copy. The copy shares the
project's DVC cache and code: it runs the installed package, and its sources only tell DVC what has changed. The copy is
kept, so that a run that was killed can continue.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from studies.common import stage
from treebound.core.errors import FetchError, InputError, TreeboundError
from treebound.support import yamlfile

ROWS = "decode"  #: key of params.yaml that lists the rows; the rows of an overlay replace all rows of the base
SEEDS = "seeds"  #: key of an overlay that maps a model to the number of seeds with which it is trained
DEFAULT = "default"  #: key of SEEDS for the corpora that are not named
#: files and folders that the pipeline reads, which are copied
PROJECT = (".dvcignore", ".dvc/config", "dvc.yaml", "params.yaml", "notebooks", "src", "results/reference")


def prepare(folder: Path, overlay: dict[str, Any], project: Path = Path()) -> None:
    """Update the copy of `project` in `folder`: `overlay` overrides its params.yaml, and existing results remain."""
    for name in PROJECT:
        source, target = project / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
        else:
            shutil.copyfile(source, target)
    settings = yaml.safe_load((project / "params.yaml").read_text(encoding="utf-8"))
    stage.write(
        folder / "params.yaml", yaml.safe_dump(overlaid(settings, overlay), sort_keys=False, allow_unicode=True)
    )
    cache = (project / ".dvc" / "cache").resolve()
    # DVC refuses to work in a folder that git ignores: turn off its use of git
    stage.write(folder / ".dvc" / "config.local", f"[core]\n    no_scm = true\n[cache]\n    dir = {cache}\n")


def run(folder: Path, *targets: str, jobs: int | None = None, allow_missing: bool = False) -> int:
    """Run all stages in a prepared folder, or only `targets` and the stages that they need; return the exit status.

    jobs           number of stages that run at the same time; None: number of cores that the run may use
    allow_missing  see `studies.pipeline.run.jobs_of`

    Control-C reaches the other process as well, and a signal to terminate is passed on to it. This process then
    waits until the other process has ended.
    """
    options = [] if jobs is None else ["--jobs", str(jobs)]
    options += ["--allow-missing"] * allow_missing
    process = subprocess.Popen([sys.executable, "-m", "studies.pipeline.run", *options, *targets], cwd=folder)
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        return process.wait()
    except KeyboardInterrupt:
        return process.wait()
    finally:
        signal.signal(signal.SIGTERM, before)


def available(corpora: list[str]) -> list[str]:
    """Return the corpora that can be fetched; report the others with the reason, one line each."""
    from treebound.treebanks.fetch import fetch_corpus

    fetched = []
    for corpus in corpora:
        try:
            fetch_corpus(corpus)
            fetched.append(corpus)
        except FetchError as error:
            stage.say(f"skipped: {error}")
    return fetched


def overlaid(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters `base`, overridden by `overlay`.

    Dictionaries are merged; the rows (key `decode`) and all other values are replaced. The key `seeds` of an overlay
    maps a model to a number of seeds, and adds a model and a row for each seed from 2 on. In place of the number, a
    model may have a dictionary: a number for single corpora, and the number of all others under the key `default`.
    Raises InputError if `seeds` names a model without rows or a corpus that is not in the run.
    """
    merged = _merged(base, {key: value for key, value in overlay.items() if key != SEEDS})
    for model, count in (overlay.get(SEEDS) or {}).items():
        if model not in merged["models"] or model not in merged[ROWS]:
            raise InputError(
                f"seeds: {model} is no model with rows", hint="name a model of models with rows under decode"
            )
        counts = _counts(model, count, merged["corpora"])
        for seed in range(2, max(counts.values(), default=0) + 1):
            _seeded(merged, model, seed, [corpus for corpus, seeds in counts.items() if seeds >= seed])
    return merged


def _counts(model: str, count: int | dict[str, int], corpora: list[str]) -> dict[str, int]:
    """Return the number of seeds of a model on each corpus; see `overlaid`, which describes `count`."""
    if isinstance(count, int):
        return dict.fromkeys(corpora, count)
    if unknown := [corpus for corpus in count if corpus not in (*corpora, DEFAULT)]:
        raise InputError(
            f"seeds: {model}: {unknown[0]} is no corpus of the run", hint=f"name corpora and `{DEFAULT}`, the others"
        )
    return {corpus: count.get(corpus, count.get(DEFAULT, 1)) for corpus in corpora}


def _merged(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of `base` into which `overlay` without its key `seeds` is merged."""
    merged = dict(base)
    for key, value in overlay.items():
        old = merged.get(key)
        merged[key] = (
            _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) and key != ROWS else value
        )
    return merged


def _seeded(settings: dict[str, Any], model: str, seed: int, corpora: list[str]) -> None:
    """Add a copy of `model` with another seed, for instance `carreras-seed2`, and a copy of the model's first row.

    The row is not timed. Only `corpora` that have the model get the copy.
    """
    keys = settings["models"][model] or {}
    name = f"{model}-seed{seed}"
    copied = keys | {"same_as": keys.get("same_as", model), "seed": seed}
    if corpora != settings["corpora"]:
        copied["corpora"] = [corpus for corpus in keys.get("corpora") or corpora if corpus in corpora]
        if not copied["corpora"]:
            return
    settings["models"] = settings["models"] | {name: copied}
    row, parsing = next(iter(settings[ROWS][model].items()))
    settings[ROWS] = settings[ROWS] | {name: {f"{row}-seed{seed}": (parsing or {}) | {"timed": False}}}


def main() -> None:
    """Run the command line and exit with a status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of the copy, for instance build/all")
    parser.add_argument("overlay", type=Path, help="file with the parameters to change, for instance params/all.yaml")
    parser.add_argument(
        "targets", nargs="*", help="stages to run, with the stages that they need (default: all stages)"
    )
    parser.add_argument("--skip-missing", action="store_true", help="leave out corpora that cannot be fetched")
    parser.add_argument(
        "--jobs", type=int, help="number of stages that run at the same time (default: number of cores that it may use)"
    )
    arguments = parser.parse_args()
    try:
        overlay = yamlfile.read(arguments.overlay, hint="name a parameter file")[1] or {}
        if not isinstance(overlay, dict):
            raise InputError(
                "not a list of settings",
                path=arguments.overlay,
                hint="write `key: value` lines, as the files of params/ do",
            )
        if arguments.skip_missing:
            overlay["treebanks"] = overlay["corpora"] = available(overlay["corpora"])
            validity = overlay.setdefault("validity", {})
            validity["corpora"] = [name for name in validity.get("corpora", ()) if name in overlay["treebanks"]]
        prepare(arguments.folder, overlay)
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    code = run(arguments.folder, *arguments.targets, jobs=arguments.jobs)
    if code == 0 and not arguments.targets:
        print(f"report: {(arguments.folder / 'results/report/index.html').resolve()}")
    sys.exit(code)


if __name__ == "__main__":
    main()
