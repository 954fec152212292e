"""The picture and the text of an interval's width, divided into three parts."""

from __future__ import annotations

import pytest

from aggregator.publishing.spread import draw_spread
from privacy.central.table import SpreadParts, table_standard_error


def parts(people: float, scrambling: float, publication: float) -> SpreadParts:
    total = (people**2 + scrambling**2 + publication**2) ** 0.5
    return SpreadParts(people=people, scrambling=scrambling, publication=publication, total=total)


def test_the_example_of_the_methods_is_drawn_by_variances() -> None:
    # Two coins, n = 1,000, λ = .4, b = 2: parts of .014491377, .027386128 and .004037032, in all
    # .031245762.
    spread = draw_spread(
        table_standard_error(
            share=0.3,
            people=1000,
            mechanism_k=2,
            other_probability=0.25,
            slope=0.5,
            noise_variance=7.835396178,
        ),
    )
    assert [piece.name for piece in spread.pieces] == ["people", "scrambling", "publication"]
    # .00021 / .00097630, .00075 / .00097630, .0000162976 / .00097630
    assert [piece.width for piece in spread.pieces] == ["21.51%", "76.82%", "1.67%"]
    assert [piece.start for piece in spread.pieces] == ["0.00%", "21.51%", "98.33%"]
    assert spread.total == "± 6.1 points"
    assert [piece.text for piece in spread.pieces] == ["± 2.8", "± 5.4", "± 0.8"]
    assert spread.widening == "0.8\N{NO-BREAK SPACE}%"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((3.0, 4.0, 0.1), "less than 0.1\N{NO-BREAK SPACE}%"),
        ((3.0, 4.0, 5.0), "41\N{NO-BREAK SPACE}%"),
        ((0.0, 0.0, 5.0), ""),
        ((0.0, 0.0, 0.0), ""),
    ],
)
def test_the_widening_compares_with_an_interval_without_publication(
    given: tuple[float, float, float], words: str
) -> None:
    assert draw_spread(parts(*given), write=str).widening == words


def test_a_figure_without_any_spread_has_an_empty_bar() -> None:
    spread = draw_spread(parts(0, 0, 0), write=str)
    assert {(piece.width, piece.text) for piece in spread.pieces} == {("0.00%", "none")}
