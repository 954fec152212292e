"""The most that readers can learn from the releases of a survey with protected publication.

All releases of a wave together are (ε, δ)-differentially private about taking part, where ε and δ
are the limits in the wave's manifest. These limits bound what releases can reveal about one answer,
whichever releases are made. The releases actually made reveal no more than the bounds here
(aggregator/releases/readers.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log, log1p

from privacy.central.composition import group_delta
from privacy.central.reader import reader_epsilon, reader_epsilon_by_distance
from privacy.mechanism.accounting import round_up_sum
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.manifest import HUNDREDTHS, NANOS, Manifest
from surveys.manifest.questions import ManifestQuestion


@dataclass(frozen=True, kw_only=True)
class Loss:
    epsilon: float
    delta: float = 0.0

    @property
    def guess_epsilon(self) -> float:
        """The ε with which, without δ, a guess would be right equally often."""
        return log(exp(self.epsilon) + self.delta) - log1p(-self.delta)

    @property
    def replaced(self) -> Loss:
        """The loss about which of two reports a person sent, given this loss about taking part.

        Replacing a report means removing one and adding another, so ε doubles.
        """
        return Loss(
            epsilon=2 * self.epsilon,
            delta=group_delta(epsilon=self.epsilon, delta=self.delta, people=2),
        )


@dataclass(frozen=True, kw_only=True)
class WorstReader:
    """The largest losses about any scrambled answer, in nats, to a reader and to the server.

    `question` is the one that a reader can learn most about, and `loss` is the reader's loss.
    """

    reader: float
    server: float
    question: ManifestQuestion
    loss: Loss


def find_taking_part(manifest: Manifest) -> Loss:
    """Return what all releases together may reveal about whether a person took part."""
    assert manifest.release_epsilon_hundredths is not None
    assert manifest.release_delta_nanos is not None
    return Loss(
        epsilon=manifest.release_epsilon_hundredths / HUNDREDTHS,
        delta=manifest.release_delta_nanos / NANOS,
    )


def find_replaced(manifest: Manifest) -> Loss:
    """Return what all releases together may reveal about which of two reports a person sent.

    The same bound holds for an answer that is sent unscrambled.
    """
    return find_taking_part(manifest).replaced


def find_answered(manifest: Manifest, question: ManifestQuestion) -> Loss:
    """Return what a reader of releases can learn about the answer to one question.

    This includes what the codes of dependent questions and of questions about the same fact
    reveal. The result is the smallest of four bounds, each of which is valid on its own.

    1. Replace the codes that depend on the answer one after another. The reader's ε of these codes
       add up (docs/methods/releases.md has the proof for δ).
    2. The joint distributions of these codes under two answers differ in total variation by at
       most the sum of the slopes.
    3. Replace the whole report.
    4. Readers see only what is computed from the codes on the server, so the server's ε bounds the
       reader's.
    """
    replaced = find_replaced(manifest)
    if question.is_declared:
        return replaced
    slopes = _add_telling(manifest, question, lambda mechanism: mechanism.slope)
    several = _add_telling(
        manifest,
        question,
        lambda mechanism: reader_epsilon(mechanism=mechanism, epsilon=replaced.epsilon),
    )
    apart = reader_epsilon_by_distance(distance=min(1.0, slopes), epsilon=replaced.epsilon)
    bounds = (
        # Each step adds at most δ times its slope, multiplied by e^ε of the previous steps.
        Loss(epsilon=several, delta=min(1.0, replaced.delta * slopes * exp(min(several, 700.0)))),
        Loss(epsilon=apart, delta=replaced.delta),
        replaced,
        Loss(epsilon=manifest.statement_epsilon(question)),
    )
    return min(bounds, key=lambda bound: (bound.epsilon, bound.delta))


def worst_reader(manifest: Manifest) -> WorstReader | None:
    """Find the scrambled answer that readers can learn most about, if there is any."""
    scrambled = [one for one in manifest.questions if one.is_scrambled]
    if not scrambled:
        return None
    losses = [find_answered(manifest, one) for one in scrambled]
    place = max(range(len(losses)), key=lambda one: losses[one].epsilon)
    return WorstReader(
        reader=losses[place].epsilon,
        server=max(manifest.statement_epsilon(one) for one in scrambled),
        question=scrambled[place],
        loss=losses[place],
    )


def _add_telling(
    manifest: Manifest,
    question: ManifestQuestion,
    measure: Callable[[RandomizedResponse], float],
) -> float:
    """Add up a measure over all codes that reveal something about one answer, rounded up.

    Only the codes that one person can send are counted, and the largest sum is returned.
    """
    added = {
        one.name: round_up_sum("codes", one.list_differing(lambda code: measure(code.mechanism)))
        for one in manifest.telling(question)
    }
    return round_up_sum("questions", manifest.pick_drawn(added))
