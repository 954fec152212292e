"""Random scales, as authors write them and as manifests have them."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from privacy.mechanism.drawing import SCALE
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
    return content | draw_output(score, output=content["output"])


def draw_output(score: Score, *, output: str) -> dict[str, Any]:
    """Return what an author types for an output of this scale."""
    middle = (score.minimum + score.maximum + 1) // 2
    if output == Output.BANDS:
        ends = (score.minimum, middle - 1), (middle, score.maximum)
        return {"options": [f"{low} to {high} Band" for low, high in ends]}
    return {"cut_off": middle} if output == Output.CUT_OFF else {}


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
    return replace(scale, bounds=draw_bounds(random, scale, output=output))


def draw_bounds(random: Random, scale: Score, *, output: Output) -> tuple[int, ...]:
    most = min(5, scale.maximum - scale.minimum)
    bounds = {Output.TOTAL: 0, Output.CUT_OFF: 1}.get(output) or random.randint(1, most)
    totals = range(scale.minimum + 1, scale.maximum + 1)
    return () if output == Output.TOTAL else tuple(sorted(random.sample(totals, bounds)))


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


def draw_pair(
    random: Random,
    *,
    names: tuple[str, str],
    outputs: tuple[Output, Output] | None = None,
    **content: Any,
) -> list[ManifestQuestion]:
    """Make the two questions that carry two codes of one scale."""
    chosen = outputs or tuple(random.sample(list(Output), 2))
    scale = draw_score(random)
    pair: list[ManifestQuestion] = []
    for name, output in zip(names, chosen, strict=True):
        bounds = draw_bounds(random, scale, output=output)
        of = names[0] if pair else ""
        more = {"same_fact": of, "text": "In words"} if pair else {}
        score = replace(scale, bounds=bounds, of=of)
        pair.append(carry(score, output, name=name, **content | more))
    return pair


def chances(question: ManifestQuestion, answer: int | None) -> list[float]:
    """Return the probability of each code for a true total or code; None is a refusal."""
    t = question.mechanism.threshold / SCALE
    others = (1 - t) / (question.k - 1)
    if answer is None:
        assert question.refused_code is not None
        answer = question.refused_code
        truths = {answer: 1.0}
    elif question.is_rounded:
        assert question.minimum is not None
        assert question.maximum is not None
        # The probability is a multiple of 2**-32, as both randomizers round it.
        up = SCALE * (answer - question.minimum) // (question.maximum - question.minimum) / SCALE
        truths = {0: 1 - up, 1: up}
    else:
        truths = {answer: 1.0}
    return [
        sum(share * (t if code == truth else others) for truth, share in truths.items())
        for code in range(question.k)
    ]
