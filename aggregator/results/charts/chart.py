"""One dot-and-whisker chart of a whole survey: one specification for page, SVG and PNG.

Altair and vl-convert are imported inside functions only: vl-convert starts threads, and a
Celery worker that forked after importing it would hang.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aggregator.models import Snapshot
from aggregator.results.display import Results, read_results
from aggregator.results.estimate import Estimate, QuestionResult
from aggregator.results.reliability import Reliability
from aggregator.results.sentences import (
    CAUTION,
    EMPTY,
    describe_estimate,
    describe_group,
    describe_intervals,
    name_estimand,
    summarize,
)
from surveys.formatting import whole
from surveys.models import Wave

if TYPE_CHECKING:
    import altair

WIDTH = 560
ROW_HEIGHT = 62
TRACK = 17  # pixels below the middle of a row
PHONE_WIDTH = 420  # pixels; on narrower screens the numbers are under the question
PNG_SCALE = 2
LABEL_LENGTH = 68
TITLE_LENGTH = 62
SUBTITLE_LENGTH = 88
# A paper background in both colour schemes: a saved picture must look the same everywhere.
PAPER, INK, MUTED, LINE, ACCENT, WARM = (
    "#fffdf9",
    "#25213a",
    "#5d5870",
    "#e6dfd3",
    "#5a2a63",
    "#b4571f",
)
Whisker = tuple[str, int, str]  # the end of the fields' names, width in pixels, colour
REHEARSAL = "Rehearsal: invented answers. No person sent these reports."
# 95, 80 and 50 %: the higher the level, the thinner and paler the line.
WHISKERS = (("", 3, "#a98fb0"), ("_80", 7, "#815b8a"), ("_50", 11, ACCENT))
# Where the 95 % interval has no others inside.
ALONE = (("", 5, "#815b8a"),)
# vl-convert includes Liberation Sans, so pictures look the same on a machine without fonts.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"


@dataclass(frozen=True, kw_only=True)
class ChartRow:
    """One line of the chart; shares are fractions clipped to [0, 1]."""

    key: str
    label: str
    value: str
    question: str
    option: str
    estimate: float | None  # None where it is not shown
    low: float | None
    high: float | None
    # After a fixed end only.
    low_80: float | None
    high_80: float | None
    low_50: float | None
    high_50: float | None
    interval: str
    caution: bool
    truth: float | None


def render_chart(
    wave: Wave, snapshot: Snapshot, *, truth: Mapping[str, float] = EMPTY
) -> tuple[dict[str, Any], str, bytes]:
    """Return the Vega-Lite specification of a snapshot, and its SVG and PNG.

    Raises
    ------
    ValueError
        If the snapshot has fewer reports than the display minimum: no picture of it may exist.
    """
    if snapshot.total < wave.display_minimum:
        raise ValueError(
            f"snapshot must reach the display minimum {wave.display_minimum}, got {snapshot.total}"
        )
    specification = build_specification(
        read_results(wave=wave, snapshot=snapshot),
        truth=truth,
    )
    svg, png = render(specification)
    return specification, svg, png


def render(specification: dict[str, Any]) -> tuple[str, bytes]:
    """Render a specification without any network access."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])
    png: bytes = vl_convert.svg_to_png(svg, scale=PNG_SCALE)
    return svg, png


def build_rows(results: Results, *, truth: Mapping[str, float] = EMPTY) -> list[ChartRow]:
    """Return one row for each share; means have other axes and appear only in text and tables."""
    return [
        _build_row(
            question,
            estimate,
            truth=truth.get(estimate.estimand.key),
        )
        for question in results.questions
        for estimate in question.shown
        if not estimate.is_mean
    ]


def _build_row(question: QuestionResult, estimate: Estimate, *, truth: float | None) -> ChartRow:
    key = f"Q{question.number}"
    alone = len(question.shown) == 1
    # The interval of what is not shown would be the heaviest mark of the chart.
    hidden = not estimate.is_shown
    inner = {} if hidden else {one.level: one.ends for one in estimate.intervals.inner}
    (low_80, high_80), (low_50, high_50) = (inner.get(level, (None, None)) for level in (0.8, 0.5))
    asked, name = question.question.text, name_estimand(estimate.estimand)
    text = asked if alone else f"{name} · {asked}"
    return ChartRow(
        key=key if alone else f"{key} {estimate.estimand.name}",
        label=textwrap.shorten(f"{key}  {text}", width=LABEL_LENGTH, placeholder=" …"),
        value=summarize(estimate),
        question=asked,
        option=f"{name} {describe_group(estimate)}".rstrip(),
        estimate=None if hidden else estimate.displayed,
        low=None if hidden else estimate.low,
        high=None if hidden else estimate.high,
        low_80=low_80,
        high_80=high_80,
        low_50=low_50,
        high_50=high_50,
        interval=describe_estimate(estimate),
        caution=estimate.reliability is Reliability.CAUTION,
        truth=truth,
    )


def build_specification(results: Results, *, truth: Mapping[str, float] = EMPTY) -> dict[str, Any]:
    """Describe the chart in Vega-Lite; the page renders the same specification interactively."""
    import altair as alt

    rows = build_rows(results, truth=truth)
    chart = (
        alt.layer(
            *_layers(
                has_marks=any(row.estimate is not None for row in rows),
                has_truth=any(row.truth is not None for row in rows),
                whiskers=WHISKERS if results.fixed_end else ALONE,
            )
        )
        .properties(
            # The accessible name; Vega's own would be "Vega visualization".
            description=_describe(results, rows),
            data=alt.InlineData(values=[vars(row) for row in rows]),
            width=WIDTH,
            height=ROW_HEIGHT * len(rows),
            title=_title(
                results,
                has_caution=any(row.caution for row in rows),
                has_truth=bool(truth),
            ),
            background=PAPER,
            padding=16,
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        )
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=MUTED,
            labelFontSize=13,
            titleColor=MUTED,
            titleFontSize=13,
            titleFontWeight="normal",
            titlePadding=10,
            gridColor=LINE,
            domain=False,
            ticks=False,
            labelFlush=False,
        )
    )
    specification: dict[str, Any] = chart.to_dict()
    return specification


def _title(results: Results, *, has_caution: bool, has_truth: bool) -> altair.TitleParams:
    import altair as alt

    sentences = (
        *([REHEARSAL] if results.wave.survey.rehearsal else []),
        f"Estimated shares with 95 % intervals, {_describe_reports(results)}.",
        *describe_intervals(results),
        *([CAUTION] if has_caution else []),
    )
    subtitle = [line for text in sentences for line in textwrap.wrap(text, SUBTITLE_LENGTH)]
    if has_truth:
        subtitle.append("Orange lines: the known truth of the demo.")
    return alt.TitleParams(
        text=textwrap.wrap(results.manifest.title, TITLE_LENGTH, max_lines=2, placeholder=" …"),
        subtitle=subtitle,
        anchor="start",
        fontSize=18,
        fontWeight=600,
        color=INK,
        subtitleFontSize=13,
        subtitleColor=MUTED,
        subtitlePadding=8,
        subtitleLineHeight=18,
        offset=18,
    )


def _describe_reports(results: Results) -> str:
    """Say how many reports there are; if people were asked a part, how many per question."""
    total = results.snapshot.total
    asked = sorted({question.total for question in results.questions})
    if asked[-1:] == asked[:1] == [total] or not asked:
        return f"from {whole(total)} randomized reports"
    ends = " to ".join(dict.fromkeys(whole(number) for number in (asked[0], asked[-1])))
    return f"each question from {ends} of {whole(total)} randomized reports"


def _describe(results: Results, rows: Sequence[ChartRow]) -> str:
    kinds = "95 % intervals, with 80 and 50 % inside" if results.fixed_end else "95 % intervals"
    return (
        f"Chart of {len(rows)} estimated share{'s' if len(rows) != 1 else ''} with {kinds}, on an "
        "axis from 0 to 100 %."
    )


def _layers(*, has_marks: bool, has_truth: bool, whiskers: Sequence[Whisker]) -> list[altair.Chart]:
    import altair as alt

    base = alt.Chart()
    y = alt.Y("key:N", sort=None, axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    x = alt.X(
        "estimate:Q",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(
            title="Share (%)",
            values=[0, 0.2, 0.4, 0.6, 0.8, 1],
            labelExpr="format(datum.value * 100, '.0f')",
        ),
    )
    tooltip = [
        alt.Tooltip("question:N", title="Question"),
        alt.Tooltip("option:N", title="Share"),
        alt.Tooltip("interval:N", title="Estimate"),
    ]
    # Each row has a line of text above and its whisker, on a track, below.
    track = base.mark_rule(color=LINE, yOffset=TRACK).encode(
        x=alt.value(0), x2=alt.value("width"), y=y
    )
    layers = [
        track,
        # Where nothing is shown, the groups of marks are empty and must not be announced.
        *_mark_whiskers(base, y, tooltip, whiskers, aria=has_marks),
        _mark_estimate(base, x, y, tooltip, aria=has_marks),
    ]
    if has_truth:
        layers.insert(-1, _mark_truth(base, y))
    return [*layers, *_texts(base, y)]


def _mark_whiskers(
    base: altair.Chart,
    y: altair.Y,
    tooltip: list[altair.Tooltip],
    whiskers: Sequence[Whisker],
    *,
    aria: bool,
) -> list[altair.Chart]:
    import altair as alt

    return [
        # Butt ends: round ones would reach beyond the interval.
        base.mark_rule(
            strokeWidth=width, color=color, yOffset=TRACK, opacity=1, strokeCap="butt", aria=aria
        )
        .encode(x=alt.X(f"low{end}:Q"), x2=alt.X2(f"high{end}:Q"), y=y, tooltip=tooltip)
        .transform_filter("isValid(datum.low)")
        for end, width, color in whiskers
    ]


def _mark_estimate(
    base: altair.Chart, x: altair.X, y: altair.Y, tooltip: list[altair.Tooltip], *, aria: bool
) -> altair.Chart:
    import altair as alt

    return (
        base.mark_point(size=45, strokeWidth=1.5, yOffset=TRACK, opacity=1, aria=aria)
        .encode(
            x=x,
            y=y,
            fill=alt.condition("datum.caution", alt.value(PAPER), alt.value(ACCENT)),
            stroke=alt.condition("datum.caution", alt.value(ACCENT), alt.value(PAPER)),
            tooltip=tooltip,
        )
        .transform_filter("isValid(datum.estimate)")
    )


def _texts(base: altair.Chart, y: altair.Y) -> list[altair.Chart]:
    """Write the question and numbers of each row side by side, or stacked on a phone."""
    import altair as alt

    def on_phone(narrow: str, wide: str) -> altair.ExprRef:
        return alt.ExprRef(f"width < {PHONE_WIDTH} ? {narrow} : {wide}")

    question = base.encode(x=alt.value(0), y=y, text="label:N")
    numbers = base.encode(x=alt.value(on_phone("0", "width")), y=y, text="value:N")
    label: dict[str, object] = {
        "align": "left",
        "limit": on_phone("width", "width - 135"),
        "yOffset": on_phone("-21", "-12"),
        "color": INK,
    }
    value: dict[str, object] = {
        "align": on_phone("'left'", "'right'"),
        "yOffset": on_phone("-3", "-12"),
        "color": ACCENT,
        "fontWeight": "bold",
    }
    # Each text is rendered twice: first as a paper-coloured outline, which keeps it clear of the
    # grid and is not read aloud.
    rim = {"stroke": PAPER, "strokeWidth": 5, "strokeJoin": "round", "aria": False}
    return [
        chart.mark_text(baseline="middle", fontSize=14, **look)
        for chart, style in ((question, label), (numbers, value))
        for look in ({**style, **rim}, style)
    ]


def _mark_truth(base: altair.Chart, y: altair.Y) -> altair.Chart:
    import altair as alt

    return (
        base.mark_tick(color=WARM, thickness=3, size=26, yOffset=TRACK, opacity=1)
        .encode(
            x="truth:Q",
            y=y,
            tooltip=[
                alt.Tooltip("question:N", title="Question"),
                alt.Tooltip("truth:Q", title="Known truth", format=".1%"),
            ],
        )
        .transform_filter("isValid(datum.truth)")
    )
