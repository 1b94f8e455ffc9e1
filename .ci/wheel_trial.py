"""Use an installed treebound in an otherwise empty environment: decode a matrix, train, parse, check, evaluate, draw.

`.ci/wheel` runs this script in an empty folder with `python -I`, so neither the checkout nor PYTHONPATH is visible.
The script exits with status 1 at the first failure.
"""

from __future__ import annotations

import random
import subprocess
import sys
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

import treebound
from treebound.plots.tree import tree_svg

FORBIDDEN = ("studies", "dvc", "celery", "jupyterlab", "papermill", "pandas", "matplotlib", "cvxpy", "highspy")
MODIFIERS = [("the", "DET", "det"), ("old", "ADJ", "amod"), ("grey", "ADJ", "amod")]
COMMAND = Path(sys.executable).with_name("treebound")


def expect(holds: bool, statement: str) -> None:
    """Print the statement if it holds; otherwise exit with an error that shows it."""
    if not holds:
        sys.exit(f"wheel: this statement is false: {statement}")
    print(f"wheel: {statement}")


def run(*arguments: str, status: int = 0) -> str:
    """Run a command of treebound and return its output. Exit with an error if it ends with another status."""
    result = subprocess.run([COMMAND, *arguments], capture_output=True, text=True)
    if result.returncode != status:
        sys.exit(f"wheel: treebound {' '.join(arguments)}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def sentences(count: int, seed: int) -> str:
    """Return synthetic sentences in CoNLL-U: a verb between a subject and an object, each a noun with modifiers."""
    rng = random.Random(seed)
    blocks = []
    for number in range(count):
        rows: list[tuple[str, str, int, str]] = []  # form, tag, head, relation
        verb = 0
        for relation in ("nsubj", "obj"):
            modifiers = rng.sample(MODIFIERS, rng.randint(0, 3))
            noun = len(rows) + len(modifiers) + 1
            rows += [(form, tag, noun, label) for form, tag, label in modifiers]
            verb = verb or noun + 1
            rows.append((rng.choice(("cat", "dog", "bird", "tree")), "NOUN", verb, relation))
            if relation == "nsubj":
                rows.append((rng.choice(("sees", "likes", "hears")), "VERB", 0, "root"))
        rows.append((".", "PUNCT", verb, "punct"))
        lines = [
            f"{i}\t{form}\t{form}\t{tag}\t_\t_\t{head}\t{label}\t_\t_"
            for i, (form, tag, head, label) in enumerate(rows, 1)
        ]
        blocks.append("\n".join([f"# sent_id = {number + 1}", *lines]) + "\n\n")
    return "".join(blocks)


def main() -> None:
    """Run every step and exit at the first failure."""
    installed = {distribution.name for distribution in distributions()} - {"pip", "setuptools", "treebound"}
    print(f"wheel: {len(installed)} packages come with treebound: {', '.join(sorted(installed, key=str.lower))}")
    present = [name for name in FORBIDDEN if find_spec(name)]
    expect(not present, f"none of {', '.join(FORBIDDEN)} can be imported {present or ''}".strip())

    scores = [[0, 9, 1, 1], [0, 0, 8, 2], [0, 3, 0, 7], [0, 2, 5, 0]]
    parse = treebound.decode(scores)
    print(parse.status)
    expect(parse.status == "optimal" and parse.heads.tolist() == [-1, 0, 1, 2], "treebound decodes a matrix")
    expect(treebound.check(treebound.problem(scores), parse) == [], "treebound proves the optimum")

    Path("train.conllu").write_text(sentences(20, seed=1), encoding="utf-8")
    Path("dev.conllu").write_text(sentences(5, seed=2), encoding="utf-8")
    run("train", "train.conllu", "dev.conllu", "--output", "model", "--epochs", "3", "--bits", "16")
    run("parse", "model", "dev.conllu", "--output", "parsed.conllu", "--certificates", "proofs")
    print(run("check", "model", "parsed.conllu", "--certificates", "proofs").strip())
    print(run("evaluate", "dev.conllu", "parsed.conllu").strip())
    text = Path("parsed.conllu").read_text(encoding="utf-8")
    expect(text.count("treebound_status = optimal") == 5, "a parser trained on 20 sentences parses 5 sentences")
    Path("wrong.conllu").write_text(text.replace("treebound_score = ", "treebound_score = 9", 1), encoding="utf-8")
    expect("score" in run("check", "model", "wrong.conllu", status=1), "treebound check rejects a wrong score")

    message = ""
    try:
        treebound.decode(scores, decoder="ilp")
    except treebound.InputError as error:
        message = str(error)
    expect("pip install 'treebound[ilp]'" in message, f"the error message names the missing extra: {message}")
    expect("<svg" in tree_svg(["a", "b"], [-1, 2, 0]).markup, "treebound draws trees")


if __name__ == "__main__":
    main()
