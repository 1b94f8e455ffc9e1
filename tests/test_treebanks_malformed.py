"""Every kind of malformed input, with the one-line error that it must give."""

from __future__ import annotations

import io

import pytest

from treebound.core.errors import InputError
from treebound.treebanks.document import read

GOOD = "1\tbirds\tbird\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tsing\tsing\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
SECOND = "2\tsing\tsing\tVERB\tVBP\t_\t0\troot\t_\t_\n"
PLACEHOLDER = GOOD.replace("\t2\tnsubj", "\t_\t_").replace("\t0\troot", "\t_\t_")


def word(i: object, head: object, form: str = "w") -> str:
    """Return one line of CoNLL-U or CoNLL-X."""
    return f"{i}\t{form}\t_\tX\tX\t_\t{head}\tdep\t_\t_\n"


def sentence(*heads: object) -> str:
    return "".join(word(i, head) for i, head in enumerate(heads, 1)) + "\n"


def extra(i: str, form: str = "ab") -> str:
    """Return the line of a multiword token or an empty node."""
    return f"{i}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n"


# name: (text, line of the error, words of the message)
CONLLU = {
    "nine columns": (GOOD.replace("nsubj\t_\t_", "nsubj\t_"), 1, "9 columns where CoNLL-U has 10"),
    "eleven columns": (GOOD.replace("root\t_\t_", "root\t_\t_\t_"), 2, "11 columns where CoNLL-U has 10"),
    "blanks for tabs": (GOOD.replace("\t", " "), 1, "separate columns by one tab, not by blanks"),
    "prose": ("Birds sing.\n", 1, "1 column where CoNLL-U has 10; write one word per line"),
    "empty form": (GOOD.replace("birds", ""), 1, "column 2 is empty; write _"),
    "empty last column": (GOOD.replace("root\t_\t_", "root\t_\t"), 2, "column 10 is empty; write _"),
    "empty id": (GOOD.replace("1\tbirds", "\tbirds"), 1, "column 1 is empty; number words"),
    "id is a letter": (
        GOOD.replace("1\tbirds", "a\tbirds"),
        1,
        "id 'a' is not a word number; ids look like 1, 1-2 or 1.1",
    ),
    "id is negative": (GOOD.replace("1\tbirds", "-1\tbirds"), 1, "id '-1' is not a word number"),
    "id with a leading zero": (GOOD.replace("1\tbirds", "01\tbirds"), 1, "id 01 where 1 was expected"),
    "id in other digits": (GOOD.replace("1\tbirds", "١\tbirds"), 1, "id '١' is not a word number"),
    "id 0": (word(0, 0), 1, "id 0 where 1 was expected"),
    "gap in ids": (word(1, 0) + word(3, 1), 2, "id 3 where 2 was expected; number words 1, 2, 3 ..."),
    "id twice": (word(1, 0) + word(2, 1) + word(2, 1), 3, "id 2 where 3 was expected"),
    "ids out of order": (word(2, 0) + word(1, 2), 1, "id 2 where 1 was expected"),
    "no empty line between sentences": (
        GOOD[:-1] + GOOD,
        3,
        "an empty line is missing before id 1, where 3 was expected; add one",
    ),
    "line of blanks between sentences": (GOOD[:-1] + "  \n" + GOOD, 3, "line of blanks only"),
    "comment inside a sentence": (word(1, 0) + "# note\n" + word(2, 1), 2, "comment inside a sentence; move it before"),
    "comments without words": ("# text = none\n\n" + GOOD, 1, "comments without words"),
    "comments at the end": (GOOD + "# text = none\n", 4, "comments without words"),
    "head out of range": (sentence(0, 3), 2, "head 3 in a sentence of 2 words; heads are 0 .. number of words"),
    "huge head": (sentence(0, "9" * 10_000), 2, "head 9999999999 in a sentence of 2 words"),
    "head is a page of text": (sentence(0, "x" * 10_000), 2, f"HEAD '{'x' * 30}...' is not a number"),
    "head is a superscript": (sentence(0, "²"), 2, "HEAD '²' is not a number"),
    "huge id": (word("9" * 10_000, 0), 1, f"id {'9' * 30}... where 1 was expected"),
    "huge range": (extra("1-" + "9" * 10_000) + sentence(0, 1), 1, f"id '1-{'9' * 28}...' is not a word number"),
    "range in superscript": (extra("¹-²") + sentence(0, 1), 1, "id '¹-²' is not a word number"),
    "negative head": (sentence(0, -1), 2, "HEAD '-1' is not a number"),
    "head is a word": (sentence(0, "one"), 2, "HEAD 'one' is not a number"),
    "head is a fraction": (sentence(0, "1.0"), 2, "HEAD '1.0' is not a number"),
    "head with a sign": (sentence(0, "+1"), 2, "HEAD '+1' is not a number"),
    "head with a leading zero": (sentence(0, "01"), 2, "HEAD '01' is not a number"),
    "head with a blank": (sentence(0, "1 "), 2, "HEAD '1 ' is not a number"),
    "own head": (sentence(0, 2), 2, "word 2 is its own head"),
    "cycle of two": (sentence(0, 3, 2), 2, "word 2 is on a cycle"),
    "cycle of three": (sentence(2, 3, 1, 0), 1, "word 1 is on a cycle"),
    "no root": (sentence(2, 1), 1, "no root; one word must have head 0"),
    "one head missing": (sentence(0, "_"), 2, "HEAD is _ but other words have one; annotate every word"),
    "no annotation": (PLACEHOLDER, 1, "no HEAD is annotated (a placeholder release without trees?)"),
    "range runs backwards": (extra("2-1") + sentence(0, 1), 1, "multiword token 2-1 runs backwards"),
    "range in the wrong place": (word(1, 0) + extra("1-2") + word(2, 1), 2, "multiword token 1-2 before word 2"),
    "range beyond the sentence": (extra("1-3") + sentence(0, 1), 1, "multiword token ends after the last word"),
    "ranges overlap": (extra("1-2") + word(1, 0) + extra("2-3") + word(2, 1) + word(3, 1), 3, "2-3 overlaps another"),
    "range with a letter": (extra("1-b") + sentence(0, 1), 1, "id '1-b' is not a word number"),
    "empty node misplaced": (word(1, 0) + extra("2.1") + word(2, 1), 2, "empty node 2.1 where 1.1 was expected"),
    "empty node misnumbered": (word(1, 0) + extra("1.2") + word(2, 1), 2, "empty node 1.2 where 1.1 was expected"),
    "empty node with a letter": (word(1, 0) + extra("1.a"), 2, "id '1.a' is not a word number"),
    "no words but an empty node": (extra("0.1"), 1, "sentence without words"),
    "NUL byte": (GOOD.replace("birds", "bi\0rds"), 1, "NUL byte; the file is damaged"),
    "NUL byte in a comment": ("# a\0b\n" + GOOD, 1, "NUL byte"),
    "line ends of old Macs": (GOOD.replace("\n", "\r"), 1, "carriage return inside a line"),
    "error after good sentences": (GOOD * 3 + sentence(0, 9), 11, "head 9 in a sentence of 2 words"),
    "error after comments": ("# a\n# b\n" + sentence(0, 9), 4, "head 9 in a sentence of 2 words"),
    "error after empty lines": ("\n\n" + sentence(0, 9), 4, "head 9 in a sentence of 2 words"),
}

CONLLX = {
    "comment": ("# a\n" + GOOD, 1, "comment in CoNLL-X, which does not allow comments; delete the comment"),
    "multiword token": (extra("1-2") + sentence(0, 1), 1, "id '1-2' is not a word number; ids look like 1, 2, 3 ..."),
    "empty node": (extra("0.1") + sentence(0, 1), 1, "id '0.1' is not a word number"),
    "eight columns": (GOOD.replace("\t_\t_\n", "\n"), 1, "8 columns where CoNLL-X has 10"),
    "cycle": (sentence(0, 3, 2), 2, "word 2 is on a cycle"),
}

CONLL08 = {
    "ten columns": (GOOD, 1, "10 columns where CoNLL 2008 has at least 11"),
    "columns differ": (
        "1\ta\ta\tX\tX\ta\ta\tX\t0\tROOT\t_\n2\tb\tb\tX\tX\tb\tb\tX\t1\tDEP\t_\t_\n",
        2,
        "12 columns where",
    ),
}

BRACKETS = {
    "never closed": ("( (S (NN birds)\n (VBP sing)\n", 1, "bracket is never closed; add the closing bracket"),
    "closed too often": ("( (S (NN birds)) ) )\n", 1, "closing bracket without an opening one"),
    "word without a tag": (
        "( (S birds (VBP sing)) )\n",
        1,
        "word 'birds' beside a bracket; write words as (TAG word)",
    ),
    "word after a bracket": ("( (S (NN birds)\n sing) )\n", 2, "word 'sing' without a tag"),
    "two words under a tag": ("( (S (NN birds sing)) )\n", 1, "second word 'sing' under NN"),
    "tag without a word": ("( (S (NN) (VBP sing)) )\n", 1, "bracket (NN) without a word"),
    "empty bracket": ("( )\n", 1, "bracket () without a word"),
    "only traces": ("( (S (NP (-NONE- *)) ) )\n", 1, "tree without words; delete it"),
    "text between trees": ("( (S (NN birds)) )\nhello\n", 2, "text 'hello' outside a tree"),
    "a word alone": ("(NN birds)\n", 1, "word 'birds' without a tree"),
    "NUL byte": ("( (S (NN bi\0rds)) )\n", 1, "NUL byte"),
    "error in the second tree": ("( (S (NN birds)) )\n( (S\n (NN a b)) )\n", 3, "second word 'b' under NN"),
}

CASES = [
    pytest.param(format, *case, id=f"{format}: {name}")
    for format, cases in (("conllu", CONLLU), ("conllx", CONLLX), ("conll08", CONLL08), ("brackets", BRACKETS))
    for name, case in cases.items()
]


def source(text: str) -> io.BytesIO:
    file = io.BytesIO(text.encode())
    file.name = "input.txt"
    return file


def test_there_are_many_cases():
    assert len(CASES) >= 60
    assert len({(case.values[0], case.values[1]) for case in CASES}) == len(CASES)


@pytest.mark.parametrize(("format", "text", "line", "message"), CASES)
def test_malformed_input_gives_one_line(format, text, line, message):
    with pytest.raises(InputError) as caught:
        read(source(text), format)
    shown = str(caught.value)
    assert shown.startswith(f"input.txt:{line}: ")
    assert message in shown
    assert "\n" not in shown
    assert caught.value.hint, "the message says what to do"


@pytest.mark.parametrize(("format", "text", "line", "message"), CASES)
def test_lenient_reading_skips_and_counts(format, text, line, message):
    document = read(source(text), format, strict=False)
    assert document.skipped
    assert document.skipped[0].line == line
    assert document.skipped[0].reason
    out = io.BytesIO()
    document.write(out)
    assert len(read(out.getvalue().splitlines(keepends=True), "conllu", strict=True)) == len(document)


def test_lenient_reading_keeps_the_good_sentences():
    document = read(source(GOOD + sentence(0, 9) + GOOD + sentence(2, 1) + GOOD), strict=False)
    assert len(document) == 3
    assert [(s.line, s.reason) for s in document.skipped] == [(5, "head 9 in a sentence of 2 words"), (10, "no root")]


def test_lenient_reading_goes_on_after_a_bad_tree():
    text = "( (S (NN one)) )\n( (S (NN two three)\n (X)) )\n( (S (NN four)) )\n( (S (NN five)\n"
    document = read(source(text), "brackets", strict=False)
    assert document.treebank.strings("form") == ["one", "four"]
    assert [s.line for s in document.skipped] == [2, 5]
    text = "( (S (-NONE- *)) ) ( (S (NN one)) ) (NN two) ( (S (NN three)) )\n"
    document = read(source(text), "brackets", strict=False)
    assert document.treebank.strings("form") == ["one", "three"]


@pytest.mark.parametrize(
    "text", [PLACEHOLDER, sentence(0, "_"), sentence("_", "_", 1), sentence(2, 1), sentence(2, 3, 1)]
)
def test_input_to_be_parsed_needs_no_trees(text):
    document = read(source(text), annotated=False)
    assert len(document) == 1
    with pytest.raises(InputError):
        read(source(text))


@pytest.mark.parametrize(
    "text", [sentence(0, 9), sentence(0, "one"), word(1, 0) + word(3, 0), GOOD.replace("\t_\t_\n", "\n")]
)
def test_input_to_be_parsed_must_be_well_formed(text):
    with pytest.raises(InputError):
        read(source(text), annotated=False)


def test_broken_encoding_names_line_and_byte():
    data = (GOOD * 2).encode() + GOOD.replace("birds", "pájaros").encode("cp1252")
    message = r"<input>:7: byte 0xe1 is not UTF-8; as cp1252 .* it reads 'pájaros'; give --encoding cp1252"
    with pytest.raises(InputError, match=message):
        read([line + b"\n" for line in data.split(b"\n")[:-1]])


def test_lenient_reading_skips_bytes_that_are_not_text():
    bad = GOOD.replace("birds", "pájaros").encode("cp1252")
    document = read(io.BytesIO(GOOD.encode() + b"\n" + bad + GOOD.encode()), strict=False)
    assert len(document) == 2
    assert [(s.line, s.reason) for s in document.skipped] == [
        (5, "byte 0xe1 is not UTF-8; as cp1252 (Windows, Latin-1) it reads 'pájaros'")
    ]
    with pytest.raises(InputError, match=r"<input>:2: byte 0xff is not UTF-8"):
        read([b"( (S (NN a)) )\n", b"( (S (NN \xff)) )\n"])


def test_unknown_encoding_and_format():
    with pytest.raises(InputError, match="unknown encoding 'klingon'"):
        read(source(GOOD), encoding="klingon")
    with pytest.raises(InputError, match="unknown format 'xml'; choose from conllu, conllx"):
        read(source(GOOD), "xml")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"none.conllu: cannot be read: No such file"):
        read(tmp_path / "none.conllu")
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path)
    truncated = tmp_path / "file.conllu.xz"
    truncated.write_bytes(b"\xfd7zXZ\0\0")
    with pytest.raises(InputError, match=r"file.conllu.xz: cannot be read"):
        read(truncated)
