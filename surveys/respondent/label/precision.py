"""Says what researchers can learn from everyone's codes, and how precisely."""

from __future__ import annotations

import math

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.precision import watched_half_width
from surveys.manifest.manifest import Manifest
from surveys.respondent.label.names import scrambled, write_whole

# This value is rounded, unlike `privacy.level.Z_95`. Labels of open surveys promise margins that
# were computed with this value, and the exact quantile would change some of them by a point.
ROUNDED_Z_95 = 1.96


def describe_finding(manifest: Manifest) -> tuple[str, ...]:
    questions = scrambled(manifest)
    if not questions:
        return (_("What you answer."),)  # a draft that cannot be launched yet
    shares = [question for question in questions if not question.is_rounded]
    means = [question for question in questions if question.is_rounded]
    learned = []
    if answered := [question for question in shares if question.score is None]:
        yes_no = all(question.is_answered_yes_or_no for question in answered)
        learned.append(
            _("The share of everyone who says Yes.")
            if yes_no
            else _("The share of everyone who gives each answer.")
        )
    if any(question.score is not None for question in shares):
        learned.append(_("The share of everyone whose total is in a band or reaches a limit."))
    if any(question.score is None for question in means):
        learned.append(_("The average of the numbers that people give."))
    if any(question.score is not None for question in means):
        learned.append(_("The average total."))
    people = manifest.cap or manifest.display_minimum
    asked = people
    if manifest.drawn is not None:
        asked = max(1, people * manifest.drawn // manifest.block_count)
    weakest = min((q.mechanism for q in shares or means), key=lambda mechanism: mechanism.slope)
    width = _half_width(manifest, weakest, people=asked)
    points = math.ceil(100 * width - 1e-9)
    # People who are not asked, or do not answer, make the crowd smaller.
    fewer = any(question.has_extra_codes for question in questions)
    return (*learned, _describe_precision(people, points, of_shares=bool(shares), fewer=fewer))


def _describe_precision(people: int, points: int, *, of_shares: bool, fewer: bool) -> str:
    if points >= 50:
        sentence = ngettext(
            "With only %(count)s person even that stays unclear.",
            "With only %(count)s people even that stays unclear.",
            people,
        )
        return sentence % {"count": write_whole(people)}
    # Translators: goes into "With … people, that is give or take %(margin)s."
    margin = _("%(count)s of 100") if of_shares else _("%(count)s %% of the range")
    if fewer:
        sentence = ngettext(
            "With %(count)s person, that is give or take %(margin)s at best.",
            "With %(count)s people, that is give or take %(margin)s at best.",
            people,
        )
    else:
        sentence = ngettext(
            "With %(count)s person, that is give or take %(margin)s.",
            "With %(count)s people, that is give or take %(margin)s.",
            people,
        )
    return sentence % {
        "count": write_whole(people),
        "margin": margin % {"count": write_whole(points)},
    }


def _half_width(manifest: Manifest, weakest: RandomizedResponse, *, people: int) -> float:
    """Return the half-width of the results' 95 % interval for the least precise share."""
    c, d = weakest.other_probability, weakest.slope
    if manifest.is_watched:
        # The end is not fixed, so results show one look's interval. Random subsets have no looks.
        middle = min(1.0, max(0.0, (0.5 - c) / d))
        return watched_half_width(
            share=middle,
            people=people,
            mechanism=weakest,
            expected=manifest.people_for_looks,
        )
    return ROUNDED_Z_95 * 0.5 / (math.sqrt(people) * d)
