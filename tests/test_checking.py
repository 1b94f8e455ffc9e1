"""Test `treebound check` on files: it reports every manipulation and claims no verification that it did not make."""

import gzip
import io
import json
import re

import numpy as np
import pytest
from oracles.score import scores
from oracles.trees import trees
from synthetic import inflected_conllu
from test_cli import SENTENCES, assert_one_line, conllu, run

from treebound import load
from treebound.cli.checking import Checking, Claimed, Summary, checked
from treebound.treebanks.document import stream

SPACES = ("projective", "non-projective")


@pytest.fixture(scope="module", params=SPACES)
def files(request, tmp_path_factory):
    """Return a folder with a model, `parsed.conllu` and its `proofs.gz`."""
    folder = tmp_path_factory.mktemp("checking")
    (folder / "train.conllu").write_text(conllu(SENTENCES * 5))
    (folder / "dev.conllu").write_text(conllu(SENTENCES))
    crossing = ["--space", "non-projective"] if request.param == "non-projective" else []
    options = [
        "--epochs",
        1,
        "--bits",
        12,
        "--threshold",
        0,
        *crossing,
    ]  # without a threshold every sentence has several trees
    result = run("train", folder / "train.conllu", folder / "dev.conllu", "-o", folder / "m.npz", *options)
    assert result.returncode == 0, result.stderr
    outputs = ["-o", folder / "parsed.conllu", "--certificates", folder / "proofs.gz", "--margins", "--k-best", 3]
    result = run("parse", folder / "m.npz", folder / "dev.conllu", *outputs)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture(scope="module")
def parser(files):
    return load(files / "m.npz")


def check_text(parser, text, prove=True):
    """Return the check of the first sentence of a text."""
    document = next(stream(io.BytesIO(text.encode()), 1))
    return checked(Checking(parser, "parsed.conllu"), Claimed(1, document, None, prove))


def second_sentence(files):
    """Return the second parsed sentence, which has six words."""
    return (files / "parsed.conllu").read_text().split("\n\n")[1] + "\n\n"


def with_comment(text, key, value):
    return re.sub(rf"(?m)^# treebound_{key} = .*$", f"# treebound_{key} = {value}", text)


def test_the_output_of_parse_is_proved(files, parser):
    outcome = check_text(parser, second_sentence(files))
    assert (outcome.faults, outcome.verdict) == ([], "optimal")
    assert outcome.ignored == {"margins", "that lists of k best trees are complete"}
    assert check_text(parser, second_sentence(files), prove=False).verdict == "unproved"


@pytest.mark.parametrize("key", ["score", "bound"])
@pytest.mark.parametrize(
    "value",
    [
        "nan",
        "NaN",
        "inf",
        "-inf",
        "Infinity",
        "1e999",
        "1e+999",
        "",
        "x",
        "1_0",
        "٣",
        "0x7",
        "9" * 400,
        "-1e308",
        "1 2",
    ],
)
def test_invalid_numbers_are_faults(files, parser, key, value):
    assert check_text(parser, with_comment(second_sentence(files), key, value)).verdict == "faulty"


@pytest.mark.parametrize("status", ["gap", "limit", "heuristic", "infeasible", "nonsense", "OPTIMAL", "", "optimal "])
def test_the_bound_must_agree_with_the_status(files, parser, status):
    text = second_sentence(files)
    bound = int(re.search(r"# treebound_bound = (-?\d+)", text)[1])
    lower, higher, open_ = (with_comment(text, "bound", b) for b in (bound - 1, bound + 5, "inf"))
    verdicts = [check_text(parser, with_comment(t, "status", status)).verdict for t in (text, lower, higher, open_)]
    assert verdicts == {
        "gap": ["bounded", "faulty", "bounded", "scored"],
        "limit": ["bounded", "faulty", "bounded", "scored"],
        "heuristic": ["faulty", "faulty", "faulty", "scored"],
        "optimal ": ["optimal", "faulty", "faulty", "faulty"],
    }.get(status, ["faulty"] * 4)


def test_repeated_or_missing_claims(files, parser):
    text = second_sentence(files)
    for key in ("score", "bound", "status"):
        (comment,) = re.findall(rf"(?m)^# treebound_{key} = .*\n", text)
        assert f"{key} is missing" in check_text(parser, text.replace(comment, "")).faults
        assert f"{key} appears 2 times" in check_text(parser, text.replace(comment, comment + "#" + comment[2:])).faults
    rules = text.replace("# treebound_score", "# treebound_valid = ud\n# treebound_valid = none\n# treebound_score")
    assert "valid appears 2 times" in check_text(parser, rules).faults


def test_worse_trees_with_their_true_scores(files, parser):
    """Check that false claims about worse trees with their true scores are found faulty.

    The claims are that the tree is the best, or that no tree exceeds a bound below the best score.
    """
    text = second_sentence(files)
    document = next(stream(io.BytesIO(text.encode()), 1))
    problem = parser.problem(document.treebank, 0)
    space = parser.decoder.space
    every, score = trees(problem.n, space), scores(problem, space)
    order = np.argsort(score)[::-1]
    refused = 0
    for row in order[1:40]:
        if score[row] == -np.inf or score[row] == score[order[0]]:
            continue
        lines = text.split("\n")
        words = [i for i, line in enumerate(lines) if "\t" in line]
        for i, head in zip(words, every[row][1:], strict=True):
            fields = lines[i].split("\t")
            lines[i] = "\t".join([*fields[:6], str(head), *fields[7:]])
        worse_tree = re.sub(r"# treebound_kbest.*\n", "", "\n".join(lines))
        for status, bound in (("optimal", score[row]), ("limit", score[row]), ("gap", score[order[0]] - 1)):
            lie = with_comment(with_comment(worse_tree, "score", int(score[row])), "bound", int(bound))
            assert check_text(parser, with_comment(lie, "status", status)).verdict == "faulty"
            refused += 1
    assert refused > 30


def test_false_infeasibility(files, parser):
    text = re.sub(r"(?m)^(\d+\t(?:[^\t]*\t){5})\d+", r"\g<1>0", second_sentence(files))
    for key, value in (("score", "-inf"), ("bound", "-inf"), ("status", "infeasible")):
        text = with_comment(text, key, value)
    assert check_text(parser, text, prove=False).faults == ["kbest gives trees, though none is claimed"]
    text = re.sub(r"# treebound_kbest.*\n", "", text)
    assert check_text(parser, text).verdict == "faulty"
    assert check_text(parser, text, prove=False).verdict == "unproved"
    limit = with_comment(with_comment(text, "status", "limit"), "bound", "inf")
    assert check_text(parser, limit).verdict == "scored"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"# treebound_kbest = -?\d+:", "# treebound_kbest = 7:"),
        (r"# treebound_kbest = (-?\d+: [\d ]+)", r"# treebound_kbest = \1 | \1"),
        (r"# treebound_kbest = [^|]*\| ", "# treebound_kbest = "),
        (r"(# treebound_kbest = .*) \| .*", r"\1 | nan: 0 0 0 0 0 0"),
        (r"(# treebound_kbest = .*) \| .*", r"\1 | 5: 0 1"),
        (r"(# treebound_kbest = .*) \| .*", r"\1 |"),
        (r"# treebound_kbest_complete = yes", "# treebound_kbest_complete = maybe"),
        (r"# treebound_kbest = .*\n", ""),
        (r"(# treebound_kbest = .*\n)", r"\1\1"),
    ],
)
def test_trees_of_a_list_are_checked(files, parser, old, new):
    text, count = re.subn(old, new, second_sentence(files), count=1)
    assert count
    assert check_text(parser, text).verdict == "faulty"


def test_the_summary_states_what_was_verified(files):
    model, parsed, proofs = files / "m.npz", files / "parsed.conllu", files / "proofs.gz"
    unchecked = "; not checked: margins, that lists of k best trees are complete"
    serial = run("check", model, parsed, "--certificates", proofs)
    assert (serial.returncode, serial.stdout) == (0, "")
    assert serial.stderr == f"4 sentences: 4 proved optimal; 0 faults{unchecked}\n"
    parallel = run("check", model, "-", "--workers", 2, stdin=parsed.read_text())
    assert (parallel.returncode, parallel.stdout, parallel.stderr) == (0, "", serial.stderr)
    unproved = "claim more than a tree and its score, which was not verified"
    fast = run("check", model, parsed, "--fast", "--certificates", proofs).stderr
    assert fast == f"4 sentences: 0 proved optimal, 4 {unproved}; 0 faults{unchecked}\n"
    drawn = run("check", model, parsed, "--sample", 1, "--seed", 3, "--certificates", proofs).stderr
    assert drawn.startswith(f"4 sentences: 1 proved optimal, 3 {unproved}; 0 faults{unchecked}; ")
    assert drawn.endswith("; only the proofs of 1 sentences, drawn with seed 3, were checked\n")
    assert run("check", model, "-", "--sample", 1, "--seed", 3, stdin=parsed.read_text()).stderr == drawn
    assert str(Summary()) == "0 sentences: 0 proved optimal; 0 faults"


def test_check_needs_the_pruning_threshold_of_parse(files, tmp_path):
    """Check that the best tree over few candidate heads is refused as the best tree over all heads."""
    text, parsed = tmp_path / "text.conllu", tmp_path / "parsed.conllu"
    text.write_text(inflected_conllu(8, 2))
    run("parse", files / "m.npz", text, "-o", parsed, "--threshold", 1)
    assert "8 proved optimal; 0 faults" in run("check", files / "m.npz", parsed, "--threshold", 1).stderr
    assert run("check", files / "m.npz", parsed).returncode == 1


def test_the_number_of_workers_does_not_change_the_faults(files):
    text = (files / "parsed.conllu").read_text().replace("# treebound_bound = ", "# treebound_bound = 1")
    serial, parallel = (run("check", files / "m.npz", "-", "--workers", w, stdin=text) for w in (1, 2))
    assert (serial.returncode, serial.stdout, serial.stderr) == (parallel.returncode, parallel.stdout, parallel.stderr)
    assert serial.returncode == 1
    places = [line.split(": ")[:2] for line in serial.stdout.splitlines()]
    assert places == [["<stdin>", f"sentence {i}"] for i in (1, 2, 3, 4)]
    question = "every sentence has a fault: was the file parsed with this model and with the same options?"
    assert serial.stderr.splitlines()[-1] == question
    first = (files / "parsed.conllu").read_text().replace("# treebound_bound = ", "# treebound_bound = 1", 1)
    assert question not in run("check", files / "m.npz", "-", stdin=first).stderr


def test_a_file_without_sentences_is_named(files, tmp_path):
    (tmp_path / "none.conllu").write_text("")
    result = run("check", files / "m.npz", tmp_path / "none.conllu")
    assert result.returncode == 0
    assert f"warning: {tmp_path / 'none.conllu'}: has no sentences\n" in result.stderr


def test_invalid_certificate_files(files, tmp_path):
    lines = gzip.decompress((files / "proofs.gz").read_bytes()).splitlines(keepends=True)
    header = json.loads(lines[0])
    (other_space,) = set(SPACES) - {header["space"]}
    swapped = json.dumps(header | {"space": other_space}).encode() + b"\n"
    whole = gzip.compress(b"".join(lines))
    bad = {
        "proofs:1: proofs about": gzip.compress(swapped + b"".join(lines[1:])),
        "proofs:3: damaged or foreign file (nested too deeply)": gzip.compress(
            b"".join([*lines[:2], b"[" * 200_000 + b"\n", *lines[3:]])
        ),
        "proofs:2: damaged or foreign file (NaN": gzip.compress(lines[0] + b"[NaN]\n" + b"".join(lines[2:])),
        "proofs:2: not a certificate of this sentence": gzip.compress(b"".join([lines[0], *lines[:0:-1]])),
        "damaged or foreign file": whole[: len(whole) // 2],
        "ends before the parsed file": gzip.compress(b"".join(lines[:-1])),
        "goes on after the parsed file": gzip.compress(b"".join([*lines, lines[-1]])),
    }
    for message, data in bad.items():
        (tmp_path / "proofs").write_bytes(data)
        result = run("check", files / "m.npz", files / "parsed.conllu", "--certificates", tmp_path / "proofs")
        assert_one_line(result, message)
    (tmp_path / "proofs").write_bytes(gzip.compress(lines[0] + b"null\n" * 4))
    result = run("check", files / "m.npz", files / "parsed.conllu", "--certificates", tmp_path / "proofs")
    assert (result.returncode, result.stdout.count(": no proof of its bound\n")) == (1, 4)
