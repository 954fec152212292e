"""The state of a survey, in sentences for its author."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from surveys.formatting import day, moment, whole
from surveys.models import DAYS_BEFORE_DELETION, Wave, start_of


@dataclass(frozen=True, kw_only=True)
class SurveyState:
    """The state of a survey. `key` is also the end of the CSS class: tag-draft, tag-open, …"""

    key: str
    name: str
    sentence: str


def describe_state(*, wave: Wave | None, now: datetime) -> SurveyState:
    if wave is None:
        return SurveyState(key="draft", name="Draft", sentence="Respondents cannot see it yet.")
    state = _describe_wave(wave, now=now)
    if wave.delete_on is None:
        return state
    return replace(state, sentence=f"{state.sentence} It is deleted on {day(wave.delete_on)}.")


def find_near_deletion(wave: Wave | None, *, now: datetime) -> date | None:
    """Return the day on which everything is deleted, or None if it is more than a week away."""
    if wave is None or wave.delete_on is None:
        return None
    is_near = now >= start_of(wave.delete_on) - timedelta(days=DAYS_BEFORE_DELETION)
    return wave.delete_on if is_near else None


def _describe_wave(wave: Wave, *, now: datetime) -> SurveyState:
    if not wave.is_open:
        return _describe_closed(wave)
    if wave.opens_at is not None and now < wave.opens_at:
        sentence = f"It accepts reports from {moment(wave.opens_at)}. {_describe_end(wave)}"
        return SurveyState(key="scheduled", name="Opens later", sentence=sentence)
    if not wave.accepts_at(now):
        sentence = "Its closing date has passed. The last reports are being counted."
        if wave.closes_at is None:
            sentence = "It accepts no more reports."
        return SurveyState(key="closed", name="Closing", sentence=sentence)
    return SurveyState(key="open", name="Open", sentence=_describe_end(wave))


def _describe_end(wave: Wave) -> str:
    date = f"on {moment(wave.closes_at)}" if wave.closes_at else ""
    crowd = _describe_crowd(wave, verb="have")
    cap = f"when {crowd}" if crowd else ""
    if date and cap:
        return f"It closes {date}, or earlier {cap}."
    return f"It closes {date or cap}." if date or cap else "It stays open until you close it."


def _describe_crowd(wave: Wave, *, verb: str) -> str:
    """Say how many answers make or made the wave close, or return "" if there is no cap.

    A wave of coins has no cap. It closes when the wave of browsers reaches its cap.
    """
    if wave.mode == Wave.Mode.ELECTRONIC:
        return f"{whole(wave.cap)} people {verb} answered" if wave.cap else ""
    browsers = Wave.objects.electronic().filter(survey=wave.survey_id, number=wave.number)
    cap = browsers.values_list("cap", flat=True).first()
    return f"{whole(cap)} people {verb} answered in the browser" if cap else ""


def _describe_closed(wave: Wave) -> SurveyState:
    when = f" on {moment(wave.closed_at)}" if wave.closed_at else ""
    how = {
        Wave.Ending.DATE: "it reached its closing date",
        Wave.Ending.CAP: _describe_crowd(wave, verb="had"),
        Wave.Ending.OWNER: "you closed it",
    }[Wave.Ending(wave.ending)]
    return SurveyState(key="closed", name="Closed", sentence=f"Closed{when}, because {how}.")
