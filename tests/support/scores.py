"""Random scales, as authors write them and as manifests have them."""

from __future__ import annotations

from random import Random
from typing import Any

from surveys.manifest.questions import ManifestQuestion, Option, fixed_options, with_strength
from surveys.manifest.scores import CARRIERS, Output, Score, ScoredItem, ScoredOption


def draw_scale(random: Random) -> dict[str, Any]:
    """Draw what an author types, as the content of a draft's question."""
    score = draw_score(random)
    content: dict[str, Any] = {
        "scored_items": [
            one.text + " | reversed" * one.reversed + f" | ×{one.weight}" * (one.weight > 1)
            for one in score.items
        ],
        "scored_options": [f"{one.value} {one.text}" for one in score.options],
        "output": random.choice(Output.values),
    }
    middle = (score.minimum + score.maximum + 1) // 2
    if content["output"] == Output.BANDS:
        ends = (score.minimum, middle - 1), (middle, score.maximum)
        content["options"] = [f"{low} to {high} Band" for low, high in ends]
    if content["output"] == Output.CUT_OFF:
        content["cut_off"] = middle
    return content


def draw_score(random: Random, *, output: Output = Output.TOTAL) -> Score:
    """Draw a scale with gaps, negative values, weights and reversed items."""
    values = random.sample(range(-5, 12), random.randint(2, 6))
    scale = Score(
        items=tuple(
            ScoredItem(
                text=f"Item {number}",
                weight=random.choice((1, 1, 1, 2, 7)),
                reversed=random.random() < 0.3,
            )
            for number in range(random.randint(2, 30))
        ),
        options=tuple(ScoredOption(text=f"Answer {value}", value=value) for value in values),
    )
    most = min(5, scale.maximum - scale.minimum)
    bounds = {Output.TOTAL: 0, Output.CUT_OFF: 1}.get(output) or random.randint(1, most)
    totals = range(scale.minimum + 1, scale.maximum + 1)
    chosen = [] if output == Output.TOTAL else sorted(random.sample(totals, bounds))
    return Score(items=scale.items, options=scale.options, bounds=tuple(chosen))


def carry(score: Score, output: Output, *, flips: int = 25, **content: Any) -> ManifestQuestion:
    """Make the question that carries a score."""
    options = {
        Output.TOTAL: (),
        Output.BANDS: tuple(
            Option(code=code, text=f"Band {code}") for code in range(len(score.bounds) + 1)
        ),
        Output.CUT_OFF: fixed_options("yes_no"),
    }[output]
    has_total = output == Output.TOTAL
    question = ManifestQuestion(
        **{"name": "", "text": "Lately …"} | content,
        type=CARRIERS[output],
        options=options,
        minimum=score.minimum if has_total else None,
        maximum=score.maximum if has_total else None,
        score=score,
    )
    return with_strength(question, flips=flips)
