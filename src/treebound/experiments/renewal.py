"""A part of the reference made anew: the metrics of some stages, beside what stands in results/reference.

    python -m treebound.experiments.reference classifiers ccg decode_transition

computes what these stages of dvc.yaml need in build/reference, copies their metrics, and the parameters that they read,
into the reference, and says in its run.json of which commit, date and machine they are. Everything else stays. Then
`python -m treebound.report.join` brings what needs parses, and `python -m treebound.report.again` shows it all.

A reference may so be made in several sittings, even on machines that keep nothing between them: renew other stages in
each. Those of an earlier commit count as of this one where neither code nor parameters that they need have changed
(`needs`). Once all stages are of one commit, it is the reference's, and nothing that was there before is left.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from treebound.core.errors import InputError
from treebound.experiments import needs, stage
from treebound.experiments import run as pipeline
from treebound.experiments.params import ROOMS
from treebound.support import yamlfile
from treebound.support.atomic import replacing

BENCHMARK = Path("metrics", "benchmark")
ROWS = "decode"  #: of these parameters a stage has rows, not all
COMMON = frozenset({"seed", "slice"})  #: what every part of a reference has alike

Items = dict[str, dict[str, Any]]  #: name -> what it is made of
Source = dict[str, Any]  #: commit, date, machine, checksums


def stages_of(folder: Path, names: Sequence[str]) -> dict[str, tuple[dict[str, Any], Items]]:
    """Kind of stage -> what dvc.yaml says of it and the items that are named: `stage` for all, or `stage@item`.

    Raises InputError on unknown names.
    """
    every = yaml.safe_load((folder / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    planned = yamlfile.read(folder / "params.yaml")[1]  # a stage is made for `${corpora}`, or for what is planned
    planned |= yaml.safe_load((folder / "stages.yaml").read_text(encoding="utf-8"))
    known = _of_many(every)
    if unknown := {name.partition("@")[0] for name in names} - set(known):
        raise InputError(f"no stage {min(unknown)!r} with metrics", hint=f"one of {', '.join(known)}")
    found: dict[str, tuple[dict[str, Any], Items]] = {}
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
        found.setdefault(kind, (do, {}))[1].update({only: items[only]} if only else items)
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
            yield from (
                Path(re.sub(r"\$\{item\.(\w+)\}", lambda m, one=item: str(one[m[1]]), out)) for item in items.values()
            )


def merged(kept: dict[str, Any], run: dict[str, Any], do: dict[str, Any], items: Items) -> dict[str, Any]:
    """The parameters of a reference with those of a run that a stage reads; of the rows those that it is made for.

    A row is then one of the corpora that it is made for, and of those that the reference has it of, if it is the same.
    """
    read = {name.partition(".")[0] for name in do.get("params", ())} - COMMON
    result = kept | {name: run[name] for name in read - {ROWS}}
    rows = dict(kept[ROWS])
    for name, row in run[ROWS].items():
        made = {item["corpus"] for item in items.values() if item.get("row") == name}
        if made:
            old, wanted = rows.get(name, {}), row.get("corpora", run["corpora"])
            if _what_it_does(old) == _what_it_does(row):
                made |= set(old.get("corpora", kept["corpora"]))
            some = {"corpora": [c for c in wanted if c in made], "timed": row.get("timed", not row.get("corpora"))}
            rows[name] = row if made >= set(wanted) else row | some
    return result | {ROWS: rows}


def _timed_where_measured(target: Path, kept: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a reference whose rows are `timed` where the run's are, and all their speeds are known."""

    @cache
    def measured(room: str, corpus: str) -> set[str]:
        path = target / BENCHMARK / corpus / f"{room}.json"
        return {row["row"] for row in json.loads(path.read_text(encoding="utf-8"))} if path.is_file() else set()

    def known(name: str, row: dict[str, Any]) -> bool:
        room = ROOMS[row.get("system", "graph")]
        return all(name in measured(room, corpus) for corpus in row.get("corpora") or kept["corpora"])

    rows = dict(kept[ROWS])
    for name, row in rows.items():
        planned = run[ROWS].get(name, row)
        wanted = planned.get("timed", not planned.get("corpora"))
        if (wanted and known(name, row)) != row.get("timed", not row.get("corpora")):
            rows[name] = row | {"timed": bool(wanted and known(name, row))}
    return kept | {ROWS: rows}


def _what_it_does(row: dict[str, Any]) -> dict[str, Any]:
    """A row but for where it is tested and whether its speed is measured."""
    return {name: value for name, value in row.items() if name not in ("corpora", "timed")}


def renew(folder: Path, target: Path, names: Sequence[str], origin: Source) -> int:
    """Copy metrics and parameters of finished stages in `folder`, and of those that they need, into `target`.

    origin: of that run. Of corpora that the rest of the reference has not, or has as an older converter wrote them, the
    checksums are kept with the stage. Returns how many files are copied. Raises InputError where a stage has not ended;
    nothing is copied then.
    """
    info = json.loads((target / "run.json").read_text(encoding="utf-8"))
    kept, run = (yamlfile.read(where / "params.yaml")[1] for where in (target, folder))
    state, every = needs.State(folder), _with_metrics(folder)
    asked = [f"{kind}@{item}" for kind, (_, items) in stages_of(folder, names).items() for item in items]
    needed = {one for name in asked for one in state.upstream(name)}
    wanted = [name for name in every if name in needed]
    stages = stages_of(folder, wanted)
    files = [path for do, items in stages.values() for path in metrics_of(do, items)]
    for path in files:
        if not (folder / path).is_file():
            raise InputError("not computed", path=folder / path, hint="run the stage to its end")
    _note(info, state, wanted, origin)
    for path in files:
        with replacing(_place(target, path)) as out:
            out.write((folder / path).read_bytes())
    _bring_times(folder, target, wanted)
    for do, items in stages.values():
        kept = merged(kept, run, do, items)
    kept = _timed_where_measured(target, kept, run)
    if _is_whole(info, target, state, every):
        info, kept = _as_one(info, origin), run
        _drop_others(target, {path for found in every.values() for path in found})
    stage.write(target / "params.yaml", yaml.safe_dump(kept, sort_keys=False, allow_unicode=True))
    stage.write_json(target / "run.json", info)
    return len(files)


def _place(target: Path, path: Path) -> Path:
    """Where a reference has what a run has at `path`."""
    return target / path.relative_to(stage.METRICS.parent)


def _note(info: dict[str, Any], state: needs.State, names: Sequence[str], origin: Source) -> None:
    """Say in run.json what was renewed, and what it needs; the code that many need stands there once."""
    sums = {name: found for name, found in origin["checksums"].items() if info["checksums"].get(name) != found}
    source = {key: origin[key] for key in ("commit", "date", "machine")} | {"checksums": sums}
    renewed, code = info.setdefault("renewed", {}), info.setdefault("code", {})
    for name in names:
        need = state.needs(name)
        which = hashlib.sha256("\n".join(need.code).encode()).hexdigest()[:12]
        code[which] = need.code
        renewed[name] = source | {"needs": {"code": which, "params": need.params, "sha256": need.sha256}}
    kinds = {name.partition("@")[0] for name in names} & renewed.keys()  # noted as a whole by an older version
    for kind, (_, items) in stages_of(state.folder, sorted(kinds)).items():
        if all(f"{kind}@{item}" in renewed for item in items):
            del renewed[kind]


def _is_whole(info: dict[str, Any], target: Path, state: needs.State, every: Mapping[str, Sequence[Path]]) -> bool:
    """Is there everything that the run has, and is all of it as if it had been computed now?"""
    sittings = info.get("sittings", {}) | info["renewed"]
    if not all(_place(target, path).is_file() for found in every.values() for path in found):
        return False
    noted = [sittings.get(name, {}).get("needs") for name in every]
    return all(
        one is not None and state.has(needs.Needs(info["code"][one["code"]], one["params"], one["sha256"]))
        for one in noted
    )


def _as_one(info: dict[str, Any], origin: Source) -> dict[str, Any]:
    """run.json of a reference that is all of one commit; of a sitting what differs from that, and what it needs."""
    sittings = info.get("sittings", {}) | info["renewed"]
    sums = {k: v for of in (info, *sittings.values(), origin) for k, v in of.get("checksums", {}).items()}
    before = {k: v for k, v in info.items() if k in ("commit", "date", "machine")}
    for name, of in sittings.items():
        own = {k: v for k, v in of.get("checksums", {}).items() if sums[k] != v}
        sittings[name] = {k: v for k, v in (before | of | {"checksums": own}).items() if v and v != origin.get(k)}
    return origin | {"checksums": sums, "sittings": sittings, "code": info["code"]}


def _with_metrics(folder: Path) -> dict[str, list[Path]]:
    """The stages of a run that have metrics, each with its item, and their files."""
    every = yaml.safe_load((folder / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    stages = stages_of(folder, _of_many(every))
    each = {
        f"{kind}@{item}": list(metrics_of(do, {item: of}))
        for kind, (do, items) in stages.items()
        for item, of in items.items()
    }
    return {name: files for name, files in each.items() if files}


def _bring_times(folder: Path, target: Path, names: Sequence[str]) -> None:
    """Put what these stages took to the times of a reference; those of before go."""
    lines = []
    for path, ours in ((_place(target, pipeline.TIMES), False), (folder / pipeline.TIMES, True)):
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        lines += [line for line in text.splitlines() if _is_of(line.partition(",")[0], names) == ours]
    stage.write(_place(target, pipeline.TIMES), "".join(f"{line}\n" for line in lines))


def _is_of(one: str, names: Sequence[str]) -> bool:
    return one in names or one.partition("@")[0] in names


def _drop_others(target: Path, files: set[Path]) -> None:
    """Remove the metrics of stages and rows that a reference no longer has."""
    kept = {_place(target, path) for path in files | {pipeline.TIMES}}
    for path in (target / stage.METRICS.name).rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()
