"""Options in groups: a command takes one argument for each group, and its help has one section for each.

A group is a frozen dataclass whose fields are annotated as options. `SECTION` is its heading in the help. `SYSTEM` is
the system whose models have these options. The help of a command shows the options of graph-based models; `--help-for
SYSTEM` adds the options of another system. All options work whether the help shows them or not.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, get_type_hints

import typer
from typer.core import TyperCommand

from treebound.cli.common import (
    MANY,
    Beams,
    Encoding,
    Limit,
    Marginals,
    Margins,
    Scheduler,
    Threshold,
    Workers,
    chart_options,
    choose,
    decoder_names,
    finite,
    pruning,
)
from treebound.core.errors import InputError

GENERAL = "Options"
CONFIGS = ("tuned", "published")  #: search configurations of branch and bound


class Group:
    """Base class of groups of options, whose fields are annotated as options of a command.

    SECTION  heading of the options in the help
    SYSTEM   system whose models have the options; empty for graph-based models
    """

    SECTION: ClassVar[str] = GENERAL
    SYSTEM: ClassVar[str] = ""


@dataclass(frozen=True)
class Running(Group):
    """Options for the worker processes of a command and the encoding of its input."""

    workers: Workers = 1
    scheduler: Scheduler = None
    encoding: Encoding = "utf-8"


@dataclass(frozen=True)
class Candidates(Group):
    """Options that choose the candidate heads of a graph-based model."""

    SECTION = "Graph-based models"
    k: Annotated[
        str,
        typer.Option(
            metavar="K",
            help="Number of candidate heads that the pruner keeps for each word. none keeps all heads; model uses the "
            "number that was used in training.",
        ),
    ] = "model"
    threshold: Threshold = None
    valid: Annotated[
        str | None,
        typer.Option(
            metavar="RULES",
            help="Consider only valid trees: trees that keep these rules. The best valid tree is proved. ud stands "
            "for the errors that the validator of Universal Dependencies reports at levels 2 and 3. ud-warnings adds "
            "its warnings. The name of a TOML file stands for the rules in it. [default: all trees are valid]",
        ),
    ] = None

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of a parser for the options that differ from their defaults."""
        return self._valid | pruning(self.k, self.threshold)

    @property
    def _valid(self) -> dict[str, Any]:
        return {} if self.valid is None else {"valid": self.valid}


@dataclass(frozen=True)
class Search(Candidates):
    """Options for the search of a graph-based model."""

    decoder: Annotated[
        str,
        typer.Option(
            autocompletion=decoder_names,
            help="Decoder that finds the trees: branch-and-bound (exact), or another one for comparison, for "
            "instance ilp, beam or dual-decomposition.",
        ),
    ] = "branch-and-bound"
    config: Annotated[
        str,
        typer.Option(
            autocompletion=lambda: list(CONFIGS),
            help="Search configuration of branch-and-bound: tuned, or published, the slower search of the paper.",
        ),
    ] = "tuned"
    max_dp_calls: Annotated[
        int,
        typer.Option(
            min=0,
            max=MANY,
            help="Stop after this many dynamic-program calls per sentence. A sentence that reaches the limit gets "
            "status limit and no proof. 0 means no limit.",
        ),
    ] = 0
    certificates: Annotated[
        Path | None,
        typer.Option(
            help="Write the proofs of graph-based and CCG models to this file. `treebound check --certificates` "
            "verifies them. [default: no file]"
        ),
    ] = None

    #: decoders that write proofs
    PROVING: ClassVar[tuple[str, ...]] = ("branch-and-bound", "dual-decomposition", "ad3")

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of a parser. Raises InputError for options that exclude each other."""
        choose("config", (self.config,), CONFIGS)
        options = _changed({"decoder": self.decoder, "config": self.config, "max_dp_calls": self.max_dp_calls}, Search)
        if self.certificates is not None:
            if self.decoder not in self.PROVING or self.config != "tuned":
                proving = ", ".join(self.PROVING)
                reason = f"--certificates needs a decoder of {proving} and --config tuned"
                raise InputError(reason, hint="leave out --decoder and --config")
            options["record"] = True
        return options | self._valid | pruning(self.k, self.threshold)


@dataclass(frozen=True)
class Certainty(Group):
    """Options for margins, marginals and k best trees of a graph-based model."""

    SECTION = "Confidence of graph-based models"
    margins: Margins = False
    marginals: Marginals = False
    scale: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="Scale of the scores in --marginals: the probability of a tree is proportional to exp(scale * "
            "score). A smaller scale makes the probabilities flatter.",
        ),
    ] = 1.0
    k_best: Annotated[
        int,
        typer.Option(
            "--k-best",
            "--kbest",
            min=0,
            max=MANY,
            metavar="N",
            help="Write the N best trees, with their scores, as a comment treebound_kbest. 0 writes no such comment.",
        ),
    ] = 0

    def assess(self) -> Any:
        """Return the settings of margins, marginals and k best trees; None if none of them is requested."""
        from treebound.decoders.confidence import Assess

        finite("scale", self.scale)
        if not (self.margins or self.marginals or self.k_best):
            return None
        return Assess(self.margins, self.marginals, self.k_best, self.scale)


@dataclass(frozen=True)
class Transitions(Group):
    """Options for parsing with a transition-based model."""

    SECTION, SYSTEM = "Transition-based models", "transition"
    beam: Annotated[
        int,
        typer.Option(
            min=0,
            max=1024,
            help="Number of transition sequences in the beam. 0 uses the training value. A model that was not trained "
            "with --learning beam usually gets worse with a wide beam.",
        ),
    ] = 0

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of a parser for the options that differ from their defaults."""
        return _changed({"beam": self.beam}, Transitions)


@dataclass(frozen=True)
class Charts(Group):
    """Options for the charts of a CCG model."""

    SECTION, SYSTEM = "CCG models", "ccg"
    beams: Beams = "model"
    limit: Limit = 0

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of a parser for the options that differ from their defaults."""
        return chart_options(self.beams, self.limit)


@dataclass(frozen=True)
class CCG(Charts):
    """Options for parsing with a CCG model."""

    integrate: Annotated[
        str,
        typer.Option(
            autocompletion=lambda: ["bp", "dd", "exact", "none"],
            help="Combine the scores of parser and supertagger by bp (belief propagation), dd (dual decomposition) or "
            "exact (search with a proof). none uses the scores of the parser alone.",
        ),
    ] = "none"
    iterations: Annotated[
        int,
        typer.Option(
            min=0,
            max=1_000_000,
            help="Number of iterations of --integrate. 0 chooses 1 for bp, 25 for dd and 50 per search node for exact.",
        ),
    ] = 0
    step: Annotated[
        str,
        typer.Option(
            autocompletion=lambda: ["polyak", "published"],
            help="Step size of --integrate dd. polyak adapts it to the gap between bound and best derivation; "
            "published starts at 0.5 and halves it whenever the bound rises, as Auli & Lopez (2011) do.",
        ),
    ] = "polyak"
    derivations: Annotated[
        Path | None,
        typer.Option(
            help="Write the derivations to this .auto file; a sentence without a derivation gets its fragments. The "
            "file is compressed if its name ends in .gz, .bz2 or .xz. [default: no file]"
        ),
    ] = None

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of a parser for the options that differ from their defaults."""
        joint = {"integrate": self.integrate, "iterations": self.iterations, "step": self.step}
        return super().options() | _changed(joint, CCG)


def _changed(values: Mapping[str, Any], group: type[Group]) -> dict[str, Any]:
    """Return the values that differ from the defaults of a group."""
    defaults = {field.name: field.default for field in fields(group)}  # type: ignore[arg-type]
    return {name: value for name, value in values.items() if value != defaults[name]}


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Replace every parameter of a command that is a group by the options of the group."""
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[Group]] = {}
    for parameter in signature.parameters.values():
        if isinstance(parameter.annotation, type) and issubclass(parameter.annotation, Group):
            groups[parameter.name] = parameter.annotation
            parameters += _options(parameter.annotation)
        else:
            parameters.append(parameter)

    systems = list(dict.fromkeys(group.SYSTEM for group in groups.values() if group.SYSTEM))
    if systems:
        parameters.append(help_for(systems))

    @functools.wraps(command)
    def run(**values: Any) -> None:
        values.pop("help_for", None)
        for name, group in groups.items():
            own = [field.name for field in fields(group)]  # type: ignore[arg-type]
            values[name] = group(**{key: values.pop(key) for key in own})
        command(**values)

    ordered = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in ordered}
    sections = {field.name: group for group in groups.values() for field in fields(group)}  # type: ignore[arg-type]
    run.sections = sections  # type: ignore[attr-defined]
    return run


def _options(group: type[Group]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)  # type: ignore[arg-type]
    ]


class Meaning(NamedTuple):
    """The help, default, limits (`min`, `max`) and section heading that an option has for the models of one system."""

    help: str
    default: Any
    limits: Mapping[str, float]
    section: str


class GroupedCommand(TyperCommand):
    """A command whose help has a section for each group of options, and on request the options of other systems."""

    shown = ""  #: the system whose options the help shows as well

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options by sections."""
        sections: dict[str, type[Group]] = getattr(self.callback, "sections", {})
        meanings: dict[str, dict[str, Meaning]] = getattr(self.callback, "meanings", {})
        records: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.get_params(ctx):
            group, own = sections.get(parameter.name or "", Group), meanings.get(parameter.name or "", {})
            title = group.SECTION
            if self.shown not in own if own else group.SYSTEM not in ("", self.shown):
                continue  # an option of another system
            if own:
                meaning = own[self.shown]
                title = own.get("", meaning).section
                parameter.help, parameter.default = meaning[:2]  # type: ignore[attr-defined]
                for name in ("min", "max"):
                    if hasattr(parameter, name):
                        setattr(parameter, name, meaning.limits.get(name))
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            section = "Arguments" if parameter.param_type_name == "argument" else title
            records.setdefault(section, []).append(record)
        general = records.pop(GENERAL, [])
        for section, entries in {**records, GENERAL: general}.items():
            if entries:
                with formatter.section(section):
                    formatter.write_dl(entries)


def help_for(systems: list[str]) -> inspect.Parameter:
    """Return the option that shows the help with the options of another system."""

    def show(ctx: typer.Context, value: str | None) -> None:
        if value is not None and not ctx.resilient_parsing:
            choose("system", (value,), ("graph", *systems))
            assert isinstance(ctx.command, GroupedCommand)
            ctx.command.shown = "" if value == "graph" else value
            print(ctx.get_help())
            raise typer.Exit

    text = f"Show this message with the options of another system: {', '.join(systems)}. [default: none]"
    option = typer.Option(
        "--help-for", metavar="SYSTEM", is_eager=True, callback=show, help=text, autocompletion=lambda: systems
    )
    hint = Annotated[str | None, option]
    return inspect.Parameter("help_for", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
