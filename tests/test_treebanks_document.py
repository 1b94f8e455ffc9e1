"""Reading and writing of documents: exact round trips, whole files and streams, and agreement with `conllu`."""

from __future__ import annotations

import io
import json
import lzma
import os
import sys
import zipfile
from pathlib import Path

import conllu
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebound.core.errors import InputError
from treebound.core.treebank import STRING_COLUMNS
from treebound.treebanks.document import Document, concatenate, read, stream

TEXT = """# sent_id = 1
# text = Don't sing, birds
# a remark
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVBP\tMood=Imp\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_
3\tsing\tsing\tVERB\tVB\t_\t0\troot\t0:root\tSpaceAfter=No
4\t,\t,\tPUNCT\t,\t_\t5\tpunct\t5:punct\t_
4.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\tCopyOf=5
5\tbirds\t bird \tNOUN\tNNS\tNumber=Plur|Number=Plur\t3\tvocative\t_\tSpaceAfter=No

#no equals sign\u00a0here
1\t_\t_\tSYM\tNFP|SYM\t_\t0\troot\t_\t_
2\t10 000\t10 000\tNUM\tCD\t_\t1\tdep\t_\t_

"""
VARIANTS = {
    "as it is": TEXT.encode(),
    "no empty line at the end": TEXT.encode()[:-1],
    "no line end at the end": TEXT.encode()[:-2],
    "empty lines everywhere": b"\n\n" + TEXT.replace("\n\n", "\n\n\n\n").encode(),
    "CRLF": TEXT.replace("\n", "\r\n").encode(),
    "mixed line ends": TEXT.replace("birds\n", "birds\r\n").replace("nsubj\tCopy", "nsubj\tCopy").encode(),
    "byte order mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "other separators": TEXT.replace("a remark", "a\u2028re\x85mark\x0c").encode(),
    "nothing": b"",
    "empty lines": b"\n\r\n\n",
    "one word": b"1\tyes\t_\tINTJ\tUH\t_\t0\troot\t_\t_",
    "several roots": b"1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n2\tb\t_\tX\tX\t_\t0\troot\t_\t_\n\n",
}


def mirror() -> Path:
    folder = os.environ.get("TREEBANK_MIRROR")
    if not folder or not Path(folder, "manifest.json").is_file():
        pytest.skip("needs a mirror of the treebanks: set TREEBANK_MIRROR")
    return Path(folder)


def written(document: Document, **changes) -> bytes:
    out = io.BytesIO()
    document.write(out, **changes)
    return out.getvalue()


@pytest.mark.parametrize("data", VARIANTS.values(), ids=VARIANTS)
def test_round_trip(data):
    assert written(read(io.BytesIO(data))) == data


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize("data", VARIANTS.values(), ids=VARIANTS)
def test_streaming_gives_the_same(data, size):
    parts = list(stream(io.BytesIO(data), size))
    assert b"".join(map(written, parts)) == data
    assert all(len(part) <= size for part in parts)
    whole = read(io.BytesIO(data)).treebank
    for column in STRING_COLUMNS:
        assert [s for part in parts for s in part.treebank.strings(column)] == whole.strings(column)
    assert np.concatenate([part.treebank.head for part in parts]).tolist() == whole.head.tolist()


def test_a_part_is_given_out_before_the_next_is_read():
    def lines():
        for i in range(10):
            requested.append(i)
            yield b"1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n"
            yield b"\n"

    requested: list[int] = []
    parts = stream(lines(), 2)
    assert len(next(parts)) == 2
    assert len(requested) == 3


def test_treebank_of_a_document():
    treebank = read(io.BytesIO(TEXT.encode())).treebank
    assert treebank.offsets.tolist() == [0, 5, 7]
    assert treebank.strings("form") == ["Do", "n't", "sing", ",", "birds", "_", "10 000"]
    assert treebank.strings("lemma")[4] == " bird "
    assert treebank.strings("feats")[4] == "Number=Plur|Number=Plur"
    assert treebank.strings("xpos")[5] == "NFP|SYM"
    assert treebank.heads(0).tolist() == [-1, 3, 3, 0, 5, 3]
    assert treebank.heads(0).dtype == np.int32
    assert treebank.offsets.dtype == np.int64


def test_conll08_columns():
    line = "1\tsings\tsing\tVBZ\tVBD\tsings\tsing\tVBZ\t0\tROOT\tsing.01\t_\n\n"
    document = read(io.BytesIO(line.encode()), "conll08")
    assert [document.treebank.strings(c)[0] for c in STRING_COLUMNS] == ["sings", "sing", "VBZ", "VBZ", "_", "ROOT"]
    assert written(document, labels=[["TOP"]]).decode() == line.replace("ROOT", "TOP")


def test_misc_is_merged_with_existing_values():
    text = b"1\ta\ta\tX\t_\t_\t0\troot\t_\tSpaceAfter=No|Margin=1|Gloss=x\r\n1.1\tb\tb\tX\t_\t_\t_\t_\t_\tCopyOf=1\r\n"
    text += b"2\tc\tc\tX\t_\t_\t1\tdep\t_\t_\n3\td\td\tX\t_\t_\t1\tdep\t_\tKept\n\n"
    document = read(io.BytesIO(text))
    out = written(document, misc=[[{"Margin": "2.5", "Marginal": "0.1"}, {"Margin": "inf"}, {}]])
    expected = text.replace(b"SpaceAfter=No|Margin=1|Gloss=x", b"SpaceAfter=No|Gloss=x|Margin=2.5|Marginal=0.1")
    assert out == expected.replace(b"dep\t_\t_\n", b"dep\t_\tMargin=inf\n")
    with pytest.raises(ValueError, match="2 entries of MISC for 3 words"):
        written(document, misc=[[{}, {}]])
    with pytest.raises(InputError, match="does not fit into MISC"):
        written(document, misc=[[{"A": "b|c"}, {}, {}]])
    with pytest.raises(InputError, match="has no MISC"):
        written(read(io.BytesIO(text), format="conllx", strict=False), misc=[])


def test_writing_heads_labels_and_comments():
    document = read(io.BytesIO(TEXT.replace("\n", "\r\n").encode()))
    heads = [np.array([-1, 2, 0, 2, 3, 4], np.int32), np.array([-1, 2, 0], np.int32)]
    labels = [["a", "root", "b", "c", "d"], ["e", "root"]]
    comments = [["text = replaced", "score = 1"], ["score = 2"]]
    reread = read(io.BytesIO(written(document, heads=heads, labels=labels, comments=comments)))
    assert reread.treebank.head.tolist() == [2, 0, 2, 3, 4, 2, 0]
    assert reread.treebank.strings("deprel") == labels[0] + labels[1]
    assert reread.blocks[0][:4] == ["# sent_id = 1\r\n", "# a remark\r\n", "# text = replaced\r\n", "# score = 1\r\n"]
    assert reread.blocks[1][:2] == ["#no equals sign\u00a0here\r\n", "# score = 2\r\n"]
    # all other content is unchanged
    assert written(reread, heads=[document.treebank.heads(i) for i in range(2)]).count(b"\r\n") == 17
    assert reread.treebank.strings("lemma") == document.treebank.strings("lemma")
    assert b"4.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\tCopyOf=5\r\n" in written(reread)


def test_writing_annotation_of_the_wrong_size():
    document = read(io.BytesIO(TEXT.encode()))
    with pytest.raises(ValueError, match="1 heads for 2 sentences"):
        document.write(io.BytesIO(), heads=[np.zeros(6, np.int32)])
    with pytest.raises(ValueError, match="5 heads for 5 words and the root"):
        document.write(io.BytesIO(), heads=[np.zeros(5, np.int32), np.zeros(3, np.int32)])
    with pytest.raises(InputError, match="does not fit into a column"):
        document.write(io.BytesIO(), labels=[["a", "b\tc", "d", "e", "f"], ["g", "h"]])
    with pytest.raises(InputError, match="is not one line"):
        document.write(io.BytesIO(), comments=[["a = b\n1"], []])
    with pytest.raises(InputError, match="CoNLL-X has no comments"):
        read(io.BytesIO(b"1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n"), "conllx").write(io.BytesIO(), comments=[["a = b"]])


def test_a_failing_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.conllu"
    path.write_text("old")
    with pytest.raises(ValueError, match="heads"):
        read(io.BytesIO(TEXT.encode())).write(path, heads=[np.zeros(6, np.int32), np.zeros(9, np.int32)])
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="folders named like files")
def test_unwritable_output(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"out.conllu: cannot be written"):
        read(io.BytesIO(TEXT.encode())).write(tmp_path / "file" / "out.conllu")


def test_output_is_utf_8_whatever_the_input_is():
    text = "1\tpájaro\t_\tX\tX\t_\t0\troot\t_\t_\n\n"
    for encoding in ("cp1252", "utf-16", "utf-16-be", "utf-32", "utf-8-sig"):
        document = read(io.BytesIO(text.encode(encoding)), "conllx", encoding=encoding)
        assert document.treebank.strings("form") == ["pájaro"]
        assert written(document).removeprefix(b"\xef\xbb\xbf") == text.encode()
        assert written(document.to_conllu()) == text.encode()


def test_the_format_is_recognised_by_name_and_content(tmp_path):
    line = b"1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n"
    for name, content, layout in (
        ("a.conllu", line, "CoNLL-U"),
        ("a.conll", line, "CoNLL-X"),
        ("a.txt", b"# note\n" + line, "CoNLL-U"),
        ("a.mrg", b"\n( (S (NN birds)) )\n", "CoNLL-U"),
        ("a", b"( (S (NN birds)) )\n", "CoNLL-U"),
    ):
        (tmp_path / name).write_bytes(content)
        document = read(tmp_path / name)
        assert document.layout.name == layout
        assert len(document) == 1
    (tmp_path / "a.conllu.xz").write_bytes(lzma.compress(line))
    assert written(read(tmp_path / "a.conllu.xz")) == line


def test_select_and_concatenate():
    document = read(io.BytesIO(TEXT.encode()[:-1]))
    turned = document.select([1, 0])
    assert turned.treebank.strings("form") == ["_", "10 000", "Do", "n't", "sing", ",", "birds"]
    joined = concatenate([document, turned])
    assert len(joined) == 4
    assert joined.treebank.head.tolist() == [*document.treebank.head.tolist(), *turned.treebank.head.tolist()]
    assert written(joined).count(b"\n\n") == 4


def test_long_sentences():
    """Sentences may be longer than the table of numbers that the reader caches."""
    n = 5000
    lines = "".join(f"{i}\tw\t_\tX\tX\t_\t{i - 1}\tdep\t_\t_\n" for i in range(1, n + 1))
    assert read(io.BytesIO(lines.encode())).treebank.heads(0).tolist() == list(range(-1, n))


fields = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\t\n\r\0"), min_size=1, max_size=6
).filter(lambda s: s.strip() == s)


@st.composite
def documents(draw) -> str:
    """Draw CoNLL-U of a few sentences with arbitrary text in fields, comments and multiword tokens."""
    text = ""
    for _ in range(draw(st.integers(1, 4))):
        text += "".join(f"# {draw(fields)}\n" for _ in range(draw(st.integers(0, 2))))
        n = draw(st.integers(1, 5))
        order = draw(st.permutations(range(1, n + 1)))
        head = {word: order[draw(st.integers(0, k - 1))] if k else 0 for k, word in enumerate(order)}
        for i in range(1, n + 1):
            if i < n and draw(st.booleans()):
                text += "".join(f"{i}-{n}\t{draw(fields)}" + 8 * "\t_" + "\n") if i == 1 else ""
            cells = [draw(fields) for _ in range(5)]
            text += "\t".join([str(i), *cells, str(head[i]), draw(fields), "_", draw(fields)]) + "\n"
        text += "\n"
    return text


@given(documents())
def test_any_text_round_trips(text):
    document = read(io.BytesIO(text.encode()))
    assert written(document) == text.encode()
    assert written(document, heads=[document.treebank.heads(i) for i in range(len(document))]) == text.encode()


BRACKETS = "( (S (NP-SBJ (NNS birds)) (VP (VBP sing) (NP (-NONE- *)))) )\n(X (UH oh) (. !))\n"


@given(
    st.sampled_from([(TEXT, "conllu"), (TEXT, "conllx"), (BRACKETS, "brackets")]),
    st.lists(
        st.tuples(
            st.integers(0, len(TEXT)), st.integers(0, 4), st.text(st.sampled_from("\t\n\r\0 019-.#_=()Xé"), max_size=4)
        ),
        min_size=1,
        max_size=3,
    ),
)
def test_damaged_files_give_a_document_or_an_input_error(good, edits):
    text, format = good
    for position, length, replacement in edits:
        position %= len(text) + 1
        text = text[:position] + replacement + text[position + length :]
    data = text.encode()
    error = None
    try:
        document = read(io.BytesIO(data), format)
    except InputError as caught:
        error = caught
    if error:
        assert error.line
        assert "\n" not in str(error)
    else:
        assert written(document) == data if format != "brackets" else len(document) <= data.count(b"(")
    if error and "looks like UTF-" in str(error):  # files in another encoding cannot be read, even leniently
        return
    # lenient reading accepts any other file, and its output is well-formed
    out = written(read(io.BytesIO(data), format, strict=False))
    assert written(read(io.BytesIO(out), "conllx" if format == "conllx" else "conllu")) == out


def mirror_files() -> list[tuple[str, bytes, str, str]]:
    """Return (name, content, format, encoding) of every tabular file of the mirror."""
    folder = mirror()
    files = []
    for path in sorted(folder.glob("*/*.conll*.xz")):
        format = "conllx" if path.name.endswith(".conll.xz") else "conllu"
        files.append((path.name, lzma.decompress(path.read_bytes()), format, "utf-8"))
    with zipfile.ZipFile(folder / "conll2007" / "conll2007.zip") as archive:
        for name in archive.namelist():
            if name.endswith((".train", ".test")):
                files.append((name, archive.read(name), "conllx", "cp1252" if "eus" in name else "utf-8"))
    return files


def test_every_file_of_the_mirror_round_trips():
    files = mirror_files()
    listed = json.loads((mirror() / "manifest.json").read_text())
    tabular = [name for entry in listed.values() for name in entry["files"] if ".conll" in name]
    assert len(files) == len(tabular) + 4
    for name, content, format, encoding in files:
        document = read(io.BytesIO(content), format, encoding=encoding)
        content = content.decode(encoding or "utf-8").encode()
        assert written(document) == content, name
        heads = [document.treebank.heads(i) for i in range(len(document))]
        assert written(document, heads=heads) == content, name


@pytest.mark.parametrize("name", ["en_ewt/en_ewt-ud-dev", "tr_imst/tr_imst-ud-dev", "fr_sequoia/fr_sequoia-ud-dev"])
def test_agrees_with_the_conllu_package(name):
    text = lzma.decompress((mirror() / f"{name}.conllu.xz").read_bytes()).decode()
    check_against_package(text)


def test_agrees_with_the_conllu_package_on_a_synthetic_file():
    check_against_package(TEXT)


def check_against_package(text: str) -> None:
    treebank = read(io.BytesIO(text.encode())).treebank
    plain = dict.fromkeys(("feats", "xpos", "deps", "misc"), lambda line, i: line[i])
    sentences = conllu.parse(text, field_parsers=plain)
    assert len(sentences) == len(treebank)
    words = [token for sentence in sentences for token in sentence if isinstance(token["id"], int)]
    assert [word["head"] for word in words] == treebank.head.tolist()
    for column in STRING_COLUMNS:
        assert [word[column] for word in words] == treebank.strings(column), column
