"""Test notebook 06-playground in a real JupyterLab in headless Chromium: the buttons exist and the output follows them.

python tests/lab_playground.py prints the observed texts; exit status 0 means success.

JupyterLab runs as in `make lab`, in a copy of the project with a small trained model. It needs jupyterlab, Chromium and
websocket-client (a dependency of Jupyter's packages) and takes about a minute.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import websocket
from synthetic import synthetic_treebank

from studies.common import params as parameters
from studies.site.rows import tour_row
from treebound.learning.pruner import train_pruner
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.treebanks import storage

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
REPOSITORY, NOTEBOOK = Path(__file__).parents[1], "06-playground.ipynb"
PATIENCE = 600  #: seconds for JupyterLab, the kernel and the first search, which compiles

PLAIN = "d1 n1 v1 ."  #: the sentence in plain words that the test writes into the notebook

#: set a choice as a user does: set the value and send the browser's events
SET = """(selector, i, value) => { const box = document.querySelectorAll(selector)[i]; box.value = value;
  box.dispatchEvent(new Event('input', {bubbles: true})); box.dispatchEvent(new Event('change', {bubbles: true})); }"""
READY = """(() => { const one = [...(window.jupyterapp?.shell.widgets('main') ?? [])][0];
  if (one) window.jupyterapp.shell.activateById(one.id);
  return one?.sessionContext?.session?.kernel?.status === 'idle'
    && window.jupyterapp.shell.currentWidget === one; })()"""
#: the errors of all cells; JupyterLab puts cells into the page only when they are on the screen
FAILED = """[...window.jupyterapp.shell.currentWidget.content.model.cells].filter((cell) => cell.type === 'code')
  .flatMap((cell) => cell.outputs.toJSON()).filter((output) => output.output_type === 'error')
  .map((output) => `${output.ename}: ${output.evalue}`).join('|')"""
LAST = """(() => { const notebook = window.jupyterapp.shell.currentWidget.content, cells = notebook.widgets;
  const last = cells.findLastIndex((cell) => cell.model.type === 'code');
  notebook.activeCellIndex = last;
  return notebook.scrollToItem(last).then(() => cells[last].model.executionCount); })()"""
LABELS = "[...document.querySelectorAll('.jp-OutputArea .widget-label')].map((one) => one.textContent).join('|')"


def free() -> int:
    """Return a free port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Browser:
    """A page of Chromium, controlled through its debugging protocol; `errors` lists the errors of its console."""

    def __init__(self, port: int):
        until(lambda: json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/version")), "Chromium")
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list"))
        address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
        self.socket = websocket.create_connection(address, timeout=PATIENCE, suppress_origin=True)
        self.number, self.errors = 0, list[str]()
        self.call("Runtime.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            reply = json.loads(self.socket.recv())
            if reply.get("method") == "Runtime.exceptionThrown":
                self.errors.append(reply["params"]["exceptionDetails"]["text"])
            if reply.get("id") == self.number:
                return dict(reply.get("result", {}))

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        reply = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in reply:
            raise RuntimeError(reply["exceptionDetails"]["exception"].get("description", script))
        return reply["result"].get("value")


def until(condition: Callable[[], Any], description: str) -> Any:
    """Call `condition` until its result is true and return the result; raise RuntimeError after PATIENCE seconds."""
    end, last = time.monotonic() + PATIENCE, "nothing"
    while time.monotonic() < end:
        try:
            if result := condition():
                return result
        except (OSError, RuntimeError) as error:
            last = str(error)
        time.sleep(0.5)
    raise RuntimeError(f"waited {PATIENCE} s for {description}: {last}")


def look(browser: Browser, address: str) -> list[str]:
    """Open and run the notebook, use its buttons and return the observed texts; raise RuntimeError if a check fails."""
    browser.call("Emulation.setFocusEmulationEnabled", enabled=True)  # without a focus no notebook is the current one
    browser.call("Page.navigate", url=address)
    until(lambda: browser.run(READY), "a kernel")
    browser.run("window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => 1)")
    until(lambda: browser.run(LAST) or browser.run(FAILED), "the last cell")
    if failed := browser.run(FAILED):
        raise RuntimeError(f"a cell fails: {failed}")
    until(lambda: browser.run(LAST) and "optimal:" in browser.run(LABELS), "the widgets")
    seen = [f"widgets: {browser.run(LABELS)}"]
    first = browser.run(LABELS)
    drawings = browser.run("document.querySelectorAll('.jp-OutputArea .widget-html svg').length")
    if drawings != 3:
        raise RuntimeError(f"{drawings} drawings instead of tree, bounds and search tree")

    arrows = browser.run("document.querySelector('.jp-OutputArea .widget-html svg').getAttribute('aria-label')")
    head, modifier = arrows.partition(": ")[2].split(", ")[0].split(" → ")
    options = """[...document.querySelectorAll('.widget-dropdown select')]
      .map((box) => [...box.options].map((one) => one.text.replace(/\\u00a0/g, ' ')))"""
    choices = browser.run(options)
    for box, word in ((2, head), (3, modifier)):  # forbid the first arc of the tree
        text = next(name for name in choices[box] if name.split(" ")[-1] == word)
        position = choices[box].index(text)
        browser.run(
            f"({SET})('.widget-dropdown select', {box}, document.querySelectorAll('.widget-dropdown select')[{box}]"
            f".options[{position}].value)"
        )
    until(lambda: browser.run(LABELS) != first, "another tree once an arc is forbidden")
    second = browser.run(LABELS)
    seen.append(f"without {head} → {modifier}: {second}")

    browser.run(f"({SET})('.widget-text input', 0, 'n1 v1 d1 n2 .')")
    until(lambda: "5 ." in str(browser.run(options)) and "4 n2" in str(browser.run(options)), "the typed sentence")
    until(lambda: browser.run(LABELS) not in (first, second), "its tree")
    seen.append(f"typed: {browser.run(LABELS)}")
    if browser.errors:
        raise RuntimeError(f"errors in the console: {browser.errors}")
    return seen


def project(folder: Path) -> None:
    """Write a project with the notebook, a small model of a synthetic treebank, and the treebank itself.

    The notebook gets a sentence in plain words, as a user would write it, so that its last cell has a line for text.
    """
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copyfile(REPOSITORY / name, folder / name)
    params = parameters.load(folder / "params.yaml")
    row, corpus = tour_row(params), next(iter(params.corpora))
    treebank = synthetic_treebank(60, 1, 12)
    dev = treebank.select(np.arange(10))
    spec = Settings(params.graph_models[row.model].families, epochs=1, bits=14, k=4)
    model = train(spec, treebank, dev, train_pruner(treebank, epochs=1, bits=12))
    for path in (models := folder / "results" / "models" / corpus, data := folder / "data" / "converted" / corpus):
        path.mkdir(parents=True)
    model.save(models / f"{row.trained}.npz")
    storage.save(treebank, data / "train.npz")
    storage.save(dev, data / "dev.npz")
    (folder / "notebooks").mkdir()
    text = (REPOSITORY / "notebooks" / NOTEBOOK).read_text(encoding="utf-8")
    changed = text.replace('plain = \\"\\"', f'plain = \\"{PLAIN}\\"')
    if changed == text:
        raise RuntimeError("the notebook has no parameter `plain`")
    (folder / "notebooks" / NOTEBOOK).write_text(changed, encoding="utf-8")


def main() -> int:
    """Start JupyterLab and Chromium, run the test, stop both and return the exit status."""
    if CHROMIUM is None:
        print("no Chromium on this machine", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        project(Path(folder))
        port, debug = free(), free()
        lab = [sys.executable, "-m", "jupyterlab", "notebooks", "--no-browser", "--allow-root", f"--port={port}"]
        lab += ["--ip=127.0.0.1", "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True"]
        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--remote-debugging-port={debug}",
            "--window-size=1400,1800",
        ]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started = [
            subprocess.Popen(lab, cwd=folder, **quiet),
            subprocess.Popen([CHROMIUM, *flags, f"--user-data-dir={folder}/profile", "about:blank"], **quiet),
        ]
        try:
            address = f"http://127.0.0.1:{port}"
            until(lambda: urllib.request.urlopen(f"{address}/api").status == 200, "JupyterLab")
            print(*look(Browser(debug), f"{address}/lab/tree/{NOTEBOOK}?reset"), sep="\n")
        except RuntimeError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        finally:
            for process in started:
                process.terminate()
            for process in started:
                try:
                    process.wait(timeout=120)  # JupyterLab ends its kernels first
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
