"""Layouts of CoNLL-U, the format of Universal Dependencies, and of CoNLL-U Plus, whose first line names the columns.

https://universaldependencies.org/format.html, https://universaldependencies.org/ext-format.html
"""

from collections.abc import Sequence

from treebound.core.errors import InputError
from treebound.treebanks.tabular import Layout

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
#: columns of CoNLL-U that are read into a treebank
READ = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel")


def layout(name: str, names: Sequence[str]) -> Layout:
    """Return the layout of a CoNLL-U format with the named columns."""
    positions = {column: i for i, column in enumerate(names)}
    return Layout(
        name=name,
        columns={column: positions[column.upper()] for column in READ if column.upper() in positions},
        least=len(names),
        most=len(names),
        comments=True,
        extras=True,
        misc=positions.get("MISC"),
        names=tuple(names),
    )


CONLLU = layout("CoNLL-U", COLUMNS)


def plus(names: Sequence[str], path: str) -> Layout:
    """Return the layout of CoNLL-U Plus with the columns that its first line names.

    Raises InputError if a column is named twice, or if ID or FORM is missing.
    """

    def fault(reason: str, hint: str) -> InputError:
        return InputError(f"`# global.columns`: {reason}", path=path, line=1, hint=hint)

    for name in names:
        if names.count(name) > 1:
            raise fault(f"{name} is named twice", "name each column once")
    for name in ("ID", "FORM"):
        if name not in names:
            raise fault(f"{name} is missing", f"add the column {name}")
    return layout("CoNLL-U Plus", names)
