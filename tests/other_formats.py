"""Small treebanks in other formats: bracketed trees, trees of Alpino, and compressed files."""

from __future__ import annotations

import bz2
import gzip
import lzma

BRACKETS = "( (S (NP (DT a) (NN dog)) (VP (VBZ sees) (NP (-NONE- *) (NNS cats))) (. .)) )\n( (S (NN birds)) )\n"


ALPINO = """<?xml version="1.0" encoding="UTF-8"?>
<treebank><alpino_ds version="1.3"><node begin="0" cat="top" end="2" id="0" rel="top">
<node begin="0" cat="smain" end="2" id="1" rel="--">
<node begin="0" end="1" id="2" pos="noun" rel="su" root="hij" word="Hij"/>
<node begin="1" end="2" id="3" pos="verb" rel="hd" root="slaap" word="slaapt"/>
</node></node><sentence>Hij slaapt</sentence></alpino_ds></treebank>
"""


COMPRESSED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
