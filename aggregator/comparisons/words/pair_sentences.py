"""The text on the page of all pairs: a line for each pair, and the pairs that are not tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aggregator.comparisons.result import PairsResult, PairTest, UntestedPair
from aggregator.comparisons.sentences import SIGNIFICANT, UNCLEAR, write_p_value
from surveys.comparing.indicators import Indicator, find_plain_indicators, list_indicators
from surveys.formatting import join_list
from surveys.manifest.manifest import Manifest

LEFT_OUT_NAMED = 20
NOT_TESTED = (
    "Not tested, because fewer than {minimum:,} people were asked both questions: {pairs}{more}."
)
NOT_PLAIN = (
    "Not tested: {questions}. The test takes yes/no questions that everybody could answer, and "
    "items of “select several” without a rule or a refusal."
)
NOT_CROSSED = (
    "Not tested, because their questions are from different blocks, and too few people were asked "
    "the same blocks: {pairs}{more}."
)
TEST_NAMES = {
    "pearson": "Pearson",
    "fisher_exact": "Fisher",
    "latent_likelihood_ratio": "likelihood ratio",
    "no_variation": "none",
}


@dataclass(frozen=True, kw_only=True)
class PairLine:
    first: Indicator
    second: Indicator
    people: int
    test: str
    p_value: str
    adjusted: str
    sentence: str

    @property
    def is_related(self) -> bool:
        return self.sentence != UNCLEAR


def write_pairs(result: PairsResult, manifest: Manifest) -> list[PairLine]:
    """List the pairs, the clearest relationship first."""
    indicators = {indicator.name: indicator for indicator in list_indicators(manifest)}
    return [
        PairLine(
            first=indicators[pair.indicators[0]],
            second=indicators[pair.indicators[1]],
            people=pair.n,
            test=TEST_NAMES[pair.method],
            p_value=write_p_value(pair.p_value),
            adjusted=write_p_value(pair.adjusted_p_value),
            sentence=_describe_pair(pair),
        )
        for pair in sorted(result.pairs, key=lambda pair: pair.p_value)
    ]


def summarize_pairs(lines: Sequence[PairLine]) -> str:
    """Say how many of the tested pairs are related."""
    related = sum(line.is_related for line in lines)
    count = f"{len(lines):,} tested pair{'s' * (len(lines) != 1)}"
    if related == 0:
        return f"None of {count} is clearly related."
    return f"{related:,} of {count} {'is' if related == 1 else 'are'} related."


def describe_pairs_left_out(result: PairsResult, manifest: Manifest) -> str:
    """Name the questions and pairs that are not tested, and say why; empty if all are."""
    few = [pair for pair in result.too_few if pair.n < manifest.crowd]
    apart = [pair for pair in result.too_few if pair.n >= manifest.crowd]
    sentences = [
        sentence.format(minimum=manifest.crowd, **_name_pairs(pairs, manifest))
        for sentence, pairs in ((NOT_TESTED, few), (NOT_CROSSED, apart))
        if pairs
    ]
    plain = {one.question.name for one in find_plain_indicators(manifest)}
    others = [
        f"Q{one.number}" for one in manifest.questions if one.is_answered and one.name not in plain
    ]
    if others:
        sentences.insert(0, NOT_PLAIN.format(questions=join_list(others)))
    return " ".join(sentences)


def _name_pairs(pairs: Sequence[UntestedPair], manifest: Manifest) -> dict[str, str]:
    labels = {indicator.name: indicator.label for indicator in list_indicators(manifest)}
    named = [
        " and ".join(labels[name] for name in pair.indicators) for pair in pairs[:LEFT_OUT_NAMED]
    ]
    others = len(pairs) - len(named)
    return {"pairs": "; ".join(named), "more": f"; and {others:,} more" if others else ""}


def _describe_pair(pair: PairTest) -> str:
    if pair.adjusted_p_value > SIGNIFICANT:
        return UNCLEAR
    often = "more" if pair.more_often_together else "less"
    return f"related: Yes to both {often} often than by chance"
