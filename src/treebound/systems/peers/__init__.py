"""Parsers of others, trained and timed beside ours: one file each, on the packages of the extra `peers`.

`PEERS[name].train(...)` writes a model file and `PEERS[name].load(path)` reads one; the package is imported only then.
"""

from __future__ import annotations

from treebound.core.registry import Registry
from treebound.systems.peers import spacy, udpipe
from treebound.systems.peers.peer import Peer

PEERS: Registry[Peer] = Registry("peer")
PEERS.register("udpipe", udpipe.UDPipe())
PEERS.register("spacy", spacy.SpaCy())
