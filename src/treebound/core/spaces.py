"""The names of the spaces of trees.

The module imports nothing from the package, so that settings that only name a space load fast.
"""

from typing import Literal

Space = Literal["projective", "non-projective"]
