"""The page of a sealed half, for writing claims, testing all of them once and reading verdicts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from aggregator.batches.halves import HalfIsOpen, count_held, find_half
from aggregator.comparisons.claims import (
    Claim,
    ClaimsChanged,
    Verdict,
    add_claim,
    ask_to_open,
    describe_claim,
    list_stored,
    list_tested,
    remove_claim,
    stamp_claims,
)
from aggregator.models import SealedHalf
from aggregator.problems import SURVEY_NOT_COUNTED
from aggregator.results.display import find_view
from aggregator.results.groups.halves import MOST_CLAIMS
from surveys.access import Action, needs
from surveys.comparing.choice import GROUP, OUTCOME, NotComparable
from surveys.comparing.indicators import list_indicators, list_names
from surveys.comparing.menus import GROUP_HELP, NOTHING_CHOSEN, OUTCOME_HELP, AnswerMenu
from surveys.history.recording import record_seen
from surveys.manifest.manifest import Manifest
from surveys.models import Survey, Wave

REFUSED = 422
NOT_KEPT = "This survey keeps nothing sealed."
ADDED = "The claim is written down."
ASKED = "The claims are fixed now."
ASKED_BEFORE = "Someone has already asked to open the sealed half, perhaps in another window."
CHANGED = (
    "The claims have changed since this page was loaded, so nothing was opened. Read them again."
)
TICK = "Tick the box to confirm that you know there is only one test."
DIRECTIONS = [("higher", "More frequent in this group"), ("lower", "Less frequent in this group")]


class ClaimForm(forms.Form):
    outcome = AnswerMenu(help_text=OUTCOME_HELP)
    group = AnswerMenu(help_text=GROUP_HELP)
    direction = forms.ChoiceField(
        choices=DIRECTIONS,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose a direction."},
    )

    than = forms.IntegerField(
        label="Percentage",
        required=False,
        min_value=1,
        max_value=99,
        help_text="Enter a percentage, such as 20, to claim a share. Leave the field empty to "
        "compare with everyone else.",
    )

    def __init__(self, data: Any = None, *, manifest: Manifest, has_groups: bool) -> None:
        super().__init__(data)
        offered = [one for one in list_indicators(manifest) if has_groups or not one.is_known]
        for name in (OUTCOME, GROUP):
            menu = self.fields[name]
            assert isinstance(menu, AnswerMenu)
            is_group = name == GROUP
            menu.offer(
                [one for one in offered if not (is_group and one.is_number)],
                known=list_names(manifest),
            )

    def clean(self) -> dict[str, Any]:
        """Report all missing fields at once."""
        for name in (OUTCOME, GROUP):
            if name not in self.errors and not self.cleaned_data[name]:
                self.add_error(name, f"{NOTHING_CHOSEN}.")
        return self.cleaned_data

    def read_claim(self) -> Claim:
        chosen = self.cleaned_data
        return Claim(
            names=(chosen[OUTCOME], chosen[GROUP]),
            is_higher=chosen["direction"] == "higher",
            than=chosen["than"],
        )


class OpenForm(forms.Form):
    seen = forms.CharField(widget=forms.HiddenInput)
    knows = forms.BooleanField(
        label="I know that there is only one test", error_messages={"required": TICK}
    )


@needs(Action.ANALYSE, post=Action.UNSEAL)
@require_http_methods(["GET", "HEAD", "POST"])
def sealed_half(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    wave = survey.find_wave()
    if wave is None or not wave.sealed_half:
        raise Http404(NOT_KEPT)
    half = find_half(wave)
    if request.method != "POST":
        return _show(request, survey, wave, half)
    if half is None or half.problem:
        return _show(request, survey, wave, half, status=SURVEY_NOT_COUNTED.status)
    try:
        return _act(request, survey, wave, half)
    except HalfIsOpen:
        messages.warning(request, ASKED_BEFORE)
        return redirect("aggregator:sealed_half", slug=survey.slug)


def _act(request: HttpRequest, survey: Survey, wave: Wave, half: SealedHalf) -> HttpResponseBase:
    action, manifest = request.POST.get("action"), wave.description
    if action == "remove":
        for claim in list_stored(half):
            if stamp_claims([claim]) == request.POST.get("claim"):
                remove_claim(wave=wave, claim=claim)
    elif action == "open":
        form = OpenForm(request.POST)
        if not form.is_valid():
            return _show(request, survey, wave, half, open_form=form, status=REFUSED)
        try:
            ask_to_open(wave=wave, seen=form.cleaned_data["seen"])
        except ClaimsChanged:
            messages.warning(request, CHANGED)
        else:
            messages.success(request, ASKED)
    else:
        added = ClaimForm(request.POST, manifest=manifest, has_groups=half.has_groups)
        if not _add(wave, added):
            return _show(request, survey, wave, half, claim_form=added, status=REFUSED)
        messages.success(request, ADDED)
    return redirect("aggregator:sealed_half", slug=survey.slug)


def _add(wave: Wave, form: ClaimForm) -> bool:
    if not form.is_valid():
        return False
    try:
        add_claim(wave=wave, claim=form.read_claim())
    except NotComparable as error:
        form.add_error(error.field or None, str(error))
        return False
    return True


def _show(
    request: HttpRequest,
    survey: Survey,
    wave: Wave,
    half: SealedHalf | None,
    *,
    claim_form: ClaimForm | None = None,
    open_form: OpenForm | None = None,
    status: int = 200,
) -> HttpResponseBase:
    manifest = wave.description
    context: dict[str, object] = {"survey": survey, "wave": wave, "half": half}
    if half is not None and half.is_sealed:
        claims = list_stored(half)
        context |= {
            "view": find_view(survey),
            "held": count_held(wave),
            "claims": [(stamp_claims([one]), describe_claim(manifest, one)) for one in claims],
            "claim_form": claim_form or ClaimForm(manifest=manifest, has_groups=half.has_groups),
            "open_form": open_form or OpenForm(initial={"seen": stamp_claims(claims)}),
            "form": claim_form or open_form,
            "can_change": half.asked_on is None,
            "can_add": len(claims) < MOST_CLAIMS,
        }
    elif half is not None and not half.problem:
        tested = list_tested(half, manifest)
        if any(one.finding for one in tested):
            record_seen(survey)
        context |= {
            "tested": tested,
            "confirmed": sum(one.verdict is Verdict.CONFIRMED for one in tested),
            "is_waiting": any(one.verdict is Verdict.WAITING for one in tested),
        }
    response = render(request, "aggregator/comparisons/sealed_half.html", context, status=status)
    is_opening = context.get("can_change") is False
    if is_opening or context.get("is_waiting") or (half is None and not wave.is_open):
        response["Refresh"] = "5"
    return response
