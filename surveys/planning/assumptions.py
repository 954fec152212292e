"""Assumptions for planning that hold unless the author says otherwise. Shares are fractions."""

from __future__ import annotations

SHARE = 0.2  # of the answer that is asked about
MARGIN = 0.05  # the wanted precision: half the width of the interval
PEOPLE = 400
REFUSING = 0.05  # of the people who are asked
ASKED = 0.5  # of all people, if a rule decides
DIFFERENCE = 0.1  # between two groups
POWER = 0.8  # to find this difference
# docs/methods/other-kinds.md uses these to compare the two ways to ask a follow-up.
FOLLOW_UP_ASKED = 0.3
FOLLOW_UP_PEOPLE = 2000
