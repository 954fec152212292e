"""The text on the page of all pairs: a line for each pair, and the pairs that are not tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aggregator.comparisons.analysis import APART, BY_RULE, FEW, LARGE, ONE_SCALE, UNSETTLED
from aggregator.comparisons.forms import predictor_field
from aggregator.comparisons.result import PairsResult, PairTest
from aggregator.comparisons.sentences import UNCLEAR, write_p_value
from aggregator.models import Comparison
from privacy.level import SIGNIFICANCE
from surveys.comparing.choice import GROUP, OUTCOME
from surveys.comparing.indicators import Factor, Indicator
from surveys.comparing.pairs import list_pair_indicators
from surveys.formatting import join_list
from surveys.manifest.manifest import Manifest

LEFT_OUT_NAMED = 20
ALWAYS_LISTED = 10
NOT_TESTED = {
    FEW: "because fewer than {minimum:,} people were asked both questions",
    APART: "because their questions are from different blocks, and too few people were asked the "
    "same blocks",
    ONE_SCALE: "because both are codes of one scale",
    BY_RULE: "because one answer decides whether the other question is asked",
    LARGE: "because they have too many combinations of answers",
    UNSETTLED: "because the estimation did not converge",
}
NOT_IN_FILE = "Not tested, because the file of rows does not tell their groups apart: {questions}."
TEST_NAMES = {
    "pearson": "Pearson",
    "fisher_exact": "Fisher",
    "latent_likelihood_ratio": "likelihood ratio",
    "no_variation": "none",
}

Kind = Comparison.Kind


@dataclass(frozen=True, kw_only=True)
class PairLine:
    first: Indicator
    second: Indicator
    people: int
    test: str
    p_value: str
    adjusted_p: float
    sentence: str

    @property
    def adjusted(self) -> str:
        return write_p_value(self.adjusted_p)

    @property
    def is_related(self) -> bool:
        return self.sentence != UNCLEAR

    @property
    def request(self) -> dict[str, str]:
        """The form fields for comparing this pair, or an empty dictionary if no form can do so."""
        factors = [one for one in (self.first, self.second) if isinstance(one, Factor)]
        outcome = self.second if self.first in factors else self.first
        if not factors and not self.second.is_number:
            return {"kind": Kind.TABLE, OUTCOME: self.first.name, GROUP: self.second.name}
        if len(factors) == 1 and not outcome.is_number and not outcome.is_known:
            chosen = {OUTCOME: outcome.name, predictor_field(1): factors[0].name}
            return {"kind": Kind.REGRESSION, **chosen}
        return {}


def write_pairs(result: PairsResult, manifest: Manifest) -> list[PairLine]:
    """List the pairs, starting with the clearest relationship."""
    indicators = {one.name: one for one in list_pair_indicators(manifest)}
    lines = []
    for pair in sorted(result.pairs, key=lambda pair: pair.p_value):
        first, second = (indicators[name] for name in pair.indicators)
        lines.append(
            PairLine(
                first=first,
                second=second,
                people=pair.n,
                test=TEST_NAMES[pair.method],
                p_value=write_p_value(pair.p_value),
                adjusted_p=pair.adjusted_p_value,
                sentence=_describe_pair(pair, first, second),
            )
        )
    return lines


def divide_pairs(lines: Sequence[PairLine]) -> tuple[Sequence[PairLine], Sequence[PairLine]]:
    """Divide the lines into those that are always listed and the rest."""
    listed = max(ALWAYS_LISTED, sum(line.is_related for line in lines))
    return lines[:listed], lines[listed:]


def summarize_pairs(lines: Sequence[PairLine]) -> str:
    """Say how many of the tested pairs are related."""
    related = sum(line.is_related for line in lines)
    count = f"{len(lines):,} tested pair{'s' * (len(lines) != 1)}"
    if related == 0:
        return f"None of {count} is clearly related."
    return f"{related:,} of {count} {'is' if related == 1 else 'are'} related."


def describe_pairs_left_out(result: PairsResult, manifest: Manifest) -> str:
    """Name the questions and pairs that are not tested, and say why; return "" if all are."""
    labels = {one.name: one.label for one in list_pair_indicators(manifest)}
    sentences = []
    for reason, why in NOT_TESTED.items():
        pairs = [pair.indicators for pair in result.untested if pair.reason == reason]
        named = [" and ".join(labels[name] for name in pair) for pair in pairs[:LEFT_OUT_NAMED]]
        more = f"; and {len(pairs) - len(named):,} more" if len(pairs) > len(named) else ""
        if pairs:
            text = why.format(minimum=manifest.crowd)
            sentences.append(f"Not tested, {text}: {'; '.join(named)}{more}.")
    known = {one.question.name: one for one in list_pair_indicators(manifest) if one.is_known}
    for name in result.indicators:
        known.pop(name.partition(".")[0], None)
    if known:
        questions = join_list([f"Q{one.number}" for one in known.values()])
        sentences.insert(0, NOT_IN_FILE.format(questions=questions))
    return " ".join(sentences)


def _describe_pair(pair: PairTest, first: Indicator, second: Indicator) -> str:
    if pair.adjusted_p_value > SIGNIFICANCE:
        return UNCLEAR
    if pair.more_often_together is None:
        return "related"
    often = "more" if pair.more_often_together else "less"
    if second.is_number:
        return f"related: high values occur together {often} often than by chance"
    if first.is_number:
        level = "higher" if pair.more_often_together else "lower"
        return f"related: {level} with {second.yes_text}"
    return f"related: Yes to both {often} often than by chance"
