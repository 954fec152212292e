"""What still prevents a draft from being opened."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from surveys.authoring.drafts import describe
from surveys.authoring.translations import find_translation_problems
from surveys.manifest.manifest import MOST_SYMBOLS, Manifest
from surveys.manifest.questions import FIRST_RESERVED
from surveys.manifest.strength import LARGEST_TOTAL_EPSILON, LARGEST_UNCONFIRMED_EPSILON
from surveys.models import Survey


def find_launch_problems(*, survey: Survey, now: datetime) -> list[str]:
    """List everything that prevents the opening, and say what to do about it."""
    manifest = describe(survey=survey, wave_number=1)
    return [
        *_check_questions(manifest),
        *_check_coins(manifest),
        *_check_size(survey, manifest),
        *_check_dates(survey, now=now),
        *find_translation_problems(survey=survey, manifest=manifest),
    ]


def needs_confirmation(manifest: Manifest) -> bool:
    """Whether the total is so large that the author must confirm to know what it means."""
    return manifest.epsilon > LARGEST_UNCONFIRMED_EPSILON


def _check_questions(manifest: Manifest) -> Iterator[str]:
    if not manifest.questions:
        yield "The survey has no questions. Add at least one."
    elif not manifest.ledger:
        yield "No question is scrambled. Add one that is: scrambling is what Murmur is for."
    for question in manifest.questions:
        # Only drafts of earlier versions have such points: the form refuses them.
        if question.described.has_points and (question.minimum or 0) <= FIRST_RESERVED:
            yield (
                f"Question {question.number} has points from \N{MINUS SIGN}{-FIRST_RESERVED} down. "
                "In files, these numbers mean “no answer”. Use higher points."
            )


def _check_coins(manifest: Manifest) -> Iterator[str]:
    if manifest.coins and not manifest.coin_questions:
        yield (
            "Two coins are switched on, but no question can be answered with them. Add a yes/no "
            "question without “prefer not to say” and without a rule, or switch the coins off."
        )
    if manifest.coin_epsilon > LARGEST_TOTAL_EPSILON:
        yield (
            f"With two coins, the questions together exceed a total ε of "
            f"{LARGEST_TOTAL_EPSILON:.0f}. Ask fewer yes/no questions, or switch the coins off."
        )


def _check_size(survey: Survey, manifest: Manifest) -> Iterator[str]:
    if survey.drawn is not None and survey.drawn >= manifest.block_count:
        yield (
            f"You chose to ask each person {survey.drawn} of {manifest.block_count} blocks of "
            "questions. Choose fewer, or ask everyone everything."
        )
    elif manifest.drawn_epsilon > LARGEST_TOTAL_EPSILON:
        yield (
            f"The questions together exceed a total ε of {LARGEST_TOTAL_EPSILON:.0f}, which "
            "respondents’ browsers refuse. Protect them more strongly, ask fewer, or ask each "
            "person a random subset of them (Settings)."
        )
    if len(manifest.symbols) > MOST_SYMBOLS:
        yield (
            f"A report would have {len(manifest.symbols):,} codes, but the maximum is "
            f"{MOST_SYMBOLS:,}. Ask fewer questions, or offer fewer answers where several can be "
            "selected: each of them is a code."
        )


def _check_dates(survey: Survey, *, now: datetime) -> Iterator[str]:
    opens, closes = survey.opens_at, survey.closes_at
    if closes is not None and closes <= now:
        yield "The closing date has passed. Choose a later one or remove it."
    if opens is not None and closes is not None and closes <= opens:
        yield "The closing date must come after the opening date."
