"""Checks of arguments, shared by the functions of this package.

A failed check raises a ValueError (a TypeError in `check_integer`) that names the argument and what
was received. Most checks return the value as a plain number or array, so that later code does not
depend on the type that the caller passed. Booleans are rejected where a number is expected, because
they usually come from a mistaken comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isfinite
from numbers import Integral, Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64] | Floats  # also stands for other integer and float types
Ends = Literal["[]", "[)", "(]", "()"]
# Above this, floats cannot represent every whole number.
MOST_REPORTS = 2**53
_CLOSE = 1e-9  # tolerance for a sum that should be one


def check_whole(
    name: str, value: int, *, at_least: int | None = None, at_most: int | None = None
) -> int:
    """Reject anything but a whole number in a range; numpy's integers are also accepted."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    number = int(value)
    low, high = -inf if at_least is None else at_least, inf if at_most is None else at_most
    if not low <= number <= high:
        if at_most is None or (number < low and at_most == MOST_REPORTS):
            raise ValueError(f"{name} must be at least {low}, got {value!r}")
        raise ValueError(f"{name} must be from {low} to {high}, got {value!r}")
    return number


def check_whole_counts(
    name: str,
    values: ArrayLike,
    *,
    at_least: int = 0,
    at_most: int = MOST_REPORTS,
    shape: tuple[int, ...] | None = None,
) -> Numbers:
    """Reject an array unless all values are whole numbers in a range; 2.0 is accepted as whole."""
    counts = _as_array(name, values)
    if shape is not None and counts.shape != shape:
        wanted = f"{shape[0]} entries" if len(shape) == 1 else f"the shape {shape}"
        raise ValueError(f"{name} must have {wanted}, got {values!r}")
    fits = _is_numeric(counts) and bool(((counts >= at_least) & (counts <= at_most)).all())
    if not fits or (counts.dtype.kind == "f" and not (counts == np.floor(counts)).all()):
        limit = "not negative" if at_least == 0 else f"at least {at_least}"
        raise ValueError(f"{name} must be whole and {limit}, got {values!r}")
    return counts


def check_successes(
    successes: ArrayLike, total: ArrayLike, *, at_least: int = 0, effective: bool = False
) -> tuple[Floats, Floats]:
    """Reject counts of successes outside [0, total]; `effective` counts need not be whole."""
    if effective:
        whole = check_numbers("total", total, at_least=at_least)
        part = check_numbers("successes", successes)
    else:
        whole = np.asarray(check_whole_counts("total", total, at_least=at_least), dtype=np.float64)
        part = np.asarray(check_whole_counts("successes", successes), dtype=np.float64)
    check_together(successes=part, total=whole)
    if not (part <= whole).all() or (effective and not (part >= 0).all()):
        raise ValueError(f"successes must be from 0 to total, got {successes!r}")
    return part, whole


def check_number(name: str, value: float) -> float:
    """Reject anything but a finite number."""
    if not _is_number(value) or not isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return float(value)


def check_positive(name: str, value: float | Fraction) -> float:
    """Reject a value that is not a positive, finite number, such as an epsilon of 0."""
    # A fraction or a long integer may be too large or too small for a float.
    if not _is_number(value) or not 0 < (number := _as_float(value)) < inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}")
    return number


def check_not_negative(name: str, value: float) -> float:
    """Reject a number that is negative or not finite."""
    if not _is_number(value) or not 0 <= value < inf:
        raise ValueError(f"{name} must be at least 0 and finite, got {value!r}")
    return float(value)


def check_share(name: str, value: float, *, ends: Ends = "[]") -> float:
    """Reject anything but a fraction from 0 to 1; a round bracket in `ends` excludes that end."""
    if not _is_number(value) or not (
        0 <= value <= 1 and (value > 0 or ends[0] == "[") and (value < 1 or ends[1] == "]")
    ):
        raise ValueError(f"{name} must lie in {ends[0]}0, 1{ends[1]}, got {value!r}")
    return float(value)


def check_level(level: float) -> float:
    """Reject a confidence level outside (0, 1)."""
    return check_share("level", level, ends="()")


def check_numbers(name: str, values: ArrayLike, *, at_least: float = -inf) -> Floats:
    """Reject an array unless all its values are finite numbers and none is below a limit."""
    numbers = _as_array(name, values)
    if not _is_numeric(numbers) or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite numbers, got {values!r}")
    if not (numbers >= at_least).all():
        raise ValueError(f"{name} must be at least {at_least}, got {values!r}")
    return numbers.astype(np.float64, copy=False)


def check_shares(name: str, values: ArrayLike, *, ends: Ends = "[]") -> Floats:
    """Reject an array unless all values are fractions from 0 to 1; see `check_share` for `ends`."""
    shares = _as_array(name, values)
    fits = _is_numeric(shares)
    if fits:
        above = shares >= 0 if ends[0] == "[" else shares > 0
        below = shares <= 1 if ends[1] == "]" else shares < 1
        fits = bool((above & below).all())
    if not fits:
        raise ValueError(f"{name} must lie in {ends[0]}0, 1{ends[1]}, got {values!r}")
    return shares.astype(np.float64, copy=False)


def check_distribution(name: str, values: ArrayLike, *, symbols: int) -> Floats:
    """Reject shares that do not sum to one, or whose number is not `symbols`."""
    shares = _as_array(name, values)
    if shares.shape != (symbols,):
        raise ValueError(f"{name} must have {symbols} entries, got {values!r}")
    # If a value is NaN, so is the sum, and the last comparison fails.
    if not _is_numeric(shares) or not (shares >= 0).all() or not abs(shares.sum() - 1) < _CLOSE:
        raise ValueError(f"{name} must lie in [0, 1] and sum to one, got {values!r}")
    return shares.astype(np.float64, copy=False)


def check_channel(other_probability: ArrayLike, slope: ArrayLike) -> tuple[Floats, Floats]:
    """Reject channels, given as arrays of c and d, if any channel reveals nothing or everything."""
    c = check_shares("other_probability", other_probability, ends="()")
    d = _as_array("slope", slope)
    fits = _is_numeric(d) and bool((d > 0).all())
    if fits:
        check_together(other_probability=c, slope=d)
        fits = bool((c + d < 1).all())
    if not fits:
        raise ValueError(f"slope must be positive, with c + d below 1, got {slope!r}")
    return c, d.astype(np.float64, copy=False)


def check_together(**arrays: Numbers) -> None:
    """Reject arrays that do not broadcast against each other."""
    try:
        np.broadcast(*arrays.values())
    except ValueError:
        shapes = " and ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"shapes must broadcast against each other, got {shapes}") from None


def check_symbols(name: str, symbols: int, *, at_least: int, at_most: int | None = None) -> None:
    """Reject a mechanism, called `name`, that has too few or too many symbols."""
    if symbols < at_least or (at_most is not None and symbols > at_most):
        wanted = f"{at_least}" if at_least == at_most else f"at least {at_least}"
        raise ValueError(f"{name} must have {wanted} symbols, got {symbols!r}")


def check_epsilons(argument: str, values: Sequence[float]) -> None:
    """Reject an empty sequence, and epsilons that are not positive and finite."""
    if len(values) == 0:
        raise ValueError(f"{argument} must hold at least one epsilon, got {values!r}")
    for value in values:
        check_positive(argument, value)


def check_integer(name: str, value: object) -> None:
    """Raise a TypeError for anything but a plain integer."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _as_float(value: float | Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf


def _is_numeric(array: Numbers) -> bool:
    return str(array.dtype.kind) in "iuf"


def _as_array(name: str, values: ArrayLike) -> Numbers:
    """Convert values to an array, but reject booleans, which numpy would treat as numbers."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must not be ragged, got {values!r}") from None
    if _holds_truth(values):
        raise ValueError(f"{name} must hold numbers, not booleans, got {values!r}")
    return array


def _holds_truth(values: object) -> bool:
    if isinstance(values, np.ndarray):
        return str(values.dtype.kind) == "b"
    if isinstance(values, list | tuple):
        return any(map(_holds_truth, values))
    return isinstance(values, bool | np.bool_)
