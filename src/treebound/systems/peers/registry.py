"""Registry of peers: `PEERS[name].train(...)` writes a model and `.load(path)` reads it; both import the package."""

from __future__ import annotations

from treebound.core.registry import Registry
from treebound.systems.peers import spacy, udpipe
from treebound.systems.peers.peer import Peer

PEERS: Registry[Peer] = Registry("peer")
PEERS.register("udpipe", udpipe.UDPipe())
PEERS.register("spacy", spacy.SpaCy())
