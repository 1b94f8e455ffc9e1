"""Tables about trees that follow the rules of the validator: errors, accuracy, proofs and cost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from studies.across.validity.settings import ValidTrees
from studies.site.collect import Results
from treebound.constraints.ud.coverage import examples

TAGS = ("gold", "predicted")
INDEX = ["run", "corpus", "tags"]
#: columns of `measured` that one corpus has for each kind of tags
FIGURES = ["sentences", "words", "training_sentences", "before", "after", "sentences_before", "sentences_after"]
FIGURES += ["uas", "uas_valid", "las", "las_valid", "uas_gain", "las_gain"]
FIGURES += ["proved", "searched", "regions", "every", "changed", "named", "cpu_s", "cpu_s_valid"]
#: heading of the number of sentences in which the validator finds an error
WITH_ERRORS = "sentences with errors"
#: tags or labels that are not universal, in the message of an older metrics file: number, kind and examples
_MESSAGE = re.compile(r"(\d+) (tag|label)s that are not(?: universal)? \((.*?)\)(?=, \d|, no |: cannot apply )")
#: order of the four numbers of a gain in accuracy in a metrics file
GAIN = ("difference", "low", "high", "p")


def stored(results: Sequence[Results], corpora: Sequence[str] = ()) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (run, corpus, metrics) of every corpus that the stage has measured in a run.

    corpora  corpora to include; all if empty
    """
    for run in results:
        for corpus in run.params.section(ValidTrees).corpora:
            if (not corpora or corpus in corpora) and run.has("validity", f"{corpus}.json"):
                yield run.name, corpus, run.read("validity", f"{corpus}.json")


def measured(results: Sequence[Results], corpora: Sequence[str] = ()) -> pd.DataFrame:
    """Return errors, accuracy, proofs and CPU seconds, one row per run, corpus and kind of tags. May be empty."""
    rows, runs = [], {run.name: run for run in results}
    for name, corpus, metrics in stored(results, corpora):
        for tags in TAGS:
            if tags in metrics:
                seconds = runs[name].read("timing", "validity", f"{corpus}.json")[tags]
                place = {"run": name, "corpus": corpus, "tags": tags}
                rows.append({**place, **_figures(metrics, metrics[tags], seconds)})
    return pd.DataFrame(rows, columns=[*INDEX, *FIGURES]).set_index(INDEX)


def _figures(metrics: dict[str, Any], own: dict[str, Any], seconds: dict[str, list[float]]) -> dict[str, Any]:
    """Return the values of the columns FIGURES for a corpus under one kind of tags.

    metrics  metrics of the corpus
    own      the part of the metrics for this kind of tags
    seconds  name of the parser -> CPU seconds of each timed run
    """
    out = {name: metrics[name] for name in ("sentences", "words", "training_sentences")}
    for when in ("before", "after"):
        out |= {when: own[when]["errors"], f"sentences_{when}": own[when]["sentences"]}
    for score in ("uas", "las"):
        out |= {score: own[score][0], f"{score}_valid": own[score][1], f"{score}_gain": own[f"{score}_gain"]}
    out |= {name: own[name] for name in ("proved", "searched", "regions", "every", "changed")}
    medians = {name: float(np.median(runs)) for name, runs in seconds.items()}
    return out | {"named": len(own["named"]), "cpu_s": medians["plain"], "cpu_s_valid": medians["valid"]}


def totals(data: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of errors and of sentences with errors, without and with rules. data: `measured`."""
    out = data[["sentences", "before", "sentences_before", "after", "sentences_after"]]
    columns = [
        ("", "sentences"),
        *((setting, measure) for setting in ("without rules", "with rules") for measure in ("errors", WITH_ERRORS)),
    ]
    return out.set_axis(pd.MultiIndex.from_tuples(columns), axis=1)


def by_rule(results: Sequence[Results], corpora: Sequence[str] = ()) -> pd.DataFrame:
    """Return the number of errors per run, corpus and rule, for both kinds of tags and for the treebank itself."""
    rows = []
    for name, corpus, metrics in stored(results, corpora):
        if "treebank" not in metrics:
            continue
        counts = {("", "treebank"): metrics["treebank"]["rules"]}
        for tags in TAGS:
            for key, heading in (("before", "without rules"), ("after", "with rules")):
                counts[f"{tags} tags", heading] = metrics[tags][key]["rules"]
        for rule in sorted({rule for rules in counts.values() for rule in rules}):
            numbers: dict[Any, Any] = {place: rules.get(rule, 0) for place, rules in counts.items()}
            rows.append({"run": name, "corpus": corpus, "rule": rule} | numbers)
    if not rows:
        return pd.DataFrame()
    data = pd.DataFrame(rows).set_index(["run", "corpus", "rule"])
    return data.set_axis(pd.MultiIndex.from_tuples(list(data.columns)), axis=1)


def gains(data: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return the gain in UAS or LAS that the rules bring, with its interval and p-value. data: `measured`.

    score  `uas` or `las`
    """
    return pd.DataFrame(data[f"{score}_gain"].tolist(), index=data.index, columns=list(GAIN))


def accuracy(data: pd.DataFrame) -> pd.DataFrame:
    """Return UAS and LAS without and with rules, and the p-value of the difference. data: `measured`."""
    columns: dict[tuple[str, str], pd.Series] = {}
    for score in ("uas", "las"):
        head = score.upper()
        columns |= {(head, "without rules"): data[score], (head, "with rules"): data[f"{score}_valid"]}
        columns |= {(head, "p"): gains(data, score)["p"]}
    return pd.DataFrame(columns)


def cost(data: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of proofs and of second searches, and the time of parsing. data: `measured`."""
    columns = {
        "sentences": data["sentences"],
        "proved": data["proved"],
        "without a valid tree": data["named"],
        "searched again": data["searched"],
        "other tree or labels": data["changed"],
        "all arcs": data["every"],
        "regions": data["regions"],
        "CPU s without rules": data["cpu_s"],
        "CPU s with rules": data["cpu_s_valid"],
        "ratio": data["cpu_s_valid"] / data["cpu_s"],
    }
    return pd.DataFrame(columns)


def peers(results: Sequence[Results], corpora: Sequence[str] = ()) -> pd.DataFrame:
    """Return errors and accuracy per run, corpus and parser, under gold tags. The table is empty without peers."""
    rows = []
    for name, corpus, metrics in stored(results, corpora):
        others = {peer: own for peer, own in metrics.get("peers", {}).items() if "missing" not in own}
        if not others:
            continue
        ours = {
            name_of_row: {**metrics["gold"][key], "uas": metrics["gold"]["uas"][i], "las": metrics["gold"]["las"][i]}
            for i, (key, name_of_row) in enumerate((("before", "treebound"), ("after", "treebound --valid ud")))
        }
        for parser, own in {**ours, **others}.items():
            figures = {"errors": own["errors"], WITH_ERRORS: own["sentences"], "UAS": own["uas"], "LAS": own["las"]}
            rows.append({"run": name, "corpus": corpus, "parser": parser, "sentences": metrics["sentences"], **figures})
    return pd.DataFrame(rows).set_index(["run", "corpus", "parser"]) if rows else pd.DataFrame()


def uncovered(results: Sequence[Results], corpora: Sequence[str] = ()) -> pd.DataFrame:
    """Return the number of tags and of labels that are not universal, for each run and corpus that has any.

    The column `parsed` is `no` if nothing was parsed because the treebank has its own label set. The column `note`
    names up to three of the tags and of the labels.
    """
    rows = []
    for name, corpus, metrics in stored(results, corpora):
        if unknown := _not_universal(metrics["coverage"]):
            counts = {kind: unknown.get(kind, (0, ""))[0] for kind in ("tags", "labels")}
            note = "; ".join(f"{kind} that are not universal: {names}" for kind, (_, names) in unknown.items())
            parsed = "yes" if "gold" in metrics else "no"
            rows.append({"run": name, "corpus": corpus} | counts | {"parsed": parsed, "note": note})
    return pd.DataFrame(rows, columns=["run", "corpus", "tags", "labels", "parsed", "note"]).set_index(
        ["run", "corpus"]
    )


def _not_universal(coverage: dict[str, Any]) -> dict[str, tuple[int, str]]:
    """Return the number and up to three examples of tags, and of labels, that are not universal, if there are any.

    coverage  part of the metrics of a corpus; older results have a message in place of the lists
    """
    if "says" in coverage:
        return {f"{kind}s": (int(count), names) for count, kind, names in _MESSAGE.findall(coverage["says"])}
    lists = {kind: coverage[kind] for kind in ("tags", "labels") if coverage[kind]}
    return {kind: (len(names), examples(names)) for kind, names in lists.items()}
