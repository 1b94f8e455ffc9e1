"""The names of the spaces of trees.

The module imports nothing from the package. Settings that only name a space therefore load fast.
"""

from typing import Literal

Space = Literal["projective", "non-projective"]
