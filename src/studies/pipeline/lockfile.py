"""Let DVC replace one entry of dvc.lock instead of reading and writing the whole file.

After every stage, DVC parses dvc.lock together with its comments, and writes it anew. With the thousand stages of a
reference run, this takes ten seconds for each stage. The text of the file is the same either way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from treebound.support import atomic

#: the section of the stages, up to the next section or the end of the file
SECTION = re.compile(r"^stages:\n(?P<entries>(?:[ \n].*\n?)*)", re.MULTILINE)


def install() -> None:
    """Make DVC write entries by `with_entry` in this process."""
    from dvc.dvcfile import Lockfile

    Lockfile.dump_stages = _dump_stages(Lockfile.dump_stages)


def with_entry(text: str, entry: str) -> str | None:
    """Return the text of a dvc.lock with a new entry, in the place of an older one of the same stage or at the end.

    text   content of the file
    entry  the entry, whose first line is the indented name of the stage

    The result is None if the text has no section of stages that is written as DVC writes it.
    """
    section = SECTION.search(text)
    if section is None or not re.match(r"  [^\s?]", entry) or text[-1:] != "\n":
        return None
    start, end = section.span("entries")
    name = entry[: entry.index("\n") + 1]
    if (place := text.find(f"\n{name}", start - 1, end)) >= 0:
        start = place + 1
        following = re.compile(r"^  \S", re.MULTILINE).search(text, start + len(name), end)
        end = following.start() if following else end
    else:
        start = end
    return text[:start] + entry + text[end:]


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
                text = with_entry(text, dumps_yaml({"stages": data}).removeprefix("stages:\n"))
        if text is None:
            by_dvc(self, stages, **kwargs)
        elif text != old:
            with atomic.replacing(path) as file:
                file.write(text.encode())
            self.repo.scm_context.track_file(self.relpath)

    return dump_stages
