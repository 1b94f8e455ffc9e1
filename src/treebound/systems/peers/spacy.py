"""spaCy (Honnibal & Montani): an arc-eager transition parser over a convolutional encoder."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.dtypes import INDEX, NO_HEAD
from treebound.core.errors import InputError
from treebound.core.treebank import Sentence, Treebank
from treebound.support.atomic import replacing
from treebound.support.extras import needs
from treebound.support.settings import SettingError
from treebound.systems.peers.peer import Tree, check_names, package, root_label, single_rooted

#: label that spaCy gives to the root's dependents, whatever their label in training
OWN_ROOT_LABEL = "ROOT"
#: key of a model's metadata, which holds the label of the root's dependents in the training treebank
ROOT_LABEL = "treebound_root_label"
#: encoder and parser of spaCy's quickstart for a CPU ("efficiency"), with the fine tag as an additional attribute
CONFIG: dict[str, Any] = {
    "nlp": {"lang": "xx", "pipeline": ["parser"]},
    "components": {
        "parser": {
            "factory": "parser",
            "model": {
                "@architectures": "spacy.TransitionBasedParser.v2",
                "state_type": "parser",
                "extra_state_tokens": False,
                "hidden_width": 128,
                "maxout_pieces": 3,
                "use_upper": True,
                "tok2vec": {
                    "@architectures": "spacy.Tok2Vec.v2",
                    "embed": {
                        "@architectures": "spacy.MultiHashEmbed.v2",
                        "width": 96,
                        "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE", "TAG"],
                        "rows": [5000, 1000, 2500, 2500, 1000],
                        "include_static_vectors": False,
                    },
                    "encode": {
                        "@architectures": "spacy.MaxoutWindowEncoder.v2",
                        "width": 96,
                        "depth": 4,
                        "window_size": 1,
                        "maxout_pieces": 3,
                    },
                },
            },
        }
    },
}


class SpaCy:
    """spaCy's parser alone, in a blank pipeline without vectors; it reads the treebank's tags."""

    package = "spacy"
    module = "spacy"
    notes = "sees the same fine tags; greedy; pseudo-projective (Nivre & Nilsson 2005)"

    def train(self, train: Treebank, dev: Treebank, path: Path, *, seed: int, **settings: Any) -> None:
        """Train and write the epoch with the best unlabelled attachment score on dev.

        `settings`: epochs (at most 20), patience (3 epochs without a better score end the training), dropout (0.1).
        Raise InputError for any other setting, or a value that is not a number.
        """
        check_names(settings, ("epochs", "patience", "dropout"))
        if texts := [name for name, value in settings.items() if isinstance(value, str)]:
            raise SettingError("options", f"{texts[0]}={settings[texts[0]]} is not a number", "give a number")
        spacy = package(self)
        with needs("peers"):
            from spacy.training import Example
            from spacy.util import compounding, fix_random_seed, minibatch

        epochs, patience = int(settings.get("epochs", 20)), int(settings.get("patience", 3))
        fix_random_seed(seed)
        nlp = _blank(spacy)
        nlp.meta[ROOT_LABEL] = root_label(train)
        column = str(train.meta.get("tag", "xpos"))
        examples = [Example(_doc(nlp, s, column), _doc(nlp, s, column, annotated=True)) for s in train]
        optimizer = nlp.initialize(lambda: examples)
        order = random.Random(seed)
        best, best_score, since = nlp.to_bytes(), -1.0, 0
        for _ in range(epochs):
            order.shuffle(examples)
            for batch in minibatch(examples, size=compounding(4.0, 32.0, 1.001)):
                nlp.update(batch, sgd=optimizer, drop=float(settings.get("dropout", 0.1)))
            with nlp.use_params(optimizer.averages):
                score = _accuracy(dev, _parse(nlp, dev))
                if score > best_score:
                    best, best_score, since = nlp.to_bytes(), score, -1
            since += 1
            if since >= patience:
                break
        with replacing(path) as file:
            file.write(best)

    def load(self, path: Path) -> Callable[[Treebank], list[Tree]]:
        """Read a model file and return the function that parses treebanks. Raise InputError for any other file."""
        spacy = package(self)
        try:
            nlp = _blank(spacy).from_bytes(path.read_bytes())
        except Exception as error:  # spaCy's layers raise errors of many types for bytes that they did not write
            raise InputError(f"not a spaCy model ({error})", path=path, hint="train it again") from None
        return lambda treebank: _parse(nlp, treebank)


def _blank(spacy: Any) -> Any:
    """Return a pipeline that holds an untrained parser."""
    return spacy.util.load_model_from_config(CONFIG, auto_fill=True)


def _parse(nlp: Any, treebank: Treebank) -> list[Tree]:
    """Parse the sentences of a treebank by their forms and tags."""
    single_root = bool(treebank.meta.get("single_root", True))
    column = str(treebank.meta.get("tag", "xpos"))
    root = str(nlp.meta.get(ROOT_LABEL, OWN_ROOT_LABEL))  # models of older versions do not store the label
    return [_tree(doc, root, single_root) for doc in nlp.pipe(_doc(nlp, sentence, column) for sentence in treebank)]


def _tree(doc: Any, root: str, single_root: bool) -> Tree:
    """Return heads and labels of a parsed document, with the label `root` in place of spaCy's own label."""
    heads = np.full(len(doc) + 1, NO_HEAD, INDEX)
    for token in doc:
        heads[token.i + 1] = 0 if token.head.i == token.i else token.head.i + 1
    labels = [root if token.dep_ == OWN_ROOT_LABEL else token.dep_ for token in doc]
    return single_rooted(heads, single_root), labels


def _doc(nlp: Any, sentence: Sentence, column: str, annotated: bool = False) -> Any:
    """Return a sentence as a document of forms and tags from `column`; `annotated` adds the tree.

    Without a tree, sentence starts are fixed so that the parser does not split the sentence.
    """
    with needs("peers"):
        from spacy.tokens import Doc

    tree: dict[str, Any] = {}
    if annotated:
        heads, labels = sentence.heads[1:].tolist(), sentence.strings("deprel")
        tree = {
            "heads": [i if head == 0 else head - 1 for i, head in enumerate(heads)],
            "deps": [OWN_ROOT_LABEL if head == 0 else label for head, label in zip(heads, labels, strict=True)],
        }
    else:
        tree = {"sent_starts": [True] + [False] * (sentence.n - 1)}
    return Doc(nlp.vocab, words=sentence.strings("form"), tags=sentence.strings(column), **tree)


def _accuracy(gold: Treebank, trees: list[Tree]) -> float:
    """Return the share of words with the right head."""
    heads_found = np.concatenate([heads[1:] for heads, _ in trees])
    return float(np.mean(heads_found == gold.head))
