"""Metrics files into DataFrames, row by row of the lists in params.yaml.

Never by looking what lies in a folder: files of a removed decoder stay behind and must not come back as a row. A file
that the lists ask for and that is not there is an error.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from studies.common import metrics
from studies.common import params as parameters
from studies.common.metrics import RERUN
from studies.common.params import SYSTEMS, Params, Row
from studies.site.show import NOTHING
from treebound.core.errors import InputError

REFERENCE, THIS_RUN = "reference", "this run"
#: where a run that is to become the reference says what it is, before its notebooks are executed
ORIGIN = Path("results", "reference", "origin.json")
#: systems whose rows have tables of their own
OWN_TABLES = ("graph", "transition", "sampling")


@dataclass(frozen=True)
class Results:
    """The results of one run of the pipeline.

    name    provenance, the column head of tables: REFERENCE or THIS_RUN
    folder  holds `metrics/` and, for this run, `predictions/`
    params  the parameters of that run
    info    of a reference: commit, date, machine, checksums
    """

    name: str
    folder: Path
    params: Params
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What to call it in a sentence."""
        return self.name if self.name == THIS_RUN else f"the {self.name} run"

    @property
    def keeps_sentences(self) -> bool:
        """Whether what the stages wrote sentence by sentence should be there: a reference is committed without it."""
        return not self.info or (self.folder / "predictions").is_dir()

    @property
    def corpora(self) -> list[str]:
        """Corpora of the run, in the order of its parameters."""
        return list(self.params.corpora)

    def convert(self) -> pd.DataFrame:
        """One row a corpus and split: what the conversion counted; of tags, labels and dropped sentences their number.

        `attrs["sources"]`: corpus -> title, language and licence; `attrs["seen"]`: corpus -> columns of the treebank
        besides forms and tags that the parsers see.
        """
        rows, sources, seen = [], {}, {}
        for corpus in self.corpora:
            converted = self._read("convert", f"{corpus}.json")
            sources[corpus] = {key: converted["meta"][key] for key in ("title", "language", "licence")}
            attributes = converted["meta"].get("attributes", ())
            seen[corpus] = [column for column in ("lemma", "feats") if column in attributes]
            for split in ("train", "dev", "test"):
                counted = converted["splits"][split]
                dropped = sum(counted["dropped"].values())
                kinds = {name: len(counted[name]) for name in ("upos", "xpos", "deprel")}
                rows.append({"corpus": corpus, "split": split, **counted, **kinds, "dropped": dropped})
        data = _frame(rows, self.folder / "metrics" / "convert")
        data.attrs.update(sources=sources, seen=seen)
        return data

    def tagging(self) -> pd.DataFrame:
        """One row a corpus with predicted tags, column of tags and split: words, accuracy (%), the same of the words

        whose form training lacks (NaN for train, which is jackknifed). No rows where all tags are gold.
        """
        rows = []
        for corpus in self.corpora:
            if self.params.tags_of(corpus) == "predicted":
                accuracy = self._read("tagger", f"{corpus}.json")["accuracy"]
                timing = self._read("timing", "tagger", f"{corpus}.json")
                for column, by_split in accuracy.items():
                    for split in ("train", "dev", "test"):
                        row = {"corpus": corpus, "column": column, "split": split, **by_split[split]}
                        rows.append(row | timing.get(column, {}))
        keys = ["words", "accuracy", "unknown_words", "unknown_accuracy", "train_cpu_s", "jackknife_wall_s", "workers"]
        return pd.DataFrame(rows, columns=["corpus", "column", "split", *keys, "words_per_cpu_s"])

    def pruner(self) -> pd.DataFrame:
        """corpus, split, k, recall: share of words whose true head is among the k that the pruner keeps."""
        rows = [
            {"corpus": corpus, "split": split, "k": int(k), "recall": recall}
            for corpus in self.corpora
            for split, by_k in self._read("pruner", f"{corpus}.json")["recall"].items()
            for k, recall in by_k.items()
        ]
        return _frame(rows, self.folder / "metrics" / "pruner")

    def pruner_thresholds(self) -> pd.DataFrame:
        """corpus, split, threshold, recall, heads_a_word: what the k best heads of training are left. May be empty."""
        rows = [
            {"corpus": corpus, "split": split, **left}
            for corpus in self.corpora
            for split, found in self._read("pruner", f"{corpus}.json").get("thresholds", {}).items()
            for left in found
        ]
        return pd.DataFrame(rows, columns=["corpus", "split", "threshold", "recall", "heads_a_word"])

    def times(self) -> pd.DataFrame:
        """stage, wall_s, cpu_s: what `pipeline.run` noted, the last time that each stage ran. May be empty."""
        path = self.folder / "stages.csv"
        names = ["stage", "wall_s", "cpu_s"]
        data = pd.read_csv(path, names=names) if path.is_file() else pd.DataFrame(columns=names)
        return data.drop_duplicates("stage", keep="last").reset_index(drop=True)

    def decode(self) -> pd.DataFrame:
        """One row a corpus and row of the parameters that all corpora have: accuracy, certificates and work on test.

        las and complete_labelled are NaN where there are no labels.
        """
        return _frame(self._decoded(lambda row: row.everywhere), self.folder / "metrics" / "decode")

    def variants(self) -> pd.DataFrame:
        """The same of rows that some corpora have alone, or that have tags or a seed of their own. May have no rows."""
        rows = self._decoded(lambda row: row.system == "graph" and not row.everywhere)
        names = ["corpus", "row", "model", "learner", "decoder", "k", "tags", "seed", "uas", "complete"]
        return pd.DataFrame(rows, columns=None if rows else names)

    def peers(self) -> pd.DataFrame:
        """One row a parser of others and its corpus: accuracy, package, seconds of training, speed. May be empty.

        Any system without a table of its own is among them.
        """
        others = set(SYSTEMS) - set(OWN_TABLES)
        about = dict.fromkeys(("package", "version", "notes"), "")
        rows = [about | measured | {"peer": measured["row"]} for measured in self._of_systems(*others)]
        names = ["corpus", "peer", "uas", "las", "complete", "package", "version", "tags", "notes"]
        return pd.DataFrame(rows, columns=[*names, "train_cpu_s", "words_per_cpu_s"])

    def transitions(self) -> pd.DataFrame:
        """One row a transition-based parser and its corpus: accuracy, seconds of training, speed. May be empty.

        `missing` names the package that was not installed, where that is so; then all figures are NaN.
        """
        names = ["uas", "las", "complete", "complete_labelled", "train_cpu_s", "words_per_cpu_s"]
        rows = self._of_systems("transition")
        for found in rows:
            if found.setdefault("missing", ""):
                found |= dict.fromkeys(names, float("nan"))
        return pd.DataFrame(rows, columns=["corpus", "row", "model", "tags", "seed", "missing", *names])

    def samplers(self) -> pd.DataFrame:
        """One row a parser that samples and its corpus: accuracy, seconds of training, speed. May be empty.

        search_errors: sentences whose right tree scores more than the one that was found.
        """
        names = ["uas", "complete", "search_errors", "sentences", "train_cpu_s", "words_per_cpu_s"]
        return pd.DataFrame(self._of_systems("sampling"), columns=["corpus", "row", "model", "tags", "seed", *names])

    def score_time(self, model: str = "") -> pd.DataFrame:
        """One row a corpus, space, method, budget and seed, of a model, by default of the first one that the stage
        names; no rows in runs from before there was such a stage.
        """
        first = self.params.score_time.model if self.params.score_time else ""
        rows = [
            {"corpus": corpus, **row}
            for corpus in (self.corpora if first else [])
            for name in (self.params.score_time.models if self.params.score_time else ())
            if name == (model or first) and metrics.has(self.folder, "score-time", corpus, f"{name}.json")
            for row in self._read("score-time", corpus, f"{name}.json")
        ]
        names = ["corpus", "space", "method", "patience", "seed", "sentences", "proved", "long", "words"]
        return pd.DataFrame(rows, columns=[*names, "optima", "long_optima", "score", "runs", "cpu_s"])

    def _of_systems(self, *systems: str) -> list[dict[str, Any]]:
        """Metrics of `decode` of the rows of some systems, with the seconds of training and the speed."""
        rows = self._decoded(lambda row: row.system in systems)
        for measured in rows:
            corpus, row = measured["corpus"], self.params.rows[measured["row"]]
            timing = self._read("timing", "train", corpus, f"{row.trained}.json")
            speed = self._timed(corpus, row)["words_per_cpu_s"] if row.benchmarked else float("nan")
            measured |= {"train_cpu_s": timing["cpu_s"], "words_per_cpu_s": speed}
        return rows

    def _decoded(self, wanted: Callable[[Row], bool]) -> list[dict[str, Any]]:
        """What `decode` wrote of the rows that are wanted: corpus by corpus, and then row by row of those of some."""
        labelled = {"las": float("nan"), "complete_labelled": float("nan")}
        rows = list(self.params.rows.values())
        places = [(corpus, row) for corpus in self.corpora for row in self.params.rows_of(corpus) if wanted(row)]
        return [
            {"corpus": corpus, **row.key, **labelled, **self._parsed(corpus, row)}
            for corpus, row in sorted(places, key=lambda place: rows.index(place[1]) if place[1].corpora else -1)
        ]

    def _parsed(self, corpus: str, row: Row) -> dict[str, Any]:
        """Metrics of `decode` of a row."""
        rows = self._read("decode", corpus, f"{row.trained}.json")
        if row.name not in rows:
            path = self.folder.joinpath("metrics", "decode", corpus, f"{row.trained}.json")
            raise InputError(f"no row {row}", path=path, hint=RERUN)
        return rows[row.name]

    def _timed(self, corpus: str, row: Row) -> dict[str, Any]:
        """Metrics of `benchmark` of a row."""
        measured = {timed["row"]: timed for timed in self._read("benchmark", f"{corpus}.json")}
        if row.name not in measured:
            path = self.folder.joinpath("metrics", "benchmark", f"{corpus}.json")
            raise InputError(f"no row for {row}", path=path, hint=RERUN)
        return {"corpus": corpus, **measured[row.name]}

    def train(self) -> pd.DataFrame:
        """One row a corpus and trained model: the best epoch, its dev UAS and LAS (NaN: none), seconds of training."""
        trained = {row.trained: row for row in self.params.rows.values() if row.everywhere}
        rows = []
        for corpus in self.corpora:
            for name, row in trained.items():
                history = self._read("train", corpus, f"{name}.json")
                best = next(e for e in history["history"] if e["epoch"] == history["best_epoch"])
                seconds = self._read("timing", "train", corpus, f"{name}.json")
                rows.append(
                    {"corpus": corpus, "model": row.model, "learner": row.learner, "epochs": len(history["history"])}
                    | {"best_epoch": best["epoch"], "dev_uas": best["dev_uas"]}
                    | {"dev_las": best.get("dev_las", float("nan"))}
                    | {"cpu_s": seconds["cpu_s"], "wall_s": seconds["wall_s"]}
                )
        return _frame(rows, self.folder / "metrics" / "train")

    def benchmark(self) -> pd.DataFrame:
        """One row a corpus and row of the parameters: seconds, speed and work, medians over repeats."""
        timed = [row for row in self.params.rows.values() if row.everywhere and row.benchmarked]
        rows = [self._timed(corpus, row) for corpus in self.corpora for row in timed]
        return _frame(rows, self.folder / "metrics" / "benchmark")

    def ablation(self) -> pd.DataFrame:
        """One row a corpus and configuration of the search: its work; `changed` says its options in words."""
        settings = self.params.ablation
        path = self.folder / "metrics" / "ablation"
        rows = []
        for corpus in self.corpora if settings else ():
            measured = {row["configuration"]: row for row in self._read("ablation", f"{corpus}.json")}
            for name, options in settings.configurations.items() if settings else ():
                if name not in measured:
                    raise InputError(f"no row for {name}", path=path / f"{corpus}.json", hint=RERUN)
                changed = ", ".join(f"{key} = {value}" for key, value in options.items()) or NOTHING
                rows.append({"corpus": corpus, "changed": changed, **measured[name]})
        return _frame(rows, path)

    def by_length(self) -> pd.DataFrame:
        """The benchmark's rows by sentence length: corpus, row, its fields, lo, hi, sentences, means."""
        keys = ["corpus", "row", "model", "learner", "decoder", "k"]
        rows = [
            {**{key: row[key] for key in keys}, **part}
            for row in self.benchmark().to_dict("records")
            for part in row["by_length"]
        ]
        return _frame(rows, self.folder / "metrics" / "benchmark")

    def sentences(self, corpus: str, row: Row) -> pd.DataFrame:
        """One line a test sentence of a row: n, value, bound, status, dp_calls, nodes, correct, scored, `words`
        (`attachment.marks`), correct_labelled where there are labels, gold where the decoder's settings ask for it.

        A reference does not keep them.
        """
        data = self._predicted(corpus, "decode", row.trained, f"{row}.csv", dtype={"words": str}, keep_default_na=False)
        return data.set_index("sentence")

    def confidence(self) -> pd.DataFrame:
        """One row a corpus: the scale of the probabilities, accuracy, what is proved, `best_of_list` (k -> UAS)."""
        rows = [{"corpus": corpus, **self._read("confidence", f"{corpus}.json")} for corpus in self.corpora]
        return _frame(rows, self.folder / "metrics" / "confidence")

    def words(self, corpus: str) -> pd.DataFrame:
        """One row a word of the stage `confidence`: sentence, word, scored, gold, head, margin, marginal, correct.

        Words that count alone, punctuation left out. A reference does not keep them.
        """
        data = self._predicted(corpus, "confidence.csv")
        data = data[data["scored"] == 1].reset_index(drop=True)
        return data.assign(correct=data["head"] == data["gold"])

    def cross_validation(self) -> list[dict[str, Any]]:
        """One entry a corpus and fold: corpus, fold, and what the stage wrote. None where no corpus is listed."""
        settings = self.params.cross_validation
        return [
            {"corpus": corpus, "fold": fold, **self._read("cross-validation", corpus, f"{fold}.json")}
            for corpus in settings.corpora
            for fold in settings.folds
        ]

    def constraint_analysis(self) -> list[dict[str, Any]]:
        """One entry a cross-validated corpus: what each family of constraints is worth on one fold."""
        corpora = self.params.cross_validation.corpora
        return [{"corpus": corpus, **self._read("constraint-analysis", f"{corpus}.json")} for corpus in corpora]

    def classifiers(self) -> pd.DataFrame:
        """One row a corpus and cell of the stage `classifiers`: section, features, learner, share, accuracy, seconds.

        `missing` names a package that was not installed. No rows where no corpus is listed.
        """
        rows = []
        for corpus in self.params.classifiers.corpora:
            seconds = self._read("timing", "classifiers", f"{corpus}.json")
            cells = self._read("classifiers", f"{corpus}.json")["rows"]
            rows += [{"corpus": corpus, "missing": "", **a, **b} for a, b in zip(cells, seconds, strict=True)]
        names = ["corpus", "section", "features", "learner", "share", "missing", "uas", "las", "complete"]
        more = ["complete_labelled", "words", "sentences", "trained_words", "train_cpu_s", "parse_cpu_s"]
        return pd.DataFrame(rows, columns=[*names, *more])

    def classifier_tests(self) -> pd.DataFrame:
        """One row a corpus and two cells of `classifiers` that were compared: a, b, scored, only_a, only_b, p."""
        rows = [
            {"corpus": corpus, **test}
            for corpus in self.params.classifiers.corpora
            for test in self._read("classifiers", f"{corpus}.json")["tests"]
        ]
        return pd.DataFrame(rows, columns=["corpus", "a", "b", "scored", "only_a", "only_b", "p"])

    def tag_correction(self) -> pd.DataFrame:
        """One row a corpus: what the stage wrote, `uas_gain` in difference, low, high and p. May be empty."""
        rows = []
        for corpus in self.params.tag_correction.corpora:
            found = self._read("tag-correction", f"{corpus}.json")
            gain = dict(zip(("difference", "low", "high", "p_uas"), found.pop("uas_gain"), strict=True))
            rows.append({"corpus": corpus, **found, **gain})
        tags = ["tags_predicted", "tags_corrected", "mended", "spoilt", "p_tags"]
        trees = ["uas_predicted", "uas_corrected", "uas_right", "difference", "low", "high", "p_uas"]
        return pd.DataFrame(rows, columns=["corpus", "sentences", "words", *tags, *trees])

    def derivations(self) -> dict[str, dict[str, Any]]:
        """Corpus -> what its translation to CCG counted. None where no corpus is listed."""
        return {corpus: self._read("derivations", f"{corpus}.json") for corpus in self.params.ccg.derivations}

    def _ccg_parsers(self) -> list[str]:
        """Those of all sentences first: pages answer by the first one."""
        parsers = self.params.ccg.parsers
        return sorted(parsers, key=lambda name: -(parsers[name].sentences or math.inf))

    def ccg(self) -> dict[str, dict[str, Any]]:
        """CCG parser -> what the stage `ccg` wrote, with `speed`, `treebank`, `training` and its `seconds`."""
        return {
            name: self._read("ccg", f"{name}.json")
            | {"speed": self._read("timing", "ccg", f"{name}.json")}
            | {"treebank": self._read("ccg-treebank", f"{name}.json")}
            | {"training": self._read("ccg-train", f"{name}.json")}
            | {"seconds": self._read("timing", "ccg-train", f"{name}.json")}
            for name in self._ccg_parsers()
        }

    def ccg_integration(self) -> dict[str, dict[str, Any]]:
        """CCG parser -> what the stage `ccg-integration` wrote, with its `timing`; none in runs from before it."""
        if not metrics.has(self.folder, "ccg-integration"):
            return {}
        return {
            name: self._read("ccg-integration", f"{name}.json")
            | {"timing": self._read("timing", "ccg-integration", f"{name}.json")}
            for name in self._ccg_parsers()
        }

    def folded(self) -> list[dict[str, Any]]:
        """The conversion table of every cross-validated corpus."""
        return [self._read("convert", f"{corpus}.json") for corpus in self.params.cross_validation.corpora]

    def arena(self) -> pd.DataFrame:
        """One row a corpus, model, space, solver and bin of lengths; no rows in runs from before there was an arena."""
        models = self.params.arena.models if self.params.arena else ()
        rows = [
            {"corpus": corpus, **row}
            for corpus in self.corpora
            for model in models
            for row in self._read("arena", corpus, f"{model}.json")
        ]
        return pd.DataFrame(rows, columns=None if rows else ["corpus", "model", "space", "solver", "longer_than"])

    def approximations(self) -> pd.DataFrame:
        """One row a corpus, model, space, decoder and bin of lengths; no rows in runs from before there were any."""
        rows = [{"corpus": corpus, **row} for corpus, found in self._approximations() for row in found["rows"]]
        return pd.DataFrame(rows, columns=None if rows else ["corpus", "model", "space", "solver", "longer_than"])

    def approximations_within(self) -> list[dict[str, Any]]:
        """One entry a corpus, model, space and decoder: what it had within how many CPU ms."""
        return [{"corpus": corpus, **row} for corpus, found in self._approximations() for row in found["within"]]

    def _approximations(self) -> list[tuple[str, dict[str, Any]]]:
        models = self.params.approximations.models if self.params.approximations else ()
        places = [(corpus, model) for corpus in self.corpora for model in models]
        return [(corpus, self._read("approximations", corpus, f"{model}.json")) for corpus, model in places]

    def steps(self) -> list[dict[str, Any]]:
        """One entry a corpus and run of `steps`: corpus, name, changed (in words), and what the stage wrote.

        None where no corpus is listed. `applies` is False where the corpus lacks what the run takes away.
        """
        settings = self.params.steps
        return [
            {"corpus": corpus, "name": name, "changed": str(step) or NOTHING}
            | self._read("steps", corpus, f"{name}.json")
            for corpus in (settings.corpora if settings else ())
            for name, step in (settings.runs.items() if settings else ())
        ]

    def in_the_loop(self, trainers: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Corpus -> trainer -> what the stage `in_the_loop` wrote. Empty in runs from before there was one."""
        return {
            corpus: {trainer: self._read("in-the-loop", corpus, f"{trainer}.json") for trainer in trainers}
            for corpus in (self.params.steps.corpora if self.params.steps else ())
            if metrics.has(self.folder, "in-the-loop", corpus)
        }

    def kept_table(self, name: str, **layout: Any) -> pd.DataFrame:
        """A table that a reference keeps because its metrics are not enough for it; no rows where it does not.

        layout  of the header and the index, as `pandas.read_csv` takes it
        """
        path = self.folder / "tables" / f"{name}.csv"
        try:
            return pd.read_csv(path, **layout)
        except FileNotFoundError:
            return pd.DataFrame()
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError):
            raise InputError("not a table", path=path, hint="take it from the repository again") from None

    def _predicted(self, *parts: str, **options: Any) -> pd.DataFrame:
        path = self.folder.joinpath("predictions", *parts)
        try:
            return pd.read_csv(path, **options)
        except FileNotFoundError:
            raise InputError("missing, though params.yaml asks for it", path=path, hint=RERUN) from None
        except pd.errors.EmptyDataError:
            raise InputError("empty", path=path, hint=RERUN) from None

    def _read(self, *parts: str) -> Any:
        return metrics.read(self.folder, *parts)


def this_run(root: Path) -> Results:
    """What the pipeline produced in this checkout; the reference itself where ORIGIN says so, as while `make reference`
    shows what it has computed.
    """
    folder, params = root / "results", root / "params.yaml"
    return _kept(folder, params, root / ORIGIN) or Results(THIS_RUN, folder, parameters.load(params))


def reference(root: Path) -> Results | None:
    """The maintainers' run that is committed with the repository; None where there is none."""
    folder = root / "results" / "reference"
    return _kept(folder, folder / "params.yaml", folder / "run.json")


def multilingual(root: Path) -> Results | None:
    """The part of the maintainers' run that tests a few systems on many more corpora; None where there is none."""
    folder = root / "results" / "reference" / "multilingual"
    return _kept(folder, folder / "params.yaml", folder / "run.json")


def _kept(folder: Path, params: Path, origin: Path) -> Results | None:
    if not origin.is_file():
        return None
    return Results(REFERENCE, folder, parameters.load(params), json.loads(origin.read_text(encoding="utf-8")))


def provenances(root: Path) -> list[Results]:
    """The reference, where there is one, and this run: the order of the columns in every table. The reference alone
    where this run is the one that becomes it.
    """
    last = this_run(root)
    before = reference(root) if last.name == THIS_RUN else None
    return [results for results in (before, last) if results is not None]


def find_root(start: Path | None = None) -> Path:
    """The project's folder: the nearest one at or above `start` (the working folder) that has a params.yaml.

    papermill runs a notebook in the folder it was called from, JupyterLab in the notebook's own: rely on neither.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "params.yaml").is_file() and (folder / "dvc.yaml").is_file():
            return folder
    raise InputError("no project here or above (no params.yaml)", path=here, hint="start Jupyter in the checkout")


def _frame(rows: list[dict[str, Any]], path: Path) -> pd.DataFrame:
    if not rows:
        raise InputError("no results", path=path, hint="list corpora and decode rows in params.yaml, then run it again")
    return pd.DataFrame(rows)
