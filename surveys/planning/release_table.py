"""Finds what each kind of release costs, and the people it needs to be right in 9 of 10 surveys.

Numbers for tables and alerts are computed. The others are simulated: `scripts/tables releases`
writes them into release_people.json, for every strength.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, log10
from pathlib import Path

from privacy.central.above_threshold import choose_alert_threshold, noticed_share
from privacy.central.calibration import choose_table_noise
from privacy.central.table import least_people, table_standard_error
from privacy.planning.precision import normal_quantile
from surveys.formatting import cap, guess, join_list, points, whole
from surveys.manifest.manifest import HUNDREDTHS, Manifest
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.planning.assumptions import MARGIN, SHARE
from surveys.planning.plan_input import PlanInput
from surveys.planning.protections import find_people
from surveys.releasing.alerts import MOST_LOOKS, PART_LEVEL
from surveys.releasing.choice import ALERT_PEOPLE
from surveys.releasing.noise import find_question
from surveys.releasing.words import KINDS

PEOPLE_FILE = Path(__file__).with_name("release_people.json")
RIGHT = 0.9  # of all surveys
MOST_PEOPLE = 10_000_000
# True shares of the answers: the leader is 10 points ahead, and the median is the middle point.
LEADER_SHARES = (0.4, 0.3, 0.2, 0.1)
MEDIAN_SHARES = (0.1, 0.2, 0.4, 0.2, 0.1)
ALERT_LINE, ALERT_SHARE = 0.2, 0.3
# For each of ten predictors, the share of people who answer it like the outcome. Half say Yes to
# the outcome.
AGREEING_SHARES = (0.72, 0.64, *(0.5,) * 8)


@dataclass(frozen=True, kw_only=True)
class ReleaseLine:
    """One kind of release about one question, at its usual ε."""

    kind: ReleaseKind
    guess: str  # right guesses of 100 about taking part
    epsilon: str
    right: str  # when the release counts as right
    people: int


def list_release_lines(flips: int) -> list[ReleaseLine]:
    """Describe every kind of release at this strength, in the order of `KINDS`."""
    found = {
        ReleaseKind.TABLE: (
            f"A share of {points(SHARE)} % is at most {points(MARGIN)} points off",
            _find_people_for_table(flips),
        ),
        ReleaseKind.LEADER: (
            f"It names the leader if answers have {_write(LEADER_SHARES)} %",
            _read_people(ReleaseKind.LEADER)[flips],
        ),
        ReleaseKind.MEDIAN: (
            f"It names the middle if points have {_write(MEDIAN_SHARES)} %",
            _read_people(ReleaseKind.MEDIAN)[flips],
        ),
        ReleaseKind.ALERT: (
            f"It reports more than {points(ALERT_LINE)} % if {points(ALERT_SHARE)} % said so",
            _find_people_for_alert(flips),
        ),
        ReleaseKind.KEY_DRIVER: (
            f"It is the best of ten predictors, right for {_write(AGREEING_SHARES[:3])} %",
            _read_people(ReleaseKind.KEY_DRIVER)[flips],
        ),
    }
    return [
        ReleaseLine(
            kind=kind,
            guess=guess(KINDS[kind].usual_hundredths / HUNDREDTHS),
            epsilon=cap(KINDS[kind].usual_hundredths),
            right=right,
            people=people,
        )
        for kind, (right, people) in found.items()
    ]


def describe_key_driver_people(
    request: ReleaseRequest, manifest: Manifest, *, people: int | None
) -> str:
    """Say how many people a key driver needs, and whether that is more than `people`.

    If its questions differ in strength, all are assumed to be as strong as the strongest.
    """
    flips = max(find_question(manifest, name).flips for name in request.questions)
    needed = _read_people(ReleaseKind.KEY_DRIVER)[flips]
    usual = cap(KINDS[ReleaseKind.KEY_DRIVER].usual_hundredths)
    fewer = " You expect fewer." if people is not None and people < needed else ""
    return (
        f"At ε = {usual}, a key driver among ten predictors needs about {whole(needed)} people to "
        f"be right in 9 of 10 surveys.{fewer}"
    )


def _write(shares: tuple[float, ...]) -> str:
    return join_list([points(share) for share in shares])


def _find_people_for_table(flips: int) -> int:
    """Find the fewest people for whom the table of one yes/no question is right and shown."""
    epsilon = Fraction(KINDS[ReleaseKind.TABLE].usual_hundredths, HUNDREDTHS)
    noise = choose_table_noise(symbols=1, epsilon=epsilon)
    mechanism = PlanInput(flips=flips).mechanism()
    one = table_standard_error(
        share=SHARE,
        people=1,
        mechanism_k=2,
        other_probability=mechanism.other_probability,
        slope=mechanism.slope,
        noise_variance=noise.variance,
    )
    needed = find_people(one, people=1, standard_error=MARGIN / normal_quantile(RIGHT))
    return max(least_people(scale=noise.scale), needed)


def _find_people_for_alert(flips: int) -> int:
    """Find the fewest people, at least ALERT_PEOPLE, for whom a single look is enough."""
    epsilon = Fraction(KINDS[ReleaseKind.ALERT].usual_hundredths, HUNDREDTHS)
    mechanism = PlanInput(flips=flips).mechanism()
    threshold = choose_alert_threshold(looks=MOST_LOOKS, epsilon=epsilon, level=PART_LEVEL)

    def is_enough(people: int) -> bool:
        share = noticed_share(
            people=people,
            other_probability=mechanism.other_probability,
            slope=mechanism.slope,
            line=ALERT_LINE,
            level=PART_LEVEL,
            threshold=threshold,
            epsilon=epsilon,
            chance=RIGHT,
        )
        return share <= ALERT_SHARE

    least = bisect_left(range(ALERT_PEOPLE, MOST_PEOPLE), True, key=is_enough)
    return round_up(ALERT_PEOPLE + least)


def round_up(people: int) -> int:
    """Round up to two digits, because further digits are simulation noise or approximation."""
    step = int(10 ** max(0, int(log10(people)) - 1))
    return step * ceil(people / step)


@cache
def _read_people(kind: ReleaseKind) -> dict[int, int]:
    """Map flips to the simulated numbers of people for this kind."""
    found = json.loads(PEOPLE_FILE.read_text("utf-8"))[kind.value]
    return {int(flips): people for flips, people in found.items()}
