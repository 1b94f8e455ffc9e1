"""What `treebound decode` does: a file of scores in, CoNLL-U with trees and what is proved about them out."""

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
    """CoNLL-U of the sentences of a file.

    how     as for `treebound.decode`
    verify  check every parse (`treebound.check`); TreeboundError where one is not what it claims to be

    InputError names the file and the sentence, counted from 0 as its arrays are.
    """
    scores = read(path)
    settings = How.of(**how)  # a wrong option is no fault of the file
    total = len(scores.sentences)
    try:
        parses = decode_all(scores.sentences, workers=workers, progress=lambda x, _: progress(x, total), **how)
    except InputError as error:
        raise InputError(error.reason, path=path, hint=error.hint) from None
    if verify:
        given = settings, scores.sentences, parses
        faults = spread(_faults, given, range(total), workers=workers, short=True)
        try:
            for i, found in enumerate(progress(faults, total)):
                if found:
                    raise TreeboundError(f"{path}: sentence {i}: {found[0]}", hint="please report it: its proof fails")
        except InputError as error:
            raise InputError(error.reason, path=path, hint=error.hint) from None
        say(f"{total} sentences checked: no faults")
    return written(scores, parses, settings)


def _faults(given: tuple[How, Sequence[dict[str, Any]], Sequence[Parse]], i: int) -> list[str]:
    """What is wrong with the parse of sentence i."""
    how, sentences, parses = given
    with memory_limit(how.memory):
        return _faults_of(how, sentences[i], parses[i], i)


def _faults_of(how: How, sentence: dict[str, Any], parse: Parse, i: int) -> list[str]:
    made = problem(**sentence, space=how.space, single_root=how.single_root, unit=how.unit)
    try:
        return check(made, parse)
    except InputError as error:
        raise InputError(f"sentence {i}: {error.reason}", hint=error.hint) from None


def written(scores: Archive, parses: Sequence[Parse], how: How) -> bytes:
    """CoNLL-U: forms, heads, labels; comments as of `treebound parse`, with the scores that were given."""
    lines = (f"{m}\t_\t_\t_\t_\t_\t_\t_\t_\t_\n" for forms in scores.forms for m in [*range(1, len(forms) + 1), 0])
    empty = "".join("\n" if line.startswith("0") else line for line in lines)
    text = document.read(io.BytesIO(empty.encode()), "conllu", annotated=False)
    labels = None
    if scores.label_names:
        given = [parse.labels[1:].tolist() if parse.labels is not None else None for parse in parses]
        names = [[scores.label_names[label] for label in x] if x is not None else None for x in given]
        labels = [x if x is not None else ["_"] * len(f) for x, f in zip(names, scores.forms, strict=True)]
    sure = how.assess is not None and (how.assess.margins or how.assess.marginals)
    misc = [misc_of(parse) for parse in parses] if sure else None
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
