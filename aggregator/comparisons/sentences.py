"""Comparisons in sentences: what differs, how surely, and what that may not be used for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aggregator.comparisons.indicators import (
    NO,
    NOBODY,
    YES,
    Indicator,
    find_indicators,
    list_indicators,
)
from aggregator.comparisons.jobs import ComparisonStanding
from aggregator.models import Comparison
from surveys.formatting import join_list, percent, points
from surveys.manifest.manifest import Manifest

EXPLORATORY = (
    "Exploratory: no guarantee under repeated looks. For comparisons there is no interval that "
    "stays valid while you watch."
)
UNTIL_THE_END = (
    "When this survey has ended as it was fixed to, a comparison that you planned beforehand can "
    "be taken at its word."
)
NEXT_TIME = (
    "In your next survey, fix the end before you open it, and plan the comparisons that matter."
)
A_PLACE_TO_START = (
    "A place to start looking: p-values are adjusted for the number of pairs. A pair that you pick "
    "here was not planned beforehand, whatever its own page says."
)
CONFIRMED = (
    "The survey ended as fixed before it opened, so each 95 % interval and p-value here is valid, "
    "as closely as such approximations are, for a comparison that you had planned. Of many that "
    "you merely try, some will stand out by chance."
)
IMPOSSIBLE = (
    "Do not use these figures. Hardly any true answers could have produced these codes through "
    "this survey’s page; reports that did not come from it are the likely cause."
)
SIGNIFICANT = 0.05
LEFT_OUT_NAMED = 20
TESTS = {
    "pearson": "Pearson’s χ² test on the codes",
    "fisher_exact": "Fisher’s exact test on the codes, because there are so few",
    "latent_likelihood_ratio": "a likelihood-ratio test on the estimated true answers",
    "no_variation": "all codes of one question are alike",
}
DISAGREE = (
    "The interval and the test are two approximations, and here they do not agree: take the "
    "question as open."
)
NO_LIMIT = {"inf": "no upper limit", "-inf": "no lower limit"}


@dataclass(frozen=True, kw_only=True)
class FigureLine:
    """One figure of a table, ready for a page."""

    name: str
    anchor: str
    value: str
    interval: str
    note: str = ""


def describe_standing(*, fixed_end: bool, end_was_frozen: bool, is_over: bool) -> str:
    """What figures of this survey may be used for, and what would make them stand."""
    if fixed_end:
        return CONFIRMED
    return f"{EXPLORATORY} {UNTIL_THE_END if end_was_frozen and not is_over else NEXT_TIME}"


def describe_impossible(standing: ComparisonStanding) -> str:
    """Why figures must not be used; empty if nothing speaks against them."""
    if not standing.is_impossible:
        return ""
    if not standing.alarms:
        return IMPOSSIBLE
    numbers = [f"Q{name.removeprefix('q')}" for name in standing.alarms]
    return f"{IMPOSSIBLE} The alarm was raised for {join_list(numbers)}."


def describe_title(manifest: Manifest, comparison: Comparison) -> str:
    """Q1 by Q2; Q1 explained by Q2, Q3 and Q4; All pairs."""
    labels = [indicator.label for indicator in find_indicators(manifest, comparison.names)]
    if comparison.kind == Comparison.Kind.PAIRS:
        return "All pairs of questions"
    if comparison.kind == Comparison.Kind.TABLE:
        return f"{labels[0]} by {labels[1]}"
    return f"{labels[0]} explained by {join_list(labels[1:])}"


def write_p_value(p: float) -> str:
    """About two significant digits, and never a zero that it is not."""
    if p < 0.0001:
        return "< 0.0001"
    if p < 0.01:
        return f"{p:.4f}"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def write_number(value: float | str | None, digits: int = 2) -> str:
    """Digits, a dash for what is not defined, words for what has no limit."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return NO_LIMIT[value]
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")  # nothing is minus zero
    return text.replace("-", "\N{MINUS SIGN}")


def _write_ends(low: float | str | None, high: float | str | None, digits: int = 2) -> str:
    return f"{write_number(low, digits)} to {write_number(high, digits)}"


# --- two questions ------------------------------------------------------------------------------
def describe_difference(result: Mapping[str, Any], outcome: Indicator, group: Indicator) -> str:
    """The one sentence that a reader takes along."""
    difference, first, second = (
        result[name] for name in ("difference", "share_first", "share_second")
    )
    if first["estimate"] is None or second["estimate"] is None:
        return (
            f"Cannot tell these groups apart yet: by these codes one answer to {group.label} may "
            "have been given by nobody."
        )
    if result["range"]:
        return _describe_means(result, outcome, group)
    low, high = points(difference["low"]), points(difference["high"])
    shares = (
        f"an estimated {percent(first['estimate'])} among {_people_with(group)}, "
        f"{percent(second['estimate'])} among {_people_without(group)}. The difference is "
        f"{points(difference['estimate'])} points (95\N{NO-BREAK SPACE}%: {low} to {high})."
    )
    if difference["low"] <= 0 <= difference["high"]:
        return f"{outcome.yes_text}: {shares} It may be zero: cannot tell these groups apart yet."
    common = "more" if difference["low"] > 0 else "less"
    return f"{outcome.yes_text} is {common} common among {group.yes_text}: {shares}"


def _people_with(group: Indicator) -> str:
    if group.is_known:
        return f"people in {group.label}"
    return f"people whose true answer to {group.label} is Yes"


def _people_without(group: Indicator) -> str:
    return f"those in the {group.no_text}" if group.is_known else "those whose answer is No"


def _describe_means(result: Mapping[str, Any], outcome: Indicator, group: Indicator) -> str:
    difference, first, second = (
        _stretch(result, name) for name in ("difference", "share_first", "share_second")
    )
    low, high = write_number(difference["low"], 1), write_number(difference["high"], 1)
    means = (
        f"an estimated {write_number(first['estimate'], 1)} among {_people_with(group)}, "
        f"{write_number(second['estimate'], 1)} among {_people_without(group)}. "
        f"The difference is {write_number(difference['estimate'], 1)} (95\N{NO-BREAK SPACE}%: "
        f"{low} to {high})."
    )
    if difference["low"] <= 0 <= difference["high"]:
        return (
            f"Mean of {outcome.label}: {means} It may be zero: cannot tell these groups apart yet."
        )
    word = "higher" if difference["low"] > 0 else "lower"
    return f"The mean of {outcome.label} is {word} among {group.yes_text}: {means}"


def _stretch(result: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A figure of shares as one of means: from [0, 1] to the range of the number."""
    least, greatest = result["range"]
    start = 0 if name == "difference" else least
    return {
        key: None if (value := result[name][key]) is None else start + (greatest - least) * value
        for key in ("estimate", "low", "high", "raw")
    }


def describe_test(test: Mapping[str, Any]) -> str:
    """What the test says, and which test it is."""
    if test["method"] == "no_variation":
        return f"Nothing can be tested: {TESTS['no_variation']}."
    verdict = (
        "The two questions are not independent"
        if test["p_value"] <= SIGNIFICANT
        else "Independence of the two questions cannot be ruled out"
    )
    return f"{verdict} (p {_p_phrase(test['p_value'])}, {TESTS[test['method']]})."


def describe_disagreement(result: Mapping[str, Any]) -> str:
    """Where interval and test say different things, that; empty otherwise."""
    difference, test = result["difference"], result["test"]
    zero_inside = difference["low"] <= 0 <= difference["high"]
    return DISAGREE if zero_inside == (test["p_value"] <= SIGNIFICANT) else ""


def _p_phrase(p: float) -> str:
    text = write_p_value(p)
    return text if text.startswith("<") else f"= {text}"


def write_figures(
    result: Mapping[str, Any], outcome: Indicator, group: Indicator
) -> list[FigureLine]:
    def share(name: str, label: str) -> FigureLine:
        figure = result[name]
        return FigureLine(
            name=label,
            anchor="difference-between-randomized-groups",
            value="–" if figure["estimate"] is None else percent(figure["estimate"], 1),
            interval=f"{points(figure['low'], 1)} to {percent(figure['high'], 1)}",
            note=_unclipped(figure),
        )

    if result["range"]:
        return _write_means(result, outcome, group)
    difference, odds, phi = (result[name] for name in ("difference", "odds_ratio", "phi"))
    return [
        share("share_first", f"{outcome.yes_text} among {group.yes_text}"),
        share("share_second", f"{outcome.yes_text} among {group.no_text}"),
        FigureLine(
            name="Difference",
            anchor="difference-between-randomized-groups",
            value="–"
            if difference["estimate"] is None
            else f"{points(difference['estimate'], 1)} points",
            interval=f"{points(difference['low'], 1)} to {points(difference['high'], 1)} points",
            note=_unclipped(difference),
        ),
        FigureLine(
            name="Odds ratio",
            anchor="odds-ratio",
            value=write_number(odds["estimate"]),
            interval=_write_ends(odds["low"], odds["high"]),
        ),
        FigureLine(
            name="Correlation φ",
            anchor="phi",
            value=write_number(phi["estimate"]),
            interval=_write_ends(phi["low"], phi["high"]),
        ),
    ]


def _write_means(
    result: Mapping[str, Any], outcome: Indicator, group: Indicator
) -> list[FigureLine]:
    def line(name: str, label: str) -> FigureLine:
        figure = _stretch(result, name)
        return FigureLine(
            name=label,
            anchor="difference-between-randomized-groups",
            value=write_number(figure["estimate"]),
            interval=_write_ends(figure["low"], figure["high"]),
        )

    return [
        line("share_first", f"Mean of {outcome.label} among {group.yes_text}"),
        line("share_second", f"Mean of {outcome.label} among {group.no_text}"),
        line("difference", "Difference of the means"),
    ]


def _unclipped(figure: Mapping[str, Any]) -> str:
    """Where the unbiased figure is another one, because it left the possible range."""
    raw, estimate = figure["raw"], figure["estimate"]
    if raw is None or estimate is None or abs(raw - estimate) < 0.0005:
        return ""
    return f"unclipped {points(raw, 1)}"


@dataclass(frozen=True, kw_only=True)
class CellLine:
    """One cell of the table of true answers."""

    outcome: str
    group: str
    count: int
    share: float
    standard_error: float
    joint: float


def write_cells(result: Mapping[str, Any], outcome: Indicator, group: Indicator) -> list[CellLine]:
    """Yes before No, and those who did not answer last."""
    rows, columns = len(result["counts"]), len(result["counts"][0])
    return [
        CellLine(
            outcome=outcome.category_texts[row],
            group=group.category_texts[column],
            count=result["counts"][row][column],
            share=result["shares"][row][column],
            standard_error=result["standard_errors"][row][column],
            joint=result["joint_shares"][row][column],
        )
        for row in (YES, NO, NOBODY)[:rows]
        for column in (YES, NO, NOBODY)[:columns]
    ]


# --- regression ---------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class TermLine:
    name: str
    odds_ratio: str
    interval: str
    coefficient: str
    standard_error: str
    p_value: str
    adjusted: str
    sentence: str


def write_terms(result: Mapping[str, Any], manifest: Manifest) -> list[TermLine]:
    indicators = {indicator.name: indicator for indicator in list_indicators(manifest)}
    return [_write_term(term, indicators) for term in result["terms"]]


def _write_term(term: Mapping[str, Any], indicators: Mapping[str, Indicator]) -> TermLine:
    is_intercept = term["name"] == "intercept"
    name = "Base odds (No to all predictors)"
    sentence = ""
    if not is_intercept:
        indicator = indicators[term["name"].partition("=")[0]]
        name = indicator.label if indicator.is_known else f"{indicator.label}: Yes"
        sentence = _describe_effect(term)
    return TermLine(
        name=name,
        odds_ratio=write_number(term["odds_ratio"]),
        interval=_write_ends(term["odds_ratio_low"], term["odds_ratio_high"]),
        coefficient=write_number(term["coefficient"], 3),
        standard_error=write_number(term["standard_error"], 3),
        p_value=write_p_value(term["p_value"]),
        adjusted="–" if is_intercept else write_p_value(term["adjusted_p_value"]),
        sentence=sentence,
    )


def _describe_effect(term: Mapping[str, Any]) -> str:
    # By the test, adjusted for all predictors; the interval is another approximation.
    if term["adjusted_p_value"] > SIGNIFICANT:
        return "cannot tell yet"
    return "higher odds" if term["coefficient"] > 0 else "lower odds"


# --- all pairs ----------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class PairLine:
    first: str
    second: str
    first_name: str
    second_name: str
    first_text: str
    second_text: str
    people: int
    test: str
    p_value: str
    adjusted: str
    sentence: str


TEST_NAMES = {
    "pearson": "Pearson",
    "fisher_exact": "Fisher",
    "no_variation": "none",
}


def write_pairs(result: Mapping[str, Any], manifest: Manifest) -> list[PairLine]:
    """Pairs, the surest connection first."""
    indicators = {indicator.name: indicator for indicator in list_indicators(manifest)}
    return [
        PairLine(
            first=indicators[pair["questions"][0]].label,
            second=indicators[pair["questions"][1]].label,
            first_name=pair["questions"][0],
            second_name=pair["questions"][1],
            first_text=indicators[pair["questions"][0]].text,
            second_text=indicators[pair["questions"][1]].text,
            people=pair["n"],
            test=TEST_NAMES[pair["method"]],
            p_value=write_p_value(pair["p_value"]),
            adjusted=write_p_value(pair["adjusted_p_value"]),
            sentence=_describe_pair(pair),
        )
        for pair in sorted(result["pairs"], key=lambda pair: float(pair["p_value"]))
    ]


def describe_pairs_left_out(result: Mapping[str, Any], manifest: Manifest) -> str:
    """Which pairs are not tested, and why; empty if all are."""
    indicators = {indicator.name: indicator for indicator in list_indicators(manifest)}
    pairs = [
        f"{indicators[first].label} and {indicators[second].label}"
        for first, second in (pair["questions"] for pair in result["too_few"])
    ]
    if not pairs:
        return ""
    named = "; ".join(pairs[:LEFT_OUT_NAMED])
    more = f"; and {len(pairs) - LEFT_OUT_NAMED:,} more" if len(pairs) > LEFT_OUT_NAMED else ""
    return (
        f"Not tested, because fewer than {manifest.display_minimum:,} people were asked both: "
        f"{named}{more}."
    )


def _describe_pair(pair: Mapping[str, Any]) -> str:
    if pair["adjusted_p_value"] > SIGNIFICANT:
        return "cannot tell yet"
    often = "more" if pair["together"] else "less"
    return f"connected: Yes to both {often} often than by chance"
