"""What can be compared: each answer that some people give and others do not.

A yes/no question is one item; of an option, a point of a scale or an item of "select several"
the Yes is that somebody chose it. Codes are gathered into No, Yes and "did not answer". A number
that was rounded to a bit is an outcome only: its bit says nothing about one person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.joint_counts import count_table
from aggregator.layout import Layout
from privacy.tables import Variable
from surveys.manifest import Manifest, ManifestQuestion, Symbol

NO, YES, NOBODY = 0, 1, 2
CATEGORY_TEXTS = ("No", "Yes", "Did not answer")
ROUNDED_TEXTS = ("Rounded down", "Rounded up", "Did not answer")


@dataclass(frozen=True, kw_only=True)
class Item:
    name: str  # q3, or q5.2 for the code 2 of q5
    number: int
    question: ManifestQuestion
    symbol: Symbol
    place: int  # of the symbol in the manifest
    answer: str  # what Yes means; empty for a yes/no question
    yes: tuple[int, ...]
    no: tuple[int, ...]

    @property
    def is_number(self) -> bool:
        """Whether only its mean in groups can be told."""
        return self.question.is_rounded

    @property
    def label(self) -> str:
        """Q3, or Q5 (Work)."""
        return f"Q{self.number} ({self.answer})" if self.answer else f"Q{self.number}"

    @property
    def text(self) -> str:
        return f"{self.question.text} {self.answer}".rstrip()

    @property
    def is_plain(self) -> bool:
        """Whether every report has a bit for it."""
        return self.symbol.k == 2 and self.yes == (YES,) and not self.is_number

    @property
    def variable(self) -> Variable:
        rest = tuple(sorted(set(range(self.symbol.k)) - {*self.yes, *self.no}))
        return Variable(
            mechanism=self.symbol.mechanism,
            categories=(self.no, self.yes, *([rest] if rest else [])),
            answered=2,
        )


def list_items(manifest: Manifest) -> tuple[Item, ...]:
    """In the order of the survey."""
    return tuple(
        item
        for number, question in enumerate(manifest.questions, start=1)
        if question.is_protected
        for item in _items_of(number, question, manifest)
    )


def _items_of(number: int, question: ManifestQuestion, manifest: Manifest) -> Iterator[Item]:
    places = {symbol.name: place for place, symbol in enumerate(manifest.symbols)}
    for part, symbol, answer, yes, no in _parts(question):
        yield Item(
            name=f"{question.name}.{part}" if part else question.name,
            number=number,
            question=question,
            symbol=manifest.symbols[places[symbol]],
            place=places[symbol],
            answer=answer,
            yes=yes,
            no=no,
        )


def _parts(
    question: ManifestQuestion,
) -> Iterator[tuple[str, str, str, tuple[int, ...], tuple[int, ...]]]:
    """Part of the name, symbol, what Yes means, codes of Yes and of No."""
    own = question.name
    answers = tuple(range(question.answers))
    if question.type == "yes_no" or question.is_rounded:
        yield "", own, "", (1,), (0,)
    elif question.type == "follow_up":
        yield "yes", own, "Yes to the first part", (1, 2), (0,)
        yield "follow_up", own, question.follow_up, (1,), (2,)
    elif question.type == "several":
        for option in question.options:
            yield str(option.code), f"{own}_{option.code}", option.text, (1,), (0,)
    elif question.type == "scale":
        for option in question.options[1:]:
            at_least, below = answers[option.code :], answers[: option.code]
            yield str(option.code), own, f"{option.text} or more", at_least, below
    else:
        for option in question.options:
            others = tuple(code for code in answers if code != option.code)
            yield str(option.code), own, option.text, (option.code,), others


def count_items(
    packed: bytes, *, size: int, layout: Layout, items: Sequence[Item]
) -> NDArray[np.int64]:
    """Count the codes of several items jointly, over the reports that have all of them."""
    masks = list(
        dict.fromkeys(mask for item in items if (mask := layout.masks[item.place]) is not None)
    )
    columns = [*masks, *(layout.places[item.place] for item in items)]
    counts = count_table(packed, size=size, ks=layout.ks, columns=columns)
    drawn: NDArray[np.int64] = counts[(1,) * len(masks)]
    return drawn
