"""Test the command line as users see it: pipes, invalid input, no tracebacks; in separate processes if necessary."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from treebound import cli
from treebound.support import interrupts, progress

TREEBOUND = str(Path(sys.executable).with_name("treebound"))

#: (form, tag, head) of synthetic sentences; the training file repeats them, which suffices to test input and output
SENTENCES = [
    [("the", "DET", 2), ("cat", "NOUN", 3), ("sleeps", "VERB", 0), (".", "PUNCT", 3)],
    [
        ("a", "DET", 2),
        ("dog", "NOUN", 3),
        ("sees", "VERB", 0),
        ("the", "DET", 5),
        ("cat", "NOUN", 3),
        (".", "PUNCT", 3),
    ],
    [("dogs", "NOUN", 2), ("sleep", "VERB", 0), ("here", "ADV", 2), ("and", "CCONJ", 5), ("there", "ADV", 3)],
    [("go", "VERB", 0)],
]


def conllu(sentences: list, annotated: bool = True) -> str:
    blocks = []
    for i, words in enumerate(sentences):
        lines = [f"# sent_id = {i}"]
        for j, (form, tag, head) in enumerate(words, 1):
            head, label = (head, "root" if head == 0 else "dep") if annotated else ("_", "_")
            lines.append(f"{j}\t{form}\t{form}\t{tag}\t_\t_\t{head}\t{label}\t_\t_")
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


class Stream(io.BytesIO):
    """A standard stream in memory."""

    def __init__(self, name: str, content: bytes = b""):
        super().__init__(content)
        self.name = f"<{name}>"


def run(*arguments: object, stdin: str = "", **options) -> subprocess.CompletedProcess:
    """Run a command and return its output.

    With options for `subprocess.run` the command runs in a separate process, otherwise in this process, which is
    faster.
    """
    command = [TREEBOUND, *map(str, arguments)]
    if options:
        return subprocess.run(command, input=stdin, capture_output=True, text=True, **options)
    streams = {"stdin": Stream("stdin", stdin.encode()), "stdout": Stream("stdout"), "stderr": Stream("stderr")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command)
        patch.setattr(progress, "_said", None)  # as in a new process
        for name, stream in streams.items():
            patch.setattr(sys, name, io.TextIOWrapper(stream, "utf-8", write_through=True))
        with pytest.raises(SystemExit) as exit_info:
            cli.main()
        out, err = (re.sub("\r\n?", "\n", streams[name].getvalue().decode()) for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess(command, int(exit_info.value.code or 0), out, err)


def assert_one_line(result: subprocess.CompletedProcess, *parts: str, code: int = 1) -> None:
    assert result.returncode == code, result.stderr
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("treebound: error: ")
    for part in parts:
        assert part in line


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "train.conllu").write_text(conllu(SENTENCES * 5))
    (folder / "dev.conllu").write_text(conllu(SENTENCES))
    result = run(
        "train", folder / "train.conllu", folder / "dev.conllu", "-o", folder / "model.npz", "--epochs", 3, "--bits", 14
    )
    assert result.returncode == 0, result.stderr
    assert "dev UAS 100.00, LAS 100.00" in result.stderr
    assert sorted(p.name for p in folder.iterdir()) == ["dev.conllu", "model.npz", "train.conllu"]
    return folder / "model.npz"


def test_help_answers_at_once() -> None:
    started = time.perf_counter()
    result = run("--help")
    seconds = time.perf_counter() - started
    assert result.returncode == 0
    assert all(
        command in result.stdout for command in ("fetch", "convert", "train", "jackknife", "parse", "evaluate", "check")
    )
    assert seconds < 1 + os.getloadavg()[0] / 2, "the limit grows with the load of the machine"


def test_no_arguments_print_the_help() -> None:
    assert (run().returncode, run().stdout, run().stderr) == (0, run("--help").stdout, "")


def test_the_version_is_printed() -> None:
    assert run("--version").stdout == f"treebound {version('treebound')}\n"


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "treebound"]
    called = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert (called.returncode, called.stdout) == (0, run("--version").stdout)
    wrong = subprocess.run([*command, "parse"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stderr) == (run("parse").returncode, run("parse").stderr)


def test_help_imports_nothing_heavy() -> None:
    code = "import sys, treebound.cli; print(*{'numpy', 'numba', 'pandas', 'yaml'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == []


def test_train_a_tagger_and_tag(model: Path, tmp_path: Path) -> None:
    tagger, tagged = tmp_path / "tagger.npz", tmp_path / "tagged.conllu"
    result = run(
        *("train", model.with_name("train.conllu"), model.with_name("dev.conllu"), "-o", tagger),
        *("--system", "tagging", "--epochs", 3, "--bits", 14),
    )
    assert result.returncode == 0, result.stderr
    assert "accuracy on dev: upos 100.00, lemma 100.00" in result.stderr
    text = conllu(SENTENCES, annotated=False)
    untagged = text
    for tag in ("DET", "NOUN", "VERB", "PUNCT", "ADV", "CCONJ"):
        untagged = untagged.replace(f"\t{tag}\t", "\t_\t")
    assert untagged != text
    assert run("tag", tagger, "-o", tagged, stdin=untagged).returncode == 0
    assert tagged.read_text() == text, "only the column of tags may change"
    assert run("tag", tagger, stdin="").stdout == ""
    assert run("tag", tagger, "--workers", 2, stdin=untagged * 80).stdout == text * 80
    assert_one_line(run("tag", model, stdin=text), "not a treebound tagger")
    assert_one_line(run("tag", tmp_path / "none.npz", stdin=text), "no such tagger file")
    nothing = tmp_path / "nothing.conllu"
    nothing.write_text(untagged)
    result = run("train", nothing, nothing, "-o", tagger, "--system", "tagging", "--columns", "upos")
    assert_one_line(result, "has no tags in the column upos")


def test_parse_evaluate_check(model: Path, tmp_path: Path) -> None:
    parsed = tmp_path / "parsed.conllu"
    text = conllu(SENTENCES, annotated=False)
    assert run("parse", model, "-o", parsed, stdin=text).returncode == 0
    written = parsed.read_text()
    for line in ("# sent_id = 0", "# treebound_score = ", "# treebound_bound = ", "# treebound_status = optimal"):
        assert line in written
    assert [line.split("\t")[6] for line in written.splitlines() if "\t" in line] == [
        str(h) for s in SENTENCES for *_, h in s
    ]
    labels = [line.split("\t")[7] for line in written.splitlines() if "\t" in line]
    assert labels == ["root" if h == 0 else "dep" for s in SENTENCES for *_, h in s]
    gold = model.with_name("dev.conllu")
    scores = dict(line.split("\t") for line in run("evaluate", gold, parsed).stdout.splitlines())
    assert scores == {
        "sentences": "4",
        "words scored": "14",
        "UAS": "100.00",
        "complete": "100.00",
        "LAS": "100.00",
        "complete, labelled": "100.00",
    }
    unlabelled = tmp_path / "unlabelled.conllu"
    unlabelled.write_text(written.replace("\tdep\t", "\t_\t"))
    result = run("evaluate", gold, unlabelled)
    assert "LAS\t28.57" in result.stdout, "a missing label counts as wrong"
    assert "12 of 16 words have the label _" in result.stderr
    unlabelled.write_text(written.replace("\tdep\t", "\t_\t").replace("\troot\t", "\t_\t"))
    assert "LAS" not in run("evaluate", gold, unlabelled).stdout
    mislabelled = tmp_path / "mislabelled.conllu"
    mislabelled.write_text(written.replace("\troot\t", "\tdep\t"))
    assert "LAS\t71.43\ncomplete, labelled\t0.00" in run("evaluate", gold, mislabelled).stdout
    assert "words scored\t16" in run("evaluate", gold, parsed, "--all-words").stdout
    checked = run("check", model, parsed)
    assert (checked.returncode, checked.stdout) == (0, "")
    assert checked.stderr.endswith(
        "4 sentences: 4 proved optimal; 0 faults\n"
    )  # after progress messages of compilation


def test_confidence_in_misc_and_comments(model: Path) -> None:
    gold = model.with_name("dev.conllu")
    plain = run("parse", model, gold).stdout
    # a threshold would leave one tree for a sentence of the training data
    options = ("--margins", "--marginals", "--scale", 10, "--k-best", 2, "--threshold", 0)
    result = run("parse", model, gold, *options)
    assert result.returncode == 0, result.stderr
    columns = [line.split("\t") for line in result.stdout.splitlines() if "\t" in line]
    misc = [dict(item.split("=") for item in column[9].split("|")) for column in columns]
    assert all(float(word["TreeboundMargin"]) >= 0 for word in misc)
    assert all(0 <= float(word["TreeboundMarginal"]) <= 1.000001 for word in misc)
    assert misc[-1] == {"TreeboundMargin": "inf", "TreeboundMarginal": "1"}  # a sentence of one word
    lists = [line for line in result.stdout.splitlines() if line.startswith("# treebound_kbest = ")]
    scores = [
        line.removeprefix("# treebound_score = ")
        for line in plain.splitlines()
        if line.startswith("# treebound_score = ")
    ]
    sentences = [[word for word in block.splitlines() if "\t" in word] for block in result.stdout.split("\n\n")[:-1]]
    for words, trees in zip(sentences[:3], lists[:3], strict=True):
        best, second = (int(tree.partition(":")[0]) for tree in trees.removeprefix("# treebound_kbest = ").split(" | "))
        assert min(int(word.rpartition("TreeboundMargin=")[2].partition("|")[0]) for word in words) == best - second, (
            "margins and scores must have the same unit"
        )
    heads = " ".join(str(head) for *_, head in SENTENCES[0])
    assert lists[0].startswith(f"# treebound_kbest = {scores[0]}: {heads} | ")
    assert [line.count(" | ") for line in lists] == [1, 1, 1, 0]
    assert result.stdout.count("# treebound_kbest_complete = yes\n") == 4
    # existing annotation is kept, except for the claims of another parse
    second_options = ("--margins", "--k-best", 3, "--threshold", 0)
    second_result = run(
        "parse", model, *second_options, stdin=result.stdout.replace("\tTreeboundMargin=", "\tGloss=x|TreeboundMargin=")
    )
    assert "\tGloss=x|TreeboundMargin=inf" in second_result.stdout
    assert "TreeboundMarginal" not in second_result.stdout
    assert second_result.stdout.count("# treebound_kbest = ") == 4
    windows = "\r\n".join(second_result.stdout.split("\n"))
    assert run("parse", model, stdin=windows).stdout == plain.replace(
        "\t_\n", "\tGloss=x\n"
    )  # Windows line ends are converted
    mixed = "# text = ours\n" + result.stdout
    assert run("parse", model, stdin=mixed).stdout == "# text = ours\n" + plain


def test_certificates_in_a_file(model: Path, tmp_path: Path) -> None:
    gold, parsed, proofs = model.with_name("dev.conllu"), tmp_path / "parsed.conllu", tmp_path / "proofs.gz"
    assert run("parse", model, gold, "-o", parsed, "--certificates", proofs).returncode == 0
    assert parsed.read_text() == run("parse", model, gold).stdout
    checked = run("check", model, parsed, "--certificates", proofs)
    assert (checked.returncode, checked.stdout) == (0, "")
    assert checked.stderr.endswith(
        "4 sentences: 4 proved optimal; 0 faults\n"
    )  # after progress messages of compilation
    # the proofs of one file are no proofs of another file
    short = tmp_path / "short.conllu"
    short.write_text(parsed.read_text().rpartition("\n\n# sent_id")[0] + "\n\n")
    assert_one_line(run("check", model, short, "--certificates", proofs), "goes on after the parsed file")
    assert_one_line(run("check", model, parsed, "--certificates", gold), "dev.conllu:1: damaged or foreign file")
    text = run("parse", model, gold, "-o", parsed, "--certificates", proofs, "--decoder", "ilp")
    assert_one_line(text, "needs a decoder of branch-and-bound, dual-decomposition, ad3 and --config tuned")


def test_a_failed_run_leaves_no_certificates(model: Path, tmp_path: Path) -> None:
    text = conllu(SENTENCES, annotated=False).replace("2\tdog", "3\tdog")
    output, proofs = tmp_path / "out.conllu", tmp_path / "proofs.gz"
    assert_one_line(run("parse", model, "-o", output, "--certificates", proofs, stdin=text), "<stdin>:9: ")
    assert list(tmp_path.iterdir()) == []


def test_without_labels(model: Path, tmp_path: Path) -> None:
    gold = model.with_name("dev.conllu")
    blank = tmp_path / "blank.conllu"
    blank.write_text(gold.read_text().replace("\tdep\t", "\t_\t").replace("\troot\t", "\t_\t"))
    train = ["train", blank, blank, "-o", tmp_path / "model.npz", "--epochs", 1, "--bits", 14]
    assert_one_line(run(*train), "not every word has a label", "--labels none")
    assert run(*train, "--labels", "none").returncode == 0
    parsed = run("parse", tmp_path / "model.npz", gold).stdout
    assert parsed.count("\tdep\t") == gold.read_text().count("\tdep\t"), "the labels of the input must be kept"


def test_standard_input_is_the_same_as_files(model: Path) -> None:
    gold = model.with_name("dev.conllu")
    from_file = run("parse", model, gold)
    assert from_file.stdout.count("# treebound_status = ") == 4
    assert run("parse", model, stdin=gold.read_text()).stdout == from_file.stdout
    assert run("parse", model, "-", stdin=gold.read_text()).stdout == from_file.stdout
    assert run("parse", model, gold, "--workers", 2).stdout == from_file.stdout
    assert run("parse", model, gold, gold).stdout == 2 * from_file.stdout


def test_workers_change_no_byte_of_a_longer_text(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.conllu"
    blocks = conllu(SENTENCES * 80, annotated=False)
    # everything around the words is kept: comments, line ends, multiword tokens, empty nodes
    blocks = blocks.replace(
        "# sent_id = 1\n", "# a comment\r\n# sent_id = 1\n1-2\taren't\t_\t_\t_\t_\t_\t_\t_\t_\n", 70
    )
    blocks = blocks.replace("\n2\tcat", "\n1.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n2\tcat", 30)
    text.write_bytes(blocks.encode())
    serial = run("parse", model, text)
    assert serial.stdout.count("# treebound_status = optimal") == 320
    assert run("parse", model, text, "--workers", 3).stdout == serial.stdout
    assert run("parse", model, "--workers", 2, stdin=text.read_bytes().decode()).stdout == serial.stdout
    proofs = [tmp_path / "one.gz", tmp_path / "two.gz"]
    for workers, path in enumerate(proofs, 1):
        run("parse", model, text, "--workers", workers, "-o", tmp_path / "parsed", "--certificates", path)
    assert proofs[0].read_bytes() == proofs[1].read_bytes()
    # all sentences before a fault are written
    broken = text.read_bytes().decode() + "1\tnot a line\n\n"
    faulty = run("parse", model, "--workers", 2, stdin=broken)
    assert faulty.returncode == 1
    assert faulty.stdout == run("parse", model, stdin=broken).stdout
    assert serial.stdout.startswith(faulty.stdout)
    assert faulty.stdout.count("# treebound_status = optimal") == 300


@pytest.mark.parametrize("workers", [1, 2])
def test_output_begins_before_the_input_has_ended(model: Path, workers: int) -> None:
    command = [TREEBOUND, "parse", str(model), "--workers", str(workers)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        source, parsed = process.stdin, process.stdout
        assert source is not None
        assert parsed is not None

        # written in a thread: writing everything before reading would block once the parser's output is full
        def write() -> None:
            with contextlib.suppress(BrokenPipeError):
                source.write(conllu(SENTENCES * 300, annotated=False))
                source.flush()  # the input is not closed

        writer = threading.Thread(target=write)
        watchdog = threading.Timer(300, process.kill)
        writer.start()
        watchdog.start()
        assert parsed.readline() == "# sent_id = 0\n"
        watchdog.cancel()
        process.kill()
        writer.join()
        with contextlib.suppress(BrokenPipeError):  # closing may flush remaining text
            source.close()


def test_published_configuration_agrees(model: Path) -> None:
    gold = model.with_name("dev.conllu")
    assert run("parse", model, gold, "--config", "published").stdout == run("parse", model, gold).stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [("# treebound_score = ", "# treebound_score = 1"), ("\t0\troot", "\t2\troot"), ("\t0\troot", "\t0\tdep")],
)
def test_check_finds_manipulations(model: Path, old: str, new: str) -> None:
    parsed = run("parse", model, model.with_name("dev.conllu")).stdout
    result = run("check", model, "-", stdin=parsed.replace(old, new, 1))
    assert result.returncode == 1
    assert result.stdout.startswith("<stdin>: sentence 1: ")


def test_check_needs_comments(model: Path) -> None:
    assert_one_line(
        run("check", model, model.with_name("dev.conllu")),
        "sentence 1: no comments treebound_score, treebound_bound, treebound_status",
    )


def test_empty_input(model: Path) -> None:
    result = run("parse", model)
    assert (result.returncode, result.stdout, result.stderr) == (
        0,
        "",
        "treebound: warning: <stdin> has no sentences\n",
    )


def test_one_word(model: Path) -> None:
    result = run("parse", model, stdin=conllu([[("hi", "INTJ", 0)]], annotated=False))
    assert result.returncode == 0
    assert "\t0\t" in result.stdout


def test_five_hundred_words(model: Path, tmp_path: Path) -> None:
    words = [(f"w{i % 7}", ("NOUN", "VERB", "ADJ")[i % 3], 0) for i in range(500)]
    (tmp_path / "long.conllu").write_text(conllu([words], annotated=False))
    result = run("parse", model, tmp_path / "long.conllu", timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 500 + 1 + 1 + 3
    assert "# treebound_status = limit" in result.stdout  # the work limit is reached
    assert "# treebound_bound = inf" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["parse", "{model}", "{missing}"], ["missing.conllu: cannot be read: No such file"]),
        (["parse", "{model}", "{folder}"], ["is a folder"]),
        (["parse", "{missing}", "{gold}"], ["no such model file"]),
        (["parse", "{gold}", "{gold}"], ["truncated or foreign file"]),
        (["parse", "{model}", "{gold}", "-o", "/proc/x"], ["/proc/x: cannot be written"]),
        (["parse", "{model}", "{gold}", "--decoder", "cky"], ["unknown decoder 'cky'; choose from "]),
        (["parse", "{model}", "{gold}", "--config", "fast"], ["unknown config 'fast'; choose from tuned, published"]),
        (["parse", "{model}", "{gold}", "--k", "0"], ["k is '0'; give a positive number, none or model"]),
        (["evaluate", "{gold}", "{model}"], ["a zip archive or a file of numpy", "which is not supported"]),
        (["evaluate", "{gold}", "{other}"], ["other.conllu: 2 sentences, ", "has 4; give a parse of"]),
        (["evaluate", "{gold}", "{otherwise}"], ["otherwise.conllu:2: the words of sentence 1 differ from"]),
        (["evaluate", "{empty}", "{empty}"], ["empty.conllu: has no sentences"]),
        (["train", "{gold}", "{gold}", "-o", "{other}"], ["other.conllu: exists and is not a model"]),
        (
            ["train", "{gold}", "{gold}", "-o", "{folder}/m", "--beam", "4"],
            ["--beam is an option of transition, not of"],
        ),
        (["train", "{gold}", "{gold}", "-o", "{folder}/m", "--tag", "x"], ["'x'; choose from xpos, upos"]),
        pytest.param(
            ["parse", "{model}", "{gold}", "--scheduler", "here"],
            ["'here' is not an address; give an address such as tcp:"],
            marks=pytest.mark.skipif(find_spec("distributed") is None, reason="not installed: make cluster"),
        ),
        (["train", "{empty}", "{gold}", "-o", "{folder}/m"], ["empty.conllu: has no sentences"]),
        (["train", "{gold}", "{gold}", "-o", "{folder}/no/m"], ["cannot be written"]),
        (["train", "{gold}", "{gold}", "-o", "{folder}/m", "--learner", "svm"], ["svm", "perceptron"]),
        (["train", "{gold}", "{gold}", "-o", "{folder}/m", "--labels", "later"], ["'later'; choose from none, joint"]),
        (["train", "{gold}", "{gold}", "-o", "{folder}/m", "--families", "cousin"], ["unknown factor family 'cousin'"]),
        (["fetch", "xx_none"], ["unknown corpus 'xx_none'; choose from tr_twt"]),
        (["fetch", "ptb"], ["ptb: ", "not open", "give the path"]),
    ],
    ids=lambda value: " ".join(value)[:60],
)
def test_bad_input_is_one_line(arguments: list[str], parts: list[str], model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.conllu").write_text("")
    (tmp_path / "other.conllu").write_text(conllu(SENTENCES[:2]))
    (tmp_path / "otherwise.conllu").write_text(conllu(SENTENCES[1:]))
    names = {
        "model": model,
        "gold": model.with_name("dev.conllu"),
        "missing": tmp_path / "missing.conllu",
        "empty": tmp_path / "empty.conllu",
        "other": tmp_path / "other.conllu",
        "otherwise": tmp_path / "otherwise.conllu",
        "folder": tmp_path,
    }
    assert_one_line(run(*(a.format(**names) for a in arguments)), *parts)


def test_bad_usage_is_one_line() -> None:
    assert_one_line(run("parse", "--colour"), "No such option: --colour", "--help", code=2)
    assert_one_line(run("train", "a", "b", "-o", "c", "--epochs", "0"), "--epochs", code=2)


def test_a_malformed_sentence_names_its_line(model: Path) -> None:
    text = conllu(SENTENCES, annotated=False).replace("2\tdog", "3\tdog")
    result = run("parse", model, stdin=text)
    assert_one_line(result, "<stdin>:9: ")


def test_a_truncated_model_is_refused(model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.npz"
    data = model.read_bytes()
    for size in (0, 10, len(data) // 2, len(data) - 5):
        broken.write_bytes(data[:size])
        assert_one_line(run("parse", broken, stdin="\n"), "broken.npz: truncated or foreign file", "train it again")


def test_a_full_disk_leaves_no_file(model: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [TREEBOUND, "parse", str(model), str(model.with_name("dev.conllu"))],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "No space left" in result.stderr


def test_a_closed_pipe_ends_quietly(model: Path, tmp_path: Path) -> None:
    (tmp_path / "many.conllu").write_text(conllu(SENTENCES * 2000, annotated=False))
    parse = subprocess.Popen(
        [TREEBOUND, "parse", str(model), str(tmp_path / "many.conllu")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parse.stdout is not None
    assert parse.stdout.readline() == "# sent_id = 0\n"
    parse.stdout.close()
    assert parse.wait(60) != 0
    assert parse.stderr is not None
    assert parse.stderr.read() == ""


def test_an_interrupt_is_one_line_and_leaves_no_partial_file(model: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.conllu"
    parse = subprocess.Popen(
        [TREEBOUND, "parse", str(model), "-o", str(output)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # a shell ignores the signal in background processes
    )
    assert parse.stdin is not None
    parse.stdin.write(conllu(SENTENCES * 200, annotated=False))
    parse.stdin.flush()
    while not list(tmp_path.iterdir()):  # wait until the output is open
        assert parse.poll() is None
        time.sleep(0.01)
    parse.send_signal(signal.SIGINT)
    _, errors = parse.communicate(timeout=60)
    assert parse.returncode == 130
    assert errors == "treebound: error: interrupted\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["llvmlite.synthetic", "numba.core.serialize", "namedtuple_Found"])
def test_an_interrupt_waits_for_functions_called_by_machine_code(module: str) -> None:
    """Check that an interrupt during a function that machine code calls is raised after this function returns.

    `module` names modules of such functions: they are called while code is loaded, or they build results.
    """
    reached: list[int] = []
    namespace = {"__name__": module, "signal": signal, "reached": reached}
    exec("def back():\n    signal.raise_signal(signal.SIGINT)\n    reached.append(1)", namespace)

    def call() -> None:
        namespace["back"]()
        reached.append(2)

    before = signal.signal(signal.SIGINT, interrupts.interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        signal.signal(signal.SIGINT, before)
    assert reached == [1]
