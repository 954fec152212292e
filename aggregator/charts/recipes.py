"""The chart files that a survey has, and how a worker makes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aggregator.charts.comparisons import make_comparison_figure
from aggregator.charts.figure import Figure
from aggregator.charts.formats import render
from aggregator.charts.layout import place
from aggregator.charts.names import ChartName, read_name, read_part
from aggregator.charts.questions import divide_blocks, make_figure
from aggregator.comparisons.standing import find_standing
from aggregator.models import Comparison
from aggregator.renderings.recipes import NotRenderable, Recipe
from aggregator.results.blocks import Block, list_blocks
from aggregator.results.display import Results
from aggregator.simulation.truth import known_truth

# Increase this whenever the same results would give a different picture.
VERSION = 2
_NUMBER = re.compile("[0-9]{1,15}")
NO_FIGURE = (
    "There is no chart of Q{number}: {reason} The chart of all questions gives the same reason."
)
NOT_COUNTED = "its groups are counted after the survey has closed."
TOO_FEW = "too few people were asked it to show a result."


def _find_inputs(results: Results, name: str) -> str | None:
    chart = read_name(name)
    if chart is None:
        return None
    blocks = list_blocks(results)
    parts = divide_blocks(blocks)
    if _find_part(chart, len(parts)) is None:
        block = _find_block(chart, blocks)
        if block is None:
            return None
        _check(block)
    # A chart also depends on whether the survey is a demo or a rehearsal.
    truth = sorted(known_truth(results.wave.survey).items())
    return f"{VERSION} {results.wave.survey.rehearsal} {truth}"


def _render(results: Results, name: str) -> bytes:
    chart = read_name(name)
    assert chart is not None
    blocks = list_blocks(results, truth=known_truth(results.wave.survey))
    parts = divide_blocks(blocks)
    part = _find_part(chart, len(parts))
    if part is not None:
        chosen, place_of = parts[part - 1], (part, len(parts))
    else:
        block = _find_block(chart, blocks)
        assert block is not None
        chosen, place_of = [block], (1, 1)
    figure = make_figure(results, chosen, ends_at_data=chart.ends_at_data, part=place_of)
    return render(place(figure, width_mm=chart.width), file_format=chart.file_format)


def _find_part(chart: ChartName, parts: int) -> int | None:
    """Return the number of the part that a chart shows; return None if its name names no part."""
    part = read_part(chart.subject)
    return part if part is not None and part <= parts else None


def _find_block(chart: ChartName, blocks: Sequence[Block]) -> Block | None:
    return next((block for block in blocks if block.name == chart.subject), None)


def _check(block: Block) -> None:
    if not block.rows:
        reason = NOT_COUNTED if block.is_declared else TOO_FEW
        raise NotRenderable(NO_FIGURE.format(number=block.number, reason=reason))


CHARTS = Recipe(find_inputs=_find_inputs, render=_render)


def _find_comparison(results: Results, chart: ChartName | None) -> Comparison | None:
    if chart is None or not _NUMBER.fullmatch(chart.number):
        return None
    done = results.wave.comparisons.filter(pk=int(chart.number), state=Comparison.State.DONE)
    return done.select_related("wave__survey").first()


def _find_figure(results: Results, name: str) -> Figure | None:
    chart = read_name(name)
    comparison = _find_comparison(results, chart)
    if chart is None or comparison is None:
        return None
    standing = find_standing(comparison)
    return make_comparison_figure(
        comparison, standing, ends_at_data=chart.ends_at_data, part=chart.part
    )


def _find_comparison_inputs(results: Results, name: str) -> str | None:
    found = _find_figure(results, name)
    # The figure contains everything that the chart shows.
    return None if found is None else f"{VERSION} {found}"


def _render_comparison(results: Results, name: str) -> bytes:
    chart, found = read_name(name), _find_figure(results, name)
    assert chart is not None
    assert found is not None
    return render(place(found, width_mm=chart.width), file_format=chart.file_format)


COMPARISON_CHARTS = Recipe(find_inputs=_find_comparison_inputs, render=_render_comparison)
