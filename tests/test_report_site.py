"""Notebooks in batch and the website: same inputs give same bytes, nothing comes from the network, maths is MathML."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
import synthetic_results
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from studies.common import params as parameters
from studies.pipeline import run, warm
from studies.site.execute import execute, main
from studies.site.render import render
from treebound.core.errors import InputError, TreeboundError

REPOSITORY = Path(__file__).parents[1]
NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))
NAMES = parameters.load(REPOSITORY / "params.yaml").notebooks
# these need a trained model or a treebank; tests of the pipeline and of scores run them
WITH_MODEL = {"00-tour", "05-your-scores", "06-playground", "32-confidence"}


# the stored notebooks


def test_every_listed_notebook_exists() -> None:
    assert sorted(NAMES) == [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code), "strip the outputs"
    tagged = [cell for cell in code if "parameters" in cell.metadata.get("tags", ())]
    assert [cell.id for cell in tagged] == [code[0].id], "only the first code cell is tagged `parameters`"
    values: dict[str, object] = {}
    exec(tagged[0].source, {}, values)  # only plain assignments pass
    assert values
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.cells[0].source.startswith("# ")
    source = "\n".join(cell.source for cell in code)
    assert not re.search(r"^\s*(def|class) ", source, re.M), "notebooks import the package and define nothing"
    assert str(REPOSITORY) not in path.read_text(encoding="utf-8")


# --- execution


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_results.project(tmp_path_factory.mktemp("project"), REPOSITORY)


@pytest.fixture(scope="module")
def site(project: Path) -> Path:
    """Return the report of invented results.

    It contains all notebooks that need only metrics, executed and rendered.
    """
    with contextlib.chdir(project), warm.interpreter(run.IMPORTED, run.ENVIRONMENT):
        executed = [
            execute(REPOSITORY / "notebooks" / f"{name}.ipynb", project / "results" / "notebooks" / f"{name}.ipynb")
            for name in NAMES
            if name not in WITH_MODEL
        ]
        return render(executed, project / "results" / "report").parent


def _notebook(path: Path, *cells: nbformat.NotebookNode) -> Path:
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    path.write_text(nbformat.writes(new_notebook(cells=list(cells), metadata=metadata)), encoding="utf-8")
    return path


def _parameters(source: str) -> nbformat.NotebookNode:
    return new_code_cell(source, metadata={"tags": ["parameters"]})


def test_executing_twice_gives_the_same_bytes(project: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    name = "30-accuracy-and-speed"
    first = (project / "results" / "notebooks" / f"{name}.ipynb").read_bytes()
    repeated = execute(REPOSITORY / "notebooks" / f"{name}.ipynb", project / "again" / f"{name}.ipynb")
    assert repeated.read_bytes() == first
    assert b"image/svg+xml" in first


def test_parameters_reach_the_notebook_and_the_kernel_is_this_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel in the user's folders does not replace this interpreter."""
    elsewhere = tmp_path / "user" / "kernels" / "python3"
    elsewhere.mkdir(parents=True)
    spec = {"argv": ["/nonexistent/python", "-f", "{connection_file}"], "display_name": "x", "language": "python"}
    (elsewhere / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "user"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    cells = _parameters("corpus = 'a'\nk = 3"), new_code_cell("import sys\nprint(corpus, k, sys.executable)")
    source = _notebook(tmp_path / "n.ipynb", *cells)
    assert main([str(source), str(tmp_path / "deep" / "er" / "o.ipynb"), "-p", "corpus", "b", "-p", "k", "10"]) == 0
    executed = nbformat.read(tmp_path / "deep" / "er" / "o.ipynb", as_version=4)
    assert executed.cells[-1].outputs[0].text == f"b 10 {sys.executable}\n"


def test_a_warm_interpreter_runs_pages_to_the_same_bytes(tmp_path: Path) -> None:
    """Pages and kernels are forks of the warm interpreter. Changes by one page are invisible to other pages."""
    show = new_code_cell(
        "import nbclient, pandas as pd\nprint(hasattr(pd, 'mark'))\npd.mark = a\npd.DataFrame({'a': [a]})"
    )
    forked = new_code_cell("import os\nprint(open(f'/proc/{os.getppid()}/cmdline').read().count('serve('))")
    page = _notebook(tmp_path / "page.ipynb", _parameters("a = 1"), show)
    forked_page = _notebook(tmp_path / "asked.ipynb", _parameters("a = 1"), forked)
    command = [sys.executable, "-m", "studies.pipeline.warm", "studies.site.execute"]

    def shown(source: Path, name: str) -> str:
        subprocess.run([*command, str(source), str(tmp_path / name)], check=True, capture_output=True)
        return (tmp_path / name).read_text()

    alone = shown(page, "alone")
    with warm.interpreter(["papermill", "ipykernel.kernelapp", "pandas"]):
        assert [shown(page, "first"), shown(page, "second")] == [alone, alone]
        assert nbformat.reads(shown(forked_page, "asked.out"), 4).cells[-1].outputs[0].text == "1\n"


def test_a_failing_cell_is_one_line_and_leaves_the_old_result(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    source = _notebook(tmp_path / "n.ipynb", _parameters("a = 1"), new_code_cell("raise ValueError('no such corpus')"))
    target = tmp_path / "o.ipynb"
    target.write_text("before")
    with pytest.raises(TreeboundError, match=r"n.ipynb: cell 2 failed with ValueError: no such corpus"):
        execute(source, target)
    assert target.read_text() == "before"
    assert main([str(source), str(target)]) == 1
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


WITHOUT_KERNEL = nbformat.writes(new_notebook(cells=[new_code_cell("a = 1", metadata={"tags": ["parameters"]})]))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "no such notebook"),
        ("{", "not a notebook"),
        ("[]", "not a notebook"),
        ("{}", "not a notebook"),
        (WITHOUT_KERNEL, "names no kernel"),
    ],
)
def test_what_is_no_notebook_is_refused(tmp_path: Path, content: str | None, reason: str) -> None:
    path = tmp_path / "n.ipynb"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=reason):
        execute(path, tmp_path / "o.ipynb")


def test_unknown_parameters_are_refused(tmp_path: Path) -> None:
    source = _notebook(tmp_path / "n.ipynb", _parameters("corpus = 'a'"))
    with pytest.raises(InputError, match="no parameter 'corpsu'; its parameters: corpus"):
        execute(source, tmp_path / "o.ipynb", {"corpsu": "b"})


def test_notebooks_fail_where_results_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synthetic_results.project(tmp_path, REPOSITORY)
    shutil.rmtree(tmp_path / "results" / "metrics" / "decode")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TreeboundError, match=r"missing, though params\.yaml asks for it"):
        execute(REPOSITORY / "notebooks" / "20-main-comparison.ipynb", tmp_path / "o.ipynb")


# --- rendering


class Page(HTMLParser):
    """The resources that a page loads, its links and its missing elements."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.text: list[str] = []
        self._inside: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        self._inside.append(tag)
        if "id" in values:
            self.ids.append(str(values["id"]))
        if tag == "a":
            self.links.append(str(values["href"]))
        elif "src" in values or "href" in values:
            self.loads.append(str(values.get("src") or values.get("href")))
        if tag == "img":
            self.images.append(values)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not {"pre", "code"} & set(self._inside):
            self.text.append(data)


def test_pages_are_complete_and_load_nothing_from_elsewhere(site: Path) -> None:
    pages = {path.name: Page(path) for path in site.glob("*.html")}
    assert set(pages) == {f"{name}.html" for name in NAMES if name not in WITH_MODEL}
    for page in pages.values():
        assert page.tags.count("script") == 1
        assert "script.js" in page.loads
        assert page.tags.count("h1") == 1
        for loaded in page.loads:
            if loaded.startswith("#"):  # a mark that a figure inside the page uses several times
                assert loaded[1:] in page.ids
                continue
            assert not re.match(r"[a-z]+:|//", loaded), loaded
            assert (site / loaded).is_file()
        assert all(image["alt"] for image in page.images)
        assert len(page.ids) == len(set(page.ids))
        assert "$" not in "".join(page.text)
        for link in page.links:
            name, _, anchor = link.partition("#")
            if name.removesuffix(".html") in WITH_MODEL:
                continue
            assert name in ("", *pages) or (name.endswith((".csv", ".svg")) and (site / name).is_file()), link
            assert not anchor or anchor in (pages[name].ids if name else page.ids)
    verdicts = (site / "claims.csv").read_text().splitlines()
    assert verdicts[0].startswith("paper,name,claim")
    assert (
        '<a href="20-main-comparison.html#claim-qian-liu-2013-all-factors">table</a>'
        in (site / "94-verdicts.html").read_text()
    )
    assert "math" in pages["40-tuning.html"].tags
    style = (site / "style.css").read_text()
    assert "url(" not in style
    assert "@import" not in style


def test_rendering_twice_gives_the_same_bytes(project: Path, site: Path, tmp_path: Path) -> None:
    executed = [project / "results" / "notebooks" / f"{name}.ipynb" for name in NAMES if name not in WITH_MODEL]
    rerendered = render(executed, tmp_path / "site").parent
    assert _files(rerendered) == _files(site)
    render(executed[:2], tmp_path / "site")  # a new site replaces an older one completely
    assert {path.name for path in (tmp_path / "site").glob("*.html")} == {"index.html", f"{executed[1].stem}.html"}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_no_page_of_the_reference_shows_a_warning_of_a_library() -> None:
    pages = list((REPOSITORY / "results" / "reference" / "report").glob("*.html"))
    assert len(pages) > 15
    assert [page.name for page in pages if "Warning: " in page.read_text(encoding="utf-8")] == []


def test_every_link_of_the_committed_report_leads_somewhere() -> None:
    """Links lead to a page, an anchor, a figure or a table. Some pages come from earlier reports."""
    folder = REPOSITORY / "results" / "reference" / "report"
    pages = {path.name: Page(path) for path in folder.glob("*.html")}
    assert len(pages) > 15
    links = [(name, link) for name, page in pages.items() for link in page.links + page.loads]
    inside = [(name, *link.partition("#")) for name, link in links if not re.match(r"[a-z]+:", link)]
    assert len(inside) > 1000
    assert not [where for where in inside if not (folder / (where[1] or where[0])).is_file()]
    assert not [
        (name, file, anchor) for name, file, _, anchor in inside if anchor and anchor not in pages[file or name].ids
    ]


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_markdown_maths_becomes_mathml(tmp_path: Path) -> None:
    text = (
        "# T\n\nIf $a < b$ then\n\n$$\\sum_{e \\in c} p_c^e \\le 1$$\n\n## On $\\psi$\n\nSee [this](10-x.ipynb#there)."
    )
    path = _notebook(tmp_path / "index.ipynb", new_markdown_cell(text))
    html = render([path], tmp_path / "site").read_text()
    assert html.count("<math") >= 3
    assert "<munder><mo>&#x02211;</mo>" in html
    assert '<a href="10-x.html#there">this</a>' in html
    assert "<title>T</title>" in html


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([new_markdown_cell("no title")], "no heading of level 1"),
        ([new_markdown_cell("# T\n\n$\\nosuchcommand{x}$")], "maths not understood"),
        ([new_markdown_cell("# T"), new_code_cell("1")], "cell 2 was not executed"),
    ],
)
def test_what_cannot_be_rendered_is_refused(tmp_path: Path, cells: list, reason: str) -> None:
    path = _notebook(tmp_path / "index.ipynb", *cells)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "old.html").write_text("old")
    with pytest.raises(InputError, match=reason):
        render([path], tmp_path / "site")
    assert (tmp_path / "site" / "old.html").read_text() == "old"


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def _browse(path: Path, folder: Path, *more: str) -> tuple[str, set[str]]:
    """Return the page as Chromium shows it, and the URLs outside the disk that it requested.

    No host can be reached.
    """
    log = folder / f"{path.stem}.json"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    flags += [f"--user-data-dir={folder / 'profile'}", "--host-resolver-rules=MAP * 127.0.0.1:9"]
    command = [str(CHROMIUM), *flags, *more, f"--log-net-log={log}", "--dump-dom", path.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout
    # the cache key of a request names the page that made it; requests of the browser itself have no key
    return shown, set(re.findall(r'_dk_file:// file:// (\w+://[^"]+)"', log.read_text(errors="replace")))


#: script in a page within a frame, which reports layout faults to the outer page
LOOK = """<script>
const faults = [];
addEventListener("error", (event) => faults.push(event.message));
addEventListener("load", () => {
  const frames = ".scroll, figure, pre, .formula, .skip";
  for (const one of document.body.querySelectorAll("*")) {
    const box = one.getBoundingClientRect();
    if (box.width && box.right > innerWidth + 1 && !one.closest(frames))
      faults.push(one.tagName + " " + one.className + " ends at " + box.right);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page is wider than the window");
  const prose = document.body.cloneNode(true);
  prose.querySelectorAll("pre, code, script").forEach((one) => one.remove());
  if (prose.textContent.includes("$")) faults.push("maths that is not set");
  if (innerWidth >= 1200 && document.documentElement.scrollHeight > 8000) faults.push("the page is too long");
  const button = document.querySelector("th button");
  if (button) {
    const column = button.closest("th").cellIndex;
    button.click(); button.click();
    const cells = [...button.closest("table").tBodies[0].rows].map((row) => row.cells[column].textContent);
    if (cells.some((cell, i) => i && isNaN(parseInt(cell + cells[i - 1])) && cells[i - 1].localeCompare(cell) > 0))
      faults.push("not sorted: " + cells);
  }
  parent.postMessage([location.pathname.split("/").pop(), innerWidth, faults.join("; ")], "*");
});
</script>"""
FRAMES = """<body><script>addEventListener("message", ({data}) => {
  const line = document.createElement("pre"); line.textContent = JSON.stringify(data); document.body.append(line);
});</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [1200, 832, 390])
def test_a_browser_shows_all_without_the_network(width: int, site: Path, tmp_path: Path) -> None:
    """Content wider than the window is inside scrolling frames. The script runs and sorts."""
    looked = shutil.copytree(site, tmp_path / "site")
    for path in looked.glob("*.html"):
        path.write_text(path.read_text(encoding="utf-8").replace("</head>", f"{LOOK}</head>"), encoding="utf-8")
    faulty = (
        ("the page is wider than the window", "<p style='width: 2000px'>x</p>"),
        ("missing is not defined", "<script>missing()</script>"),
        ("maths that is not set", "<p>$x$</p>"),
        ("the page is too long" if width == 1200 else "", "<p style='height: 9000px'>x</p>"),
        ("", "<img src='http://example.org/x.png'>"),
    )
    for i, (_, markup) in enumerate(faulty):
        (looked / f"faulty{i}.html").write_text(f"<!DOCTYPE html>{LOOK}{markup}")
    names = sorted(path.name for path in looked.glob("*.html"))
    frame = f'<iframe src="%s" style="width: {width}px; height: 900px; border: 0"></iframe>'
    (looked / "frames.html").write_text(FRAMES + "".join(frame % name for name in names))
    shown, requested = _browse(looked / "frames.html", tmp_path, "--virtual-time-budget=20000")
    reported = {
        name: (wide, faults) for name, wide, faults in map(json.loads, re.findall("<pre>(.*?)</pre>", shown, re.S))
    }
    for i, (fault, _) in enumerate(faulty):
        assert fault in reported.pop(f"faulty{i}.html")[1]
    assert reported == {path.name: (width, "") for path in site.glob("*.html")}
    assert requested == {"http://example.org/x.png"}
