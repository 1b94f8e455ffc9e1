"""dvc.yaml: stages list their dependencies, a change reruns exactly the dependent stages, and a killed run resumes."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest
import yaml
from dvc.repo import Repo

from studies.common.stage import main
from studies.pipeline import run, scratch, tagger, train
from treebound.treebanks.document import read

PROJECT = Path(__file__).parents[1]


def stages() -> dict:
    """Return the stages of dvc.yaml with unresolved variables."""
    return yaml.safe_load((PROJECT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]


def test_the_pipeline_can_be_read() -> None:
    lines = (PROJECT / "dvc.yaml").read_text(encoding="utf-8").splitlines()
    written = [line for line in lines if line.strip()]
    assert len(written) <= 300, (
        f"dvc.yaml has {len(written)} lines without the blank ones, and 300 are allowed: shorten it"
    )


# --- dependencies on code

#: modules of model settings, which come from params.yaml and are tracked as parameters
TRACKED = re.compile(r"treebound\.systems\.(\w+\.settings|sampling\.globals\.table)")


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("treebound", "studies", cache_dir=None)


def entry_points(stage: dict) -> set[str]:
    """Return the modules of a stage's commands and those that its notebooks import."""
    commands = stage["cmd"] if isinstance(stage["cmd"], list) else [stage["cmd"]]
    modules = {word for command in commands for word in command.split() if word.startswith("studies.")}
    if "notebooks" in stage["cmd"]:
        for path in (PROJECT / "notebooks").glob("*.ipynb"):
            code = "".join("".join(cell["source"]) + "\n" for cell in json.loads(path.read_text())["cells"])
            for origin, names in re.findall(r"^\s*from ((?:studies|treebound)[\w.]*) import ([\w, ]+)", code, re.M):
                modules |= {origin, *(f"{origin}.{name.split(' as ')[0].strip()}" for name in names.split(","))}
    return modules


TRAINERS = "studies.pipeline.trainers"  #: package whose modules are imported by name for training and parsing


def all_of(modules: set[str], imports: grimp.ImportGraph) -> set[str]:
    """Return the modules and everything that they import, directly or indirectly."""
    return modules | {upstream for module in modules for upstream in imports.find_upstream_modules(module)}


def files_of(stage: dict, imports: grimp.ImportGraph) -> set[str]:
    """Return the code files that a stage imports, directly or indirectly."""
    closure = all_of({module for module in entry_points(stage) if module in imports.modules}, imports)
    if {"studies.pipeline.train", "studies.pipeline.decode"} & closure:
        closure |= all_of({module for module in imports.modules if module.startswith(f"{TRAINERS}.")}, imports)
    files = set()
    for module in closure:
        path = PROJECT / "src" / Path(*module.split("."))
        file = path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
        if not TRACKED.fullmatch(module) and has_code(file):
            files.add(str(file.relative_to(PROJECT)))
    return files


def has_code(path: Path) -> bool:
    """Return whether a file contains more than a docstring."""
    return re.sub(r'\A\s*"""(.*?)"""', "", path.read_text(encoding="utf-8"), flags=re.S).strip() != ""


def outside(files: set[str], folders: list[str]) -> list[str]:
    """Return the files that are neither listed in `folders` nor inside one of them."""
    return sorted(file for file in files if not any(file == place or file.startswith(f"{place}/") for place in folders))


@pytest.mark.parametrize("name", stages())
def test_a_stage_depends_on_all_code_that_it_imports(name: str, imports: grimp.ImportGraph) -> None:
    stage = stages()[name]
    code = [dep for dep in stage["deps"] if dep.split("/")[0] == "src"]
    files = files_of(stage, imports)
    assert files
    missing = outside(files, code)
    assert not missing, f"add these files, or folders that contain them, to the deps of {name}: {', '.join(missing)}"
    assert all((PROJECT / dep).exists() for dep in code)
    for dep in code:
        remaining = [dependency for dependency in code if dependency != dep]
        assert outside(files, remaining), (
            f"remove {dep} from the deps of {name}: the stage imports no further file from it"
        )


@pytest.mark.parametrize("name", stages())
def test_decoders_that_are_chosen_by_name_are_depended_on(name: str, imports: grimp.ImportGraph) -> None:
    """A stage that gets decoders by name from the registry depends on all decoders, which imports do not show."""
    stage = stages()[name]
    if any(file.startswith("src/treebound/decoders/") for file in files_of(stage, imports)):
        assert {"src/treebound/decoders", "src/treebound", "src"} & set(stage["deps"])


def test_git_ignores_outputs_of_dvc_and_files_with_times() -> None:
    """A failed run must not leave data for `git add`, and a second run must not change tracked files.

    Git tracks metrics that hold no times.
    """
    if not (PROJECT / ".git").exists():
        pytest.skip("not a git checkout")
    outs = {}
    for stage in stages().values():
        for out in [*stage.get("outs", ()), *stage.get("metrics", ()), *stage.get("plots", ())]:
            path, options = (out, {}) if isinstance(out, str) else next(iter(out.items()))
            outs[re.sub(r"\$\{item\.(\w+)\}", r"\1", path)] = options.get("cache", True)
    done = subprocess.run(["git", "check-ignore", *outs], cwd=PROJECT, capture_output=True, text=True)
    timed = {path for path in outs if path.startswith(tuple(f"results/metrics/{kind}/" for kind in TIMED))}
    assert {path.split("/")[2] for path in timed} == set(TIMED)
    assert set(done.stdout.split()) == {path for path, cached in outs.items() if cached} | timed
    assert subprocess.run(["git", "check-ignore", "-q", "dvc.lock"], cwd=PROJECT).returncode == 1, "it is tracked"


#: kinds of metrics that hold times and therefore differ between runs
TIMED = ("timing", "benchmark", "ablation", "integer-programs", "approximations", "score-time")
TIMED += ("constraints", "constraint-analysis")


# --- several stages at a time

JOBS = {
    "a": run.Job(frozenset()),
    "b": run.Job(frozenset()),
    "c": run.Job(frozenset({"a"})),
    "timed": run.Job(frozenset({"a"}), alone=True),
    **{f"page{i}": run.Job(frozenset({"c", "timed"}), together=True) for i in range(3)},
}


def remaining_jobs(*finished: str) -> dict[str, run.Job]:
    return {name: job for name, job in JOBS.items() if name not in finished}


@pytest.mark.parametrize(
    ("started", "ended", "free", "busy", "now"),
    [
        ((), (), 2, False, [["a"], ["b"]]),
        ((), (), 1, False, [["a"]]),
        (("a", "b"), ("a",), 1, True, [["c"]]),
        (("a", "b", "c"), ("a", "b"), 1, True, []),  # the timed stage waits until no other stage runs
        (("a", "b", "c"), ("a", "b", "c"), 2, False, [["timed"]]),
        (("a", "b", "c", "timed"), ("a", "b", "c"), 0, True, []),
        (("a", "b", "c", "timed"), ("a", "b", "c", "timed"), 2, False, [["page0", "page2"], ["page1"]]),
        (tuple(JOBS), tuple(JOBS), 2, False, []),
    ],
)
def test_a_stage_starts_when_its_dependencies_have_ended(
    started: tuple, ended: tuple, free: int, busy: bool, now: list, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run.ready(remaining_jobs(*started), set(ended), free, busy) == now


def test_the_accuracy_on_unknown_words_is_left_out_if_there_are_none(tmp_path: Path) -> None:
    for form in "ab":
        (tmp_path / form).write_text(f"1\t{form}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    train, known, unknown = (read(tmp_path / form).treebank for form in "aab")
    assert tagger.accuracies(train, known, known, "upos") == {"words": 1, "accuracy": 100.0, "unknown_words": 0}
    assert tagger.accuracies(train, unknown, unknown, "upos")["unknown_accuracy"] == 100.0


def test_stages_without_others_that_many_wait_for_run_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a long stage does not start while the tagger waits to run alone."""
    monkeypatch.chdir(tmp_path)
    alone = run.Job(frozenset({"corpus"}), alone=True, first=True)
    jobs = {"long": run.Job(frozenset()), "tagger": alone, "corpus": run.Job(frozenset())}
    assert run.ready(jobs, set(), 2, False) == [["corpus"]]
    del jobs["corpus"]
    assert run.ready(jobs, set(), 1, True) == []
    assert run.ready(jobs, {"corpus"}, 2, False) == [["tagger"]]
    del jobs["tagger"]
    assert run.ready(jobs, {"corpus", "tagger"}, 2, False) == [["long"]]


def test_stages_that_take_longest_run_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run.longest_first(["b", "a"]) == ["b", "a"], "no reference here"
    run.EXPECTED.parent.mkdir(parents=True)
    run.EXPECTED.write_text("short,1.0,1.0\nlong,3.0,3.0\nmiddle,9.0,9.0\nmiddle,2.0,2.0\n")
    assert run.longest_first(["short", "new", "middle", "long", "newer"]) == ["new", "newer", "long", "middle", "short"]


# --- the pipeline itself, on 40 sentences and two models ---

TINY = {
    "treebanks": ["tr_twt"],
    "corpora": ["tr_twt"],
    "slice": 40,
    "pruner": {"epochs": 1, "bits": 14},
    "train": {"epochs": 2, "bits": 14},
    "decode": {
        "arc": {"arc": {"decoder": "tuned", "k": 5}},
        "carreras": {"carreras": {"decoder": "tuned", "k": 5}},
    },
    "benchmark": {"repeats": 1},
    "ablation": {"model": "carreras", "k": 5, "sentences": 7},  # 40 sentences of a test split of 486
    "confidence": {"model": "carreras", "k": 5, "trees": 2},
    "integer_programs": {"models": ["carreras"], "k": 5, "sentences": 3},
    "approximations": {"models": ["carreras"], "k": 5, "sentences": 3, "synthetic": 0},
    "score_time": {"models": ["carreras"], "k": 5, "sentences": 3, "patience": [1]},
    "ccg": {"derivations": []},
    "validity": {"corpora": []},
    "notebooks": ["10-corpora"],
}
COMPUTED = ("convert", "tagger", "pruner", "train", "decode", "benchmark", "ablation", "summary")


def environment() -> dict[str, str]:
    return os.environ | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}


def dvc(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dvc", *arguments], cwd=folder, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def stale(folder: Path) -> set[str]:
    """Return the stages that would run now, as in `dvc status`, except stages that only show results."""
    with contextlib.chdir(folder), Repo() as repo:
        return {stage for stage in repo.status() if stage.partition("@")[0] in COMPUTED}


def edit(folder: Path, change: dict) -> None:
    path = folder / "params.yaml"
    path.write_text(yaml.safe_dump(scratch.overlaid(yaml.safe_load(path.read_text()), change), sort_keys=False))


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.excludesFile=", "-c", "gc.auto=0")
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a committed git repository of the project in which the tiny pipeline has run up to its summary."""
    folder = tmp_path_factory.mktemp("pipeline") / "project"
    scratch.prepare(folder, TINY, PROJECT)
    # use git and a separate cache, so that no result comes from earlier runs
    (folder / ".dvc" / "config.local").unlink()
    edit(folder, {"ccg": {"parsers": None}})
    params = yaml.safe_load((folder / "params.yaml").read_text())
    params["ccg"]["parsers"] = {}
    (folder / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    shutil.rmtree(folder / "results" / "reference")
    shutil.copyfile(PROJECT / ".gitignore", folder / ".gitignore")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "the sources")
    raw = PROJECT / "data" / "raw" / "tr_twt"
    if raw.is_dir():
        shutil.copytree(raw, folder / "data" / "raw" / "tr_twt")
    fetched = subprocess.run(
        [sys.executable, "-m", "studies.pipeline.fetch", "tr_twt"], cwd=folder, capture_output=True, text=True
    )
    if fetched.returncode:
        pytest.skip(f"needs the default corpus: {fetched.stderr.strip()}")
    dvc(folder, "repro", "benchmark@tr_twt", "ablation@tr_twt", "summary")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "a finished run")
    return folder


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Iterator[Path]:
    """Yield a copy of the project after the run, which the test may change."""
    target = tmp_path / "project"
    shutil.copytree(project, target, symlinks=True)
    yield target
    shutil.rmtree(target)


def test_metrics_name_their_sources(project: Path) -> None:
    metrics = json.loads((project / "results/metrics/decode/tr_twt/carreras.json").read_text())["carreras"]
    assert metrics["sentences"] == 10
    assert metrics["certified"] == 10
    assert 0 < metrics["uas"] < 100
    assert metrics["scored_words"] < metrics["words"]
    assert len(metrics["corpus_checksum"]) == 64
    peaks = json.loads((project / "results/metrics/timing/decode/tr_twt/carreras.json").read_text())
    assert set(peaks) == {"carreras"}
    assert 50 < peaks["carreras"]["peak_mb"] < 5000
    history = json.loads((project / "results/metrics/train/tr_twt/arc.json").read_text())["history"]
    assert [record["epoch"] for record in history] == [1, 2]
    (arc, _) = json.loads((project / "results/metrics/benchmark/tr_twt.json").read_text())
    assert arc["model"] == "arc"
    assert sum(part["sentences"] for part in arc["by_length"]) == arc["sentences"] == 10
    assert arc["words_per_cpu_s"] > 0


def test_the_ablation_decodes_the_same_sentences_with_every_configuration(project: Path) -> None:
    rows = json.loads((project / "results/metrics/ablation/tr_twt.json").read_text())
    names = list(yaml.safe_load((project / "params.yaml").read_text())["ablation"]["configurations"])
    assert [row["configuration"] for row in rows] == names
    for row in rows:
        assert row["sentences"] == row["certified"] == row["best_found"] == 7
        assert row["different"] == 0
        assert row["dp_calls"] >= row["nodes"] >= 7
        assert row["cpu_s"] > 0
        assert max(row["proved_within"].values()) == 7
    table = (project / "results/predictions/tr_twt/ablation.csv").read_text().splitlines()
    assert len(table) == 1 + 7 * len(names)


# --- the commands that users of DVC know; docs/dvc.md shows them


def test_status_and_repro_have_nothing_to_do(project: Path) -> None:
    assert stale(project) == set()
    assert "up to date" in dvc(project, "repro", "summary")
    assert git(project, "status", "--porcelain") == ""


def test_metrics_and_their_differences_are_shown(copy: Path) -> None:
    shown = json.loads(dvc(copy, "metrics", "show", "--json"))
    metrics = {name: file["data"] for name, file in shown[""]["data"].items()}
    assert set(metrics) == {f"results/metrics/summary/tr_twt/{row}.json" for row in ("arc", "carreras")}
    assert metrics["results/metrics/summary/tr_twt/carreras.json"]["proved"] == 100.0
    table = dvc(copy, "metrics", "show").splitlines()
    assert table[0].split() == ["Path", "las", "proved", "uas"]
    path = copy / "results/metrics/summary/tr_twt/arc.json"
    arc = json.loads(path.read_text())
    path.write_text(json.dumps(arc | {"uas": arc["uas"] + 1}))
    changed = json.loads(dvc(copy, "metrics", "diff", "--json"))
    assert changed == {
        "results/metrics/summary/tr_twt/arc.json": {"uas": {"old": arc["uas"], "new": arc["uas"] + 1, "diff": 1.0}}
    }


def test_plots_are_shown(copy: Path) -> None:
    out = dvc(copy, "plots", "show", "--out", "plots.html")
    assert "plots.html" in out
    page = (copy / "plots.html" / "index.html" if (copy / "plots.html").is_dir() else copy / "plots.html").read_text()
    assert "UAS on dev after every epoch" in page
    assert "Recall of the k best heads" in page


def test_an_experiment_changes_one_parameter(copy: Path) -> None:
    dvc(copy, "exp", "run", "-S", "train.epochs=1", "--name", "one-epoch", "train@tr_twt-arc")
    assert yaml.safe_load((copy / "params.yaml").read_text())["train"]["epochs"] == 1
    history = json.loads((copy / "results/metrics/train/tr_twt/arc.json").read_text())["history"]
    assert len(history) == 1
    assert "one-epoch" in dvc(copy, "exp", "show", "--csv", "--no-pager")


def test_the_graph_of_stages_fits_a_terminal(project: Path) -> None:
    drawn = dvc(project, "dag", "--collapse-foreach-matrix", "summary")
    assert max(map(len, drawn.splitlines())) <= 120
    assert {"fetch", "convert", "train", "decode"} <= set(re.findall(r"\| (\w+) +\|", drawn))


def test_a_new_row_runs_its_own_stages(copy: Path) -> None:
    """A new row runs only its own stages, the benchmark, which times all rows in one process, and the summary."""
    edit(copy, {"models": {"new": {"families": ["sibling"]}}})
    params = yaml.safe_load((copy / "params.yaml").read_text())
    params["decode"]["new"] = {"new": {"decoder": "tuned", "k": 5}}
    (copy / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    assert stale(copy) == {"train@tr_twt-new", "decode@tr_twt-new", "benchmark@tr_twt", "summary"}
    dvc(copy, "repro", "decode@tr_twt-new")
    assert "new" in json.loads((copy / "results/metrics/decode/tr_twt/new.json").read_text())
    params["decode"]["arc"]["arc-k3"] = {"decoder": "tuned", "k": 3}
    (copy / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    assert stale(copy) == {"decode@tr_twt-arc", "benchmark@tr_twt", "summary"}, "another way to parse needs no training"


def test_a_page_is_not_rebuilt_for_notes_that_the_run_adds_later(copy: Path) -> None:
    (copy / "results/reference").mkdir()
    (copy / "results/reference/README.md").write_text("none")
    dvc(copy, "repro", "--single-item", "notebooks@10-corpora")
    with contextlib.chdir(copy):
        run.keep_time("notebooks@10-corpora", 1.0, 1.0)
    assert "up to date" in dvc(copy, "status", "notebooks@10-corpora")
    (copy / "results/metrics/decode/tr_twt/arc.json").write_text("{}\n")
    assert "modified" in dvc(copy, "status", "notebooks@10-corpora")


@pytest.mark.parametrize(
    ("change", "rerun"),
    [
        (
            {"decoders": {"tuned": {"max_nodes": 7}}},
            {"decode@tr_twt-arc", "decode@tr_twt-carreras", "benchmark@tr_twt"},
        ),
        (
            {"models": {"carreras": {"families": ["adjacent-sibling"]}}},
            {"train@tr_twt-carreras", "decode@tr_twt-carreras", "benchmark@tr_twt", "summary"},
        ),
        (
            {"train": {"cost": 2.0}},
            {stage for m in ("arc", "carreras") for stage in (f"train@tr_twt-{m}", f"decode@tr_twt-{m}")},
        ),
        ({"pruner": {"epochs": 2}}, {"pruner@tr_twt", "train@tr_twt-arc", "train@tr_twt-carreras"}),
        ({"benchmark": {"repeats": 2}}, {"benchmark@tr_twt"}),
        ({"ablation": {"configurations": {"default": {"root_steps": 5}}}}, {"ablation@tr_twt"}),
        ({"notebooks": ["00-tour"]}, set()),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_a_parameter_reruns_the_stages_that_read_it(change: dict, rerun: set[str], copy: Path) -> None:
    edit(copy, change)
    assert stale(copy) == rerun


@pytest.mark.parametrize(
    ("file", "kinds"),
    [
        ("src/studies/pipeline/benchmark.py", {"benchmark"}),
        ("src/treebound/systems/graph/parser.py", {"train", "decode", "benchmark", "ablation"}),
        ("src/treebound/systems/tagging/words.py", {"tagger"}),
        ("src/treebound/systems/ccg/model.py", set()),
        ("src/treebound/cli/parsing.py", set()),
    ],
)
def test_a_change_of_code_re_runs_its_stages(file: str, kinds: set[str], copy: Path) -> None:
    (copy / file).write_text((copy / file).read_text() + "\n# a comment\n")
    assert {stage.partition("@")[0] for stage in stale(copy)} == kinds


def test_git_tracks_no_times(copy: Path) -> None:
    tracked = git(copy, "ls-files").split()
    assert {"dvc.lock", "results/metrics/summary/tr_twt/arc.json", "results/plots/learning.csv"} <= set(tracked)
    metrics = {name for name in tracked if name.startswith("results/metrics/")}
    kinds = {"convert", "decode", "pruner", "tagger", "train", "summary"}
    assert {name.split("/")[2] for name in metrics} == kinds
    assert {name for name in metrics if re.search(r'(_s|seconds)(_\w+)?":', (copy / name).read_text())} == set()
    timed = [*copy.glob("results/metrics/timing/train/tr_twt/*"), copy / "results/metrics/benchmark/tr_twt.json"]
    assert len(timed) == 3
    assert all(re.search(r'(_s|seconds)(_\w+)?":', path.read_text()) for path in timed)


def test_a_killed_training_resumes(copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    edit(copy, {"train": {"epochs": 6}})
    monkeypatch.chdir(copy)
    command = ["studies.pipeline.train", "tr_twt", "carreras"]
    model = copy / "results/models/tr_twt/carreras.npz"
    model.unlink()  # DVC makes the file read-only
    monkeypatch.setattr(sys, "argv", command)
    main(train.run)
    uninterrupted = model.read_bytes()
    model.unlink()
    checkpoint = copy / "build/checkpoints/tr_twt.carreras.npz"
    assert not checkpoint.exists(), "a finished training leaves no checkpoint"
    killed = subprocess.Popen([sys.executable, "-m", *command], cwd=copy, stderr=subprocess.PIPE, text=True)
    while not checkpoint.exists():
        assert killed.poll() is None, "finished before it could be killed"
        time.sleep(0.005)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert not model.exists()
    capsys.readouterr()
    main(train.run)
    errors = capsys.readouterr().err
    assert "epoch 1/6" not in errors
    assert "epoch 6/6" in errors
    assert model.read_bytes() == uninterrupted


def test_a_killed_run_resumes_to_the_same_bytes(copy: Path) -> None:
    """Kill the process group of a parallel run in the middle of training, and let the next run finish.

    All files except those with times are the same as before. Parallel and sequential stages agree.
    """
    files = [
        *copy.glob("results/models/tr_twt/*"),
        *copy.glob("results/metrics/train/tr_twt/*"),
        *copy.glob("results/metrics/decode/tr_twt/*"),
        *copy.glob("results/predictions/tr_twt/decode/*/*.csv"),
    ]
    before = {path: path.read_bytes() for path in files}
    assert len(before) == 3 + 2 + 2 + 2
    for path in files:
        path.unlink()
    shutil.rmtree(copy / ".dvc" / "cache")  # no result can come from the cache of the first run
    command = [sys.executable, "-m", "studies.pipeline.run", "--jobs", "2", "summary"]
    running = subprocess.Popen(command, cwd=copy, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert running.stderr is not None
    for line in running.stderr:
        if "epoch 1/" in line:
            break
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    running.stderr.close()
    # wait until the last process of the group has ended and released its locks
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.killpg(running.pid, 0)
            time.sleep(0.05)
    # simulate the worst case of a kill: both files that DVC writes in place are truncated
    made = (copy / "dvc.lock").read_text()
    (copy / "dvc.lock").write_text(made[: made.index("  decode@tr_twt-carreras:") + 200])
    (copy / ".dvc/tmp/rwlock").write_text("")
    done = subprocess.run(command, cwd=copy, check=True, capture_output=True, text=True)
    assert "dvc.lock was half-written" in done.stderr
    assert "rwlock was half-written" in done.stderr
    times = [line.split(",") for line in (copy / "results/stages.csv").read_text().splitlines()]
    assert {"decode@tr_twt-arc", "decode@tr_twt-carreras"} <= {stage for stage, _, _ in times}
    assert all(float(wall) > 0 and float(cpu) > 0 for _, wall, cpu in times)
    assert stale(copy) <= {"benchmark@tr_twt", "ablation@tr_twt"}
    assert {path for path in files if path.read_bytes() != before[path]} == set()
    assert git(copy, "status", "--porcelain").split() in ([], ["M", "dvc.lock"])
    (copy / "results/metrics/decode/tr_twt/arc.json").write_text("{}\n")
    assert " M results/metrics/decode/tr_twt/arc.json\n" in git(copy, "status", "--porcelain")


def test_a_signal_to_terminate_ends_the_whole_run(tmp_path: Path) -> None:
    """Check that no process of the pipeline is left over; a module of the same name waits in place of the pipeline."""
    package = tmp_path / "studies" / "pipeline"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    waiting = "import os, pathlib, time\npathlib.Path('started').write_text(str(os.getpid()))\ntime.sleep(60)\n"
    (package / "run.py").write_text(waiting)
    program = "import sys; from pathlib import Path; from studies.pipeline import scratch; "
    program += f"sys.exit(scratch.run(Path({str(tmp_path)!r})))"
    process = subprocess.Popen([sys.executable, "-c", program])
    while not (tmp_path / "started").exists() or not (tmp_path / "started").read_text():
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)  # the signal is passed on once the other process has been started
    process.terminate()
    assert process.wait(30) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "started").read_text()), 0)
