"""Chooses the noise of a release, and finds what the release spends.

A plan follows from the request, the manifest and the ledger alone, never from the answers, because
choices that depend on answers would reveal something about them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from django.db.models import TextChoices

from privacy.central.above_threshold import above_threshold_scales
from privacy.central.calibration import choose_table_noise
from privacy.central.composition import pure_rho
from privacy.central.key_driver import FACTOR as RULE_FACTOR
from privacy.central.median import FACTOR, scaled_sensitivity
from privacy.central.noise import discrete_gaussian_variance, discrete_laplace_variance
from privacy.central.selection import selection_bound
from privacy.central.table import least_people
from privacy.level import LEVEL
from privacy.mechanism.drawing import SCALE
from surveys.manifest.manifest import HUNDREDTHS, NANOS, Manifest, largest_release_delta
from surveys.manifest.questions import ManifestQuestion, Symbol
from surveys.manifest.releases import ReleaseKind, ReleaseRequest

KEY_DRIVER_DRAWS = 2


class Mechanism(TextChoices):
    LAPLACE = "laplace", "Discrete Laplace"
    GAUSSIAN = "gaussian", "Discrete Gaussian"
    PERMUTE_AND_FLIP = "permute-and-flip", "Permute-and-flip"
    SPARSE_VECTOR = "sparse-vector", "Sparse vector"


@dataclass(frozen=True, kw_only=True)
class ReleasePlan:
    """The noise of a release, and what it spends for one report added or removed."""

    mechanism: Mechanism
    # For Laplace noise, the scale is b. For Gaussian noise, it is the standard deviation. For
    # permute-and-flip, it is the scale of the exponential noise. For a sparse vector, it is b of
    # the noise of a look; the noise of the threshold has half this b.
    scale: Fraction
    # How far one report moves the counts: the sum of changes (Laplace), the sum of their squares
    # (Gaussian), or the largest change of a score.
    sensitivity: int
    epsilon_hundredths: int
    delta_nanos: int
    rho: float | None
    # Whether one report moves all scores in the same direction, in which case a choice needs only
    # half as much noise.
    is_monotone: bool = True
    # A key driver needs two draws, a choice and then its table, each with half of ε.
    draws: int = 1

    @property
    def epsilon_each(self) -> Fraction:
        """The ε that each draw spends."""
        return Fraction(self.epsilon_hundredths, HUNDREDTHS * self.draws)


def list_symbols(manifest: Manifest, questions: Sequence[str]) -> tuple[Symbol, ...]:
    """List the symbols of these questions, in the manifest's order."""
    return tuple(symbol for symbol in manifest.symbols if symbol.question in questions)


def count_most_symbols(manifest: Manifest, questions: Sequence[str]) -> int:
    """Return the largest number of symbols of these questions in one report.

    If each person is asked only some blocks, count the blocks with the most symbols.
    """
    symbols = Counter(symbol.question for symbol in list_symbols(manifest, questions))
    return int(sum(manifest.pick_drawn(symbols)))


def plan_release(
    request: ReleaseRequest, manifest: Manifest, *, delta_nanos_left: int
) -> ReleasePlan:
    """Choose the noise for a request that has been checked; may raise NotReleasable."""
    if request.kind == ReleaseKind.TABLE:
        return _plan_table(request, manifest, delta_nanos=delta_nanos_left)
    if request.kind == ReleaseKind.LEADER:
        return _plan_choice(request, sensitivity=1, is_monotone=True)
    if request.kind == ReleaseKind.ALERT:
        return _plan_alert(request)
    if request.kind == ReleaseKind.KEY_DRIVER:
        return _plan_choice(
            request, sensitivity=RULE_FACTOR, is_monotone=True, draws=KEY_DRIVER_DRAWS
        )
    (question,) = (one for one in manifest.questions if one.name in request.questions)
    sensitivity = scaled_sensitivity(
        question.answers, other_probability=find_other_probability(question)
    )
    return _plan_choice(request, sensitivity=sensitivity, is_monotone=False)


def find_other_probability(question: ManifestQuestion) -> Fraction:
    """Return the exact probability of each code other than the true one."""
    mechanism = question.mechanism
    return Fraction(SCALE - mechanism.threshold, SCALE * (mechanism.symbols - 1))


def _plan_table(request: ReleaseRequest, manifest: Manifest, *, delta_nanos: int) -> ReleasePlan:
    symbols = count_most_symbols(manifest, request.questions)
    noise = choose_table_noise(
        symbols=symbols,
        epsilon=Fraction(request.epsilon_hundredths, HUNDREDTHS),
        delta=delta_nanos / NANOS if is_delta_small(delta_nanos, manifest) else 0,
    )
    mechanism = Mechanism(noise.mechanism)
    return ReleasePlan(
        mechanism=mechanism,
        scale=noise.scale,
        sensitivity=symbols,
        epsilon_hundredths=request.epsilon_hundredths,
        # The first table that benefits takes the whole remaining δ.
        delta_nanos=delta_nanos if mechanism == Mechanism.GAUSSIAN else 0,
        rho=noise.rho,
    )


def is_delta_small(nanos: int, manifest: Manifest) -> bool:
    """Return whether δ times the number of people whom the author expects is at most a tenth.

    The exact number must not decide which noise readers see, so the expected number is used.
    """
    people = manifest.people_expected
    return not people or nanos <= largest_release_delta(people)


def plan_table_of_choice(plan: ReleasePlan) -> ReleasePlan:
    """Plan the second draw of a key driver: the noise on the cells of the rule that was chosen.

    One report adds 1 to one cell. Measured in reports, the noise has the same scale as in the
    choice.
    """
    return replace(
        plan, mechanism=Mechanism.LAPLACE, scale=plan.scale / plan.sensitivity, sensitivity=1
    )


def _plan_choice(
    request: ReleaseRequest, *, sensitivity: int, is_monotone: bool, draws: int = 1
) -> ReleasePlan:
    """Plan permute-and-flip, with half the noise if one report moves all scores the same way."""
    factor = sensitivity if is_monotone else 2 * sensitivity
    return ReleasePlan(
        mechanism=Mechanism.PERMUTE_AND_FLIP,
        scale=Fraction(factor * HUNDREDTHS * draws, request.epsilon_hundredths),
        sensitivity=sensitivity,
        epsilon_hundredths=request.epsilon_hundredths,
        delta_nanos=0,
        rho=draws * pure_rho(Fraction(request.epsilon_hundredths, HUNDREDTHS * draws)),
        is_monotone=is_monotone,
        draws=draws,
    )


def _plan_alert(request: ReleaseRequest) -> ReleasePlan:
    epsilon = Fraction(request.epsilon_hundredths, HUNDREDTHS)
    _, of_looks = above_threshold_scales(epsilon)
    return ReleasePlan(
        mechanism=Mechanism.SPARSE_VECTOR,
        scale=of_looks,
        sensitivity=1,
        epsilon_hundredths=request.epsilon_hundredths,
        delta_nanos=0,
        rho=pure_rho(epsilon),
    )


def plan_all(manifest: Manifest) -> list[ReleasePlan]:
    """Choose the noise of all planned releases, in the order in which they are charged."""
    plans: list[ReleasePlan] = []
    left = manifest.release_delta_nanos or 0
    for request in manifest.planned_releases or ():
        plans.append(plan_release(request, manifest, delta_nanos_left=left))
        left -= plans[-1].delta_nanos
    return plans


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The noise of each cell of a table; a symbol's noisy sum must be at least `least`."""

    variance: float
    least: int

    @classmethod
    def of(cls, mechanism: str, scale: Fraction) -> Noise:
        """Describe the noise of a table by its mechanism and scale."""
        if mechanism == Mechanism.GAUSSIAN:
            return cls(
                variance=discrete_gaussian_variance(variance=scale**2),
                least=least_people(scale=scale, mechanism="gaussian"),
            )
        return cls(variance=discrete_laplace_variance(scale=scale), least=least_people(scale=scale))


def find_bound(request: ReleaseRequest, question: ManifestQuestion) -> float:
    """Return, at 95 % confidence, by how many people the published answer may miss the best one.

    A leader may be this many people behind. For a median, this many people would have to answer
    differently to make the published point the median. One more person moves the expected number of
    reports of an answer by the slope of the channel.
    """
    slope = question.mechanism.slope if question.is_scrambled else 1.0
    epsilon = request.epsilon_hundredths / HUNDREDTHS
    if request.kind == ReleaseKind.LEADER:
        reports = selection_bound(
            sensitivity=1,
            epsilon=epsilon,
            candidates=len(question.options),
            level=LEVEL,
            monotone=True,
        )
        return reports / slope
    scaled = selection_bound(
        sensitivity=scaled_sensitivity(
            question.answers, other_probability=find_other_probability(question)
        ),
        epsilon=epsilon,
        candidates=question.answers,
        level=LEVEL,
    )
    # Scores are rounded to whole thousandths, which can move two scores apart by one. Each person
    # who answers differently moves the score by twice the slope (privacy.central.median).
    return (scaled + 1) / FACTOR / (2 * slope)


def find_rule_bound(request: ReleaseRequest, manifest: Manifest) -> float:
    """Return, at 95 % confidence, for how many more people another rule may be right.

    Scores are rounded down to thousandths, which can move two scores apart by one.
    """
    outcome, *predictors = (find_question(manifest, name) for name in request.questions)
    reports = selection_bound(
        sensitivity=1,
        epsilon=Fraction(request.epsilon_hundredths, KEY_DRIVER_DRAWS * HUNDREDTHS),
        candidates=2 * len(predictors) + 2,
        level=LEVEL,
        monotone=True,
    )
    slope = outcome.mechanism.slope * min(one.mechanism.slope for one in predictors)
    return (reports + 1 / RULE_FACTOR) / slope


def find_question(manifest: Manifest, name: str) -> ManifestQuestion:
    return next(one for one in manifest.questions if one.name == name)
