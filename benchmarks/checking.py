"""What does it cost to check proofs? CPU seconds per 100 sentences, by code that is compiled and by its plain twin.

    python benchmarks/checking.py train.conllu dev.conllu text.conllu

trains a small model with the default families in each tree space (kept in --folder for the next time), parses the text,
and checks it with the proofs that the parser wrote, with those that a search proposes, and without proofs; and some of
it in Python's numbers, which is the arithmetic that real-valued scores take. It fails if anything is not proved.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import time
from pathlib import Path

from treebound.checker.certificates import _Numbers, _walk
from treebound.checker.proofs import proof
from treebound.cli.annotate import Parsing, parsed
from treebound.cli.checking import Checking, Claimed, checked
from treebound.systems.graph.parser import Parser, load
from treebound.treebanks.document import Document, stream

SPACES = {"projective": [], "crossing": ["--space", "non-projective"]}


def model(folder: Path, space: str, train: Path, dev: Path, epochs: int) -> Path:
    """A model file, trained if it is not there."""
    path = folder / f"{space}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [Path(sys.executable).with_name("treebound"), "train", train, dev, "-o", path]
        subprocess.run([*command, "--epochs", str(epochs), "--bits", "18", *SPACES[space]], check=True)
    return path


def parsed_sentences(parser: Parser, text: Path, count: int) -> list[Claimed]:
    """The first sentences of the text, parsed, with their proofs."""
    out: list[Claimed] = []
    for document in stream(text, 1, annotated=False):
        if len(document) and len(out) < count:
            done = parsed(Parsing(parser, proofs=True), document.to_conllu())
            again: Document = next(stream(io.BytesIO(done.text), 1))
            out.append(Claimed(len(out) + 1, again, (len(out) + 2, done.proofs[0])))
    return out


def seconds(how: Checking, claimed: list[Claimed], prove: bool = True) -> float:
    """CPU seconds per 100 sentences. SystemExit where there is a fault."""
    started = time.process_time()
    for one in claimed:
        found = checked(how, Claimed(one.number, one.document, one.proof, prove))
        if found.faults or (prove and found.verdict == "unproved"):
            raise SystemExit(f"sentence {one.number}: {found}")
    return (time.process_time() - started) * 100 / len(claimed)


def plain_seconds(parser: Parser, claimed: list[Claimed]) -> float:
    """CPU seconds per 100 sentences of the stored proofs alone, in Python's numbers."""
    total = 0.0
    for one in claimed:
        problem = parser.problem(one.document.treebank, 0)
        assert one.proof is not None
        certificate = proof(problem, Path("-"), *one.proof)
        assert certificate is not None
        bound = float(parser.decoder.decode(problem).bound)
        exact = certificate.exact_families - {"arc"}
        bounded = {family: table for family, table in problem.parts.items() if family not in exact}
        numbers = _Numbers(problem, bounded, exact, parser.decoder.space == "projective")
        started = time.process_time()
        if _walk(problem, bound, certificate, numbers):
            raise SystemExit(f"sentence {one.number}: not proved")
        total += time.process_time() - started
    return total * 100 / len(claimed)


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("train", "dev", "text"):
        arguments.add_argument(name, type=Path)
    arguments.add_argument("--sentences", type=int, default=100)
    arguments.add_argument("--plain", type=int, default=10, help="sentences to check in Python's numbers")
    arguments.add_argument("--epochs", type=int, default=2)
    arguments.add_argument("--folder", type=Path, default=Path("build/checking"))
    given = arguments.parse_args()
    print("CPU seconds per 100 sentences")
    print("trees       words  stored_proofs  proposed_proofs  no_proofs  proofs_compiled  proofs_plain  ratio")
    for space in SPACES:
        parser = load(model(given.folder, space, given.train, given.dev, given.epochs), record=True)
        claimed = parsed_sentences(parser, given.text, given.sentences)
        stored, proposed = Checking(parser, "text", Path("-")), Checking(parser, "text")
        seconds(stored, claimed[:2])  # compile
        seconds(proposed, claimed[:2])
        times = [seconds(stored, claimed), seconds(proposed, claimed), seconds(stored, claimed, prove=False)]
        some = claimed[: given.plain]
        compiled = seconds(stored, some) - seconds(stored, some, prove=False)
        plain = plain_seconds(parser, some)
        words = sum(one.document.treebank.words for one in claimed)
        print(
            f"{space:11} {words:5} {times[0]:14.2f} {times[1]:16.2f} {times[2]:10.2f} {compiled:16.2f} {plain:13.2f} "
            f"{plain / compiled:6.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
