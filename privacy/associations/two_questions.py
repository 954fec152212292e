"""Two questions, or groups and a question: the difference, the odds ratio and the correlation.

Grouping people by their reported answers would compare mixtures of the true groups. Here,
everything is computed from the estimated table of true answers and its likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacy.associations.profiles import LikelyShares
from privacy.associations.significance import SignificanceTest, latent_independence_test
from privacy.associations.tables import TableEstimates, Variable, estimate_table, prepare_table
from privacy.checks import Floats, check_level, check_share, check_whole
from privacy.level import LEVEL

_NOBODY = 1e-9  # a share of people below this is a rounding error


@dataclass(frozen=True, kw_only=True)
class AssociationEstimate:
    """One estimate from a table of true answers.

    Attributes
    ----------
    raw : float or None
        Unclipped value at the unbiased shares; None where they do not define a value.
    standard_error : float or None
        Standard error of `raw`, by the delta method; None where `raw` is None, and for the odds
        ratio, whose logarithm has a standard error (`Association.log_odds_ratio`).
    estimate : float or None
        Value at the most likely shares; None where these do not define a value (0 / 0).
    low, high : float
        Ends of the profile-likelihood interval; `high` may be infinite for an odds ratio. The
        interval is the whole range where it is plausible that no one is counted.
    level : float
        Confidence level.
    design_error : float or None
        Standard error that would result if a fraction `supposed` of each group had the event. It
        does not depend on how often the event was reported. It is computed only for the two shares
        and their difference, and is None where no one seems to be in a group.
    """

    raw: float | None
    standard_error: float | None
    estimate: float | None
    low: float
    high: float
    level: float
    design_error: float | None = None


@dataclass(frozen=True, kw_only=True)
class Association:
    """Differences in the share of an answer between two groups defined by another question.

    Attributes
    ----------
    table : TableEstimates
        Estimates for all categories of both questions.
    share_first, share_second : AssociationEstimate
        Share of the event in the first and in the second group.
    difference : AssociationEstimate
        First share minus second share.
    odds_ratio : AssociationEstimate
        Odds ratio of the event in the first group against the second.
    log_odds_ratio : AssociationEstimate
        Natural logarithm of the odds ratio, with a standard error. The ends of its interval may be
        infinite.
    phi : AssociationEstimate
        Correlation of event and group.
    test : SignificanceTest
        Likelihood-ratio test of independence. The intervals of difference, odds ratio and phi
        exclude independence where the test rejects at 1 - level.
    """

    table: TableEstimates
    share_first: AssociationEstimate
    share_second: AssociationEstimate
    difference: AssociationEstimate
    odds_ratio: AssociationEstimate
    log_odds_ratio: AssociationEstimate
    phi: AssociationEstimate
    test: SignificanceTest


def associate(
    *,
    counts: ArrayLike,
    variables: Sequence[Variable],
    event: int,
    first: int,
    second: int,
    level: float = LEVEL,
    supposed: float = 0.2,
) -> Association:
    """Compare the share of an event between two groups that are themselves randomized.

    Parameters
    ----------
    counts : array_like of int, shape (k_1, k_2)
        Number of reports showing each combination of codes of the outcome (rows) and the group
        (columns).
    variables : sequence of two Variable
        Outcome and group.
    event : int
        Category of the outcome whose share is compared; it must be an answer.
    first, second : int
        Categories of the group that are compared; they must be different answers.
    level : float, optional
        Confidence level of all intervals, in (0, 1).
    supposed : float, optional
        Share of the event for which `design_error` is computed, in (0, 1).

    Returns
    -------
    Association
        All shares are shares of those who answered both questions: refusals and "not asked" belong
        to no group and do not count as the event.

    Raises
    ------
    ValueError
        If the table does not match the variables, or event, first or second is not an answer.
    NotSettledError
        If a search does not converge.

    Notes
    -----
    The difference is p_11 / p_.1 - p_10 / p_.0, where p are the true shares of the cells. Intervals
    use the profile likelihood of the joint multinomial, even where a share is at 0 and a delta
    method would fail. They hold for one look at the data, with the amount of data fixed in advance.

    References
    ----------
    Warner, S. L. (1965), JASA 60(309) (the mechanism).
    Fleiss, J. L., Levin, B. and Paik, M. C. (2003), Statistical Methods for Rates and
    Proportions, 3rd ed., sections 6.2 and 6.5 (phi, odds ratio and their delta method).

    Examples
    --------
    >>> from privacy.mechanism.mechanisms import RandomizedResponse
    >>> coins = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=25))
    >>> found = associate(
    ...     counts=[[250, 250], [200, 300]], variables=[coins, coins], event=1, first=1, second=0
    ... )
    >>> round(found.phi.raw, 6), round(found.odds_ratio.raw, 6)
    (0.408248, 6.0)
    >>> round(found.log_odds_ratio.standard_error, 6), round(found.difference.raw, 6)
    (0.654412, 0.416667)
    """
    if len(variables) != 2:
        raise ValueError(f"variables must be two questions, got {len(variables)}")
    outcome, group = variables
    _check_category("event", event, outcome)
    _check_category("first", first, group)
    _check_category("second", second, group)
    if first == second:
        raise ValueError(f"first and second must differ, got {first!r} twice")
    level, supposed = check_level(level), check_share("supposed", supposed, ends="()")
    test = latent_independence_test(counts=counts, variables=variables)
    table = estimate_table(counts=counts, variables=variables)
    gathered, channel = prepare_table(counts=counts, variables=variables)
    cells = _Cells(shape=gathered.shape, outcome=outcome, event=event, first=first, second=second)
    region = LikelyShares(
        counts=gathered.ravel(),
        channel=channel,
        shares=table.joint_shares.ravel(),
        level=level,
        parts=cells.masks,
    )
    errors = _find_design_errors(
        table, channel, cells, supposed=supposed, total=int(gathered.sum())
    )
    return _Analysis(
        table=table,
        cells=cells,
        region=region,
        level=level,
        errors=errors,
        may_be_independent=test.p_value > 1 - level,
    ).describe(test)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Analysis:
    """Computes all estimates of an association from the table and its likely shares."""

    table: TableEstimates
    cells: _Cells
    region: LikelyShares
    level: float
    errors: tuple[float, float, float] | tuple[None, None, None]
    may_be_independent: bool

    def describe(self, test: SignificanceTest) -> Association:
        cells, region = self.cells, self.region
        # An empty group can have any share, so a group that may be empty gets the whole range.
        nobody = [region.without(group) for group in cells.groups]
        vague = any(region.without(answer) for answer in cells.answers) or any(nobody)
        a, b, c, d = (float(part) for part in cells.split(self.table.shares.ravel()))
        has_groups = a + b > 0 and c + d > 0
        all_positive = min(a, b, c, d) > 0
        # The test and the search agree except for rounding, which must not show.
        same = [0.0] if self.may_be_independent else []
        odds = self.estimate(
            cells.odds_share,
            raw_ok=all_positive,
            anything=vague,
            reaches=[0.5] if self.may_be_independent else [],
        )
        return Association(
            table=self.table,
            share_first=replace(
                self.estimate(cells.share_first, raw_ok=has_groups, anything=bool(nobody[0])),
                design_error=self.errors[0],
            ),
            share_second=replace(
                self.estimate(cells.share_second, raw_ok=has_groups, anything=bool(nobody[1])),
                design_error=self.errors[1],
            ),
            difference=replace(
                self.estimate(
                    cells.difference,
                    raw_ok=has_groups,
                    limits=(-1.0, 1.0),
                    reaches=[
                        *same,
                        *(end for side in (0, 1) for end in _reach(nobody[side], cells, side)),
                    ],
                ),
                design_error=self.errors[2],
            ),
            odds_ratio=_to_odds_ratio(odds),
            log_odds_ratio=_to_log_odds_ratio(odds, cells, self.table),
            phi=self.estimate(
                cells.phi,
                raw_ok=all_positive,
                limits=(-1.0, 1.0),
                anything=bool(region.without(np.logical_or(*cells.groups))),
                reaches=same,
            ),
            test=test,
        )

    def estimate(
        self,
        estimand: Callable[[NDArray[Any]], Any],
        *,
        raw_ok: bool,
        limits: tuple[float, float] = (0.0, 1.0),
        anything: bool = False,
        reaches: Sequence[float] = (),
    ) -> AssociationEstimate:
        """Estimate one quantity: `anything` allows 0 / 0, and `reaches` lists values to include."""
        raw, error = _delta(estimand, self.table) if raw_ok else (None, None)
        joint = self.table.joint_shares.ravel()
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(np.real(estimand(np.where(joint < _NOBODY, 0.0, joint))))
        low, high = limits
        if not anything:
            low, high = self.region.interval(estimand=estimand, limits=limits)
        return AssociationEstimate(
            raw=raw,
            standard_error=error,
            estimate=value if np.isfinite(value) else None,
            low=min(low, *reaches, high),
            high=max(low, *reaches, high),
            level=self.level,
        )


def _find_design_errors(
    table: TableEstimates, channel: Floats, cells: _Cells, *, supposed: float, total: int
) -> tuple[float, float, float] | tuple[None, None, None]:
    """Return the errors of the shares and their difference if a share `supposed` had the event."""
    shares = table.joint_shares.ravel().copy()
    for group, event in zip(cells.groups, cells.masks[::2], strict=True):
        people = shares[group].sum()
        if people < _NOBODY:
            return None, None, None
        others = (group & ~event).sum()
        shares[group & ~event] = (1 - supposed) * people / others
        shares[event] = supposed * people
    reported = channel @ shares
    inverse = np.linalg.inv(channel)
    covariance = inverse @ (np.diag(reported) - np.outer(reported, reported)) @ inverse.T / total
    design = replace(table, shares=shares.reshape(table.shares.shape), covariance=covariance)
    return (
        _delta(cells.share_first, design)[1],
        _delta(cells.share_second, design)[1],
        _delta(cells.difference, design)[1],
    )


def _reach(empty: LikelyShares | None, cells: _Cells, side: int) -> tuple[float, ...]:
    """Find the extreme differences if one group may be empty and its share can be anything."""
    if empty is None:
        return ()
    other = cells.groups[1 - side][~cells.groups[side]]
    event = cells.masks[2 if side == 0 else 0][~cells.groups[side]]
    low, high = 0.0, 1.0
    if empty.without(other) is None:
        low, high = empty.interval(
            estimand=lambda shares: shares[event].sum() / shares[other].sum(), limits=(0.0, 1.0)
        )
    return (-high, 1 - low) if side == 0 else (low - 1, high)


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """Reduces a table to event and other answers in the first and the second group."""

    shape: tuple[int, ...]
    outcome: Variable
    event: int
    first: int
    second: int

    @property
    def masks(self) -> list[NDArray[np.bool_]]:
        """Return the cells of event and non-event in the first group, then in the second."""
        masks = []
        for group in (self.first, self.second):
            table = np.zeros(self.shape, dtype=bool)
            table[self.event, group] = True
            masks.append(table.ravel())
            table = np.zeros(self.shape, dtype=bool)
            table[: self.outcome.answered, group] = True
            table[self.event, group] = False
            masks.append(table.ravel())
        return masks

    @property
    def groups(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        a, b, c, d = self.masks
        return a | b, c | d

    @property
    def answers(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the cells of the event in either group, then the cells of the non-event."""
        a, b, c, d = self.masks
        return a | c, b | d

    def split(self, shares: NDArray[Any]) -> tuple[Any, Any, Any, Any]:
        """Return the shares of event and non-event in the first group, then in the second."""
        table = shares.reshape(self.shape)[: self.outcome.answered]
        a, c = table[self.event, self.first], table[self.event, self.second]
        return a, table[:, self.first].sum() - a, c, table[:, self.second].sum() - c

    def share_first(self, shares: NDArray[Any]) -> Any:
        a, b, _, _ = self.split(shares)
        return a / (a + b)

    def share_second(self, shares: NDArray[Any]) -> Any:
        _, _, c, d = self.split(shares)
        return c / (c + d)

    def difference(self, shares: NDArray[Any]) -> Any:
        return self.share_first(shares) - self.share_second(shares)

    def odds_share(self, shares: NDArray[Any]) -> Any:
        """Return OR / (1 + OR), in [0, 1]; an infinite odds ratio needs no special treatment."""
        a, b, c, d = self.split(shares)
        return a * d / (a * d + b * c)

    def log_odds(self, shares: NDArray[Any]) -> Any:
        a, b, c, d = self.split(shares)
        return np.log(a) + np.log(d) - np.log(b) - np.log(c)

    def phi(self, shares: NDArray[Any]) -> Any:
        a, b, c, d = self.split(shares)
        return (a * d - b * c) / np.sqrt((a + b) * (c + d) * (a + c) * (b + d))


def _delta(estimand: Callable[[NDArray[Any]], Any], table: TableEstimates) -> tuple[float, float]:
    """Return the estimand at the unbiased shares and its standard error by the delta method."""
    shares = table.shares.ravel()
    slopes = np.empty(len(shares))
    for cell in range(len(shares)):
        shifted = shares.astype(np.complex128)
        shifted[cell] += 1e-30j
        slopes[cell] = np.imag(estimand(shifted)) / 1e-30
    variance = float(slopes @ table.covariance @ slopes)
    return float(np.real(estimand(shares))), sqrt(max(variance, 0.0))


def _to_odds(share: float) -> float:
    return inf if share == 1 else share / (1 - share)


def _to_odds_ratio(share: AssociationEstimate) -> AssociationEstimate:
    return AssociationEstimate(
        raw=None if share.raw is None else _to_odds(share.raw),
        standard_error=None,
        estimate=None if share.estimate is None else _to_odds(share.estimate),
        low=_to_odds(share.low),
        high=_to_odds(share.high),
        level=share.level,
    )


def _to_log_odds_ratio(
    share: AssociationEstimate, cells: _Cells, table: TableEstimates
) -> AssociationEstimate:
    raw, error = _delta(cells.log_odds, table) if share.raw is not None else (None, None)
    odds = _to_odds_ratio(share)
    return AssociationEstimate(
        raw=raw,
        standard_error=error,
        estimate=None if odds.estimate is None else _log(odds.estimate),
        low=_log(odds.low),
        high=_log(odds.high),
        level=share.level,
    )


def _log(value: float) -> float:
    return log(value) if value > 0 else -inf


def _check_category(name: str, category: int, variable: Variable) -> None:
    if not 0 <= check_whole(name, category) < variable.answered:
        raise ValueError(
            f"{name} must be one of the {variable.answered} answers, numbered from 0, "
            f"got {category!r}"
        )
