"""Attacks on a demo or a rehearsal; a survey that real people answer has no such page."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from aggregator.results.display import Results, find_view
from aggregator.results.rendered_blocks import make_content_key, render_once
from aggregator.simulation.attacks import play_attacks
from aggregator.simulation.demo import is_invented
from aggregator.simulation.demo_surveys import DEMOS, OPEN
from aggregator.simulation.rehearsal import TITLE
from surveys.access import Action, needs
from surveys.manifest.languages import language_tag
from surveys.manifest.manifest import HUNDREDTHS, Manifest, Publication
from surveys.models import Survey

EPSILONS = {"0.1": 10, "0.5": 50, "1": 100, "2": 200}  # as written, and in hundredths
DEFAULT_EPSILON = "1"
FORBIDDEN = 403


@dataclass(frozen=True, kw_only=True)
class Choice:
    """An ε of the release that is attacked."""

    text: str
    hundredths: int
    is_cap: bool  # the cap of the survey's own releases


@needs(Action.READ)
@require_safe
def break_it(request: HttpRequest, survey: Survey) -> HttpResponse:
    # Only surveys with protected figures have a tab for releases.
    tab = "releases" if survey.publication == Publication.PROTECTED else "data"
    if not is_invented(survey):
        context = {"survey": survey, "tab": tab, "examples": _list_examples(request, survey)}
        return render(
            request, "aggregator/publishing/break_it_refused.html", context, status=FORBIDDEN
        )
    view = find_view(survey)
    choices = list_choices(view.manifest)
    asked = request.GET.get("epsilon", "")
    chosen = next((one for one in choices if one.text == asked), _find_default(choices))
    results = view.results if view.results and view.results.is_final else None
    context = {
        "survey": survey,
        "tab": tab,
        "view": view,
        "wave": view.wave,
        "chosen": chosen,
        "is_unknown": asked not in ("", chosen.text),
        "attacks": _show_attacks(results, choices, chosen) if results else "",
    }
    return render(request, "aggregator/publishing/break_it.html", context)


def _show_attacks(results: Results, choices: list[Choice], chosen: Choice) -> SafeString:
    """Run the attacks, which take a second, only once for given results and ε."""
    key = ("attacks", make_content_key(results, has_truth=False), chosen)
    return render_once(
        key,
        lambda: render_to_string(
            "aggregator/publishing/_attacks.html",
            {
                "lang": language_tag(results.manifest.language),
                "choices": choices,
                "chosen": chosen,
                "attacks": play_attacks(results, epsilon_hundredths=chosen.hundredths),
            },
        ),
    )


def list_choices(manifest: Manifest | None) -> list[Choice]:
    """List each ε that can be chosen, with the cap of a protected survey among them."""
    cap = manifest.release_epsilon_hundredths if manifest is not None else None
    amounts = {hundredths: text for text, hundredths in EPSILONS.items()}
    if cap is not None:
        amounts[cap] = f"{cap / HUNDREDTHS:g}"
    return [
        Choice(text=amounts[amount], hundredths=amount, is_cap=amount == cap)
        for amount in sorted(amounts)
    ]


def _find_default(choices: list[Choice]) -> Choice:
    usual = next(one for one in choices if one.text == DEFAULT_EPSILON)
    return next((one for one in choices if one.is_cap), usual)


def _list_examples(request: HttpRequest, survey: Survey) -> list[Survey]:
    """List the reader's other surveys that can be attacked, with a rehearsal of this one first."""
    own = Survey.objects.of(request.user)
    rehearsed = TITLE.format(title=survey.title)[:200]
    rehearsals = own.filter(rehearsal=True, title=rehearsed).order_by("-pk")
    demos = own.filter(demo=True, title__in=[demo.title for demo in DEMOS if demo is not OPEN])
    return [*rehearsals[:1], *demos.order_by("pk")]
