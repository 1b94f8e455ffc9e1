"""Test a real Dask cluster on this machine: a scheduler and two worker processes on the loopback interface.

The output has the same bytes as with a single process, even if a worker is killed during the run.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from synthetic import synthetic_treebank
from test_cli import SENTENCES, assert_one_line, conllu, run

from treebound.cli import annotate
from treebound.core.errors import InputError, TreeboundError
from treebound.core.treebank import Treebank
from treebound.decoders.confidence import Assess
from treebound.learning.pruner import train_pruner
from treebound.support.workers import spread
from treebound.systems import training
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.systems.tagging.jackknife import jackknife
from treebound.systems.tagging.learn import train_tagger
from treebound.systems.tagging.several import Taggers
from treebound.treebanks.document import Document, stream

distributed = pytest.importorskip("distributed", reason="the packages of the extra are not installed: make cluster")
dask = pytest.importorskip("dask")
cluster = pytest.importorskip("treebound.support.cluster")

TRAIN, DEV = synthetic_treebank(60, 1), synthetic_treebank(20, 2)


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[distributed.LocalCluster]:
    settings = {
        "distributed.scheduler.allowed-failures": 1,
        # on a busy machine a slow worker must not count as lost
        "distributed.scheduler.worker-ttl": None,
        "distributed.comm.timeouts.tcp": "300s",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=50,
            local_directory=str(tmp_path_factory.mktemp("dask")),
        ) as local_cluster,
    ):
        yield local_cluster


@pytest.fixture(scope="module")
def parser() -> Parser:
    spec = Settings(("adjacent-sibling", "outermost-grandchild"), epochs=1, bits=14, labels="both", label_bits=14)
    return Parser(train(spec, TRAIN, DEV, train_pruner(TRAIN, epochs=1, bits=14)))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a file with 400 sentences."""
    path = tmp_path_factory.mktemp("text") / "text.conllu"
    path.write_text(as_conllu(synthetic_treebank(400, 3, max_words=12)))
    return path


def as_conllu(treebank: Treebank) -> str:
    columns = [treebank.strings(name) for name in ("form", "upos", "deprel")]
    return conllu([list(zip(*(c[a:b] for c in (columns[0], columns[1], treebank.head.tolist())), strict=True))
                   for a, b in zip(treebank.offsets[:-1], treebank.offsets[1:], strict=True)])  # fmt: skip


def kill_worker(workers: distributed.LocalCluster) -> None:
    """Kill a worker process; its nanny starts another one."""
    os.kill(next(iter(workers.workers.values())).pid, signal.SIGKILL)


def parts(text: Path, cluster_to_kill: distributed.LocalCluster | None = None) -> Iterator[Document]:
    """Yield the text in parts of 20 sentences, and kill a worker of `cluster_to_kill` before the tenth part."""
    for i, document in enumerate(stream(text, 20)):
        if i == 9 and cluster_to_kill is not None:
            kill_worker(cluster_to_kill)
        yield document


@pytest.mark.parametrize("killed", [False, True])
def test_parsing_gives_the_same_bytes(
    parser: Parser, text: Path, workers: distributed.LocalCluster, killed: bool
) -> None:
    parsing = annotate.Parsing(parser)
    local = [annotated.text for annotated in spread(annotate.parsed, parsing, parts(text))]
    cluster_to_kill, address = workers if killed else None, workers.scheduler_address
    remote = [
        annotated.text
        for annotated in spread(annotate.parsed, parsing, parts(text, cluster_to_kill), scheduler=address)
    ]
    assert len(remote) == 20
    assert remote == local


@pytest.mark.parametrize("killed", [False, True])
def test_tagging_gives_the_same_bytes(text: Path, workers: distributed.LocalCluster, killed: bool) -> None:
    tagger = Taggers([train_tagger(TRAIN, column="upos", epochs=1, bits=14)])
    local = [annotated.text for annotated in spread(annotate.tagged, tagger, parts(text))]
    cluster_to_kill, address = workers if killed else None, workers.scheduler_address
    assert [
        annotated.text for annotated in spread(annotate.tagged, tagger, parts(text, cluster_to_kill), scheduler=address)
    ] == local


def test_the_python_interface_takes_a_scheduler(parser: Parser, workers: distributed.LocalCluster) -> None:
    assess = Assess(margins=True)
    local, remote = (
        parser.parse(DEV, confidence=assess, scheduler=scheduler) for scheduler in (None, workers.scheduler_address)
    )
    assert [p.confidence.margins.tolist()[1:] for p in local] == [p.confidence.margins.tolist()[1:] for p in remote]
    assert [(p.heads.tolist(), p.value, p.bound, p.work) for p in local] == [
        (p.heads.tolist(), p.value, p.bound, p.work) for p in remote
    ]
    settings = {"epochs": 1, "bits": 12, "folds": 3}
    local_tags = jackknife(TRAIN, "upos", **settings)
    remote_tags = jackknife(TRAIN, "upos", scheduler=workers.scheduler_address, **settings)
    assert local_tags.strings("upos") == remote_tags.strings("upos")


def test_models_are_the_same_bytes_although_a_worker_is_killed(
    tmp_path: Path, workers: distributed.LocalCluster
) -> None:
    recipe = training.recipe({"families": (), "epochs": 4, "bits": 14, "labels": "none"})
    folders = tmp_path / "here", tmp_path / "there"
    jobs = {}
    for folder in folders:
        folder.mkdir()
        jobs[folder] = [
            training.job(name, recipe, (Path("train"), Path("dev")), (treebank, DEV), folder / f"{name}.npz")
            for name, treebank in (("a", synthetic_treebank(100, 4)), ("b", synthetic_treebank(100, 5)))
        ]
    local = dict(training.train_many(jobs[folders[0]], folders[0]))
    killed = threading.Event()

    def kill_after_an_epoch() -> None:
        while not any(folders[1].glob(".*.checkpoint.npz")):
            time.sleep(0.002)
        kill_worker(workers)
        killed.set()

    threading.Thread(target=kill_after_an_epoch, daemon=True).start()
    remote = dict(training.train_many(jobs[folders[1]], folders[1], scheduler=workers.scheduler_address))
    assert killed.is_set()
    assert {outcome.error for outcome in (*local.values(), *remote.values())} == {None}
    for name in ("a.npz", "b.npz"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def test_the_command_line(text: Path, workers: distributed.LocalCluster, parser: Parser, tmp_path: Path) -> None:
    model = tmp_path / "model.npz"
    parser.model.save(model)
    local, remote = tmp_path / "here.conllu", tmp_path / "there.conllu"
    assert run("parse", model, text, "-o", local).returncode == 0
    result = run("parse", model, "-o", remote, "--scheduler", workers.scheduler_address, stdin=text.read_text())
    assert result.returncode == 0, result.stderr
    assert remote.read_bytes() == local.read_bytes()
    assert remote.read_text().count("# treebound_status = optimal") == 400
    broken = text.read_text().replace("\n1\t", "\n7\t", 1)
    result = run("parse", model, "-o", remote, "--scheduler", workers.scheduler_address, stdin=broken)
    assert_one_line(result, "<stdin>:2: ")


# --- errors ---


def refuse(shared: None, item: int) -> int:
    raise InputError("cannot be parsed", path="there", line=item)


def end(last: int, item: int) -> int:
    if item == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def test_errors_of_the_work_arrive_as_they_are(workers: distributed.LocalCluster) -> None:
    with pytest.raises(InputError, match="there:5: cannot be parsed"):
        list(spread(refuse, None, [5], scheduler=workers.scheduler_address))


def test_a_task_that_kills_every_worker_is_abandoned(workers: distributed.LocalCluster) -> None:
    """Check that a task which kills each worker ends in an error; joblib alone would wait forever."""
    with pytest.raises(TreeboundError, match="several workers died while they ran the same task"):
        list(spread(end, 3, range(40), scheduler=workers.scheduler_address))
    assert list(spread(end, 3, [1, 2], scheduler=workers.scheduler_address)) == [1, 2], "the cluster must remain usable"


def test_workers_run_the_same_program(workers: distributed.LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "digest", os.getpid)  # a value that differs between processes
    with pytest.raises(InputError, match="runs another version of treebound; install this version there"):
        list(spread(end, 0, [1], scheduler=workers.scheduler_address))


def test_without_scheduler_or_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    with pytest.raises(
        InputError, match=r"127\.0\.0\.1:9: no scheduler answers \(.*\); start one with: dask scheduler"
    ):
        list(spread(end, 0, [1], scheduler="tcp://127.0.0.1:9"))
    with pytest.raises(InputError, match=r"'nonsense://x' is not an address; give an address such as tcp:"):
        list(spread(end, 0, [1], scheduler="nonsense://x"))
    empty = {"n_workers": 0, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(host="127.0.0.1", **empty) as idle_cluster:
        address = idle_cluster.scheduler_address
        with pytest.raises(InputError, match=f"{address}: the scheduler has no worker; .* dask worker {address}"):
            list(spread(end, 0, [1], scheduler=address))


def test_train_many_on_the_command_line(tmp_path: Path, workers: distributed.LocalCluster) -> None:
    (tmp_path / "train.conllu").write_text(conllu(SENTENCES * 3))
    (tmp_path / "dev.conllu").write_text(conllu(SENTENCES))
    common = "settings: {epochs: 1, bits: 14, train: train.conllu, dev: dev.conllu, families: []}\n"
    (tmp_path / "list.yaml").write_text(common + "models: {one: {}, two: {seed: 2}}\n")
    local, remote = tmp_path / "here", tmp_path / "there"
    assert run("train-many", tmp_path / "list.yaml", "-o", local).returncode == 0
    result = run("train-many", tmp_path / "list.yaml", "-o", remote, "--scheduler", workers.scheduler_address)
    assert result.returncode == 0, result.stderr
    for name in ("one.npz", "two.npz"):
        assert (local / name).read_bytes() == (remote / name).read_bytes()
