"""Tables that need the parses of a run, brought into a reference: rows with the same index take the place of its own.

    python -m treebound.report.join build/reference results/reference

A reference is committed without parses. When rows of it are renewed (`experiments.renewal`), what only parses tell of
them comes by this. A run may be unfinished: what it has not parsed is left as the reference has it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from treebound.experiments.stage import PREDICTIONS
from treebound.report.command import status
from treebound.report.export import TABLES, export, markdown
from treebound.report.tables import sampling
from treebound.support import yamlfile
from treebound.support.atomic import replacing

#: table -> how many columns of its file say what a row is about
JOINED = {"significance-uas": 3, "significance-las": 3, "differences": 5, sampling.KEPT: 3}
#: parameters that name models which such a run may lack
NAMING = {"ablation", "confidence", "arena", "approximations", "score_time", "steps", "cross_validation"}


def join(run: Path, reference: Path) -> list[str]:
    """Bring these tables; returns the changed files. Raises InputError where a run or a reference cannot be read."""
    with tempfile.TemporaryDirectory() as folder:
        part = _part(run, Path(folder) / "part")
        export(part, Path(folder) / "out", list(JOINED))
        changed = []
        for name, width in JOINED.items():
            path, fresh = reference / "tables" / f"{name}.csv", Path(folder) / "out" / "tables" / f"{name}.csv"
            if not fresh.is_file():
                continue
            data = joined(*(_read(one, width) for one in (path, fresh)))
            title = f"# {TABLES[name][0]}\n\n{markdown(data)}\n"
            for suffix, text in ((".csv", data.to_csv(lineterminator="\n")), (".md", title)):
                with replacing(path.with_suffix(suffix)) as file:
                    file.write(text.encode())
                changed.append(str(path.with_suffix(suffix)))
    return changed


def joined(kept: pd.DataFrame, fresh: pd.DataFrame) -> pd.DataFrame:
    """`kept` with the rows of `fresh`: in their place where they are there, else behind all others."""
    data = pd.concat([kept, fresh])
    data = data[~data.index.duplicated(keep="last")]
    order = dict.fromkeys([*kept.index, *fresh.index])
    return data.loc[list(order)]


def _read(path: Path, width: int) -> pd.DataFrame:
    if not path.is_file():
        return pd.DataFrame()
    return pd.read_csv(path, index_col=list(range(width)))


def _part(run: Path, folder: Path) -> Path:
    """A project of those rows of a run that it has parsed."""
    (folder / "results").mkdir(parents=True)
    shutil.copyfile(run / "dvc.yaml", folder / "dvc.yaml")
    for name in ("results/metrics", "results/predictions", "data"):
        (folder / name).symlink_to((run / name).resolve())
    params: dict[str, Any] = yamlfile.read(run / "params.yaml")[1]
    parsed = run / PREDICTIONS
    for name, row in list(params["decode"].items()):
        wanted = row.get("corpora", params["corpora"])
        there = [corpus for corpus in wanted if (parsed / corpus / "decode" / f"{name}.csv").is_file()]
        if not there:
            del params["decode"][name]
        elif there != wanted:
            row["corpora"] = there
    for name in NAMING & params.keys():
        del params[name]
    (folder / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return folder


def main(argv: list[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m treebound.report.join", description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path, help="folder of the run")
    parser.add_argument("reference", type=Path, help="folder of the reference")
    arguments = parser.parse_args(argv)
    return status(lambda: print(*join(arguments.run, arguments.reference), sep="\n"))


if __name__ == "__main__":
    sys.exit(main())
