"""The files of claims, checked: what is misspelt in one is said with its file and line."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, field_validator, model_validator

from studies.common.params import Params
from studies.site.claims.measures import MEASURES, PAPERS
from treebound.core.errors import InputError

Text = Annotated[str, Field(min_length=1)]
NAME = "claims.toml"  #: in the folder of a paper
_STRICT = ConfigDict(extra="forbid", frozen=True)


class Claim(BaseModel):
    """One claim of a paper.

    name       unique in its paper
    claim      in our words; section: where it stands; published: the figures, or that there are none
    measure    one of `measures.MEASURES`; rows, compare: as it takes them; corpora: these alone; empty: all
    test       what the pooled value must be: more, less, at least or at most `than`, or within `tolerance` of it; all:
               100 % in every place
    effects    published values of what the measure measures, one for each of the paper's data sets; empty: none are
    margin     differences from `than` up to it count as none (of ratios: a factor); goes with `effects`
    limit      of the work on a sentence, where a run has one: what it stops is neither for a claim nor against it
    otherwise  how the run differs from what is claimed so much that it cannot decide; empty: it does not
    needs      what no run here has: a claim without a measure
    ours       the claim is not the paper's, but of this project
    page       notebook with the table

    `effects`, `than` and `margin` are fixed before a run is judged.
    """

    model_config = _STRICT

    name: Text
    claim: Text
    section: Text
    published: Text
    measure: str = ""
    rows: tuple[Text, ...] = ()
    compare: Literal["each", "next"] = "each"
    corpora: tuple[Text, ...] = ()
    test: Literal["more", "less", "at least", "at most", "within", "all"] = "more"
    than: FiniteFloat | None = None
    tolerance: Annotated[FiniteFloat, Field(gt=0)] | None = None
    effects: tuple[FiniteFloat, ...] = ()
    margin: Annotated[FiniteFloat, Field(gt=0)] | None = None
    limit: str = ""
    otherwise: str = ""
    needs: str = ""
    ours: bool = False
    page: str = ""

    @property
    def effect(self) -> float | None:
        """The mean of the published effects, of ratios the geometric one; None: no figure was published."""
        if not self.effects:
            return None
        scale = MEASURES[self.measure].scale
        return scale.back(fmean(scale.to(effect) for effect in self.effects))

    @field_validator("measure")
    @classmethod
    def _known(cls, name: str) -> str:
        if name and name not in MEASURES:
            raise ValueError(f"no measure {name!r}; choose from {', '.join(MEASURES)}")
        return name

    @model_validator(mode="after")
    def _whole(self) -> Claim:
        if bool(self.measure) == bool(self.needs):
            raise ValueError("give a measure, or what it needs that no run has")
        if self.measure and (self.than is None) != (self.test == "all"):
            missing = "than is missing: the figure that the test compares with"
            raise ValueError(missing if self.than is None else "than does not go with the test all")
        if bool(self.effects) != (self.margin is not None):
            raise ValueError("margin goes with effects: up to which difference from `than` an effect counts as none")
        if (self.test == "within") != (self.tolerance is not None):
            raise ValueError("tolerance goes with the test within, and with no other")
        return self


class Paper(BaseModel):
    """A paper and its claims. key: its name in tables and in addresses of pages."""

    model_config = _STRICT

    key: Text
    cite: Text
    title: Text
    claims: tuple[Claim, ...] = ()


@cache
def load() -> tuple[Paper, ...]:
    """The papers whose claims are stored, that of most claims first. Raises InputError as `read` does."""
    return tuple(sorted((read(folder / NAME) for folder in PAPERS), key=lambda paper: (-len(paper.claims), paper.key)))


def read(path: Path, params: Params | None = None) -> Paper:
    """One file of claims. Raises InputError with file, line and reason.

    params  of a project: rows that its parameters cannot name are errors too
    """
    text = path.read_text(encoding="utf-8")
    try:
        paper = Paper(**tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not valid TOML: {error}", path=path) from None
    except ValidationError as error:
        first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")  # a misspelt key is a missing one too
        line, where = _line(text, first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            kind = Claim if "claims" in first["loc"] else Paper
            reason = f"unknown key; valid keys are {', '.join(kind.model_fields)}"
        raise InputError(f"{where}{reason}", path=path, line=line) from None
    names = [claim.name for claim in paper.claims]
    for i, claim in enumerate(paper.claims):
        line, where = _line(text, ("claims", i, "rows"))
        if claim.name in names[:i]:
            raise InputError(f"{where}a claim of this name stands above", path=path, line=line)
        known = set(MEASURES[claim.measure].names(params)) if params and claim.measure else set(claim.rows)
        if unknown := [row for row in claim.rows if row not in known]:
            choice = ", ".join(sorted(known)) or "none"
            raise InputError(f"{where}no row {unknown[0]!r}", path=path, line=line, hint=f"choose from {choice}")
    return paper


def _line(text: str, keys: tuple[int | str, ...]) -> tuple[int | None, str]:
    """Line (from 1) of a key of a claim, or of where its claim begins, and both in words."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.strip() == "[[claims]]"]
    if len(keys) < 2 or keys[0] != "claims" or not isinstance(keys[1], int):
        begin, end, rest = 0, starts[0] if starts else len(lines), keys
    else:
        begin, end = starts[keys[1]], (*starts, len(lines))[keys[1] + 1]
        rest = keys[2:]
    name = next((m[1] for line in lines[begin:end] if (m := re.match(r'name\s*=\s*"(.*)"', line))), "")
    key = str(rest[0]) if rest else ""
    found = next((i for i in range(begin, end) if key and re.match(rf"{re.escape(key)}\s*=", lines[i])), None)
    line = found if found is not None else begin if keys[:1] == ("claims",) else None
    return None if line is None else line + 1, "".join(f"{part}: " for part in (name, key) if part)
