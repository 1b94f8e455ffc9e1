"""Test invalid treebank files: every command reads them correctly or refuses them with one error line."""

from __future__ import annotations

import io
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from mutants import TEXT, flipped, input_mutants
from other_formats import ALPINO, BRACKETS, COMPRESSED

from treebound import cli
from treebound.core.errors import InputError
from treebound.factors.pattern_language import load as load_patterns
from treebound.treebanks.document import Document, read, stream


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, list[str]]:
    """Run the program in this process and return its exit status, standard output and lines of standard error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["treebound", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_info:
            cli.main()
    printed = capsys.readouterr()
    return int(exit_info.value.code or 0), printed.out, printed.err.splitlines()


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Train a parser and a tagger on the sentences that are damaged, and return their paths."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "train.conllu").write_text(TEXT * 5)
    parser, tagger = folder / "parser.npz", folder / "tagger.npz"
    with pytest.MonkeyPatch.context() as patch:
        for name, path in (("graph", parser), ("tagging", tagger)):
            treebank = str(folder / "train.conllu")
            options = ["-o", str(path), "--epochs", "1", "--bits", "12"]
            patch.setattr(sys, "argv", ["treebound", "train", "--system", name, treebank, treebank, *options])
            with pytest.raises(SystemExit) as exit_info:
                cli.main()
            assert not exit_info.value.code
    return parser, tagger


def is_read_correctly(content: bytes, document: Document) -> bool:
    """Return whether the document has the words that plain splitting at line ends and tabs gives."""
    text = content.decode("utf-8-sig")
    words = [line.split("\t") for line in text.replace("\r\n", "\n").split("\n") if line.split("\t")[0].isdecimal()]
    columns = [list(sentence.strings(name)) for sentence in document.treebank for name in ("form", "upos")]
    forms = [form for column in columns[::2] for form in column]
    tags = [tag for column in columns[1::2] for tag in column]
    heads = [-1 if fields[6] == "_" else int(fields[6]) for fields in words]
    return (forms, tags, document.treebank.head.tolist()) == ([w[1] for w in words], [w[3] for w in words], heads)


def is_valid(content: bytes, annotated: bool) -> bool:
    """Read a text as a whole and in parts, and return whether it is valid; a wrong reading fails."""
    try:
        document = read(io.BytesIO(content), "conllu", annotated=annotated)
    except InputError as caught:
        error = caught
    else:
        error = None
    if error is not None:
        assert "\n" not in str(error)
        assert len(str(error)) < 300
        assert error.hint
        return False
    assert is_read_correctly(content, document)
    out = io.BytesIO()
    for part in stream(io.BytesIO(content), 1, "conllu", annotated=annotated):
        part.write(out)
    assert out.getvalue() == content
    return True


def check_inputs(seed: int, count: int) -> None:
    outcomes = Counter(
        (annotated, is_valid(text, annotated)) for text in input_mutants(seed, count) for annotated in (0, 1)
    )
    for annotated in (0, 1):
        assert outcomes[annotated, True] > count // 20
        assert outcomes[annotated, False] > count // 4


def test_mutants_are_read_correctly_or_refused() -> None:
    check_inputs(seed=1, count=1500)


@pytest.mark.long
def test_many_mutants_are_read_correctly_or_refused() -> None:
    check_inputs(seed=2, count=50_000)


def check_commands(
    seed: int, count: int, models: tuple[Path, Path], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run every command that reads treebanks on `count` texts."""
    parser, tagger = models
    good, bad, out = folder / "good.conllu", folder / "bad.conllu", folder / "out"
    good.write_text(TEXT)
    outcomes: Counter[tuple[str, int]] = Counter()
    for content in input_mutants(seed, count):
        bad.write_bytes(content)
        for name, arguments in {
            "parse": ("parse", parser, bad, "-o", out),
            "tag": ("tag", tagger, bad, "-o", out),
            "evaluate": ("evaluate", good, bad),
            "gold": ("evaluate", bad, bad),
            "check": ("check", parser, bad, "--fast"),
            "train": ("train", bad, good, "-o", out, "--epochs", 1, "--bits", 12, "--labels", "none"),
        }.items():
            out.unlink(missing_ok=True)
            code, printed, errors = command(capsys, *arguments)
            outcomes[name, code] += 1
            assert code in (0, 1), (content, errors)
            if code and not (name == "check" and printed):
                (line,) = errors
                assert line.startswith("treebound: error: "), content
                assert line.isprintable(), content
                assert not out.exists()
            elif name in ("parse", "tag"):
                written = read(out, "conllu", annotated=name == "parse")
                assert written.treebank.strings("form") == read(bad, "conllu", annotated=False).treebank.strings("form")
    assert all(outcomes[name, 1] for name in ("parse", "tag", "evaluate", "gold", "check", "train")), outcomes
    assert all(outcomes[name, 0] for name in ("parse", "tag", "evaluate", "gold", "train")), outcomes


def test_commands_accept_or_refuse_any_file(
    models: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_commands(3, 60, models, tmp_path, capsys)


@pytest.mark.long
def test_commands_accept_or_refuse_many_files(
    models: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_commands(4, 1000, models, tmp_path, capsys)


@pytest.mark.parametrize("suffix", [".mrg", ".xml", *COMPRESSED])
def test_other_formats_are_read_or_refused(suffix: str, tmp_path: Path) -> None:
    """Check constituents and compressed files: they are read as trees or refused with one line."""
    rng = random.Random(1)
    whole = {".mrg": BRACKETS, ".xml": ALPINO}.get(suffix, TEXT * 20).encode()
    if suffix in COMPRESSED:
        whole = COMPRESSED[suffix](whole)
    path = tmp_path / f"text.conllu{suffix}"
    for content in (whole, *(flipped(whole, rng) for _ in range(400))):
        path.write_bytes(content)
        refused = ""
        try:
            document = read(path)
        except InputError as error:
            refused = str(error)
        if not refused:
            out = io.BytesIO()
            document.to_conllu().write(out)
            assert len(read(io.BytesIO(out.getvalue()))) == len(document)
        else:
            assert content != whole
            assert "\n" not in refused


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_invalid_file_names_are_refused(name: str) -> None:
    for function in (read, load_patterns):
        with pytest.raises(InputError):
            function(name)


@pytest.mark.parametrize("text", ["x = " + "9" * 5000, "x = " + "[" * 5000 + "]" * 5000])
def test_excessive_pattern_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "patterns.toml").write_text(text)
    with pytest.raises(InputError, match="too long, or the content is nested too deeply"):
        load_patterns(tmp_path / "patterns.toml")


@pytest.mark.parametrize("roots", [2, 3])
def test_training_refuses_several_roots_with_their_line(
    roots: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check that training names the sentences with several roots, which a single-root parser cannot find."""
    good, bad = tmp_path / "good.conllu", tmp_path / "bad.conllu"
    words = "".join(f"{i}\tw\tw\tN\tN\t_\t0\troot\t_\t_\n" for i in range(1, roots + 1))
    good.write_text(TEXT)
    bad.write_text(TEXT + f"\n# a comment\n{words}\n{words}\n")
    train = ["train", bad, good, "-o", tmp_path / "m.npz", "--epochs", 1, "--bits", 12]
    code, _, (line,) = command(capsys, *train)
    assert code == 1
    line_number = TEXT.count("\n") + 3
    message = (
        f"bad.conllu:{line_number}: sentence 4 has {roots} roots (several roots in 2 sentences); "
        "correct it or delete it, "
    )
    assert message in line
    assert "--multi-root" in line
    code, _, errors = command(capsys, "train", good, bad, *train[3:])
    assert code == 0
    assert f"bad.conllu:{line_number}: sentence 4 has {roots} roots" in errors[0]
    code, _, errors = command(capsys, *train, "--multi-root")
    assert code == 0
    assert not any("sentence 4 has" in line for line in errors)


def test_numbers_out_of_range_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = tmp_path / "good.conllu"
    good.write_text(TEXT)
    long = "9" * 5000
    train = ("train", good, good, "-o", tmp_path / "m.npz")
    for arguments in (
        *((*train, option, value) for option in ("--C", "--cost") for value in ("nan", "inf", "-1", "1e300")),
        (*train, "--label-cost", "nan"),
        *((*train, option, long) for option in ("--k", "--epochs", "--seed", "--max-dp-calls", "--bits")),
        (*train, "--C", "0"),
        (*train, "--seed", "9" * 30),
        (*train, "--families", "sibling,sibling"),
        ("parse", tmp_path / "m.npz", good, "--scale", "nan", "--marginals"),
        ("parse", tmp_path / "m.npz", good, "--scale", "inf", "--marginals"),
        ("parse", tmp_path / "m.npz", good, "--k", long),
        ("parse", tmp_path / "m.npz", good, "--k", "9" * 12),
        ("parse", tmp_path / "m.npz", good, "--k-best", "9" * 30),
        ("parse", tmp_path / "m.npz", good, "--max-dp-calls", "9" * 30),
        ("parse", tmp_path / "m.npz", good, "--workers", "100000"),
        ("check", tmp_path / "m.npz", good, "--k", long),
    ):  # fmt: skip
        code, printed, errors = command(capsys, *arguments)
        assert code in (1, 2), arguments
        assert printed == ""
        (line,) = errors
        assert line.startswith("treebound: error: ")
        assert "no such model" not in line, "numbers must be checked before files are read"
        assert "internal" not in line
        assert len(line) < 400
    assert [path.name for path in tmp_path.iterdir()] == ["good.conllu"]
