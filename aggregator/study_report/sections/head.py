"""The head of a report: what the study was, when it ran, and how many took part."""

from __future__ import annotations

from collections.abc import Iterator

from aggregator.batches.halves import find_half
from aggregator.charts.questions import REHEARSAL
from aggregator.results.display import Standing, View, find_view
from aggregator.study_report.content import Fact, Facts, Words
from surveys.formatting import day, percent, whole
from surveys.manifest.manifest import Publication
from surveys.manifest.modes import Mode
from surveys.models import Wave

DEMO = "Demo: a program sent these reports. No person answered this survey."
INTERIM = (
    "Interim report: the survey is still open, so every figure can still change. Intervals are the "
    "wider ones, which hold at 95 % for all looks together."
)
COUNTING = "The survey is closed, and its last reports are being counted. Come back in a minute."
HALF = "A random half of the reports is still sealed. Every figure describes the other half."
RATE = "reports ÷ people invited"
NOT_FOR_PUBLICATION = (
    "Not for publication: this report has exact figures. Respondents were told that readers see "
    "only protected releases, so publishing exact figures would break that promise."
)
MORE_THAN_INVITED = "no rate: there are more reports than people invited"


def list_marks(view: View) -> tuple[str, ...]:
    """List what readers must know before they read the report."""
    survey, wave = view.survey, view.wave
    marks = [(survey.rehearsal, REHEARSAL), (survey.demo, DEMO)]
    if wave is not None:
        is_half = _is_half(view)
        is_counting = view.snapshot is not None and not view.is_settled and not is_half
        is_waiting = view.standing in (Standing.WAITING, Standing.RECOMPUTING)
        marks += [
            (wave.description.publishes_releases, NOT_FOR_PUBLICATION),
            (wave.is_open, INTERIM),
            (is_half, HALF),
            (not wave.is_open and (is_counting or is_waiting), COUNTING),
        ]
    return tuple(text for applies, text in marks if applies)


def _is_half(view: View) -> bool:
    """Return whether the figures describe one half while the other half is sealed."""
    if view.wave is None or view.snapshot is None or not view.snapshot.is_half:
        return False
    half = find_half(view.wave)
    return half is not None and half.is_sealed  # an open half is already being counted


def write_facts(view: View) -> Facts:
    """List the facts of the study; `view` has a wave."""
    return Facts(rows=tuple(_list_facts(view)))


def _list_facts(view: View) -> Iterator[Fact]:
    wave, manifest = view.wave, view.manifest
    assert wave is not None
    assert manifest is not None
    if manifest.organization:
        yield Fact(name="Organization", value=Words(text=manifest.organization, is_authors=True))
    yield _name("Field dates", describe_dates(wave))
    yield _name("End", describe_end(wave))
    reports = count_reports(view)
    if reports is not None:
        is_half = view.snapshot is not None and view.snapshot.is_half
        yield _name("Sealed reports", f"{whole(reports)}{', the open half' if is_half else ''}")
        others = count_coin_reports(view)
        if others:
            yield _name("Reports with two coins", f"{whole(others)}, which this report leaves out")
        if view.survey.people_invited is not None:
            yield _name("People invited", whole(view.survey.people_invited))
            if not is_half:
                rate = describe_rate(reports + others, view.survey.people_invited)
                yield _name("Response rate", rate)
    scrambled = sum(question.is_scrambled for question in manifest.questions)
    declared = sum(question.is_declared for question in manifest.questions)
    kinds = [f"{whole(scrambled)} scrambled"]
    if declared:
        kinds.append(f"{whole(declared)} sent as answered")
    yield _name("Questions", ", ".join(kinds))
    if manifest.publication is not None and manifest.has_public_results:
        yield _name("Anyone may see", Publication(manifest.publication).label)


def _name(name: str, text: str) -> Fact:
    return Fact(name=name, value=Words(text=text))


def describe_dates(wave: Wave) -> str:
    """Write the first and the last day on which people could answer, without times."""
    start = day((wave.opens_at or wave.launched_at).date())
    if wave.closed_at is None:
        return f"From {start}, still open"
    end = day(wave.closed_at.date())
    return start if start == end else f"{start} to {end}"


def describe_end(wave: Wave) -> str:
    """Say why the survey ended, and whether this end was fixed before the survey opened."""
    planned = _describe_planned_end(wave)
    if wave.is_open:
        return f"Fixed before it opened: {planned}" if planned else "None was fixed"
    if wave.ending == Wave.Ending.DATE:
        return "On its closing date, which was fixed before it opened"
    if wave.ending == Wave.Ending.CAP:
        people = whole(wave.cap or 0)
        return f"After {people} reports, a number that was fixed before it opened"
    if planned:
        return f"Closed early by its researchers; the end fixed before it opened was {planned}"
    return "Closed by its researchers; no end was fixed before it opened"


def _describe_planned_end(wave: Wave) -> str:
    date = day(wave.closes_at.date()) if wave.closes_at else ""
    cap = f"{whole(wave.cap)} reports" if wave.cap else ""
    return " or ".join(end for end in (date, cap) if end)


def count_reports(view: View) -> int | None:
    """Count the sealed reports that pages show; return None before the first look."""
    if view.standing is Standing.EMPTY:
        return 0
    return view.snapshot.total if view.snapshot else None


def count_coin_reports(view: View) -> int:
    """Count the reports of people who tossed two coins, as of their newest look."""
    if not view.survey.coins:
        return 0
    return count_reports(find_view(view.survey, mode=Mode.MANUAL)) or 0


def describe_rate(reports: int, invited: int) -> str:
    """Write a rate such as "41 % (reports ÷ people invited)", but none above 100 %."""
    if reports > invited:
        return MORE_THAN_INVITED
    rate = reports / invited
    return f"{percent(rate, 0 if rate >= 0.1 else 1)} ({RATE})"
