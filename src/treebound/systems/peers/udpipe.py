"""UDPipe 1 (Straka & Strakova 2017): greedy transitions scored by a small neural network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.dtypes import INDEX, NO_HEAD
from treebound.core.errors import InputError
from treebound.core.treebank import Sentence, Treebank
from treebound.support.atomic import replacing
from treebound.systems.peers.peer import Tree, package, single_rooted

METHOD = "morphodita_parsito"


class UDPipe:
    """The parser alone: the tags are given. Embeddings of forms, tags and labels, learnt with the parser."""

    package = "ufal.udpipe"
    module = "ufal.udpipe"
    notes = "sees the same tags; greedy, projective unless told otherwise"

    def train(self, train: Treebank, dev: Treebank, path: Path, *, seed: int, **settings: Any) -> None:
        """`settings` are options of UDPipe's parser (iterations, hidden_layer, ...), over its defaults.

        Two defaults differ: the tags are taken as given, and the fine tags are embedded as well (20 numbers, as the
        coarse ones), since these are what the other parsers see. It always starts from the same random numbers.
        """
        udpipe = package(self)
        chosen = {"use_gold_tags": 1, "embedding_xpostag": 20, **settings}
        chosen.setdefault("single_root", int(train.meta.get("single_root", True)))
        options = ";".join(f"{name}={value}" for name, value in chosen.items())
        error = udpipe.ProcessingError()
        none = udpipe.Trainer.NONE
        parts = [_sentences(udpipe, part, annotated=True) for part in (train, dev)]
        model = udpipe.Trainer.train(METHOD, *parts, none, none, options, error)
        if error.occurred():
            raise InputError(f"UDPipe: {error.message}", hint="see its manual for options of the parser")
        with replacing(path) as file:
            file.write(model)

    def load(self, path: Path) -> Callable[[Treebank], list[Tree]]:
        """A parser from a model file."""
        udpipe = package(self)
        model = udpipe.Model.load(str(path))
        if model is None:
            raise InputError("not a UDPipe model", path=path, hint="train it again")

        def parse(treebank: Treebank) -> list[Tree]:
            single_root = bool(treebank.meta.get("single_root", True))
            error = udpipe.ProcessingError()
            trees = []
            for sentence in treebank:
                filled = _sentence(udpipe, sentence, annotated=False)
                model.parse(filled, udpipe.Model.DEFAULT, error)
                if error.occurred():
                    raise InputError(f"UDPipe: {error.message}", path=path)
                words = list(filled.words)
                heads = np.array([word.head for word in words], INDEX)
                heads[0] = NO_HEAD
                trees.append((single_rooted(heads, single_root), [word.deprel for word in words[1:]]))
            return trees

        return parse


def _sentences(udpipe: Any, treebank: Treebank, annotated: bool) -> Any:
    out = udpipe.Sentences()
    for sentence in treebank:
        out.append(_sentence(udpipe, sentence, annotated))
    return out


def _sentence(udpipe: Any, sentence: Sentence, annotated: bool) -> Any:
    """Forms and tags, and the tree for training."""
    out = udpipe.Sentence()
    for form, upos, xpos in zip(*map(sentence.strings, ("form", "upos", "xpos")), strict=True):
        word = out.addWord(form)
        word.upostag, word.xpostag = upos, xpos
    if annotated:
        for i, (head, label) in enumerate(zip(sentence.heads[1:].tolist(), sentence.strings("deprel"), strict=True), 1):
            out.setHead(i, head, label if head else "root")  # where one root is required, so is its label
    return out
