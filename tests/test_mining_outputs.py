"""Tables of suspects, marks in CoNLL-U and accepted proposals: round trips, refusals and lossless writing."""

from __future__ import annotations

import io
import math
import random
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from treebound.core.errors import InputError
from treebound.mining.accept import accept
from treebound.mining.groups import groups
from treebound.mining.output import COLUMNS, Row, read_tsv, write_conllu, write_tsv
from treebound.mining.sentence_ids import sentence_ids
from treebound.mining.suspects import Suspect
from treebound.treebanks.document import Document, read

FORMS = [
    '"quoted"',
    "=1+1",
    "<b>&",
    "a b",
    "\u00a0",
    "\u2028x",
    "\x85",
    "العربية",
    "語",
    "#",
    "-",
    "1/2",
    "x\u0301",
    "'",
    "\\t",
]
SUSPECT = Suspect(0, "s-1", 2, "can", "head", 3, "aux", "AUX", 0, "root", "VERB", 1.25, True, 0.125, (3, 10))

#: comments, a multiword token, an empty node, enhanced dependencies, odd columns; line ends are set by the tests
LINES = [
    "# sent_id = s-1",
    "# text = You can't go.",
    "1\tYou\tyou\tPRON\t_\t_\t3\tnsubj\t3:nsubj\tOdd=1|Odd",
    "2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_",
    "2\tca\tcan\tAUX\t_\t_\t4\taux\t4:aux\t_",
    "3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_",
    "4\tgo\tgo\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No",
    "4.1\tgone\tgo\tVERB\t_\t_\t_\t_\t0:root\t_",
    "5\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\tTreeboundSuspect=head|A=b|TreeboundProposed=1:x|TreeboundMargin=3",
    "",
    "# no id here",
    "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_",
    "2\ton\ton\tADP\t_\t_\t1\tcompound:prt\t_\t_",
    "",
]
LINES[2] = LINES[2].replace("\t3\tnsubj\t3:", "\t4\tnsubj\t4:")


def document(end: str = "\n") -> Document:
    """Return the two sentences above with the given line end."""
    return read("".join(line + end for line in LINES).encode())


def suspect(bank: Document, sentence: int, word: int, **changes: object) -> Suspect:
    """Return a suspect that matches a document, with some fields changed.

    Without changes, it proposes the existing annotation.
    """
    view = bank.treebank[sentence]
    form, label, tag = (view.strings(name)[word - 1] for name in ("form", "deprel", "upos"))
    head = int(view.heads[word])
    name = sentence_ids(bank)[sentence]
    plain = Suspect(sentence, name, word, form, "head", head, label, tag, head, label, tag, 1.0, True, 0.5)
    return replace(plain, **changes)


def row(line: int, accepted: Suspect, ticked: bool = True) -> Row:
    return Row("suspects.tsv", line, ticked, line - 1, accepted)


def accept_all(bank: Document, *suspects: Suspect, **options: str) -> tuple[list[str], str]:
    """Return the report and the text of a document after accepting suspects."""
    file = io.BytesIO()
    lines = accept(bank, [row(i, s) for i, s in enumerate(suspects, 2)], file, **options)
    return lines, file.getvalue().decode()


# --- the table ---


def table(*suspects: Suspect) -> bytes:
    file = io.BytesIO()
    write_tsv(file, suspects)
    return file.getvalue()


def random_suspect(rng: random.Random) -> Suspect:
    head, word = rng.randint(0, 30), rng.randint(1, 30)
    kind = rng.choice(["head", "label", "tag"])
    margin = rng.choice([0.0, 1e-9, 0.1 + 0.2, 12.0, 1e16, math.inf, rng.expovariate(1)])
    marginal = rng.choice([math.nan, 0.0, 1.0, float(f"{rng.random() ** 9:.6g}")])
    names = [rng.choice(FORMS) for _ in range(6)]
    return Suspect(
        *(rng.randrange(9), names[0], word, names[1], kind, head, names[2], names[3], rng.randint(0, 30)),
        *(
            names[4],
            names[5],
            margin,
            rng.random() < 0.5,
            marginal,
            (rng.randint(0, 9), rng.randint(9, 99)),
            rng.randint(1, 9),
        ),
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_table_comes_back(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    suspects = [random_suspect(rng) for _ in range(30)]
    path = tmp_path / "suspects.tsv"
    path.write_bytes(table(*suspects))
    rows = read_tsv(path)
    assert list(map(repr, (r.suspect for r in rows))) == list(map(repr, suspects))  # nan is not equal to itself
    assert [(r.line, r.rank, r.ticked) for r in rows] == [(i + 1, i, False) for i in range(1, 31)]


def test_header_and_group_sizes() -> None:
    tag_suspect = replace(SUSPECT, kind="tag")
    lines = [line.split("\t") for line in table(SUSPECT, tag_suspect, SUSPECT).decode().removesuffix("\n").split("\n")]
    assert lines[0] == list(COLUMNS)
    assert all(len(line) == len(COLUMNS) for line in lines)
    assert lines[1][-3:] == ["3/10", "aux -> root, to the root", "2"]
    assert lines[2][-2:] == ["AUX -> VERB", "1"]
    assert lines[1][3] == "1"  # the number of the sentence in the treebank


@pytest.mark.parametrize("tick", ["x", "X", "yes", "1", " x "])
@pytest.mark.parametrize(("mark", "end"), [(b"", b"\n"), (b"\xef\xbb\xbf", b"\r\n")])
def test_ticks_survive_editors(tick: str, mark: bytes, end: bytes, tmp_path: Path) -> None:
    lines = table(SUSPECT, SUSPECT).removesuffix(b"\n").split(b"\n")
    lines[2] = tick.encode() + lines[2]
    path = tmp_path / "suspects.tsv"
    path.write_bytes(mark + end.join(lines))  # also remove the last line end
    assert [r.ticked for r in read_tsv(path)] == [False, True]
    assert read_tsv(path)[1].suspect == SUSPECT


BROKEN = [
    ("accept", "maybe", "tick with x"),
    ("rank", "0", "whole number from 1"),
    ("rank", "1.0", "whole number from 1"),
    ("sentence", "0", "whole number from 1"),
    ("word", "two", "whole number from 1"),
    ("form", "", "must not be empty"),
    ("kind", "arc", "head, label, tag"),
    ("head", "-1", "whole number from 0"),
    ("proposed_head", "٣", "whole number from 0"),
    ("margin", "1,25", "not a number"),
    ("margin", "", "must not be empty"),
    ("changes", "0", "whole number from 1"),
    ("certified", "TRUE", "not yes or no"),
    ("marginal", "nan", "not a number"),
    ("variation", "03. Oct", "import all columns as text"),
    ("group", "aux -> root", "aux -> root, to the root"),
    ("group_size", "0", "whole number from 1"),
]


@pytest.mark.parametrize(("column", "value", "reason"), BROKEN)
def test_broken_cells_are_named(column: str, value: str, reason: str, tmp_path: Path) -> None:
    lines = table(SUSPECT, SUSPECT).decode().split("\n")
    cells = lines[2].split("\t")
    cells[COLUMNS.index(column)] = value
    lines[2] = "\t".join(cells)
    path = tmp_path / "suspects.tsv"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_tsv(path)
    assert str(error.value).startswith(f"{path}:3: {column} is {value!r}")
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"", 1, "header"),
        (b"accept,rank\n", 1, "header"),
        (table(SUSPECT) + b"x\ty\n", 3, "2 columns instead of 20"),
        (table(SUSPECT) + b"\n" + table(SUSPECT), 3, "1 columns instead of 20"),
        (table(SUSPECT) + b"\xff\n", 3, "UTF-8"),
    ],
)
def test_broken_lines_are_named(content: bytes, line: int, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "suspects.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=reason) as error:
        read_tsv(path)
    assert str(error.value).startswith(f"{path}:{line}: ")


def test_tables_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name a table"):
        read_tsv(tmp_path / "missing.tsv")
    with pytest.raises(InputError, match="does not fit"):
        write_tsv(io.BytesIO(), [replace(SUSPECT, form="a\tb")])


# --- groups ---


@pytest.mark.parametrize("seed", range(5))
def test_groups_count_every_suspect_once(seed: int) -> None:
    rng = random.Random(seed)
    suspects = [
        replace(random_suspect(rng), margin=rng.random(), label=rng.choice("ab"), proposed_label="a")
        for _ in range(200)
    ]
    result = groups(suspects)
    assert sum(group.count for group in result) == len(suspects)
    assert sum(group.share for group in result) == pytest.approx(1)
    assert sorted((-g.count, -g.margin) for g in result) == [(-g.count, -g.margin) for g in result]
    for group in result:
        members = [i for i, s in enumerate(suspects) if (s.kind, s.group) == (group.kind, group.key)]
        assert (group.count, group.examples) == (len(members), tuple(members[:3]))
        assert group.margin == pytest.approx(sum(suspects[i].margin for i in members))
        assert group.systematic == (len(members) > 30)
    assert {group.systematic for group in result} == {True, False}


# --- marks in CoNLL-U ---


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_marks_change_misc_alone(end: str) -> None:
    bank = document(end)
    head = suspect(bank, 0, 1, proposed_head=2, proposed_label="a b|c", margin=1.25)
    tag = suspect(bank, 0, 1, kind="tag", proposed_tag="NOUN", margin=3.0)
    file = io.BytesIO()
    write_conllu(file, bank, [head, tag, suspect(bank, 1, 2, kind="label", proposed_label="obl")])
    expected = list(LINES)
    marks = r"TreeboundSuspect=head,tag|TreeboundProposed=2:a\sb\pc,NOUN|TreeboundMargin=1.25,3"
    expected[2] += f"|{marks}"
    expected[8] = expected[8].replace("TreeboundSuspect=head|A=b|TreeboundProposed=1:x|TreeboundMargin=3", "A=b")
    expected[12] = expected[12][:-1] + "TreeboundSuspect=label|TreeboundProposed=1:obl|TreeboundMargin=1"
    assert file.getvalue().decode() == "".join(line + end for line in expected)


def test_marks_of_an_earlier_run_are_replaced() -> None:
    bank = document()
    first, second = io.BytesIO(), io.BytesIO()
    write_conllu(first, bank, [suspect(bank, 0, 1), suspect(bank, 1, 1)])
    write_conllu(second, read(first.getvalue()), [suspect(bank, 1, 1)])
    plain = io.BytesIO()
    write_conllu(plain, bank, [suspect(bank, 1, 1)])
    assert second.getvalue() == plain.getvalue()
    assert first.getvalue() != plain.getvalue()


def test_formats_without_misc() -> None:
    conllx = b"1\tGo\tgo\tV\tV\t_\t0\troot\t_\t_\n\n"
    file = io.BytesIO()
    bank = read(conllx, "conllx")
    write_conllu(file, bank, [suspect(bank, 0, 1)])
    assert file.getvalue().decode().endswith("\tTreeboundSuspect=head|TreeboundProposed=0:root|TreeboundMargin=1\n\n")
    plus = read(b"# global.columns = ID FORM UPOS HEAD DEPREL\n1\tGo\tV\t0\troot\n\n")
    with pytest.raises(InputError, match="no MISC column"):
        write_conllu(file, plus, [])


# --- accepted proposals ---


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_accepted_rows_change_their_cells_alone(end: str) -> None:
    bank = document(end)
    lines, text = accept_all(
        bank,
        suspect(bank, 0, 1, proposed_head=2, proposed_label="nsubj:pass"),
        suspect(bank, 0, 1, kind="tag", proposed_tag="NOUN"),
        suspect(bank, 0, 5, proposed_head=1),
        suspect(bank, 1, 2, kind="label", proposed_label="obl"),
    )
    expected = list(LINES)
    expected[2] = expected[2].replace("PRON\t_\t_\t4\tnsubj\t", "NOUN\t_\t_\t2\tnsubj:pass\t")
    expected[8] = expected[8].replace("\t4\tpunct", "\t1\tpunct")
    expected[12] = expected[12].replace("compound:prt", "obl")
    assert text == "".join(line + end for line in expected)
    assert lines == [
        "sentence s-1, word 1 (You): nsubj of 4 (go) becomes nsubj:pass of 2 (ca); DEPS was not changed (4:nsubj)",
        "sentence s-1, word 1 (You): PRON becomes NOUN",
        "sentence s-1, word 5 (.): punct of 4 (go) becomes punct of 1 (You)",
        "sentence 2, word 2 (on): compound:prt of 1 (Go) becomes obl of 1 (Go)",
    ]


def test_nothing_ticked_changes_nothing() -> None:
    bank, file = document("\r\n"), io.BytesIO()
    assert accept(bank, [row(2, suspect(bank, 0, 1, form="other"), ticked=False)], file) == []
    assert file.getvalue().decode() == "".join(line + "\r\n" for line in LINES)


def test_xpos_and_formats_without_comments() -> None:
    text = "1\tGo\tgo\tV\tVB\t_\t0\troot\t_\t_\n2\ton\ton\tP\tIN\t_\t1\tprt\t1\tprt"  # no line end at all
    bank = read(text.encode(), "conllx")
    change = suspect(bank, 0, 2, kind="tag", tag="IN", proposed_tag="RP")
    assert accept_all(bank, change, tag_column="xpos")[1] == text.replace("IN", "RP")
    with pytest.raises(InputError, match="the tag is 'P', not 'IN'"):
        accept_all(bank, change)


MISFITS = [
    ({"sentence": 2}, "there is no sentence 3: the treebank has 2 sentences"),
    ({"sent_id": "s-2"}, "'s-1', not 's-2'"),
    ({"word": 6}, "has 5 words"),
    ({"proposed_head": 6}, "has 5 words"),
    ({"form": "you"}, "'You' in the treebank, not 'you'"),
    ({"head": 2}, "4:nsubj in the treebank, not 2:nsubj"),
    ({"label": "obj"}, "4:nsubj in the treebank, not 4:obj"),
    ({"kind": "tag", "tag": "NOUN"}, "'PRON', not 'NOUN'"),
    ({"proposed_label": "a\tb"}, "does not fit into a column"),
]


@pytest.mark.parametrize(("changes", "reason"), MISFITS)
def test_rows_that_do_not_fit_are_named(changes: dict[str, object], reason: str) -> None:
    bank, file = document(), io.BytesIO()
    good = suspect(bank, 1, 2, kind="label", proposed_label="obl")
    with pytest.raises(InputError) as error:
        accept(bank, [row(2, good), row(3, replace(suspect(bank, 0, 1), **changes))], file)
    assert str(error.value).startswith("suspects.tsv:3: sentence s-")
    assert reason in str(error.value)
    assert not file.getvalue()


def test_two_rows_for_one_annotation_are_refused() -> None:
    bank = document()
    first, second = suspect(bank, 0, 1, proposed_head=2), suspect(bank, 0, 1, kind="label", proposed_label="obj")
    with pytest.raises(InputError, match=r"tsv:3: .*the same annotation as line 2"):
        accept_all(bank, first, second)


def is_tree(heads: list[int], several: bool) -> bool:
    """Return whether every word reaches the root.

    The root must have a single dependent unless `several` is true.
    """
    n = len(heads)
    reach = np.eye(n + 1, dtype=bool)
    for m, h in enumerate(heads, 1):
        reach[m, h] = True
    for _ in range(n):
        reach = (reach.astype(int) @ reach.astype(int)) > 0
    return bool(reach[1:, 0].all()) and (several or heads.count(0) == 1)


@pytest.mark.parametrize("several", [False, True])
def test_exactly_the_trees_are_accepted(several: bool) -> None:
    """Accept proposals for all 625 assignments of heads to four words: only trees are accepted, the rest is refused.

    The test starts from each of three trees.
    """
    accepted = 0
    for start in ([0, 1, 2, 3], [2, 0, 2, 3], [3, 3, 0, 3]):
        words = "".join(f"{m}\tw{m}\t_\tN\t_\t_\t{h}\tx\t_\t_\n" for m, h in enumerate(start, 1)) + "\n"
        extra = "1\ta\t_\tN\t_\t_\t0\tx\t_\t_\n2\tb\t_\tN\t_\t_\t0\tx\t_\t_\n\n" if several else ""
        bank = read((words + extra).encode())
        for heads in product(range(5), repeat=4):
            changes = [suspect(bank, 0, m, proposed_head=h) for m, h in enumerate(heads, 1) if h != start[m - 1]]
            file = io.BytesIO()
            rows = [row(m + 1, s) for m, s in enumerate(changes, 1)]
            if is_tree(list(heads), several):
                assert len(accept(bank, rows, file)) == len(changes)
                assert read(file.getvalue()).treebank.head[:4].tolist() == list(heads)
                accepted += 1
            else:
                with pytest.raises(InputError, match="would break a tree: line") as error:
                    accept(bank, rows, file)
                assert not file.getvalue()
                assert "cycle" in str(error.value) or "root" in str(error.value)
    assert accepted == 3 * (125 if several else 64)


def test_refused_rows_are_all_named_and_no_others() -> None:
    bank = document()
    with pytest.raises(InputError) as error:
        accept_all(
            bank,
            suspect(bank, 0, 5, proposed_head=1),
            suspect(bank, 0, 1, proposed_head=2),
            suspect(bank, 0, 2, proposed_head=1),
            suspect(bank, 1, 2, proposed_head=0),
        )
    message = str(error.value)
    assert (
        "line 3 (sentence s-1, word 1 (You)): cycle 1 -> 2 -> 1; line 4 (sentence s-1, word 2 (ca)): cycle" in message
    )
    assert "line 5 (sentence 2, word 2 (on)): the sentence has 2 roots" in message
    assert "line 2" not in message


def test_a_whole_journey(tmp_path: Path) -> None:
    bank = document("\r\n")
    suspects = [suspect(bank, 0, 3, proposed_head=2, marginal=0.1), suspect(bank, 1, 2, proposed_label="obl")]
    path = tmp_path / "suspects.tsv"
    path.write_bytes(table(*suspects).replace(b"\n\t2\t", b"\nx\t2\t"))
    file = io.BytesIO()
    assert len(accept(bank, read_tsv(path), file)) == 1
    assert file.getvalue().decode() == "".join(line + "\r\n" for line in LINES).replace("compound:prt", "obl")


def test_ids_of_sentences() -> None:
    assert sentence_ids(document()) == ["s-1", "2"]
    assert sentence_ids(read(b"1\tGo\tgo\tV\tV\t_\t0\troot\t_\t_\n\n" * 2, "conllx")) == ["1", "2"]
