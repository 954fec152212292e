"""Summarize each page of a draft's settings in a few words."""

from __future__ import annotations

from surveys.formatting import day, whole
from surveys.manifest.languages import name_language
from surveys.manifest.manifest import Publication
from surveys.models import Survey
from surveys.models.settings import SettingsPage

_PUBLISHED = {
    Publication.NONE: "Results stay yours",
    Publication.EXACT: "Exact results public",
    Publication.PROTECTED: "Protected figures public",
}


def describe_settings(page: SettingsPage, survey: Survey) -> str:
    match page:
        case SettingsPage.TEXT:
            text = "with introduction" if survey.introduction else "no introduction"
            return f"{name_language(survey.language)}, {text}"
        case SettingsPage.WHO:
            return _describe_who(survey)
        case SettingsPage.TIME:
            return _describe_end(survey)
        case SettingsPage.PRIVACY:
            return _PUBLISHED[Publication(survey.publication)]
        case SettingsPage.SPECIAL:
            return _describe_special(survey)


def _describe_who(survey: Survey) -> str:
    match bool(survey.organization), bool(survey.help_name):
        case True, True:
            return "Named, with help"
        case True, False:
            return "Named, no help"
        case False, True:
            return "Only help named"
    return "Nobody named yet"


def _describe_end(survey: Survey) -> str:
    match survey.closes_at, survey.cap:
        case None, None:
            return "No end fixed"
        case None, cap:
            return f"Closes at {whole(cap or 0)}"
        case closes, None:
            return f"Closes {day(closes)}" if closes else ""
    return "Date or number"


def _describe_special(survey: Survey) -> str:
    usual = Survey()
    changed = [
        words for name, words in _SPECIAL.items() if getattr(survey, name) != getattr(usual, name)
    ]
    if len(changed) > 1:
        return f"{len(changed)} are changed"
    return changed[0] if changed else "Only quick exit"


_SPECIAL = {
    "quick_exit": "No quick exit",
    "coins": "Two coins offered",
    "confirm_answers": "Answers are confirmed",
    "shared_devices": "Devices are shared",
    "sealed_half": "Half stays sealed",
    "minimum_batch": "Different crowd size",
    "display_minimum": "Different result minimum",
}
