"""Inputs with mistakes that a new user makes, as data for `test_broken_inputs`.

They are model files, sentences, options and outputs. A case is a command line, in which {good}, {model}, .. stand for
paths, together with texts that the one-line error message must contain. The texts are None if the command must succeed.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from mutants import ModelFile


class Case(NamedTuple):
    """A command line and the texts that its error message must contain.

    `message` is None if the command succeeds; it then writes the given number of sentences.
    """

    command: str
    message: tuple[str, ...] | None
    sentences: int = 0


# --- model files: each change below is applied to every kind of model


def _flipped(content: bytes) -> bytes:
    """Return the model file with one bit changed in the middle of the compressed member `header`."""
    position = content.index(b"header") + 106
    return content[:position] + bytes([content[position] ^ 4]) + content[position + 1 :]


def _edited(**fields: Any) -> Callable[[bytes], bytes]:
    """Return a function that changes fields of the header of a model file and writes a valid digest."""

    def edit(content: bytes) -> bytes:
        file = ModelFile(content)
        file.header.update(fields)
        return file.written()

    return edit


def _headless(content: bytes) -> bytes:
    """Return the model file with a header that lacks all fields but format, kind and version."""
    file = ModelFile(content)
    file.header = {name: value for name, value in file.header.items() if name in ("format", "kind", "version")}
    return file.written()


def _unsigned(content: bytes) -> bytes:
    """Return the model file with one number changed, but with the digest of the unchanged numbers."""
    file = ModelFile(content)
    largest = max(file.arrays.values(), key=lambda array: array.size)
    largest[0] += 1
    return file.written("old")


def _arrays(change: Callable[[np.ndarray], np.ndarray | None]) -> Callable[[bytes], bytes]:
    """Return a function that changes the largest array of a model file and writes a valid digest.

    The array is removed if `change` returns None.
    """

    def edit(content: bytes) -> bytes:
        file = ModelFile(content)
        name = max(file.arrays, key=lambda name: file.arrays[name].size)
        changed = change(file.arrays.pop(name))
        if changed is not None:
            file.arrays[name] = changed
        return file.written()

    return edit


def _more(content: bytes) -> bytes:
    """Return the model file with an additional array that no model has."""
    file = ModelFile(content)
    file.arrays["more"] = np.zeros(3)
    return file.written()


def _zip(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("readme.txt", "no model")
    return out.getvalue()


def _array(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[bytes], bytes]:
    """Return a function that changes the array `name` of a model file and writes a valid digest."""

    def edit(content: bytes) -> bytes:
        file = ModelFile(content)
        file.arrays[name] = change(file.arrays[name])
        return file.written()

    return edit


def _older_quadratic(content: bytes) -> bytes:
    """Return a quadratic-kernel model in the format used before its decisions could branch."""
    file = ModelFile(content)
    file.header["spec"].pop("prediction")
    file.arrays["pool"] = file.arrays["pool"][0]
    return file.written()


RETRAIN = "train it again"
MODELS: dict[str, tuple[Callable[[bytes], bytes], tuple[str, ...]]] = {
    "empty": (lambda content: b"", ("truncated or foreign file", RETRAIN)),
    "text": (lambda content: b"no model\n", ("truncated or foreign file", RETRAIN)),
    "cut-short": (lambda content: content[:10], ("truncated or foreign file", RETRAIN)),
    "cut-by-half": (lambda content: content[: len(content) // 2], ("truncated or foreign file", RETRAIN)),
    "cut-at-the-end": (lambda content: content[:-5], ("truncated or foreign file", RETRAIN)),
    "cut-in-front": (lambda content: content[100:], (RETRAIN,)),
    "a-bit-changed": (_flipped, (RETRAIN,)),
    "a-zip-of-something": (_zip, ("truncated or foreign file", RETRAIN)),
    "arrays-of-numpy": (lambda content: ModelFile(content).members["header"], ("truncated or foreign file", RETRAIN)),
    "older": (_edited(version=0), ("of version 0, this program reads ", RETRAIN)),
    "newer": (_edited(version=99), ("of version 99, this program reads ", RETRAIN)),
    "another-kind": (_edited(kind="pruner"), ("name a ",)),
    "another-program": (_edited(format="zip"), ("not a treebound ", "name a file that treebound wrote")),
    "a-field-too-many": (_edited(colour="red"), ("damaged", "colour", RETRAIN)),
    "no-fields": (_headless, ("damaged", RETRAIN)),
    "edited": (_unsigned, ("changed after it was written", RETRAIN)),
    "an-array-too-short": (_arrays(lambda array: array[:-1]), ("damaged", RETRAIN)),
    "an-array-lost": (_arrays(lambda array: None), ("damaged", "its arrays are not those", RETRAIN)),
    "an-array-of-another-type": (_arrays(lambda array: array.astype(np.complex64)), ("damaged", RETRAIN)),
    "an-array-too-many": (_more, ("damaged", RETRAIN)),
}

QUADRATIC: dict[str, tuple[Callable[[bytes], bytes], tuple[str, ...]]] = {
    "without-branches": (
        _older_quadratic,
        ("damaged", "pool: the number of rows is not the number of decisions", RETRAIN),
    ),
    "a-pool-that-is-none": (
        _array("pool", lambda array: array - 1),
        ("pool: a number is beyond the machines", RETRAIN),
    ),
    "a-class-that-is-none": (
        _array("classes", lambda array: array + 99),
        ("classes: a number is beyond the transitions", RETRAIN),
    ),
    "no-counts": (
        _array("counts", lambda array: array * 0),
        ("counts: the sum is not the number of support vectors", RETRAIN),
    ),
    "a-nan": (_array("rho", lambda array: array * np.nan), ("rho: a number that is not finite", RETRAIN)),
}

# --- sentences to parse: each is parsed with every model


def _words(*rows: str) -> str:
    """Return the rows of a sentence in CoNLL-U, from rows whose columns are separated by spaces."""
    return "".join("\t".join(row.split(" ")) + "\n" for row in rows) + "\n"


def _word(i: int, form: str = "a", tag: str = "N", head: str = "_") -> str:
    """Return the row of one word, with columns separated by spaces."""
    return f"{i} {form} {form} {tag} {tag} _ {head} _ _ _"


GOOD = _words(*(_word(i, form) for i, form in enumerate(("the", "dog", "sees", "cats"), 1)))
_long = [_word(i, f"w{i % 7}", "NVD"[i % 3]) for i in range(1, 501)]

SENTENCES: dict[
    str, tuple[bytes, int | tuple[str, ...]]
] = {  # content; number of sentences, or texts of the error message
    "nothing": (b"", 0),
    "empty-lines": (b"\n\n\n", 0),
    "comments-alone": (b"# a comment\n\n", (":1: comments without words", "add the words")),
    "one-word": (_words(_word(1, "hi", "X")).encode(), 1),
    "500-words": (_words(*_long).encode(), 1),
    "unseen-tags": (_words(_word(1, "zebra", "QQ"), _word(2, "zebras", "ZZ")).encode(), 1),
    "no-tags": (_words("1 a _ _ _ _ _ _ _ _", "2 b _ _ _ _ _ _ _ _").encode(), 1),
    "line-ends-of-Windows": ((GOOD * 2).replace("\n", "\r\n").encode(), 2),
    "a-byte-order-mark": (b"\xef\xbb\xbf" + GOOD.encode(), 1),
    "no-newline-at-the-end": (GOOD.rstrip("\n").encode(), 1),
    "multiword-tokens": (("1-2\tdu" + "\t_" * 8 + "\n" + GOOD).encode(), 1),
    "an-empty-node": ((GOOD[:-1] + "4.1\t_" + "\t_" * 8 + "\n\n").encode(), 1),
    "a-form-of-100000-letters": (_words(_word(1, "x" * 100_000)).encode(), 1),
    "a-tree-that-is-none": (_words(_word(1, head="2"), _word(2, head="1")).encode(), 1),  # heads are not read
    "two-roots": (_words(_word(1, head="0"), _word(2, head="0")).encode(), 1),
    "latin-1": (
        GOOD.replace("dog", "Hündin").encode("latin-1"),
        (":2: byte 0xfc is not UTF-8; as cp1252", "'Hündin'", "--encoding cp1252"),
    ),
    "utf-16": (GOOD.encode("utf-16"), ("has the byte order mark of UTF-16-LE", "--encoding utf-16 ")),
    "a-zero-byte": (GOOD.replace("dog", "d\0g").encode(), (":2: ",)),
    "columns-missing": (GOOD.replace("\t_\t_\t_\n", "\n", 1).encode(), (":1: ", "columns")),
    "spaces-for-tabs": (GOOD.replace("\t", " ").encode(), (":1: ", "column")),
    "an-index-twice": (GOOD.replace("3\tsees", "2\tsees").encode(), (":3: ",)),
    "an-index-left-out": (GOOD.replace("3\tsees", "4\tsees").encode(), (":3: ",)),
    "an-index-that-is-none": (GOOD.replace("3\tsees", "x\tsees").encode(), (":3: ",)),
    "an-empty-form": (GOOD.replace("\tsees", "\t").encode(), (":3: ",)),
    "no-sentence-but-prose": (b"The dog sees cats.\n", (":1: ",)),
    "in-the-second-sentence": ((GOOD + GOOD.replace("2\tdog", "3\tdog")).encode(), (":7: ",)),
}

# --- training treebanks: each is given to every system

TREEBANKS: dict[str, tuple[str, tuple[str, ...]]] = {
    "nothing": ("", ("has no sentences",)),
    "no-trees": (GOOD, (":1: no HEAD is annotated", "get a release")),
    "a-cycle": (_words(_word(1, head="2"), _word(2, head="1"), _word(3, head="0")), (":1: ", "cycle")),
    "a-head-of-itself": (_words(_word(1, head="1"), _word(2, head="0")), (":1: ",)),
    "a-head-out-of-range": (_words(_word(1, head="9"), _word(2, head="0")), (":1: ", "9")),
    "a-head-that-is-none": (_words(_word(1, head="x"), _word(2, head="0")), (":1: ", "x")),
    "a-negative-head": (_words(_word(1, head="-1"), _word(2, head="0")), (":1: ", "-1")),
    "no-root": (_words(_word(1, head="2"), _word(2, head="1")), (":1: ",)),
}


# --- options: every system is run with the shared cases and with its own

TRAIN = "train --system {system} {train} {dev} -o {out} "
PARSE = "parse {model} {good} -o {out} "
RANGE = "greater than or equal to"

SHARED = [
    Case(TRAIN + "--label-bits many", ("--label-bits", "valid integer")),
    Case(TRAIN + "--workers 2", ("No such option: --workers",)),
    Case(TRAIN + "--colour red", ("No such option: --colour", "--help")),
    Case(TRAIN + "--tag colour", ("tag: unknown value 'colour'", "choose from")),
    Case(TRAIN + "--attributes colour", ("colour",)),
    Case("train --system tree {train} {dev} -o {out}", ("unknown system 'tree'", "choose from graph, constrained")),
    Case("train --system {system} {train} {missing} -o {out}", ("{missing}: cannot be read: No such file",)),
    Case("train --system {system} {folder} {dev} -o {out}", ("{folder}: is a folder",)),
    Case("train --system {system} {train} {dev}", ("--output",)),
    Case("train --system {system} {train} {dev} -o {train}", ("is the same file as ", "which is read")),
    Case("train --system {system} {train} {dev} -o {missing}/x", ("cannot be written",)),
    Case("train --system {system} {train} {dev} -o {folder}", ("{folder}: cannot be written",)),
    Case("parse {model} {good} -o {model}", ("is the same file as ", "which is read")),
    Case("parse {model} {good} -o {good}", ("is the same file as ", "which is read")),
    Case("parse {model} {good} -o /dev/full", ("/dev/full: cannot be written: No space left", "free some space")),
    Case("parse {model} {good} -o {good}/x", ("cannot be written",)),
    Case("parse {model} {missing} -o {out}", ("{missing}: cannot be read: No such file",)),
    Case("parse {model} {folder} -o {out}", ("{folder}: is a folder",)),
    Case("parse {model} {good} {missing} -o {out}", ("{missing}: cannot be read",)),
    Case("parse", ("Missing argument", "--help")),
    Case(PARSE + "--workers 0", ("--workers",)),
    Case(PARSE + "--workers many", ("--workers", "valid integer")),
    Case("evaluate {dev} {good}", ("the words of sentence ", "give a parse of")),
]

_ANYTHING = "[unique-labels]\nlabels = ['subj']\n"
FILES: dict[str, bytes] = {  # invalid settings files
    "not-toml.toml": b"[unique-labels\n",
    "latin.toml": "[unique-labels]\nlabels = ['ä']\n".encode("latin-1"),
    "no-table.toml": b"unique-labels = 3\n",
    "unknown.toml": b"[one-root]\nlabels = ['subj']\n",
    "wrong-key.toml": b"[unique-labels]\ncolours = ['subj']\n",
    "wrong-value.toml": b"[unique-labels]\nlabels = 3\n",
    "twice.toml": (_ANYTHING * 2).encode(),
    "nested.toml": b"x = " + b"[" * 5000 + b"]" * 5000,
    "empty.toml": b"",
    "binary.toml": bytes(range(256)),
    "bad-cell.toml": b'[X]\ncells = """\nw s0 ours\nw z9 ours\n"""\n',
    "bad-function.toml": b'[X]\ncells = """\nz s0 ours\n"""\n',
    "no-origin.toml": b'[X]\ncells = """\nw s0\n"""\n',
    "bad-join.toml": b'[X]\ncells = """\nw s0 ours\n"""\njoins = """\nw s0 + w s1 ours\n"""\n',
    "bad-parent.toml": b'[X]\nextends = "Y"\ncells = "w s0 ours"\n',
    "no-cells.toml": b"[X]\n",
    "bad-pattern.toml": b"[[pattern]]\nname = 'x'\narcs = 3\n",
}

OWN: dict[str, list[Case]] = {
    "graph": [
        Case(TRAIN + "--families cousin", ("unknown factor family 'cousin'", "choose from")),
        Case(TRAIN + "--families sibling,sibling", ("named twice",)),
        Case(TRAIN + "--learner svm", ("unknown value 'svm'", "choose from")),
        Case(TRAIN + "--labels later", ("unknown value 'later'", "choose from")),
        Case(TRAIN + "--space planar", ("unknown value 'planar'", "choose from")),
        Case(TRAIN + "--k 0", ("k: ", "")),
        Case(TRAIN + "--k some", ("k: ",)),
        Case(TRAIN + "--cost -1", ("cost", RANGE)),
        Case(TRAIN + "--C inf", ("C",)),
        Case(TRAIN + "--threshold 1", ("threshold",)),
        Case(TRAIN + "--bits 8", ("bits: ", RANGE)),
        Case(TRAIN + "--beam 4", ("--beam is an option of ", "leave it out")),
        Case(TRAIN + "--patterns nowhere", ("nowhere",)),
        *(Case(TRAIN + f"--patterns {{{name}}}", (name, ": ")) for name in ("not-toml.toml", "latin.toml",
          "nested.toml", "bad-pattern.toml", "binary.toml")),
        Case(PARSE + "--k 0", ("k is '0'", "give a positive number, none or model")),
        Case(PARSE + "--threshold nan", ("threshold", "")),
        Case(PARSE + "--threshold 2", ("threshold",)),
        Case(PARSE + "--decoder cky", ("unknown decoder 'cky'", "choose from")),
        Case(PARSE + "--config fast", ("unknown config 'fast'", "choose from tuned, published")),
        Case(PARSE + "--decoder beam --certificates {missing}", ("needs a decoder of branch-and-bound",)),
        Case(PARSE + "--certificates {out}", ("which is written as well",)),
        Case(PARSE + "--certificates {good}", ("which is read",)),
        Case(PARSE + "--derivations {missing}", ("only CCG models make derivations",)),
        Case(PARSE + "--beam 3", ("no option 'beam'", "leave it out")),
        Case(PARSE + "--integrate bp", ("no option 'integrate'", "leave it out")),
        Case(PARSE + "--k-best -1", ("--k-best", RANGE)),
        Case(PARSE + "--marginals --scale nan", ("--scale", "greater than or equal to 0")),
        Case("tag {model} {good} -o {out}", ("not a treebound tagger",)),
    ],
    "constrained": [
        Case(TRAIN + "--constraints nowhere", ("no constraints for corpus 'nowhere'", "name a file")),
        Case(TRAIN + "--constraints {folder}", ("{folder}",)),
        Case(TRAIN + "--constraints {not-toml.toml}", ("not-toml.toml:1: not TOML",)),
        Case(TRAIN + "--constraints {latin.toml}", ("latin.toml:2: byte 0xe4 is not UTF-8", "save it as UTF-8")),
        Case(TRAIN + "--constraints {binary.toml}", ("binary.toml:2: byte 0x80 is not UTF-8", "save it as UTF-8")),
        Case(TRAIN + "--constraints {no-table.toml}", ("no-table.toml: ", "unique-labels")),
        Case(TRAIN + "--constraints {unknown.toml}", ("unknown constraint 'one-root'", "choose from one-head")),
        Case(TRAIN + "--constraints {wrong-key.toml}", ("wrong-key.toml: unique-labels: ", "colours")),
        Case(TRAIN + "--constraints {wrong-value.toml}", ("wrong-value.toml: unique-labels: ",)),
        Case(TRAIN + "--constraints {twice.toml}", ("twice.toml:3: not TOML",)),
        Case(TRAIN + "--constraints {nested.toml}", ("nested.toml: ", "nested too deeply")),
        Case("train --system constrained {train} {dev} -o {own.toml} --constraints {own.toml}", ("which is read",)),
        Case(TRAIN + "--k 0", ("k", "")),
        Case(TRAIN + "--C 0", ("C: ",)),
        Case(TRAIN + "--labels none", ("--labels is an option of ", "leave it out")),
        Case(TRAIN + "--bits 2", ("--bits", RANGE)),
        Case(PARSE + "--certificates {missing}", ("have no proofs", "leave out --certificates")),
        Case(PARSE + "--margins", ("only graph-based models have margins, marginals and k-best trees",)),
        Case(PARSE + "--k 3", ("no option 'k'", "leave it out")),
        Case("check {model} {good}", ("models of this system have no proofs", "name a graph-based or a CCG model")),
    ],
    "transition": [
        Case(TRAIN + "--transitions arc-lazy", ("unknown value 'arc-lazy'", "choose from arc-eager")),
        Case(TRAIN + "--transitions arc-standard", ("arc-standard has no dynamic oracle", "use arc-eager")),
        Case(TRAIN + "--learning guess", ("unknown value 'guess'", "choose from static")),
        Case(TRAIN + "--features F9", ("no feature model 'F9'", "name a file, or one of")),
        Case(TRAIN + "--features {not-toml.toml}", ("not-toml.toml:1: not TOML",)),
        Case(TRAIN + "--features {latin.toml}", ("latin.toml:2: byte 0xe4 is not UTF-8", "save it as UTF-8")),
        Case(TRAIN + "--features {binary.toml}", ("binary.toml:2: byte 0x80 is not UTF-8", "save it as UTF-8")),
        Case(TRAIN + "--features {nested.toml}", ("nested.toml: ", "nested too deeply")),
        Case(TRAIN + "--features {empty.toml}", ("empty.toml: the file has no feature model", "write a table")),
        Case(TRAIN + "--features {bad-cell.toml}", ("bad-cell.toml:4: 'z9' is no address",)),
        Case(TRAIN + "--features {bad-function.toml}", ("bad-function.toml:3: unknown function 'z'",)),
        Case(TRAIN + "--features {no-origin.toml}", ("no-origin.toml:3: a row must end in paper or ours",)),
        Case(TRAIN + "--features {bad-join.toml}", ("bad-join.toml:6: 'w s1' is no cell",)),
        Case(TRAIN + "--features {bad-parent.toml}", ("bad-parent.toml:2: extends 'Y'",)),
        Case(TRAIN + "--features {no-cells.toml}", ("no-cells.toml:1: the model has no cells",)),
        Case("train --system transition {train} {dev} -o {own.toml} --features {own.toml}", ("which is read",)),
        Case(TRAIN + "--beam 0", ("--beam", RANGE)),
        Case(TRAIN + "--explore 2", ("explore",)),
        Case(TRAIN + "--gamma nan", ("gamma",)),
        Case(TRAIN + "--roots two", ("unknown value 'two'", "choose from several, single")),
        Case(TRAIN + "--families sibling", ("--families is an option of ", "leave it out")),
        Case(PARSE + "--beam 99999", ("--beam",)),
        Case(PARSE + "--k 3", ("no option 'k'", "leave it out")),
        Case(PARSE + "--decoder ilp", ("no option 'decoder'", "leave it out")),
        Case(PARSE + "--margins", ("only graph-based models have margins, marginals and k-best trees",)),
        Case("check {model} {good}", ("models of this system have no proofs",)),
    ],
    "sampling": [
        Case(TRAIN + "--families cousin", ("unknown factor family 'cousin'", "choose from")),
        Case(TRAIN + "--families pattern", ("unknown factor family 'pattern'", "choose from")),
        Case(TRAIN + "--global-features valency,valency", ("named twice",)),
        Case(TRAIN + "--global-features colour", ("unknown global feature 'colour'", "choose from")),
        Case(TRAIN + "--constraints nowhere", ("unknown value 'nowhere'", "choose from both, neighbour, gold")),
        Case(TRAIN + "--search luck", ("unknown value 'luck'", "choose from gibbs")),
        Case(TRAIN + "--search random-walk", ("random walks build trees with crossing arcs", "--space non-projective")),
        Case(TRAIN + "--temperature 0", ("temperature",)),
        Case(TRAIN + "--temperature -inf", ("temperature",)),
        Case(TRAIN + "--restarts 0", ("restarts",)),
        Case(TRAIN + "--sweeps 1.5", ("sweeps",)),
        Case(TRAIN + "--threshold 1", ("threshold",)),
        Case(TRAIN + "--k none", ("k: ",)),
        Case(PARSE + "--k 3", ("no option 'k'", "leave it out")),
        Case(PARSE + "--margins", ("only graph-based models have margins, marginals and k-best trees",)),
        Case(PARSE + "--certificates {missing}", ("have no proofs", "leave out --certificates")),
        Case("check {model} {good}", ("models of this system have no proofs",)),
    ],
    "correcting": [
        Case(TRAIN + "--families pattern", ("unknown factor family 'pattern'", "choose from")),
        Case(TRAIN + "--search luck", ("unknown value 'luck'", "choose from gibbs")),
        Case(TRAIN + "--folds 1", ("--folds", RANGE)),
        Case(TRAIN + "--folds 1000", ("too few for 1000 folds", "give more sentences, or fewer folds")),
        Case(TRAIN + "--tagger-folds 41", ("40 sentences are too few for 41 folds", "give more sentences")),
        Case(TRAIN + "--tagger-bits 4", ("tagger-bits", RANGE)),
        Case(TRAIN + "--tagger-epochs 0", ("tagger-epochs", RANGE)),
        Case(TRAIN + "--doubt nan", ("doubt",)),
        Case(TRAIN + "--doubt -1", ("doubt", RANGE)),
        Case(TRAIN + "--tags 0", ("tags", RANGE)),
        Case(TRAIN + "--taggings 0", ("taggings", RANGE)),
        Case(TRAIN + "--penalty 0", ("penalty",)),
        Case("train --system correcting {untagged} {dev} -o {out}", ("{untagged}:", "no word has a tag")),
        Case(PARSE + "--taggings 0", ("No such option: --taggings",)),
        Case(PARSE + "--k 3", ("no option 'k'", "leave it out")),
        Case(PARSE + "--k-best 3", ("only graph-based",)),
        Case(PARSE + "--margins", ("only graph-based models have margins, marginals and k-best trees",)),
        Case(PARSE + "--certificates {missing}", ("have no proofs", "leave out --certificates")),
        Case(PARSE + "--derivations {missing}", ("only CCG models make derivations",)),
        Case("tag {model} {good} -o {out}", ("not a treebound tagger",)),
        Case("check {model} {good}", ("models of this system have no proofs",)),
    ],
    "ccg": [
        Case(TRAIN + "--rules none", ("unknown value 'none'", "choose from seen, all")),
        Case(TRAIN + "--beams 0.1", ("'0.1' is no attempt", "write beta:k")),
        Case(TRAIN + "--beams 2:20", ("'2:20' is out of range",)),
        Case(TRAIN + "--beams nan:20", ("'nan:20' is out of range",)),
        Case(TRAIN + "--l2 -1", ("l2", RANGE)),
        Case(TRAIN + "--joint-rate 0", ("joint",)),
        Case(TRAIN + "--training-limit 0", ("limit", RANGE)),
        Case(TRAIN + "--chart-bits 99", ("chart",)),
        Case(TRAIN + "--families sibling", ("--families is an option of ", "leave it out")),
        Case("train --system ccg {good} {dev} -o {out}", ("{good}:1: no HEAD is annotated",)),
        Case("train --system ccg {plain} {dev} -o {out}", ("{plain}: no CCG derivations",)),
        Case(PARSE + "--beams x:y", ("'x:y' is no attempt",)),
        Case(PARSE + "--limit -1", ("--limit", RANGE)),
        Case(PARSE + "--integrate luck", ("unknown value 'luck'", "choose from none, bp, dd, exact")),
        Case(PARSE + "--certificates {missing}", ("only the joint model has proofs", "--integrate exact")),
        Case(PARSE + "--derivations {out}", ("which is written as well",)),
        Case(PARSE + "--derivations {good}", ("which is read",)),
        Case(PARSE + "--derivations /proc/x", ("/proc/x: cannot be written",)),
        Case(PARSE + "--margins", ("only graph-based models have margins, marginals and k-best trees",)),
        Case(PARSE + "--k 3", ("no option 'k'", "leave it out")),
        Case("check {model} {good}", ("the check of a CCG model needs its proofs", "give the file that")),
    ],
    "tagging": [
        Case(TRAIN + "--columns form", ("unknown value 'form'", "choose from auto, upos")),
        Case(TRAIN + "--bits 4", ("bits",)),
        Case("tag {model} {good} -o {model}", ("which is read",)),
        Case("parse {model} {good} -o {out}", ("tagger",)),
        Case("check {model} {good}", ("",)),
        Case("jackknife {dev} -o {dev}", ("which is read",)),
    ],
}  # fmt: skip

#: invalid .auto files
DERIVATIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "no-end.auto": ("ID=1\n(<T S 0 2> (<L NP N N dog NP>)\n", (":2: ",)),
    "no-category.auto": ("ID=1\n(<L S[ N N dog S[>)\n", (":2: ",)),
    "no-derivation.auto": ("ID=1\n\nID=2\n", ("has no sentences", "give a treebank")),
    "no-head.auto": ("ID=1\n(<T NP 7 2> (<L NP[nb]/N D D the NP[nb]/N>) (<L N N N dog N>) )\n", (":2: ",)),
    "prose.auto": ("The dog sees cats.\n", (":1: ",)),
    "nothing.auto": ("", ("has no sentences",)),
}

# --- proofs, and the parses that they prove


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[bytes], bytes]:
    """Return a function that changes the lines of a compressed file of proofs.

    The first line describes the file; each other line belongs to one sentence.
    """
    return lambda content: gzip.compress(b"".join(change(gzip.decompress(content).splitlines(keepends=True))))


def _first(**fields: Any) -> Callable[[bytes], bytes]:
    """Return a function that changes fields of the first line of a file of proofs."""
    return _lines(lambda lines: [json.dumps(json.loads(lines[0]) | fields).encode() + b"\n", *lines[1:]])


def _second(line: bytes) -> Callable[[bytes], bytes]:
    """Return a function that replaces the second line of a file of proofs."""
    return _lines(lambda lines: [lines[0], line + b"\n", *lines[2:]])


CERTIFICATES: dict[str, tuple[Callable[[bytes], bytes], tuple[str, ...]]] = {
    "no-bytes.gz": (lambda content: b"", ("no-bytes.gz:",)),
    "prose.gz": (lambda content: b"no proofs\n", ("prose.gz:",)),
    "half.gz": (lambda content: content[: len(content) // 2], ("half.gz:",)),
    "nearly.gz": (lambda content: content[:-5], ("nearly.gz:",)),
    "changed.gz": (lambda content: content[:60] + b"xxxx" + content[64:], ("changed.gz:", "")),
    "plain.gz": (gzip.decompress, ("plain.gz:",)),
    "foreign.gz": (_first(format="colours"), ("not a certificate file",)),
    "newer.gz": (_first(version=99), ("newer.gz: a certificate file of another version", "parse again")),
    "planar.gz": (_first(space="planar"), ("planar.gz: a certificate file of another version", "parse again")),
    "headless.gz": (_lines(lambda lines: lines[1:]), ("headless.gz:", "not a certificate file")),
    "short.gz": (_lines(lambda lines: lines[:-1]), ("short.gz: ", "ends before")),
    "long.gz": (_lines(lambda lines: [*lines, lines[-1]]), ("long.gz:", "goes on after")),
    "no-json.gz": (_second(b"x"), ("no-json.gz:2: damaged or foreign file", "parse again")),
    "a-list.gz": (_second(b"[]"), ("a-list.gz:2: not a certificate",)),
    "nothing-in-it.gz": (_second(b"{}"), ("nothing-in-it.gz:2: not a certificate",)),
    "deep.gz": (_second(b"[" * 10_000), ("deep.gz:2: damaged or foreign file (nested too deeply)", "parse again")),
    "latin.gz": (_second(b"\xff"), ("latin.gz:2: damaged or foreign file", "parse again")),
    "numbers.gz": (_second(b"9" * 5000), ("numbers.gz:2: damaged or foreign file", "parse again")),
}

#: changes of a file of parses: (old text, new text, texts of the error message)
PARSED: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "a-word": ("# treebound_score = ", "# treebound_score = x", ("sentence 1: ",)),
    "nan": ("# treebound_score = ", "# treebound_score = nan#", ("sentence 1: ",)),
    "another-score": ("# treebound_score = ", "# treebound_score = 1", ("sentence 1: ",)),
    "no-score": ("# treebound_score = ", "# points = ", ("sentence 1: ", "score")),
    "no-status": ("# treebound_status = ", "# state = ", ("sentence 1: ", "status")),
    "another-status": ("# treebound_status = ", "# treebound_status = in", ("sentence 1: ", "status")),
    "a-bound-that-is-none": ("# treebound_bound = ", "# treebound_bound = --", ("sentence 1: ", "bound")),
    "a-cycle": ("\t0\t", "\t1\t", ("sentence 1: ",)),
    "head-99": ("\t0\t", "\t99\t", ("head-99.parsed:", "head 99 in a sentence of")),
    "no-head": ("\t0\t", "\t_\t", ("",)),
}

# --- score files

_ONES = np.ones((4, 4))


def _with(index: tuple[int, ...], value: float, scores: np.ndarray = _ONES) -> np.ndarray:
    changed = scores.astype(float)
    changed[index] = value
    return changed


def _objects() -> np.ndarray:
    return np.array([[None] * 3] * 3, dtype=object)


SCORES: dict[str, tuple[dict[str, Any] | bytes, int | tuple[str, ...]]] = {  # sentences, or texts of the message
    "ones": ({"arc_0": _ONES}, 1),
    "one-word": ({"arc_0": np.zeros((2, 2))}, 1),
    "no-sentence": ({}, 0),
    "500-words": ({"arc_0": np.random.default_rng(0).normal(size=(501, 501)).astype(np.float32)}, 1),
    "integers": ({"arc_0": np.arange(16).reshape(4, 4)}, 1),
    "booleans": ({"arc_0": np.eye(4, dtype=bool)}, ("sentence 0: arc is bool[4, 4]", "give an array of numbers")),
    "halves": ({"arc_0": _ONES.astype(np.float16)}, 1),
    "forbidden-arcs": ({"arc_0": _with((1, 2), -np.inf)}, 1),
    "tiny": ({"arc_0": _ONES * 1e-300}, 1),
    "labels-and-names": ({"arc_0": _ONES, "labels_0": np.zeros((4, 4, 2)), "label_names": ["a", "b"]}, 1),
    "a-nan": ({"arc_0": _with((1, 2), np.nan)}, ("sentence 0: arc[1, 2] is nan",)),
    "infinite": ({"arc_0": _with((1, 2), np.inf)}, ("sentence 0: arc[1, 2] is inf",)),
    "no-tree": ({"arc_0": _with((slice(None), 2), -np.inf)}, ("sentence 0: ", "arc admits no tree: every arc to word")),
    "huge": ({"arc_0": _ONES * 1e300}, ("sentence 0: ",)),
    "huge-integers": ({"arc_0": np.full((4, 4), 2**62)}, ("sentence 0: ",)),
    "complex": ({"arc_0": _ONES.astype(complex)}, ("sentence 0: arc ", "complex128")),
    "texts": ({"arc_0": np.full((4, 4), "x")}, ("sentence 0: arc ",)),
    "objects": ({"arc_0": _objects()}, ("array 'arc_0' holds Python objects, which are not read",)),
    "a-cube": ({"arc_0": np.ones((4, 4, 4))}, ("arc_0 is float64[4, 4, 4]", "give [n + 1, n + 1]")),
    "a-number": ({"arc_0": np.ones(())}, ("arc_0 is float64",)),
    "no-words": ({"arc_0": np.ones((1, 1))}, ("arc_0 is float64[1, 1]",)),
    "not-square": ({"arc_0": np.ones((4, 3))}, ("sentence 0: arc ", "[4, 3]")),
    "the-second-not-square": ({"arc_0": _ONES, "arc_1": np.ones((4, 3))}, ("sentence 1: arc ", "[4, 3]")),
    "numbered-from-1": ({"arc_1": _ONES}, ("arc_0 is missing",)),
    "another-name": ({"scores": _ONES}, ("unknown array 'scores'",)),
    "labels-without-names": ({"arc_0": _ONES, "labels_0": np.zeros((4, 4, 2))}, ("labels without label_names",)),
    "a-name-too-few": (
        {"arc_0": _ONES, "labels_0": np.zeros((4, 4, 2)), "label_names": ["a"]}, ("there are 1 label_names",)
    ),
    "flat-labels": ({"arc_0": _ONES, "labels_0": np.zeros((4, 4)), "label_names": ["a"]}, ("labels of sentence 0",)),
    "a-form-too-few": ({"arc_0": _ONES, "forms": ["a", "b"]}, ("2 forms for 3 words", "give one form for each word")),
    "a-form-with-a-tab": ({"arc_0": _ONES, "forms": ["a", "b\tc", "d"]}, ("forms[1], ", "does not fit into a column")),
    "an-empty-form": ({"arc_0": _ONES, "forms": ["a", "", "d"]}, ("forms[1], ", "does not fit into a column")),
    "flat-siblings": ({"arc_0": _ONES, "siblings_0": np.zeros((4, 4))}, ("sentence 0: siblings",)),
    "nan-siblings": ({"arc_0": _ONES, "siblings_0": np.full((4, 4, 4), np.nan)}, ("sentence 0: siblings",)),
    "no-arc-allowed": ({"arc_0": _ONES, "allowed_0": np.zeros((4, 4), bool)}, ("sentence 0: ", "no tree")),
    "empty-file": (b"", ("not a .npz file",)),
    "prose": (b"no scores\n", ("not a .npz file",)),
    "one-array": (b"\x93NUMPY\x01\x00v\x00{}", ("not a .npz file",)),
    "half-a-zip": (b"PK\x03\x04" + bytes(50), ("not a .npz file",)),
}  # fmt: skip

DECODE = "decode {ones} -o {out} "
DECODE_CASES = [
    Case(DECODE + "--space planar", ("space = 'planar'",)),
    Case(DECODE + "--decoder oracle", ("unknown decoder 'oracle'", "choose from")),
    Case(DECODE + "--decoder eisner --space non-projective", ("does not search non-projective trees",)),
    Case(DECODE + "--k-best 0", ("--k-best",)),
    Case(DECODE + "--k-best nan", ("--k-best",)),
    Case(DECODE + "--workers 0", ("--workers",)),
    Case("decode {missing} -o {out}", ("{missing}: no such file",)),
    Case("decode {folder} -o {out}", ("{folder}: is a folder", "name a .npz file")),
    Case("decode {ones} -o {ones}", ("is the same file as ", "which is read")),
    Case("decode {ones} -o {missing}/x", ("cannot be written",)),
    Case("decode {ones} -o /dev/full", ("/dev/full: cannot be written: No space left",)),
    Case("decode", ("Missing argument",)),
]
