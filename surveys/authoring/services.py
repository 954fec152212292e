"""What authors do with drafts: edit, translate, copy and delete them, and launch them as waves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Unpack

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from surveys.authoring.answer_options import call_all, has_room_for_refusal, number_answered
from surveys.authoring.drafts import build_manifest, build_words, name_questions
from surveys.authoring.errors import (
    AddedTwice,
    BrokenRules,
    ChangedMeanwhile,
    NotAcknowledged,
    NotDraft,
    NotLaunchable,
    TooManyQuestions,
)
from surveys.authoring.launch_checks import find_launch_problems
from surveys.authoring.planned.following import (
    describe_dropped,
    find_plans,
    follow_answers,
    list_parts_of,
)
from surveys.authoring.rule_checks import RuleProblem, find_meaning_problems, find_rule_problems
from surveys.authoring.stamps import (
    compare_stamps,
    stamp_question,
    stamp_questions,
    stamp_settings,
    stamp_translation,
)
from surveys.comparing.choice import check_planned
from surveys.comparing.indicators import split_indicator
from surveys.manifest.coins import derive_coin_manifest
from surveys.manifest.languages import list_texts
from surveys.manifest.names import rename_question
from surveys.manifest.rules import rename
from surveys.manifest.serialization import hash_manifest, parse_manifest, serialize_manifest
from surveys.models import (
    DAYS_BEFORE_DELETION,
    MAX_QUESTIONS,
    Question,
    QuestionContent,
    Survey,
    Translation,
    Wave,
    list_frozen_columns,
    start_of,
)
from surveys.models.asked_questions import lock_owner, record_questions
from surveys.models.planned_comparisons import MAX_PLANNED
from surveys.models.settings import SETTING_NAMES, SETTINGS
from surveys.respondent.stored_pages import store_texts

# A free position, which keeps (survey, position) unique while two questions swap places.
_PARKED = 10_000


def lock_draft(*, survey: Survey) -> Survey:
    """Lock a survey's row; raise NotDraft if it has been launched."""
    locked = Survey.objects.select_for_update().get(pk=survey.pk)
    if not locked.is_draft():
        raise NotDraft
    return locked


@dataclass(frozen=True, kw_only=True)
class Switched:
    """The numbers of the questions that a setting changed, and of those left as they were."""

    changed: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


@transaction.atomic
def save_draft(*, survey: Survey, stamp: str = "") -> Switched:
    """Store the edited settings of a draft.

    Raises Overtaken if the stored settings no longer match the stamp. A change of `may_decline`
    also switches "Prefer not to say" in every question that can offer it.
    """
    stored = lock_draft(survey=survey)
    compare_stamps(stamp, stored=stamp_settings(stored))
    survey.save()
    if survey.may_decline == stored.may_decline:
        return Switched()
    return _switch_refusals(survey)


def _switch_refusals(survey: Survey) -> Switched:
    changed, left = [], []
    for number, question in number_answered(list(survey.questions.all())):
        if question.refusal == survey.may_decline:
            continue
        if survey.may_decline and not has_room_for_refusal(question):
            left.append(number)
            continue
        question.refusal = survey.may_decline
        question.save(update_fields=["refusal"])
        changed.append(number)
    _check_rules(survey)
    return Switched(changed=tuple(changed), left=tuple(left))


@transaction.atomic
def add_question(
    *, survey: Survey, stamp: str = "", **content: Unpack[QuestionContent]
) -> Question:
    """Add a question at the end.

    Raises AddedTwice if the list of questions no longer matches the stamp and already has a
    question with the same content.
    """
    lock_draft(survey=survey)
    _refuse_second_copy(survey, stamp, content)
    last = survey.questions.aggregate(last=Max("position"))["last"] or 0
    if survey.questions.count() >= MAX_QUESTIONS:
        raise TooManyQuestions
    question = survey.questions.create(position=last + 1, **content)
    _check_rules(survey)
    return question


def _refuse_second_copy(survey: Survey, stamp: str, content: QuestionContent) -> None:
    questions = list(survey.questions.all())
    if not stamp or stamp == stamp_questions(questions):
        return
    called = call_all(questions)
    for question in questions:
        if all(getattr(question, name) == value for name, value in content.items()):
            raise AddedTwice(called[str(question.pk)])


@transaction.atomic
def edit_question(
    *, question: Question, stamp: str = "", **content: Unpack[QuestionContent]
) -> str:
    """Change a question, and return a sentence about the planned comparisons that this removed.

    Raises Overtaken if the stored question no longer matches the stamp, and BrokenRules if a rule
    would no longer make sense.
    """
    lock_draft(survey=question.survey)
    questions = list(question.survey.questions.all())
    [before] = [one for one in questions if one.pk == question.pk]
    compare_stamps(stamp, stored=stamp_question(before))
    parts = list_parts_of(before, questions)
    for name, value in content.items():
        setattr(question, name, value)
    question.save(update_fields=list(content))
    questions = list(question.survey.questions.all())
    _refuse(find_meaning_problems(before=before, after=question, questions=questions))
    _refuse(find_rule_problems(questions))
    now = list_parts_of(question, questions)
    return describe_dropped(follow_answers(question=question, before=parts, after=now))


@transaction.atomic
def delete_question(*, question: Question) -> str:
    """Delete a question and its planned comparisons; return a sentence about these."""
    lock_draft(survey=question.survey)
    survey, position = question.survey, question.position
    plans = find_plans(question)
    for plan in plans:
        plan.delete()
    spoken = call_all(list(survey.questions.all()))
    question.delete()
    # Update one row at a time and in order, so that no two rows ever share a position.
    for later in survey.questions.filter(position__gt=position):
        Question.objects.filter(pk=later.pk).update(position=F("position") - 1)
    _check_rules(survey, spoken=spoken)
    return describe_dropped(len(plans))


@transaction.atomic
def plan_comparison(*, survey: Survey, names: Sequence[str]) -> None:
    """Plan a comparison; `names` are those of its indicators and factors, the outcome first.

    Raises NotComparable if the draft has changed and they can no longer be compared.
    """
    locked = lock_draft(survey=survey)
    manifest = build_manifest(survey=locked, wave_number=1)
    check_planned(manifest=manifest, names=names)
    planned = manifest.planned_comparisons
    if tuple(names) in planned or len(planned) >= MAX_PLANNED:
        return  # another window has planned it, or the last one that is allowed
    keys = {name: int(key) for key, name in name_questions(list(locked.questions.all())).items()}
    answers = [(keys[question], part) for question, part in map(split_indicator, names)]
    locked.planned_comparisons.create(answers=answers)


@transaction.atomic
def drop_planned(*, survey: Survey, pk: int) -> None:
    lock_draft(survey=survey).planned_comparisons.filter(pk=pk).delete()


@transaction.atomic
def move_question(*, question: Question, step: int) -> bool:
    """Swap places with the question above (step -1) or below (step 1); False if there is none."""
    lock_draft(survey=question.survey)
    question.refresh_from_db()
    here = question.position
    other = question.survey.questions.filter(position=here + step).first()
    if other is None:
        return False
    there = other.position
    spoken = call_all(list(question.survey.questions.all()))
    Question.objects.filter(pk=question.pk).update(position=_PARKED)
    Question.objects.filter(pk=other.pk).update(position=here)
    Question.objects.filter(pk=question.pk).update(position=there)
    question.position = there
    _check_rules(question.survey, spoken=spoken)
    return True


def _check_rules(survey: Survey, *, spoken: Mapping[str, str] | None = None) -> None:
    """Raise BrokenRules, which rolls back the change, if a rule has become invalid."""
    _refuse(find_rule_problems(list(survey.questions.all()), spoken=spoken))


def _refuse(problems: Sequence[RuleProblem]) -> None:
    if problems:
        raise BrokenRules([problem.text for problem in problems])


@transaction.atomic
def delete_draft(*, survey: Survey) -> None:
    lock_draft(survey=survey).delete()


@transaction.atomic
def copy_survey(*, survey: Survey, title: str = "Copy of {title}") -> Survey:
    """Make a new draft with the same questions, planned comparisons, translations and settings.

    Settings that do not apply to another survey are left out (`Setting.is_copied`).
    """
    left_out = {name for name, setting in SETTINGS.items() if not setting.is_copied}
    settings = {name: getattr(survey, name) for name in set(SETTING_NAMES) - left_out}
    name = title.format(title=survey.title)[:200]
    copied = Survey.objects.create(owner=survey.owner, title=name, **settings)
    copies: dict[str, str] = {}

    def find_copy(key: str) -> str:
        return rename_question(key, copies)

    for question in survey.questions.all():
        content = {name: getattr(question, name) for name in Question.CONTENT}
        if question.rule is not None:
            content["rule"] = rename(question.rule, find_copy)
        if question.same_fact is not None:
            content["same_fact"] = int(copies[str(question.same_fact)])
        copy = copied.questions.create(position=question.position, **content)
        copies[str(question.pk)] = str(copy.pk)
    for plan in survey.planned_comparisons.all():
        answers = [(int(copies[str(key)]), part) for key, part in plan.answers]
        copied.planned_comparisons.create(answers=answers)
    _copy_translations(survey, copied)
    return copied


def _copy_translations(survey: Survey, copied: Survey) -> None:
    """Copy all translations. The copy's new title keeps the translation of the old one.

    If another text of the survey equals the old title, it keeps that translation too.
    """
    sources = {source.text for source in list_texts(build_manifest(survey=copied, wave_number=1))}
    for translation in survey.translations.all():
        texts = dict(translation.texts)
        if survey.title in texts:
            texts[copied.title] = texts[survey.title]
            if survey.title not in sources:
                del texts[survey.title]
        copied.translations.create(language=translation.language, texts=texts)


@transaction.atomic
def add_translation(*, survey: Survey, language: str) -> Translation:
    """Add an empty translation; an existing one stays as it is."""
    lock_draft(survey=survey)
    translation, _ = survey.translations.get_or_create(language=language)
    return translation


@transaction.atomic
def save_translation(
    *, survey: Survey, language: str, texts: Mapping[str, str], stamp: str = ""
) -> None:
    """Store translations, keyed by the texts they translate.

    An empty translation removes the stored one. Texts that are not among `texts` keep their
    translation, and texts that the survey no longer uses lose it. A language that was removed in
    another tab is added again, so that the typed words are not lost.
    """
    locked = lock_draft(survey=survey)
    translation, created = locked.translations.get_or_create(language=language)
    if not created:
        compare_stamps(stamp, stored=stamp_translation(translation))
    merged = {**translation.texts, **texts}
    sources = list_texts(build_manifest(survey=locked, wave_number=1))
    translation.texts = {
        source.text: merged[source.text] for source in sources if merged.get(source.text)
    }
    translation.save(update_fields=["texts"])


@transaction.atomic
def remove_translation(*, translation: Translation) -> None:
    lock_draft(survey=translation.survey)
    translation.delete()


@transaction.atomic
def launch_survey(
    *, survey: Survey, expected_hash: str | None = None, acknowledged: Collection[str] = ()
) -> Wave:
    """Freeze the draft as a manifest, open its first wave and return the browsers' wave.

    People who toss coins have a separate wave, which opens at the same time. `expected_hash` (in
    hex) is the hash of the manifest that the author was shown. `acknowledged` must contain every
    limit that the survey exceeds, and may contain others. The manifest lists the exceeded limits.

    Raises NotLaunchable if something is missing, ChangedMeanwhile if the draft now has another
    hash, and NotAcknowledged if a limit was not acknowledged.
    """
    locked = lock_draft(survey=survey)
    lock_owner(locked.owner_id)  # the manifest counts the owner's other surveys
    problems = find_launch_problems(survey=locked, now=timezone.now())
    if problems:
        raise NotLaunchable(problems)
    manifest = build_manifest(survey=locked, wave_number=1)
    content = serialize_manifest(manifest)
    if expected_hash is not None and expected_hash != hash_manifest(content).hex():
        raise ChangedMeanwhile
    missing = [limit for limit in manifest.acknowledged if limit not in acknowledged]
    if missing:
        raise NotAcknowledged(missing)
    words = build_words(survey=locked, manifest=manifest)
    wave = _open_wave(survey=locked, content=content, words=words)
    coins = derive_coin_manifest(parse_manifest(content))
    if coins is not None:
        _open_wave(survey=locked, content=serialize_manifest(coins), words=words)
    if manifest.delete_on is not None:
        told_at = start_of(manifest.delete_on) - timedelta(days=DAYS_BEFORE_DELETION)
        Survey.objects.filter(pk=locked.pk).update(deletion_mail_at=told_at)
    if locked.origin == Survey.Origin.SURVEY:
        record_questions(survey=locked.pk, owner=locked.owner_id, manifest=manifest)
    # Done after the commit: it takes seconds for a long survey, and uploads would wait.
    transaction.on_commit(partial(_store_texts, survey=locked), robust=True)
    return wave


def _store_texts(*, survey: Survey) -> None:
    for wave in survey.waves.all():
        store_texts(wave)


def _open_wave(*, survey: Survey, content: bytes, words: dict[str, str]) -> Wave:
    return Wave.objects.create(
        survey=survey,
        manifest=content,
        manifest_hash=hash_manifest(content),
        words=words,
        **list_frozen_columns(parse_manifest(content)),  # read back, so that the two agree
    )
