"""Makes, opens and closes a survey. Each view parses a request, calls one service and answers."""

from __future__ import annotations

from typing import cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from privacy.mechanism.accounting import cumulative_epsilon
from surveys.access import Action, may
from surveys.authoring import services
from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import (
    BrokenRules,
    ChangedMeanwhile,
    NotAcknowledged,
    NotLaunchable,
    Overtaken,
)
from surveys.authoring.forms import (
    CreateForm,
    Difference,
    LaunchForm,
    SettingsForm,
    add_marks,
    list_differences,
    take_theirs,
)
from surveys.authoring.launch_checks import (
    find_launch_problems,
    list_exceeded_limits,
    list_warnings,
)
from surveys.authoring.settings_pages import describe_settings
from surveys.authoring.stamps import stamp_settings
from surveys.definition.templates.offered import list_templates
from surveys.lifecycle.errors import NotOpen
from surveys.lifecycle.reach import find_local_host, public_link
from surveys.lifecycle.services import close_wave
from surveys.lifecycle.state import describe_state
from surveys.manifest.serialization import hash_manifest, serialize_manifest
from surveys.models import Survey, Wave
from surveys.models.settings import SettingsPage
from surveys.planning.expected import find_expected
from surveys.planning.plan_sentences import describe_declining
from surveys.planning.question_facts import list_facts
from surveys.planning.subsets import list_blocks, list_subsets
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import (
    REFUSED,
    budget_context,
    page_or_form,
    posted_to,
    read_stamp,
    require_draft,
    show_draft,
    to_edit,
    total_context,
)


@page_or_form
@login_required
def create(request: HttpRequest) -> HttpResponse:
    form = CreateForm(posted_to(request))
    if request.method == "POST" and form.is_valid():
        survey = services.create_survey(owner=cast(User, request.user), **form.cleaned_data)
        return to_edit(survey)
    context = {"form": form, "templates": list_templates()}
    return render(request, "surveys/authoring/create.html", context, status=_status(form))


def _status(form: forms.Form) -> int:
    return REFUSED if form.errors else 200


@require_safe
@authoring(Action.READ)
def edit(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show what a draft still needs. After the opening, show the link and what comes next."""
    wave = survey.find_wave()
    if wave is None:
        if not may(survey, Action.EDIT):
            return redirect("aggregator:results", slug=survey.slug)
        return show_draft(request, survey)
    link = public_link(reverse("surveys:respond", args=[survey.slug]))
    manifest = wave.description
    context: dict[str, object] = {
        "survey": survey,
        "state": describe_state(wave=wave, now=timezone.now()),
        "wave": wave,
        "respond_link": link,
        "local_host": find_local_host(link),
        "manifest": manifest,
    }
    return render(request, "surveys/authoring/launched.html", context)


@page_or_form
@authoring(Action.EDIT)
def settings(request: HttpRequest, survey: Survey, page: str = SettingsPage.TEXT) -> HttpResponse:
    """Show a page of a draft's settings. After the opening, show the frozen settings."""
    if page not in SettingsPage:
        raise Http404
    wave = survey.find_wave()
    if wave is not None and request.method != "POST":
        return _show_frozen_settings(request, survey, wave)
    require_draft(survey)
    page = SettingsPage(page)
    everything = build_manifest(survey=survey, wave_number=1)
    blocks = everything.block_count
    shown = SettingsForm(survey=survey, page=page, blocks=blocks)
    posted = posted_to(request)
    form = SettingsForm(posted, survey=survey, page=page, blocks=blocks)
    if posted is not None:
        posted = take_theirs(posted, shown, typed=form, stamp=read_stamp(request))
        form = SettingsForm(posted, survey=survey, page=page, blocks=blocks)
    stamp = read_stamp(request) or add_marks(stamp_settings(survey, page), stored=shown)
    differences: list[Difference] = []
    if request.method == "POST" and form.is_valid():
        newer = stamp_settings(survey, page)
        for name, value in form.cleaned_data.items():
            setattr(survey, name, value)
        try:
            switched = services.save_draft(survey=survey, page=page, stamp=stamp)
        except Overtaken as error:
            differences = list_differences(form, shown, stamp=stamp)
            stamp = add_marks(newer, stored=shown, typed=form)
            if not differences:  # the same form was sent twice
                return redirect("surveys:settings_page", slug=survey.slug, page=page)
            form.add_error(None, str(error))
            survey.refresh_from_db()  # the page shows stored values, but typed ones in fields
        except BrokenRules as error:
            form.add_error("may_decline", str(error))
            survey.refresh_from_db()
        else:
            messages.success(request, f"The settings were saved.{_describe_switched(switched)}")
            return redirect("surveys:settings_page", slug=survey.slug, page=page)
    context: dict[str, object] = {
        "survey": survey,
        "page": page,
        "pages": [(one, describe_settings(one, survey)) for one in SettingsPage],
        "form": form,
        "stamp": stamp,
        "differences": differences,
    }
    if page == SettingsPage.TIME:
        context["expected"] = find_expected(everything)
    if page == SettingsPage.PRIVACY:
        context |= {
            "declining": describe_declining(),
            "blocks": list_blocks(everything),
            "subsets": list_subsets(everything),
            **total_context(everything),
        }
    return render(request, "surveys/authoring/settings.html", context, status=_status(form))


def _show_frozen_settings(request: HttpRequest, survey: Survey, wave: Wave) -> HttpResponse:
    manifest = wave.description
    context: dict[str, object] = {
        "survey": survey,
        "wave": wave,
        "limits": list_exceeded_limits(manifest),
        "waves": _add_up_waves(survey),
        **total_context(manifest),
    }
    return render(request, "surveys/authoring/frozen_settings.html", context)


def _add_up_waves(survey: Survey) -> tuple[int, float] | None:
    """Count the waves and add up what answering all of them reveals, or return None for one wave.

    If answering with coins reveals more, the total of a wave is the total for coins.
    """
    totals = [wave.description.epsilon for wave in survey.waves.electronic().only("manifest")]
    return (len(totals), cumulative_epsilon(totals)) if len(totals) > 1 else None


def _describe_switched(switched: services.Switched) -> str:
    """Say how many questions changed because declining is now allowed, or no longer is."""
    said = ""
    if switched.changed:
        count = len(switched.changed)
        said = f" {count} question{' was' if count == 1 else 's were'} changed with them."
    if switched.problem:
        said += f" {switched.problem}"
    return said


@page_or_form
@authoring(Action.OPEN)
def launch(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show exactly what the launch freezes. Freeze it only if it has not changed since."""
    require_draft(survey)
    manifest = build_manifest(survey=survey, wave_number=1)
    form = LaunchForm(posted_to(request), limits=list_exceeded_limits(manifest))
    if form.is_valid():
        try:
            services.launch_survey(
                survey=survey,
                expected_hash=form.cleaned_data["manifest"],
                acknowledged=form.acknowledged,
            )
        except (ChangedMeanwhile, NotAcknowledged, NotLaunchable) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The survey was opened. It can no longer be changed.")
            return to_edit(survey)
    context: dict[str, object] = {
        "survey": survey,
        "form": form,
        "problems": find_launch_problems(survey=survey, now=timezone.now(), manifest=manifest),
        "warnings": list_warnings(survey=survey, manifest=manifest),
        "manifest_hash": hash_manifest(serialize_manifest(manifest)).hex(),
        "facts": list_facts(manifest),
        "expected": find_expected(manifest),
    }
    context |= total_context(manifest) | budget_context(request, survey, manifest, "launch")
    return render(request, "surveys/authoring/launch.html", context, status=_status(form))


@page_or_form
@authoring(Action.CLOSE)
def close(request: HttpRequest, survey: Survey) -> HttpResponse:
    wave = survey.find_wave()
    if wave is None or not wave.is_open:
        raise NotOpen
    if request.method == "POST":
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
        messages.success(request, "The survey was closed. The last reports are being counted.")
        return to_edit(survey)
    return render(request, "surveys/authoring/close.html", {"survey": survey, "wave": wave})


@require_POST
@authoring(Action.EDIT)
def copy(request: HttpRequest, survey: Survey) -> HttpResponse:
    copied = services.copy_survey(survey=survey, owner=cast(User, request.user))
    messages.success(request, "This is the copy. It is a draft and not open yet.")
    return to_edit(copied)


@page_or_form
@authoring(Action.DELETE)
def delete(request: HttpRequest, survey: Survey) -> HttpResponse:
    require_draft(survey)
    if request.method == "POST":
        services.delete_draft(survey=survey)
        messages.success(request, f"The draft “{survey.title}” was deleted.")
        return redirect("aggregator:home")
    return render(request, "surveys/authoring/delete.html", {"survey": survey})
