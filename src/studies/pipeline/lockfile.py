"""Let DVC read and replace single entries of dvc.lock instead of the whole file.

For every stage, DVC reads all entries of dvc.lock; after the stage, it parses the file once more, together with its
comments, and writes it anew. With the thousand stages of a reference run, this takes ten seconds for each stage. The
content of the file is the same either way. Only anchors are not written: entries that are written one by one would
define the same anchor twice, and a file with two such entries cannot be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from treebound.support import atomic

#: the section of the stages, up to the next section or the end of the file
SECTION = re.compile(r"^stages:\n(?P<entries>(?:[ \n].*\n?)*)", re.MULTILINE)
#: the beginning of an entry
ENTRY = re.compile(r"^  \S", re.MULTILINE)
#: an anchor or alias, which can belong to several entries (also text that looks like one)
ANCHOR = re.compile(r"(?:: |- )[&*]\w")


def install(names: Sequence[str]) -> None:
    """Make DVC read the entries of the stages `names` alone, and write entries by `with_entry`, in this process."""
    from dvc.dvcfile import Lockfile

    Lockfile.load = _load(Lockfile.load, names)
    Lockfile.dump_stages = _dump_stages(Lockfile.dump_stages)


def entries(text: str, names: Sequence[str]) -> str | None:
    """Return the text of a dvc.lock with the entries of the stages `names` alone.

    The result is None if the text has no section of stages that is written as DVC writes it, or if it has anchors.
    """
    if (section := _section(text)) is None:
        return None
    spans = [_span(text, section, f"  {name}:\n") for name in names]
    return text[: section[0]] + "".join(text[start:end] for start, end in spans)


def with_entry(text: str, entry: str) -> str | None:
    """Return the text of a dvc.lock with a new entry, in the place of an older one of the same stage or at the end.

    text   content of the file
    entry  the entry, whose first line is the indented name of the stage

    The result is None if the text has no section of stages that is written as DVC writes it, or if it has anchors.
    """
    if (section := _section(text)) is None or not re.match(r"  [^\s?]", entry):
        return None
    start, end = _span(text, section, entry[: entry.index("\n") + 1])
    return text[:start] + entry + text[end:]


def _section(text: str) -> tuple[int, int] | None:
    """Return the place of the entries in the text of a dvc.lock; None if DVC has not written it, or with anchors."""
    section = SECTION.search(text)
    return section.span("entries") if section and text.endswith("\n") and not ANCHOR.search(text) else None


def _span(text: str, section: tuple[int, int], first: str) -> tuple[int, int]:
    """Return the place of the entry whose first line is `first`; without it, an empty place at the section's end."""
    begin, end = section
    if (before := text.find(f"\n{first}", begin - 1, end)) < 0:
        return end, end
    following = ENTRY.search(text, before + 1 + len(first), end)
    return before + 1, following.start() if following else end


def _load(by_dvc: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """Return a method of DVC's class `Lockfile` that calls the method `by_dvc` where `entries` has no result."""

    def load(self: Any, **kwargs: Any) -> Any:
        from dvc.utils.serialize import loads_yaml

        path = Path(self.path)
        text = entries(path.read_text(encoding="utf-8"), names) if path.is_file() else None
        if text is None:
            return by_dvc(self, **kwargs)
        data = loads_yaml(text)
        return data | {"stages": data["stages"] or {}}

    return load


def _dump_stages(by_dvc: Callable[..., None]) -> Callable[..., None]:
    """Return a method of DVC's class `Lockfile` that calls the method `by_dvc` where `with_entry` has no result."""

    def dump_stages(self: Any, stages: Sequence[Any], **kwargs: Any) -> None:
        from dvc.stage import serialize
        from dvc.utils.serialize import dumps_yaml

        path = Path(self.path)
        old: str | None = path.read_text(encoding="utf-8") if path.is_file() else None
        text = old
        for stage in stages:
            data = serialize.to_lockfile(stage, **kwargs)
            if text is not None:
                copy = json.loads(json.dumps(data))  # without shared objects, which would get anchors
                text = with_entry(text, dumps_yaml({"stages": copy}).removeprefix("stages:\n"))
        if text is None:
            by_dvc(self, stages, **kwargs)
        elif text != old:
            with atomic.replacing(path) as file:
                file.write(text.encode())
            self.repo.scm_context.track_file(self.relpath)

    return dump_stages
