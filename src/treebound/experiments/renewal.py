"""A part of the reference made anew: the metrics of some stages, beside what stands in results/reference.

    python -m treebound.experiments.reference classifiers ccg decode_transition

computes what these stages of dvc.yaml need in build/reference, copies their metrics, and the parameters that they read,
into the reference, and says in its run.json of which commit, date and machine they are. Everything else stays. Then
`python -m treebound.report.again` and `python -m treebound.report.export` show it.

A reference may so be made in several sittings, even on machines that keep nothing between them: renew other stages in
each. Those of an earlier commit count as of this one where neither code nor parameters that they need have changed
(`needs`). Once all stages are of one commit, it is the reference's, and nothing that was there before is left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from treebound.core.errors import InputError
from treebound.experiments import needs, stage
from treebound.experiments import run as pipeline
from treebound.support import yamlfile
from treebound.support.atomic import replacing

ROWS = "decode"  #: of these parameters a stage has rows, not all
COMMON = frozenset({"seed", "slice"})  #: what every part of a reference has alike

Items = list[dict[str, Any]]


def stages_of(folder: Path, names: Sequence[str]) -> dict[str, tuple[dict[str, Any], Items]]:
    """Name -> what dvc.yaml says of a stage and the items that it is made for, one of them if it is `stage@item`.

    Raises InputError on unknown names.
    """
    every = yaml.safe_load((folder / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    planned = yamlfile.read(folder / "params.yaml")[1]  # a stage is made for `${corpora}`, or for what is planned
    planned |= yaml.safe_load((folder / "stages.yaml").read_text(encoding="utf-8"))
    known = _of_many(every)
    if unknown := {name.partition("@")[0] for name in names} - set(known):
        raise InputError(f"no stage {min(unknown)!r} with metrics", hint=f"one of {', '.join(known)}")
    found = {}
    for name in names:
        kind, _, only = name.partition("@")
        said = every[kind]
        if "foreach" in said:
            do, items = said["do"], dict(_planned(planned, said["foreach"]))
        else:
            values = [_planned(planned, where) for where in said["matrix"].values()]
            do = said
            items = {"-".join(map(str, one)): dict(zip(said["matrix"], one, strict=True)) for one in product(*values)}
        if only and only not in items:
            raise InputError(f"no stage {name!r}", hint=f"{kind}@ one of {', '.join(items) or 'nothing'}")
        found[name] = do, [items[only]] if only else list(items.values())
    return found


def _of_many(every: dict[str, Any]) -> list[str]:
    """The stages that are made for several corpora, rows or models: those with metrics."""
    return sorted(name for name, said in every.items() if "foreach" in said or "matrix" in said)


def _planned(plan: Any, where: Any) -> Any:
    """What stands at `${a.b}`; a list as it is."""
    if not isinstance(where, str):
        return where
    for key in where.removeprefix("${").removesuffix("}").split("."):
        plan = plan[key]
    return plan


def metrics_of(do: dict[str, Any], items: Items) -> Iterator[Path]:
    """The files of metrics that a stage writes for its items, from the folder of a run."""
    outs = [out if isinstance(out, str) else next(iter(out)) for key in ("outs", "metrics") for out in do.get(key, ())]
    for out in outs:
        if out.startswith(f"{stage.METRICS}/"):
            yield from (Path(re.sub(r"\$\{item\.(\w+)\}", lambda m, one=item: str(one[m[1]]), out)) for item in items)


def merged(kept: dict[str, Any], run: dict[str, Any], do: dict[str, Any], items: Items) -> dict[str, Any]:
    """The parameters of a reference with those of a run that a stage reads; of the rows those that it is made for.

    A row is then one of the corpora that it is made for, and of those that the reference has it of, if it is the same.
    """
    read = {name.partition(".")[0] for name in do.get("params", ())} - COMMON
    result = kept | {name: run[name] for name in read - {ROWS}}
    rows = dict(kept[ROWS])
    for name, row in run[ROWS].items():
        made = {item["corpus"] for item in items if item.get("row") == name}
        if made:
            old, wanted = rows.get(name, {}), row.get("corpora", run["corpora"])
            if _but_corpora(old) == _but_corpora(row):
                made |= set(old.get("corpora", kept["corpora"]))
            some = {"corpora": [c for c in wanted if c in made], "timed": bool(row.get("timed") or old.get("timed"))}
            rows[name] = row if made >= set(wanted) else row | some
    return result | {ROWS: rows}


def _but_corpora(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("corpora", "timed")}


def renew(folder: Path, target: Path, names: Sequence[str], origin: dict[str, Any]) -> int:
    """Copy metrics and parameters of finished stages in `folder` into the reference `target`; how many files.

    origin: commit, date, machine, checksums of that run. Of corpora that the rest of the reference has not, or has as
    an older converter wrote them, the checksums are kept with the stage. Raises InputError where a stage has not ended;
    nothing is copied then.
    """
    info = json.loads((target / "run.json").read_text(encoding="utf-8"))
    sums = {name: found for name, found in origin["checksums"].items() if info["checksums"].get(name) != found}
    source = {key: origin[key] for key in ("commit", "date", "machine")} | {"checksums": sums}
    kept, run = (yamlfile.read(where / "params.yaml")[1] for where in (target, folder))
    files: list[Path] = []
    for name, (do, items) in stages_of(folder, names).items():
        files += metrics_of(do, items)
        kept = merged(kept, run, do, items)
        info.setdefault("renewed", {})[name] = source | {"needs": needs.needs(folder, name)}
    for path in files:
        if not (folder / path).is_file():
            raise InputError("not computed", path=folder / path, hint="run the stage to its end")
    for path in files:
        with replacing(target / path.relative_to(stage.METRICS.parent)) as out:
            out.write((folder / path).read_bytes())
    _bring_times(folder, target, names)
    every = dict(_with_metrics(folder))
    metrics = {path for found in every.values() for path in found}
    sittings = info.get("sittings", {}) | info["renewed"]
    there = all((target / path.relative_to(stage.METRICS.parent)).is_file() for path in metrics)
    if there and all(needs.unchanged(folder, sittings.get(name, {}).get("needs")) for name in every):
        every_sum = {k: v for of in (info, *sittings.values(), origin) for k, v in of["checksums"].items()}
        info = origin | {"checksums": every_sum, "sittings": sittings}
        kept = run
        _drop_others(target, metrics)
    stage.write(target / "params.yaml", yaml.safe_dump(kept, sort_keys=False, allow_unicode=True))
    stage.write_json(target / "run.json", info)
    return len(files)


def _with_metrics(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """The stages of a run that have metrics, with their files."""
    every = yaml.safe_load((folder / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    for name, (do, items) in stages_of(folder, _of_many(every)).items():
        if found := list(metrics_of(do, items)):
            yield name, found


def _bring_times(folder: Path, target: Path, names: Sequence[str]) -> None:
    """Put what these stages took to the times of a reference; those of before go."""
    lines = []
    for where, ours in (
        (target / pipeline.TIMES.relative_to(stage.METRICS.parent), False),
        (folder / pipeline.TIMES, True),
    ):
        text = where.read_text(encoding="utf-8") if where.is_file() else ""
        lines += [line for line in text.splitlines() if _is_of(line.partition(",")[0], names) == ours]
    stage.write(target / pipeline.TIMES.relative_to(stage.METRICS.parent), "".join(f"{line}\n" for line in lines))


def _is_of(one: str, names: Sequence[str]) -> bool:
    return one in names or one.partition("@")[0] in names


def _drop_others(target: Path, files: set[Path]) -> None:
    """Remove the metrics of stages and rows that a reference no longer has."""
    kept = {target / path.relative_to(stage.METRICS.parent) for path in files | {pipeline.TIMES}}
    for path in (target / stage.METRICS.name).rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()
