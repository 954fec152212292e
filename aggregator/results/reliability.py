"""Decide whether an estimate is precise enough to publish, or to show at all.

The rating depends on the design and the number of reports, not on the estimate. Otherwise, shares
that came out high by chance would be shown, and shares that came out low would not. The marks are
based on the standards by which the US National Center for Health Statistics presents proportions
(Parker et al. 2017). Figures that these standards suppress are shown here with a mark of caution,
because the interval next to them is honest. Figures whose interval says next to nothing are hidden.
"""

from __future__ import annotations

from enum import StrEnum

from surveys.planning.figures import COMPARED_AT, WIDEST

# WIDE and WIDEST are widths of the 95 % interval at a share of 20 %, as fractions of the possible
# range. With one look, about 36 and 10 direct answers give intervals of these widths.
WIDE = 1.3 * COMPARED_AT


class Reliability(StrEnum):
    """How an estimate may be used; a column of estimates.csv."""

    PUBLISHABLE = "publishable"
    CAUTION = "caution"
    NOT_SHOWN = "not_shown"  # on pages and charts; files and the API have every estimate


def rate(design_error: float | None, critical_value: float | None) -> Reliability:
    """Rate an estimate by the width of its interval if the true share were 20 %."""
    if critical_value is None:
        return Reliability.CAUTION  # shown by an earlier version, which did not store this value
    if design_error is None:
        return Reliability.NOT_SHOWN
    width = 2 * critical_value * design_error
    if width > WIDEST:
        return Reliability.NOT_SHOWN
    return Reliability.PUBLISHABLE if width <= WIDE else Reliability.CAUTION
