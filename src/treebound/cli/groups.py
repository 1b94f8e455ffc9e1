"""Options in groups: a command takes one argument for each group, and its help has one section for each.

A group is a frozen dataclass whose fields are annotated as options. `SECTION` is its heading in the help. `SYSTEM` is
the kind of models that it is for: the help of a command shows the options of graph-based models, and those of another
system where `--help-for SYSTEM` asks for them. All options work whether they are shown or not.
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
    finite,
    pruning,
)
from treebound.core.errors import InputError

GENERAL = "Options"


class Group:
    """Options that belong together; see the module."""

    SECTION: ClassVar[str] = GENERAL
    SYSTEM: ClassVar[str] = ""


@dataclass(frozen=True)
class Running(Group):
    """Where a command runs, and what it reads."""

    workers: Workers = 1
    scheduler: Scheduler = None
    encoding: Encoding = "utf-8"


@dataclass(frozen=True)
class Candidates(Group):
    """Candidate heads of a graph-based model."""

    SECTION = "Graph-based models"
    k: Annotated[
        str, typer.Option(help="Heads kept for each word: a number, none (all), or model: as in training.")
    ] = "model"
    threshold: Threshold = None
    valid: Annotated[
        str | None,
        typer.Option(
            metavar="RULES",
            help="Return the best tree among those that keep these rules, with a proof that no other valid tree scores "
            "more. ud: the errors that the validator of Universal Dependencies reports at levels 2 and 3, as far as "
            "heads, labels and tags decide them. ud-warnings: its warnings, too. Or a TOML file that adds or drops "
            "rules. [default: all trees]",
        ),
    ] = None

    def options(self) -> dict[str, Any]:
        """Keyword arguments of a parser, as far as given."""
        return self._valid | pruning(self.k, self.threshold)

    @property
    def _valid(self) -> dict[str, Any]:
        return {} if self.valid is None else {"valid": self.valid}


@dataclass(frozen=True)
class Search(Candidates):
    """The search of a graph-based model."""

    decoder: Annotated[
        str, typer.Option(help="branch-and-bound, or another registered one to compare with, for instance ilp.")
    ] = "branch-and-bound"
    config: Annotated[
        str, typer.Option(help="Bounds of branch-and-bound: tuned, or published: as in the paper, slower.")
    ] = "tuned"
    max_dp_calls: Annotated[
        int,
        typer.Option(
            min=0,
            max=MANY,
            help="Limit of dynamic programs for a sentence; its tree is not proved where they do not suffice. 0: none.",
        ),
    ] = 0
    certificates: Annotated[
        Path | None,
        typer.Option(
            help="File for the proofs, which `treebound check --certificates` verifies; of CCG models, too. "
            "[default: none]"
        ),
    ] = None

    #: decoders that leave a proof
    PROVING: ClassVar[tuple[str, ...]] = ("branch-and-bound", "dual-decomposition", "ad3")

    def options(self) -> dict[str, Any]:
        """Keyword arguments of a parser, as far as given. Raises InputError where they do not fit each other."""
        choose("config", (self.config,), ("tuned", "published"))
        options = _changed({"decoder": self.decoder, "config": self.config, "max_dp_calls": self.max_dp_calls}, Search)
        if self.certificates is not None:
            if self.decoder not in self.PROVING or self.config != "tuned":
                proving = ", ".join(self.PROVING)
                raise InputError(f"certificates come from {proving}, tuned", hint="leave --decoder and --config")
            options["record"] = True
        return options | self._valid | pruning(self.k, self.threshold)


@dataclass(frozen=True)
class Certainty(Group):
    """How sure a graph-based model is."""

    SECTION = "How sure a graph-based model is"
    margins: Margins = False
    marginals: Marginals = False
    scale: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="Probabilities of --marginals go as exp(scale * score / unit); a smaller scale makes them flatter.",
        ),
    ] = 1.0
    kbest: Annotated[
        int,
        typer.Option(
            min=0,
            max=MANY,
            help="Write the N best trees, with their scores, as a comment treebound_kbest. 0 writes none.",
        ),
    ] = 0

    def assess(self) -> Any:
        """What a parser is to assess, or None."""
        from treebound.decoders.confidence import Assess

        finite("scale", self.scale)
        if not (self.margins or self.marginals or self.kbest):
            return None
        return Assess(self.margins, self.marginals, self.kbest, self.scale)


@dataclass(frozen=True)
class Transitions(Group):
    """Parsing by transitions."""

    SECTION, SYSTEM = "Transition-based models", "transition"
    beam: Annotated[
        int, typer.Option(min=0, max=1024, help="Sequences in the beam of a transition model; 0: as in training.")
    ] = 0

    def options(self) -> dict[str, Any]:
        """Keyword arguments of a parser, as far as given."""
        return _changed({"beam": self.beam}, Transitions)


@dataclass(frozen=True)
class Charts(Group):
    """Charts of a CCG model."""

    SECTION, SYSTEM = "CCG models", "ccg"
    beams: Beams = "model"
    limit: Limit = 0

    def options(self) -> dict[str, Any]:
        """Keyword arguments of a parser, as far as given."""
        return chart_options(self.beams, self.limit)


@dataclass(frozen=True)
class CCG(Charts):
    """Parsing with a CCG model."""

    integrate: Annotated[
        str,
        typer.Option(
            help="Parse with the scores of the supertagger of a CCG model, too: bp (belief propagation), dd (dual "
            "decomposition), exact (search with a proof), or none."
        ),
    ] = "none"
    iterations: Annotated[
        int,
        typer.Option(min=0, max=1_000_000, help="Iterations of --integrate; 0: 1 of bp, 25 of dd, 50 a node of exact."),
    ] = 0
    step: Annotated[
        str,
        typer.Option(
            help="Step size of --integrate dd: polyak follows the gap between bound and best derivation, published is "
            "the one of Auli & Lopez (2011): 0.5, halved whenever the bound rises."
        ),
    ] = "polyak"
    derivations: Annotated[
        Path | None,
        typer.Option(
            help=".auto file for the derivations of a CCG model, fragments where there is none of the whole; "
            "compressed as --output, - for standard output. [default: none]"
        ),
    ] = None

    def options(self) -> dict[str, Any]:
        """Keyword arguments of a parser, as far as given."""
        joint = {"integrate": self.integrate, "iterations": self.iterations, "step": self.step}
        return super().options() | _changed(joint, CCG)


def _changed(values: Mapping[str, Any], group: type[Group]) -> dict[str, Any]:
    """The values that are no defaults of a group."""
    defaults = {field.name: field.default for field in fields(group)}  # type: ignore[arg-type]
    return {name: value for name, value in values.items() if value != defaults[name]}


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of the groups among its parameters, in the order of the groups."""
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
    """What an option says for the models of one system."""

    help: str
    default: Any


class GroupedCommand(TyperCommand):
    """A command whose help has a section for each group of options, and those of other systems on request."""

    shown = ""  #: the system whose options the help shows besides

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options by sections."""
        sections: dict[str, type[Group]] = getattr(self.callback, "sections", {})
        meanings: dict[str, dict[str, Meaning]] = getattr(self.callback, "meanings", {})
        records: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.get_params(ctx):
            name = parameter.name or ""
            group, own = sections.get(name, Group), meanings.get(name, {})
            if self.shown not in own if own else group.SYSTEM not in ("", self.shown):
                continue  # an option of another system
            if own:
                parameter.help, parameter.default = own[self.shown]  # type: ignore[attr-defined]
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            section = "Arguments" if parameter.param_type_name == "argument" else group.SECTION
            records.setdefault(section, []).append(record)
        general = records.pop(GENERAL, [])
        for section, entries in {**records, GENERAL: general}.items():
            if entries:
                with formatter.section(section):
                    formatter.write_dl(entries)


def help_for(systems: list[str]) -> inspect.Parameter:
    """The option that shows the help with the options of another system."""

    def show(ctx: typer.Context, value: str | None) -> None:
        if value is not None and not ctx.resilient_parsing:
            choose("system", (value,), tuple(systems))
            assert isinstance(ctx.command, GroupedCommand)
            ctx.command.shown = value
            print(ctx.get_help())
            raise typer.Exit

    text = f"Show the options of models of another system as well: {', '.join(systems)}. [default: none]"
    option = typer.Option("--help-for", metavar="SYSTEM", is_eager=True, callback=show, help=text)
    hint = Annotated[str | None, option]
    return inspect.Parameter("help_for", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
