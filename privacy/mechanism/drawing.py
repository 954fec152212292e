"""Everything that a respondent's browser draws at random, computed in integers.

`surveys/respondent/client/randomize.js` draws in exactly the same way.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from privacy.checks import check_integer

SCALE = 2**32
# For differences below this limit, a browser computes 2**32 times the difference exactly.
MAX_RANGE = 2**20


def secure_uint32() -> int:
    """Draw an integer uniformly from 0 to 2**32 - 1 from the operating system's generator.

    Returns
    -------
    int
        An integer in [0, 2**32).

    Examples
    --------
    >>> 0 <= secure_uint32() < 2**32
    True
    """
    return secrets.randbits(32)


def draw_report(
    symbol: int, *, symbols: int, threshold: int, scale: int, random_word: Callable[[], int]
) -> int:
    """Draw the report for one true symbol from random words.

    Parameters
    ----------
    symbol : int
        The true symbol, from 0 to symbols - 1.
    symbols : int
        Number of symbols k.
    threshold : int
        Keep threshold, out of `scale`.
    scale : int
        Number of values that a random word can have; smaller than 2**32 only in tests, which
        enumerate all words.
    random_word : callable
        Source of independent uniform integers in [0, scale).

    Returns
    -------
    int
        The symbol to report. This function does not check its arguments;
        `RandomizedResponse.randomize` does.

    Examples
    --------
    >>> words = iter([2, 1])
    >>> draw_report(0, symbols=2, threshold=3, scale=4, random_word=lambda: next(words))
    0
    """
    others = symbols - 1
    limit = scale // others * others
    u = random_word()
    v = random_word()
    while v >= limit:
        v = random_word()
    other = v % others
    replacement = other + (other >= symbol)
    kept = int(u < threshold)
    return kept * symbol + (1 - kept) * replacement


def round_to_bit(
    value: int,
    *,
    minimum: int,
    maximum: int,
    random_uint32: Callable[[], int] = secure_uint32,
) -> int:
    """Round a number in a range to one of its ends at random, preserving the mean.

    Parameters
    ----------
    value : int
        The number, from minimum to maximum.
    minimum, maximum : int
        Ends of the range, minimum < maximum, less than 2**20 apart.
    random_uint32 : callable, optional
        Source of independent uniform integers in [0, 2**32).

    Returns
    -------
    int
        1 with probability floor(2**32 (value - minimum) / (maximum - minimum)) / 2**32, otherwise
        0. The probability is within 2**-32 of the exact fraction, and equals it at both ends.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer, the range is empty or too wide, or value is outside it.

    Notes
    -----
    The function draws one random number, whatever the value. The bit then passes through randomized
    response like a yes/no answer.

    References
    ----------
    Ding, B., Kulkarni, J. and Yekhanin, S. (2017), Collecting telemetry data privately,
    NeurIPS, equation (1) (one-bit mean).

    Examples
    --------
    >>> round_to_bit(3, minimum=0, maximum=4, random_uint32=lambda: 3 * 2**30 - 1)
    1
    >>> round_to_bit(3, minimum=0, maximum=4, random_uint32=lambda: 3 * 2**30)
    0
    """
    for name, number in (("value", value), ("minimum", minimum), ("maximum", maximum)):
        check_integer(name, number)
    if not 0 < maximum - minimum < MAX_RANGE:
        raise ValueError(
            f"maximum must be above minimum by less than {MAX_RANGE}, got {minimum} and {maximum}"
        )
    if not minimum <= value <= maximum:
        raise ValueError(f"value must be from {minimum} to {maximum}, got {value}")
    return int(random_uint32() < SCALE * (value - minimum) // (maximum - minimum))


def draw_blocks(
    blocks: int, *, drawn: int, random_uint32: Callable[[], int] = secure_uint32
) -> tuple[int, ...]:
    """Draw the blocks of questions that one person is asked; every set is equally likely.

    Parameters
    ----------
    blocks : int
        Number of blocks, at least 1.
    drawn : int
        Number of blocks to draw, from 1 to `blocks`.
    random_uint32 : callable, optional
        Source of independent uniform integers in [0, 2**32).

    Returns
    -------
    tuple of int
        The numbers of the drawn blocks, counted from 0, in ascending order.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer or is out of range.

    Notes
    -----
    The method is a partial Fisher-Yates shuffle; random numbers that would favour some blocks are
    replaced by new ones. The draw is public and made before the first answer, so it does not change
    any epsilon.

    References
    ----------
    Durstenfeld, R. (1964), Algorithm 235: random permutation, CACM 7(7), p. 420.

    Examples
    --------
    >>> draw_blocks(3, drawn=2, random_uint32=lambda: 5)
    (0, 2)
    """
    check_integer("blocks", blocks)
    check_integer("drawn", drawn)
    if not 1 <= drawn <= blocks:
        raise ValueError(f"drawn must be from 1 to {blocks}, got {drawn!r}")
    order = list(range(blocks))
    for place in range(drawn):
        left = blocks - place
        limit = SCALE // left * left
        u = random_uint32()
        while u >= limit:
            u = random_uint32()
        other = place + u % left
        order[place], order[other] = order[other], order[place]
    return tuple(sorted(order[:drawn]))
