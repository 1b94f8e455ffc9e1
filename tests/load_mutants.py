"""Load every model file of a folder, in a separate process that may crash, and print a JSON line for each.

python load_mutants.py FOLDER TREEBANK: the outcome is `wrong` (refused, with a message), `same` (parses like the file
named `original`) or `other`. Any other outcome is a bug.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from treebound.core.errors import TreeboundError
from treebound.systems.registry import load
from treebound.systems.tagging.tagger import Tagger
from treebound.treebanks.document import read


def outcome(path: Path, document: Any) -> Any:
    """Return the parses or tags that the model file produces for a document."""
    if path.name.startswith("tagger"):
        return Tagger.load(path).apply(document.treebank).strings("xpos")
    parser = load(path)
    parses = parser.parse(document.treebank)
    return [[p.heads.tolist(), p.value, p.bound, p.status, parser.label_names(p)] for p in parses]


def main() -> None:
    folder, document = Path(sys.argv[1]), read(sys.argv[2], annotated=False)
    for path in sorted(folder.glob("*.npz")):
        original = outcome(folder / f"{path.name.split('-')[0]}.original", document)
        print(json.dumps([path.name, "started", ""]), flush=True)  # loading may crash the process
        try:
            result = "same" if outcome(path, document) == original else "other"
            reason = ""
        except TreeboundError as error:
            result, reason = "wrong", str(error)
        except Exception as error:
            result, reason = "internal", repr(error)
        print(json.dumps([path.name, result, reason]), flush=True)


main()
