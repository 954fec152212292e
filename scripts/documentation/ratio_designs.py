"""Questions whose figures are ratios: reported and true combinations of codes.

Codes that a figure does not distinguish are merged. The first true combination is the event, and
the second is everything else that is counted. Each design's docstring lists its true combinations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacy.checks import Floats
from privacy.mechanism.mechanisms import RandomizedResponse


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """The channel from true to reported combinations, and the strongest symbol's epsilon."""

    channel: Floats  # (reported, true)
    epsilon: float
    asked: NDArray[np.bool_]  # (true,)

    def report(self, truth: Sequence[float]) -> Floats:
        reported: Floats = self.channel @ np.array(truth)
        return reported


def describe(channel: Floats, *, asked: int, epsilon: float) -> Design:
    """Return a design whose first `asked` true combinations are those of people who are asked."""
    return Design(channel=channel, epsilon=epsilon, asked=np.arange(channel.shape[1]) < asked)


def gather(*, sizes: Sequence[int], epsilon: float) -> Floats:
    """Return the channel of a question whose codes fall into groups of these sizes."""
    mechanism = RandomizedResponse.from_epsilon(symbols=sum(sizes), epsilon=epsilon)
    c, d = mechanism.other_probability, mechanism.slope
    groups = len(sizes)
    channel: Floats = c * np.array(sizes, dtype=np.float64)[:, None] + d * np.eye(groups)
    return channel


def join(*questions: tuple[Floats, Sequence[int]]) -> Floats:
    """Return the joint channel, given each question's channel and its group in each true cell."""
    columns = []
    for groups in zip(*(groups for _, groups in questions), strict=True):
        column: Floats = np.ones(1)
        for (channel, _), group in zip(questions, groups, strict=True):
            column = np.asarray(np.kron(column, channel[:, group]), dtype=np.float64)
        columns.append(column)
    return np.stack(columns, axis=1)


def refusable(*, answers: int, epsilon: float) -> Design:
    """Return a question alone. Combinations: the answer, the others, "prefers not to say"."""
    return describe(gather(sizes=[1, answers - 1, 1], epsilon=epsilon), asked=3, epsilon=epsilon)


def follow_up(*, answers: int, epsilon: float) -> Design:
    """Return a question asked after Yes. Combinations: the answer, the others, "not asked"."""
    parent = gather(sizes=[1, 1], epsilon=epsilon)
    child = gather(sizes=[1, answers - 1, 1], epsilon=epsilon)
    return describe(join((parent, [0, 0, 1]), (child, [0, 1, 2])), asked=2, epsilon=epsilon)


def refusable_follow_up(*, answers: int, epsilon: float) -> Design:
    """Return a refusable follow-up: the answer, the others, "prefers not to say", "not asked"."""
    parent = gather(sizes=[1, 1], epsilon=epsilon)
    child = gather(sizes=[1, answers - 1, 1, 1], epsilon=epsilon)
    return describe(join((parent, [0, 0, 0, 1]), (child, [0, 1, 2, 3])), asked=3, epsilon=epsilon)


def after_two(*, answers: int, epsilon: float) -> Design:
    """Return a question asked after two Yes: the answer, the others, Yes-No, No-Yes, No-No."""
    parent = gather(sizes=[1, 1], epsilon=epsilon)
    child = gather(sizes=[1, answers - 1, 1], epsilon=epsilon)
    both = (parent, [0, 0, 0, 1, 1]), (parent, [0, 0, 1, 0, 1])
    return describe(join(*both, (child, [0, 1, 2, 2, 2])), asked=2, epsilon=epsilon)


def gated_item(*, epsilon: float) -> Design:
    """Return a "select several" item: chosen, not chosen, "prefers not to say", "not asked"."""
    gate = gather(sizes=[1, 1, 1], epsilon=epsilon)
    item = gather(sizes=[1, 1], epsilon=epsilon)
    return describe(join((gate, [0, 0, 1, 2]), (item, [0, 1, 1, 1])), asked=3, epsilon=epsilon)


def scale_follow_up(*, points: int, epsilon: float) -> Design:
    """Return a scale asked after Yes to its parent. Combinations: each point, and "not asked"."""
    parent = gather(sizes=[1, 1], epsilon=epsilon)
    child = gather(sizes=[1] * (points + 1), epsilon=epsilon)
    true = list(range(points + 1))
    return describe(
        join((parent, [0] * points + [1]), (child, true)), asked=points, epsilon=epsilon
    )


def refusable_scale(*, points: int, epsilon: float) -> Design:
    """Return a scale alone. Combinations: each point, and "prefers not to say"."""
    return describe(
        gather(sizes=[1] * (points + 1), epsilon=epsilon), asked=points + 1, epsilon=epsilon
    )
