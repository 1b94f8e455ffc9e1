"""Run the pipeline with other parameters, in a copy of the project that git ignores: no tracked file is touched.

`make reproduce-all`, `make reference` and the checks of a change all do this. A parameter file of a few lines is laid
over params.yaml; everything else is the project as it stands. The copy shares the project's DVC cache and code (it runs
the installed package, so its sources only tell DVC what has changed), and stays: a run that was killed goes on.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from studies.common import stage
from treebound.core.errors import FetchError, InputError, TreeboundError
from treebound.support import yamlfile

ROWS = "decode"  #: rows of an overlay take the place of all rows
SEEDS = "seeds"  #: of an overlay: how many seeds a model is trained with
#: all that the pipeline reads
PROJECT = (".dvcignore", ".dvc/config", "dvc.yaml", "params.yaml", "notebooks", "src", "results/reference")


def prepare(folder: Path, overlay: dict[str, Any], project: Path = Path()) -> None:
    """Bring `folder` up to date with `project` and its params.yaml overlaid with `overlay`; keep what it computed."""
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
    # git ignores the copy, and DVC does not work where git ignores its files
    stage.write(folder / ".dvc" / "config.local", f"[core]\n    no_scm = true\n[cache]\n    dir = {cache}\n")


def run(folder: Path, *targets: str) -> int:
    """Run the pipeline, or as much of it as `targets` need, in a prepared folder; its exit status."""
    return subprocess.run([sys.executable, "-m", "studies.pipeline.run", *targets], cwd=folder).returncode


def available(corpora: list[str]) -> list[str]:
    """The corpora that can be had. Those that cannot are named with the reason, one line each."""
    from treebound.treebanks.fetch import fetch_corpus

    found = []
    for corpus in corpora:
        try:
            fetch_corpus(corpus)
            found.append(corpus)
        except FetchError as error:
            stage.say(f"skipped: {error}")
    return found


def overlaid(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """`overlay` over `base`: dictionaries key by key, anything else replaced, and the rows as a whole.

    `seeds` of an overlay (model: number of seeds) adds models and rows, see `_seeded`. Raises InputError where it names
    a model that has no rows.
    """
    merged = _merged(base, {key: value for key, value in overlay.items() if key != SEEDS})
    for model, count in (overlay.get(SEEDS) or {}).items():
        if model not in merged["models"] or model not in merged[ROWS]:
            raise InputError(f"seeds: {model} is no model with rows", hint="see models and decode")
        for seed in range(2, count + 1):
            _seeded(merged, model, seed)
    return merged


def _merged(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """`overlay` over `base` without `seeds`."""
    merged = dict(base)
    for key, value in overlay.items():
        old = merged.get(key)
        merged[key] = (
            _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) and key != ROWS else value
        )
    return merged


def _seeded(settings: dict[str, Any], model: str, seed: int) -> None:
    """Add a model that differs from another in its seed alone, and its first row: `carreras-seed2`. It is not timed."""
    own = settings["models"][model] or {}
    name = f"{model}-seed{seed}"
    settings["models"] = settings["models"] | {name: own | {"same_as": own.get("same_as", model), "seed": seed}}
    row, how = next(iter(settings[ROWS][model].items()))
    settings[ROWS] = settings[ROWS] | {name: {f"{row}-seed{seed}": (how or {}) | {"timed": False}}}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where to run, for instance build/all")
    parser.add_argument("overlay", type=Path, help="parameters that differ, for instance params/all.yaml")
    parser.add_argument("targets", nargs="*", help="stages to run, with what they need; all of them if none is named")
    parser.add_argument("--skip-missing", action="store_true", help="leave out corpora that cannot be had")
    arguments = parser.parse_args()
    try:
        overlay = yamlfile.read(arguments.overlay, hint="name a parameter file")[1] or {}
        if not isinstance(overlay, dict):
            raise InputError("not settings but a single value", path=arguments.overlay, hint="see params/")
        if arguments.skip_missing:
            overlay["treebanks"] = overlay["corpora"] = available(overlay["corpora"])
            validity = overlay.setdefault("validity", {})
            validity["corpora"] = [name for name in validity.get("corpora", ()) if name in overlay["treebanks"]]
        prepare(arguments.folder, overlay)
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    code = run(arguments.folder, *arguments.targets)
    if code == 0 and not arguments.targets:
        print(f"report: {(arguments.folder / 'results/report/index.html').resolve()}")
    sys.exit(code)


if __name__ == "__main__":
    main()
