"""Damaged and forged files, which `test_files_models` and `test_files_inputs` give to the readers."""

from __future__ import annotations

import copy
import io
import json
import random
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from treebound.learning.storage import _digest

#: JSON values that replace a value of a header
JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    2,
    29,
    10**30,
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "pattern",
    "a\tb",
    "\0",
    "a\nb",
    "\ud800",
    [],
    ["x"],
    ["x", "x"],
    [[]],
    {},
    {"x": 1},
)


def flipped(content: bytes, rng: random.Random) -> bytes:
    """Return the content with some bytes changed, removed, repeated or inserted."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 3, 10))):
        position = rng.randrange(len(changed) + 1)
        match rng.randrange(6):
            case 0 | 1 if position < len(changed):
                changed[position] ^= 1 << rng.randrange(8)
            case 2:
                changed[position : position + rng.choice((1, 4, 100))] = bytes(
                    rng.randrange(256) for _ in range(rng.randint(0, 8))
                )
            case 3:
                del changed[position:]
            case 4:
                changed[position:position] = changed[position : position + rng.choice((1, 10, 1000))]
            case _:
                changed[position : position + 4] = rng.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f"))
    return bytes(changed)


class ModelFile:
    """The members of a model or tagger file, which can be changed and written again."""

    def __init__(self, content: bytes):
        with zipfile.ZipFile(io.BytesIO(content)) as z:
            self.members = {name: z.read(name) for name in z.namelist()}
        self.header = json.loads(self.members["header"])
        self.arrays = {
            name[:-4]: np.load(io.BytesIO(content), allow_pickle=False)
            for name, content in self.members.items()
            if name.endswith(".npy")
        }

    def written(self, digest: str = "new", twice: str = "") -> bytes:
        """Return the content of the file.

        digest: `new` computes the digest, `old` copies it, `none` leaves it out. twice: name of a member that is
        written twice.
        """
        raw = json.dumps(self.header, sort_keys=True).encode()
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("header", raw)
            for name, array in self.arrays.items():
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, array)
                z.writestr(name + ".npy", buffer.getvalue())
            if digest == "old":
                z.writestr("digest", self.members["digest"])
            elif digest == "new":
                z.writestr("digest", _digest(raw, self.arrays))
            if twice:
                z.writestr(twice, self.members[twice])
        return out.getvalue()


def _places(node: Any, path: tuple = ()) -> Iterator[tuple]:
    """Yield the keys and indices that lead to each value in JSON data, for a few items of long lists or mappings."""
    yield path
    if isinstance(node, dict):
        for key in sorted(node)[:40]:
            yield from _places(node[key], (*path, key))
    elif isinstance(node, list):
        for i in range(min(len(node), 3)):
            yield from _places(node[i], (*path, i))


def _forge_header(header: Any, rng: random.Random) -> Any:
    places = list(_places(header))
    top = [place for place in places if len(place) == 1]
    place = rng.choice(rng.choice((places[1:], top)))
    parent = header
    for step in place[:-1]:
        parent = parent[step]
    value = parent[place[-1]]
    match rng.randrange(6):
        case 0 if isinstance(parent, dict):
            del parent[place[-1]]
        case 1 if isinstance(parent, dict):
            parent["x" + str(rng.randrange(9))] = value
        case 2 if isinstance(value, list) and value:
            value.append(value[0])
        case 3 if isinstance(value, int | float):
            parent[place[-1]] = rng.choice((-value, value * 2, value + 1, value - 1, str(value), [value]))
        case _:
            parent[place[-1]] = copy.deepcopy(rng.choice(JUNK))
    return header


def _forge_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    if not len(array):
        return np.zeros(3, array.dtype)
    match rng.randrange(8):
        case 0:
            return array[: rng.choice((0, 1, 3, len(array) // 2, len(array) - 1))]
        case 1:
            return array.astype(rng.choice((np.float64, np.float32, np.int64, np.int8, np.uint32, ">i4", np.complex64)))
        case 2:
            return np.concatenate([array, array[: rng.choice((1, 16, len(array)))]])
        case 3:
            return array[: len(array) - len(array) % 2].reshape(rng.choice(((-1, 1), (1, -1), (-1, 2))))
        case 4:
            return np.array(rng.choice((1.0, 7, True)))
        case 5:
            changed = array.copy()
            least = np.iinfo(np.int32 if changed.dtype.kind == "f" else changed.dtype).min
            changed[rng.randrange(len(array))] = least
            return changed
        case _:
            changed = array.astype(np.float32) if rng.random() < 0.3 else array.copy()
            if changed.dtype.kind == "f":
                changed[rng.randrange(len(array))] = rng.choice((np.nan, np.inf, -np.inf))
            else:
                changed[: rng.randrange(len(array))] = np.iinfo(changed.dtype).max
            return changed


def claims(array: np.ndarray, shape: str) -> bytes:
    """Return a file member whose header claims a shape that the array does not have."""
    text = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + array.tobytes()


def model_mutants(content: bytes, seed: int, count: int) -> Iterator[tuple[str, bytes, bool]]:
    """Yield (description, content, forged) for `count` damaged model files.

    A forged file has a new digest or none, so that it may be a valid file of another model.
    """
    rng = random.Random(seed)
    for i in range(count):
        file = ModelFile(content)
        digest = rng.choice(("old", "new", "new", "none"))
        match i % 8:
            case 0 | 1 | 2:
                file.header = _forge_header(file.header, rng)
                yield f"{i}: header, digest {digest}", file.written(digest), digest != "old"
            case 3 | 4:
                name = rng.choice(sorted(file.arrays))
                file.arrays[name] = _forge_array(file.arrays[name], rng)
                yield f"{i}: array {name}, digest {digest}", file.written(digest), digest != "old"
            case 5:
                name = rng.choice(sorted(file.arrays))
                match rng.randrange(4):
                    case 0:
                        del file.arrays[name]
                        yield f"{i}: without {name}", file.written(digest), False
                    case 1:
                        file.arrays["more"] = file.arrays[name]
                        yield f"{i}: one array more", file.written(digest), False
                    case 2:
                        yield f"{i}: {name} twice", file.written("new", twice=f"{name}.npy"), False
                    case _:
                        out = io.BytesIO(file.written("none"))
                        shape = rng.choice(("(1099511627776,)", "(-1,)", "(4,)", "()", "(4096, 4096, 4096)", "'x'"))
                        forged = io.BytesIO()
                        with zipfile.ZipFile(out) as source, zipfile.ZipFile(forged, "w") as z:
                            for member in source.namelist():
                                claimed = claims(file.arrays[name], shape) if member == f"{name}.npy" else None
                                z.writestr(member, claimed or source.read(member))
                        yield f"{i}: {name} claims {shape}", forged.getvalue(), False
            case _:
                yield f"{i}: bytes", flipped(content, rng), False


#: sentences with everything that CoNLL-U allows: comments, multiword tokens, empty nodes, MISC
TEXT = (
    "# sent_id = 1\n# text = a dog sees cats\n1\ta\ta\tD\tD\t_\t2\tdet\t_\t_\n2\tdog\tdog\tN\tN\tNum=S\t3\tsubj\t_\t_\n"
    "3\tsees\tsee\tV\tV\t_\t0\troot\t_\t_\n4\tcats\tcat\tN\tN\tNum=P\t3\tobj\t_\tSpaceAfter=No\n\n"
    "# sent_id = 2\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tP\tP\t_\t3\tcase\t_\t_\n"
    "2\tle\tle\tD\tD\t_\t3\tdet\t_\t_\n"
    "3\tpêche\tpêche\tN\tN\t_\t0\troot\t_\t_\n3.1\t_\t_\t_\t_\t_\t_\t_\t_\tX=1\n\n"
    "1\tgo\tgo\tV\tV\t_\t0\troot\t_\t_\n\n"
)
#: texts that replace a column
FIELDS = (
    "", "_", " ", "0", "1", "-1", "+1", "01", "1.0", "1e5", "9" * 5000, str(2**31), str(2**63), "1-2", "1-1", "2-1",
    "1.1", "0.1", "١", "²", "nan", "\0", "\x1b[31m", "\x7f", "\u0085", "\u00a0", "\u2028", "\ufeff", "\ufffe",
    "\U0010ffff", "x" * 100_000, "a=b|c", "#", "a\rb", "\v", "\x1c",
)  # fmt: skip


def input_mutants(seed: int, count: int) -> Iterator[bytes]:
    """Yield texts that are valid CoNLL-U, almost valid, or not CoNLL-U at all."""
    rng = random.Random(seed)
    for i in range(count):
        lines = TEXT.split("\n")
        match i % 10:
            case 0:
                yield flipped(TEXT.encode(), rng)
                continue
            case 1:
                yield rng.choice(
                    (b"\xef\xbb\xbf", b"\xff\xfe", b"\xef\xbb\xbf\xef\xbb\xbf", b"\n\n", b"")
                ) + TEXT.encode(rng.choice(("utf-8", "latin-1", "utf-16-le")))
                continue
            case 2:
                yield TEXT.replace("\n", rng.choice(("\r\n", "\r", "\n\n", "\u2028"))).encode()
                continue
            case 3:
                rng.shuffle(lines)
            case 4:
                a, b = sorted((rng.randrange(len(lines)), rng.randrange(len(lines))))
                lines[a:b] = rng.choice((lines[a:b] * 2, [], lines[b:a:-1]))
            case _:
                for _ in range(rng.choice((1, 1, 2))):
                    row = rng.choice([j for j, line in enumerate(lines) if "\t" in line])
                    fields = lines[row].split("\t")
                    column = rng.choice((0, 1, 3, 6, 6, 6, 7, rng.randrange(len(fields)))) % len(fields)
                    match rng.randrange(6):
                        case 0:
                            del fields[column]
                        case 1:
                            fields.insert(column, fields[column])
                        case 2:
                            fields[column] = str(rng.randint(-2, 6))
                        case _:
                            fields[column] = rng.choice(FIELDS)
                    lines[row] = "\t".join(fields) or "x"
        yield "\n".join(lines).encode()
