"""Render the documentation to build/docs, to be read offline: `make docs`.

Markdown pages of the project become HTML with links between them; the commands' help and the Python interface (by pdoc,
from docstrings) are made from the code. Nothing needs the network, and nothing made is committed.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import io
import os
import re
import shutil
import warnings
from pathlib import Path

import mistune
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

import treebound

PROJECT = Path(__file__).parents[1]
OUTPUT = PROJECT / "build" / "docs"
#: pages outside docs/
MORE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md", "results/README.md")
#: modules that users import; `!` leaves out the modules below
MODULES = (
    "treebound",
    r"!treebound\.",
    "treebound.scores",
    "treebound.systems.graph.parser",
    "treebound.core.problem",
    "treebound.core.parse",
    "treebound.core.labelled",
    "treebound.core.errors",
    "treebound.decoders.exact.branch_and_bound.decoder",
    "treebound.decoders.confidence",
    "treebound.checker.certificates",
    "treebound.constraints",
    "treebound.treebanks.document",
)
STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #222 }
pre { background: #f6f6f6; padding: .8rem; overflow-x: auto } code { font-size: .92em }
table { border-collapse: collapse; display: block; overflow-x: auto }
td, th { border: 1px solid #ccc; padding: .3rem .6rem }
img { max-width: 100% } nav { margin-bottom: 1.5rem }
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>{style}</style></head><body>
<nav><a href="{up}docs/README.html">Documentation</a> · <a href="{up}commands.html">Commands</a> ·
<a href="{up}api/index.html">Python interface</a></nav>
{body}
</body></html>
"""


class Renderer(mistune.HTMLRenderer):
    """HTML with coloured code, anchors at headings, and links to the rendered pages."""

    def __init__(self, source: Path):
        super().__init__(escape=False)
        self.source = source

    def block_code(self, code: str, info: str | None = None) -> str:
        try:
            lexer = get_lexer_by_name(info or "text")
        except ClassNotFound:
            lexer = get_lexer_by_name("text")
        return str(highlight(code, lexer, HtmlFormatter(noclasses=True)))

    def heading(self, text: str, level: int, **attributes: object) -> str:
        plain = re.sub(r"<[^>]*>", "", text).lower()
        anchor = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", html.unescape(plain)))
        return f'<h{level} id="{anchor}">{text}</h{level}>\n'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return super().link(text, target_of(self.source, url), title)


def sources() -> list[Path]:
    """The Markdown pages, from the project's root."""
    pages = sorted((PROJECT / "docs").rglob("*.md"))
    return [*(path.relative_to(PROJECT) for path in pages), *map(Path, MORE)]


def target_of(source: Path, url: str) -> str:
    """The link of a rendered page: to a rendered page, a copied file, or a list of the pages of a folder."""
    path, _, anchor = url.partition("#")
    if "://" in url or not path:
        return url
    target = PROJECT / source.parent / path
    if target.is_dir():
        path = f"{path.rstrip('/')}/index.html"
    elif target.suffix == ".md":
        path = f"{path[:-3]}.html"
    return path + (f"#{anchor}" if anchor else "")


def write(path: Path, title: str, body: str) -> None:
    """Write a page below OUTPUT."""
    target = OUTPUT / path
    target.parent.mkdir(parents=True, exist_ok=True)
    up = "../" * (len(path.parts) - 1)
    target.write_text(PAGE.format(title=html.escape(title), style=STYLE, up=up, body=body), encoding="utf-8")


def render(source: Path) -> None:
    """Render a Markdown page, and copy the files that it links to."""
    text = (PROJECT / source).read_text(encoding="utf-8")
    markdown = mistune.create_markdown(renderer=Renderer(source), plugins=["table"])
    title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), source.name)
    write(source.with_suffix(".html"), title, str(markdown(text)))
    for link in re.findall(r"\]\(([^)\s#]+)|(?:src|srcset)=\"([^\"]+)\"", text):
        url = "".join(link)
        target = (PROJECT / source.parent / url).resolve()
        if "://" not in url and target.is_file() and target.suffix != ".md":
            copy = OUTPUT / target.relative_to(PROJECT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, copy)
        elif "://" not in url and target.is_dir():
            folder = target.relative_to(PROJECT)
            names = sorted(path.name for path in target.iterdir() if path.suffix in (".md", ".py", ".csv", ".ipynb"))
            items = "".join(
                f'<li><a href="{name[:-3]}.html">{name}</a>' if name.endswith(".md") else f"<li>{name}"
                for name in names
            )
            write(folder / "index.html", str(folder), f"<h1>{folder}</h1><ul>{items}</ul>")


def commands() -> None:
    """Write the help of every command on one page."""
    import typer

    from treebound.cli import application

    group = typer.main.get_command(application())
    os.environ["COLUMNS"] = os.environ["TERMINAL_WIDTH"] = "110"
    parts = []
    for name in ("", *getattr(group, "commands", {})):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            group([*([name] if name else []), "--help"], prog_name="treebound", standalone_mode=False)
        parts.append(f'<h2 id="{name}">treebound {name}</h2><pre>{html.escape(printed.getvalue().strip())}</pre>')
    write(Path("commands.html"), "Commands", f"<h1>Commands</h1>{''.join(parts)}")


def interface() -> None:
    """Write the Python interface by pdoc."""
    import pdoc

    for name in treebound.__all__:  # pdoc sees what a module holds, and these are there when they are asked for
        setattr(treebound, name, getattr(treebound, name))
    warnings.filterwarnings("ignore", "Error parsing type annotation")  # shown as they are written
    pdoc.render.configure(template_directory=PROJECT / "docs" / "api", show_source=False)
    pdoc.pdoc(*MODULES, output_directory=OUTPUT / "api")


def main() -> None:
    """Render all pages from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--no-api", action="store_true", help="leave out the Python interface, which needs pdoc")
    arguments = parser.parse_args()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    for source in sources():
        render(source)
    commands()
    if not arguments.no_api:
        interface()
    start = '<meta http-equiv="refresh" content="0; url=docs/README.html">'
    write(Path("index.html"), "Documentation", f'{start}<a href="docs/README.html">Documentation</a>')
    print(f"documentation: {OUTPUT / 'index.html'}")


if __name__ == "__main__":
    main()
