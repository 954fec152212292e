"""Formats numbers, times and lists for every page. No other module formats them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime

from privacy.mechanism.mechanisms import round_up_epsilon
from surveys.manifest.strength import largest_guess_in_tenths

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def epsilon(value: float) -> str:
    """Write ε in nats with two decimals, never below the true value."""
    return str(round_up_epsilon(value))


def cap(hundredths: int) -> str:
    """Write an ε that is stored in hundredths: 150 as 1.50."""
    return f"{hundredths // 100}.{hundredths % 100:02}"


def delta(nanos: int) -> str:
    """Write a δ that is stored in 10⁻⁹: 1,000 as 10⁻⁶, 250 as 2.5 · 10⁻⁷, and 0 as 0."""
    if nanos == 0:
        return "0"
    digits = str(nanos)
    exponent = str(len(digits) - 1 - 9).translate(_RAISED)
    leading = digits[0] + f".{digits[1:]}".rstrip("0").rstrip(".")
    return f"10{exponent}" if leading == "1" else f"{leading} · 10{exponent}"


def odds_factor(value: float) -> str:
    """Write how much the odds of a guess can change at this ε, never below the true factor."""
    if value > math.log(1_000_000):
        return "more than a million"
    factor = math.exp(value)
    if factor < 10:
        tenths = math.ceil(10 * factor - 1e-5)
        return whole(tenths // 10) if tenths % 10 == 0 else f"{tenths / 10:.1f}"
    return whole(math.ceil(factor - 1e-6))


def guess(value: float) -> str:
    """Write how many guesses out of 100 may be right at this ε, never below the true number."""
    tenths = largest_guess_in_tenths(value)
    return whole(tenths // 10) if tenths % 10 == 0 else f"{tenths / 10:.1f}"


def whole(value: int) -> str:
    return f"{value:,}"


def join_list(words: Sequence[str], *, last: str = "and") -> str:
    """Write a list as: a; a and b; a, b and c."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def moment(value: datetime) -> str:
    """Write a time as 1 December 2026, 09:00 UTC."""
    inside = value.astimezone(UTC)
    return f"{inside.day} {inside:%B %Y, %H:%M} UTC"


def day(value: date) -> str:
    """Write a day as 1 December 2026."""
    return f"{value.day} {value:%B %Y}"


def percent(share: float, digits: int = 0) -> str:
    """Write 0.322 as 32 %, with a non-breaking space and a real minus sign."""
    return f"{points(share, digits)}\N{NO-BREAK SPACE}%"


def points(share: float, digits: int = 0) -> str:
    """Write 0.322 as 32, for places that add the % sign themselves."""
    text = f"{100 * share:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")  # no minus zero
    return text.replace("-", "\N{MINUS SIGN}")


def margin(half_width: float) -> str:
    """Write ± 9.3 points. An interval of ± 50 points or more says nothing."""
    if half_width >= 0.5:
        return "says nothing"
    return f"± {points(half_width, 1 if half_width >= 0.001 else 2)} points"
