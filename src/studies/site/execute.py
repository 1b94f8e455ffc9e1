"""Run a notebook in batch so that the same inputs give the same file, byte for byte.

    python -m studies.site.execute notebooks/20-main-comparison.ipynb results/notebooks/20-main-comparison.ipynb \\
        [-p NAME VALUE]...

This module wraps papermill. papermill by itself leaves times, durations and random ids in its output, and uses
whichever kernel Jupyter's folders name first. See docs/decisions/002-notebooks.md.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import papermill
from papermill.exceptions import PapermillExecutionError

from studies.site.command import status
from treebound.core.errors import InputError, TreeboundError
from treebound.support.atomic import replacing

KERNEL = "python3"  #: name of the kernel in the notebooks
WIDGET = "application/vnd.jupyter.widget-view+json"


def execute(source: Path, target: Path, parameters: dict[str, Any] | None = None) -> Path:
    """Execute `source` with `parameters` and write the result to `target`, whose folder is created.

    The kernel uses the current interpreter and the working folder of the calling process; progress bars are off. Raises
    InputError if a notebook is missing, unreadable or lacks a parameter. Raises TreeboundError with the cell and its
    error if a cell fails. After an error, `target` is unchanged.
    """
    logging.getLogger("papermill").setLevel(logging.ERROR)
    read(source)  # the error messages of read() are clearer than the messages of papermill
    try:
        declared = papermill.inspect_notebook(str(source))
    except ValueError:
        raise InputError(
            "the notebook names no kernel", path=source, hint="save it once in JupyterLab (`make lab`)"
        ) from None
    for name in parameters or {}:
        if name not in declared:
            valid = ", ".join(sorted(declared)) or "none"
            raise InputError(f"no parameter {name!r}", path=source, hint=f"its parameters: {valid}")
    with _kernel():
        try:
            notebook = papermill.execute_notebook(
                str(source), None, parameters=parameters or {}, kernel_name=KERNEL, progress_bar=False
            )
        except PapermillExecutionError as error:
            if error.ename == "SettingError":  # a parameter has an invalid value
                raise InputError(error.evalue, path=source) from None
            raise TreeboundError(
                f"cell {error.cell_index + 1} failed with {error.ename}: {error.evalue}",
                path=source,
                hint="open the notebook with `make lab` and run it there",
            ) from None
    write(scrub(notebook), target)
    return target


def read(path: Path) -> nbformat.NotebookNode:
    """Read a notebook of format 4. Raises InputError if it is missing or not a notebook."""
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise InputError("no such notebook", path=path) from None
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"not a notebook ({type(error).__name__})", path=path) from None


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write a notebook atomically; its folder is created."""
    with replacing(path) as file:
        file.write((nbformat.writes(notebook) + "\n").encode())


def scrub(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove everything that differs between executions: times, durations, random ids, and the division of streams.

    Widgets are removed, too: their ids are random, and they do nothing without a kernel.
    """
    for key in ("papermill", "widgets"):
        notebook.metadata.pop(key, None)
    for i, cell in enumerate(notebook.cells):
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        cell.id = f"cell-{i}"
        if cell.cell_type == "code":
            outputs = [output for output in cell.outputs if WIDGET not in output.get("data", ())]
            cell.outputs = _merge_streams(outputs)
    return notebook


def _merge_streams(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Join consecutive outputs of the same stream."""
    merged: list[nbformat.NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else None
        if last is not None and output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


@contextmanager
def _kernel() -> Iterator[None]:
    """Put a kernel that uses this interpreter first on Jupyter's path; turn logs and progress bars off."""
    kernel = ["ipykernel_launcher", "--log-level=CRITICAL", "-f", "{connection_file}"]
    argv = [sys.executable, "-m", "studies.pipeline.warm", *kernel]
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "kernels" / KERNEL
        spec.mkdir(parents=True)
        content = {"argv": argv, "display_name": "Python 3", "language": "python"}
        (spec / "kernel.json").write_text(json.dumps(content), encoding="utf-8")
        variables = {
            "JUPYTER_PATH": os.pathsep.join(filter(None, [folder, os.environ.get("JUPYTER_PATH", "")])),
            "TQDM_DISABLE": "1",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }
        old_values = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        try:
            yield
        finally:
            for name, value in old_values.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _value(text: str) -> Any:
    """Parse a parameter of the command line: as JSON if it is valid JSON (3, true, ["a"]), otherwise as text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.site.execute", description="Run a notebook in batch and write the executed notebook."
    )
    parser.add_argument(
        "source", type=Path, help="notebook to execute, for instance notebooks/20-main-comparison.ipynb"
    )
    parser.add_argument("target", type=Path, help="file for the executed notebook; its folder is created")
    parser.add_argument(
        "-p",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        dest="parameters",
        help="value of a parameter of the notebook, for instance: -p corpus en_ewt; repeat the option for others",
    )
    args = parser.parse_args(argv)

    def work() -> None:
        target = execute(args.source, args.target, {name: _value(value) for name, value in args.parameters})
        print(f"executed: {target}", file=sys.stderr, flush=True)

    return status(work)


if __name__ == "__main__":
    sys.exit(main())
