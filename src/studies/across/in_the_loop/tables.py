"""Tables of the stage `in_the_loop`: training with an approximate decoder, compared with exact training.

The tables are empty if no run has the results of the stage.
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

#: name of a contrast -> its two sides, each (decoder of training, decoder of parsing); "own" is the decoder of the row
CONTRASTS: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "parsed with it": (("own", "own"), ("exact", "own")),
    "parsed exactly": (("own", "exact"), ("exact", "exact")),
    "against exact throughout": (("own", "own"), ("exact", "exact")),
}


def measured(results: Results) -> dict[str, dict[str, Any]]:
    """Return the metrics of the stage `in_the_loop`: corpus -> trainer -> metrics.

    The result is empty for a run that was made before the stage was added.
    """
    trainers = results.params.section(InTheLoop).trainers
    return {
        corpus: {trainer: results.read("in-the-loop", corpus, f"{trainer}.json") for trainer in trainers}
        for corpus in results.params.section(Steps).corpora
        if results.has("in-the-loop", corpus)
    }


def _places(results: Sequence[Results], wanted: Sequence[str]) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield ("corpus, run", results by trainer, seed of the run) for each corpus and run.

    The results of a trainer are the evaluations of the trees that its model finds, by decoder.

    wanted  corpora to include; all if empty
    """
    for r in results:
        for corpus, by_trainer in measured(r).items():
            if not wanted or corpus in wanted:
                yield (
                    r.place(corpus),
                    {name: metrics["parsed"] for name, metrics in by_trainer.items()},
                    r.params.seed,
                )


def sizes(results: Sequence[Results], wanted: Sequence[str] = ()) -> dict[str, int]:
    """Return the number of training sentences of each place, a corpus and a run.

    wanted  corpora to include; all if empty
    """
    return {
        r.place(corpus): int(next(iter(by_trainer.values()))["training_sentences"])
        for r in results
        for corpus, by_trainer in measured(r).items()
        if not wanted or corpus in wanted
    }


def trainings(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Compare models trained exactly with models trained with an approximate decoder, on dev.

    Rows: (place, decoder), where a place is a corpus and a run. Both models parse with the decoder of the row.
    Each model has three columns: UAS (%), the share of sentences with the best tree under the model (%), and the share
    of sentences with a search error (%). In a search error, a wrong tree scores less than the gold tree. The last
    column is the UAS (%) of the model that was trained with the decoder of the row and parses exactly.
    """
    rows = {}
    for place, parsed, _ in _places(results, wanted):
        for trainer in parsed:
            row: dict[tuple[str, str], float] = {}
            for trained, model_name in (("trained exactly", "exact"), ("trained with it", trainer)):
                score = parsed[model_name][trainer]
                row[trained, "UAS"] = score["uas"]
                row[trained, "best tree, %"] = 100 * score["best"] / score["sentences"]
                row[trained, "search errors, %"] = 100 * score["search_errors"] / score["sentences"]
            row["trained with it, parsed exactly", "UAS"] = parsed[trainer]["exact"]["uas"]
            rows[place, TRAINERS[trainer]] = row
    index = pd.MultiIndex.from_tuples(list(rows), names=["", "decoder"]) if rows else None
    columns = pd.MultiIndex.from_tuples(list(next(iter(rows.values())))) if rows else None
    return pd.DataFrame(list(rows.values()), index=index, columns=columns)


def contrasts(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Test the differences in UAS between pairs of training and parsing decoders, on the same sentences.

    Rows: (place, contrast, decoder), where a place is a corpus and a run. `CONTRASTS` defines the two sides of each
    contrast. `TESTED` lists the columns, two of which are renamed for the first and the second side.
    """
    rows = []
    for place, parsed, seed in _places(results, wanted):
        for contrast, sides in CONTRASTS.items():
            for trainer in parsed:
                if trainer != "exact":
                    ours, base = (
                        from_marks(
                            parsed[trained.replace("own", trainer)][decoder.replace("own", trainer)]["right"], "UAS"
                        )
                        for trained, decoder in sides
                    )
                    row = {"place": place, "contrast": contrast, "decoder": TRAINERS[trainer]}
                    rows.append(row | tested(ours, base, "UAS", seed))
    names = ["place", "contrast", "decoder"]
    table = pd.DataFrame(rows, columns=[*names, *TESTED]).set_index(names)
    return table.rename(columns={"only it": "only the first", "only the baseline": "only the second"})
