"""The spaces of trees, by name. Imports nothing: settings that only name one are read in no time."""

from typing import Literal

Space = Literal["projective", "non-projective"]
