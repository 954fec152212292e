"""The second promise limits what readers of releases can learn about one person's answers.

The server has every scrambled report, and its ε does not change. A reader has only releases. The
losses of all releases are added up first, because they describe the same scrambled report. Their
sum then passes through the scrambling once (section "Epsilon for readers" of
docs/methods/releases.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, fsum, inf

from aggregator.models import Release
from privacy.central.composition import round_up_fraction, zcdp_epsilon
from privacy.central.reader import (
    exact_count_epsilon,
    reader_epsilon,
    reader_epsilon_by_distance,
)
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.mechanism.shuffling import shuffle_epsilon
from surveys.manifest.manifest import HUNDREDTHS, NANOS, Manifest
from surveys.manifest.questions import ManifestQuestion, Symbol
from surveys.manifest.readers import find_answered
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.manifest.rules import leaves
from surveys.releasing.alerts import find_target
from surveys.releasing.noise import Mechanism, count_most_symbols, list_symbols

# The δ at which the ε of exact results is stated.
EXACT_DELTA_NANOS = 1000
MOST_HONEST = 2000


@dataclass(frozen=True, kw_only=True)
class ReaderLine:
    """What readers and the server can learn about the answer to one question, in nats.

    Both values include questions that depend on this question or ask for the same fact. `server` is
    infinite for an answer that was sent unscrambled. `reader` holds with `delta` added to every
    probability.
    """

    question: ManifestQuestion
    reader: float
    server: float
    delta: float


@dataclass(frozen=True, kw_only=True)
class _Loss:
    """What releases reveal about one symbol, measured by replacing its code in a report."""

    epsilon: float = 0.0
    rho: float = 0.0  # of Gaussian noise

    def __add__(self, other: _Loss) -> _Loss:
        return _Loss(epsilon=self.epsilon + other.epsilon, rho=self.rho + other.rho)

    def __mul__(self, symbols: int) -> _Loss:
        """Return the loss if the codes of several symbols are replaced together."""
        return _Loss(epsilon=self.epsilon * symbols, rho=self.rho * symbols)

    def total(self, delta: float) -> float:
        """Return an ε that holds with `delta` added to every probability."""
        return self.epsilon + (_zcdp(self.rho, delta) if self.rho else 0.0)


def reader_epsilons(manifest: Manifest, releases: Iterable[Release]) -> tuple[ReaderLine, ...]:
    """List what readers of all these releases can learn about each answer that they use.

    Only the fields that determine the noise are read, so a release need not be drawn or stored.
    """
    made = tuple(releases)
    losses = _add_losses(manifest, made)
    lines = (
        _write_line(manifest, question, made, losses)
        for question in manifest.questions
        if question.is_answered
    )
    return tuple(line for line in lines if line.reader > 0)


def promised_epsilons(manifest: Manifest) -> tuple[ReaderLine, ...]:
    """List what readers can learn about every answer, however the whole cap is spent."""
    lines = []
    for question in manifest.questions:
        if question.is_answered:
            found = find_answered(manifest, question)
            server = manifest.statement_epsilon(question) if question.is_scrambled else inf
            lines.append(
                ReaderLine(
                    question=question, reader=found.epsilon, server=server, delta=found.delta
                )
            )
    return tuple(lines)


def find_worst(lines: Sequence[ReaderLine]) -> ReaderLine | None:
    """Find the line of the answer that readers learn most about, or None if there are no lines."""
    return max(lines, key=lambda line: line.reader, default=None)


def _add_losses(manifest: Manifest, releases: Sequence[Release]) -> Mapping[str, _Loss]:
    losses: dict[str, _Loss] = defaultdict(_Loss)
    for release in releases:
        for name, loss in _list_losses(manifest, release):
            losses[name] += loss
    return losses


def _list_losses(manifest: Manifest, release: Release) -> Iterator[tuple[str, _Loss]]:
    """List the loss about each symbol if only its code is replaced."""
    request = ReleaseRequest.from_json(release.request)
    for symbol in list_symbols(manifest, request.questions):
        if (
            request.kind == ReleaseKind.ALERT
            and symbol.name != find_target(request, manifest).symbol.name
        ):
            continue
        yield symbol.name, _find_loss(release, is_item=symbol.item is not None)
    if request.group:
        # Changing the group moves the code of every symbol of the table.
        moved = count_most_symbols(manifest, request.questions)
        yield request.group, _find_loss(release, is_item=False) * moved


def _find_loss(release: Release, *, is_item: bool) -> _Loss:
    scale = Fraction(release.scale)
    if release.mechanism == Mechanism.SPARSE_VECTOR:
        # Replacing a report changes the distance by one, just as adding a report does.
        return _Loss(epsilon=release.epsilon_hundredths / HUNDREDTHS)
    if release.mechanism == Mechanism.LAPLACE:
        return _Loss(epsilon=float(2 / scale))  # two cells change by one
    if release.mechanism == Mechanism.GAUSSIAN:
        return _Loss(rho=float(1 / scale**2))  # Δ₂² = 2, and ρ = Δ₂² / (2 σ²)
    # Replacing a code removes one report and adds one. An item has one count, of Yes, which changes
    # by one; the other items do not change.
    one = release.epsilon_hundredths / HUNDREDTHS
    return _Loss(epsilon=one if is_item else 2 * one)


def _write_line(
    manifest: Manifest,
    question: ManifestQuestion,
    releases: Sequence[Release],
    losses: Mapping[str, _Loss],
) -> ReaderLine:
    telling = manifest.telling(question)
    symbols = list_symbols(manifest, [one.name for one in telling])
    names = {each.name for each in telling}
    involved = [one for one in releases if _is_about(one, names)]
    noisy = sum(losses[symbol.name].rho > 0 for symbol in symbols if symbol.name in losses)
    delta = sum(release.delta_nanos for release in involved) / NANOS if noisy else 0.0
    # Releases about different symbols are independent, so their δ add up, and each gets an equal
    # part.
    part = delta / noisy if noisy else 0.0

    def own(one: ManifestQuestion) -> float:
        return _add(
            one.list_differing(
                lambda code: _pass_scrambling(losses.get(code.name, _Loss()), code, delta=part)
            )
        )

    server = manifest.statement_epsilon(question) if question.is_scrambled else inf
    summed = add_up(manifest, telling, own)
    # For figures from several symbols at once, replace the codes one after the other. Each step
    # adds its part of δ, multiplied by e^ε of the steps before it.
    joins = delta and any(_joins_items(one, manifest, names) for one in involved)
    bounds = [
        (server, 0.0),
        (_bound_together(telling, involved, delta=delta), delta),
        (summed, min(1.0, delta * exp(min(summed, 700.0))) if joins else delta),
    ]
    if delta:
        # The manifest's promise covers all releases together. Without δ, this bound is never the
        # smallest.
        promised = find_answered(manifest, question)
        bounds.append((promised.epsilon, promised.delta))
    reader, added = min(bounds)
    return ReaderLine(question=question, reader=reader, server=server, delta=added)


def _pass_scrambling(loss: _Loss, symbol: Symbol, *, delta: float) -> float:
    """Return the part of a symbol's loss that remains for the true answer.

    This also holds with δ. If r is the reader's ε, the δ about the answer is at most δ (t − e^r c),
    which is less than δ.
    """
    epsilon = loss.total(delta)
    if epsilon == 0 or symbol.threshold is None:
        return epsilon
    return reader_epsilon(mechanism=symbol.mechanism, epsilon=epsilon)


def _bound_together(
    telling: Sequence[ManifestQuestion], releases: Sequence[Release], *, delta: float
) -> float:
    """Bound the loss, using the losses of whole releases and the distance between two reports.

    Replacing a report removes one report and adds another, so pure losses double. A replaced code
    moves two cells of each symbol, so squared sensitivities of Gaussian noise also double.
    """
    gaussian = [one for one in releases if one.mechanism == Mechanism.GAUSSIAN]
    pure = [one for one in releases if one.mechanism != Mechanism.GAUSSIAN]
    rho = fsum(2 * (release.rho or 0.0) for release in gaussian)
    loss = _Loss(
        epsilon=2 * sum(release.epsilon_hundredths for release in pure) / HUNDREDTHS, rho=rho
    ).total(delta)
    return reader_epsilon_by_distance(distance=_find_distance(telling), epsilon=loss)


def _find_distance(questions: Sequence[ManifestQuestion]) -> float:
    """Bound the total-variation distance between two people's reports on these questions."""
    if any(question.is_declared for question in questions):
        return 1.0
    slopes = (_add(one.list_differing(lambda code: code.mechanism.slope)) for one in questions)
    return min(1.0, fsum(slopes))


def add_up(
    manifest: Manifest,
    questions: Sequence[ManifestQuestion],
    own: Callable[[ManifestQuestion], float],
) -> float:
    """Add up the losses of these questions; for random subsets, find the largest possible sum."""
    return _add(manifest.pick_drawn({one.name: own(one) for one in questions}))


def _add(values: Sequence[float]) -> float:
    """Add up values exactly, so that no sum is rounded down and 0.25 + 0.25 is 0.5."""
    return round_up_fraction("values", sum(map(Fraction, values), Fraction(0)))


def _joins_items(release: Release, manifest: Manifest, names: set[str]) -> bool:
    """Return whether a figure comes from several symbols, so that their δ would not add up."""
    request = ReleaseRequest.from_json(release.request)
    is_choice = release.mechanism == Mechanism.PERMUTE_AND_FLIP
    several = is_choice and len(list_symbols(manifest, request.questions)) > 1
    return several or request.group in names  # a cell refers to a code and a group


def _is_about(release: Release, names: set[str]) -> bool:
    request = ReleaseRequest.from_json(release.request)
    return not names.isdisjoint((*request.questions, request.group))


@lru_cache(maxsize=1024)
def _zcdp(rho: float, delta: float) -> float:
    return zcdp_epsilon(rho=rho, delta=delta)


def exact_reader_epsilons(manifest: Manifest) -> tuple[ReaderLine, ...]:
    """List what readers of exact results can learn about each answer.

    Exact counts hide one scrambled report among the others. The number of honest reports is assumed
    to be at least the frozen display minimum, or `MOST_HONEST` if that is less. Questions that a
    rule or a gate ties to others are estimated from joint counts, which do not hide the report. The
    bound does not hold if anyone publishes rows.
    """
    tied = _find_tied(manifest)
    published = {one.name for one in manifest.questions if manifest.is_for_everyone(one)}

    def line(question: ManifestQuestion) -> ReaderLine:
        telling = [one for one in manifest.telling(question) if one.name in published]
        symbols = sum(one.differing_codes for one in telling if one.name not in tied)
        delta = EXACT_DELTA_NANOS / NANOS
        part = delta / symbols if symbols else delta

        def own(one: ManifestQuestion) -> float:
            if one.name in tied:
                return one.epsilon
            people = count_honest(manifest)
            return _add(one.list_differing(lambda code: _hide(code.mechanism, people, part)))

        server = manifest.statement_epsilon(question)
        reader = add_up(manifest, telling, own)
        if reader >= server or not symbols:
            return ReaderLine(question=question, reader=server, server=server, delta=0.0)
        return ReaderLine(question=question, reader=reader, server=server, delta=delta)

    return tuple(
        line(question)
        for question in manifest.questions
        if question.is_scrambled and question.name in published
    )


def count_honest(manifest: Manifest) -> int:
    """Return how many honest reports hide one report, as stated for exact results.

    Fewer reports hide less, so the bound also holds for more reports. For millions of reports, it
    would take seconds to compute.
    """
    return min(manifest.display_minimum, MOST_HONEST)


def _find_tied(manifest: Manifest) -> frozenset[str]:
    """Name the questions that are estimated from counts of several symbols together."""
    tied = set()
    asked_by = {
        name: one.name for one in manifest.questions for name in (one.name, *one.answer_names)
    }
    for question in manifest.questions:
        if question.rule or question.has_gate:
            tied.add(question.name)
        tied |= {asked_by[leaf["name"]] for leaf in leaves(question.rule or {})}
    return frozenset(tied)


@lru_cache(maxsize=256)
def _hide(mechanism: RandomizedResponse, people: int, delta: float) -> float:
    find = exact_count_epsilon if mechanism.symbols == 2 else shuffle_epsilon
    return find(mechanism=mechanism, people=people, delta=delta)
