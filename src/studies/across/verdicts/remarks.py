"""Sentences about the simulation and the pooled effects, computed from their own data."""

from __future__ import annotations

import pandas as pd

from studies.across.verdicts.simulation import ABOVE, HOLDS, PREDICTED, STUDIES
from studies.site.sentences import Said, about


@about()
def simulated(data: pd.DataFrame) -> Said:
    """About `simulation.coverage`."""
    designs = f"{len(data)} designs of {STUDIES:,} simulated studies each"
    yield (
        f"In {designs} the 95 % interval of the pooled effect holds the true one in {_range(data[HOLDS])} of "
        f"them, with weights by precision in {_range(data[f'{HOLDS}, weighted'])}; the prediction interval "
        f"holds what one more treebank shows in {_range(data[PREDICTED])}.",
        data,
    )
    none = data.xs(0.0, level="effect")
    yield (
        f"Without an effect, {_range(none[ABOVE])} of the studies would say *replicated* (2.5 % are allowed; "
        f"a share of {STUDIES:,} studies has a standard error of {100 * (0.025 * 0.975 / STUDIES) ** 0.5:.2f} %), with "
        f"weights by precision {_range(none[f'{ABOVE}, weighted'])}.",
        none,
    )


def _range(shares: pd.Series) -> str:
    """The least and the greatest of some shares, in words."""
    return f"{shares.min():.1f} to {shares.max():.1f} %"


@about()
def found(data: pd.DataFrame) -> Said:
    """About `simulation.power`."""
    for name in data.columns:
        enough = data.index[data[name] >= 80]
        size = f"{enough[0]:.2f} UAS points" if len(enough) else f"more than {data.index[-1]:.2f} UAS points"
        yield f"With {name} an effect is found four times out of five from {size} on.", data[[name]]
