"""Checks of a draft before it is opened: problems, warnings and exceeded limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.urls import reverse
from django.utils.html import format_html

from surveys.authoring.budget import Budget
from surveys.authoring.drafts import build_uncounted_manifest
from surveys.authoring.launch_problems import Problem, link_question, link_questions, link_setting
from surveys.authoring.planned.card import find_planned_problems
from surveys.authoring.planned.release_card import find_planned_release_problems
from surveys.authoring.repeats import describe_elsewhere, describe_equal, describe_similar
from surveys.authoring.translations import find_translation_problems
from surveys.formatting import epsilon, whole
from surveys.manifest.manifest import (
    BATCHES_FOR_HALVES,
    MOST_SYMBOLS,
    SMALLEST_USUAL_BATCH,
    Limit,
    Manifest,
    Publication,
    largest_release_delta,
)
from surveys.manifest.questions import FIRST_RESERVED
from surveys.manifest.serialization import MOST_BYTES, serialize_manifest
from surveys.manifest.strength import LARGEST_TOTAL_EPSILON, LARGEST_UNCONFIRMED_EPSILON
from surveys.models import DAYS_BEFORE_DELETION, Survey

_NEAR = 0.8  # above this fraction of the maximum size, authors are told the size


def find_launch_problems(
    *, survey: Survey, now: datetime, manifest: Manifest | None = None
) -> list[str]:
    """List everything that prevents the survey from opening, and how to fix each problem.

    If the manifest is not given, it is built without a count of other surveys. That count and the
    acknowledged limits add a few bytes to the manifest's size, but affect no other check.
    """
    if manifest is None:
        manifest = build_uncounted_manifest(survey=survey, wave_number=1)
    return [
        *_check_questions(survey, manifest),
        *describe_equal(manifest),
        *_check_coins(manifest),
        *find_planned_problems(manifest),
        *find_planned_release_problems(manifest),
        *_check_size(survey, manifest),
        *_check_dates(survey, now=now),
        *_check_releases(survey, manifest),
        *_check_half(manifest),
        *find_translation_problems(survey=survey, manifest=manifest),
    ]


def list_warnings(*, survey: Survey, manifest: Manifest) -> list[str]:
    """List what the author should know before opening the survey but may ignore."""
    return [
        *describe_similar(manifest),
        *describe_elsewhere(survey, manifest),
        *_describe_paths(manifest),
        *_describe_care(survey, manifest),
        *_describe_unplanned(manifest),
        *_describe_half(manifest),
    ]


def _describe_care(survey: Survey, manifest: Manifest) -> Iterator[str]:
    if not manifest.organization:
        yield format_html(
            'Respondents are not told who asks. <a href="{}">Name your organization in the '
            "settings</a>.",
            link_setting(survey.slug, "organization"),
        )
    if manifest.quick_exit and not manifest.help_name:
        yield format_html(
            "People can leave quickly, which suggests that the questions could endanger or upset "
            'them, but no page says where to find help. <a href="{}">In the settings, name a place '
            "that helps</a>.",
            link_setting(survey.slug, "help_name"),
        )


def _describe_unplanned(manifest: Manifest) -> Iterator[str]:
    if manifest.planned_releases == ():
        yield (
            "No release is planned. A release that you choose after the close is marked as chosen "
            "after seeing results. Plan releases below the questions."
        )


def _describe_paths(manifest: Manifest) -> Iterator[str]:
    paths = manifest.paths
    if paths.differ_much:
        about = "" if paths.is_exact else "about "
        has_rows = any(one.score is not None or one.together for one in manifest.questions)
        pages = "pages, each row counted as one," if has_rows else "pages"
        yield (
            f"The rules lead some people through {about}{paths.shortest} {pages} and others "
            f"through {about}{paths.longest}. Someone who sees when a person opens the page and "
            "sends the code can guess which way that person took, and thus the answers that led "
            "there. Make the ways more alike: ask something harmless on the shorter way, or use a "
            "follow-up in the same code."
        )


def _describe_half(manifest: Manifest) -> Iterator[str]:
    needed = max((BATCHES_FOR_HALVES + 1) * manifest.minimum_batch, 2 * manifest.crowd)
    if manifest.sealed_half and manifest.people_for_looks < needed:
        expected = whole(manifest.people_for_looks)
        yield (
            f"Two halves need at least {whole(needed)} people, but {expected} are expected. With "
            "fewer people, nothing is kept sealed. Expect more people, or lower K."
        )


@dataclass(frozen=True, kw_only=True)
class ExceededLimit:
    """A limit that the survey exceeds and its author must acknowledge, with the reason for it."""

    key: str
    text: str

    @property
    def reason(self) -> str:
        return _REASONS[Limit(self.key)]


_REASONS = {
    Limit.CAP: (
        "The survey will have no exact results. Figures and files need that many reports, so that "
        "one person cannot be found among made-up reports."
    ),
    Limit.MINIMUM_BATCH: (
        "Someone who sent all reports of a batch except one can single out that report. Then only "
        "the scrambling protects that person. The smaller K is, the easier this gets."
    ),
    Limit.TOTAL_EPSILON: (
        "If a person’s answers are related, guesses about these answers are almost certain to "
        "be right."
    ),
}


def list_exceeded_limits(manifest: Manifest) -> list[ExceededLimit]:
    """Describe the limits that the author must acknowledge when opening the survey.

    A total that browsers reject prevents the survey from opening, so it cannot be acknowledged.
    """
    k = manifest.minimum_batch
    texts = {
        Limit.CAP: (
            f"The survey closes after {whole(manifest.cap or 0)} people, but results need "
            f"{whole(manifest.crowd)}."
        ),
        Limit.MINIMUM_BATCH: f"The minimum batch K is {whole(k)}, below {SMALLEST_USUAL_BATCH}.",
        Limit.TOTAL_EPSILON: (
            f"The total ε is {epsilon(manifest.epsilon)}, above {LARGEST_UNCONFIRMED_EPSILON}."
        ),
    }
    is_refused = manifest.epsilon > LARGEST_TOTAL_EPSILON
    return [
        ExceededLimit(key=key, text=texts[Limit(key)])
        for key in manifest.acknowledged
        if not (is_refused and key == Limit.TOTAL_EPSILON)
    ]


def _check_questions(survey: Survey, manifest: Manifest) -> Iterator[str]:
    new = reverse("surveys:question_create", args=[survey.slug])
    if not manifest.questions:
        yield Problem("The survey has no questions.", "Add at least one.", href=new)
    elif not manifest.ledger:
        repair = "Add a scrambled question: scrambling is what Murmur is for."
        yield Problem("No question is scrambled.", repair, href=new)
    for place, question in enumerate(manifest.questions):
        # The form rejects such points, so only drafts of earlier versions have them.
        if question.described.has_points and (question.minimum or 0) <= FIRST_RESERVED:
            yield Problem(
                f"Question {question.number} has points of \N{MINUS SIGN}{-FIRST_RESERVED} or "
                "lower. In files, these numbers mean “no answer”.",
                "Use higher points.",
                href=link_question(survey.slug, survey.questions.all()[place].pk),
            )
    yield from _check_texts(survey, manifest)


def _check_texts(survey: Survey, manifest: Manifest) -> Iterator[str]:
    """Check that no score has its name as its text, as imported sums without a label do."""
    scores = [one for one in manifest.questions if one.score is not None and not one.is_second]
    if all(" " in one.text for one in scores):
        return  # no name has a space
    stored = list(survey.questions.all())
    for score in scores:
        row = stored[manifest.questions.index(score)]
        if row.text in (score.name, row.source_name):
            yield Problem(
                f"Question {score.number} has no text. Respondents would read its name in files, "
                f"“{row.text}”.",
                "Write a text for respondents.",
                href=link_question(survey.slug, row.pk),
            )


def _check_coins(manifest: Manifest) -> Iterator[str]:
    coins = link_setting(manifest.survey, "coins")
    if manifest.coins and not manifest.coin_questions:
        yield Problem(
            "Two coins are switched on, but no question can be answered with them.",
            "Add a yes/no question without “prefer not to say” and without a rule, or switch the "
            "coins off.",
            href=coins,
        )
    if manifest.coin_epsilon > LARGEST_TOTAL_EPSILON:
        yield Problem(
            f"With two coins, the questions together exceed a total ε of "
            f"{LARGEST_TOTAL_EPSILON:.0f}.",
            "Ask fewer yes/no questions, or switch the coins off.",
            href=coins,
        )


def describe_size(manifest: Manifest) -> str:
    """Say how large the survey is if it is near or above the maximum size."""
    size = len(serialize_manifest(manifest))
    if size > MOST_BYTES:
        return (
            f"All questions and texts together take up {_kilobytes(size)} kB, but phones load at "
            f"most {_kilobytes(MOST_BYTES)} kB. Shorten them, or ask fewer questions."
        )
    if size > _NEAR * MOST_BYTES:
        return (
            f"All questions and texts together take up {_kilobytes(size)} of at most "
            f"{_kilobytes(MOST_BYTES)} kB."
        )
    return ""


def _kilobytes(size: int) -> str:
    """Round up, so that a survey above the maximum never seems to be exactly at it."""
    return whole(-(-size // 1000))


def _check_size(survey: Survey, manifest: Manifest) -> Iterator[str]:
    if len(serialize_manifest(manifest)) > MOST_BYTES:
        yield describe_size(manifest)
    if survey.drawn is not None and survey.drawn >= manifest.block_count:
        yield Problem(
            f"You chose to ask each person {survey.drawn} of {manifest.block_count} blocks of "
            "questions.",
            "Choose fewer, or ask everyone everything.",
            href=link_setting(survey.slug, "drawn"),
        )
    elif refusal := Budget(manifest=manifest).refusal:
        said, _, repair = refusal.rpartition(". ")
        yield Problem(f"{said}.", repair, href=link_questions(survey.slug, "budget"))
    if len(manifest.symbols) > MOST_SYMBOLS:
        yield (
            f"A report would have {len(manifest.symbols):,} codes, but the maximum is "
            f"{MOST_SYMBOLS:,}. Ask fewer questions, or offer fewer answers where several can be "
            "selected, because each of these answers is a code."
        )


def _check_dates(survey: Survey, *, now: datetime) -> Iterator[str]:
    opens, closes = survey.opens_at, survey.closes_at
    href = link_setting(survey.slug, "closes_at")
    if closes is not None and closes <= now:
        way_out = "" if survey.publication == Publication.PROTECTED else " or remove it"
        yield Problem("The closing date has passed.", f"Choose a later one{way_out}.", href=href)
    if opens is not None and closes is not None and closes <= opens:
        said = "The closing date must come after the opening date."
        yield Problem(said, "Change the dates.", href=href)
    early = describe_early_deletion(delete_on=survey.delete_on, opens=opens, closes=closes, now=now)
    if early:
        said, _, repair = early.rpartition(". ")
        yield Problem(f"{said}.", repair, href=link_setting(survey.slug, "delete_on"))


def describe_early_deletion(
    *, delete_on: date | None, opens: datetime | None, closes: datetime | None, now: datetime
) -> str:
    """Say why the deletion date is too early, or return an empty string."""
    starts = {
        "the closing date": closes,
        "the opening date": opens if closes is None else None,
        "today": now,
    }
    name, start = max(
        ((name, moment) for name, moment in starts.items() if moment), key=lambda one: one[1]
    )
    least = timedelta(days=DAYS_BEFORE_DELETION)
    if delete_on is None or delete_on - start.astimezone(UTC).date() >= least:
        return ""
    return (
        f"The deletion date must be at least {DAYS_BEFORE_DELETION} days after {name}, so that you "
        "can download what you need. Choose a later day, or leave it empty."
    )


def _check_half(manifest: Manifest) -> Iterator[str]:
    """Check that a survey with a sealed half has no public results, two coins or random subset."""
    if not manifest.sealed_half:
        return
    others = {
        "public results: readers would wait for your test": manifest.has_public_results,
        "two coins": manifest.coins,
        "a random subset of the questions": manifest.drawn is not None,
    }
    for other, is_chosen in others.items():
        if is_chosen:
            yield Problem(
                f"A survey that keeps half sealed cannot have {other}.",
                "Switch off one of the two in the settings.",
                href=link_setting(manifest.survey, "sealed_half"),
            )


def _check_releases(survey: Survey, manifest: Manifest) -> Iterator[str]:
    """Check the conditions of protected publication: a closing date, no cap, and a small enough δ.

    Without the first two conditions, the time of closing could reveal how many people took
    part. Rehearsals and demos are exempt, because their respondents are invented.
    """
    if not manifest.publishes_releases or survey.origin != Survey.Origin.SURVEY:
        return
    if survey.closes_at is None:
        yield Problem(
            "A survey with protected figures needs a closing date: a moment that you choose later "
            "could show how many people took part.",
            "Set a date in the settings.",
            href=link_setting(survey.slug, "closes_at"),
        )
    if survey.cap is not None:
        yield Problem(
            "A survey with protected figures cannot close after a number of people, because the "
            "close would publish how many took part.",
            "Remove the number in the settings.",
            href=link_setting(survey.slug, "cap"),
        )
    people = manifest.people_expected
    if people and (manifest.release_delta_nanos or 0) > largest_release_delta(people):
        yield Problem(
            f"If you expect {whole(people)} people, δ can be at most "
            f"{whole(largest_release_delta(people))} billionths.",
            "Enter this number or a smaller one in the settings, under “For specialists: δ”.",
            href=link_setting(survey.slug, "release_delta_nanos"),
        )
