"""Decide whether figures of a comparison are precise enough to show, as on the results page."""

from __future__ import annotations

from scipy.special import ndtri

from aggregator.comparisons.result import Profile, Term, TwoQuestionsResult
from aggregator.results.reliability import WIDE, Reliability, rate
from privacy.associations.two_questions import AssociationEstimate
from privacy.level import Z_95
from surveys.planning.figures import WIDEST

# A ratio says next to nothing if its interval's upper end is more than this many times the lower
# end.
WIDEST_FACTOR = 50.0


def rate_share(figure: AssociationEstimate, *, values: float = 1.0) -> Reliability:
    """Rate a figure by its design error; `values` is the length of its possible range.

    A figure whose interval spans more than half of this range is not shown.
    """
    if figure.estimate is None or figure.high - figure.low > WIDEST * values:
        return Reliability.NOT_SHOWN
    error = None if figure.design_error is None else figure.design_error / values
    return rate(error, float(ndtri((1 + figure.level) / 2)))


def rate_difference(result: TwoQuestionsResult) -> Reliability:
    """Rate the difference, which may lie anywhere from -1 to 1."""
    return rate_share(result.difference, values=2.0)


def rate_odds_ratio(result: TwoQuestionsResult) -> Reliability:
    """Rate the odds ratio like the difference; hide a ratio whose own interval is too wide."""
    ratio = result.odds_ratio
    return rate_difference(result) if _is_shown(ratio.low, ratio.high) else Reliability.NOT_SHOWN


def _is_shown(low: float, high: float) -> bool:
    return 0 < low and high <= WIDEST_FACTOR * low


def rate_profile(profile: Profile) -> Reliability:
    """Rate a profile by the larger of the spreads of its size and its shares."""
    return rate(max(profile.spread, profile.size_spread), Z_95)


def rate_term(term: Term) -> Reliability:
    """Rate a predictor by its odds ratio and by the wider interval of its two adjusted shares."""
    assert term.adjusted is not None
    if not _is_shown(term.odds_ratio_low, term.odds_ratio_high):
        return Reliability.NOT_SHOWN
    shares = (term.adjusted.share, term.adjusted.reference)
    width = max(share.high - share.low for share in shares)
    if width > WIDEST:
        return Reliability.NOT_SHOWN
    return Reliability.PUBLISHABLE if width <= WIDE else Reliability.CAUTION
