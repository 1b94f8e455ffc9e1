"""Tables around the main comparison: rows with other tags or seeds, and parsers of other projects."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.site import frames
from studies.site.collect import Results
from studies.site.rows import corpora_of, find, metrics_of, stacked


def variants(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Compare each row that uses other tags or another seed with the default row of the same system.

    The column `difference` is the UAS of the row with other tags or seed minus the UAS of the default row.
    """
    data, params = stacked(results, wanted, frames.variants), {r.name: r.params for r in results}
    uas = pd.concat({r.name: metrics_of(r)["uas"] for r in results})
    compared: dict[int, float] = {}
    for variant in data.itertuples():
        own_params, corpus = params[str(variant.provenance)], str(variant.corpus)
        row = own_params.rows[str(variant.row)]
        originals = find(own_params, corpus, model=row.model, learner=row.learner, decoder=row.decoder, k=row.k)
        if row not in originals:
            compared[variant.Index] = (
                float(uas[variant.provenance, corpus, originals[0].name]) if originals else float("nan")
            )
    data = data.loc[list(compared)].assign(compared=list(compared.values()))
    data = data.rename(columns={"provenance": "", "uas": "UAS", "complete": "complete, %"})
    data["difference"] = data["UAS"] - data["compared"]
    columns = ["UAS", "compared", "difference", "complete, %"]
    data = data.set_index(["", "corpus", "model", "learner", "decoder", "k", "tags", "seed"])[columns]
    return data.rename(columns={"compared": "UAS of the row"})


def peers(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the parsers of other projects. Rows: (run, corpus, peer).

    Columns: accuracy, seconds of training, speed, tags, package with its version, and a note.
    """
    data = stacked(results, wanted, frames.peers)
    package = [f"{name} {version}".strip() for name, version in zip(data["package"], data["version"], strict=True)]
    names = {"uas": "UAS", "las": "LAS", "complete": "complete, %", "train_cpu_s": "training, CPU s", "notes": "note"}
    data = data.assign(package=package).rename(columns=names | {"words_per_cpu_s": "words / CPU s", "provenance": ""})
    columns = ["UAS", "LAS", "complete, %", "training, CPU s", "words / CPU s", "tags", "package", "note"]
    return data.set_index(["", "corpus", "peer"])[columns]


def peer_uas(results: Sequence[Results], wanted: Sequence[str] = ()) -> dict[str, dict[tuple[str, str], float]]:
    """Map each peer to its UAS by (name of the run, corpus), for the main comparison."""
    keep = corpora_of(results, wanted)
    by_peer: dict[str, dict[tuple[str, str], float]] = {}
    for r in results:
        for row in frames.peers(r).itertuples():
            if row.corpus in keep[r.name]:
                by_peer.setdefault(str(row.peer), {})[r.name, str(row.corpus)] = float(row.uas)
    return by_peer
