"""The result pages of a survey's two modes, in the browser and with two coins.

Each mode has its own pages, pictures and files under the same names. One page compares the modes
and pools them on request (aggregator/results/modes.py).
"""

from __future__ import annotations

from django.http import Http404
from django.urls import reverse

from aggregator.results.display import View, find_view
from surveys.manifest.modes import Mode
from surveys.models import Survey

_PAGES = (
    "results",
    "results_panel",
    "estimates_csv",
)


def view_of(survey: Survey, *, mode: str) -> View:
    """Return what may be shown for one mode; raise 404 if coins were never offered."""
    view = find_view(survey, mode=mode)
    if mode == Mode.MANUAL and view.wave is None:
        raise Http404("This survey offers no coins.")
    return view


def find_addresses(view: View) -> dict[str, str]:
    """Map names to the URLs of a mode's pages and files; `other` is the other mode's results."""
    mode = view.wave.mode if view.wave else Mode.ELECTRONIC
    addresses = {name: _address(view.survey, name, mode=mode) for name in _PAGES}
    if mode == Mode.MANUAL:
        addresses["other"] = _address(view.survey, "results", mode=Mode.ELECTRONIC)
    elif view.manifest is not None and view.manifest.coins:
        addresses["other"] = _address(view.survey, "results", mode=Mode.MANUAL)
    return addresses


def _address(survey: Survey, name: str, *, mode: str) -> str:
    prefix = "coin_" if mode == Mode.MANUAL else ""
    return reverse(f"aggregator:{prefix}{name}", args=[survey.slug])
