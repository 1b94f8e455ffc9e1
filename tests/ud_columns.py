"""Random sentences with labels and tags that concern the same rules of Universal Dependencies."""

from dataclasses import replace

from treebound.constraints.rows import Words

TAGS = [*"ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM".split(), *"PART PRON PROPN PUNCT SCONJ SYM VERB X".split()]  # noqa: SIM905


#: labels and tags that concern a family of rules
FAMILIES = {
    "subjects": (["root", "nsubj", "nsubj:outer", "csubj:pass"], ["NOUN"]),
    "objects": (["root", "obj", "obj:x", "iobj"], ["NOUN", "VERB"]),
    "oblique": (["root", "nsubj", "obl", "obl:arg", "cop"], ["NOUN", "VERB", "PRON"]),
    "orphan": (["root", "orphan", "conj", "nsubj"], ["NOUN", "VERB"]),
    "mark": (["root", "mark", "case", "advmod"], ["SCONJ", "ADV", "PART", "ADP", "PRON"]),
    "aux": (["root", "aux", "cop:x", "advmod"], ["AUX", "ADV", "VERB"]),
    "det": (["root", "det", "acl:relcl", "advmod"], ["DET", "PART", "NOUN"]),
    "clf": (["root", "clf", "obl", "nmod"], ["NOUN"]),
    "cc": (["root", "cc", "fixed", "advmod"], ["CCONJ", "ADV", "PROPN"]),
    "fixed": (["root", "fixed", "punct", "conj"], ["ADP", "PUNCT", "PROPN"]),
    "goeswith": (["root", "goeswith", "punct", "advmod"], ["X", "PUNCT", "ADV", "NOUN"]),
    "punct": (["root", "punct", "nsubj"], ["PUNCT", "NOUN"]),
    "direction": (["root", "conj", "flat:name", "appos"], ["NOUN"]),
    "foreign": (["root", "flat:foreign", "flat"], ["X", "X", "NOUN"]),
    "numbers": (["root", "nummod", "expl"], ["NUM", "NOUN", "PRON", "SYM"]),
    "unknown": (["root", "unknown", "Root", "punctual"], ["NOUN", "PUNCT"]),
}


LABELS = sorted({label for labels, _ in FAMILIES.values() for label in labels} | {"aux:pass", "advcl", "parataxis"})


FEATS = [
    "_",
    "_",
    "Polarity=Neg",
    "Poss=Yes",
    "Typo=Yes",
    "ExtPos=ADV",
    "ExtPos=ADJ,ADV",
    "ExtPos=PUNCT",
    "ExtPos=PROPN",
]


MISC = ["_", "_", "_", "SpaceAfter=No", "Subject=Outer", "Gloss=x|SpaceAfter=No"]


def columns(rng, n, tags, known=True):
    """Return random columns of a sentence; FEATS and MISC are unknown if `known` is false.

    If they are known, at least one word has a feature, because the validator checks one rule about features only
    after it has read a feature in the file.
    """
    forms = [f"w{m}" for m in range(1, n + 1)]
    classes = rng.choice(tags, n).tolist()
    if not known:
        return Words.of(forms, classes)
    feats, misc, lemma = (rng.choice(column, n).tolist() for column in (FEATS, MISC, ["_", "a"]))
    feats[0] = "Number=Sing" if set(feats) == {"_"} else feats[0]
    return replace(Words.of(forms, classes, feats, misc), lemma=("", *lemma))


def random_family(rng):
    """Return the labels and tags of a random family of rules.

    They are few, so that rules about several words are often broken.
    """
    labels, tags = FAMILIES[str(rng.choice(list(FAMILIES)))]
    return [*labels, "punct", "goeswith"], [*tags, "PUNCT", "X"]
