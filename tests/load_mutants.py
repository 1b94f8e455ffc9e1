"""Load every file of a folder, in a process of its own that may crash; one line of JSON for each.

python load_mutants.py FOLDER TREEBANK: what came of each file is `wrong` (refused, with the line), `same` (as the
file named `original` in what it does) or `other`; anything else is a fault.
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
    if path.name.startswith("tagger"):
        return Tagger.load(path).apply(document.treebank).strings("xpos")
    parser = load(path)
    parses = parser.parse(document.treebank)
    return [[p.heads.tolist(), p.value, p.bound, p.status, parser.label_names(p)] for p in parses]


def main() -> None:
    folder, document = Path(sys.argv[1]), read(sys.argv[2], annotated=False)
    for path in sorted(folder.glob("*.npz")):
        original = outcome(folder / f"{path.name.split('-')[0]}.original", document)
        print(json.dumps([path.name, "started", ""]), flush=True)  # what follows may end the process
        try:
            came = "same" if outcome(path, document) == original else "other"
            reason = ""
        except TreeboundError as error:
            came, reason = "wrong", str(error)
        except Exception as error:
            came, reason = "internal", repr(error)
        print(json.dumps([path.name, came, reason]), flush=True)


main()
