"""What a researcher may ask to publish of a protected survey, and the noise that it takes.

A plan follows from the request, the manifest and the ledger alone, never from the answers: choices
that depend on answers would tell something about them.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from aggregator.models import Release
from privacy.central.calibration import choose_table_noise
from privacy.central.composition import pure_rho
from privacy.central.typical import scaled_sensitivity
from privacy.mechanism.drawing import SCALE
from surveys.formatting import join_list
from surveys.manifest.manifest import HUNDREDTHS, NANOS, Manifest, largest_release_delta
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Symbol

# A median needs a middle point. For two points, the leader says everything.
LEAST_POINTS = 3
_WITH_LEADER = (
    QuestionType.CHOICE,
    QuestionType.DECLARED,
    QuestionType.YES_NO,
    QuestionType.SCALE,
    QuestionType.SEVERAL,
)


class NotReleasable(Exception):
    """Nothing was charged; the message is for the researcher."""


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    kind: Release.Kind
    questions: tuple[str, ...]  # their names, in the manifest's order once they are checked
    epsilon_hundredths: int

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ReleaseRequest:
        return cls(
            kind=Release.Kind(content["kind"]),
            questions=tuple(content["questions"]),
            epsilon_hundredths=content["epsilon_hundredths"],
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": str(self.kind),
            "questions": list(self.questions),
            "epsilon_hundredths": self.epsilon_hundredths,
        }

    @property
    def digest(self) -> str:
        """SHA-256 of the request: the same request is the same release."""
        content = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class ReleasePlan:
    """The noise of a release and what it spends, about one report added or removed."""

    mechanism: Release.Mechanism
    # Laplace: b. Gaussian: the standard deviation. Permute-and-flip: of the exponential noise.
    scale: Fraction
    # How far one report moves the counts: added up (Laplace), squared and added up (Gaussian), or
    # the most that it moves one score.
    sensitivity: int
    epsilon_hundredths: int
    delta_nanos: int
    rho: float | None
    # Whether one report moves all scores in the same direction; chosen scores need it.
    is_monotone: bool = True


def list_candidates(manifest: Manifest, kind: Release.Kind) -> tuple[ManifestQuestion, ...]:
    """List the questions that such a release may be about."""
    return tuple(question for question in manifest.questions if _is_candidate(question, kind))


def _is_candidate(question: ManifestQuestion, kind: Release.Kind) -> bool:
    if kind == Release.Kind.TABLE:
        # The share of a code says nothing about a rounded number, and with other codes its mean
        # would be one of an unknown group.
        return question.is_answered and not (question.is_rounded and question.has_extra_codes)
    if question.is_rounded:
        return False
    if kind == Release.Kind.LEADER:
        return question.type in _WITH_LEADER
    return question.described.has_points and question.answers >= LEAST_POINTS


def check_request(request: ReleaseRequest, manifest: Manifest) -> ReleaseRequest:
    """Return the request with its questions in the manifest's order; may raise NotReleasable."""
    if not manifest.publishes_releases:
        raise NotReleasable("The label of this survey does not allow protected releases.")
    _check_questions(request, manifest)
    _check_epsilon(request.epsilon_hundredths, cap=manifest.release_epsilon_hundredths or 0)
    named = [one.name for one in manifest.questions if one.name in request.questions]
    return replace(request, kind=Release.Kind(request.kind), questions=tuple(named))


def _check_questions(request: ReleaseRequest, manifest: Manifest) -> None:
    if not request.questions:
        raise NotReleasable("Choose at least one question.")
    if len(set(request.questions)) < len(request.questions):
        raise NotReleasable("Choose each question once.")
    if request.kind not in Release.Kind.values:
        raise NotReleasable("Murmur cannot make a release of this kind.")
    known = {one.name: one for one in manifest.questions}
    unknown = [name for name in request.questions if name not in known]
    if unknown:
        raise NotReleasable(f"This survey has no question {join_list(unknown)}.")
    candidates = {one.name for one in list_candidates(manifest, Release.Kind(request.kind))}
    unfit = [known[name].called for name in request.questions if name not in candidates]
    if unfit:
        raise NotReleasable(f"A release of this kind cannot be about {join_list(unfit)}.")
    if request.kind != Release.Kind.TABLE and len(request.questions) > 1:
        raise NotReleasable("Choose one question.")


def _check_epsilon(hundredths: int, *, cap: int) -> None:
    if isinstance(hundredths, bool) or not isinstance(hundredths, int) or hundredths < 1:
        raise NotReleasable("ε must be at least 0.01, in steps of 0.01.")
    if hundredths > cap:
        raise NotReleasable(
            f"ε can be {cap / HUNDREDTHS:.2f} at most: all that this survey may publish."
        )


def list_symbols(manifest: Manifest, questions: Sequence[str]) -> tuple[Symbol, ...]:
    """List the symbols of these questions, in the manifest's order."""
    return tuple(symbol for symbol in manifest.symbols if symbol.question in questions)


def count_most_symbols(manifest: Manifest, questions: Sequence[str]) -> int:
    """Return the most symbols of these questions that one report can have.

    Where each person is asked only some blocks, these are the blocks with the most symbols.
    """
    symbols = Counter(symbol.question for symbol in list_symbols(manifest, questions))
    return int(sum(manifest.pick_drawn(symbols)))


def plan_release(
    request: ReleaseRequest, manifest: Manifest, *, delta_nanos_left: int
) -> ReleasePlan:
    """Choose the noise of a request that was checked; may raise NotReleasable."""
    if request.kind == Release.Kind.TABLE:
        return _plan_table(request, manifest, delta_nanos=delta_nanos_left)
    if request.kind == Release.Kind.LEADER:
        return _plan_choice(request, sensitivity=1, is_monotone=True)
    (question,) = (one for one in manifest.questions if one.name in request.questions)
    sensitivity = scaled_sensitivity(
        question.answers, other_probability=find_other_probability(question)
    )
    return _plan_choice(request, sensitivity=sensitivity, is_monotone=False)


def read_plan(release: Release, request: ReleaseRequest, manifest: Manifest) -> ReleasePlan:
    """Return the noise that a release was charged for, with today's sensitivity of its question."""
    today_plan = plan_release(request, manifest, delta_nanos_left=release.delta_nanos)
    return ReleasePlan(
        mechanism=Release.Mechanism(release.mechanism),
        scale=Fraction(release.scale),
        sensitivity=today_plan.sensitivity,
        is_monotone=today_plan.is_monotone,
        epsilon_hundredths=release.epsilon_hundredths,
        delta_nanos=release.delta_nanos,
        rho=release.rho,
    )


def find_other_probability(question: ManifestQuestion) -> Fraction:
    """Return the probability of each code that is not the true one, exactly."""
    mechanism = question.mechanism
    return Fraction(SCALE - mechanism.threshold, SCALE * (mechanism.symbols - 1))


def _plan_table(request: ReleaseRequest, manifest: Manifest, *, delta_nanos: int) -> ReleasePlan:
    symbols = count_most_symbols(manifest, request.questions)
    noise = choose_table_noise(
        symbols=symbols,
        epsilon=Fraction(request.epsilon_hundredths, HUNDREDTHS),
        delta=delta_nanos / NANOS if is_delta_small(delta_nanos, manifest) else 0,
    )
    mechanism = Release.Mechanism(noise.mechanism)
    return ReleasePlan(
        mechanism=mechanism,
        scale=noise.scale,
        sensitivity=symbols,
        epsilon_hundredths=request.epsilon_hundredths,
        # All that is left: the first table for which it pays takes it.
        delta_nanos=delta_nanos if mechanism == Release.Mechanism.GAUSSIAN else 0,
        rho=noise.rho,
    )


def is_delta_small(nanos: int, manifest: Manifest) -> bool:
    """Whether δ is at most a tenth of a person, among those whom the author expects.

    It uses the expected number: the exact number must not decide which noise readers see.
    """
    people = manifest.people_expected
    return not people or nanos <= largest_release_delta(people)


def _plan_choice(request: ReleaseRequest, *, sensitivity: int, is_monotone: bool) -> ReleasePlan:
    """Plan permute-and-flip; scores that one report moves in one direction need half the noise."""
    factor = sensitivity if is_monotone else 2 * sensitivity
    return ReleasePlan(
        mechanism=Release.Mechanism.PERMUTE_AND_FLIP,
        scale=Fraction(factor * HUNDREDTHS, request.epsilon_hundredths),
        sensitivity=sensitivity,
        epsilon_hundredths=request.epsilon_hundredths,
        delta_nanos=0,
        rho=pure_rho(Fraction(request.epsilon_hundredths, HUNDREDTHS)),
        is_monotone=is_monotone,
    )
