"""Says what a score gains and loses, compared with a separate question for each item."""

from __future__ import annotations

from collections.abc import Iterator

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.precision import one_report_spread
from surveys.formatting import whole
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.scores import Score

MIDDLE = 0.5  # of the range; a mean there needs the most people


def describe_score_gain(question: ManifestQuestion, *, people: int) -> Iterator[str]:
    """Say what the author gives up, and how many people that saves."""
    score = question.score
    assert score is not None
    items = len(score.items)
    if question.is_second:
        yield "Respondents read what both codes of the scale reveal together."
        if not question.is_rounded:
            yield "Nobody can change the limits after the opening."
        return
    if question.is_rounded:
        apart = whole(round(people * find_people_ratio(question.mechanism, score)))
        yield (
            f"Asked one by one, as {items} scrambled numbers, the items would need about {apart} "
            f"people instead of {whole(people)} for the same mean and the same total ε."
        )
    else:
        what = "are in each band" if question.described.has_options else "reach the cut-off"
        yield (
            f"If each of the {items} items had its own code, results could not show how many "
            f"people {what}."
        )
        yield "Nobody can change the limits after the opening."
    yield (
        "You give up results for single items and reliability coefficients. Items are never sent, "
        "so nobody can compute these figures later."
    )


def find_people_ratio(mechanism: RandomizedResponse, score: Score) -> float:
    """Return how many times as many people are needed if the items are asked apart and share the ε.

    The total's mean is the sum of the items' means, and the code of each item is drawn
    independently.
    """
    items = len(score.items)
    weights = [one.weight for one in score.items]
    parts = RandomizedResponse.from_epsilon(symbols=2, epsilon=mechanism.epsilon / items)
    whole_spread = one_report_spread(share=MIDDLE, mechanism=mechanism)
    spread = one_report_spread(share=MIDDLE, mechanism=parts)
    squares = sum(weight**2 for weight in weights) / sum(weights) ** 2
    return squares * (spread / whole_spread) ** 2
