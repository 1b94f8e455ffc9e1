"""Notebooks in batch and the website: same inputs give same bytes, nothing comes from the network, maths is MathML."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
import repeated_sentences
import synthetic_results
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from studies.common import params as parameters
from studies.pipeline import run, warm
from studies.site import navigation, search_index
from studies.site.execute import execute, main
from studies.site.render import _shortened, render
from treebound.core.errors import InputError, TreeboundError
from treebound.plots.svg import CAPTION, NARROW

REPOSITORY = Path(__file__).parents[1]
NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))
NAMES = parameters.load(REPOSITORY / "params.yaml").notebooks
# these need a trained model or a treebank; tests of the pipeline and of scores run them
WITH_MODEL = {"00-tour", "05-your-scores", "06-playground", "32-confidence"}


# the stored notebooks


def test_every_listed_notebook_exists() -> None:
    pages = {path.stem for path in NOTEBOOKS}
    assert len(NAMES) == len(set(NAMES))
    assert not pages - set(NAMES), "add these names to notebooks in params.yaml"
    assert not set(NAMES) - pages, "these names in params.yaml have no file in notebooks/"


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


def test_no_page_repeats_a_sentence(project: Path, site: Path) -> None:
    """A page has at most three sentences that differ in names and numbers alone."""
    notebooks = sorted((project / "results" / "notebooks").glob("*.ipynb"))
    assert len(notebooks) == len(NAMES) - len(WITH_MODEL)
    names = repeated_sentences.names(project / "params.yaml")
    pages = {path.stem: repeated_sentences.sentences(path) for path in notebooks}
    assert sum(map(len, pages.values())) > 100
    groups = {name: list(repeated_sentences.repeated(shown, names)) for name, shown in pages.items()}
    assert not {name: group for name, group in groups.items() if group}


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
    """The resources that a page loads, and its links, ids, tags, images and text outside of code."""

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
        explores = "explore.js" in page.loads  # this page has its data and its own script
        assert page.tags.count("script") == (3 if explores else 1)
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
        assert explores == (page is pages["07-explore.html"])
        assert "$" not in "".join(page.text)
        for link in page.links:
            if link.startswith("https://"):  # the source of a published figure
                continue
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


def test_no_line_ends_between_a_number_and_its_unit(tmp_path: Path) -> None:
    text = (
        "# T\n\n95 % with k = 10, p < 0.001 and 3 CPU s; `x = 95 % 2`; `parse --k-best 10 -o FILE`\n\n```\n5 % 2\n```"
    )
    path = _notebook(tmp_path / "index.ipynb", new_markdown_cell(text))
    html = render([path], tmp_path / "site").read_text()
    assert "95\u00a0% with k\u00a0=\u00a010, p\u00a0&lt;\u00a00.001 and 3 CPU\u00a0s; <code>x = 95 % 2</code>" in html
    assert '<span class="whole">--k-best</span> 10 <span class="whole">-o</span> FILE</code>' in html
    assert "<code>5 % 2\n</code>" in html, "code can be copied"


def test_a_picture_without_a_narrow_form_scrolls_in_a_frame(tmp_path: Path) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" aria-label="a tree" width="900" height="9"></svg>'
    parts = {"image/svg+xml": svg, CAPTION: "Tree & words"}
    outputs = [new_output("display_data", data=data) for data in (parts, parts | {NARROW: svg})]
    path = _notebook(
        tmp_path / "index.ipynb", new_markdown_cell("# T"), new_code_cell("1", execution_count=1, outputs=outputs)
    )
    html = render([path], tmp_path / "site").read_text()
    assert html.count('<div class="scroll" role="region" aria-label="Tree &amp; words" tabindex="0"><img ') == 1
    assert html.count("<picture>") == 1


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


#: script in a page within a frame, which reports layout faults and the height of the page to the outer page
LOOK = """<script>
const faults = [];
addEventListener("error", (event) => faults.push(event.message));
const wide = () => {
  const frames = ".scroll, figure, pre, .formula, .skip";
  for (const one of document.body.querySelectorAll("*")) {
    const box = one.getBoundingClientRect();
    if (box.width && box.right > innerWidth + 1 && !one.closest(frames))
      faults.push(one.tagName + " " + one.className + " ends at " + box.right);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page is wider than the window");
  for (const figure of document.querySelectorAll("figure"))
    if (figure.scrollWidth > figure.clientWidth + 1) faults.push("a figure is wider than its frame");
};
const names = () => {  // names of rows break between words only; stacked cells of claims take the whole width
  const pen = document.createElement("canvas").getContext("2d");
  for (const head of document.querySelectorAll(".figures tbody th[scope=row]")) {
    const style = getComputedStyle(head);
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    const longest = Math.max(...head.textContent.split(/[\\s+-]+/).map((word) => pen.measureText(word).width));
    const room = head.clientWidth - parseFloat(style.paddingRight);
    if (room > 0 && longest > room + 2) faults.push("a name of a row breaks inside a word");
  }
  const cells = [...document.querySelectorAll(".claims td")];
  const stacked = cells.filter((cell) => getComputedStyle(cell).display === "block");
  if (stacked.some((cell) => cell.offsetWidth && cell.offsetWidth < 0.9 * cell.parentElement.offsetWidth))
    faults.push("a cell of a claim is narrow");
};
const columns = () => {
  for (const frame of document.querySelectorAll(".scroll")) {
    const head = frame.querySelector("table.figures tbody th[scope=row]");
    if (!head || frame.scrollWidth <= frame.clientWidth + 1) continue;
    frame.scrollLeft = 10000;
    const box = head.getBoundingClientRect(), outer = frame.getBoundingClientRect();
    if (box.left < outer.left - 1) faults.push("the first column is out of sight");
    if (box.right > outer.right - 60) faults.push("the first column hides the others");
    frame.scrollLeft = 0;
  }
};
const rows = () => {
  const button = document.querySelector("th button");
  if (!button) return;
  const column = button.closest("th").cellIndex;
  button.click(); button.click();
  const cells = [...button.closest("table").tBodies[0].rows].map((row) => row.cells[column].textContent);
  if (cells.some((cell, i) => i && isNaN(parseInt(cell + cells[i - 1])) && cells[i - 1].localeCompare(cell) > 0))
    faults.push("not sorted: " + cells);
};
const queries = [
  ["tests of the diff", "heading"], ["all grandchildren alone", "claim"], ["published table uas", "table"],
  ["treebound mine", "command"],
];
const search = async () => {
  const box = document.querySelector(".search input");
  for (const [query, kind] of box ? queries : [["", "box"]]) {
    const notes = () => [...document.querySelectorAll(".search li small")];
    const kinds = () => notes().map((note) => note.textContent.split(" ")[0]);
    for (let i = 0; box && i < 100 && !kinds().includes(kind); i++) {
      box.value = query;
      box.dispatchEvent(new Event("input"));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    if (!kinds().includes(kind)) faults.push("the search finds no " + kind);
    if (box && innerWidth < 800) document.querySelector(".menu").open = true;
    if (document.documentElement.scrollWidth > innerWidth) faults.push("the results are too wide");
  }
};
addEventListener("load", async () => {
  const prose = document.body.cloneNode(true);
  prose.querySelectorAll("pre, code, script").forEach((one) => one.remove());
  if (prose.textContent.includes("$")) faults.push("maths that is not set");
  wide();
  const height = document.documentElement.scrollHeight;
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  let opened = 0;  // a browser shows one folded section at a time: look into each
  const folds = [...document.querySelectorAll("details[name=fold]")];
  for (const fold of folds.length ? folds : [document.body]) {
    fold.open = true;
    opened = Math.max(opened, document.documentElement.scrollHeight);
    wide();
    columns();
    names();
  }
  rows();
  await search();
  const name = location.pathname.split("/").pop();
  parent.postMessage([name, innerWidth, height, opened, [...new Set(faults)].join("; ")], "*");
});
</script>"""
FRAMES = """<body><script>addEventListener("message", ({data}) => {
  const line = document.createElement("pre"); line.textContent = JSON.stringify(data); document.body.append(line);
});</script>"""
TALLEST = 8000  #: largest height of a page at a width of 1200 px, with everything open


def _looked(
    site: Path, width: int, folder: Path, faulty: tuple[str, ...] = ()
) -> tuple[dict[str, tuple[int, int, int, str]], set[str]]:
    """Return what LOOK reports of each page: width, height, height with everything open, faults; and the requests.

    faulty  markup of further pages, which are called faulty0.html, ...
    """
    looked = shutil.copytree(site, folder / "site")
    for path in looked.glob("*.html"):
        path.write_text(path.read_text(encoding="utf-8").replace("</head>", f"{LOOK}</head>"), encoding="utf-8")
    for i, markup in enumerate(faulty):
        (looked / f"faulty{i}.html").write_text(f"<!DOCTYPE html>{LOOK}{markup}")
    names = sorted(path.name for path in looked.glob("*.html"))
    frame = f'<iframe src="%s" style="width: {width}px; height: 900px; border: 0"></iframe>'
    (looked / "frames.html").write_text(FRAMES + "".join(frame % name for name in names))
    shown, requested = _browse(looked / "frames.html", folder, "--virtual-time-budget=60000")
    reports = map(json.loads, re.findall("<pre>(.*?)</pre>", shown, re.S))
    return {name: tuple(report) for name, *report in reports}, requested


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [1600, 1200, 832, 390])
def test_a_browser_shows_all_without_the_network(width: int, site: Path, tmp_path: Path) -> None:
    """Content fits its frame, tables keep their first column in sight, and the script sorts and searches."""
    row = "<tr><th scope=row>a</th>" + "<td>1234567890</td>" * 99
    faulty = (
        ("the page is wider than the window", "<p style='width: 2000px'>x</p>"),
        ("missing is not defined", "<script>missing()</script>"),
        ("maths that is not set", "<p>$x$</p>"),
        ("a figure is wider", "<figure style='width: 99px; overflow: auto'><p style='width: 200px'>x</p></figure>"),
        ("the first column is out of sight", f"<div class=scroll style='overflow: auto'><table class=figures>{row}"),
        ("the search finds no box", "<p>x</p>"),
        (
            "a name of a row breaks inside a word",
            "<table class=figures><tbody><tr><th scope=row style='display: block; width: 20px'>perceptron</table>",
        ),
        (
            "a cell of a claim is narrow",
            "<table class=claims style='width: 99%'><tbody><tr style='display: block'>"
            "<td style='display: block; width: 34%'>x</td></tr></table>",
        ),
        ("", "<img src='http://example.org/x.png'>"),
    )
    reported, requested = _looked(site, width, tmp_path, tuple(markup for _, markup in faulty))
    for i, (fault, _) in enumerate(faulty):
        assert fault in reported.pop(f"faulty{i}.html")[-1]
    faults = {name: (wide, fault) for name, (wide, _, _, fault) in reported.items()}
    assert faults == {path.name: (width, "") for path in site.glob("*.html")}
    assert requested == {"http://example.org/x.png"}


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_no_page_is_long_even_with_everything_open(site: Path, tmp_path: Path) -> None:
    tall = "<details class=fold name=fold><p style='height: 9000px'>x</p></details><details class=fold name=fold>y"
    reported, _ = _looked(site, 1200, tmp_path, (tall,))
    heights = {name: opened for name, (_, _, opened, _) in reported.items()}
    assert heights.pop("faulty0.html") > TALLEST
    assert {name: height for name, height in heights.items() if height > TALLEST} == {}


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_committed_report_is_short(tmp_path: Path) -> None:
    """The first page is at most 4,000 px high, and no other page more than 8,000 px with everything open."""
    reported, _ = _looked(REPOSITORY / "results" / "reference" / "report", 1200, tmp_path)
    assert len(reported) > 15
    assert reported["index.html"][1] <= 4000
    assert {name: opened for name, (_, _, opened, _) in reported.items() if opened > TALLEST} == {}


def test_the_committed_report_is_small() -> None:
    """The report has at most 4 MB, and no figure more than 150 KB."""
    files = _files(REPOSITORY / "results" / "reference" / "report")
    assert {name: len(content) for name, content in files.items() if "figures/" in name and len(content) > 150e3} == {}
    assert sum(map(len, files.values())) <= 4e6


def test_tables_are_written_without_what_html_does_not_need() -> None:
    """A page is shorter, and a browser reads the same elements, attributes and text from it."""

    class Read(HTMLParser):
        def __init__(self, page: str) -> None:
            super().__init__()
            self.seen: list[object] = []
            self.feed(page)

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.seen.append((tag, attrs))

        def handle_data(self, data: str) -> None:
            self.seen.append(data)

    table = (
        '<table class="figures"><thead><tr><th scope="col" class="index">a</th></tr></thead><tbody><tr>'
        '<th scope="rowgroup" rowspan="2">b</th>'
        '<td class="text" data-label="two words" title="">"c" &lt;td class="d"&gt;</td>'
        '<td data-x="e&gt;f">g</td></tr></tbody></table><p class="caption">h</p>'
    )
    short = _shortened(table)
    assert Read(short).seen == Read(table).seen
    assert "<th scope=rowgroup rowspan=2>b<td class=text" in short
    assert len(short) <= len(table) - 40
    assert _shortened(short) == short


# --- navigation and search


def test_every_notebook_states_its_place_in_the_navigation() -> None:
    places = {path.stem: navigation.place(nbformat.read(path, as_version=4), path) for path in NOTEBOOKS}
    unplaced = [name for name, place in places.items() if place.group == "more" or place.question == "other"]
    assert not unplaced, "the metadata must state a group and a question of navigation.py"
    assert all(place.short for place in places.values())
    assert len({place.short for place in places.values()}) == len(places)
    stated = [nbformat.read(path, as_version=4).metadata["treebound"] for path in NOTEBOOKS]
    assert all(set(entry) == {"group", "question", "short"} for entry in stated)


def test_a_notebook_ends_with_the_next_page_of_the_site(site: Path) -> None:
    """The last cell of a notebook has the link of the site to the next page, and the site leaves the cell out."""
    notebooks = {name: nbformat.read(REPOSITORY / "notebooks" / f"{name}.ipynb", as_version=4) for name in NAMES}
    pages = navigation.in_order(
        navigation.Placed(name, place=navigation.place(notebook, Path(name))) for name, notebook in notebooks.items()
    )
    assert pages[0].name == "index"
    for page, following in pairwise(pages[1:]):
        last = notebooks[page.name].cells[-1]
        assert last.source == navigation.ending(following), page.name
        assert last.metadata["tags"] == ["notebook"], page.name
    for name, notebook in notebooks.items():
        text = "".join(cell.source for cell in notebook.cells if "notebook" not in cell.metadata.get("tags", ()))
        assert not re.search(r"Continue with|Back to \[", text), name
    rendered = [page for page in pages if page.name not in WITH_MODEL]  # the site of the tests lacks the other pages
    for page, following in pairwise(rendered[1:]):
        html = (site / f"{page.name}.html").read_text(encoding="utf-8")
        assert f'<a rel="next" href="{following.name}.html">{following.short} →</a>' in html
        assert "Continue with" not in html


def test_pages_are_grouped_and_a_page_without_a_group_is_listed_under_more(tmp_path: Path) -> None:
    pages = [_notebook(tmp_path / f"{name}.ipynb", new_markdown_cell(f"# {name}")) for name in ("b", "a", "index")]
    for path, group in ((pages[1], "zhang-2014"), (pages[2], "start")):
        notebook = nbformat.read(path, as_version=4)
        notebook.metadata["treebound"] = {"group": group, "short": "A & B"}
        nbformat.write(notebook, path)
    html = render(pages, tmp_path / "site").read_text()
    menu = html.partition("<nav")[2].partition("</nav>")[0]
    assert re.findall("<summary>(.*?)</summary>", menu) == ["Start", "Sampling (Zhang et al. 2014)", "More"]
    assert re.findall('href="(.*?)"', menu) == ["index.html", "a.html", "b.html"]
    assert re.findall('<a href="a.html">(.*?)</a>', menu) == ["A &amp; B"]
    assert menu.count("<details open>") == 1
    assert re.findall("<h3>(.*?)</h3>", html) == ["Other questions"]
    notebook.metadata["treebound"]["group"] = "zhang-2104"
    nbformat.write(notebook, path)
    with pytest.raises(InputError, match=r"index\.ipynb: unknown group 'zhang-2104' in .*; choose from start, qian"):
        render(pages, tmp_path / "site")


def test_the_search_lists_what_readers_look_for_with_its_address() -> None:
    html = (
        "<h1>Title</h1><p class=lead>Run <code>treebound mine X</code> and <code>x</code>.</p><p>Text</p>"
        "<div class=answer><p>It does.</p></div><h2 id='one'>One &amp; <em>two</em></h2>"
        "<p class='caption'>First table</p><div class='scroll'><table></table></div>"
        "<p class='caption'>A table</p><div id='t1' class='scroll'><table><tr><th scope=row>spaCy 3 <b>parser</b></th>"
        "<td>none</td></tr><tr><th scope='rowgroup'>parser</th><th scope='row'>12 %</th></tr></table></div>"
        "<details class='long' id='t2'><summary>Long <b>table</b></summary><p>rows</p></details>"
        "<details><summary>Code</summary></details>"
        "<figure id='f1'><img alt='Marks at &lt;5' src='a.svg'><figcaption><a href='a.svg'>SVG</a>"
        "</figcaption></figure><figure id='f2'><img alt='No caption'></figure>"
        "<figure><img src='b.svg' alt='not used'><figcaption>What is seen</figcaption></figure>"
        "<table><tbody><tr id='claim-x'><th>It helps. <span class='where'>section 4</span></th><td>93.1</td></tr>"
    )
    assert [(entry.kind, entry.anchor, entry.text) for entry in search_index.entries(html)] == [
        ("command", "", "treebound mine X"),
        ("text", "", "Run treebound mine X and x."),
        ("text", "", "It does."),
        ("heading", "one", "One & two"),
        ("table", "one", "First table"),
        ("table", "t1", "A table"),
        ("table", "t2", "Long table"),
        ("figure", "f1", "Marks at <5"),
        ("figure", "f2", "No caption"),
        ("figure", "one", "What is seen"),
        ("claim", "claim-x", "It helps."),
    ]
    assert [entry.names for entry in search_index.entries(html) if entry.names] == ["spaCy parser"]
    script = search_index.script([("a.html", "A", "G", html), ("b.html", "B", "G", html)])
    assert script.count('"claim"') == 1, "a claim is listed once"
    assert script.count('"heading"') == 2


def test_the_search_index_is_small_and_leads_to_places_that_exist(site: Path) -> None:
    text = (site / search_index.NAME).read_text(encoding="utf-8")
    assert len(text.encode()) < 150e3
    pages, entries = map(json.loads, re.findall(r"= (\[\n.*?\n\]);", text, re.S))
    assert pages[0][0] == "index.html"
    assert {file for file, _, _ in pages} == {path.name for path in site.glob("*.html")}
    ids = {file: set(Page(site / file).ids) for file, _, _ in pages}
    assert not [entry for entry in entries if entry[2] and entry[2] not in ids[pages[entry[0]][0]]]
    assert {entry[1] for entry in entries} == {"heading", "table", "figure", "claim", "command", "text"}
    assert {entry[2] for entry in entries if entry[1] == "claim"} == {
        name for names in ids.values() for name in names if name.startswith("claim-")
    }


def _contrast(first: str, second: str) -> float:
    """Return the contrast of two colours, such as #1f2328, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_colours_have_enough_contrast(site: Path) -> None:
    """Text has a contrast of at least 4.5 to both backgrounds, and the marks of verdicts have at least 3."""
    style = (site / "style.css").read_text()
    colours = dict(re.findall(r"--(\w+): (#\w{6});", style))
    listing = set(re.findall(r"\.highlight [^}]*[{; ]color: (#\w{6})", style))
    assert len(listing) > 5
    for text in {colours["ink"], colours["quiet"], colours["link"], *listing}:
        for ground in (colours["ground"], colours["tint"]):
            assert _contrast(text, ground) >= 4.5, (text, ground)
    marks = re.findall(r"\.verdict[^}]*(#\w{6})", style)
    assert len(marks) == 5
    assert all(_contrast(mark, colours["ground"]) >= 3 for mark in [*marks, colours["mark"]])
