"""Authoring: build a draft, open it, close it. Each view parses, calls one service, answers."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surveys import services
from surveys.errors import ChangedMeanwhile, NotDraft, NotLaunchable, NotOpen, TooManyQuestions
from surveys.forms import QuestionForm, SettingsForm, SurveyTextForm
from surveys.manifest import Manifest, hash_manifest, parse_manifest, serialize_manifest
from surveys.models import Survey, Wave
from surveys.planner import is_mixed, plan_for
from surveys.state import describe_state
from surveys.strength import HIGH_TOTAL_EPSILON
from surveys.views.access import authoring, get_own_question, get_own_survey, signed_in_user

REFUSED = 422  # a form with errors: nothing was stored
STEPS = {"up": -1, "down": 1}
page_or_form = require_http_methods(["GET", "HEAD", "POST"])


def _manifest_context(manifest: Manifest) -> dict[str, object]:
    total = manifest.epsilon
    return {
        "manifest": manifest,
        "total_epsilon": total,
        "total_is_high": total > HIGH_TOTAL_EPSILON,
    }


def _require_draft(survey: Survey) -> None:
    """Forms of a launched survey are not shown; the services check again under a lock."""
    if not survey.is_draft:
        raise NotDraft


def _to_edit(survey: Survey, fragment: str = "") -> HttpResponse:
    return redirect(reverse("surveys:edit", args=[survey.slug]) + fragment)


@page_or_form
@authoring
def create(request: HttpRequest) -> HttpResponse:
    form = SurveyTextForm(_posted(request))
    if request.method == "POST" and form.is_valid():
        survey = services.create_survey(owner=signed_in_user(request), **form.cleaned_data)
        return _to_edit(survey)
    return render(request, "surveys/create.html", {"form": form}, status=_status(form))


def _posted(request: HttpRequest) -> QueryDict | None:
    """What was sent, also when it is empty; None where nothing was sent."""
    return request.POST if request.method == "POST" else None


def _status(form: SurveyTextForm | QuestionForm) -> int:
    return REFUSED if form.errors else 200


@require_safe
@authoring
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """The survey's home: a workbench while it is a draft, a record once it was opened."""
    survey = get_own_survey(request, slug)
    wave = survey.wave
    now = timezone.now()
    context: dict[str, object] = {
        "survey": survey,
        "state": describe_state(wave=wave, now=now),
    }
    if wave is None:
        manifest = services.describe(survey=survey, wave_number=1)
        problems = services.find_launch_problems(survey=survey, now=now)
        context |= {
            "questions": survey.questions.all(),
            "problems": problems,
            "plan_query": urlencode(plan_for(survey)),
            "plan_is_mixed": is_mixed(survey),
        }
        context |= _manifest_context(manifest)
        return render(request, "surveys/draft.html", context)
    link = request.build_absolute_uri(reverse("surveys:respond", args=[survey.slug]))
    context |= {"wave": wave, "respond_link": link}
    context |= _manifest_context(parse_manifest(bytes(wave.manifest)))
    return render(request, "surveys/launched.html", context)


@page_or_form
@authoring
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    survey = get_own_survey(request, slug)
    _require_draft(survey)
    posted = _posted(request)
    form = SettingsForm(posted) if posted is not None else SettingsForm.from_survey(survey)
    if request.method == "POST" and form.is_valid():
        for name, value in form.cleaned_data.items():
            setattr(survey, name, value)
        services.save_draft(survey=survey)
        messages.success(request, "The settings were saved.")
        return _to_edit(survey)
    context = {"survey": survey, "form": form}
    return render(request, "surveys/settings.html", context, status=_status(form))


@page_or_form
@authoring
def question_create(request: HttpRequest, slug: str) -> HttpResponse:
    survey = get_own_survey(request, slug)
    _require_draft(survey)
    form = QuestionForm(_posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            question = services.add_question(survey=survey, **form.cleaned_data)
        except TooManyQuestions as error:
            form.add_error(None, f"{error} Delete one first.")
        else:
            return _to_edit(survey, f"#question-{question.pk}")
    context = {"survey": survey, "form": form}
    return render(request, "surveys/question_form.html", context, status=_status(form))


@page_or_form
@authoring
def question_edit(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    question = get_own_question(request, slug, pk)
    _require_draft(question.survey)
    form = QuestionForm(_posted(request), question=question)
    if request.method == "POST" and form.is_valid():
        services.edit_question(question=question, **form.cleaned_data)
        return _to_edit(question.survey, f"#question-{question.pk}")
    context = {"survey": question.survey, "question": question, "form": form}
    return render(request, "surveys/question_form.html", context, status=_status(form))


@require_POST
@authoring
def question_move(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    question = get_own_question(request, slug, pk)
    step = STEPS.get(request.POST.get("direction", ""))
    if step is None:
        raise BadRequest("direction must be up or down")
    services.move_question(question=question, step=step)
    return _to_edit(question.survey, f"#question-{question.pk}")


@page_or_form
@authoring
def question_delete(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    question = get_own_question(request, slug, pk)
    _require_draft(question.survey)
    if request.method == "POST":
        services.delete_question(question=question)
        messages.success(request, "The question was deleted.")
        return _to_edit(question.survey)
    context = {"survey": question.survey, "question": question}
    return render(request, "surveys/question_delete.html", context)


@page_or_form
@authoring
def launch(request: HttpRequest, slug: str) -> HttpResponse:
    """Show exactly what would be frozen; freeze it only if it is still the same."""
    survey = get_own_survey(request, slug)
    _require_draft(survey)
    problem = ""
    if request.method == "POST":
        try:
            services.launch_survey(survey=survey, expected_hash=request.POST.get("manifest", ""))
        except (ChangedMeanwhile, NotLaunchable) as error:
            problem = str(error)
        else:
            messages.success(request, "The survey was opened. It can no longer change.")
            return _to_edit(survey)
    manifest = services.describe(survey=survey, wave_number=1)
    context: dict[str, object] = {
        "survey": survey,
        "problem": problem,
        "problems": services.find_launch_problems(survey=survey, now=timezone.now()),
        "manifest_hash": hash_manifest(serialize_manifest(manifest)).hex(),
    }
    context |= _manifest_context(manifest)
    return render(request, "surveys/launch.html", context, status=REFUSED if problem else 200)


@page_or_form
@authoring
def close(request: HttpRequest, slug: str) -> HttpResponse:
    survey = get_own_survey(request, slug)
    wave = survey.wave
    if wave is None or not wave.is_open:
        raise NotOpen
    if request.method == "POST":
        services.close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
        messages.success(request, "The survey was closed. The last reports are being counted.")
        return _to_edit(survey)
    return render(request, "surveys/close.html", {"survey": survey, "wave": wave})


@require_POST
@authoring
def copy(request: HttpRequest, slug: str) -> HttpResponse:
    copied = services.copy_survey(survey=get_own_survey(request, slug))
    messages.success(request, "This is the copy. Nothing of it is open yet.")
    return _to_edit(copied)


@page_or_form
@authoring
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    survey = get_own_survey(request, slug)
    _require_draft(survey)
    if request.method == "POST":
        services.delete_draft(survey=survey)
        messages.success(request, f"The draft “{survey.title}” was deleted.")
        return redirect("aggregator:home")
    return render(request, "surveys/delete.html", {"survey": survey})
