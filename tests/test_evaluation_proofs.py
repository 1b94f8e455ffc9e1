"""Test certificate files: reading restores exactly what was written and reports damaged or foreign files."""

import gzip
import io
import json

import numpy as np
import pytest
from steps import random_step
from strategies import FAMILIES, build_problem, random_problem, rescored

from treebound.checker.certificates import Certificate, CertNode
from treebound.checker.proofs import Writer, encoded, first_shares, reading
from treebound.core.errors import InputError


def random_certificate(problem, rng):
    nodes = [CertNode(-1, -1, 0)]
    for i in range(int(rng.integers(0, 4))):
        nodes.append(CertNode(i, int(rng.integers(0, problem.arcs)), i % 2))
    for node in nodes:
        for _ in range(int(rng.integers(0, 3))):
            node.steps.append(random_step(problem, ("adjacent-sibling",), rng, "projective"))
    return Certificate(nodes, frozenset({"arc", "adjacent-sibling"}))


def written(problems, certificates):
    file = io.BytesIO()
    writer = Writer(file)
    for problem, certificate in zip(problems, certificates, strict=True):
        writer.add(problem, certificate)
    return file.getvalue()


def same(a, b):
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and a.tolist() == b.tolist()


@pytest.mark.parametrize("integer", [True, False], ids=["integer", "real"])
def test_written_certificates_are_read_back(integer, tmp_path):
    rng = np.random.default_rng(0)
    problems = [random_problem(rng, FAMILIES, max_n=6, integer=integer, feasible=True) for _ in range(25)]
    certificates = [None if i % 5 == 4 else random_certificate(p, rng) for i, p in enumerate(problems)]
    path = tmp_path / "proofs"
    path.write_bytes(written(problems, certificates))
    assert path.read_bytes() == written(problems, certificates)  # the content must not depend on time or name
    steps = 0
    with reading(path) as reader:
        assert reader.space == "projective"
        for problem, certificate in zip(problems, certificates, strict=True):
            restored = reader.next(problem)
            if certificate is None:
                assert restored is None
                continue
            assert restored.exact_families == certificate.exact_families
            for written_node, restored_node in zip(certificate.nodes, restored.nodes, strict=True):
                assert (written_node.parent, written_node.arc, written_node.value) == (
                    restored_node.parent,
                    restored_node.arc,
                    restored_node.value,
                )
                for a, b in zip(written_node.steps, restored_node.steps, strict=True):
                    assert a.shares.keys() == b.shares.keys()
                    assert all(same(a.shares[f], b.shares[f]) for f in a.shares)
                    assert all(same(getattr(a, x), getattr(b, x)) for x in ("shift", "slope", "child", "parent"))
                    steps += 1
        reader.finish()
    assert steps > 20


@pytest.mark.parametrize("integer", [True, False])
def test_first_shares_are_valid_and_cost_nothing(integer):
    problem = build_problem(6, np.random.default_rng(1), ("sibling", "comb"), integer=integer)
    if not integer:  # also scores between -1 and 0
        problem = rescored(problem, **{family: table.score / 100 for family, table in problem.parts.items()})
    for family, rows in (("sibling", False), ("sibling", True), ("comb", True)):
        table = problem.parts[family]
        share = first_shares(table, integer, rows)
        assert share.min() >= 0
        if rows:
            assert share.sum(axis=1) == pytest.approx(np.maximum(table.score, 0))
            assert not share[table.arcs == -1].any()
        else:
            assert (share <= np.maximum(table.score, 0)).all()
        step = random_step(problem, (), np.random.default_rng(0), "projective")
        step = type(step)({family: share})
        assert encoded(problem, Certificate([CertNode(-1, -1, 0, [step])]))["steps"][1][3:] == [[], []]


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(2)
    problems = [random_problem(rng, FAMILIES, max_n=5, feasible=True, integer=True) for _ in range(5)]
    path = tmp_path / "proofs"
    path.write_bytes(written(problems, [random_certificate(p, rng) for p in problems]))
    return path, problems


def read_all(path, problems):
    with reading(path) as reader:
        for problem in problems:
            reader.next(problem)
        reader.finish()


def test_a_damaged_file(file):
    path, problems = file
    read_all(path, problems)
    data = path.read_bytes()
    for size in (0, 5, 20, len(data) // 2, len(data) - 3):
        path.write_bytes(data[:size])
        with pytest.raises(InputError, match=r"proofs:(\d+:)? "):
            read_all(path, problems)
    path.write_bytes(data[: len(data) // 2] + b"xxxx" + data[len(data) // 2 + 4 :])
    with pytest.raises(InputError, match=r"damaged or foreign|not a certificate"):
        read_all(path, problems)
    path.write_bytes(gzip.compress(b"{}\n"))
    with pytest.raises(InputError, match="not a certificate file"):
        read_all(path, problems)
    with pytest.raises(InputError, match="cannot be read"):
        read_all(path.with_name("none"), problems)


def test_a_file_of_other_sentences(file):
    path, problems = file
    with pytest.raises(InputError, match="ends before"):
        read_all(path, [*problems, problems[0]])
    with pytest.raises(InputError, match="goes on after"):
        read_all(path, problems[:-1])
    longer_problem = build_problem(6, np.random.default_rng(0))
    with pytest.raises(InputError, match="6 and 36"):
        read_all(path, [longer_problem])


@pytest.mark.parametrize(
    "line",
    [
        [],
        {"words": 3},
        {"nodes": [[0, 0]]},
        {"steps": [[7, "step", "", [], []]]},
        {"steps": [[0, "shares", "sibling", [], []]]},
        {"steps": [[0, "step", "", [], []], [0, "shares", "cousin", [], []]]},
        {"steps": [[0, "step", "", [], []], [0, "child", "", [10**30], [1]]]},
        {"steps": [[0, "step", "", [], []], [0, "child", "", [0], [None]]]},
        {"steps": [[0, "step", "", [], []], [0, "nodes", "", [0], [1]]]},
    ],
    ids=str,
)
def test_an_invalid_certificate_line(line, tmp_path):
    problem = build_problem(3, np.random.default_rng(0), ("sibling",))
    good = encoded(problem, Certificate([CertNode(-1, -1, 0)]))
    header = {"format": "treebound certificates", "version": 1, "space": "projective"}
    data = good | line if isinstance(line, dict) else line
    if line == {"words": 3}:
        del data["exact"]
    path = tmp_path / "proofs"
    path.write_bytes(gzip.compress(f"{json.dumps(header)}\n{json.dumps(data)}\n".encode()))
    with pytest.raises(InputError, match=r"proofs:2: not a certificate of this sentence"):
        read_all(path, [problem])
