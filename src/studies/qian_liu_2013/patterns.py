"""Analyse parsing errors to find and check the hand-crafted patterns of a corpus.

    python -m studies.qian_liu_2013.patterns en_ewt

parses the training set by cross-validation with a baseline parser and writes two tables, as CSV and as Markdown.
<corpus>.candidates lists frames that the parser often gets wrong although the treebank annotates them consistently, in
the syntax of pattern files. <corpus>.patterns shows the same counts for the patterns of a file, as evidence for them.
With `--effect 3` the command also writes <corpus>.effect: the accuracy on the development set with and without the
patterns, from three trainings each.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from studies.common import stage
from studies.common.corpus import load
from studies.qian_liu_2013.frames import candidates
from studies.qian_liu_2013.held_out import crossvalidate
from treebound.core.errors import InputError, TreeboundError
from treebound.core.treebank import Treebank
from treebound.factors import pattern_language
from treebound.factors.pattern_language import OUTSIDE, ROOT, Pattern, PatternSet
from treebound.features.patterns import find
from treebound.learning.pruner import train_pruner
from treebound.metrics.attachment import join_heads, scored_words
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.treebanks.catalogue import CORPORA

#: factor families of the cross-validated parser: Carreras (2007), as in the paper
BASELINE = ("adjacent-sibling", "outermost-grandchild")


def evidence(patterns: PatternSet, treebank: Treebank, heads: np.ndarray) -> pd.DataFrame:
    """Count how often each pattern matches, agrees with the gold tree, and would have corrected a parser.

    heads  int32[W] predicted heads

    Columns of the result:

    matches      number of matches
    consistency  share of the matches where the gold tree has all arcs of an alternative of the pattern
    mistaken     number of matches where an alternative agrees with the gold tree, and the prediction lacks the gold arc
                 of a scored word of the pattern
    words        number of such words in these matches
    misled       number of matches where the prediction has all arcs of an alternative, but the gold tree of none

    Time: O(matches arcs).
    """
    matches = find(patterns, treebank)
    sentence = np.repeat(np.arange(len(treebank)), np.diff(matches.start))
    before = treebank.offsets[sentence] - 1  # word w of the sentence is word before + w of the treebank
    scored = scored_words(treebank)
    rows = []
    for p, pattern in enumerate(patterns.patterns):
        selected = matches.pattern == p
        places, start = matches.places[selected], before[selected]
        gold, predicted = (_held(pattern, tree, places, start) for tree in (treebank.head, heads))
        right, misled = _fires(pattern, gold), _fires(pattern, predicted)
        counts = scored[start + places.T[[m for _, m in pattern.arcs]]]
        missed = right & gold & ~predicted & counts
        rows.append(
            {
                "pattern": pattern.name,
                "matches": len(places),
                "consistency": float(np.mean(right)) if len(places) else float("nan"),
                "mistaken": int(missed.any(axis=0).sum()),
                "words": int(missed.sum()),
                "misled": int((misled & ~right).sum()),
            }
        )
    return pd.DataFrame(rows).set_index("pattern")


def _held(pattern: Pattern, tree: np.ndarray, places: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return bool[arcs, matches]: whether each arc of a pattern is in the tree at each match.

    tree    int32[W] heads of all words in the treebank, numbered within their sentences
    places  one row per match: the words of the pattern, numbered within their sentence
    before  one number per match, which converts these numbers into numbers of words in the treebank when added
    """
    held = np.empty((len(pattern.arcs), len(places)), bool)
    for k, (h, m) in enumerate(pattern.arcs):
        head = tree[before + places[:, m]]
        if h == OUTSIDE:
            held[k] = ~(head[:, None] == places[:, : len(pattern.names)]).any(axis=1)
        else:
            held[k] = head == (0 if h == ROOT else places[:, h])
    return held


def _fires(pattern: Pattern, held: np.ndarray) -> np.ndarray:
    """Return bool[matches]: whether all arcs of some alternative of the pattern hold. `held` is a result of `_held`."""
    return np.any([held[list(alternative)].all(axis=0) for alternative in pattern.ways], axis=0)


def annotated(text: str, table: pd.DataFrame) -> str:
    """Return a pattern file with the counts of `evidence` in a comment above each pattern, replacing older comments."""
    lines: list[str] = []
    for line in text.splitlines():
        header = re.fullmatch(r"\[(.+)\]", line.strip())
        if header and header[1] in table.index:
            if lines and re.match(r"# (\d+|no) match", lines[-1]):
                lines.pop()
            lines.append("# " + _counted(table.loc[header[1]]))
        lines.append(line)
    return "\n".join(lines) + "\n"


def _counted(row: pd.Series) -> str:
    """Describe the counts of one pattern in words."""
    if not row["matches"]:
        return "no match"

    def number(count: float, noun: str, plural: str) -> str:
        return f"{count:.0f} {noun if count == 1 else plural}"

    shares = f"{100 * row['consistency']:.1f} % consistent, {row['mistaken']:.0f} mistaken"
    return f"{number(row['matches'], 'match', 'matches')}, {shares} ({number(row['words'], 'word', 'words')})"


def effect(corpus: str, patterns: str, epochs: int, limit: int | None, seeds: int) -> pd.DataFrame:
    """Return accuracy on the development set with and without patterns. There is one row for each seed and model.

    Each seed from 1 to `seeds` gives two models: the baseline, and the baseline with patterns.

    Columns: uas; matched, the UAS over the words whose head a matching pattern predicts; certified, the share of
    sentences with a proof. `attrs["about"]` counts the matches, the sentences with a match, and the words that
    `matched` covers.
    """
    train_set, dev = (_with_patterns(load(corpus, split, limit), patterns) for split in ("train", "dev"))
    pruner = train_pruner(train_set, epochs=3, bits=20, progress=_progress(f"{corpus} pruner"))
    chosen = pattern_language.load(patterns)
    matches = find(chosen, dev)
    sentence = np.repeat(np.arange(len(dev)), np.diff(matches.start))
    counts, scored = np.zeros(dev.words, bool), scored_words(dev)
    for p, pattern in enumerate(chosen.patterns):
        selected = matches.pattern == p
        for _, m in pattern.arcs:
            counts[dev.offsets[sentence[selected]] + matches.places[selected, m] - 1] = True
    counts &= scored
    rows = []
    for seed in range(1, seeds + 1):
        for name, families in (("baseline", BASELINE), ("with patterns", (*BASELINE, "pattern"))):
            spec = Settings(families, epochs=epochs, bits=22, seed=seed, max_dp_calls=100, threshold=0, pruner_folds=0)
            model = train(spec, train_set, dev, pruner, progress=_progress(f"{corpus} {name}, seed {seed}"))
            parses = Parser(model).parse(dev)
            right = join_heads(dev, [parse.heads for parse in parses]) == dev.head
            rows.append(
                {
                    "model": name,
                    "seed": seed,
                    "uas": float(right[scored].mean()),
                    "matched": float(right[counts].mean()),
                    "certified": sum(parse.certified for parse in parses) / len(dev),
                }
            )
            stage.say(f"{corpus} {name}, seed {seed}: {rows[-1]}")
    table = pd.DataFrame(rows).set_index(["model", "seed"])
    sentences = len(np.unique(sentence))
    table.attrs["about"] = f"{len(matches)} matches in {sentences} of {len(dev)} sentences, {int(counts.sum())} words"
    return table


def _with_patterns(treebank: Treebank, patterns: str) -> Treebank:
    """Return the treebank with the name of a pattern file in its metadata."""
    return replace(treebank, meta=treebank.meta | {"patterns": patterns})


def _progress(label: str) -> Callable[[Iterable, str], Iterable]:
    """Return a progress function that reports the start of each training phase, with `label` in front."""

    def progress(sentences: Iterable, phase: str) -> Iterable:
        stage.say(f"{label}: {phase}")
        return sentences

    return progress


def markdown(table: pd.DataFrame, caption: str) -> str:
    """Return a table as Markdown with a caption. Floats are shares and are shown in per cent."""

    def cell(value: object) -> str:
        if isinstance(value, float):
            return "" if np.isnan(value) else f"{100 * value:.1f} %"
        return f"`{value}`" if isinstance(value, str) else str(value)

    plain = table.reset_index()
    lines = ["| " + " | ".join(plain.columns) + " |", "|" + "---|" * len(plain.columns)]
    for row in plain.itertuples(index=False):
        lines.append("| " + " | ".join(cell(value).replace("|", "\\|") for value in row) + " |")
    return f"# {caption}\n\n" + "\n".join(lines) + "\n"


def write(folder: Path, name: str, table: pd.DataFrame, caption: str) -> None:
    """Write a table to <name>.csv and <name>.md."""
    stage.write(folder / f"{name}.csv", table.to_csv(float_format="%.6f", lineterminator="\n"))
    stage.write(folder / f"{name}.md", markdown(table, caption))
    stage.say(f"{folder / name}.csv")


def run(
    corpus: str,
    patterns: str,
    folds: int,
    epochs: int,
    limit: int | None,
    seeds: int,
    annotate: bool,
    output: Path,
) -> None:
    """Cross-validate the baseline on a corpus and write the tables.

    If `seeds` is above 0, the table `effect` is also written, from trainings with that many seeds. If `annotate` is
    True, the counts are written into the pattern file.

    epochs  number of training epochs for the model of each fold
    limit   largest number of sentences of a split; None means all
    output  folder of the tables
    """
    treebank = load(corpus, "train", limit)
    spec = Settings(BASELINE, epochs=epochs, bits=20, max_dp_calls=100, threshold=0, pruner_folds=0)
    heads = crossvalidate(treebank, spec, folds, Path("build/patterns") / corpus)
    accuracy = 100 * float((heads == treebank.head)[scored_words(treebank)].mean())
    about = f"{corpus}, training set, {folds}-fold cross-validation, UAS {accuracy:.2f}"
    write(output, f"{corpus}.candidates", candidates(treebank, heads), f"Candidates for patterns: {about}")
    if patterns:
        chosen = pattern_language.load(patterns)
        table = evidence(chosen, treebank, heads)
        if annotate:
            path = Path(patterns)
            stage.write(path, annotated(path.read_text(encoding="utf-8"), table))
        write(output, f"{corpus}.patterns", table, f"Evidence for the patterns of {chosen.name}: {about}")
    if seeds:
        table = effect(corpus, patterns, 6, limit, seeds)
        write(output, f"{corpus}.effect", table, f"Patterns of {patterns} on {corpus}, dev: {table.attrs['about']}")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", help="name of a converted corpus from the catalogue")
    parser.add_argument(
        "--patterns", help="pattern file, or the name of a shipped pattern file (default: the patterns of the corpus)"
    )
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument(
        "--epochs", type=int, default=3, help="number of training epochs for the model of each fold (default 3)"
    )
    parser.add_argument(
        "--sentences", type=int, help="number of training sentences to read, from the start (default: all)"
    )
    parser.add_argument(
        "--effect",
        type=int,
        default=0,
        metavar="SEEDS",
        help="number of trainings with and without the patterns (default 0: none)",
    )
    parser.add_argument(
        "--annotate",
        action="store_true",
        help="write the counts into the file that --patterns names (default: leave the file unchanged)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("results/patterns"),
        help="folder to write the tables to (default results/patterns)",
    )
    arguments = parser.parse_args()
    try:
        if arguments.annotate and not Path(arguments.patterns or "").is_file():
            raise InputError("no file to annotate", hint="give its path with --patterns")
        patterns = CORPORA[arguments.corpus].patterns if arguments.patterns is None else arguments.patterns
        run(
            arguments.corpus,
            patterns,
            arguments.folds,
            arguments.epochs,
            arguments.sentences,
            arguments.effect,
            arguments.annotate,
            arguments.output,
        )
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
