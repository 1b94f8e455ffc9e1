"""Treebank files with the faults of real files: cut, joined, in other encodings, with other columns or line ends.

`odd_files` generates the files from a fixed seed. Nearly every file has one fault or several.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from collections.abc import Callable, Iterator

SENTENCES = (
    "# sent_id = 1\n# text = Das große Haus\n1-2\tDas\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tDa\tda\tADV\tAV\t_\t2\tadvmod\t_\t_\n2\ts\tes\tPRON\tPP\t_\t3\tnsubj\t_\t_\n"
    "3\tgroße\tgroß\tADJ\tJJ\tCase=Nom|Gender=Neut\t0\troot\t_\tSpaceAfter=No\n3.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    "1\tété\tété\tNOUN\tNN\t_\t0\troot\t_\t_\n2\tnaïve\tnaïf\tADJ\tJJ\t_\t1\tamod\t_\t_\n\n"
)
PLUS = "# global.columns = ID FORM UPOS HEAD DEPREL X:Y\n1\tfuß\tNOUN\t2\tnsubj\t*\n2\tläuft\tVERB\t0\troot\t1:a\n\n"
CHINESE = "1\t他\t他\tPRON\tPN\t_\t2\tnsubj\t_\t_\n2\t睡觉\t睡觉\tVERB\tVV\t_\t0\troot\t_\t_\n\n"
BRACKETS = "( (S (NP (DT das) (NN Haus)) (VP (VBZ fällt))) )\n"
TEXTS = (SENTENCES, SENTENCES * 3, PLUS, CHINESE, BRACKETS)
ENCODINGS = (
    *("cp1252", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "utf-8-sig", "cp1140"),
    *("gb18030", "utf-7", "cp437", "koi8-r", "shift_jis"),
)
BREAKS = (b"\r", b"\r\n", b"\n\n", b"\x85", b"\x0b", b"\x0c", "\u2028".encode(), b"\n\r", b"\0", b"")


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[rng.randrange(len(data) + 1) :][: rng.randrange(1, len(data) + 2)]


def _flipped(data: bytes, rng: random.Random) -> bytes:
    position = rng.randrange(len(data) + 1)
    return data[:position] + rng.randbytes(rng.randrange(1, 4)) + data[position + 1 :]


def _swapped(data: bytes, rng: random.Random) -> bytes:
    """Exchange two columns, double or delete one, or replace the separator of all columns."""
    lines = [line.split(b"\t") for line in data.split(b"\n")]
    a, b, change = rng.randrange(10), rng.randrange(10), rng.randrange(4)
    for fields in lines:
        if change == 0 and max(a, b) < len(fields):
            fields[a], fields[b] = fields[b], fields[a]
        elif change == 1:
            fields[a:a] = fields[b : b + 1]
        elif change == 2:
            del fields[a : a + 1]
    return b"\n".join((rng.choice((b" ", b",", b"\t\t")) if change == 3 else b"\t").join(fields) for fields in lines)


def _broken(data: bytes, rng: random.Random) -> bytes:
    """Replace the line ends of all lines, or insert one other line end."""
    new = rng.choice(BREAKS)
    if rng.random() < 0.5:
        return data.replace(b"\n", new)
    lines = data.split(b"\n")
    line_number = rng.randrange(len(lines))
    return b"\n".join(lines[:line_number]) + new + b"\n".join(lines[line_number:])


def _joined(data: bytes, rng: random.Random) -> bytes:
    """Append another file, with or without an empty line and a byte order mark between the files."""
    other_file = rng.choice(TEXTS).encode(rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16")))
    return data.rstrip(b"\n") + rng.choice((b"", b"\n", b"\n\n")) + rng.choice((b"", b"\xef\xbb\xbf")) + other_file


def _recoded(data: bytes, rng: random.Random) -> bytes:
    return data.decode("utf-8", "replace").encode(rng.choice(ENCODINGS), "replace")


def _packed(data: bytes, rng: random.Random) -> bytes:
    return rng.choice((gzip.compress, bz2.compress, lzma.compress))(data)


def _long(data: bytes, rng: random.Random) -> bytes:
    """Insert a very long run of one piece of text."""
    piece = rng.choice((b"x", b"\t", b"# ", b" ", "ß".encode(), b"\xff", b"\n"))
    position = rng.randrange(len(data) + 1)
    return data[:position] + piece * rng.choice((100, 20_000, 300_000)) + data[position:]


def _surrogate(data: bytes, rng: random.Random) -> bytes:
    position = rng.randrange(len(data) + 1)
    return (
        data[:position] + rng.choice((b"\xed\xa0\x80", b"\xed\xb3\xbf", b"\xc0\x80", b"\xef\xbf\xbe")) + data[position:]
    )


def _lines(data: bytes, rng: random.Random) -> bytes:
    """Delete, double or exchange lines."""
    lines = data.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(3)
    if change == 0:
        del lines[a]
    elif change == 1:
        lines.insert(b, lines[a])
    else:
        lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_cut, _flipped, _swapped, _broken, _joined, _recoded, _packed, _long, _surrogate, _lines),
)


def odd_files(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield (suffix, content) for `count` files."""
    rng = random.Random(seed)
    for _ in range(count):
        data = rng.choice(TEXTS).encode()
        for _ in range(rng.choice((1, 1, 2, 3))):
            data = rng.choice(CHANGES)(data, rng)
        yield rng.choice((".conllu", ".conll", ".conllup", ".txt", "", ".mrg", ".auto", ".conll08", ".conllu.gz")), data
