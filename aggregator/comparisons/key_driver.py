"""Find the answer that best predicts another, from the stored counts of all pairs.

A rule says that people give the same answer to the outcome as to one other question, or the
opposite answer. A rule that is right no more often than "always Yes" or "always No" predicts
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

from scipy.special import ndtri

from aggregator.comparisons.analysis import find_level
from aggregator.comparisons.result import PairsResult, Together
from aggregator.results.reliability import Reliability, rate
from privacy.central.key_driver import agreement_channel, estimate_rule
from privacy.shares.intervals import likelihood_ratio
from surveys.comparing.indicators import NO, YES, Indicator
from surveys.comparing.pairs import list_pair_indicators
from surveys.manifest.manifest import Manifest
from surveys.planning.figures import COMPARED_AT

Table = tuple[tuple[int, ...], ...]  # counts, with a row for each code of the outcome


@dataclass(frozen=True, kw_only=True)
class RankedRule:
    """One rule and the share of people for whom it is right; a constant rule has no predictor.

    `gain` is how much more often the rule is right than the better constant, and `least_gain` is
    the lower end of the interval of `gain`.
    """

    predictor: Indicator | None
    says_same: bool  # for a constant rule: whether it says Yes
    share: float
    low: float
    high: float
    rating: Reliability
    gain: float = 0.0
    least_gain: float = 0.0

    @property
    def is_shown(self) -> bool:
        return self.rating is not Reliability.NOT_SHOWN


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The rules about an outcome, the best first; those that are not shown come last.

    The ranking has the better of each predictor's two rules, and the better constant.
    """

    outcome: Indicator
    together: Together
    rules: tuple[RankedRule, ...]
    left_out: tuple[Indicator, ...]  # their pairs with the outcome were not tested

    @property
    def constant(self) -> RankedRule:
        return next(rule for rule in self.rules if rule.predictor is None)

    @property
    def best(self) -> RankedRule | None:
        """The best rule whose estimate beats the better constant, or None if no rule does.

        The rule must beat the constant among people who answered both questions. It must also beat
        the share of the constant that pages show, which may describe more people.
        """
        better = (rule for rule in self.rules if rule.is_shown and rule.gain > 0)
        return next((rule for rule in better if rule.share > self.constant.share), None)


def list_outcomes(manifest: Manifest) -> list[Indicator]:
    """List the yes/no answers that can be outcomes and predictors."""
    return [one for one in list_pair_indicators(manifest) if one.is_plain]


def rank_rules(
    result: PairsResult, manifest: Manifest, outcome: Indicator, *, times: Sequence[float]
) -> Ranking | None:
    """Rank the rules about an outcome; return None if no pair with the outcome has counts.

    `times` lists the looks before the close, as fractions of the people expected.
    """
    tables = dict(_list_tables(result, outcome, list_outcomes(manifest)))
    if not tables:
        return None
    # The better constant also has an interval.
    together = Together(family=len(tables) + 1, looks=len(times))
    level = find_level(together, times)
    by_name = {one.name: one for one in list_outcomes(manifest)}
    rules = [
        _describe_rule(table, outcome, by_name[name], level=level) for name, table in tables.items()
    ]
    rules.append(_describe_constant(max(tables.values(), key=_count), outcome, level=level))
    # If shares are equal, the constant comes first, because it is as good and simpler.
    rules.sort(key=lambda rule: (not rule.is_shown, -rule.share, rule.predictor is not None))
    apart = [pair.indicators for pair in result.untested if outcome.name in pair.indicators]
    return Ranking(
        outcome=outcome,
        together=together,
        rules=tuple(rules),
        left_out=tuple(
            one
            for name, one in by_name.items()
            if name != outcome.name and any(name in pair for pair in apart)
        ),
    )


def _list_tables(
    result: PairsResult, outcome: Indicator, others: Sequence[Indicator]
) -> Iterator[tuple[str, Table]]:
    """List each predictor with its table of codes, whose rows are the outcome's codes."""
    names = {one.name for one in others}
    for pair in result.pairs:
        if pair.counts is None or outcome.name not in pair.indicators:
            continue
        first, second = pair.indicators
        predictor = second if first == outcome.name else first
        if predictor in names:
            turned = tuple(zip(*pair.counts, strict=True))
            yield predictor, pair.counts if first == outcome.name else turned


def _count(table: Table) -> int:
    return sum(map(sum, table))


def _describe_rule(
    table: Table, outcome: Indicator, predictor: Indicator, *, level: float
) -> RankedRule:
    own, other = outcome.symbol.mechanism, predictor.symbol.mechanism
    same, opposite = (
        estimate_rule(table=table, outcome=own, predictor=other, says_same=says_same)
        for says_same in (True, False)
    )
    says_same = same.share >= opposite.share
    better = same if says_same else opposite
    agreeing = table[NO][NO] + table[YES][YES]
    n = _count(table)
    return _make_rule(
        successes=agreeing if says_same else n - agreeing,
        n=n,
        channel=agreement_channel(outcome=own, predictor=other),
        level=level,
        predictor=predictor,
        says_same=says_same,
        gain=better.gain,
        least_gain=better.find_least_gain(_find_critical(level)),
    )


def _describe_constant(table: Table, outcome: Indicator, *, level: float) -> RankedRule:
    n, yes = _count(table), sum(table[YES])
    mechanism = outcome.symbol.mechanism
    # A channel of two codes is the same for Yes and No.
    says_yes = 2 * yes > n
    return _make_rule(
        successes=yes if says_yes else n - yes,
        n=n,
        channel=(mechanism.other_probability, mechanism.slope),
        level=level,
        predictor=None,
        says_same=says_yes,
    )


def _make_rule(
    *,
    successes: int,
    n: int,
    channel: tuple[float, float],
    level: float,
    predictor: Indicator | None,
    says_same: bool,
    gain: float = 0.0,
    least_gain: float = 0.0,
) -> RankedRule:
    c, d = channel
    found = likelihood_ratio(
        successes=successes, total=n, other_probability=c, slope=d, level=level
    )
    share = min(max((successes / n - c) / d, 0.0), 1.0)
    shown = c + d * COMPARED_AT
    return RankedRule(
        predictor=predictor,
        says_same=says_same,
        share=share,
        low=float(found.low),
        high=float(found.high),
        rating=rate(sqrt(shown * (1 - shown) / n) / d, _find_critical(level)),
        gain=gain,
        least_gain=least_gain,
    )


def _find_critical(level: float) -> float:
    return float(ndtri((1 + level) / 2))
