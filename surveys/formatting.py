"""Formats numbers, times and lists for every page, by the rules of the active language.

Researchers' pages and files are in English. Public results are in the languages of their survey.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import reduce

from django.utils.formats import date_format, get_format
from django.utils.translation import get_language, get_language_bidi, gettext, pgettext

from privacy.mechanism.mechanisms import round_up_epsilon
from surveys.manifest.strength import LARGEST_UNCONFIRMED_EPSILON, largest_guess_in_tenths

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def epsilon(value: float) -> str:
    """Write ε in nats with two decimals, never below the true value."""
    return _localize(str(round_up_epsilon(value)))


def cap(hundredths: int) -> str:
    """Write an ε that is stored in hundredths: 150 as 1.50."""
    return _localize(f"{hundredths // 100}.{hundredths % 100:02}")


def delta(nanos: int) -> str:
    """Write a δ that is stored in units of 10⁻⁹: 1,000 as 10⁻⁶, 250 as 2.5 · 10⁻⁷, and 0 as 0."""
    if nanos == 0:
        return "0"
    digits = str(nanos)
    exponent = str(len(digits) - 1 - 9).translate(_RAISED)
    leading = _localize(digits[0] + f".{digits[1:]}".rstrip("0").rstrip("."))
    return f"10{exponent}" if leading == "1" else f"{leading} · 10{exponent}"


def odds_factor(value: float) -> str:
    """Write how much the odds of a guess can change at this ε, never below the true factor."""
    if value > math.log(1_000_000):
        return "more than a million"
    factor = math.exp(value)
    if factor < 10:
        return tenths(math.ceil(10 * factor - 1e-5))
    return whole(math.ceil(factor - 1e-6))


def guess(value: float) -> str:
    """Write how many guesses out of 100 may be right at this ε, never below the true number."""
    return tenths(largest_guess_in_tenths(value))


def tenths(value: int) -> str:
    """Write 205 as 20.5 and 200 as 20."""
    return whole(value // 10) if value % 10 == 0 else _localize(f"{value / 10:.1f}")


def share_of_recommended(total_epsilon: float) -> str:
    """Write the percentage of the recommended total ε that is used, never below the true value."""
    return percent(math.ceil(100 * total_epsilon / LARGEST_UNCONFIRMED_EPSILON) / 100)


def whole(value: int) -> str:
    return _localize(f"{value:,}")


def decimal(value: float, digits: int) -> str:
    """Write 1234.56 as 1,234.6 with one digit, with a real minus sign."""
    text = f"{value:,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")  # no minus zero
    return _localize(text.replace("-", "\N{MINUS SIGN}"))


def _localize(number: str) -> str:
    """Write a number with the separators of the active language."""
    if get_language() in (None, "en"):
        return number
    marks = {",": get_format("THOUSAND_SEPARATOR"), ".": get_format("DECIMAL_SEPARATOR")}
    if get_language_bidi():
        # Otherwise the sign would move to the other end of its number.
        marks["\N{MINUS SIGN}"] = "\N{LEFT-TO-RIGHT MARK}\N{MINUS SIGN}"
    return number.translate(str.maketrans(marks))


def join_list(words: Sequence[str], *, last: str = "and") -> str:
    """Write a list as: a; a and b; a, b and c. With another `last`, the list is in English."""
    if len(words) < 2:
        return "".join(words)
    *first, end = words
    if last != "and":
        return f"{', '.join(first)} {last} {end}"
    # Translators: parts of a list, and the last one.
    return gettext("%(list)s and %(last)s") % {"list": reduce(_add, first), "last": end}


def _add(list_: str, word: str) -> str:
    # Translators: a list and what comes after its comma.
    return gettext("%(list)s, %(next)s") % {"list": list_, "next": word}


def list_numbers(numbers: Sequence[int], *, mark: str = "") -> str:
    """Write ascending numbers, and three or more consecutive ones as a range: Q1 and Q7 to Q9."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    written: list[str] = []
    for run in runs:
        named = [f"{mark}{number}" for number in run]
        written += [f"{named[0]} to {named[-1]}"] if len(run) > 2 else named
    return join_list(written)


def moment(value: datetime) -> str:
    """Write a time as 1 December 2026, 09:00 UTC."""
    # This is outside the f-string, because with newer versions of Python, text inside an f-string
    # is not found for translation.
    written = date_format(value.astimezone(UTC), pgettext("format of a moment", "j F Y, H:i"))
    return f"{written} UTC"


def day(value: date) -> str:
    """Write a day as 1 December 2026."""
    return date_format(value, pgettext("format of a day", "j F Y"))


def percent(share: float, digits: int = 0) -> str:
    """Write 0.322 as 32 %, with a non-breaking space and a real minus sign."""
    sign = pgettext("after a number", "\N{NO-BREAK SPACE}%")
    return f"{points(share, digits)}{sign}"


def points(share: float, digits: int = 0) -> str:
    """Write 0.322 as 32, for places that add the % sign themselves."""
    return decimal(100 * share, digits)


def margin(half_width: float, unit: str = "points") -> str:
    """Write ±9.3 points. An interval of ±50 points or more leaves any value possible."""
    if half_width >= 0.5:
        return "any value"
    return f"±{points(half_width, 1 if half_width >= 0.001 else 2)} {unit}"


def mean_margin(half_width: float, *, low: int, high: int, unit: str) -> str:
    """Write ±1.4 days (of 0 to 30). The half width is a fraction of the range, and above 0."""
    if half_width >= 0.5:
        return "any value"
    value = half_width * (high - low)
    digits = max(0, 1 - math.floor(math.log10(value)))
    of = f" {unit}" if unit else ""
    return f"±{decimal(value, digits)}{of} (of {decimal(low, 0)} to {decimal(high, 0)})"
