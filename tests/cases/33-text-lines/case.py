import gzip
import io
import pathlib

from treebound.core.errors import TreeboundError
from treebound.treebanks import document

path = pathlib.Path("in.conllu")
text = path.read_text(encoding="utf-8")
data = text.encode()
pathlib.Path("in.conllu.gz").write_bytes(gzip.compress(data))
closed = io.BytesIO(data)
closed.close()


def try_to_read(name, source):
    try:
        print(f"{name}: {len(document.read(source))} sentences")
    except TreeboundError as error:
        print(f"{name}: {type(error).__name__}: {error}")


try_to_read("path as str", "in.conllu")
try_to_read("Path", path)
try_to_read("compressed path", "in.conllu.gz")
with path.open("rb") as file:
    try_to_read("binary file", file)
with path.open(encoding="utf-8") as file:
    try_to_read("text file", file)
with gzip.open("in.conllu.gz") as file:
    try_to_read("gzip file", file)
with gzip.open("in.conllu.gz", "rt", encoding="utf-8") as file:
    try_to_read("gzip text file", file)
for name, source in {
    "StringIO": io.StringIO(text),
    "BytesIO": io.BytesIO(data),
    "bytes": data,
    "bytearray": bytearray(data),
    "lines of str": text.splitlines(keepends=True),
    "lines of bytes": data.splitlines(keepends=True),
    "lines of str without ends": text.splitlines(),
    "lines of bytes without ends": data.splitlines(),
    "generator": (line for line in text.splitlines()),
    "the text itself": text,
    "closed file": closed,
    "None": None,
    "int": 3,
    "float": 2.5,
    "list of int": [1, 2],
    "object": object(),
}.items():
    try_to_read(name, source)
