"""pyproject.toml, requirements.lock and environment.yml say the same; the lock is complete and names no index."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[1]
LOCK = (PROJECT / "requirements.lock").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
WANTED = PYPROJECT["project"]["dependencies"] + PYPROJECT["project"]["optional-dependencies"]["dev"]


EXTRAS = {extra: wanted for extra, wanted in PYPROJECT["project"]["optional-dependencies"].items() if extra != "dev"}
LOCKS = {extra: (PROJECT / f"requirements-{extra}.lock").read_text(encoding="utf-8") for extra in EXTRAS}


def locked(text: str = LOCK) -> dict[str, Requirement]:
    """Requirements of a lock by name, and a check that each has hashes."""
    found = {}
    for block in re.split(r"\n(?=[a-z0-9])", text):
        if block.startswith("#"):
            continue
        requirement = Requirement(block.partition("\\")[0].strip())
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), f"{requirement} has no hash"
        found[canonicalize_name(requirement.name)] = requirement
    return found


@pytest.mark.parametrize("wanted", WANTED)
def test_the_lock_satisfies_pyproject(wanted: str) -> None:
    requirement = Requirement(wanted)
    lock = locked()[canonicalize_name(requirement.name)]
    (pin,) = lock.specifier
    assert pin.operator == "=="
    assert requirement.specifier.contains(pin.version), f"make lock: {lock} is not {wanted}"


@pytest.mark.parametrize(("extra", "wanted"), [(extra, wanted) for extra in EXTRAS for wanted in EXTRAS[extra]])
def test_the_lock_of_an_extra_satisfies_it(extra: str, wanted: str) -> None:
    requirement = Requirement(wanted)
    (pin,) = locked(LOCKS[extra])[canonicalize_name(requirement.name)].specifier
    assert requirement.specifier.contains(pin.version)


@pytest.mark.parametrize(
    ("extra", "common"), [("peers", {"numpy", "typer", "pydantic"}), ("cluster", {"joblib"}), ("docs", {"jinja2"})]
)
def test_extras_change_no_other_package(extra: str, common: set[str]) -> None:
    """Its lock can be installed after the other one: what they share has the same version."""
    ours, theirs = locked(), locked(LOCKS[extra])
    shared = ours.keys() & theirs.keys()
    assert common <= shared
    assert {name: theirs[name].specifier for name in shared} == {name: ours[name].specifier for name in shared}


@pytest.mark.parametrize("lock", [LOCK, *LOCKS.values()], ids=["requirements", *LOCKS])
def test_the_lock_names_no_index(lock: str) -> None:
    assert not re.search(r"https?://|file:|--(extra-)?index|find-links", lock)


def test_build_requirements_are_locked() -> None:
    names = {canonicalize_name(Requirement(r).name) for r in PYPROJECT["build-system"]["requires"]}
    assert names <= set(locked()), "the editable install runs without build isolation"


def test_environment_installs_the_lock() -> None:
    environment = yaml.safe_load((PROJECT / "environment.yml").read_text(encoding="utf-8"))
    packages = [d for d in environment["dependencies"] if isinstance(d, str)]
    (pip,) = [d["pip"] for d in environment["dependencies"] if isinstance(d, dict)]
    assert packages == [f"python{PYPROJECT['project']['requires-python']}", "pip"]
    assert pip == ["--require-hashes -r requirements.lock"]


def test_what_is_imported_is_declared() -> None:
    """Every third-party module that the package names is a dependency of its own, not somebody else's."""
    import grimp

    graph = grimp.build_graph("treebound", include_external_packages=True)
    ours = {m for m in graph.modules if m.startswith("treebound")}
    external = {m for m in graph.modules - ours if m not in sys.stdlib_module_names}
    names = {"yaml": "pyyaml", "sklearn": "scikit-learn", "ufal": "ufal.udpipe", "libsvm": "libsvm-official"}
    names |= {"timblapi": "python3-timbl"}
    wanted = [
        *PYPROJECT["project"]["dependencies"],
        *(r for extra in ("peers", "cluster", "classifiers") for r in EXTRAS[extra]),
    ]
    declared = {canonicalize_name(Requirement(r).name) for r in wanted}
    undeclared = {m for m in external if canonicalize_name(names.get(m, m)) not in declared}
    assert not undeclared, f"add to pyproject.toml: {undeclared}"


def test_import_directions() -> None:
    done = subprocess.run([Path(sys.executable).parent / "lint-imports"], cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_importing_treebound_is_light() -> None:
    """What is only used here and there is imported there."""
    heavy = ["cvxpy", "matplotlib", "pandas", "pooch", "papermill", "dvc"]
    code = f"import sys, treebound, treebound.decoders; print(*sys.modules.keys() & {heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
