"""Compares several protections for the same people and share, if the end of the survey is fixed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt

from privacy.central.calibration import choose_table_noise
from privacy.central.reader import strength_for_reader
from privacy.central.table import SpreadParts, least_people, table_standard_error
from privacy.checks import MOST_REPORTS
from privacy.level import Z_95
from privacy.planning.precision import round_up_people
from privacy.planning.protections import (
    Protection,
    people_for_protected_standard_error,
    protected_standard_error,
)
from surveys.axis import Axis, Whisker
from surveys.formatting import cap, percent, whole
from surveys.formatting import epsilon as write_epsilon
from surveys.manifest.manifest import (
    HUNDREDTHS,
    NANOS,
    USUAL_RELEASE_DELTA,
    USUAL_RELEASE_EPSILON,
)
from surveys.planning.plan_input import PlanInput

DELTA = USUAL_RELEASE_DELTA / NANOS
NAMES = {
    Protection.NONE: "No protection",
    Protection.CENTRAL: "Central noise",
    Protection.SHUFFLED: "Shuffled reports",
    Protection.LOCAL: "Scrambled on the device",
}
PUBLISHED = "Scrambled, with a protected table"


@dataclass(frozen=True, kw_only=True)
class ProtectionLine:
    """One way to protect the plan's question."""

    protection: Protection
    name: str
    margin: float  # with the expected number of people
    people: int  # for the wanted margin
    trusted: str
    protects: str
    low: float  # of the interval, cut to [0, 1]
    high: float

    @property
    def is_ours(self) -> bool:
        return self.protection is Protection.LOCAL


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All protections that can be computed for the plan, and the axis shared by their intervals."""

    lines: tuple[ProtectionLine, ...]
    share: float
    axis: Axis
    left_out: tuple[str, ...] = ()  # for each missing way, why it is missing

    @property
    def rows(self) -> list[tuple[ProtectionLine, Whisker | None]]:
        return [
            (line, self.axis.place_whisker(low=line.low, value=self.share, high=line.high))
            for line in self.lines
        ]


@dataclass(frozen=True, kw_only=True)
class PublicationCost:
    """What a protected table of all questions adds to the interval of one question."""

    epsilon_hundredths: int
    widening: float  # 0.008 if the interval becomes 0.8 % wider
    people: int  # the fewest people for whom such a table shows anything
    is_enough: bool
    parts: SpreadParts

    @property
    def describe(self) -> str:
        if not self.is_enough:
            return f"shows nothing with fewer than {whole(self.people)} people"
        if self.widening < 0.001:
            return f"widens the interval by less than {percent(0.001, 1)}"
        return f"widens the interval by {percent(self.widening, 1 if self.widening < 0.1 else 0)}"


def compare_protections(given: PlanInput) -> Comparison | None:
    """Compare all protections, or return None for conditional shares and means (no formula)."""
    if given.is_conditional or given.mean:
        return None
    epsilon = given.mechanism().epsilon
    ways = [
        way
        for way in Protection
        if way is not Protection.SHUFFLED or given.options == 2  # two answers only
    ]
    lines = [_describe(way, given, epsilon) for way in ways]
    left_out = []
    if given.options > 2:
        left_out.append(
            "Shuffled reports are left out: what they hide is worked out only for two answers."
        )
    cost = cost_of_publication(given)
    if cost is None:
        left_out.append(
            "A protected table is left out: its price is worked out only if every person gets all "
            "questions."
        )
    elif not cost.is_enough:
        left_out.append(f"A protected table is left out: it {cost.describe}.")
    else:
        lines.append(_describe_published(cost, given, epsilon))
    axis = _choose_axis(min(each.low for each in lines), max(each.high for each in lines))
    return Comparison(lines=tuple(lines), share=given.share, axis=axis, left_out=tuple(left_out))


def _describe(protection: Protection, given: PlanInput, epsilon: float) -> ProtectionLine:
    margin = Z_95 * protected_standard_error(
        protection=protection,
        share=given.share,
        people=given.reports,
        epsilon=epsilon,
        answers=given.options,
        delta=DELTA,
    )
    reports = people_for_protected_standard_error(
        protection=protection,
        share=given.share,
        standard_error=given.margin / Z_95,
        epsilon=epsilon,
        answers=given.options,
        delta=DELTA,
    )
    trusted, protects = _describe_trust(protection, given, epsilon)
    return ProtectionLine(
        protection=protection,
        name=NAMES[protection],
        margin=margin,
        people=ceil(reports / given.part - 1e-9),
        trusted=trusted,
        protects=protects,
        low=max(0.0, given.share - margin),
        high=min(1.0, given.share + margin),
    )


def _describe_published(cost: PublicationCost, given: PlanInput, epsilon: float) -> ProtectionLine:
    margin = Z_95 * cost.parts.total
    return ProtectionLine(
        protection=Protection.LOCAL,
        name=PUBLISHED,
        margin=margin,
        people=max(
            cost.people,
            find_people(cost.parts, people=given.people, standard_error=given.margin / Z_95),
        ),
        trusted="The person’s own device with the answers, the server with the noise",
        protects=(
            f"Answers, from everyone (ε = {write_epsilon(epsilon)}); whether a person took part, "
            f"from readers (ε = {cap(cost.epsilon_hundredths)})"
        ),
        low=max(0.0, given.share - margin),
        high=min(1.0, given.share + margin),
    )


def find_people(parts: SpreadParts, *, people: int, standard_error: float) -> int:
    """Find how many people a table needs for a standard error, from the error's parts for `people`.

    This solves a / n + b / n**2 = w, where w is the squared standard error. Its second term comes
    from the noise of the publication, which does not depend on n.
    """
    wanted = standard_error**2
    one = (parts.people**2 + parts.scrambling**2) * people
    noise = (parts.publication * people) ** 2
    needed = (one + sqrt(one**2 + 4 * wanted * noise)) / (2 * wanted)
    return min(MOST_REPORTS, round_up_people(needed))


def _describe_trust(protection: Protection, given: PlanInput, epsilon: float) -> tuple[str, str]:
    loss = write_epsilon(epsilon)
    match protection:
        case Protection.NONE:
            return "The server, and every reader", "Nothing"
        case Protection.CENTRAL:
            return (
                "The server: it holds the true answers",
                f"Answers, from readers (ε = {loss}); the server knows them",
            )
        case Protection.SHUFFLED:
            weaker = strength_for_reader(people=given.reports, epsilon=epsilon, delta=DELTA)
            return "The server, to mix the reports; the other people, to send honest ones", (
                f"Answers, from readers (ε = {loss}, δ = one in a million); from the "
                f"server only at ε = {write_epsilon(weaker)}"
            )
        case Protection.LOCAL:
            return (
                "Only the person’s own device",
                f"Answers, from everyone: readers and the server (ε = {loss})",
            )


def _choose_axis(low: float, high: float) -> Axis:
    """Round outwards to multiples of 1, 5 or 10 points, depending on the length of the axis."""
    step = 0.1 if high - low > 0.3 else 0.05 if high - low > 0.1 else 0.01
    return Axis(
        least=max(0.0, step * floor(low / step)), greatest=min(1.0, step * ceil(high / step))
    )


def cost_of_publication(given: PlanInput) -> PublicationCost | None:
    """Compute the cost of a protected table of all questions, or None if people may skip some."""
    if given.is_conditional or given.part < 1:
        return None
    noise = choose_table_noise(
        symbols=given.questions, epsilon=Fraction(USUAL_RELEASE_EPSILON, HUNDREDTHS), delta=DELTA
    )
    mechanism = given.mechanism()
    parts = table_standard_error(
        share=given.share,
        people=given.people,
        mechanism_k=given.symbols,
        other_probability=mechanism.other_probability,
        slope=mechanism.slope,
        noise_variance=noise.variance,
    )
    without = (parts.people**2 + parts.scrambling**2) ** 0.5
    people = least_people(scale=noise.scale, mechanism=noise.mechanism)
    return PublicationCost(
        epsilon_hundredths=USUAL_RELEASE_EPSILON,
        widening=parts.total / without - 1,
        people=people,
        is_enough=given.people >= people,
        parts=parts,
    )
