"""The text on the page of segments: a sentence, and a table with one column for each profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aggregator.comparisons.reliability import rate_profile
from aggregator.comparisons.result import Profile, SegmentsResult
from aggregator.results.reliability import Reliability
from aggregator.results.sentences import CAUTION_MARK, NOTHING, TOO_FEW, TOO_FEW_ANSWERS
from surveys.comparing.indicators import Indicator
from surveys.formatting import join_list, percent, whole

NEAREST = 10  # numbers of people are rounded to multiples of this


@dataclass(frozen=True, kw_only=True)
class ProfileRow:
    """One row of the table: a question, or a figure about the whole profile."""

    name: str
    text: str  # the text of the question, if the row is about one
    cells: tuple[str, ...]


def summarize_profiles(result: SegmentsResult, indicators: Sequence[Indicator]) -> str:
    """Say how many people have each profile that may be shown, and what most of them said."""
    said = [
        f"Profile {place}, about {percent(profile.size)} of people: mostly "
        f"{_describe_majority(profile, indicators)}."
        for place, profile in enumerate(result.profiles, start=1)
        if rate_profile(profile) is not Reliability.NOT_SHOWN
    ]
    return " ".join(said) or TOO_FEW_ANSWERS


def _describe_majority(profile: Profile, indicators: Sequence[Indicator]) -> str:
    pairs = zip(indicators, profile.shares, strict=True)
    labels = [indicator.label for indicator, share in pairs if share > 0.5]
    return f"Yes to {join_list(labels)}" if labels else "No to all"


def list_profile_rows(result: SegmentsResult, indicators: Sequence[Indicator]) -> list[ProfileRow]:
    """List the rows of the table: people, the share of Yes to each question, and the shift."""

    def make_row(
        name: str, write: Callable[[Profile], str], *, text: str = "", hidden: str = NOTHING
    ) -> ProfileRow:
        ratings = [rate_profile(one) for one in result.profiles]
        return ProfileRow(
            name=name,
            text=text,
            cells=tuple(
                hidden
                if rating is Reliability.NOT_SHOWN
                else write(one) + (CAUTION_MARK if rating is Reliability.CAUTION else "")
                for one, rating in zip(result.profiles, ratings, strict=True)
            ),
        )

    def write_people(profile: Profile) -> str:
        people, shift = (
            NEAREST * max(1, round(result.n * part / NEAREST))
            for part in (profile.size, profile.size_spread)
        )
        return f"about {whole(people)} ± {whole(shift)}"

    return [
        make_row("People", write_people, hidden=TOO_FEW),
        *(
            make_row(
                f"Yes to {indicator.label}",
                lambda one, place=place: percent(one.shares[place]),  # type: ignore[misc]
                text=indicator.question.text,
            )
            for place, indicator in enumerate(indicators)
        ),
        make_row("Typical shift (points)", lambda one: f"± {max(1, round(100 * one.spread))}"),
    ]
