"""Write the files that a run of the pipeline would leave, with invented figures.

Tests of tables, notebooks and pages use these files, so that they need no trained model.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import yaml

from studies.across.approximations.settings import Approximations
from studies.across.mining.rankings import HEADS, LABELS, RANDOM
from studies.across.mining.settings import Mining
from studies.across.mining.settings import Run as MiningRun
from studies.across.validity.settings import ValidTrees
from studies.auli_lopez_2011.ccg.settings import CCG
from studies.auli_lopez_2011.ccg_integration.measure import column_of, tables
from studies.auli_lopez_2011.ccg_integration.settings import CCGIntegration
from studies.common import params as parameters
from studies.common.params import Params, Row
from studies.hall_2006.classifiers.settings import Classifiers
from studies.pipeline.scratch import overlaid
from studies.qian_liu_2013.ablation.settings import Ablation
from studies.qian_liu_2013.confidence.settings import Confidence
from studies.qian_liu_2013.steps.settings import Step, Steps
from studies.riedel_clarke_2006.constraints.settings import Constraints
from studies.riedel_clarke_2006.integer_programs.settings import IntegerPrograms
from studies.zhang_2014.score_time.measure import METHODS
from studies.zhang_2014.score_time.settings import ScoreTime
from studies.zhang_2014.tag_correction.settings import TagCorrection
from treebound.factors import pattern_language
from treebound.metrics.attachment import HEAD, LABELLED, WRONG
from treebound.systems.ccg.study import Course, Outcome, Outputs, Studied

SENTENCES = 60
PARTS = (0.5, 1.0, 1.5, 0.75, 1.25, 1.0)  #: CPU seconds of the parts of a treebank, relative to their mean
#: models and rows of every kind that the tables distinguish, merged into params.yaml
ROWS = """
models:
  arc-perceptron: {same_as: arc, families: [], learner: perceptron}

  carreras-perceptron: {same_as: carreras, families: [adjacent-sibling, outermost-grandchild], learner: perceptron}
  carreras+grandchild-perceptron: {same_as: carreras+grandchild, learner: perceptron,
    families: [adjacent-sibling, outermost-grandchild, grandchild]}

  carreras+sibling-perceptron: {same_as: carreras+sibling, learner: perceptron,
    families: [adjacent-sibling, outermost-grandchild, sibling]}
  carreras+grandchild+sibling-perceptron: {same_as: carreras+grandchild+sibling, learner: perceptron,
    families: [adjacent-sibling, outermost-grandchild, grandchild, sibling]}
decode:
  arc-perceptron: {arc-perceptron: {decoder: eisner, k: 10}}
  arc: {arc: {decoder: eisner, k: 10}}
  carreras-perceptron: {carreras-perceptron: {decoder: carreras, k: 10}}
  carreras: {carreras: {decoder: carreras, k: 10}}

  carreras+grandchild-perceptron: {grandchild-perceptron: {decoder: tuned, k: 10}}
  carreras+grandchild: {grandchild: {decoder: tuned, k: 10}}
  carreras+sibling-perceptron: {sibling-perceptron: {decoder: tuned, k: 10}}
  carreras+sibling: {sibling: {decoder: tuned, k: 10}}
  carreras+grandchild+sibling-perceptron: {both-perceptron: {decoder: tuned, k: 10}}

  carreras+grandchild+sibling:
    both: {decoder: tuned, k: 10}
    both-k3: {decoder: tuned, k: 3}
    both-k5: {decoder: tuned, k: 5}
    both-k20: {decoder: tuned, k: 20}
    both-unpruned: {decoder: tuned, k: none}
    both-tuned-carreras: {decoder: tuned-carreras, k: 10}
    both-published: {decoder: published, k: 10}
  greedy: {transition-greedy: {}}
  beam: {transition-beam: {}}
  svm: {transition-svm: {}}
  small: {sampling-small: {}}
integer_programs: {models: [arc, carreras+grandchild+sibling]}
"""
META = {"title": "An invented treebank", "language": "xx", "licence": "none"}


def write(folder: Path, params: Params, seed: int = 0) -> None:
    """Fill `folder` with the files that the stages of `params` would write.

    The folder is `results/` or `results/reference/` of a project.
    """
    rng = np.random.default_rng(seed)
    for corpus in params.section(TagCorrection).corpora:
        correction = {
            "sentences": 60,
            "words": 1000,
            "tags_predicted": 95.0,
            "tags_corrected": 95.5,
            "mended": 8,
            "spoilt": 3,
        }
        correction |= {"p_tags": 0.23, "uas_predicted": 85.0, "uas_corrected": 85.6, "uas_right": 87.0}
        correction["uas_gain"] = [0.6, 0.2, 1.0, 0.004]
        if corpus in params.section(TagCorrection).published:
            worse = {"mended": 3, "spoilt": 9, "uas_gain": [-0.4, -0.9, 0.1, 0.12]}
            correction["published"] = {key: value for key, value in correction.items() if key != "uas_right"} | worse
        _json(folder, ["tag-correction", f"{corpus}.json"], correction)
    for corpus in params.section(Classifiers).corpora:
        _classifiers(folder, params, corpus)
    for corpus in params.section(ValidTrees).corpora:
        _validity(folder, params, corpus)
    for i, name in enumerate(params.section(CCG).parsers):
        _ccg(folder, params, name, i)
        _joint(folder, params, name)
    for corpus in params.section(CCG).derivations:
        whole = {"sentences": 400, "coverage": 97.0, "tokens": 6800, "categories": 90, "categories_5": 40}
        _json(folder, ["derivations", f"{corpus}.json"], {"corpus": corpus, "all": whole | {"failures": {"gap": 12}}})
    for name, mined in params.section(Mining).runs.items():
        _json(folder, ["mining", f"{name}.json"], mining_metrics(mined, params.section(Mining).ks))
        _json(folder, ["timing", "mining", f"{name}.json"], {"seconds": 100.0, "workers": 2, "words": 5000})
    for corpus in params.section(Constraints).corpora:
        settings = params.section(Constraints)
        constraint_metrics(folder, corpus, settings.folds, settings.looped)
    for corpus in params.corpora:
        lengths = rng.integers(1, 65, SENTENCES)
        splits = {name: _split(rng, size) for name, size in (("train", 400), ("dev", 50), ("test", SENTENCES))}
        _json(folder, ["convert", f"{corpus}.json"], {"corpus": corpus, "meta": META, "splits": splits})
        recall = {split: {str(k): 1 - 0.2 / k for k in params.pruner.ks} for split in ("dev", "test")}
        by_threshold = [
            {"threshold": t, "recall": 1 - t, "heads_a_word": 3 - np.log10(t)} for t in params.pruner.thresholds
        ]
        correction = {"corpus": corpus, "recall": recall, "thresholds": {"dev": by_threshold, "test": by_threshold}}
        _json(folder, ["pruner", f"{corpus}.json"], correction)
        if params.section(Ablation).configurations:
            names = list(params.section(Ablation).configurations)
            calls = {name: 1 + rng.poisson(5 * (i + 1), SENTENCES) for i, name in enumerate(names)}
            _json(
                folder,
                ["ablation", f"{corpus}.json"],
                [_ablation(name, calls[name], i) for i, name in enumerate(names)],
            )
            table = pd.concat([pd.DataFrame({"configuration": name, "dp_calls": calls[name]}) for name in names])
            _file(folder / "predictions" / corpus / "ablation.csv", table)
        if params.section(Confidence).model:
            lists = {"best_of_list": {"1": 90.0, "10": 95.0}}
            _json(folder, ["confidence", f"{corpus}.json"], {"sentences": SENTENCES, "complete": SENTENCES} | lists)
        for model in params.section(IntegerPrograms).models:
            _json(folder, ["integer-programs", corpus, f"{model}.json"], arena_rows((model,)))
        for model in params.section(Approximations).models:
            _json(folder, ["approximations", corpus, f"{model}.json"], approximation_rows((model,)))
        for model in params.section(ScoreTime).models:
            _json(folder, ["score-time", corpus, f"{model}.json"], score_time_rows(params.section(ScoreTime).patience))
        timed: list[dict] = []
        parsed: dict[str, dict[str, dict]] = {}
        for i, row in enumerate(params.rows_of(corpus)):
            _train(folder, params, corpus, row)
            tags, seed = params.tags_and_seed(corpus, row)
            if row.system != "graph":
                metrics = {"uas": 80.0, "las": 70.0, "complete": 5.0, "package": row.system, "version": "1.0"}
                metrics |= {"notes": "invented", "tags": tags, "seed": seed, "search_errors": 1, "sentences": SENTENCES}
                alike = replace(row, decoder=next(iter(params.decoders)), k=params.train.k)
                marks = _sentences(rng, params, alike, lengths, i)
                if row.system != "sampling":  # other systems are less accurate than the graph-based rows
                    marks["correct"] = (0.8 * marks["scored"]).astype(int)
                    marks["words"] = _marks(marks.drop(columns="correct_labelled", errors="ignore"))
                marks = marks[["sentence", "n", "correct", "scored", "words"]]
                _csv(folder, corpus, row, marks)
                metrics |= {"uas": 100 * marks["correct"].sum() / marks["scored"].sum()}
                metrics |= {"scored_words": int(marks["scored"].sum())}
                timed.append({**row.key, "words_per_cpu_s": 9000.0})
            else:
                table = _sentences(rng, params, row, lengths, i)
                _csv(folder, corpus, row, table.drop(columns="seconds"))
                metrics = _decode(table, params) | {"tags": tags, "seed": seed}
                timed.append({**row.key, **_timing(table)})
            parsed.setdefault(row.trained, {})[row.name] = metrics
        for model, rows_of_model in parsed.items():
            _json(folder, ["decode", corpus, f"{model}.json"], rows_of_model)
            peaks = {name: {"peak_mb": 400.0 + 10 * i} for i, name in enumerate(rows_of_model)}
            _json(folder, ["timing", "decode", corpus, f"{model}.json"], peaks)
        _json(folder, ["benchmark", f"{corpus}.json"], timed)
        if corpus in params.section(Steps).corpora:
            for i, (name, step) in enumerate(params.section(Steps).runs.items()):
                _json(folder, ["steps", corpus, f"{name}.json"], _step(rng, lengths, i, step))
            for trainer, trained in in_the_loop(rng, lengths).items():
                _json(folder, ["in-the-loop", corpus, f"{trainer}.json"], trained)
        if params.tags_of(corpus) == "predicted":
            unknown = {"unknown_words": 20, "unknown_accuracy": 70.0}
            accuracy = {"xpos": {split: {"words": 200, "accuracy": 94.0} | unknown for split in splits}}
            _json(folder, ["tagger", f"{corpus}.json"], {"tags": "predicted", "accuracy": accuracy})
            timing = {"train_cpu_s": 30.0, "jackknife_wall_s": 120.0, "workers": 2, "words_per_cpu_s": 50000.0}
            _json(folder, ["timing", "tagger", f"{corpus}.json"], {"xpos": timing})


def mining_metrics(mined: MiningRun, ks: Sequence[int]) -> dict:
    """Return metrics as the stage `mining` writes them. Each ranking has a lower precision than the one before it."""

    def judged(names: Sequence[str]) -> dict[str, dict]:
        out = {}
        for i, name in enumerate(names):
            precision = 0.02 if name == RANDOM else 0.9 - 0.1 * i
            at_k = {
                str(k): {"hits": round(precision * k), "low": precision - 0.02, "high": precision + 0.02}
                | {"recall": precision * k / 1000}
                for k in ks
            }
            out[name] = {"at": at_k, "average_precision": precision / 2, "listed": 1200, "hits": 600}
        return dict(sorted(out.items()))  # in the order of a JSON file

    sizes = {"sentences": 300, "sentences_known": 290, "words": 5000, "words_known": 4900}
    sizes |= {"heads_changed": 800, "labels_changed": 500, "disagreements": 1200, "suspects": 1500, "certified": 1490}
    change = {"change": "nmod -> obl, head moves right", "count": 50, "row": 1, "suspects": 70, "hits": 40}
    hidden = {"change": "dep, head moves left", "count": 40, "row": 0, "suspects": 0, "hits": 0}
    return sizes | {
        "sporadic": 710 if mined.later else 800,
        "heads": judged(HEADS),
        "sporadic_heads": judged(HEADS),
        "labels": judged(LABELS),
        "exact": {"errors": 600, "exact": 450},
        "exact_at": {str(k): {"errors": k // 2, "exact": k // 4} for k in ks},
        "systematic": [change, hidden] if mined.later else [],
        "seed": 1,
        "models": 1 if mined.reference else mined.folds,
        "trees": 10,
        "remarks": [],
    }


def score_time_rows(budgets: Sequence[int]) -> list[dict]:
    """Return rows as the stage `score_time` writes them.

    Greedy search misses the fewest optima and Gibbs sampling the most. Scores of all methods are almost equal for large
    budgets.
    """
    shape = {"sentences": SENTENCES, "proved": SENTENCES - 2, "long": 7, "words": 1000, "runs": 9.0}
    rows: list[dict] = []
    for space, methods in METHODS.items():
        done = {"optima": SENTENCES - 2, "long_optima": 7, "score": 1.0, "cpu_s": 2.0, "patience": 0, "seed": 0}
        rows.append({"space": space, "method": "branch-and-bound", **shape, **done})
        for method in methods:
            lost = {"greedy": 1, "gibbs": 4, "random-walk": 2}[method]
            for budget in budgets:
                result = {"optima": SENTENCES - 2 - lost, "long_optima": 6, "score": 1.0 - lost * 1e-4 / budget}
                rows.append({"space": space, "method": method, **shape, **result, "cpu_s": budget * 0.1})
                rows[-1] |= {"patience": budget, "seed": 1}
    return rows


def _csv(folder: Path, corpus: str, row: Row, table: pd.DataFrame) -> None:
    _file(folder / "predictions" / corpus / "decode" / row.trained / f"{row}.csv", table)


def _file(path: Path, table: pd.DataFrame) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False)


def _train(folder: Path, params: Params, corpus: str, row: Row) -> None:
    epochs = range(1, params.train.epochs + 1)
    history: list[dict] = [{"epoch": e, "dev_uas": 80 + e / 10, "dev_las": 75 + e / 10} for e in epochs]
    if row.system == "graph":
        history = [record | {"dp_calls": 900, "capped": 8 * record["epoch"]} for record in history]
    metrics = {"spec": {"learner": row.learner}, "history": history, "best_epoch": params.train.epochs}
    name = f"{row.trained}.json"
    _json(folder, ["train", corpus, name], metrics)
    _json(folder, ["timing", "train", corpus, name], {"cpu_s": 61.5, "wall_s": 62.5})


def project(folder: Path, repository: Path, *, overlay: str = "", with_reference: bool = True) -> Path:
    """Fill `folder` with a project that has the repository's parameters and invented results.

    overlay: name of a file in `params/` of the repository. Its parameters change this run, but not the reference.
    """
    shutil.copytree(_project(repository, overlay, with_reference).name, folder, dirs_exist_ok=True)
    return folder


@cache
def _project(repository: Path, overlay: str, with_reference: bool) -> TemporaryDirectory[str]:
    """Create the files of `project` in a temporary folder, once per process."""
    made = TemporaryDirectory(prefix="treebound-")
    folder = Path(made.name)
    for name in ("params.yaml", "dvc.yaml"):
        (folder / name).write_bytes((repository / name).read_bytes())
    base = yaml.safe_load((repository / "params.yaml").read_text(encoding="utf-8"))
    ours = overlaid(base, yaml.safe_load(ROWS))
    over = yaml.safe_load((repository / "params" / overlay).read_text(encoding="utf-8")) if overlay else {}
    (folder / "params.yaml").write_text(yaml.safe_dump(overlaid(ours, over), sort_keys=False), encoding="utf-8")
    params = parameters.load(folder / "params.yaml")
    write(folder / "results", params)
    if with_reference:
        reference = folder / "results" / "reference"
        reference.mkdir(parents=True)
        (reference / "params.yaml").write_text(yaml.safe_dump(ours, sort_keys=False), encoding="utf-8")
        reference_params = parameters.load(reference / "params.yaml")
        write(reference, reference_params, seed=1)
        machine = {"cpu": "an invented one", "cores": 2, "system": "Linux", "python": "3.11.0", "numba": "0.68"}
        sums = {corpus: {"train": "0" * 64, "dev": "1" * 64, "test": "2" * 64} for corpus in reference_params.corpora}
        info = {"commit": "0" * 40, "date": "2020-01-01", "machine": machine, "checksums": sums}
        (folder / "results" / "reference" / "run.json").write_text(json.dumps(info), encoding="utf-8")
    analysis(folder / "results" / "reference" / "patterns", "en_ewt", "en_ud")
    return made


def _split(rng: np.random.Generator, sentences: int) -> dict:
    tokens = sentences * 17
    return {
        "sentences": sentences,
        "tokens": tokens,
        "mean_length": tokens / sentences,
        "max_length": 64,
        "crossing_arcs": int(rng.integers(0, tokens // 50)),
        "nonprojective_sentences": int(rng.integers(0, sentences // 10)),
        "multi_root_sentences": 0,
        "upos": {"NOUN": tokens},
        "xpos": {"NN": tokens},
        "deprel": {"root": sentences, "dep": tokens - sentences},
        "dropped": {},
    }


def _sentences(rng: np.random.Generator, params: Params, run: Row, lengths: np.ndarray, i: int) -> pd.DataFrame:
    published = params.decoders[run.decoder].config == "published"
    k = 40 if run.k == "none" else int(run.k)
    calls = 1 + rng.poisson(lengths * (20 if published else 1) * k / 10)
    # every parse is exact
    table = pd.DataFrame({"sentence": range(len(lengths)), "n": lengths, "value": lengths * 10.0})
    table = table.assign(bound=table["value"], status="optimal", dp_calls=calls, nodes=1 + calls // 20)
    table = table.assign(correct=np.minimum(lengths, rng.binomial(lengths, 0.85 + i % 50 / 500)), scored=lengths)
    if params.train.labels != "none":
        table["correct_labelled"] = rng.binomial(table["correct"], 0.9)
    table["words"] = _marks(table)
    # a search with a limit: it misses every fifth tree, and gold trees may score more
    if params.decoders[run.decoder].gold:
        missed = np.arange(len(table)) % 5 == 0
        table["value"] -= missed
        table["status"] = np.where(missed, "limit", "optimal")
        table["gold"] = np.where(np.arange(len(table)) % 3 == 0, -np.inf, table["bound"] - (np.arange(len(table)) % 2))
    return table.assign(seconds=calls * 1e-4).head(params.decoders[run.decoder].sentences or len(table))


def _marks(table: pd.DataFrame) -> list[str]:
    """Return the marks of each sentence: correctly labelled words, then words with a correct head, then wrong words."""
    labelled = table["correct_labelled"] if "correct_labelled" in table else 0 * table["n"]
    rows = zip(labelled, table["correct"], table["scored"], strict=True)
    return [LABELLED * good + HEAD * (right - good) + WRONG * (scored - right) for good, right, scored in rows]


def _decode(table: pd.DataFrame, params: Params) -> dict:
    labelled = {}
    if "correct_labelled" in table:
        right = table["correct_labelled"]
        labelled = {
            "las": 100 * right.sum() / table["scored"].sum(),
            "complete_labelled": 100 * float((right == table["scored"]).mean()),
        }
    return labelled | {
        "uas": 100 * table["correct"].sum() / table["scored"].sum(),
        "complete": 100 * float((table["correct"] == table["scored"]).mean()),
        "words": int(table["n"].sum()),
        "scored_words": int(table["scored"].sum()),
        "sentences": len(table),
        "certified": len(table),
        "root_solved": len(table) // 2,
        "dp_calls": int(table["dp_calls"].sum()),
        "nodes": int(table["nodes"].sum()),
        "corpus_checksum": "2" * 64,
        "params_hash": "3" * 16,
        "seed": params.seed,
    }


def _timing(table: pd.DataFrame) -> dict:
    seconds = float(table["seconds"].sum())
    bins = [(lo, lo + 9, table[table["n"].between(lo, lo + 9)]) for lo in range(1, 65, 10)]
    return {
        "words": int(table["n"].sum()),
        "sentences": len(table),
        "repeats": 3,
        "cpu_s": seconds,
        "cpu_s_range": [seconds * 0.9, seconds * 1.1],
        "wall_s": seconds,
        "words_per_cpu_s": float(table["n"].sum()) / seconds,
        "dp_calls": int(table["dp_calls"].sum()),
        "nodes": int(table["nodes"].sum()),
        "certified": len(table),
        "by_length": [
            {"lo": lo, "hi": hi, "sentences": len(part), "mean_s": float(part["seconds"].mean())}
            | {"mean_dp_calls": float(part["dp_calls"].mean())}
            for lo, hi, part in bins
            if len(part)
        ],
    }


def _ablation(name: str, calls: np.ndarray, i: int) -> dict:
    proved = calls[calls < 10 * (i + 1)]
    return {
        "configuration": name,
        "sentences": SENTENCES,
        "words": 15 * SENTENCES,
        "certified": len(proved),
        "root_solved": len(proved) // 2,
        "different": 0,
        "best_found": SENTENCES,
        "dp_calls": int(calls.sum()),
        "max_dp_calls": int(calls.max()),
        "nodes": int(calls.sum()) // 4,
        "cpu_s": 1e-4 * float(calls.sum()),
        # JSON sorts the keys as strings
        "proved_within": {c: int((proved <= int(c)).sum()) for c in sorted(str(2**e) for e in range(11))},
    }


def arena_rows(models: tuple[str, ...]) -> list[dict]:
    """Return rows as the stage `arena` writes them.

    Every program is at least 100 times slower than branch and bound.
    """
    from studies.common.solvers import LENGTHS
    from studies.riedel_clarke_2006.integer_programs.measure import SOLVERS, SPACES

    return [
        {"model": model, "space": space, "solver": name, "longer_than": low, "sentences": 4, "words": 4 * (low + 5)}
        | {"proved": 2 if solver.relaxed else 4, "best": 3 if solver.relaxed else 4, "found": 4, "bounded": 4}
        | {"seconds": 0.001 * (low + 1) * (100 * i or 1), "gap": 0.2 * solver.relaxed, "loss": 0.1 * solver.relaxed}
        | {"slowest": 0.1 * (i + 1), "solves": 4 * (i > 0)}
        for model in models
        for space in SPACES
        for i, (name, solver) in enumerate(SOLVERS.items())
        for low in (0, *LENGTHS)
    ]


def approximation_rows(models: tuple[str, ...]) -> dict[str, list[dict]]:
    """Return rows as the stage `approximations` writes them.

    Decoders get faster in the order of their list. The first two find all best trees, the others half of them.
    """
    from studies.across.approximations.contestants import CONTESTANTS, EXACT
    from studies.across.approximations.measure import WITHIN
    from studies.across.approximations.synthetic import SYNTHETIC
    from studies.common.solvers import LENGTHS
    from studies.riedel_clarke_2006.integer_programs.measure import SPACES

    rows, within = [], []
    for model in (*models, *SYNTHETIC):
        for space in SPACES:
            for i, name in enumerate(CONTESTANTS):
                best = 4 if i < 2 else 2
                gold = {"scored": 40, "correct": 38 if i < 2 else 30, "correct_labelled": 36 if i < 2 else 28}
                about = {"model": model, "space": space, "solver": name}
                rows += [
                    {**about, "longer_than": low, "sentences": 4, "words": 4 * (low + 5), "known": 4, "best": best}
                    | {"proved": 4 * (name == EXACT), "found": 4, "bounded": 4, "wrong": 0, "search_errors": 0}
                    | {"seconds": 0.01 * (low + 1) / (i + 1), "gap": 0.0, "loss": 0.5 * (4 - best), "slowest": 0.1}
                    | ({"wrong": 3, "search_errors": 4 - best, **gold} if model in models else dict.fromkeys(gold))
                    for low in (0, *LENGTHS)
                ]
                curve = [min(best, j) for j in range(len(WITHIN))]
                within.append({**about, "sentences": 4, "best": curve, "proved": curve if name == EXACT else [0] * 21})
    return {"rows": rows, "within": within}


def constraint_metrics(folder: Path, corpus: str, folds: tuple[int, ...], looped: tuple[int, ...] = (0,)) -> None:
    """Write the metrics that the stages of the cross-validation would write for a corpus.

    looped: the folds on which models are also trained with the solver in the loop.
    """
    rows = []
    names = ("baseline", "constraints", "constraints, published loop", "constraints, q = 2", "constraints, q = 10")
    for i in range(20):
        for s, name in enumerate(names):
            row = {"system": name, "sentence": i, "n": 3 * i + 2, "heads": 3 * i + (s > 0), "labelled": 3 * i}
            row |= {
                "gained": int(s > 0 and i % 2),
                "lost": 0,
                "gained_heads": int(s > 0),
                "lost_heads": 0,
                "changed": 1,
            }
            row |= {"seconds": 0.01 * (s + 1), "first": 0.005 * s, "iterations": s, "rows": s, "features": 0.04}
            rows.append(row | {"status": "infeasible" if name.endswith("q = 2") and i == 3 else "optimal"})
    from studies.riedel_clarke_2006.constraints import analysis as constraint_analysis
    from studies.riedel_clarke_2006.constraints import measure as cross_validation

    data = pd.DataFrame(rows)
    sums = cross_validation.summaries(data)
    for fold in folds:
        trained = [data.assign(training=training) for training in ("baseline", "constraints")[: 1 + (fold in looped)]]
        _file(folder / "predictions" / corpus / f"constraints.{fold}.csv", pd.concat(trained))
        metrics = {"train_cpu_s": 50.0, "systems": sums, "reading_cpu_s": 0.2}
        if fold in looped:  # training in the loop corrects as many labelled words as the number of the fold
            better = sums["constraints"] | {"labelled": sums["constraints"]["labelled"] + fold}
            metrics |= {"loop_train_cpu_s": 700.0, "in the loop": sums | {"constraints": better}}
        _json(folder, ["constraints", corpus, f"{fold}.json"], metrics)
    families = ("unique-labels", "selective-projectivity")
    worth = {f"{kind} {f}": sums["constraints"] for f in families for kind in ("only", "without")}
    analysis_metrics = {"fold": 0, "sentences": 20, "systems": sums | worth}
    analysis_metrics["broken"] = [{"family": f, "gold": i, "baseline": 5, "both": i} for i, f in enumerate(families)]
    assert set(families) <= set(constraint_analysis.families("nl_alpino"))
    _json(folder, ["constraint-analysis", f"{corpus}.json"], analysis_metrics)
    rng = np.random.default_rng(0)
    splits = {name: _split(rng, size) for name, size in (("train", 400), ("dev", 50), ("test", SENTENCES))}
    _json(folder, ["convert", f"{corpus}.json"], {"corpus": corpus, "meta": META, "splits": splits})


def _classifiers(folder: Path, params: Params, corpus: str) -> None:
    """Write the metrics of the stage `classifiers` for a corpus.

    Richer features are more accurate. Learners at the start of the list are more accurate and slower to train.
    """
    from studies.hall_2006.classifiers import measure as classifiers

    rows, seconds, names = [], [], list(params.section(Classifiers).learners)
    for cell in classifiers.cells(params, corpus):
        i, j = names.index(cell.learner), params.section(Classifiers).features.index(cell.features)
        figures = {"uas": 80.0 + j - i, "las": 75.0 + j - i, "complete": 20.0, "complete_labelled": 10.0}
        rows.append(cell._asdict() | figures | {"words": 900, "sentences": 60, "trained_words": 90 * cell.share})
        mean = 60.0 / (i + 1)
        seconds.append(
            cell._asdict() | {"train_cpu_s": mean, "trainings": [0.9 * mean, 1.1 * mean], "parse_cpu_s": 2.0}
        )
    named = list(dict.fromkeys(map(classifiers.name_of, rows)))
    pairs = [(a, b) for i, a in enumerate(named) for b in named[i + 1 :] if set(a.split()) & set(b.split())]
    interval = {"difference": 100 * 50 / 900, "low": 3.0, "high": 8.0}
    tests = [{"a": a, "b": b, "scored": 900, "only_a": 90, "only_b": 40, "p": 0.001, **interval} for a, b in pairs]
    points = [{"learner": "memory", "round": 1, "share": 100, "neighbours": k, "uas": 80.0, "las": k} for k in (5, 3)]
    search = {"features": "F5", "train": {"sentences": 90, "words": 900}, "dev": {"sentences": 20, "words": 200}}
    chosen = {"chosen": {"memory": {"neighbours": 5}}, "search": search | {"points": points}}
    _json(folder, ["classifiers", f"{corpus}.json"], {"rows": rows, "tests": tests, **chosen})
    _json(folder, ["timing", "classifiers", f"{corpus}.json"], seconds)


def _ccg(folder: Path, params: Params, name: str, i: int) -> None:
    """Write the metrics of the stages of a CCG parser.

    Charts of wider beams contain better derivations, but the parser returns worse derivations.
    """

    def scores(f: float) -> dict[str, float]:
        return dict.fromkeys(("LF", "LP", "LR"), f) | dict.fromkeys(("UF", "UP", "UR", "ST"), f / 2 + 50)

    def order(f: float, edges: int) -> dict:
        levels = {"levels": [50, 5, 2, 1, 1], "sentences": SENTENCES, "coverage": 98.0, "exact": 30.0}
        return scores(f) | levels | {"categories": edges / 5000, "edges": edges, "refused": 0}

    orders = {"AST": order(80.0 + i, 7000), "reverse": order(78.0 + i, 180_000)}
    oracle = {"AST best": 90.0, "AST worst": 40.0, "reverse best": 97.0, "reverse worst": 10.0, "gold categories": 98.0}
    beams = [
        {
            "beam": beam,
            "common": 50,
            "covered": 90.0,
            "score": 5000.0 + 100 * j,
            "oracle": 88.0 + j,
            "categories": 1.5 + j,
        }
        | scores(80.0 - j)
        for j, beam in enumerate(params.section(CCG).beams)
    ]
    pairs = [("reverse", "AST", -2.0), ("reverse best", "AST best", 7.0), ("reverse worst", "AST worst", -30.0)]
    pairs += [("widest", "narrowest", -4.0), ("widest best", "narrowest best", 4.0)]
    gains = [{"a": a, "b": b, "value": v, "low": v - 1, "high": v + 1, "sentences": 50} for a, b, v in pairs]
    tables = {"orders": dict.fromkeys(("dev", "test"), orders), "beams": beams, "differences": gains}
    _json(folder, ["ccg", f"{name}.json"], tables | {"oracle": {which: scores(f) for which, f in oracle.items()}})
    speed = {"AST": 220.0, "reverse": 12.0}
    seconds = {order: [SENTENCES / rate / 6 * part for part in PARTS] for order, rate in speed.items()}
    seconds["reverse"].reverse()
    timing = {"dev": speed, "test": speed, "seconds": {"dev": seconds, "test": seconds}}
    _json(folder, ["timing", "ccg", f"{name}.json"], timing)
    parser = params.section(CCG).parsers[name]
    split = {"sentences": SENTENCES, "words": 900, "categories": 60}
    about = {
        "corpus": parser.corpus,
        "more": parser.more,
        "tags": parser.tags,
        "train": split,
        "dev": split,
        "test": split,
    }
    about |= {"accuracy": {"train": 95.0, "dev": 95.0, "test": 95.0}} if parser.tags == "predicted" else {}
    _json(folder, ["ccg-treebank", f"{name}.json"], about)
    _json(folder, ["ccg-train", f"{name}.json"], {"left_out": {"a chart over the limit": 3}, "history": []})
    _json(folder, ["timing", "ccg-train", f"{name}.json"], {"cpu_s": 100.0, "wall_s": 101.0})


def _validity(folder: Path, params: Params, corpus: str) -> None:
    """Write the metrics of the stage `validity` for a corpus.

    Valid parsing removes all errors and hardly changes the accuracy. Only the first peer is installed.
    """
    none: dict = {"rules": {}, "errors": 0, "sentences": 0}
    some = {"rules": {"leaf-punct": 3, "too-many-subjects": 4}, "errors": 7, "sentences": 6}
    own = {"before": some, "after": none, "uas": [85.0, 85.1], "las": [80.0, 79.9], "proved": 59, "proved_plain": 59}
    own |= {"uas_gain": [0.1, -0.1, 0.3, 0.3], "las_gain": [-0.1, -0.3, 0.1, 0.4], "searched": 6, "regions": 90}
    own |= {"every": 1, "changed": 6, "named": []}
    peers = [{"rules": {"leaf-punct": 9}, "errors": 9, "sentences": 9, "uas": 84.0, "las": 79.0}, {"missing": True}]
    names = list(params.section(ValidTrees).peers)[:2]
    metrics = {"sentences": SENTENCES, "words": 1000, "training_sentences": 300, "treebank": none}
    metrics |= {"gold": own, "predicted": own | {"named": [3]}, "peers": dict(zip(names, peers, strict=False))}
    metrics["coverage"] = {"tags": [], "labels": [], "rules": []}
    _json(folder, ["validity", f"{corpus}.json"], metrics)
    seconds = {tags: {"plain": [1.0, 2.0, 3.0], "valid": [2.0, 2.5, 4.0]} for tags in ("gold", "predicted")}
    _json(folder, ["timing", "validity", f"{corpus}.json"], seconds)


def _joint(folder: Path, params: Params, name: str) -> None:
    """Write the metrics of the joint model of a CCG parser.

    The proved optimum is the most accurate derivation, and wide charts improve it.
    """
    most = params.section(CCGIntegration).most

    def study(gain: int) -> list[Studied]:
        def outcome(value: float, right: int) -> Outcome:
            return Outcome(value, (80 + gain + right, 100, 100, 90 + right, 100, 100, 45 + right, 50, right > 4))

        outcomes = []
        for i in range(50):
            best = outcome(100.0 + gain, 5)
            bp, dd = ([(1, outcome(90.0 + k, k)), (min(most, 3), best)] for k in (4, 2))
            courses = {"parser": Course([(1, outcome(80.0, 1))], 0), "bp": Course(bp, most * (i % 2))}
            courses |= {"dd": Course(dd, min(most, 3)), "dd-published": Course(dd, min(most, 5 if i else 0))}
            courses |= {"exact": Course([(1, best)], 0)}
            # the other output rule changes only the parser without integration
            risk = {"parser": Course([(1, outcome(79.0, 3))], 0)}
            decoders = {decoder: Outputs(course, risk.get(decoder, course)) for decoder, course in courses.items()}
            parts = {"decoders": decoders, "proved": i > 0, "nodes": 1 + i % 3, "cpu_s": 0.01}
            outcomes.append(Studied(sentence=i, words=1 + i, edges=1000 * i, **parts))
        return outcomes

    every = {split: {"AST": study(0), "reverse": study(2)} for split in ("dev", "test")}
    single = {beam: study(j) for j, beam in enumerate(params.section(CCG).beams)}
    outcomes, seconds = tables(every, single, {"dev": SENTENCES, "test": SENTENCES}, params.section(CCGIntegration))
    usual = [row for row in outcomes["columns"] if row["split"] == "dev" and column_of(row).usual]
    columns = [(row["order"], row["decoder"], row["iterations"]) for row in usual]
    rates = [
        {"order": order, "decoder": decoder, "iterations": k, "per_second": 100.0 / (1 + i)}
        | {"seconds": [SENTENCES / 600 * (1 + i) * part for part in PARTS]}
        for i, (order, decoder, k) in enumerate(columns)
    ]
    parser = params.section(CCG).parsers[name]
    about = {"corpus": parser.corpus, "more": parser.more, "tags": parser.tags}
    _json(folder, ["ccg-integration", f"{name}.json"], about | outcomes)
    _json(folder, ["timing", "ccg-integration", f"{name}.json"], {"columns": rates, "lengths": seconds})


def _step(rng: np.random.Generator, lengths: np.ndarray, i: int, step: Step) -> dict:
    """Return the metrics of training run i of the stage `steps`. Every fifth step does not apply to its corpus."""
    if i % 5 == 4:
        return {"applies": False}
    right = ["".join(rng.choice([LABELLED, HEAD, WRONG], p=(0.8, 0.1, 0.1), size=n)) for n in lengths]
    words = "".join(right)
    uas, las = 100 - 100 * words.count(WRONG) / len(words), 100 * words.count(LABELLED) / len(words)
    history = [{"epoch": e, "dev_uas": 80 + e, "dev_las": 70 + e, "dp_calls": 900, "capped": i} for e in range(1, 4)]
    figures = {"uas": uas, "las": las, "uas_all": uas, "las_all": las, "best_epoch": 3, "history": history}
    counts = {"training_sentences": 400, "sentences": len(lengths), "certified": len(lengths)}
    spec = {"threshold": step.threshold or 0.0, "pruner_folds": step.pruner_folds or 0}
    pruned = {"spec": spec, "recall": 0.98, "heads_a_word": 4.0 if step.threshold else 10.0}
    return {"applies": True, "right": right, **figures, **counts, **pruned}


def in_the_loop(rng: np.random.Generator, lengths: np.ndarray) -> dict[str, dict]:
    """Return metrics as the stage `in_the_loop` writes them, by trainer.

    An approximate decoder is worse than the exact one, unless the model was trained with this approximate decoder.
    """
    from studies.across.in_the_loop.measure import TRAINERS

    def score(right: float) -> dict:
        marks = ["".join(rng.choice([HEAD, WRONG], p=(right, 1 - right), size=n)) for n in lengths]
        words = "".join(marks)
        counts = {"sentences": len(lengths), "best": int(right * len(lengths)), "search_errors": int(10 * (1 - right))}
        return {"uas": 100 * words.count(HEAD) / len(words), "right": marks} | counts

    every = {trainer: score(0.9 if trainer == "exact" else 0.6) for trainer in TRAINERS}
    return {
        trainer: {
            "parsed": every if trainer == "exact" else {"exact": score(0.7), trainer: score(0.9)},
            "training_sentences": 1200,
        }
        for trainer in TRAINERS
    }


def _json(folder: Path, parts: list[str], data: object) -> None:
    path = folder.joinpath("metrics", *parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")


def analysis(folder: Path, corpus: str, patterns: str) -> None:
    """Write the tables of an error analysis into `folder`, with a row for every pattern of a shipped file."""
    folder.mkdir(parents=True)
    names = [pattern.name for pattern in pattern_language.load(patterns).patterns]
    counts = {"matches": 20, "consistency": 0.95, "mistaken": 3, "words": 4, "misled": 1}
    pd.DataFrame({"pattern": names, **counts}).to_csv(folder / f"{corpus}.patterns.csv", index=False)
    frame = {
        "match": "a b",
        "arcs": "a -> b",
        "occurrences": 20,
        "consistency": 0.95,
        "mistaken": 3,
        "words": 4,
        "new": 4,
    }
    table = pd.DataFrame([frame | {"rank": rank, "new": 4, "instead": "outside -> b (3)"} for rank in range(1, 31)])
    table.to_csv(folder / f"{corpus}.candidates.csv", index=False)


def change_rows(folder: Path, corpus: str, row: str, **figures: object) -> None:
    """Overwrite figures in the metrics of the stage `decode`. `corpus` and `row` are patterns of `fnmatch`."""
    for path in sorted((folder / "metrics" / "decode").glob(f"{corpus}/*.json")):
        rows = json.loads(path.read_text())
        changed = {name: metrics | figures if fnmatch(name, row) else metrics for name, metrics in rows.items()}
        path.write_text(json.dumps(changed))
