"""pyproject.toml, requirements.lock and environment.yml agree. The lock is complete and names no index."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_cli import conllu

PROJECT = Path(__file__).parents[1]
LOCK = (PROJECT / "requirements.lock").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
OPTIONAL: dict[str, list[str]] = PYPROJECT["project"]["optional-dependencies"]
#: extras in the environment of `make`; every other extra has its own lock
INSTALLED = ("ilp", "plots", "studies", "dev")
#: extras whose packages src/treebound imports at the place of use
LIBRARY_EXTRAS = ("ilp", "plots", "peers", "classifiers", "cluster")
WANTED = [
    *PYPROJECT["project"]["dependencies"],
    *(r for extra in INSTALLED for r in OPTIONAL[extra] if not r.startswith("treebound[")),
]
EXTRAS = {extra: requirements for extra, requirements in OPTIONAL.items() if extra not in INSTALLED}
LOCKS = {extra: (PROJECT / f"requirements-{extra}.lock").read_text(encoding="utf-8") for extra in EXTRAS}


def locked(text: str = LOCK) -> dict[str, Requirement]:
    """Return the requirements of a lock by name, and check that each has a hash."""
    requirements = {}
    for block in re.split(r"\n(?=[a-z0-9])", text):
        if block.startswith("#"):
            continue
        requirement = Requirement(block.partition("\\")[0].strip())
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), f"{requirement} has no hash"
        requirements[canonicalize_name(requirement.name)] = requirement
    return requirements


@pytest.mark.parametrize("needed", WANTED)
def test_the_lock_satisfies_pyproject(needed: str) -> None:
    requirement = Requirement(needed)
    lock = locked()[canonicalize_name(requirement.name)]
    (pin,) = lock.specifier
    assert pin.operator == "=="
    assert requirement.specifier.contains(pin.version), f"make lock: {lock} is not {needed}"


@pytest.mark.parametrize(("extra", "needed"), [(extra, needed) for extra in EXTRAS for needed in EXTRAS[extra]])
def test_the_lock_of_an_extra_satisfies_it(extra: str, needed: str) -> None:
    requirement = Requirement(needed)
    (pin,) = locked(LOCKS[extra])[canonicalize_name(requirement.name)].specifier
    assert requirement.specifier.contains(pin.version)


@pytest.mark.parametrize(
    ("extra", "common"), [("peers", {"numpy", "typer", "pydantic"}), ("cluster", {"joblib"}), ("docs", {"jinja2"})]
)
def test_extras_change_no_other_package(extra: str, common: set[str]) -> None:
    """The lock of an extra can be installed after the main lock, because common packages have the same version."""
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


#: module names that differ from the name of the distribution
DISTRIBUTIONS = {
    "IPython": "ipython", "libsvm": "libsvm-official", "sklearn": "scikit-learn",
    "timblapi": "python3-timbl", "ufal": "ufal.udpipe", "yaml": "pyyaml",
}  # fmt: skip
#: packages that are used without being imported, with the reason
UNSEEN = {
    "studies": {
        "celery": "dvc needs it",
        "ipykernel": "runs notebooks",
        "jupyterlab": "make lab",
        "ruamel-yaml-clib": "makes dvc fast",
        "udtools": "validates parsed treebanks, as a program of its own",
    },
    "peers": {"ufal-udpipe": "imported by the name that its peer states"},
}
FORBIDDEN = ["celery", "cvxpy", "dvc", "jupyterlab", "matplotlib", "pandas", "papermill"]
SOURCES = PROJECT / "src"


def names(requirements: list[str]) -> set[str]:
    """Return the names of requirements, including requirements of treebound's own extras."""
    collected: set[str] = set()
    for requirement in map(Requirement, requirements):
        if requirement.name == "treebound":
            collected |= names([r for extra in requirement.extras for r in OPTIONAL[extra]])
        else:
            collected.add(canonicalize_name(requirement.name))
    return collected


def imports(source: str) -> Iterator[tuple[str, str]]:
    """Yield (extra, distribution) of every third-party import. The extra is "" outside of `with needs(...)`."""

    def visit(node: ast.AST, extra: str) -> Iterator[tuple[str, str]]:
        match node:
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                return
            case ast.With(items=[ast.withitem(ast.Call(ast.Name("needs"), [ast.Constant(str(named))]))]):
                extra = named
            case ast.Import():
                yield from ((extra, alias.name.partition(".")[0]) for alias in node.names)
            case ast.ImportFrom(level=0, module=str(module)):
                yield extra, module.partition(".")[0]
        for child in ast.iter_child_nodes(node):
            yield from visit(child, extra)

    for extra, module in visit(ast.parse(source), ""):
        if module not in sys.stdlib_module_names | {"treebound", "studies"}:
            yield extra, canonicalize_name(DISTRIBUTIONS.get(module, module))


def imports_by_extra(package: str) -> dict[str, set[str]]:
    """Return the imported distributions by extra. The key "" holds imports outside of `with needs(...)`."""
    by_extra: dict[str, set[str]] = {}
    for path in (SOURCES / package).rglob("*.py"):
        for extra, distribution in imports(path.read_text(encoding="utf-8")):
            by_extra.setdefault(extra, set()).add(distribution)
    return by_extra


def test_the_library_needs_what_it_imports() -> None:
    """The dependencies are exactly the unconditional imports, and each extra is exactly the imports of its blocks."""
    by_extra = imports_by_extra("treebound")
    assert by_extra.pop("") == names(PYPROJECT["project"]["dependencies"])
    extras = {extra: names(OPTIONAL[extra]) - UNSEEN.get(extra, {}).keys() for extra in LIBRARY_EXTRAS}
    assert by_extra == extras


def test_the_library_needs_little() -> None:
    core = names(PYPROJECT["project"]["dependencies"])
    assert len(core) <= 12
    assert not core & set(FORBIDDEN)


def test_the_studies_need_what_they_import() -> None:
    """The extra `studies` is exactly what the studies import beyond the library's dependencies."""
    by_extra = imports_by_extra("studies")
    assert by_extra.keys() == {""}
    own = names(OPTIONAL["studies"]) - names(OPTIONAL["ilp"]) - UNSEEN["studies"].keys()
    core = names(PYPROJECT["project"]["dependencies"])
    assert by_extra[""] - core == own


def test_the_parser_of_imports_sees_blocks() -> None:
    """The helper `imports` assigns an import to the block around it, at any depth."""
    text = "import numpy\ndef f():\n    with needs('ilp'):\n        import highspy\n    import pandas.io\n"
    assert list(imports(text)) == [("", "numpy"), ("ilp", "highspy"), ("", "pandas")]


def test_import_directions() -> None:
    done = subprocess.run([Path(sys.executable).parent / "lint-imports"], cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


#: script that decodes in one process and runs a parser from training to evaluation on the command line
LIFE = """
import sys
import treebound
from treebound.cli import main

assert treebound.decode([[0, 2, 1], [0, 0, 3], [0, 1, 0]]).status == "optimal"

for command in (
    "train tiny.conllu tiny.conllu -o model --epochs 1 --bits 12",
    "parse model tiny.conllu -o parsed.conllu --certificates proofs",
    "check model parsed.conllu --certificates proofs",

    "evaluate tiny.conllu parsed.conllu",
    "train tiny.conllu tiny.conllu -o tagger --system tagging --epochs 1",
    "tag tagger tiny.conllu -o tagged.conllu",
):
    sys.argv = ["treebound", *command.split()]
    try:
        main()
    except SystemExit as error:
        assert not error.code, command
print("loaded:", *sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_the_library_loads_no_extra(tmp_path: Path) -> None:
    """Extras are installed here but not loaded, so that only their users spend time and memory on them."""
    words = [("dogs", "NOUN", 2), ("sleep", "VERB", 0), ("here", "ADV", 2)]
    (tmp_path / "tiny.conllu").write_text(conllu([words] * 20), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", LIFE], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    loaded = set(done.stdout.splitlines()[-1].split()[1:])
    assert {"treebound", "numba"} <= loaded
    assert not loaded & {*FORBIDDEN, "highspy", "sklearn", "distributed", "spacy", "studies"}


@pytest.mark.parametrize(
    ("use", "extra"),
    [
        ("treebound.decode([[0, 2], [0, 0]], decoder='ilp')", "ilp"),
        ("treebound.plots.style.panels(1)", "plots"),
        ("treebound.support.workers.spread(str, None, [], scheduler='tcp://127.0.0.1:8786')", "cluster"),
    ],
)
def test_a_missing_extra_is_named(use: str, extra: str) -> None:
    """One line names the extra to install if a package is missing. An import finder hides the packages of the extra."""
    code = f"""
import sys, treebound, treebound.plots.style, treebound.support.workers
class Hidden:
    def find_spec(name, path=None, target=None):
        if name in {sorted(module for module in names(OPTIONAL[extra]))}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden)
try:
    list({use})
except treebound.InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert re.fullmatch(rf"\w+ is not installed; run: pip install 'treebound\[{extra}\]'", line)


def test_importing_treebound_is_light() -> None:
    """Packages with a slow import are only imported where they are used."""
    heavy = ["cvxpy", "matplotlib", "pandas", "pooch", "papermill", "dvc"]
    code = f"import sys, treebound, treebound.decoders; print(*sys.modules.keys() & {heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
