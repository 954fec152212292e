"""The figures of a release as rows on an axis, with how far noise may have moved them.

All figures come from `read_figures`, so no code here sees an exact count. Words and numbers are
in the active language, which is English for researchers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import ceil

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as noop
from scipy.special import ndtri

from aggregator.publishing.spread import Spread, draw_spread, write_points
from aggregator.releases.figures import (
    AlertFigure,
    ChosenFigure,
    FigureRow,
    Figures,
    Group,
    KeyDriverFigures,
    QuestionFigures,
    TableFigures,
    describe_too_few,
)
from aggregator.releases.sentences import build_asked_cells, describe_people
from aggregator.results.blocks import BlockRow, RowKind, row_of_share
from aggregator.results.estimands import name_answer
from privacy.level import Z_95
from surveys.axis import Axis
from surveys.formatting import decimal, whole
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.releases import ReleaseKind
from surveys.releasing.alerts import WRONG
from surveys.releasing.words import name_question
from surveys.respondent.label.parts import join_sentences

CONTRADICTING = noop(
    "The noisy counts contradict the design of this question. Treat this figure as a warning."
)
# The score compares the two sides of a point. It ignores how many people chose the point itself.
PREFERS = noop(
    "Chance names a point, most likely one for which the numbers of answers below and above differ "
    "least. Few people may have chosen it, and it can be far from the middle answer."
)
SEVERAL = noop("More than one answer possible.")
_CHOSEN_AS = {
    # Translators: the answer follows, in all of these.
    ReleaseKind.LEADER: noop("Named as leading:"),
    ReleaseKind.MEDIAN: noop("Named as median:"),
    ReleaseKind.TYPICAL: noop("Named as typical:"),
}


@dataclass(frozen=True, kw_only=True)
class ShownRow:
    """A row of a table in the format of results pages, with the three parts of its interval."""

    row: BlockRow
    spread: Spread


@dataclass(frozen=True, kw_only=True)
class ShownQuestion:
    """One question of a release: rows of a table, or the answer that was chosen."""

    question: ManifestQuestion
    group: Group | None = None  # the group whose answers these are; None for everyone together
    rows: tuple[ShownRow, ...] = ()
    note: str = ""
    warning: str = ""
    chosen: str = ""  # the answer that chance named
    chosen_as: str = ""
    limits: str = ""  # how certain a choice is, in Murmur's words

    @property
    def short_name(self) -> str:
        return name_question(self.question)

    @property
    def short_group(self) -> str:
        return name_question(self.group.question) if self.group else ""

    @property
    def widest(self) -> Spread | None:
        """The parts of the widest interval of a share, which are shown for all shares."""
        shares = [one for one in self.rows if not one.row.is_mean] or list(self.rows)
        if not shares:
            return None
        return max(shares, key=lambda one: _width(one.row)).spread


@dataclass(frozen=True, kw_only=True)
class ShownFigures:
    people: str  # a sentence, or "" if the release does not say how many took part
    questions: tuple[ShownQuestion, ...]

    @property
    def has_rows(self) -> bool:
        return any(question.rows for question in self.questions)


def list_figures(figures: Figures) -> ShownFigures:
    if isinstance(figures, TableFigures):
        shows_people = figures.people is not None
        return ShownFigures(
            people=describe_people(figures),
            questions=tuple(_show(one, shows_people=shows_people) for one in figures.questions),
        )
    if isinstance(figures, AlertFigure):
        return ShownFigures(people="", questions=(_show_alert(figures),))
    if isinstance(figures, KeyDriverFigures):
        return ShownFigures(people="", questions=(_show_key_driver(figures),))
    chosen = ShownQuestion(
        question=figures.question,
        note="" if figures.kind == ReleaseKind.LEADER else _describe_scale(figures.question),
        chosen=name_answer(figures.question, figures.text),
        chosen_as=_(_CHOSEN_AS[figures.kind]),
        limits=_describe_limits(figures),
    )
    return ShownFigures(people="", questions=(chosen,))


def _show_alert(figures: AlertFigure) -> ShownQuestion:
    if figures.came:
        chosen_as = _("Alert: of those who had answered by then, more than %(percent)s %% said")
        limits = _(
            "If no more people than that say so, and early answers are like later ones, such an "
            "alert comes at most %(wrong)s times in 100."
        )
    else:
        chosen_as = _("No alert: no look found that more than %(percent)s %% said")
        limits = _("This does not mean that fewer people said so.")
    return ShownQuestion(
        question=figures.question,
        chosen=name_answer(figures.question, figures.text),
        chosen_as=chosen_as % {"percent": figures.percent},
        limits=limits % {"wrong": WRONG},
    )


def _show_key_driver(figures: KeyDriverFigures) -> ShownQuestion:
    if not figures.is_enough:
        return ShownQuestion(question=figures.question, note=describe_too_few(figures))
    rows = tuple(_show_row(figures.question, row) for row in figures.rows)
    constant = figures.rows[-1].text
    asked = build_asked_cells(figures)
    if figures.predictor is None:
        none = _("Chance named no answer that predicts this one better than “%(answer)s”.") % {
            "answer": constant
        }
        note = join_sentences((none, asked))
        return ShownQuestion(question=figures.question, rows=rows, note=note)
    chosen_as = (
        _("Best predicted by the same answer to %(question)s:")
        if figures.says_same
        else _("Best predicted by the opposite answer to %(question)s:")
    )
    limit = _(
        "Allowing only for publication noise, with 95 %% probability, no other rule is right for "
        "more than %(people)s additional people."
    )
    limits = [
        limit % {"people": whole(ceil(figures.bound))},
        _("Scrambling and chance add to this."),
    ]
    if not figures.is_clear:
        limits.append(
            _("The difference from “%(answer)s” may be due to chance.") % {"answer": constant}
        )
    return ShownQuestion(
        question=figures.question,
        rows=rows,
        note=join_sentences(
            (_("The rows show the share of people for whom each rule is right."), asked)
        ),
        chosen_as=chosen_as % {"question": name_question(figures.predictor)},
        chosen=figures.predictor.text,
        limits=join_sentences(limits),
    )


def _describe_scale(question: ManifestQuestion) -> str:
    return _("On a scale from %(lowest)s to %(highest)s.") % {
        "lowest": name_answer(question, str(question.minimum)),
        "highest": name_answer(question, str(question.maximum)),
    }


def _describe_limits(figures: ChosenFigure) -> str:
    """Say how far publication noise may affect a choice, and that there are other errors."""
    if figures.bound is None:
        return _(PREFERS)
    limit = (
        _(
            "Allowing only for publication noise, with 95 %% probability, no answer is more than "
            "%(people)s people ahead of this one."
        )
        if figures.kind == ReleaseKind.LEADER
        else _(
            "Allowing only for publication noise, with 95 %% probability, this is the median, or "
            "would be if at most %(people)s people had answered differently."
        )
    )
    rest = (
        _("Scrambling and chance add to this; the intervals of the table show how much.")
        if figures.question.is_scrambled
        else _("Chance adds to this; the intervals of the table show how much.")
    )
    return join_sentences((limit % {"people": whole(ceil(figures.bound))}, rest))


def _show(figures: QuestionFigures, *, shows_people: bool) -> ShownQuestion:
    if not figures.is_enough:
        note = describe_too_few(figures)
        return ShownQuestion(question=figures.question, group=figures.group, note=note)
    rows = [*figures.rows, *([figures.mean] if figures.mean else [])]
    notes = [_(SEVERAL)] if figures.question.has_items else []
    if figures.question.follow_up:
        # Translators: %(question)s is the text of the follow-up question.
        notes.append(_("Then: %(question)s") % {"question": figures.question.follow_up})
    # If everyone was asked, a sentence above all questions says how many people took part.
    is_said = shows_people and figures.of_everyone and figures.group is None
    notes += [] if is_said else [build_asked_cells(figures)]
    return ShownQuestion(
        question=figures.question,
        group=figures.group,
        rows=tuple(_show_row(figures.question, row) for row in rows),
        note=join_sentences(notes),
        warning=_(CONTRADICTING) if any(row.contradiction for row in rows) else "",
    )


def _show_row(question: ManifestQuestion, row: FigureRow) -> ShownRow:
    key = f"{question.name} {row.key}"
    if row.key == "mean":
        return _show_mean(question, row, key=key)
    shown = row_of_share(
        key=key,
        label=name_answer(question, row.text),
        value=row.share,
        low=row.low,
        high=row.high,
    )
    if not row.is_authors:
        shown = replace(shown, kind=RowKind.ASKED)  # Murmur's own words
    critical = float(ndtri((1 + row.level) / 2))
    write = partial(_write_points, factor=critical / Z_95)
    return ShownRow(row=shown, spread=draw_spread(row.parts, write=write))


def _write_points(half_width: float, *, factor: float) -> str:
    """Write the half-width of a 95 % interval, times `factor` for the simultaneous level."""
    return write_points(factor * half_width)


def _show_mean(question: ManifestQuestion, row: FigureRow, *, key: str) -> ShownRow:
    assert question.minimum is not None
    assert question.maximum is not None
    digits = _digits(row.high - row.low)
    number = f"{decimal(row.share, digits)} {question.unit}".rstrip()
    range_ = f"{decimal(row.low, digits)}–{decimal(row.high, digits)}"
    shown = BlockRow(
        key=key,
        kind=RowKind.MEAN,
        label=row.text,
        value=row.share,
        low=row.low,
        high=row.high,
        axis=Axis(
            least=question.minimum,
            greatest=question.maximum,
            ends=(decimal(question.minimum, 0), decimal(question.maximum, 0)),
        ),
        number=number,
        range=range_,
        text=f"{number} ({range_})",
    )
    write = partial(_write_plus_minus, digits=digits + 1)
    return ShownRow(row=shown, spread=draw_spread(row.parts, write=write, unit=question.unit))


def _write_plus_minus(half_width: float, *, digits: int) -> str:
    return f"± {decimal(half_width, digits)}"


def _digits(width: float) -> int:
    """Choose the number of digits as on results pages, so that the ends of an interval differ."""
    return 2 if width < 0.3 else 0 if width > 30 else 1


def _width(row: BlockRow) -> float:
    assert row.low is not None
    assert row.high is not None
    return row.high - row.low
