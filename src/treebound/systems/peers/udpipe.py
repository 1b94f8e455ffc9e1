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
from treebound.systems.peers.peer import Tree, check_names, package, single_rooted

METHOD = "morphodita_parsito"
#: settings of UDPipe's parser in its manual, without those that concern its tokenizer, its tagger and other models
SETTINGS = (
    *("iterations", "hidden_layer", "batch_size", "learning_rate", "learning_rate_final", "l2", "early_stopping"),
    *("transition_system", "transition_oracle", "structured_interval", "single_root", "use_gold_tags", "run"),
    *("embedding_form", "embedding_form_file", "embedding_form_mincount"),
    *("embedding_lemma", "embedding_lemma_file", "embedding_lemma_mincount"),
    *("embedding_upostag", "embedding_xpostag", "embedding_feats", "embedding_deprel"),
)


class UDPipe:
    """UDPipe's parser, without its tokenizer and tagger.

    It reads the treebank's tags and learns embeddings of forms, tags and labels.
    """

    package = "ufal.udpipe"
    module = "ufal.udpipe"
    notes = "sees the same tags; greedy; projective by default"

    def train(self, train: Treebank, dev: Treebank, path: Path, *, seed: int, **settings: Any) -> None:
        """Train UDPipe and write its model; `settings` override UDPipe's defaults (iterations, hidden_layer, ...).

        Two defaults of this method differ from UDPipe's. The treebank's tags are used, and fine tags have embeddings of
        20 numbers like coarse tags, since the other parsers see both. The seed has no effect: UDPipe always starts from
        the same random numbers. Raise InputError for a name that is not in SETTINGS and a value that UDPipe rejects.
        """
        check_names(settings, SETTINGS)
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
        """Read a model file and return the function that parses treebanks. Raise InputError for any other file."""
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
                    raise InputError(f"UDPipe: {error.message}", path=path, hint="train the model again")
                words = list(filled.words)
                heads = np.array([word.head for word in words], INDEX)
                heads[0] = NO_HEAD
                trees.append((single_rooted(heads, single_root), [word.deprel for word in words[1:]]))
            return trees

        return parse


def _sentences(udpipe: Any, treebank: Treebank, annotated: bool) -> Any:
    """Return the sentences of a treebank as UDPipe's objects."""
    out = udpipe.Sentences()
    for sentence in treebank:
        out.append(_sentence(udpipe, sentence, annotated))
    return out


def _sentence(udpipe: Any, sentence: Sentence, annotated: bool) -> Any:
    """Return a sentence as UDPipe's object with forms and tags; `annotated` adds the tree."""
    out = udpipe.Sentence()
    for form, upos, xpos in zip(*map(sentence.strings, ("form", "upos", "xpos")), strict=True):
        word = out.addWord(form)
        word.upostag, word.xpostag = upos, xpos
    if annotated:
        for i, (head, label) in enumerate(zip(sentence.heads[1:].tolist(), sentence.strings("deprel"), strict=True), 1):
            out.setHead(i, head, label if head else "root")  # UDPipe's single root must have the label `root`
    return out
