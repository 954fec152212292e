"""A comparison as CSV in long format: one quantity per row, in full precision, with its inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from django.http import HttpResponse

from aggregator.comparisons.reliability import (
    rate_difference,
    rate_odds_ratio,
    rate_profile,
    rate_share,
    rate_term,
)
from aggregator.comparisons.result import (
    Cell,
    ComparisonResult,
    FactorTest,
    PairsResult,
    PairTest,
    Profile,
    RegressionResult,
    SegmentsResult,
    Term,
    Together,
    TwoQuestionsResult,
)
from aggregator.comparisons.sentences import adjust_p
from aggregator.comparisons.standing import ComparisonStanding
from aggregator.comparisons.words.two_questions_sentences import shows_test
from aggregator.exports.csv_format import (
    CONTENT_TYPE,
    DESIGN,
    list_wave_cells,
    name_wave,
    write_row,
)
from aggregator.models import Comparison
from privacy.associations.latent_regression import AdjustedShare
from privacy.associations.two_questions import AssociationEstimate
from surveys.comparing.indicators import find_indicators
from surveys.comparing.pairs import list_pair_indicators
from surveys.downloads import attach
from surveys.manifest.manifest import Manifest

QUANTITY_COLUMNS = (
    "section",
    "row",
    "first",
    "second",
    "quantity",
    "value",
    "standard_error",
    "low",
    "high",
    "level",
    "method",
    "reliability",
)
AS_IT_IS = "as_it_is"  # written in place of the threshold of a declared group
PROFILE, LIKELIHOOD_RATIO = "profile_likelihood", "likelihood_ratio"
BONFERRONI, HOLM = "bonferroni", "holm"
BOOTSTRAP = "parametric_bootstrap"


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One row of the file, without the first columns, which are the same in every row."""

    section: str  # estimates, test, cells, coefficients, factors, pairs or profiles
    row: str
    first: str  # the outcome, the first question of a pair, or the question of a profile’s share
    second: str  # the group, the predictor, or the second question of a pair
    quantity: str
    value: float | None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str | None = None
    reliability: str | None = None


def respond_with_comparison(
    comparison: Comparison, standing: ComparisonStanding, result: ComparisonResult
) -> HttpResponse:
    content = b"".join(_rows(comparison, standing, result))
    response = HttpResponse(content, content_type=CONTENT_TYPE)
    wave = comparison.wave
    name = "_".join([comparison.kind, *comparison.names])
    return attach(response, f"{name_wave(wave, slug=wave.survey.slug)}_RANDOMIZED_{name}.csv")


def _rows(
    comparison: Comparison, standing: ComparisonStanding, result: ComparisonResult
) -> Iterator[bytes]:
    head = _list_data_cells(comparison, standing, result)
    yield write_row((*head, *QUANTITY_COLUMNS))
    is_claim = comparison.kind == Comparison.Kind.CLAIM
    hides_test = is_claim and isinstance(result, TwoQuestionsResult) and not shows_test(result)
    for listed in list_quantities(comparison.names, result):
        if listed.section == "test" and hides_test:
            continue  # as on the page
        quantity = name_in_files(listed, standing.manifest)
        yield write_row((*head.values(), *(getattr(quantity, name) for name in QUANTITY_COLUMNS)))


def name_in_files(quantity: Quantity, manifest: Manifest) -> Quantity:
    """Name a quantity's questions by their variables; a row's name may contain two questions."""
    return replace(
        quantity,
        row=";".join(map(manifest.name_in_files, quantity.row.split(";"))),
        first=manifest.name_in_files(quantity.first),
        second=manifest.name_in_files(quantity.second),
    )


def _list_data_cells(
    comparison: Comparison, standing: ComparisonStanding, result: ComparisonResult
) -> dict[str, str | float | None]:
    """List the cells that are the same in every row: what was compared, and from which data."""
    manifest = standing.manifest
    chosen = find_indicators(manifest, comparison.names) or list_pair_indicators(manifest)
    gates = [one.gate for one in chosen]
    ends = result.outcome_range if isinstance(result, TwoQuestionsResult) else None
    lowest, highest = ends or (None, None)
    return {
        **list_wave_cells(comparison.wave),
        "through_batch": comparison.through_batch,
        "method_version": comparison.method_version,
        "standing": _name_standing(standing),
        "planned": "yes" if comparison.planned else "no",  # in the manifest
        "design": DESIGN,
        "ks": ";".join(str(one.symbol.k) for one in chosen),
        "thresholds": ";".join(
            AS_IT_IS if one.is_known else str(one.symbol.threshold) for one in chosen
        ),
        # The k and the threshold of the gate, which shows whether a "select several" was answered.
        "gates": ";".join(f"{gate.k}:{gate.threshold}" if gate else "" for gate in gates),
        "n": result.n,
        # Both are empty unless the outcome is a number; then a share of 0 stands for the minimum.
        "outcome_minimum": lowest,
        "outcome_maximum": highest,
        "kind": comparison.kind,
        **_list_together(result),
    }


def _list_together(result: ComparisonResult) -> dict[str, float | None]:
    """Return the numbers of tests and looks for which all intervals hold jointly at 95 %."""
    if isinstance(result, PairsResult | SegmentsResult):
        return {"family": None, "looks": None}
    return {"family": result.together.family, "looks": result.together.looks}


def _name_standing(standing: ComparisonStanding) -> str:
    if standing.is_impossible:
        return "contradiction"
    return "fixed_end" if standing.fixed_end else "looks"


def list_quantities(names: list[str], result: ComparisonResult) -> Iterator[Quantity]:
    """List every number of a result; `names` are the indicators of the comparison, in order."""
    if isinstance(result, PairsResult):
        for pair in result.pairs:
            yield from _list_pair(pair)
    elif isinstance(result, RegressionResult):
        for term in result.terms:
            yield from _list_term(term, result, outcome=names[0])
        for test in result.factors:
            yield from _list_factor(test, result.together, outcome=names[0])
    elif isinstance(result, SegmentsResult):
        for place, profile in enumerate(result.profiles, start=1):
            yield from _list_profile(profile, place, names)
    else:
        outcome, group = names
        yield from _list_estimates(result, outcome, group)
        yield from _list_test(result, outcome, group)
        for cell in result.cells:
            yield from _list_cell(cell, outcome, group)


def _list_estimates(result: TwoQuestionsResult, outcome: str, group: str) -> Iterator[Quantity]:
    """List each unclipped estimate with its standard error, and the likeliest with its interval."""
    estimates: dict[str, AssociationEstimate] = {
        "share_where_group_yes": result.share_first,
        "share_where_group_no": result.share_second,
        "difference": result.difference,
        "odds_ratio": result.odds_ratio,
        "log_odds_ratio": result.log_odds_ratio,
        "phi": result.phi,
    }
    ratings = {
        "share_where_group_yes": rate_share(result.share_first),
        "share_where_group_no": rate_share(result.share_second),
        "difference": rate_difference(result),
        "odds_ratio": rate_odds_ratio(result),
    }
    for row, figure in estimates.items():
        write = partial(Quantity, section="estimates", row=row, first=outcome, second=group)
        yield write(quantity="raw", value=figure.raw, standard_error=figure.standard_error)
        yield write(
            quantity="estimate",
            value=figure.estimate,
            low=figure.low,
            high=figure.high,
            level=figure.level,
            method=PROFILE,
            reliability=ratings.get(row),
        )
        if figure.design_error is not None:
            yield write(quantity="design_error", value=figure.design_error)


def _list_test(result: TwoQuestionsResult, outcome: str, group: str) -> Iterator[Quantity]:
    test = result.test
    for quantity in ("statistic", "degrees_of_freedom", "p_value"):
        yield Quantity(
            section="test",
            row="independence",
            first=outcome,
            second=group,
            quantity=quantity,
            value=getattr(test, quantity),
            method=test.method,
        )
    yield Quantity(
        section="test",
        row="independence",
        first=outcome,
        second=group,
        quantity="adjusted_p_value",
        value=adjust_p(test.p_value, result.together),
        method=BONFERRONI,
    )


def _list_cell(cell: Cell, outcome: str, group: str) -> Iterator[Quantity]:
    write = partial(
        Quantity, section="cells", row=f"{cell.outcome};{cell.group}", first=outcome, second=group
    )
    yield write(quantity="count", value=cell.count)
    yield write(quantity="raw_share", value=cell.share, standard_error=cell.standard_error)
    yield write(quantity="joint_share", value=cell.joint_share)


def _list_term(term: Term, result: RegressionResult, *, outcome: str) -> Iterator[Quantity]:
    write = partial(
        Quantity, section="coefficients", row=term.name, first=outcome, second=term.indicator
    )
    intervals = partial(write, level=result.level, method=PROFILE)
    yield intervals(
        quantity="coefficient",
        value=term.coefficient,
        standard_error=term.standard_error,
        low=term.low,
        high=term.high,
    )
    yield intervals(
        quantity="odds_ratio",
        value=term.odds_ratio,
        low=term.odds_ratio_low,
        high=term.odds_ratio_high,
        reliability=rate_term(term) if term.adjusted else None,
    )
    for quantity, share in _name_adjusted(term):
        yield intervals(quantity=quantity, value=share.estimate, low=share.low, high=share.high)
    yield write(quantity="statistic", value=term.statistic, method=LIKELIHOOD_RATIO)
    yield write(quantity="p_value", value=term.p_value, method=LIKELIHOOD_RATIO)
    if term.adjusted:
        adjusted = adjust_p(term.p_value, result.together)
        yield write(quantity="adjusted_p_value", value=adjusted, method=BONFERRONI)


def _name_adjusted(term: Term) -> Iterator[tuple[str, AdjustedShare]]:
    if term.adjusted:
        yield "adjusted_share", term.adjusted.share
        yield "adjusted_share_of_reference", term.adjusted.reference
        yield "adjusted_difference", term.adjusted.difference


def _list_factor(test: FactorTest, together: Together, *, outcome: str) -> Iterator[Quantity]:
    write = partial(
        Quantity, section="factors", row=test.indicator, first=outcome, second=test.indicator
    )
    for quantity in ("statistic", "degrees_of_freedom", "p_value"):
        yield write(quantity=quantity, value=getattr(test, quantity), method=LIKELIHOOD_RATIO)
    adjusted = adjust_p(test.p_value, together)
    yield write(quantity="adjusted_p_value", value=adjusted, method=BONFERRONI)


def _list_pair(pair: PairTest) -> Iterator[Quantity]:
    first, second = pair.indicators
    write = partial(Quantity, section="pairs", row=f"{first};{second}", first=first, second=second)
    yield write(quantity="n_of_both", value=pair.n)
    for code, counts in enumerate(pair.counts or ()):
        for other, count in enumerate(counts):
            yield write(quantity=f"count_{code}_{other}", value=count)
    yield write(quantity="more_often_together", value=pair.more_often_together)
    yield write(quantity="statistic", value=pair.statistic, method=pair.method)
    yield write(quantity="p_value", value=pair.p_value, method=pair.method)
    yield write(quantity="adjusted_p_value", value=pair.adjusted_p_value, method=HOLM)


def _list_profile(profile: Profile, place: int, names: list[str]) -> Iterator[Quantity]:
    write = partial(Quantity, section="profiles", row=str(place), second="")
    rated = partial(write, reliability=rate_profile(profile))
    moves = partial(write, first="", method=BOOTSTRAP)
    yield rated(first="", quantity="size", value=profile.size)
    yield moves(quantity="size_spread", value=profile.size_spread)
    for name, share in zip(names, profile.shares, strict=True):
        yield rated(first=name, quantity="share", value=share)
    yield moves(quantity="spread", value=profile.spread)
