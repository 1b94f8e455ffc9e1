"""YAML files of settings: parsed strictly, with line numbers in error messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from treebound.core.errors import InputError


class _Loader(yaml.SafeLoader):
    """A SafeLoader that rejects duplicate keys and reports the line of an invalid value."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    problem = f"the key {key.value[:30]!r} is given twice"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except ValueError:  # an integer of thousands of digits, or an invalid date
            short = str(node.value)[:30]
            raise yaml.MarkedYAMLError(
                problem=f"{short!r} is not a valid value", problem_mark=node.start_mark
            ) from None


# PyYAML takes the empty mapping first and fills it later, so that a node may contain an alias of itself
def _mapping(loader: _Loader, node: yaml.MappingNode) -> Any:
    """Construct a mapping for the loader's table of constructors."""
    data: dict = {}
    yield data
    data.update(loader.construct_mapping(node))


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def read(path: Path, hint: str = "") -> tuple[yaml.Node | None, Any]:
    """Read a YAML file and return (root node for `line_of`, data).

    hint  advice for the user if the file cannot be read

    Raises InputError with file, line and reason.
    """
    try:
        text = path.read_bytes().decode("utf-8")
        loader = _Loader(text)
        node = loader.get_single_node()
        data = loader.construct_document(node) if node is not None else None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path, hint=hint) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        reason = f"byte 0x{error.object[error.start]:02x} is not utf-8"
        raise InputError(reason, path=path, line=line, hint="save it as UTF-8") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(
            f"YAML does not allow the character {error.character:#x}", path=path, line=line, hint="delete it"
        ) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = str(getattr(error, "problem", None) or error).replace("\n", " ")
        place = mark and mark.line + 1
        raise InputError(f"not valid YAML: {reason}", path=path, line=place, hint="correct this line") from None
    except RecursionError:
        raise InputError("nested too deeply", path=path, hint="settings are a few levels deep") from None
    return node, data


def line_of(node: yaml.Node | None, keys: Sequence[int | str]) -> int | None:
    """Return the line (from 1) of a nested key or list index.

    keys  the path to the key or index, from the top level of the file

    If the file lacks the key or index, return the line of the last one on the path that exists, or None.
    """
    line = None
    for step in keys:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(step)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def file_name(text: str) -> bool:
    """Return whether a text can be the name of a file."""
    try:
        return bool(text.strip()) and b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
