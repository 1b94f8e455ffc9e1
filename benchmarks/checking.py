"""Measure the cost of checking proofs: CPU seconds per 100 sentences, with the compiled and the plain checker.

    python benchmarks/checking.py train.conllu dev.conllu text.conllu

The benchmark trains a small model with the default families in each tree space, and stores it in --folder for the next
time. It parses the text and checks it with the proofs of the parser, with proofs that a search proposes, and without
proofs. It also checks some sentences with Python's numbers, the arithmetic for real-valued scores. It fails if a
sentence is not proved.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import time
from pathlib import Path

from treebound.checker.certificates import _node_faults, _Numbers
from treebound.checker.proofs import proof
from treebound.cli.annotate import Parsing, parsed
from treebound.cli.checking import Checking, Claimed, checked
from treebound.systems.graph.parser import Parser, load
from treebound.treebanks.document import Document, stream

SPACES = {"projective": [], "crossing": ["--space", "non-projective"]}


def model(folder: Path, space: str, train: Path, dev: Path, epochs: int) -> Path:
    """Return the path of a model file, and train the model if the file does not exist."""
    path = folder / f"{space}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [Path(sys.executable).with_name("treebound"), "train", train, dev, "-o", path]
        subprocess.run([*command, "--epochs", str(epochs), "--bits", "18", *SPACES[space]], check=True)
    return path


def parsed_sentences(parser: Parser, text: Path, count: int) -> list[Claimed]:
    """Parse the first sentences of the text, and return them with their proofs."""
    out: list[Claimed] = []
    for document in stream(text, 1, annotated=False):
        if len(document) and len(out) < count:
            done = parsed(Parsing(parser, proofs=True), document.to_conllu())
            written: Document = next(stream(io.BytesIO(done.text), 1))
            out.append(Claimed(len(out) + 1, written, (len(out) + 2, done.proofs[0])))
    return out


def seconds(how: Checking, claimed: list[Claimed], prove: bool = True) -> float:
    """Return the CPU seconds per 100 checked sentences.

    The bounds are verified only if `prove` is set. SystemExit is raised for a fault, or if a bound cannot be verified.
    """
    started = time.process_time()
    for sentence in claimed:
        result = checked(how, Claimed(sentence.number, sentence.document, sentence.proof, prove))
        if result.faults or (prove and result.verdict == "unproved"):
            raise SystemExit(f"sentence {sentence.number}: {result}")
    return (time.process_time() - started) * 100 / len(claimed)


def plain_seconds(parser: Parser, claimed: list[Claimed]) -> float:
    """Return the CPU seconds per 100 sentences for checking the stored proofs alone, with Python's numbers."""
    total = 0.0
    for sentence in claimed:
        problem = parser.problem(sentence.document.treebank, 0)
        assert sentence.proof is not None
        certificate = proof(problem, Path("-"), *sentence.proof)
        assert certificate is not None
        bound = float(parser.decoder.decode(problem).bound)
        exact = certificate.exact_families - {"arc"}
        bounded = {family: table for family, table in problem.parts.items() if family not in exact}
        numbers = _Numbers(problem, bounded, exact, parser.decoder.space == "projective")
        started = time.process_time()
        if _node_faults(problem, bound, certificate, numbers):
            raise SystemExit(f"sentence {sentence.number}: not proved")
        total += time.process_time() - started
    return total * 100 / len(claimed)


def main() -> None:
    """Train and parse in both tree spaces, and print the table of checking times."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("train", "dev", "text"):
        cli.add_argument(name, type=Path)
    cli.add_argument("--sentences", type=int, default=100, help="number of sentences (default: %(default)s)")
    cli.add_argument(
        "--plain", type=int, default=10, help="Number of sentences to check with Python's numbers. Default: 10."
    )
    cli.add_argument("--epochs", type=int, default=2, help="number of training epochs (default: %(default)s)")
    cli.add_argument(
        "--folder",
        type=Path,
        default=Path("build/checking"),
        help="folder for models and parses (default: %(default)s)",
    )
    arguments = cli.parse_args()
    print("CPU seconds per 100 sentences")
    print("trees       words  stored_proofs  proposed_proofs  no_proofs  proofs_compiled  proofs_plain  ratio")
    for space in SPACES:
        parser = load(model(arguments.folder, space, arguments.train, arguments.dev, arguments.epochs), record=True)
        claimed = parsed_sentences(parser, arguments.text, arguments.sentences)
        stored, proposed = Checking(parser, "text", Path("-")), Checking(parser, "text")
        seconds(stored, claimed[:2])  # compiles
        seconds(proposed, claimed[:2])
        times = [seconds(stored, claimed), seconds(proposed, claimed), seconds(stored, claimed, prove=False)]
        some = claimed[: arguments.plain]
        compiled = seconds(stored, some) - seconds(stored, some, prove=False)
        plain = plain_seconds(parser, some)
        words = sum(sentence.document.treebank.words for sentence in claimed)
        print(
            f"{space:11} {words:5} {times[0]:14.2f} {times[1]:16.2f} {times[2]:10.2f} {compiled:16.2f} {plain:13.2f} "
            f"{plain / compiled:6.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
