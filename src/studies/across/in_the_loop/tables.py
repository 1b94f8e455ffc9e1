"""Training with an approximate decoder in the loop, beside exact training: the stage `in_the_loop`.

Every function takes what several runs have; where none has it, there are no rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from studies.across.in_the_loop.measure import TRAINERS
from studies.across.in_the_loop.settings import InTheLoop
from studies.qian_liu_2013.comparison.tables import TESTED, tested
from studies.qian_liu_2013.steps.settings import Steps
from studies.qian_liu_2013.steps.tables import from_marks
from studies.site.collect import Results

#: what is compared -> (trained with, parsed with) of either side; "own": the decoder of the row
CONTRASTS: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "parsed with it": (("own", "own"), ("exact", "own")),
    "parsed exactly": (("own", "exact"), ("exact", "exact")),
    "against exact throughout": (("own", "own"), ("exact", "exact")),
}


def measured(results: Results) -> dict[str, dict[str, Any]]:
    """Corpus -> trainer -> what the stage `in_the_loop` wrote. Empty in runs from before there was one."""
    trainers = results.params.section(InTheLoop).trainers
    return {
        corpus: {trainer: results.read("in-the-loop", corpus, f"{trainer}.json") for trainer in trainers}
        for corpus in results.params.section(Steps).corpora
        if results.has("in-the-loop", corpus)
    }


def _places(results: Sequence[Results], wanted: Sequence[str]) -> Iterator[tuple[str, dict[str, Any], int]]:
    for r in results:
        for corpus, found in measured(r).items():
            if not wanted or corpus in wanted:
                yield f"{corpus}, {r.name}", {name: of["parsed"] for name, of in found.items()}, r.params.seed


def trainings(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """A row a place (corpus and run) and decoder: UAS (%), sentences with the best tree under the model and search
    errors (wrong trees that score less than the gold tree; %) on dev, parsed with the decoder by the model that was
    trained exactly, and by the one trained with the decoder; UAS of the latter parsed exactly.
    """
    rows = {}
    for place, found, _ in _places(results, wanted):
        for trainer in found:
            row: dict[tuple[str, str], float] = {}
            for trained, of in (("trained exactly", "exact"), ("trained with it", trainer)):
                score = found[of][trainer]
                row[trained, "UAS"] = score["uas"]
                row[trained, "best tree, %"] = 100 * score["best"] / score["sentences"]
                row[trained, "search errors, %"] = 100 * score["search_errors"] / score["sentences"]
            row["trained with it, parsed exactly", "UAS"] = found[trainer]["exact"]["uas"]
            rows[place, TRAINERS[trainer]] = row
    index = pd.MultiIndex.from_tuples(list(rows), names=["", "decoder"]) if rows else None
    columns = pd.MultiIndex.from_tuples(list(next(iter(rows.values())))) if rows else None
    return pd.DataFrame(list(rows.values()), index=index, columns=columns)


def contrasts(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """UAS of the two sides of CONTRASTS on the same sentences. Rows (place, contrast, decoder); columns: TESTED."""
    rows = []
    for place, found, seed in _places(results, wanted):
        for contrast, sides in CONTRASTS.items():
            for trainer in found:
                if trainer != "exact":
                    ours, base = (
                        from_marks(found[trained.replace("own", trainer)][by.replace("own", trainer)]["right"], "UAS")
                        for trained, by in sides
                    )
                    row = {"place": place, "contrast": contrast, "decoder": TRAINERS[trainer]}
                    rows.append(row | tested(ours, base, "UAS", seed))
    names = ["place", "contrast", "decoder"]
    table = pd.DataFrame(rows, columns=[*names, *TESTED]).set_index(names)
    return table.rename(columns={"only it": "only the first", "only the baseline": "only the second"})
