"""Services for authors: edit, translate, copy and delete drafts, and launch them as waves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, Unpack, cast

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import User
from surveys.access import Action, ask_again
from surveys.authoring.answer_options import call_all, has_room_for_refusal, number_answered
from surveys.authoring.changes import compare_drafts, read_draft
from surveys.authoring.drafts import build_manifest, build_words, name_questions
from surveys.authoring.errors import (
    AddedTwice,
    BrokenRules,
    ChangedMeanwhile,
    NotAcknowledged,
    NotDraft,
    NotLaunchable,
    Overtaken,
    TooManyQuestions,
)
from surveys.authoring.launch_checks import find_launch_problems
from surveys.authoring.planned.following import (
    describe_dropped,
    follow_alerts,
    follow_answers,
    list_parts_of,
)
from surveys.authoring.rule_checks import RuleProblem, find_meaning_problems, find_rule_problems
from surveys.authoring.scale_lines import build_score, find_output_problem, fit_bands
from surveys.authoring.stamps import (
    compare_stamps,
    stamp_question,
    stamp_questions,
    stamp_settings,
    stamp_translation,
)
from surveys.authoring.variable_names import find_name_problem, suggest_name
from surveys.comparing.choice import check_planned
from surveys.comparing.indicators import split_indicator
from surveys.formatting import join_list
from surveys.history.recording import lock_survey, record
from surveys.history.upkeep import delete_with_changes
from surveys.manifest.coins import derive_coin_manifest
from surveys.manifest.languages import list_texts
from surveys.manifest.names import rename_question
from surveys.manifest.question_types import TYPES, QuestionType
from surveys.manifest.questions import REFUSED_TEXT
from surveys.manifest.releases import ReleaseRequest
from surveys.manifest.rules import rename
from surveys.manifest.scores import Output
from surveys.manifest.serialization import hash_manifest, parse_manifest, serialize_manifest
from surveys.models import (
    DAYS_BEFORE_DELETION,
    MAX_QUESTIONS,
    Kind,
    Question,
    QuestionContent,
    Survey,
    Translation,
    Verb,
    Wave,
    list_frozen_columns,
    start_of,
)
from surveys.models.asked_questions import lock_people, record_questions
from surveys.models.people import find_people
from surveys.models.planned_comparisons import MAX_PLANNED
from surveys.models.settings import SETTING_NAMES, SETTINGS, SettingsPage, list_setting_names
from surveys.releasing.choice import check_planned as check_planned_release
from surveys.respondent.stored_pages import store_texts

# Added to positions while questions move, which keeps (survey, position) unique.
_PARKED = 10_000


def lock_draft(*, survey: Survey, action: Action = Action.EDIT) -> Survey:
    """Lock a survey's row and check the account's role again. Raises NotDraft after a launch."""
    locked = Survey.objects.select_for_update().get(pk=survey.pk)
    ask_again(locked, action)
    if not locked.is_draft():
        raise NotDraft
    return locked


P = ParamSpec("P")
R = TypeVar("R")


def changes_draft(kind: Kind) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Lock a draft, run a service, and record the service's changes to the draft, if any.

    The draft is the argument `survey`, or the survey of the argument `question` or `translation`.
    """

    def decorate(service: Callable[P, R]) -> Callable[P, R]:
        @wraps(service)
        @transaction.atomic
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            given = kwargs.get("survey") or kwargs.get("question") or kwargs["translation"]
            assert isinstance(given, Survey | Question | Translation)
            survey = lock_draft(survey=given if isinstance(given, Survey) else given.survey)
            before = read_draft(survey)
            result = service(*args, **kwargs)
            changes = compare_drafts(before, read_draft(Survey.objects.get(pk=survey.pk)))
            if changes:
                record(survey, Verb.CHANGED, kind, changes=changes)
            return result

        return wrapper

    return decorate


@dataclass(frozen=True, kw_only=True)
class Switched:
    """The numbers of the questions that were changed, and of those that were left as they were."""

    changed: tuple[int, ...] = ()
    left: tuple[int, ...] = ()

    @property
    def problem(self) -> str:
        """Say why questions were left as they were, if any were."""
        if not self.left:
            return ""
        numbers = join_list([f"Q{number}" for number in self.left])
        return f"{numbers} cannot offer “{REFUSED_TEXT}”: there is no room for another answer."


@changes_draft(Kind.SETTINGS)
def save_draft(*, survey: Survey, page: SettingsPage | None = None, stamp: str = "") -> Switched:
    """Store the edited settings of a draft: all settings, or those of one page.

    Raises Overtaken if the stored settings of the page no longer match the stamp, or if settings of
    other pages were changed and now contradict the edited ones. A change of `may_decline` also
    switches "Prefer not to say" on or off in every question that can offer it.
    """
    stored = lock_draft(survey=survey)
    compare_stamps(stamp, stored=stamp_settings(stored, page))
    try:
        survey.save(update_fields=None if page is None else list_setting_names(page))
    except IntegrityError as error:
        raise Overtaken from error
    if survey.may_decline == stored.may_decline:
        return Switched()
    return _switch_refusals(survey)


def _switch_refusals(survey: Survey) -> Switched:
    switched = switch_refusals(list(survey.questions.all()), allowed=survey.may_decline)
    check_rules(survey)
    return switched


def switch_refusals(
    questions: Sequence[Question], *, allowed: bool, keys: Collection[int] | None = None
) -> Switched:
    """Offer "Prefer not to say" in the questions with these keys, or stop offering it.

    `keys` = None means all questions. The caller checks the rules.
    """
    changed, left = [], []
    for number, question in number_answered(questions):
        if question.refusal == allowed or (keys is not None and question.pk not in keys):
            continue
        if question.is_second:  # a second code is declined with its scale
            continue
        if allowed and not has_room_for_refusal(question):
            left.append(number)
            continue
        question.refusal = allowed
        question.save(update_fields=["refusal"])
        changed.append(number)
    return Switched(changed=tuple(changed), left=tuple(left))


@changes_draft(Kind.QUESTIONS)
def add_question(
    *, survey: Survey, stamp: str = "", draft_key: str = "", **content: Unpack[QuestionContent]
) -> Question:
    """Add a question at the end, but only once for each nonempty draft key.

    Raises AddedTwice if the list of questions no longer matches the stamp and already has a
    question with the same content, and Overtaken if the key was used for different content.
    """
    questions = list(survey.questions.all())
    for added in questions:
        if draft_key and added.draft_key == draft_key:
            _refuse_other_content(added, content, questions)
            return added
    _refuse_second_copy(questions, stamp, content)
    last = max((one.position for one in questions), default=0)
    if len(questions) >= MAX_QUESTIONS:
        raise TooManyQuestions
    question = survey.questions.create(
        position=last + 1, draft_key=draft_key, **_with_name(content, questions)
    )
    check_rules(survey)
    return question


@changes_draft(Kind.QUESTIONS)
def add_questions(*, survey: Survey, contents: Mapping[str, QuestionContent]) -> list[Question]:
    """Add all these questions at the end, or none.

    Each question has a key. Rules and references to the same fact name new questions by these keys,
    and stored questions by primary keys. Raises BrokenRules or TooManyQuestions.
    """
    stored = list(survey.questions.all())
    if len(stored) + len(contents) > MAX_QUESTIONS:
        raise TooManyQuestions
    names = {str(question.pk): str(question.pk) for question in stored}
    chosen = {content["name"] for content in contents.values() if content.get("name")}
    added: list[Question] = []
    for position, (key, content) in enumerate(contents.items(), start=len(stored) + 1):
        rule = content.get("rule")
        renamed = rule and rename(rule, partial(rename_question, names=names))
        named = _with_name(content, [*stored, *added], kept=chosen)
        fact = content.get("same_fact")
        fact = None if fact is None else int(names[str(fact)])
        question = survey.questions.create(
            position=position, **named | {"rule": renamed, "same_fact": fact}
        )
        names[key] = str(question.pk)
        added.append(question)
    check_rules(survey)
    return added


def _with_name(
    content: QuestionContent, others: Iterable[Question], *, kept: Collection[str] = ()
) -> QuestionContent:
    """Suggest a name if an answered question has none. Raises BrokenRules if a name is not allowed.

    Names in `kept` are never suggested, because other questions have them.
    """
    if not TYPES[content.get("type", QuestionType.YES_NO)].is_answered:
        return content | {"name": ""}
    taken = [other.name for other in others if other.name]
    if name := content.get("name", ""):
        if problem := find_name_problem(name, taken=taken):
            raise BrokenRules([problem])
        return content
    return content | {"name": suggest_name(content["text"], taken=[*taken, *kept])}


def _refuse_other_content(
    stored: Question, content: QuestionContent, questions: Sequence[Question]
) -> None:
    others = [one for one in questions if one.pk != stored.pk]
    if not _has_content(stored, _with_name(content, others)):
        raise Overtaken


def _has_content(question: Question, content: QuestionContent) -> bool:
    return all(getattr(question, name) == value for name, value in content.items())


def _refuse_second_copy(
    questions: Sequence[Question], stamp: str, content: QuestionContent
) -> None:
    if not stamp or stamp == stamp_questions(questions):
        return
    called = call_all(questions)
    for question in questions:
        if all(
            getattr(question, name) == value
            for name, value in content.items()
            if name != "name" or value
        ):
            raise AddedTwice(called[str(question.pk)])


@changes_draft(Kind.QUESTIONS)
def edit_question(
    *, question: Question, stamp: str = "", **content: Unpack[QuestionContent]
) -> str:
    """Change a question, and return sentences about anything else that was changed or removed.

    Raises Overtaken if the stored question no longer matches the stamp and differs from `content`.
    Raises BrokenRules if a rule would no longer make sense.
    """
    questions = list(question.survey.questions.all())
    [before] = [one for one in questions if one.pk == question.pk]
    others = [one for one in questions if one.pk != question.pk]
    content["name"] = _with_name(list_content(before) | content, others)["name"]
    if _has_content(before, content):
        return ""  # saved before, but the reply did not reach the page
    compare_stamps(stamp, stored=stamp_question(before))
    parts = list_parts_of(before, questions)
    for name, value in content.items():
        setattr(question, name, value)
    question.save(update_fields=list(content))
    questions = list(question.survey.questions.all())
    fitted = _fit_second(question, questions)
    _refuse(find_meaning_problems(before=before, after=question, questions=questions))
    _refuse(find_rule_problems(questions))
    now = list_parts_of(question, questions)
    told = (
        fitted,
        describe_dropped(follow_answers(question=question, before=parts, after=now)),
        follow_alerts(question=question, before=parts, after=now),
    )
    return " ".join(filter(None, told))


def _fit_second(scale: Question, questions: Sequence[Question]) -> str:
    """Fit a second code's bands to new totals unless a band would be lost. Say what changed."""
    [*seconds] = (one for one in questions if one.is_second and one.same_fact == scale.pk)
    if not seconds or scale.type != QuestionType.SCORE or seconds[0].output != Output.BANDS:
        return ""
    [second, *_], score = seconds, build_score(scale)
    if score is None or not find_output_problem(second, scale=score):
        return ""
    fitted = fit_bands(second.options, scale=score)
    if len(fitted) != len(second.options):
        return ""
    new = join_list([f"“{line}”" for line in fitted if line not in second.options])
    second.options = fitted
    second.save(update_fields=["options"])
    called = call_all(questions)[str(second.pk)]
    return f"Totals have changed, so {called} now has {new}."


@changes_draft(Kind.PLANNED_COMPARISON)
def plan_comparison(*, survey: Survey, names: Sequence[str]) -> None:
    """Plan a comparison. `names` are its indicators and factors, with the outcome first.

    Raises NotComparable if the draft has changed and no longer allows the comparison.
    """
    locked = lock_draft(survey=survey)
    manifest = build_manifest(survey=locked, wave_number=1)
    check_planned(manifest=manifest, names=names)
    planned = manifest.planned_comparisons
    if tuple(names) in planned or len(planned) >= MAX_PLANNED:
        return  # another window has planned this comparison, or the last one allowed
    keys = {name: int(key) for key, name in name_questions(list(locked.questions.all())).items()}
    answers = [(keys[question], part) for question, part in map(split_indicator, names)]
    locked.planned_comparisons.create(answers=answers)


@changes_draft(Kind.PLANNED_COMPARISON)
def drop_planned(*, survey: Survey, pk: int) -> None:
    survey.planned_comparisons.filter(pk=pk).delete()


@changes_draft(Kind.PLANNED_RELEASE)
def plan_release(*, survey: Survey, request: ReleaseRequest) -> None:
    """Plan a release. Raises NotReleasable if the draft has changed and no longer allows it."""
    locked = lock_draft(survey=survey)
    manifest = build_manifest(survey=locked, wave_number=1)
    if request in (manifest.planned_releases or ()):
        return  # another window has planned this release
    request = check_planned_release(request, manifest)
    keys = {name: int(key) for key, name in name_questions(list(locked.questions.all())).items()}
    locked.planned_releases.create(
        kind=request.kind,
        questions=[keys[name] for name in request.questions],
        epsilon_hundredths=request.epsilon_hundredths,
        answer=request.answer,
        percent=request.percent,
        group=keys.get(request.group),
    )


@changes_draft(Kind.PLANNED_RELEASE)
def drop_planned_release(*, survey: Survey, pk: int) -> None:
    survey.planned_releases.filter(pk=pk).delete()


@changes_draft(Kind.QUESTIONS)
def move_question(*, question: Question, step: int) -> bool:
    """Swap a question with the one above (step -1) or below (step 1).

    Returns False if there is no such question.
    """
    questions = list(question.survey.questions.all())
    here = questions.index(question)
    there = here + step
    if not 0 <= there < len(questions):
        return False
    spoken = call_all(questions)
    questions[here], questions[there] = questions[there], questions[here]
    place_questions(questions)
    question.refresh_from_db()
    check_rules(question.survey, spoken=spoken)
    return True


def place_questions(questions: Sequence[Question]) -> None:
    """Store the order of all questions of a survey."""
    rows = Question.objects.filter(pk__in=[question.pk for question in questions])
    # Move rows to free positions first, so that two rows never share a position.
    rows.update(position=F("position") + _PARKED)
    for position, question in enumerate(questions, start=1):
        question.position = position
    Question.objects.bulk_update(questions, ["position"])


def check_rules(survey: Survey, *, spoken: Mapping[str, str] | None = None) -> None:
    """Raise BrokenRules, which rolls the change back, if a rule has become invalid."""
    _refuse(find_rule_problems(list(survey.questions.all()), spoken=spoken))


def list_content(question: Question) -> QuestionContent:
    content = {name: getattr(question, name) for name in Question.CONTENT}
    return cast(QuestionContent, content)


def _refuse(problems: Sequence[RuleProblem]) -> None:
    if problems:
        raise BrokenRules([problem.text for problem in problems])


@transaction.atomic
def create_survey(*, owner: User, **settings: Any) -> Survey:
    survey = Survey.objects.create_owned(owner, **settings)
    record(survey, Verb.CREATED, Kind.SURVEY)
    return survey


@transaction.atomic
def delete_draft(*, survey: Survey) -> None:
    locked = lock_draft(survey=survey, action=Action.DELETE)
    record(locked, Verb.DELETED, Kind.SURVEY)
    delete_with_changes(locked)


@transaction.atomic
def copy_survey(
    *, survey: Survey, title: str = "Copy of {title}", owner: User | None = None
) -> Survey:
    """Make a new draft with the same questions, plans, translations and settings.

    The draft belongs to `owner`, or by default to the owner of the survey.

    Settings that do not apply to another survey are left out (`Setting.is_copied`).
    """
    lock_survey(survey)
    ask_again(survey, Action.EDIT)
    left_out = {name for name, setting in SETTINGS.items() if not setting.is_copied}
    settings = {name: getattr(survey, name) for name in set(SETTING_NAMES) - left_out}
    name = title.format(title=survey.title)[:200]
    copied = Survey.objects.create_owned(owner or survey.owner, title=name, **settings)
    copies: dict[str, str] = {}

    def find_copy(key: str) -> str:
        return rename_question(key, copies)

    added: list[Question] = []
    for question in survey.questions.all():
        content = list_content(question)
        if question.rule is not None:
            content["rule"] = rename(question.rule, find_copy)
        if question.same_fact is not None:
            content["same_fact"] = int(copies[str(question.same_fact)])
        # Surveys that were opened before names existed get suggested names in their copies.
        named = _with_name(content, added)
        copy = copied.questions.create(position=question.position, **named)
        copies[str(question.pk)] = str(copy.pk)
        added.append(copy)
    for plan in survey.planned_comparisons.all():
        answers = [(int(copies[str(key)]), part) for key, part in plan.answers]
        copied.planned_comparisons.create(answers=answers)
    for release in survey.planned_releases.all():
        copied.planned_releases.create(
            kind=release.kind,
            questions=[int(copies[str(key)]) for key in release.questions],
            epsilon_hundredths=release.epsilon_hundredths,
            answer=release.answer,
            percent=release.percent,
            group=None if release.group is None else int(copies[str(release.group)]),
        )
    _copy_translations(survey, copied)
    record(copied, Verb.CREATED, Kind.SURVEY, facts={"copy_of": survey.slug})
    return copied


def _copy_translations(survey: Survey, copied: Survey) -> None:
    """Copy all translations. The copy's title gets the translation of the old title.

    Another text of the survey that equals the old title keeps this translation.
    """
    sources = {source.text for source in list_texts(build_manifest(survey=copied, wave_number=1))}
    for translation in survey.translations.all():
        texts = dict(translation.texts)
        if survey.title in texts:
            texts[copied.title] = texts[survey.title]
            if survey.title not in sources:
                del texts[survey.title]
        copied.translations.create(language=translation.language, texts=texts)


@changes_draft(Kind.TRANSLATION)
def add_translation(*, survey: Survey, language: str) -> Translation:
    """Add an empty translation. An existing translation stays as it is."""
    translation, _ = survey.translations.get_or_create(language=language)
    return translation


@changes_draft(Kind.TRANSLATION)
def save_translation(
    *, survey: Survey, language: str, texts: Mapping[str, str], stamp: str = ""
) -> None:
    """Store translations, keyed by the texts they translate.

    An empty translation removes the stored one. Texts that are not in `texts` keep their
    translations. Translations of texts that the survey no longer uses are removed. A language that
    was removed in another tab is added again, so that the typed words are not lost.
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


@changes_draft(Kind.TRANSLATION)
def remove_translation(*, translation: Translation) -> None:
    translation.delete()


@transaction.atomic
def launch_survey(
    *, survey: Survey, expected_hash: str | None = None, acknowledged: Collection[str] = ()
) -> Wave:
    """Freeze the draft as a manifest, open its first wave and return the browsers' wave.

    People who toss coins have a separate wave, which opens at the same time. `expected_hash` (in
    hex) is the hash of the manifest that the author was shown. `acknowledged` must contain every
    limit that the survey exceeds, and may contain others. The manifest lists the exceeded limits.

    Raises NotLaunchable if a problem prevents the survey from opening, ChangedMeanwhile if the
    draft now has a different hash, and NotAcknowledged if a limit was not acknowledged.
    """
    locked = lock_draft(survey=survey, action=Action.OPEN)
    lock_people(find_people(locked.pk))  # the manifest counts their other surveys
    manifest = build_manifest(survey=locked, wave_number=1)
    problems = find_launch_problems(survey=locked, now=timezone.now(), manifest=manifest)
    if problems:
        raise NotLaunchable(problems)
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
        record_questions(survey=locked.pk, manifest=manifest)
    record(locked, Verb.OPENED, Kind.SURVEY)
    # Store texts only after the commit. For a long survey, this takes seconds, and uploads would
    # otherwise have to wait.
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
