"""dvc.yaml: stages name what they use; a change re-runs what depends on it and nothing else; a killed run goes on."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import grimp
import pytest
import yaml
from dvc.repo import Repo

from treebound.experiments import dependencies, plan, run, scratch, train
from treebound.experiments.stage import main
from treebound.support import imports

PROJECT = Path(__file__).parents[1]


def stages() -> dict:
    """The stages of dvc.yaml, unresolved."""
    listed = yaml.safe_load((PROJECT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    return {name: stage.get("do", stage) for name, stage in listed.items()}


def module_of(stage: dict) -> str:
    return stage["cmd"].split("-m ")[1].split()[0]


def test_stages_name_the_modules_that_they_use() -> None:
    text = (PROJECT / "dvc.yaml").read_text(encoding="utf-8")
    assert dependencies.written(text) == text, "run python -m treebound.experiments.dependencies"


@pytest.mark.parametrize(
    ("text", "counts"), [('"""A room."""\n', False), ("", False), ("X = 1\n", True), ('"""A room."""\nX = 1\n', True)]
)
def test_a_stage_depends_on_whatever_has_code(text: str, counts: bool, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(text)
    assert dependencies._has_code(tmp_path / "module.py") == counts


@pytest.mark.parametrize("module", sorted(dependencies.BY_NAME))
def test_what_is_chosen_by_name_is_depended_on(module: str) -> None:
    """No import leads from such a stage to a decoder, which a registry imports when it is asked for."""
    named = dependencies.sources(module)
    for path in (PROJECT / "src/treebound/decoders").rglob("[a-z]*.py"):
        file = str(path.relative_to(PROJECT))
        assert any(file == one or file.startswith(f"{one}/") for one in named), file


def test_imports_are_those_that_another_reader_finds() -> None:
    """`support.imports` reads text; grimp reads syntax trees."""
    graph = grimp.build_graph("treebound", cache_dir=None)
    for module in graph.modules:
        path = imports.path_of(module.removeprefix("treebound.")) or PROJECT / "src/treebound/__init__.py"
        found = {f"treebound.{name}" for name in imports.imported(path) if name}
        assert found == graph.find_modules_directly_imported_by(module) - {"treebound"}, module


def test_every_kind_of_stage_is_a_module_of_its_own() -> None:
    modules = {(run.kind_of(name), module_of(stage)) for name, stage in stages().items()}
    assert len(modules) == len(dict(modules)) == len({module for _, module in modules})


def test_no_stage_depends_on_two_rooms() -> None:
    """A change of one system re-runs no stage of another."""
    rooms = {}
    for name, stage in stages().items():
        systems = [Path(dep).parts[3] for dep in stage["deps"] if dep.startswith("src/treebound/systems/")]
        rooms[name] = {"correcting"} if "correcting" in systems else set(systems)  # it is made of two others
        assert len(rooms[name]) <= 1, name
        if uses := stage.get("meta", {}).get("uses"):
            assert rooms[name] == {uses.partition("_")[2]}, name
    every = {path.parent.name for path in (PROJECT / "src/treebound/systems").glob("*/__init__.py")}
    assert set().union(*rooms.values()) == every > {"graph", "sampling"}


#: kinds of metrics that hold times, and so differ from run to run
TIMED = ("timing", "benchmark", "ablation", "arena", "approximations", "score-time", "classifier-search")
TIMED += ("cross-validation", "constraint-analysis")


def test_git_ignores_what_dvc_keeps_and_what_holds_times() -> None:
    """A failed run must not leave data for `git add`, nor a second one differences; other metrics are kept."""
    if not (PROJECT / ".git").exists():
        pytest.skip("not a git checkout")
    outs = {"results/models/corpus/model.npz": True}
    for stage in stages().values():
        for out in stage["outs"]:
            path, options = (out, {}) if isinstance(out, str) else next(iter(out.items()))
            if path != "${item.file}":
                outs[path.replace("${item.", "").replace("}", "")] = options.get("cache", True)
    done = subprocess.run(["git", "check-ignore", *outs], cwd=PROJECT, capture_output=True, text=True)
    timed = {path for path in outs if path.startswith(tuple(f"results/metrics/{kind}/" for kind in TIMED))}
    assert {path.split("/")[2] for path in timed} == set(TIMED)
    assert set(done.stdout.split()) == {path for path, cached in outs.items() if cached} | timed


def test_steps_are_stages_of_their_own(tmp_path: Path) -> None:
    """DVC takes the names of a dictionary's entries where a matrix has one."""
    scratch.prepare(tmp_path / "project", {"steps": {"corpora": ["tr_twt"]}}, PROJECT)
    listed = dvc(tmp_path / "project", "stage", "list", "--name-only").split()
    runs = yaml.safe_load((PROJECT / "params.yaml").read_text())["steps"]["runs"]
    assert {name for name in listed if name.startswith("steps@")} == {f"steps@tr_twt-{run}" for run in runs}


def test_a_new_row_renames_no_stage(tmp_path: Path) -> None:
    """Nor does it change what another one runs."""
    rows = yaml.safe_load((PROJECT / "params.yaml").read_text())["decode"]
    new = {"model": "carreras+comb", "learner": "mira", "decoder": "tuned", "k": 10}
    planned = []
    for name, decode in (("before", rows), ("after", {"comb": new, "comb-k5": new | {"k": 5}, **rows})):
        scratch.prepare(tmp_path / name, {"decode": decode}, PROJECT)
        kinds = yaml.safe_load((tmp_path / name / "stages.yaml").read_text())["stages"]
        planned.append(kinds["train"]["graph"] | kinds["decode"]["graph"])
    before, after = planned
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"tr_twt-carreras+comb.mira", "tr_twt-comb", "tr_twt-comb-k5"}
    listed = dvc(tmp_path / "after", "stage", "list", "--name-only").split()
    assert {"train@tr_twt-carreras+comb.mira", "decode@tr_twt-comb", "decode@tr_twt-arc"} <= set(listed)


def test_stages_of_other_rows_are_refused(tmp_path: Path) -> None:
    scratch.prepare(tmp_path, {}, PROJECT)
    (tmp_path / "stages.yaml").write_text("stages: {}\n")
    command = [sys.executable, "-m", "treebound.experiments.fetch", "tr_twt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    hint = "run: python -m treebound.experiments.plan"
    assert done.stderr == f"error: stages.yaml: older than params.yaml; {hint}\n"


def test_stages_that_may_run_side_by_side_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """Every kind is in one group, and whatever a stage needs is made in a group before its own."""
    overlay = yaml.safe_load((PROJECT / "params" / "reference.yaml").read_text())  # it has stages of every kind
    scratch.prepare(tmp_path / "project", overlay, PROJECT)
    group = {kind: i for i, group in enumerate(run.GROUPS) for kind in group}
    assert set(run.KINDS) == {run.kind_of(name) for name in stages()}
    edges = re.findall(r'"(.+)" -> "(.+)"', dvc(tmp_path / "project", "dag", "--dot"))
    needs = {tuple(map(run.kind_of, edge)) for edge in edges}
    assert {need for need, _ in needs} >= {"convert", "pruner", "train", "cross-validation"}
    assert [(need, kind) for need, kind in needs if group[need] >= group[kind]] == []


def test_stages_that_take_longest_run_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run.longest_first(["b", "a"]) == ["b", "a"], "no reference here"
    run.EXPECTED.parent.mkdir(parents=True)
    run.EXPECTED.write_text("short,1.0,1.0\nlong,3.0,3.0\nmiddle,9.0,9.0\nmiddle,2.0,2.0\n")
    assert run.longest_first(["short", "new", "middle", "long", "newer"]) == ["new", "newer", "long", "middle", "short"]


# --- the pipeline itself, on 40 sentences and two models ---

TINY = {
    "corpora": ["tr_twt"],
    "slice": 40,
    "pruner": {"epochs": 1, "bits": 14},
    "train": {"epochs": 2, "bits": 14},
    "decode": {
        "arc": {"model": "arc", "learner": "mira", "decoder": "tuned", "k": 5},
        "carreras": {"model": "carreras", "learner": "mira", "decoder": "tuned", "k": 5},
    },
    "benchmark": {"repeats": 1},
    "ablation": {"model": "carreras", "k": 5, "sentences": 7},  # of a test split of 486
    "confidence": {"model": "carreras", "k": 5, "trees": 2},
    "arena": {"models": ["carreras"], "k": 5, "sentences": 3},
    "approximations": {"models": ["carreras"], "k": 5, "sentences": 3, "made_up": 0},
    "score_time": {"model": "carreras", "k": 5, "sentences": 3, "patience": [1]},
    "notebooks": ["10-corpora"],
}
KINDS = ("convert", "tagger", "pruner", "train", "decode", "benchmark", "ablation")


def dvc(folder: Path, *arguments: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-m", "dvc", *arguments],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def stale(folder: Path) -> set[str]:
    """Stages that would run now, notebooks and report aside: `dvc status`, without an interpreter for each question."""
    with contextlib.chdir(folder), Repo() as repo:
        return {stage for stage in repo.status() if run.kind_of(stage) in KINDS}


def edit(folder: Path, change: dict) -> None:
    path = folder / "params.yaml"
    path.write_text(yaml.safe_dump(scratch.overlaid(yaml.safe_load(path.read_text()), change), sort_keys=False))
    plan.update(folder)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which the tiny pipeline has run up to the benchmark."""
    folder = tmp_path_factory.mktemp("pipeline") / "project"
    scratch.prepare(folder, TINY, PROJECT)
    (folder / ".dvc" / "config.local").unlink()  # a cache of its own: nothing may come from earlier runs
    raw = PROJECT / "data" / "raw" / "tr_twt"
    if raw.is_dir():
        shutil.copytree(raw, folder / "data" / "raw" / "tr_twt")
    fetched = subprocess.run(
        [sys.executable, "-m", "treebound.experiments.fetch", "tr_twt"], cwd=folder, capture_output=True, text=True
    )
    if fetched.returncode:
        pytest.skip(f"needs the default corpus: {fetched.stderr.strip()}")
    dvc(folder, "repro", "benchmark@tr_twt", "ablation@tr_twt", "decode")
    return folder


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Path:
    """The project as it was after the run, to be changed."""
    target = tmp_path / "project"
    shutil.copytree(project, target, symlinks=True)
    return target


def test_metrics_say_what_they_come_from(project: Path) -> None:
    metrics = json.loads((project / "results/metrics/decode/tr_twt/carreras.json").read_text())
    assert metrics["sentences"] == 10
    assert metrics["certified"] == 10
    assert 0 < metrics["uas"] < 100
    assert metrics["scored_words"] < metrics["words"]
    assert len(metrics["corpus_checksum"]) == 64
    history = json.loads((project / "results/metrics/train/tr_twt/arc.mira.json").read_text())["history"]
    assert [record["epoch"] for record in history] == [1, 2]
    (arc, _) = json.loads((project / "results/metrics/benchmark/tr_twt/graph.json").read_text())
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


def test_nothing_runs_twice(project: Path) -> None:
    assert stale(project) == set()


def test_a_page_is_not_made_again_for_what_the_run_noted_after_it(copy: Path) -> None:
    dvc(copy, "repro", "--single-item", "notebooks@10-corpora")
    with contextlib.chdir(copy):
        run.keep_time("notebooks@10-corpora", 1.0, 1.0)
    assert "up to date" in dvc(copy, "status", "notebooks@10-corpora")
    (copy / "results/metrics/decode/tr_twt/arc.json").write_text("{}\n")
    assert "modified" in dvc(copy, "status", "notebooks@10-corpora")


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({"decoders": {"published": {"max_dp_calls": 7}}}, {"benchmark@tr_twt"}),
        (
            {"decoders": {"tuned": {"max_nodes": 7}}},
            {"decode@tr_twt-arc", "decode@tr_twt-carreras", "benchmark@tr_twt"},
        ),
        ({"models": {"carreras": ["adjacent-sibling"]}}, {"train@tr_twt-carreras.mira", "decode@tr_twt-carreras"}),
        (
            {"train": {"cost": 2.0}},
            {stage for m in ("arc", "carreras") for stage in (f"train@tr_twt-{m}.mira", f"decode@tr_twt-{m}")},
        ),
        ({"pruner": {"epochs": 2}}, {"pruner@tr_twt"}),
        ({"benchmark": {"repeats": 2}}, {"benchmark@tr_twt"}),
        ({"ablation": {"configurations": {"default": {"root_steps": 5}}}}, {"ablation@tr_twt"}),
        ({"notebooks": ["00-tour"]}, set()),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_a_parameter_re_runs_what_reads_it(change: dict, again: set[str], copy: Path) -> None:
    edit(copy, change)
    assert stale(copy) == again


def test_a_change_of_code_re_runs_its_stages(copy: Path) -> None:
    module = copy / "src/treebound/experiments/benchmark.py"
    module.write_text(module.read_text() + "\n# a comment\n")
    assert stale(copy) == {"benchmark@tr_twt"}


@pytest.mark.parametrize(
    ("room", "kinds"),
    [
        ("graph", {"train", "decode", "benchmark", "ablation"}),
        ("tagging", {"tagger"}),
        ("constrained", set()),
        ("peers", set()),
        ("transition", set()),
        ("sampling", set()),
    ],
)
def test_a_change_of_one_system_re_runs_no_stage_of_another(room: str, kinds: set[str], copy: Path) -> None:
    for module in (copy / "src/treebound/systems" / room).glob("*.py"):
        module.write_text(module.read_text() + "\n# a comment\n")
    assert {run.kind_of(stage) for stage in stale(copy)} == kinds


def test_git_keeps_no_times(copy: Path) -> None:
    metrics = {name for name in committed(copy) if name.startswith("results/metrics/")}
    assert {name.split("/")[2] for name in metrics} == {"convert", "decode", "pruner", "tagger", "train"}
    assert {name for name in metrics if re.search(r'(_s|seconds)(_\w+)?":', (copy / name).read_text())} == set()
    timed = [*copy.glob("results/metrics/timing/train/tr_twt/*"), copy / "results/metrics/benchmark/tr_twt/graph.json"]
    assert len(timed) == 3
    assert all(re.search(r'(_s|seconds)(_\w+)?":', path.read_text()) for path in timed)


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.excludesFile=", "-c", "gc.auto=0")
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def committed(folder: Path) -> set[str]:
    """Make the folder a git repository with all that the project's .gitignore lets in; these files."""
    shutil.copyfile(PROJECT / ".gitignore", folder / ".gitignore")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "a finished run")
    return set(git(folder, "ls-files").split())


def test_a_killed_training_goes_on(copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    edit(copy, {"train": {"epochs": 6}})
    monkeypatch.chdir(copy)
    command = ["treebound.experiments.train", "tr_twt", "carreras.mira"]
    model = copy / "results/models/tr_twt/carreras.mira.npz"
    monkeypatch.setattr(sys, "argv", command)
    main(train.run)
    uninterrupted = model.read_bytes()
    model.unlink()
    checkpoint = copy / "build/checkpoints/tr_twt.carreras.mira.npz"
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
    said = capsys.readouterr().err
    assert "epoch 1/6" not in said
    assert "epoch 6/6" in said
    assert model.read_bytes() == uninterrupted


def test_a_killed_run_goes_on_to_the_same_bytes(copy: Path) -> None:
    """The process group of a parallel run is killed in the middle of training; the next run finishes the rest.

    What both have made anew is everything but what is timed.
    """
    files = [
        *copy.glob("results/models/tr_twt/*"),
        *copy.glob("results/metrics/train/tr_twt/*"),
        *copy.glob("results/metrics/decode/tr_twt/*"),
        *copy.glob("results/predictions/tr_twt/decode/*.csv"),
    ]
    before = {path: path.read_bytes() for path in files}
    assert len(before) == 3 + 2 + 2 + 2
    kept = committed(copy)
    assert {"stages.yaml", "results/metrics/decode/tr_twt/arc.json"} <= kept
    for path in files:
        path.unlink()
    shutil.rmtree(copy / ".dvc" / "cache")  # nothing can be taken from the first run
    command = [sys.executable, "-m", "treebound.experiments.run", "--jobs", "2", "decode"]
    running = subprocess.Popen(command, cwd=copy, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert running.stderr is not None
    for line in running.stderr:
        if "epoch 1/" in line:
            break
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    running.stderr.close()
    with contextlib.suppress(ProcessLookupError):  # until the last of the group is gone, and its locks with it
        while True:
            os.killpg(running.pid, 0)
            time.sleep(0.05)
    # the worst that a kill can leave, made sure of: both files that DVC writes in place, cut off
    made = (copy / "dvc.lock").read_text()
    (copy / "dvc.lock").write_text(made[: made.index("  decode@tr_twt-carreras:") + 200])
    (copy / ".dvc/tmp/rwlock").write_text("")
    done = subprocess.run(command, cwd=copy, check=True, capture_output=True, text=True)
    assert "dvc.lock was half-written" in done.stderr
    assert "rwlock was half-written" in done.stderr
    times = [line.split(",") for line in (copy / "results/metrics/timing/stages.csv").read_text().splitlines()]
    assert {"decode@tr_twt-arc", "decode@tr_twt-carreras"} <= {stage for stage, _, _ in times}
    assert all(float(wall) > 0 and float(cpu) > 0 for _, wall, cpu in times)
    assert stale(copy) <= {"benchmark@tr_twt", "ablation@tr_twt"}
    assert {path for path in files if path.read_bytes() != before[path]} == set()
    assert git(copy, "status", "--porcelain") == ""
    (copy / "results/metrics/decode/tr_twt/arc.json").write_text("{}\n")
    assert git(copy, "status", "--porcelain") == " M results/metrics/decode/tr_twt/arc.json\n"
