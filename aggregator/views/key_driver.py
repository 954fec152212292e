"""Show which answer best predicts another, from the stored result of all pairs."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from aggregator.comparisons.jobs import find_comparison, request_comparison
from aggregator.comparisons.key_driver import list_outcomes, rank_rules
from aggregator.comparisons.result import PairsResult
from aggregator.comparisons.sentences import describe_impossible
from aggregator.comparisons.standing import find_standing
from aggregator.comparisons.words.key_driver_sentences import (
    NOT_PLANNED,
    describe_best,
    describe_lines,
    list_rule_rows,
)
from aggregator.models import Comparison
from aggregator.problems import TOO_FEW_RESPONSES
from aggregator.results.display import Results, find_view
from aggregator.results.snapshots import list_looks_before_close
from surveys.access import Action, needs
from surveys.comparing.choice import OUTCOME, NotComparable
from surveys.comparing.indicators import Indicator
from surveys.comparing.menus import AnswerMenu
from surveys.history.recording import record_seen
from surveys.models import Survey

REFUSED = 422
CHOOSE = "Choose an answer."


class OutcomeForm(forms.Form):
    outcome = AnswerMenu(label="Answer to predict")

    def __init__(self, data: Any = None, *, outcomes: list[Indicator]) -> None:
        super().__init__(data)
        menu = self.fields[OUTCOME]
        assert isinstance(menu, AnswerMenu)
        menu.offer(outcomes, known=frozenset(one.name for one in outcomes))

    def clean_outcome(self) -> str:
        outcome: str = self.cleaned_data[OUTCOME]
        if not outcome:
            raise forms.ValidationError(CHOOSE)
        return outcome


@needs(Action.ANALYSE)
@require_http_methods(["GET", "HEAD", "POST"])
def key_driver(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    """Show the ranking of a chosen outcome; POST first requests the comparison of all pairs."""
    view, is_posted = find_view(survey), request.method == "POST"
    if view.results is None:
        status = TOO_FEW_RESPONSES.status if is_posted else 200
        context = {"view": view, "survey": survey, "wave": view.wave}
        return render(
            request, "aggregator/comparisons/nothing_to_compare.html", context, status=status
        )
    results = view.results
    outcomes = list_outcomes(results.manifest)
    data = request.POST if is_posted else request.GET
    form = OutcomeForm(data if OUTCOME in data or is_posted else None, outcomes=outcomes)
    if is_posted and form.is_valid():
        try:
            request_comparison(
                wave=results.wave,
                snapshot=results.snapshot,
                kind=Comparison.Kind.PAIRS,
                names=(),
            )
        except NotComparable as problem:
            form.add_error(OUTCOME, str(problem))
        else:
            chosen = urlencode({OUTCOME: form.cleaned_data[OUTCOME]})
            address = reverse("aggregator:key_driver", args=[survey.slug])
            return redirect(f"{address}?{chosen}")
    context = {
        "survey": survey,
        "form": form,
        "can_rank": len(outcomes) > 1,
        "is_early": not results.snapshot.final,
    }
    if not is_posted and form.is_bound and form.is_valid():
        outcome = next(one for one in outcomes if one.name == form.cleaned_data[OUTCOME])
        context |= _build_ranking(results, outcome)
    status = REFUSED if is_posted else 200
    return render(request, "aggregator/comparisons/key_driver.html", context, status=status)


def _build_ranking(results: Results, outcome: Indicator) -> dict[str, object]:
    """Describe the ranking, or the comparison of all pairs that it waits for."""
    wave = results.wave
    found = None
    if results.snapshot.final:
        found = find_comparison(
            wave=wave, snapshot=results.snapshot, kind=Comparison.Kind.PAIRS, names=()
        )
    if found is None:
        return {}
    standing = find_standing(found)
    context: dict[str, object] = {"outcome": outcome, "pairs": found}
    if isinstance(standing.result, PairsResult):
        times = [n / results.manifest.people_for_looks for n in list_looks_before_close(wave)]
        ranking = rank_rules(standing.result, results.manifest, outcome, times=times)
        context |= {"impossible": describe_impossible(standing), "standing": NOT_PLANNED}
        if ranking is not None:
            record_seen(wave.survey)
            context |= {
                "summary": describe_best(ranking),
                "rows": list_rule_rows(ranking),
                "lines": describe_lines(ranking),
            }
    return context
