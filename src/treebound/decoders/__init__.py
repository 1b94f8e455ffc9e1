"""Registry of the decoders: the algorithms that find a tree for a `Problem`.

`DECODERS[name](**options)` makes a decoder. Its module is imported only at that call, so that listing the names of
all decoders is fast.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any, get_args

from treebound.core.errors import InputError
from treebound.core.protocols import Decoder
from treebound.core.registry import Registry

DECODERS: Registry[Callable[..., Decoder]] = Registry("decoder")


def options_of(make: Callable[..., Decoder]) -> list[str]:
    """Return the names of the options that the constructor of a decoder accepts.

    A parameter `**options: Unpack[Options]` stands for all keys of the typed dictionary `Options`.
    """
    names: list[str] = []
    for parameter in signature(make, eval_str=True).parameters.values():
        is_typed_dict = parameter.kind is parameter.VAR_KEYWORD
        names += get_args(parameter.annotation)[0].__annotations__ if is_typed_dict else [parameter.name]
    return names


def _register(name: str, module: str, attribute: str) -> None:
    """Register a decoder by name; its module `treebound.decoders.<module>` is imported at the first call."""

    def build(**options: Any) -> Decoder:
        """Import the decoder's module and make the decoder. Raises InputError for an unknown option."""
        make = getattr(import_module(f"treebound.decoders.{module}"), attribute)
        if unknown := options.keys() - set(options_of(make)):
            raise InputError(f"{name} has no option {min(unknown)!r}", hint="leave it out")
        return make(**options)

    DECODERS.register(name, build)


_register("ilp", "exact.programs.ilp", "IntegerProgram")
_register("branch-and-bound", "exact.branch_and_bound.decoder", "BranchAndBound")
_register("eisner", "exact.dynamic_program", "eisner")
_register("carreras", "exact.dynamic_program", "carreras")
_register("grandparent-sibling", "exact.dynamic_program", "grandparent_sibling")
_register("koo-model0", "exact.koo", "koo_model0")
_register("koo-model1", "exact.koo", "koo_model1")
_register("chu-liu-edmonds", "exact.chu_liu_edmonds", "ChuLiuEdmonds")
_register("incremental-ilp", "exact.programs.incremental", "IncrementalProgram")
_register("stated-ilp", "exact.programs.stated", "StatedProgram")
_register("greedy", "approximate.sampling.decoder", "Greedy")
_register("gibbs", "approximate.sampling.decoder", "Gibbs")
_register("random-walk", "approximate.sampling.decoder", "RandomWalk")
_register("backbone-only", "approximate.reranking", "BackboneOnly")
_register("rerank", "approximate.reranking", "Reranking")
_register("capped", "approximate.capped", "Capped")
_register("linear-relaxation", "approximate.relaxation", "LinearRelaxation")
_register("dual-decomposition", "approximate.dual_decomposition", "DualDecomposition")
_register("belief-propagation", "approximate.belief_propagation", "BeliefPropagation")
_register("beam", "approximate.beam", "BeamSearch")
_register("ad3", "approximate.ad3", "AD3")
