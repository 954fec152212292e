"""The text on the page of key drivers: which answer predicts another best, and how often."""

from __future__ import annotations

from aggregator.comparisons.key_driver import RankedRule, Ranking
from aggregator.comparisons.sentences import describe_together, write_range
from aggregator.comparisons.words.figure_rows import FigureRow
from aggregator.results.reliability import Reliability
from aggregator.results.sentences import CAUTION, CAUTION_MARK, TOO_FEW
from surveys.axis import Axis
from surveys.formatting import join_list, percent, points

SHARES = Axis(ends=("0\N{NO-BREAK SPACE}%", "100\N{NO-BREAK SPACE}%"))
NOTHING_SHOWN = "Too few people took part to say which answer predicts this one."
MAY_BE_CHANCE = "The difference may be due to chance."
NOT_PLANNED = (
    "Exploratory: this ranking was not planned before the survey opened. It describes these "
    "people, and says nothing about causes."
)


def describe_best(ranking: Ranking) -> str:
    """Name the best predictor; say how often it and the better constant are right."""
    constant, best = ranking.constant, ranking.best
    if not any(rule.is_shown for rule in ranking.rules if rule.predictor):
        return NOTHING_SHOWN
    always = f"is right for {write_rule(constant)} of people"
    asked = ranking.outcome.label
    if best is None or best.predictor is None:
        return f"No answer predicts {asked} better than {name_rule(constant)}, which {always}."
    same = "same" if best.says_same else "opposite"
    said = (
        f"{best.predictor.label} predicts {asked} best: guessing the {same} answer is right for "
        f"{write_rule(best)} of people. {name_rule(constant)} {always}."
    )
    return said if best.least_gain > 0 else f"{said} {MAY_BE_CHANCE}"


def name_rule(rule: RankedRule) -> str:
    """Write "Q3: same answer", "Q5 (Work): opposite answer" or “Always No”, for example."""
    if rule.predictor is None:
        return f"“Always {'Yes' if rule.says_same else 'No'}”"
    return f"{rule.predictor.label}: {'same' if rule.says_same else 'opposite'} answer"


def write_rule(rule: RankedRule) -> str:
    """Write a share such as "78 % (71–85)", with a mark where caution is due."""
    if not rule.is_shown:
        return TOO_FEW
    mark = CAUTION_MARK if rule.rating is Reliability.CAUTION else ""
    return f"{percent(rule.share)}{mark} ({write_range(points(rule.low), points(rule.high))})"


def list_rule_rows(ranking: Ranking) -> list[FigureRow]:
    return [
        FigureRow(
            label=name_rule(rule),
            detail=rule.predictor.question.text if rule.predictor else "",
            text=write_rule(rule),
            axis=SHARES,
            whisker=SHARES.place_whisker(low=rule.low, value=rule.share, high=rule.high)
            if rule.is_shown
            else None,
        )
        for rule in ranking.rules
    ]


def describe_lines(ranking: Ranking) -> str:
    """Explain the intervals and the mark, and name the answers that have no line."""
    said = [describe_together(ranking.together, of="rules")]
    if any(rule.rating is Reliability.CAUTION for rule in ranking.rules):
        said.append(CAUTION)
    if ranking.left_out:
        names = join_list([one.label for one in ranking.left_out])
        said.append(f"Not ranked, because the pairs could not be tested: {names}.")
    return " ".join(said)
