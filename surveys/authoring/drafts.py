"""Build the manifest of a draft, as a launch would freeze it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from django.db.models import prefetch_related_objects
from django.utils.translation import override

from surveys.authoring.answer_options import list_options, number_all
from surveys.authoring.scale_lines import build_score
from surveys.comparing.indicators import indicator_name
from surveys.manifest.grids import drop_marks
from surveys.manifest.languages import hash_words, write_words
from surveys.manifest.manifest import Manifest, Publication
from surveys.manifest.names import question_name, rename_question
from surveys.manifest.questions import ManifestQuestion, with_strength
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.manifest.rules import rename
from surveys.models import Question, Survey
from surveys.models.asked_questions import count_elsewhere
from surveys.models.settings import SETTING_NAMES

# The settings that a manifest has under the same name. `drawn` also depends on the questions.
_FROZEN = {one.name for one in fields(Manifest)}.intersection(SETTING_NAMES) - {"drawn"}


def load_draft(survey: Survey) -> None:
    """Prefetch all rows that `build_manifest` needs, in four queries."""
    rows = ("questions", "translations", "planned_comparisons", "planned_releases")
    prefetch_related_objects([survey], *rows)


def build_manifest(
    *, survey: Survey, wave_number: int, questions: Sequence[Question] | None = None
) -> Manifest:
    """Build the manifest that a launch would freeze now, by default from the stored questions.

    If there are too few blocks to draw from, the manifest asks everyone all questions. Such a
    draft cannot be launched.
    """
    described = build_uncounted_manifest(
        survey=survey, wave_number=wave_number, questions=questions
    )
    # A survey opens only if its author acknowledges every limit that it exceeds. Rehearsals and
    # demos have no real respondents, so they need no acknowledgement and count no other surveys.
    if survey.origin != Survey.Origin.SURVEY:
        return described
    elsewhere = count_elsewhere(manifest=described, survey=survey.pk)
    return replace(described, acknowledged=described.exceeded_limits, asked_elsewhere=elsewhere)


def build_uncounted_manifest(
    *, survey: Survey, wave_number: int, questions: Sequence[Question] | None = None
) -> Manifest:
    """Build the manifest without acknowledged limits and without counting other surveys."""
    everything = _build_without_drawing(
        survey=survey,
        wave_number=wave_number,
        questions=list(survey.questions.all()) if questions is None else questions,
    )
    if survey.drawn is None or survey.drawn >= everything.block_count:
        return everything
    return replace(everything, drawn=survey.drawn)


def _build_without_drawing(
    *, survey: Survey, wave_number: int, questions: Sequence[Question]
) -> Manifest:
    with override(survey.language):
        described = build_questions(questions)
    settings = {name: getattr(survey, name) for name in _FROZEN}
    settings["publication"] = Publication(survey.publication)
    if survey.publication != Publication.PROTECTED:
        settings |= dict.fromkeys(("release_epsilon_hundredths", "release_delta_nanos"))
    else:
        settings["planned_releases"] = _list_releases(survey, name_questions(questions))
    manifest = Manifest(
        survey=survey.slug,
        wave=wave_number,
        opens=survey.opens_at,
        closes=survey.closes_at,
        questions=described,
        planned_comparisons=_name_plans(survey, name_questions(questions)),
        **settings,
    )
    words = build_words(survey=survey, manifest=manifest)
    return replace(manifest, translations={code: hash_words(words[code]) for code in words})


def _name_plans(survey: Survey, names: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """Name the planned comparisons of these questions as the manifest does."""
    return tuple(
        tuple(indicator_name(names[str(key)], part) for key, part in plan.answers)
        for plan in survey.planned_comparisons.all()
        if all(str(key) in names for key, _ in plan.answers)
    )


def _list_releases(survey: Survey, names: Mapping[str, str]) -> tuple[ReleaseRequest, ...]:
    """List the planned releases, with their questions named and ordered as in `names`."""
    planned = []
    for plan in survey.planned_releases.all():
        kind = ReleaseKind(plan.kind)
        chosen = [names.get(str(key), "") for key in plan.questions]
        planned.append(
            ReleaseRequest(
                kind=kind,
                questions=kind.sort_questions(chosen, known=names.values()),
                epsilon_hundredths=plan.epsilon_hundredths,
                answer=plan.answer,
                percent=plan.percent,
                # A missing question gets a name that no question has, because "" would mean no
                # groups.
                group="" if plan.group is None else names.get(str(plan.group), str(plan.group)),
            )
        )
    return tuple(planned)


def build_words(*, survey: Survey, manifest: Manifest) -> dict[str, str]:
    """Map each other language to the words to freeze, whose hashes the manifest contains."""
    return {
        translation.language: write_words(manifest, texts=translation.texts)
        for translation in survey.translations.all()
        if translation.language != survey.language
    }


def build_questions(questions: Sequence[Question]) -> tuple[ManifestQuestion, ...]:
    """Build each question with its name, thresholds and rule.

    Answers that Murmur provides are in the active language.
    """
    names, by_key = name_questions(questions), {str(one.pk): one for one in questions}
    scales = [by_key[str(one.same_fact)] if one.is_second else None for one in questions]
    pairs = zip(questions, scales, strict=True)
    return drop_marks([_build_question(one, names, scale=scale) for one, scale in pairs])


def name_questions(questions: Sequence[Question]) -> dict[str, str]:
    """Map primary keys to question names as in a manifest: Q3 on a page is q3 in a manifest."""
    return {
        str(question.pk): question_name(number, is_answered=question.described.is_answered)
        for number, question in number_all(questions)
    }


def _build_question(
    question: Question, names: dict[str, str], *, scale: Question | None
) -> ManifestQuestion:
    """Build a question. A second code is asked and declined together with `scale`, its scale."""
    asked, score = scale or question, build_score(question, scale=scale)
    rule, same_fact = asked.rule, names.get(str(question.same_fact), "")
    if score is not None and question.is_second:
        score = replace(score, of=same_fact)
    has_total = score is not None and question.described.has_range
    described = ManifestQuestion(
        name=names[str(question.pk)],
        type=question.carrier,
        text=question.text,
        options=list_options(question),
        refusal=asked.refusal,
        rule=None if rule is None else rename(rule, lambda name: rename_question(name, names)),
        minimum=score.minimum if score and has_total else question.minimum,
        maximum=score.maximum if score and has_total else question.maximum,
        unit=question.unit,
        low_label=question.low_label,
        high_label=question.high_label,
        limit=question.limit,
        follow_up=question.follow_up,
        score=score,
        same_fact=same_fact,
        together=question.together,
        var=question.name,
    )
    return with_strength(described, flips=question.flips)
