"""Parameters of notebooks: a wrong value gives one line that names the parameter and the allowed values."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace

import nbformat
import papermill
import pytest
from papermill.exceptions import PapermillExecutionError

from studies.qian_liu_2013.steps.settings import Steps
from studies.site import parameters
from studies.site.execute import execute
from treebound.core.errors import InputError
from treebound.support.settings import SettingError

REPOSITORY = Path(__file__).parents[1]
NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_checks_all_its_parameters(path: Path) -> None:
    """The cell after the parameters checks all of them, and their default values pass."""
    cells = nbformat.read(path, as_version=4).cells
    (first,) = [i for i, cell in enumerate(cells) if "parameters" in cell.metadata.get("tags", [])]
    values = {
        target.id: ast.literal_eval(node.value)
        for node in ast.parse(cells[first].source).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = [
        node
        for node in ast.walk(ast.parse(cells[first + 1].source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "parameters.check"
    ]
    assert len(calls) == 1
    assert {word.arg: ast.unparse(word.value) for word in calls[0].keywords} == {name: name for name in values}
    parameters.check(**values)
    if "sentence" in values:
        words = parameters.words(values["sentence"], values.get("gloss", ""))
        assert words.words > 1
    if "corpus" in values:
        source = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        checks = ("parameters.corpora(corpus", 'parameters.one("corpus"', 'parameters.known("corpus"')
        assert any(call in source for call in checks)
    if "parser" in values:
        assert 'parameters.known("parser"' in cells[first + 1].source or "parameters.one" in cells[first + 1].source


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"corpus": ["tr_twt"]}, "corpus: Input should be a valid string; give names of corpora"),
        ({"corpus": 2024}, "corpus: Input should be a valid string"),
        ({"corpus": None}, "corpus: Input should be a valid string"),
        ({"k": "ten"}, "k: Input should be a valid integer; give a number of candidate heads"),
        ({"k": "10"}, "k: Input should be a valid integer"),
        ({"k": True}, "k: Input should be a valid integer"),
        ({"k": 0}, "k: Input should be greater than or equal to 1"),
        ({"longest": 0}, "longest: Input should be greater than or equal to 1"),
        ({"longest": -5}, "longest: Input should be greater than or equal to 1"),
        ({"epochs": 2.5}, "epochs: Input should be a valid integer"),
        ({"rows": 10**9}, "rows: Input should be less than or equal to"),
        ({"digits": 99}, "digits: Input should be less than or equal to 15"),
        ({"digits": float("nan")}, "digits: Input should be a"),
        ({"gloss": {}}, "gloss: Input should be a valid string"),
    ],
)
def test_types_and_ranges(values: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        parameters.check(**values)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_that_exist() -> None:
    runs = [
        SimpleNamespace(params=SimpleNamespace(corpora=["a", "b"], section=lambda kind: kind())),
        SimpleNamespace(params=SimpleNamespace(corpora=["c"], section=lambda kind: SimpleNamespace(corpora=["c"]))),
    ]
    assert parameters.corpora("", runs) == []
    assert parameters.corpora("c a", runs) == ["c", "a"]
    assert parameters.corpora("c", runs, Steps) == ["c"]
    with pytest.raises(SettingError, match="corpus: unknown corpus 'nosuch'; choose from a, b, c"):
        parameters.corpora("a nosuch", runs)
    with pytest.raises(SettingError, match="corpus: unknown corpus 'a'; choose from c"):
        parameters.corpora("a", runs, Steps)
    for value, message in (("", "0 names"), ("a b", "2 names"), ("x", "unknown corpus 'x'")):
        with pytest.raises(SettingError, match=f"corpus: {message}.*; choose from a, b"):
            parameters.one("corpus", value, ["b", "a"])
    with pytest.raises(SettingError, match=r"longest: .*; choose a number of at least 3"):
        parameters.at_least("longest", 2, 3)


def test_sentences_and_trees() -> None:
    word = "a a N NN _"
    assert parameters.words(f"{word}\n{word}", "x y").words == 2
    for sentence, gloss, message in (
        ("two words", "", "sentence: line 1 has 2 columns where 5 are needed; write one word per line"),
        (f"{word} more", "", "sentence: line 1 has 6 columns"),
        ("", "", "sentence: no words"),
        (word, "x y", "gloss: 2 words for a sentence of 1"),
    ):
        with pytest.raises(SettingError) as caught:
            parameters.words(sentence, gloss)
        assert message in str(caught.value)
    assert parameters.derivation("raising", "(S (NP (NNS kings)) (VP (VBD slept)))").leaves()
    faults = {"": "0 trees", "(S (NP": "line 1: bracket is never closed", "(A (B c)) (A (B c))": "2 trees"}
    for text, message in faults.items():
        with pytest.raises(SettingError, match=f"raising: {message}"):
            parameters.derivation("raising", text)


def test_a_run_ends_in_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong parameter ends a run with one line, both with our own command and with papermill.

    The line is the last one of papermill's message, which shows no internal stack.
    """
    monkeypatch.chdir(REPOSITORY)
    source, target = REPOSITORY / "notebooks" / "21-factors.ipynb", tmp_path / "out.ipynb"
    message = "corpus: unknown corpus 'nosuch'; choose from en_ewt, pt_petrogold, ptb_sample"
    with pytest.raises(InputError) as caught:
        execute(source, target, {"corpus": "nosuch"})
    assert str(caught.value) == f"{source}: {message}"
    assert not target.exists()
    for values, line in (
        ({"corpus": ["en_ewt"]}, "corpus: Input should be a valid string; give names of corpora, separated by spaces"),
        ({"corpora": "en_ewt"}, "corpora: no parameter of this notebook; its parameters: corpus, patterns, rows"),
    ):
        with pytest.raises(PapermillExecutionError) as failed:
            papermill.execute_notebook(str(source), str(target), parameters=values, progress_bar=False)
        assert str(failed.value).rstrip().splitlines()[-1] == f"SettingError: {line}"
        assert "Traceback" not in str(failed.value)
        assert ".py" not in str(failed.value)
