"""Packages: `PEERS[name].train(...)` writes a model file and `.load(path)` reads one; they are imported only then."""

from __future__ import annotations

from treebound.core.registry import Registry
from treebound.systems.peers import spacy, udpipe
from treebound.systems.peers.peer import Peer

PEERS: Registry[Peer] = Registry("peer")
PEERS.register("udpipe", udpipe.UDPipe())
PEERS.register("spacy", spacy.SpaCy())
