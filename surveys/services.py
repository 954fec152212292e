"""What authors do to surveys: build a draft, launch it as a wave, close the wave.

These change state and nothing else. Sealing and estimating see the new state and follow.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from accounts.models import User
from surveys.errors import (
    ChangedMeanwhile,
    NotDraft,
    NotLaunchable,
    NotOpen,
    TooManyQuestions,
)
from surveys.locks import wait_for_writers
from surveys.manifest import (
    Manifest,
    ManifestQuestion,
    Option,
    hash_manifest,
    parse_manifest,
    serialize_manifest,
)
from surveys.models import MAX_QUESTIONS, Question, Survey, Wave
from surveys.strength import LARGEST_TOTAL_EPSILON

YES_NO = (Option(code=1, text="Yes"), Option(code=0, text="No"))
# Keeps (survey, position) unique while two questions trade places.
_PARKED = 10_000


def create_survey(
    *,
    owner: User,
    title: str,
    introduction: str = "",
    minimum_batch: int = 50,
    display_minimum: int = 100,
    opens_at: datetime | None = None,
    closes_at: datetime | None = None,
    cap: int | None = None,
    demo: bool = False,
) -> Survey:
    return Survey.objects.create(
        owner=owner,
        title=title,
        introduction=introduction,
        minimum_batch=minimum_batch,
        display_minimum=display_minimum,
        opens_at=opens_at,
        closes_at=closes_at,
        cap=cap,
        demo=demo,
    )


def lock_draft(*, survey: Survey) -> Survey:
    """Lock a survey's row and make sure that it may still change."""
    locked = Survey.objects.select_for_update().get(pk=survey.pk)
    if not locked.is_draft:
        raise NotDraft
    return locked


@transaction.atomic
def save_draft(*, survey: Survey) -> None:
    """Store the edited settings of a draft."""
    lock_draft(survey=survey)
    survey.save()


@transaction.atomic
def add_question(*, survey: Survey, text: str, flips: int = 25) -> Question:
    lock_draft(survey=survey)
    last = survey.questions.aggregate(last=Max("position"))["last"] or 0
    if survey.questions.count() >= MAX_QUESTIONS:
        raise TooManyQuestions
    return survey.questions.create(position=last + 1, text=text, flips=flips)


@transaction.atomic
def edit_question(*, question: Question, text: str, flips: int) -> None:
    lock_draft(survey=question.survey)
    question.text, question.flips = text, flips
    question.save(update_fields=["text", "flips"])


@transaction.atomic
def delete_question(*, question: Question) -> None:
    lock_draft(survey=question.survey)
    survey, position = question.survey, question.position
    question.delete()
    # One by one and upwards, so that no two rows share a position on the way.
    for later in survey.questions.filter(position__gt=position):
        Question.objects.filter(pk=later.pk).update(position=F("position") - 1)


@transaction.atomic
def move_question(*, question: Question, step: int) -> bool:
    """Trade places with the question one above (step -1) or below (step 1)."""
    lock_draft(survey=question.survey)
    question.refresh_from_db()
    here = question.position
    other = question.survey.questions.filter(position=here + step).first()
    if other is None:
        return False
    there = other.position
    Question.objects.filter(pk=question.pk).update(position=_PARKED)
    Question.objects.filter(pk=other.pk).update(position=here)
    Question.objects.filter(pk=question.pk).update(position=there)
    question.position = there
    return True


@transaction.atomic
def delete_draft(*, survey: Survey) -> None:
    lock_draft(survey=survey).delete()


@transaction.atomic
def copy_survey(*, survey: Survey) -> Survey:
    """Make a new draft with the same questions; dates are left out because they pass."""
    copied = create_survey(
        owner=survey.owner,
        title=f"Copy of {survey.title}"[:200],
        introduction=survey.introduction,
        minimum_batch=survey.minimum_batch,
        display_minimum=survey.display_minimum,
        cap=survey.cap,
    )
    for question in survey.questions.all():
        copied.questions.create(
            position=question.position,
            type=question.type,
            text=question.text,
            flips=question.flips,
        )
    return copied


def describe(*, survey: Survey, wave_number: int) -> Manifest:
    """Say what would be frozen if the survey were launched now."""
    return Manifest(
        survey=survey.slug,
        wave=wave_number,
        title=survey.title,
        introduction=survey.introduction,
        language="en",
        minimum_batch=survey.minimum_batch,
        display_minimum=survey.display_minimum,
        opens=survey.opens_at,
        closes=survey.closes_at,
        cap=survey.cap,
        questions=tuple(
            ManifestQuestion(
                name=f"q{number}",
                type=question.type,
                text=question.text,
                flips=question.flips,
                threshold=question.mechanism.threshold,
                options=YES_NO,
            )
            for number, question in enumerate(survey.questions.all(), start=1)
        ),
    )


def find_launch_problems(*, survey: Survey, now: datetime) -> list[str]:
    """List everything that stands in the way of opening, each with what to do."""
    problems = []
    if not survey.questions.exists():
        problems.append("The survey has no questions. Add at least one.")
    if describe(survey=survey, wave_number=1).epsilon > LARGEST_TOTAL_EPSILON:
        problems.append(
            f"The questions together exceed a total ε of {LARGEST_TOTAL_EPSILON:.0f}, at which "
            "respondents’ browsers refuse. Protect them more strongly or ask fewer."
        )
    if survey.closes_at is not None and survey.closes_at <= now:
        problems.append("The closing date has passed. Choose a later one or remove it.")
    if (
        survey.opens_at is not None
        and survey.closes_at is not None
        and survey.closes_at <= survey.opens_at
    ):
        problems.append("The closing date must come after the opening date.")
    return problems


@transaction.atomic
def launch_survey(*, survey: Survey, expected_hash: str | None = None) -> Wave:
    """Freeze the draft as a manifest and open its first wave.

    With expected_hash (in hex), only if the manifest is still the one its author was shown.
    """
    locked = lock_draft(survey=survey)
    problems = find_launch_problems(survey=locked, now=timezone.now())
    if problems:
        raise NotLaunchable(problems)
    content = serialize_manifest(describe(survey=locked, wave_number=1))
    if expected_hash is not None and expected_hash != hash_manifest(content).hex():
        raise ChangedMeanwhile
    manifest = parse_manifest(content)  # the bytes are the truth, also for the columns
    return Wave.objects.create(
        survey=locked,
        number=manifest.wave,
        manifest=content,
        manifest_hash=hash_manifest(content),
        minimum_batch=manifest.minimum_batch,
        display_minimum=manifest.display_minimum,
        opens_at=manifest.opens,
        closes_at=manifest.closes,
        cap=manifest.cap,
    )


@transaction.atomic
def close_wave(*, wave_id: int, ending: Wave.Ending) -> Wave:
    """Close an open wave, after every upload that is being committed at this moment.

    Those behind it find the wave closed.
    """
    # First for a batch that is being sealed, which may take seconds: this lock lets uploads go
    # on meanwhile. Only then for the uploads, which from here on wait for us.
    Wave.objects.select_for_update(no_key=True).get(pk=wave_id)
    wait_for_writers(wave_id=wave_id)
    # The whole row: under the lock without key, an upload that waited for us would be given the
    # old row, on which the wave is open.
    wave = Wave.objects.select_for_update().get(pk=wave_id)
    if not wave.is_open:
        raise NotOpen
    now = timezone.now()
    if wave.closes_at is not None and now >= wave.closes_at:
        ending = Wave.Ending.DATE
    wave.state, wave.ending, wave.closed_at = Wave.State.CLOSED, ending, now
    wave.save(update_fields=["state", "ending", "closed_at"])
    return wave
