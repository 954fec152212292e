"""The kinds of chart files: which there are for a survey, and how a worker makes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aggregator.charts.formats import render
from aggregator.charts.layout import place
from aggregator.charts.names import ChartName, read_name
from aggregator.charts.questions import divide, make_figure
from aggregator.renderings.recipes import NotRenderable, Recipe
from aggregator.results.blocks import Block, list_blocks
from aggregator.results.display import Results
from aggregator.simulation.truth import known_truth

# Increased whenever the same results give another picture.
VERSION = 1
_PART = re.compile("part([2-9]|[1-9][0-9])")
NO_FIGURE = "There is no chart of Q{number}: {reason} The chart of all questions says so too."
NOT_COUNTED = "its groups are counted after the survey has closed."
TOO_FEW = "too few people were asked it to show a result."


def _find_inputs(results: Results, name: str) -> str | None:
    chart = read_name(name)
    if chart is None:
        return None
    blocks = list_blocks(results)
    parts = divide(blocks)
    if _find_part(chart, len(parts)) is None:
        block = _find_block(chart, blocks)
        if block is None:
            return None
        _check(block)
    # What decides that a survey is a demo or a rehearsal, besides the results.
    truth = sorted(known_truth(results.wave.survey).items())
    return f"{VERSION} {results.wave.survey.rehearsal} {truth}"


def _render(results: Results, name: str) -> bytes:
    chart = read_name(name)
    assert chart is not None
    blocks = list_blocks(results, truth=known_truth(results.wave.survey))
    parts = divide(blocks)
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
    """Return which part of all questions a chart shows; None if it shows one question."""
    if chart.stem == "chart":
        return 1 if parts else None
    found = _PART.fullmatch(chart.subject)
    return int(found[1]) if found and int(found[1]) <= parts else None


def _find_block(chart: ChartName, blocks: Sequence[Block]) -> Block | None:
    return next((block for block in blocks if block.name == chart.subject), None)


def _check(block: Block) -> None:
    if not block.rows:
        reason = NOT_COUNTED if block.is_declared else TOO_FEW
        raise NotRenderable(NO_FIGURE.format(number=block.number, reason=reason))


CHARTS = Recipe(find_inputs=_find_inputs, render=_render)
