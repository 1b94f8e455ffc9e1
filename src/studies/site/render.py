"""Render executed notebooks as one static site that works from disk, without a server or a network.

    python -m studies.site.render [--notebooks results/notebooks] [--out results/report]

The page of the notebook `index` is the entry; the others follow by group and in the order of params.yaml. The metadata
of a notebook state its group (studies.site.navigation). Maths becomes MathML. Figures and tables (as CSV) become files
beside the pages. Code, long tables, sections whose heading has the tag `fold`, and all but the first sentences of a
remark are folded away. The output of a cell with the tag `answer` answers the question of the page and is shown below
it. Text with the tag `notebook` is left out. The same notebooks give the same bytes. A script is optional: it searches
the pages, sorts tables by a click, and shows the steps of a search one at a time.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path

import mistune
from jinja2 import Environment, PackageLoader, select_autoescape
from latex2mathml.converter import convert as mathml
from markupsafe import Markup
from mistune.plugins.math import math
from mistune.plugins.table import table
from mistune.util import safe_entity
from nbformat import NotebookNode
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

from studies.common import params as parameters
from studies.site import claims, navigation, search_index
from studies.site.command import status
from studies.site.execute import read
from studies.site.figure_files import small
from studies.site.navigation import INDEX
from studies.site.show import ABSENT, NOT_LISTED, STATEMENTS
from studies.site.sources import SOURCES, described
from treebound.core.errors import InputError
from treebound.plots.svg import CAPTION, NARROW

#: end tags of cells and rows, which HTML does not need before the next cell, row or group; a tenth of a page
OPTIONAL = re.compile(r"</t[dhr]>(?=\s*<(?:t[dhr][ >]|/tr>|/?tbody|/thead))")
#: start tags of cells with attributes, and the quotation marks in them that HTML does not need
CELL = re.compile(r"<t[dh] [^<>]*>")
QUOTED = re.compile(r' ([a-z]+)="([\w-]+)"(?=[ >])')
#: code, which stays as it is, and text with spaces beside which no line may end: a number with a percent sign, an
#: equation such as `p = 0.05`, and `CPU s`
UNBROKEN = re.compile(r"<(pre|code)\b.*?</\1>|(?<=\d) %|\b[kpq] (?:=|&lt;) (?=[\d.])|\bCPU s\b", re.S)
#: an option in a command; a line must not end behind its hyphens
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
#: words of a listing that have a colour: comments and keywords; a colour for all others would double a listing's size
UNSTYLED = re.compile(r'<span class="(?!c1"|kn?")\w+">(.*?)</span>')
LONG = 24  #: a table with more rows than this is folded away under its caption
FEW = 16  #: a table with at most this many rows is shown whole, without a frame that scrolls vertically
WORDS = 8  #: number of words of a caption in the address of its table or figure
SAID = 3  #: number of sentences of a remark that are shown; the other sentences are folded away


@dataclass
class Section:
    """A section of a page while it is rendered.

    folded    True if the section is folded away under its heading
    start     number of cells of the page before the section
    number    number of sections of the page before it
    outputs   number of its outputs; `absent` of them only say that there are no data
    listed    False if the report does not mention that the section is left out
    """

    folded: bool
    start: int
    number: int
    outputs: int = 0
    absent: int = 0
    listed: bool = True


@dataclass
class Page(navigation.Placed):
    """The page of a notebook while it is rendered.

    sections  anchor and text of each heading of level 2
    cells     HTML of the page, in order
    items     anchor, kind and caption of each table and figure
    section   the section that is being rendered; None before the first heading of level 2
    absent    anchors and titles of the sections that were left out, because no run has results for them; a section
              that is not `listed` is not among them
    """

    lead: str = ""
    sections: list[tuple[str, str]] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    items: list[tuple[str, str, str]] = field(default_factory=list)
    section: Section | None = None
    absent: list[tuple[str, str]] = field(default_factory=list)

    def close(self) -> None:
        """End the section that is open, if any. A section is removed if all its outputs say that there are no data."""
        section, self.section = self.section, None
        if section is None:
            return
        if section.outputs and section.outputs == section.absent:
            if section.listed:
                self.absent += self.sections[section.number :]
            del self.cells[section.start :], self.sections[section.number :]
        elif section.folded:
            self.cells.append("</details>")


def render(notebooks: Sequence[Path], out: Path) -> Path:
    """Write the site into the folder `out`, replacing it, and return its entry page.

    notebooks  executed notebooks, within each group in the order of the navigation; one is named index.ipynb

    Raises InputError for a notebook that is missing, was not executed, or holds an error or unsupported maths.
    """
    if INDEX not in [path.stem for path in notebooks]:
        raise InputError("no notebook named index in the list", hint="list it in params.yaml under notebooks:")
    environment = Environment(
        loader=PackageLoader("studies.site"), autoescape=select_autoescape(), trim_blocks=True, lstrip_blocks=True
    )
    place = Path(os.path.realpath(out))  # a symbolic link to a folder is kept
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as folder:
        site = Path(folder) / "site"
        for folder_of in ("figures", "tables"):
            (site / folder_of).mkdir(parents=True)
        pages = navigation.in_order(_page(path, site) for path in notebooks)
        groups, questions = navigation.by_group(pages), navigation.by_question(pages[1:])
        for page in pages:
            text = environment.get_template("page.html").render(
                page=page, pages=pages, index=INDEX, groups=groups, questions=questions
            )
            (site / f"{page.name}.html").write_text(_shortened(_unbroken(text)), encoding="utf-8")
        contents = [(f"{page.name}.html", _plain(page.short), page.group, "".join(page.cells)) for page in pages]
        style = HtmlFormatter(style="xcode")  # its colours have a contrast of at least 4.5 to the background
        code = Markup(style.get_style_defs(".highlight"))
        (site / search_index.NAME).write_text(search_index.script(contents), encoding="utf-8")
        values = {"code": code, "search": search_index.NAME, "wide": navigation.WIDE}
        for name in environment.list_templates(extensions=["css", "js"]):
            if name.startswith("_"):  # a part that other templates include
                continue
            text = environment.get_template(name).render(values)
            (site / name).write_text(text, encoding="utf-8")
        _replace(site, place)
    return out / f"{INDEX}.html"


def _shortened(page: str) -> str:
    """Return an HTML page without what its tables do not need: end tags of cells, quotation marks of attributes."""
    return CELL.sub(lambda tag: QUOTED.sub(r" \1=\2", tag[0]), OPTIONAL.sub("", page))


def _unbroken(page: str) -> str:
    """Return an HTML page in which no line ends between a number and its unit; see UNBROKEN."""
    return UNBROKEN.sub(lambda match: match[0] if match[1] else match[0].replace(" ", "\u00a0"), page)


def _plain(markup: str) -> str:
    """Return the text of HTML without its tags."""
    return unescape(re.sub("<[^>]*>", "", markup))


def _replace(new: Path, old: Path) -> None:
    """Move the folder `new` to the path `old`, replacing the folder there."""
    if old.exists():
        aside = new.parent / "old"
        os.replace(old, aside)
        os.replace(new, old)
        shutil.rmtree(aside)
    else:
        os.replace(new, old)


def _page(path: Path, site: Path) -> Page:
    """Render one notebook. Raises InputError for a cell that was not executed or failed, or an unknown place."""
    notebook = read(path)
    page = Page(path.stem, place=navigation.place(notebook, path))
    markdown = _markdown(page, path)
    code: list[str] = []  # the code of the page, with the headings of its sections as comments
    for number, cell in enumerate(notebook.cells, 1):
        tags = cell.metadata.get("tags", ())
        if cell.cell_type == "markdown" and "notebook" not in tags:
            code += [f"# --- {title}" for title in re.findall("^##+ (.*)", cell.source, re.M)]
            for part in re.split("(?m)^(?=## )", cell.source):
                _section(part, "fold" in tags, page, markdown)
        elif cell.cell_type == "code" and cell.source.strip():
            if cell.execution_count is None:
                raise InputError(f"cell {number} was not executed", path=path, hint="run studies.site.execute first")
            for i, output in enumerate(cell.outputs, 1):
                markup = _output(output, f"{page.name}-{number}-{i}", page, number, site, markdown)
                if "answer" in tags:  # an answer stands below the question, wherever in the notebook it is computed
                    page.cells.insert(1, f'<div class="answer">{markup}</div>')
                    if page.section is not None:
                        page.section.start += 1
                    continue
                page.cells.append(markup)
                if page.section is not None:
                    page.section.outputs += 1
                    page.section.absent += ABSENT in output.get("data", {})
                    page.section.listed &= NOT_LISTED not in output.get("data", {})
            code.append(cell.source)
    page.close()
    if page.absent:
        titles = "; ".join(f'<span id="{anchor}">{title}</span>' for anchor, title in page.absent)  # links lead here
        page.cells.append(f'<p class="where">These sections are left out, because no run has results: {titles}.</p>')
    if code:
        listing = UNSTYLED.sub(r"\1", highlight("\n\n".join(code), PythonLexer(), HtmlFormatter()))
        page.cells.append(f'<details class="code"><summary>Code of this page</summary>{listing}</details>')
    if not page.title:
        raise InputError("no heading of level 1", path=path, hint="begin the notebook with `# Title`")
    return page


def _section(text: str, fold: bool, page: Page, markdown: mistune.Markdown) -> None:
    """Add Markdown to the page. A heading of level 2 at its start ends the open section and opens the next one.

    Folded sections have one name, so that browsers show one of them at a time and no page grows beyond measure.
    """
    if not text.strip():
        return
    if text.startswith("## "):
        page.close()
        page.section = Section(fold, len(page.cells), len(page.sections))
    markup = str(markdown(text))
    if fold:
        markup = re.sub("(<h2.*?</h2>)", r'<details class="fold" name="fold"><summary>\1</summary>', markup)
    page.cells.append(markup)


def _output(output: NotebookNode, name: str, page: Page, cell: int, site: Path, markdown: mistune.Markdown) -> str:
    """Return one output as HTML; images and CSV are written to the site as files called `name`."""
    if output.output_type == "error":
        raise InputError(f"cell {cell} failed with {output.ename}: {output.evalue}", path=Path(f"{page.name}.ipynb"))
    if output.output_type == "stream":
        return f"<pre>{escape(output.text)}</pre>"
    data = output.data
    if "image/svg+xml" in data:
        return _figure(site, name, data["image/svg+xml"].encode(), data, page, cell)
    if "image/png" in data:
        return _figure(site, name, base64.b64decode(data["image/png"]), data, page, cell)
    if "text/html" in data:
        markup = re.sub(r'href="([\w-]+)\.ipynb', r'href="\1.html', data["text/html"])
        if "<table" in markup:
            return _table(site, name, markup, data, page, cell)
        # for instance the steps of a search, or the note for a table without rows
        return _drawing(site, name, NotebookNode(data | {"text/html": markup}), page, cell)
    if len(data.get(STATEMENTS, ())) > SAID:
        first, further = data[STATEMENTS][:SAID], data[STATEMENTS][SAID:]
        items = "".join(f"<li>{markdown(statement['says'])}</li>" for statement in further)
        paragraph = markdown(" ".join(statement["says"] for statement in first))
        count = f"{len(further)} more remark{'s' * (len(further) > 1)}"
        return f'{paragraph}<details class="more"><summary>{count}</summary><ul>{items}</ul></details>'
    if "text/markdown" in data:
        return str(markdown(data["text/markdown"]))
    return f"<pre>{escape(data.get('text/plain', ''))}</pre>"


def _table(site: Path, name: str, markup: str, data: NotebookNode, page: Page, cell: int) -> str:
    """Return a table as HTML that scrolls in its frame, and write it as CSV. Its address, CSV and source follow it.

    A table with many rows is folded away under its caption.
    """
    files = {}
    linked_file = re.search(r'href="([\w-]+\.csv)"', markup)  # CSV file with a name that the notebook itself has chosen
    if "text/csv" in data:
        file = linked_file[1] if linked_file else f"tables/{name}.csv"
        (site / file).write_text(data["text/csv"], encoding="utf-8")
        files = {} if linked_file else {"CSV": file}
    elif 'class="claims"' in markup:  # the claims of one page are in the file of all claims
        files = {"CSV of all claims": claims.NAME}
    whole = re.search(r' data-rows="(\d+)"', markup)  # the page has only the first rows of a very long table
    body = markup.partition("<tbody>")[2].replace('<tr><th scope="rowgroup" colspan', "")  # titles of groups of claims
    rows = int(whole[1]) if whole else body.count("<tr")
    caption = re.search("<caption>(.*?)</caption>", markup, re.S)
    label = unescape(re.sub("<[^>]*>", "", caption[1])) if caption else str(data.get("text/plain", "Table"))
    anchor = _address(page, "table", label)
    ranking = 'class="figures leaderboard' in markup  # it is never folded away; a long one scrolls in its frame
    frame = "scroll few" if rows <= (LONG if ranking else FEW) else "scroll"
    opening = f'<div class="{frame}" role="region" aria-label="{escape(label)}" tabindex="0" id="{anchor}">'
    tally = 'class="claims"' in markup  # claims: the first page shows the caption, which is a summary
    below = _below(anchor, "table", files, _source(data, page, cell, f"{rows} row{'s' * (rows != 1)}"))
    if caption is None or (tally and linked_file):
        return f"{opening}{markup}</div>{below}"
    notes = re.search('<ul class="notes">.*?</ul>', markup, re.S)
    framed = markup.replace(caption[0], "", 1).replace(notes[0] if notes else "", "", 1)
    content = f"{opening}{framed}</div>{notes[0] if notes else ''}{below}"
    if (rows <= LONG or ranking) and not tally:  # a caption outside the frame stays visible when the table scrolls
        return f'<p class="caption">{caption[1]}</p>{content}'
    summary = f"<summary>{caption[1]}{'' if tally else f' ({rows} rows)'}</summary>"
    in_fold = page.section is not None and page.section.folded
    group = ' name="fold"' if tally and not in_fold else ""  # claims are long: they and the folded sections take turns
    return f'<details class="long"{group}>{summary}{content}</details>'


def _figure(site: Path, name: str, content: bytes, data: NotebookNode, page: Page, cell: int) -> str:
    """Write a figure, its form for narrow screens and its CSV to the site, and return the HTML of the figure."""
    ending = "svg" if "image/svg+xml" in data else "png"
    alt = re.search(r'aria-label="([^"]*)"', data.get("image/svg+xml", ""))
    label = unescape(alt[1]) if alt else f"Figure of cell {cell}"
    caption = data.get(CAPTION, "")
    anchor = _address(page, "figure", caption or label)
    file = _stored(site, f"{name}.{ending}", content)
    files, count = {ending.upper(): file}, ""
    if "text/csv" in data:
        (site / "tables" / f"{name}.csv").write_text(data["text/csv"], encoding="utf-8")
        files["CSV"], count = f"tables/{name}.csv", f"{data['text/csv'].count(chr(10)) - 1} points"
    below = _below(anchor, "figure", files, _source(data, page, cell, count))
    image = f'<img src="{file}" alt="{escape(label)}">'
    if NARROW in data:
        other = _stored(site, f"{name}-narrow.svg", data[NARROW].encode())
        image = f'<picture><source media="(max-width: 38rem)" srcset="{other}">{image}</picture>'
    if b"<title>" in content.partition(b"</title>")[2]:  # tooltips work only if the page contains the SVG itself
        image = content.decode()
    if NARROW not in data:  # a picture without a form for narrow screens keeps its size there and scrolls
        image = f'<div class="scroll" role="region" aria-label="{escape(caption or label)}" tabindex="0">{image}</div>'
    shown = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure id="{anchor}">{image}{shown}</figure>{below}'


def _drawing(site: Path, name: str, data: NotebookNode, page: Page, cell: int) -> str:
    """Return HTML that is not a table. If it has numbers as CSV, it is a figure with an address, CSV and source."""
    markup = str(data["text/html"])
    if "text/csv" not in data:
        return markup
    anchor = _address(page, "figure", str(data["text/plain"]))
    (site / "tables" / f"{name}.csv").write_text(data["text/csv"], encoding="utf-8")
    count = f"{data['text/csv'].count(chr(10)) - 1} points"
    below = _below(anchor, "figure", {"CSV": f"tables/{name}.csv"}, _source(data, page, cell, count))
    return markup.replace("<figure", f'<figure id="{anchor}"', 1) + below


def _address(page: Page, kind: str, caption: str) -> str:
    """Return an anchor for a table or figure, made of the first words of its caption.

    A number is added if the page has this anchor already.

    kind  "table" or "figure"
    """
    words = re.findall("[a-z0-9]+", caption.lower())[:WORDS]
    base = "-".join([kind, *words])
    taken = [anchor for anchor, _, _ in page.items]
    anchor = next(name for name in (base, *(f"{base}-{i}" for i in range(2, len(taken) + 3))) if name not in taken)
    page.items.append((anchor, kind, caption))
    return anchor


def _source(data: NotebookNode, page: Page, cell: int, count: str) -> str:
    """Return a sentence that says where a table or figure comes from: stages, runs, notebook and number of rows."""
    parts = [described(data.get(SOURCES, [])), f"notebook {page.name}, cell {cell}", count]
    return f"Source: {'; '.join(part for part in parts if part)}."


def _below(anchor: str, kind: str, files: dict[str, str], source: str) -> str:
    """Return the line below a table or figure: its address, its files by format, and its source, folded away."""
    links = [f'<a href="#{anchor}" aria-label="Link to this {kind}">Link</a>']
    links += [f'<a href="{file}" download>{name}</a>' for name, file in files.items()]
    where = f"<details><summary>Where this comes from</summary><p>{escape(source)}</p></details>"
    return f'<div class="source">{" ".join(links)} {where}</div>'


def _stored(site: Path, name: str, content: bytes) -> str:
    """Write a figure to the site and return its path. A figure that several pages show is stored once."""
    content = small(content.decode()).encode() if name.endswith(".svg") else content
    files = sorted((site / "figures").iterdir())
    name = next((path.name for path in files if path.read_bytes() == content), name)
    (site / "figures" / name).write_bytes(content)
    return f"figures/{name}"


def _markdown(page: Page, path: Path) -> mistune.Markdown:
    """Return a Markdown renderer that records the headings of `page` and turns maths into MathML."""

    def formula(text: str, display: str) -> str:
        markup = mathml(unescape(text).strip(), display=display)
        if "\\" in markup:  # latex2mathml passes on commands that it does not know
            raise InputError(f"maths not understood: {text.strip()}", path=path, hint="use simpler LaTeX")
        return markup

    class Renderer(mistune.HTMLRenderer):
        def heading(self, text: str, level: int, **attrs: object) -> str:
            if level == 1 and not page.title:
                page.title = text
                return ""  # the template prints the title
            anchor = re.sub(r"[^a-z0-9]+", "-", re.sub(r"<[^>]*>", "", text).lower()).strip("-")
            if level == 2:
                page.sections.append((anchor, text))
            return f'<h{level} id="{anchor}">{text}</h{level}>\n'

        def paragraph(self, text: str) -> str:
            if not page.lead and not page.cells:
                page.lead = text
                return f'<p class="lead">{text}</p>\n'
            return f"<p>{text}</p>\n"

        def codespan(self, text: str) -> str:
            return OPTION.sub(r'<span class="whole">\g<0></span>', super().codespan(text))

        def link(self, text: str, url: str, title: str | None = None) -> str:
            url = re.sub(r"^([\w-]+)\.ipynb\b", r"\1.html", url)  # a link to a notebook becomes a link to its page
            return f'<a href="{safe_entity(url)}">{text}</a>'

    markdown = mistune.Markdown(renderer=Renderer(escape=True), plugins=[math, table])  # words may look like HTML
    renderer = markdown.renderer
    assert isinstance(renderer, mistune.HTMLRenderer)
    renderer.register("inline_math", lambda _, text: formula(text, "inline"))
    renderer.register("block_math", lambda _, text: f'<div class="formula">{formula(text, "block")}</div>\n')
    return markdown


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.site.render", description="Render executed notebooks as a static site."
    )
    parser.add_argument(
        "--notebooks", type=Path, default=Path("results/notebooks"), help="folder of executed notebooks"
    )
    parser.add_argument("--out", type=Path, default=Path("results/report"))
    args = parser.parse_args(argv)

    def work() -> None:
        print(render([args.notebooks / f"{name}.ipynb" for name in parameters.load().notebooks], args.out))

    return status(work)


if __name__ == "__main__":
    sys.exit(main())
