"""Implement `treebound decode`: read a file of scores, and write CoNLL-U with trees and their proof status."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from treebound.core.errors import InputError, TreeboundError
from treebound.core.limits import memory_limit
from treebound.core.parse import Parse
from treebound.scores.archive import Archive, read
from treebound.scores.decoding import How, decode_all
from treebound.scores.statement import problem
from treebound.scores.verifying import check
from treebound.support.progress import say
from treebound.support.workers import spread
from treebound.treebanks import document
from treebound.treebanks.claims import comments_of, misc_of


def decoded(
    path: Path,
    how: dict[str, Any],
    workers: int,
    verify: bool,
    progress: Callable[[Iterable, int], Iterable],
) -> bytes:
    """Return the sentences of a file of scores with their trees, as CoNLL-U.

    Parameters
    ----------
    path : Path
        File of scores, see `treebound.scores.archive`.
    how : dict
        Settings, the keyword arguments of `treebound.decode`.
    workers : int
        Number of worker processes.
    verify : bool
        Whether to check every parse with `treebound.check`.
    progress : callable
        Function of an iterable and its length, which shows the progress.

    Raises
    ------
    InputError
        If the file or a sentence cannot be used. Sentences are counted from 0, like the arrays of the file.
    TreeboundError
        If the check of a parse fails.
    """
    scores = read(path)
    settings = How.of(**how)  # checked here, so that an error about an option does not name the file
    total = len(scores.sentences)
    if not total:
        say(f"treebound: warning: {path} has no sentences")
    try:
        parses = decode_all(scores.sentences, workers=workers, progress=lambda x, _: progress(x, total), **how)
    except InputError as error:
        raise InputError(error.reason, path=path, hint=error.hint) from None
    if verify:
        shared = settings, scores.sentences, parses
        faults = spread(_faults, shared, range(total), workers=workers, short=True)
        try:
            for i, reasons in enumerate(progress(faults, total)):
                if reasons:
                    raise TreeboundError(
                        f"{path}: sentence {i}: {reasons[0]}", hint="please report this: the proof fails"
                    )
        except InputError as error:
            raise InputError(error.reason, path=path, hint=error.hint) from None
        say(f"{total} sentences checked, no faults")
    return written(scores, parses, settings)


def _faults(shared: tuple[How, Sequence[dict[str, Any]], Sequence[Parse]], i: int) -> list[str]:
    """Return the faults of the parse of sentence i, under the memory limit of the settings."""
    how, sentences, parses = shared
    with memory_limit(how.memory):
        return _faults_of(how, sentences[i], parses[i], i)


def _faults_of(how: How, sentence: dict[str, Any], parse: Parse, i: int) -> list[str]:
    """Return the faults of the parse of sentence i; an InputError names the sentence."""
    stated_problem = problem(**sentence, space=how.space, single_root=how.single_root, unit=how.unit)
    try:
        return check(stated_problem, parse)
    except InputError as error:
        raise InputError(f"sentence {i}: {error.reason}", hint=error.hint) from None


def written(scores: Archive, parses: Sequence[Parse], how: How) -> bytes:
    """Return forms, heads and labels as CoNLL-U, with the comments of `treebound parse` in input score units."""
    lines = (f"{m}\t_\t_\t_\t_\t_\t_\t_\t_\t_\n" for forms in scores.forms for m in [*range(1, len(forms) + 1), 0])
    empty = "".join("\n" if line.startswith("0") else line for line in lines)
    text = document.read(io.BytesIO(empty.encode()), "conllu", annotated=False)
    labels = None
    if scores.label_names:
        numbers = [parse.labels[1:].tolist() if parse.labels is not None else None for parse in parses]
        names = [[scores.label_names[label] for label in column] if column is not None else None for column in numbers]
        labels = [
            column if column is not None else ["_"] * len(forms_of)
            for column, forms_of in zip(names, scores.forms, strict=True)
        ]
    assessed = how.assess is not None and (how.assess.margins or how.assess.marginals)
    misc = [misc_of(parse) for parse in parses] if assessed else None
    out = io.BytesIO()
    text.write(
        out,
        [parse.heads for parse in parses],
        labels,
        comments=[comments_of(parse) for parse in parses],
        misc=misc,
        columns={"form": scores.forms},
    )
    return out.getvalue()
