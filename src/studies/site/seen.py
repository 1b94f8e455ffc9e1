"""Find the treebank columns, besides forms and tags, that the parser of a row sees."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from studies.common.params import Row
from studies.site import frames
from studies.site.collect import Results
from treebound.systems.transition.feature_models import ATTRIBUTES, chosen_model

NAMES = {"lemma": "lemmas", "feats": "morphological features"}
#: systems whose models see every column that the treebank offers
ALL = ("graph", "sampling")


def offered(results: Results) -> dict[str, list[str]]:
    """Map each corpus to the treebank columns (keys of NAMES) that it offers to parsers besides forms and tags."""
    return dict(frames.convert(results).attrs["seen"])


def seen(results: Results, corpus: str, row: Row, columns: Collection[str]) -> tuple[str, ...]:
    """Return the entries of `columns` that the parser of a row sees.

    columns  the columns that the corpus offers, see `offered`

    Graph-based parsers and parsers that sample see all columns. A transition-based parser sees the columns that its
    feature model reads; the metrics of its training name the feature model. Packages of other projects are
    trained with forms and tags alone.
    """
    if row.system in ALL:
        return tuple(columns)
    if row.system != "transition" or not columns:
        return ()
    spec = results.read("train", corpus, f"{row.trained}.json")["spec"]
    features = spec.get("features", results.params.models[row.trained].settings.features)
    functions = {cell.split()[0] for cell in chosen_model(features, columns).cells}
    return tuple(column for column in columns if ATTRIBUTES[column] in functions)


def in_words(columns: Collection[str]) -> str:
    """Join the names of columns into a phrase for a sentence."""
    return " and ".join(NAMES[column] for column in columns)


def by_corpus(columns_of: Mapping[str, Collection[str]]) -> str:
    """Describe in a table cell which columns one parser sees on each corpus."""
    where: dict[str, list[str]] = {}
    for corpus, columns in columns_of.items():
        if columns:
            where.setdefault(in_words(columns), []).append(corpus)
    return "; ".join(f"{names} ({', '.join(corpora)})" for names, corpora in where.items()) or "nothing"
