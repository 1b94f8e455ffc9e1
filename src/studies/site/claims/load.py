"""Read and check the files of claims. Errors name the file and the line."""

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
NAME = "claims.toml"  #: file of claims in the folder of a paper
_STRICT = ConfigDict(extra="forbid", frozen=True)


class Claim(BaseModel):
    """A claim of a paper and how it is tested.

    - name: unique in its paper.
    - claim: the claim in our words.
    - brief: the claim in at most seven words, for the abstract of the report; empty: the first clause of `claim`.
    - section: section of the paper.
    - published: the published figures, or a note that there are none.
    - measure: one of `measures.MEASURES`.
    - rows, compare: arguments of the measure.
    - beside: rows of a second test of the claim that is reported but decides nothing; empty: none.
    - corpora: corpora that the test uses; empty: all.
    - test: required relation of the pooled value to the threshold `than`: more, less, at least, at most. The test
      `within` allows a distance of `tolerance`; `all` requires that each measured value is 100 %.
    - effects: published values of the measured quantity, one for each data set of the paper; empty: none.
    - margin: largest difference from `than` that counts as no effect (for ratios: a factor); requires `effects`. A
      claim whose threshold is not the value of no effect, for instance a threefold speed, has none.
    - limit: description of the limit on the work for each sentence; empty: no limit. Sentences whose search reached
      the limit count neither for nor against the claim.
    - otherwise: how the run differs from the setting of the claim, if the difference makes a decision impossible;
      empty: no such difference.
    - needs: what a test of the claim requires and no run of this project has; such a claim has no measure.
    - ours: True if there is nothing to replicate. The claim is made by this project, the paper states it without an
      experiment, or our copy of the paper lacks the result.
    - page: notebook that has the table with the measured values.

    `effects`, `than` and `margin` are fixed before a run is judged. docs/decisions/031-pooled-verdicts.md says what was
    changed between runs.
    """

    model_config = _STRICT

    name: Text
    claim: Text
    section: Text
    published: Text
    brief: str = ""
    measure: str = ""
    rows: tuple[Text, ...] = ()
    compare: Literal["each", "next"] = "each"
    beside: tuple[Text, ...] = ()
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
        """Return the mean of the published effects, the geometric mean for ratios, or None if none are published."""
        if not self.effects:
            return None
        scale = MEASURES[self.measure].scale
        return scale.back(fmean(scale.to(effect) for effect in self.effects))

    @property
    def short(self) -> str:
        """Return `brief`, or the first clause of the claim."""
        return self.brief or re.split(r"[:(]|\.(?!\d)", self.claim)[0].strip()

    @field_validator("measure")
    @classmethod
    def _known(cls, name: str) -> str:
        """Check that a measure of this name exists, and return the name."""
        if name and name not in MEASURES:
            raise ValueError(f"no measure {name!r}; choose from {', '.join(MEASURES)}")
        return name

    @model_validator(mode="after")
    def _whole(self) -> Claim:
        """Check that the keys of the claim fit together, and return the claim."""
        if bool(self.measure) == bool(self.needs):
            raise ValueError("give a measure, or under needs what a test needs and no run has")
        if self.measure and (self.than is None) != (self.test == "all"):
            missing = "than is missing: give the figure that the test compares with"
            raise ValueError(missing if self.than is None else "remove than: the test all does not use it")
        if self.margin is not None and not self.effects:
            raise ValueError("give effects with margin: a difference from `than` of at most margin counts as no effect")
        if (self.test == "within") != (self.tolerance is not None):
            raise ValueError("give tolerance with the test within, and with no other test")
        return self


class Paper(BaseModel):
    """A paper, its claims, and three sentences about the work of repeating it.

    key      name of the paper in tables and in addresses of pages
    easy     what was easy about the reproduction
    hard     what was hard about the reproduction
    differs  why results differ from the published ones
    """

    model_config = _STRICT

    key: Text
    cite: Text
    title: Text
    easy: str = ""
    hard: str = ""
    differs: str = ""
    claims: tuple[Claim, ...] = ()


@cache
def load() -> tuple[Paper, ...]:
    """Return the papers whose claims are stored, most claims first. Raises InputError as `read` does."""
    return tuple(sorted((read(folder / NAME) for folder in PAPERS), key=lambda paper: (-len(paper.claims), paper.key)))


def read(path: Path, params: Params | None = None) -> Paper:
    """Read a file of claims. Raises InputError with file, line and reason.

    params  parameters of the project; if they are given, a claim may name only rows that they can have
    """
    text = path.read_text(encoding="utf-8")
    try:
        paper = Paper(**tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not valid TOML: {error}", path=path) from None
    except ValidationError as error:
        first = min(
            error.errors(), key=lambda e: e["type"] != "extra_forbidden"
        )  # a misspelt key also causes an error about a missing key
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
            raise InputError(f"{where}the file has an earlier claim of this name", path=path, line=line)
        named = (*claim.rows, *claim.beside)
        known = set(MEASURES[claim.measure].names(params)) if params and claim.measure else set(named)
        if unknown := [row for row in named if row not in known]:
            choice = ", ".join(sorted(known)) or "none"
            raise InputError(f"{where}no row {unknown[0]!r}", path=path, line=line, hint=f"choose from {choice}")
    return paper


def _line(text: str, keys: tuple[int | str, ...]) -> tuple[int | None, str]:
    """Return the line (from 1) of a key of a claim, and a prefix for messages: the names of the claim and of the key.

    If the file lacks the key, the line is the first line of the claim.
    """
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.strip() == "[[claims]]"]
    if len(keys) < 2 or keys[0] != "claims" or not isinstance(keys[1], int):
        begin, end, keys_below = 0, starts[0] if starts else len(lines), keys
    else:
        begin, end = starts[keys[1]], (*starts, len(lines))[keys[1] + 1]
        keys_below = keys[2:]
    name = next((m[1] for line in lines[begin:end] if (m := re.match(r'name\s*=\s*"(.*)"', line))), "")
    key = str(keys_below[0]) if keys_below else ""
    place = next((i for i in range(begin, end) if key and re.match(rf"{re.escape(key)}\s*=", lines[i])), None)
    line = place if place is not None else begin if keys[:1] == ("claims",) else None
    return None if line is None else line + 1, "".join(f"{part}: " for part in (name, key) if part)
