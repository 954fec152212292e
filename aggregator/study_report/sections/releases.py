"""The releases that a protected survey has published or may publish."""

from __future__ import annotations

from collections.abc import Iterator

from aggregator.models import Release
from aggregator.releases.figures import (
    AlertFigure,
    ChosenFigure,
    FigureRow,
    Figures,
    Group,
    KeyDriverFigures,
    QuestionFigures,
    Unsure,
    describe_too_few,
    read_shown,
)
from aggregator.releases.ledger import read_account
from aggregator.releases.sentences import (
    describe_people,
    describe_unplanned,
    list_lines,
)
from aggregator.results.blocks import row_of_share
from aggregator.study_report.content import Paragraph, Part, Row, Section, Table, Tone, Words
from aggregator.study_report.sections.findings import ALL_SHARES
from aggregator.study_report.sections.protection import name_questions
from surveys.formatting import cap, day
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.releases import ReleaseRequest
from surveys.models import Wave
from surveys.releasing.words import name_request

RELEASES = "releases"
NONE_YET = "No release has been made."


def write_releases(wave: Wave) -> Section:
    """Write the section for a protected survey."""
    account = read_account(wave)
    drawn = [one for one in account.releases if one.state == Release.State.DRAWN]
    intro = (
        "Readers see these releases only. Each was drawn once, with noise that limits what they "
        "can tell about whether any one person took part. "
        f"All of them together may spend ε = {cap(account.cap)}, and "
        f"{cap(account.spent)} is spent."
    )
    parts: list[Part] = [Paragraph(text=intro)]
    if not drawn:
        parts.append(Paragraph(text=NONE_YET))
    shown = read_shown(drawn, wave.description)
    for release in drawn:
        parts += _write_release(release, shown[release.pk], wave.description, spent=account.spent)
    return Section(anchor=RELEASES, heading="Releases", parts=tuple(parts))


def _write_release(
    release: Release, figures: Figures | Unsure, manifest: Manifest, *, spent: int
) -> Iterator[Part]:
    lines = list_lines(release, manifest, spent_hundredths=spent)
    notes = tuple(f"{line.name}: {line.text}." for line in lines)
    seen = f"public from {day(release.public_from)}"
    if unplanned := describe_unplanned(release, manifest):
        seen += f"; {unplanned}"
    if isinstance(figures, Unsure):
        text = f"{release.get_kind_display()} of Q{figures.question.number} ({seen}). {figures.why}"
        yield Paragraph(text=text, tone=Tone.NOTICE)
        return
    if isinstance(figures, AlertFigure):
        yield Paragraph(text=f"{_describe_alert(figures)} ({seen}). {' '.join(notes)}")
        return
    if isinstance(figures, ChosenFigure):
        yield Paragraph(text=f"{_describe_choice(figures)} ({seen}). {' '.join(notes)}")
        return
    if isinstance(figures, KeyDriverFigures):
        name = full_name = name_request(manifest, ReleaseRequest.from_json(release.request))
        header, rows = ("Rule", "Right for"), [*map(_write_share, figures.rows)]
    else:
        asked = {one.question.name: one.question for one in figures.questions}
        by = f" by Q{figures.group.number}" if figures.group else ""
        name = name_questions(list(asked.values())) + by
        full_name = f"Table of {name}"
        notes = (*filter(None, [describe_people(figures)]), *notes)  # none if there are too few
        header = ("Answer", "Share or mean")
        rows = [row for question in figures.questions for row in _list_rows(question)]
    if not figures.is_enough:
        text = f"{full_name} ({seen}). {describe_too_few(figures)} {' '.join(notes)}"
        yield Paragraph(text=text, tone=Tone.NOTICE)
        return
    yield Table(
        caption=f"Release: {name} ({seen})",
        header=(*header, "95 % interval"),
        rows=tuple(rows),
        widths=(1,),
        notes=notes,
        axis=ALL_SHARES,
    )


def _describe_choice(figure: ChosenFigure) -> str:
    return f"{figure.kind.label} of Q{figure.question.number}: {figure.text}"


def _describe_alert(figure: AlertFigure) -> str:
    which = "Alert" if figure.came else "No alert"
    return f"{which}: more than {figure.percent} % “{figure.text}” to Q{figure.question.number}"


def _list_rows(figures: QuestionFigures) -> Iterator[Row]:
    question = figures.question
    name = Words(text=f"Q{question.number} {question.full_text}", is_authors=True)
    yield Row(cells=(name,), is_heading=True)
    if figures.group is not None:
        yield Row(cells=(_name_group(figures.group),), is_heading=True)
    if not figures.is_enough:
        yield Row(cells=(Words(text=describe_too_few(figures)), Words(text="–"), Words(text="–")))
        return
    yield from map(_write_share, figures.rows)
    if figures.mean is not None:
        yield _write_mean(question, figures.mean)


def _name_group(group: Group) -> Words:
    return Words(text=f"Q{group.question.number} {group.text}", is_authors=group.is_authors)


def _write_share(row: FigureRow) -> Row:
    shown = row_of_share(key=row.key, label=row.text, value=row.share, low=row.low, high=row.high)
    cells = (
        Words(text=row.text, is_authors=row.is_authors),
        Words(text=shown.number),
        Words(text=shown.range),
    )
    return Row(cells=cells, whisker=shown.whisker)


def _write_mean(question: ManifestQuestion, mean: FigureRow) -> Row:
    label = f"Mean, from {question.minimum} to {question.maximum}"
    value = f"{mean.share:,.2f} {question.unit}".rstrip()
    ends = f"{mean.low:,.2f}–{mean.high:,.2f}"
    return Row(cells=(Words(text=label), Words(text=value), Words(text=ends)))
