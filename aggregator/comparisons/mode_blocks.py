"""One question answered in the browser and with coins: both shares, their difference, a warning."""

from __future__ import annotations

from dataclasses import replace

from aggregator.comparisons.sentences import subtract_shown, write_points
from aggregator.results.blocks import (
    Block,
    BlockRow,
    RowKind,
    row_of_estimate,
    row_of_share,
)
from aggregator.results.estimate import QuestionResult
from aggregator.results.modes import ModeComparison
from surveys.axis import Axis
from surveys.formatting import points, whole

LEAST_HETEROGENEITY = 0.05


def build_mode_block(found: ModeComparison, *, pooled: bool) -> Block:
    """Show both shares, their difference and, if wanted, the pooled share in one block."""
    both = found.pooled
    warning = ""
    if found.alarms:
        warning = (
            "Do not use this question: reports that did not come from the survey’s page are the "
            f"likely cause of the codes of {' and of '.join(found.alarms)}."
        )
    elif pooled and both.heterogeneity.p_value < LEAST_HETEROGENEITY:
        warning = (
            "The two ways differ by more than chance, so no single share describes both. Do not "
            "pool them here."
        )
    key = found.browser.question.name
    rows = [
        _build_side("In the browser", found.browser),
        _build_side("Two coins", found.coins),
        _build_difference(found, key=key),
    ]
    if pooled:
        rows.append(
            row_of_share(
                key=f"{key} pooled", label="Pooled", value=both.share, low=both.low, high=both.high
            )
        )
    return Block(
        question=found.browser.question,
        total=found.browser.total,
        is_declared=False,
        rows=tuple(rows),
        warning=warning,
    )


def _build_side(name: str, result: QuestionResult) -> BlockRow:
    (share,) = result.shown
    row = row_of_estimate(share, usual=share.estimand.of)
    return replace(row, label=name, among=f"{whole(result.total)} people")


def _build_difference(pair: ModeComparison, *, key: str) -> BlockRow:
    """Show the difference between the two shown shares."""
    found = pair.difference
    coins, browser = (result.shown[0].displayed or 0.0 for result in (pair.coins, pair.browser))
    number = write_points(subtract_shown(coins, browser))
    ends = f"{points(found.low)} to {points(found.high)}"
    return BlockRow(
        key=f"{key} difference",
        kind=RowKind.MEAN,  # with a separate axis
        label="Coins less browser",
        value=found.difference,
        low=found.low,
        high=found.high,
        axis=Axis(least=-1.0, ends=("\N{MINUS SIGN}100", "100")),
        number=number,
        range=ends,
        text=f"{number} ({ends})",
    )
