"""k-ary randomized response, parametrized by one integer.

The keep threshold T out of 2**32 is the stored truth; every probability and every epsilon
is derived from it. `surveys/respondent/client/randomize.js` draws in exactly the same way.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from privacy.checks import check_not_negative, check_positive, check_whole

SCALE = 2**32
MAX_SYMBOLS = 64
# A browser computes 2**32 times the difference exactly below this.
MAX_RANGE = 2**20
# Fifty digits, each operation correctly rounded: far finer than a float's seventeen.
_DECIMAL = Context(prec=50)


def secure_uint32() -> int:
    """Draw an integer uniformly from 0 to 2**32 - 1 from the operating system's generator.

    Returns
    -------
    int
        In [0, 2**32).

    Examples
    --------
    >>> 0 <= secure_uint32() < 2**32
    True
    """
    return secrets.randbits(32)


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse:
    """k-ary randomized response: keep the symbol, or replace it by one of the others.

    With probability t = threshold / 2**32 the true symbol is reported, otherwise one of the
    other k - 1 symbols, each equally likely. Two coins are ``symbols=2, threshold=3 * 2**30``.

    Parameters
    ----------
    symbols : int
        Number of symbols k, from 2 to 64.
    threshold : int
        Keep threshold T, an integer with 2**32 / k < T < 2**32.

    Raises
    ------
    TypeError
        If a parameter is not an integer.
    ValueError
        If a parameter is out of range. A threshold of 2**32 / k or less would report the truth
        no more often than anything else; 2**32 would report nothing but the truth.

    References
    ----------
    Warner, S. L. (1965), Randomized response, JASA 60(309), p. 65 (k = 2).
    Kairouz, P., Bonawitz, K. and Ramage, D. (2016), Discrete distribution estimation under
    local privacy, ICML, equation (4).

    Examples
    --------
    >>> coins = RandomizedResponse(symbols=2, threshold=3 * 2**30)
    >>> coins.keep_probability, coins.other_probability, coins.slope
    (0.75, 0.25, 0.5)
    >>> round(coins.epsilon, 6)
    1.098612
    """

    symbols: int
    threshold: int

    def __post_init__(self) -> None:
        _check_symbols(self.symbols)
        _check_integer("threshold", self.threshold)
        if not SCALE < self.threshold * self.symbols or not self.threshold < SCALE:
            raise ValueError(
                f"threshold must lie between 2**32 / {self.symbols} and 2**32, "
                f"got {self.threshold!r}"
            )

    @classmethod
    def from_flips(cls, *, symbols: int, flips: int) -> RandomizedResponse:
        """Choose the strength in flips of 100, which fixes epsilon for every k.

        Parameters
        ----------
        symbols : int
            Number of symbols k, from 2 to 64.
        flips : int
            Of 100 people with one of two answers, how many send the other one's code;
            from 1 to 49. Epsilon is at most ln((100 - flips) / flips).

        Returns
        -------
        RandomizedResponse
            With T = floor(2**32 (100 - F) / (100 - F + F (k - 1))), in integers.

        Raises
        ------
        TypeError, ValueError
            If a parameter is not an integer or out of range.

        Examples
        --------
        >>> RandomizedResponse.from_flips(symbols=2, flips=25).threshold == 3 * 2**30
        True
        >>> RandomizedResponse.from_flips(symbols=3, flips=25).threshold == 2**32 * 3 // 5
        True
        """
        _check_symbols(symbols)
        _check_integer("flips", flips)
        if not 1 <= flips <= 49:
            raise ValueError(f"flips must lie from 1 to 49 of 100, got {flips!r}")
        kept = 100 - flips
        return cls(symbols=symbols, threshold=SCALE * kept // (kept + flips * (symbols - 1)))

    @classmethod
    def from_epsilon(cls, *, symbols: int, epsilon: float) -> RandomizedResponse:
        """Choose the strength by epsilon; the one that runs never exceeds the request.

        Parameters
        ----------
        symbols : int
            Number of symbols k, from 2 to 64.
        epsilon : float
            Requested level in nats, positive and finite.

        Returns
        -------
        RandomizedResponse
            With T = floor(2**32 e**epsilon / (e**epsilon + k - 1)).

        Raises
        ------
        TypeError
            If symbols is not an integer.
        ValueError
            If epsilon is not positive and finite, or so small or so large that no integer
            threshold realizes it.

        Examples
        --------
        >>> RandomizedResponse.from_epsilon(symbols=2, epsilon=1.0).threshold
        3139872686
        """
        _check_symbols(symbols)
        epsilon = check_positive("epsilon", epsilon)
        # e**-epsilon, pushed up by far more than its rounding error: T can only get smaller.
        shrink = _DECIMAL.multiply(
            _DECIMAL.exp(Decimal(-epsilon)), Decimal("1.0000000000000000000000000000000001")
        )
        denominator = _DECIMAL.add(1, _DECIMAL.multiply(shrink, Decimal(symbols - 1)))
        quotient = _DECIMAL.divide(Decimal(SCALE), denominator)
        threshold = int(quotient.to_integral_value(rounding=ROUND_FLOOR))
        if not SCALE < threshold * symbols:
            raise ValueError(f"epsilon is too small for an integer threshold, got {epsilon!r}")
        return cls(symbols=symbols, threshold=min(threshold, SCALE - 1))

    @property
    def keep_probability(self) -> float:
        """t = T / 2**32, the probability that the report is the truth; exact."""
        return self.threshold / SCALE

    @cached_property
    def other_probability(self) -> float:
        """c = (1 - t) / (k - 1), the probability of each particular other symbol."""
        return float(Fraction(SCALE - self.threshold, SCALE * (self.symbols - 1)))

    @cached_property
    def slope(self) -> float:
        """d = t - c: a reported share is c + d times the true share."""
        return float(
            Fraction(self.threshold, SCALE)
            - Fraction(SCALE - self.threshold, SCALE * (self.symbols - 1))
        )

    @cached_property
    def epsilon(self) -> float:
        """ln(t (k - 1) / (1 - t)) in nats, rounded up: never below the true value."""
        odds = _DECIMAL.divide(
            Decimal(self.threshold * (self.symbols - 1)), Decimal(SCALE - self.threshold)
        )
        exact = _DECIMAL.ln(odds)
        rounded = float(exact)
        # One float further up unless the conversion rounded up already (with room for the
        # fiftieth digit).
        return rounded if Decimal(rounded) > exact else nextafter(rounded, inf)

    def channel(self) -> NDArray[np.float64]:
        """Return the probabilities of each report given each true symbol.

        Returns
        -------
        ndarray of float64, shape (k, k)
            Entry [reported, true]; columns sum to one: reported shares are this matrix times
            true shares.

        Examples
        --------
        >>> RandomizedResponse.from_flips(symbols=2, flips=25).channel().tolist()
        [[0.75, 0.25], [0.25, 0.75]]
        """
        matrix = np.full((self.symbols, self.symbols), self.other_probability)
        np.fill_diagonal(matrix, self.keep_probability)
        return matrix

    def randomize(self, symbol: int, *, random_uint32: Callable[[], int] = secure_uint32) -> int:
        """Draw the report for one true symbol.

        Parameters
        ----------
        symbol : int
            The true symbol, from 0 to k - 1.
        random_uint32 : callable, optional
            Source of independent uniform integers in [0, 2**32).

        Returns
        -------
        int
            The symbol to report, from 0 to k - 1.

        Raises
        ------
        TypeError, ValueError
            If symbol is not an integer or out of range.

        Notes
        -----
        Always draws u, then v until v falls below the largest multiple of k - 1; how many draws
        that takes does not depend on the symbol. The result is selected by arithmetic.

        Examples
        --------
        >>> coins = RandomizedResponse(symbols=2, threshold=3 * 2**30)
        >>> draws = iter([3 * 2**30 - 1, 7, 3 * 2**30, 7])
        >>> coins.randomize(1, random_uint32=lambda: next(draws))
        1
        >>> coins.randomize(1, random_uint32=lambda: next(draws))
        0
        """
        _check_integer("symbol", symbol)
        if not 0 <= symbol < self.symbols:
            raise ValueError(f"symbol must lie from 0 to {self.symbols - 1}, got {symbol!r}")
        return _draw(
            symbol,
            symbols=self.symbols,
            threshold=self.threshold,
            scale=SCALE,
            random_word=random_uint32,
        )


def _draw(
    symbol: int, *, symbols: int, threshold: int, scale: int, random_word: Callable[[], int]
) -> int:
    """The drawing itself, for words in [0, scale), so that tests can enumerate small scales."""
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
    """Round a number in a range to one of its ends at random, so that the mean is kept.

    Parameters
    ----------
    value : int
        From minimum to maximum.
    minimum, maximum : int
        Ends of the range, minimum < maximum, less than 2**20 apart.
    random_uint32 : callable, optional
        Source of independent uniform integers in [0, 2**32).

    Returns
    -------
    int
        1 with probability floor(2**32 (value - minimum) / (maximum - minimum)) / 2**32, else 0:
        within 2**-32 of the exact share, and exact at both ends.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer, the range is empty or too wide, or value is outside.

    Notes
    -----
    Draws once, whatever the value. The bit goes through randomized response like a yes.

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
        _check_integer(name, number)
    if not 0 < maximum - minimum < MAX_RANGE:
        raise ValueError(
            f"maximum must be above minimum by less than {MAX_RANGE}, got {minimum} and {maximum}"
        )
    if not minimum <= value <= maximum:
        raise ValueError(f"value must lie from {minimum} to {maximum}, got {value}")
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
        How many of them to draw, from 1 to blocks.
    random_uint32 : callable, optional
        Source of independent uniform integers in [0, 2**32).

    Returns
    -------
    tuple of int
        The numbers of the drawn blocks, from 0, in ascending order.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer or out of range.

    Notes
    -----
    A partial Fisher-Yates shuffle; numbers that would favour some block are drawn again. The
    draw is public and made before the first answer, so it changes no epsilon.

    References
    ----------
    Durstenfeld, R. (1964), Algorithm 235: random permutation, CACM 7(7), p. 420.

    Examples
    --------
    >>> draw_blocks(3, drawn=2, random_uint32=lambda: 5)
    (0, 2)
    """
    _check_integer("blocks", blocks)
    _check_integer("drawn", drawn)
    if not 1 <= drawn <= blocks:
        raise ValueError(f"drawn must lie from 1 to {blocks}, got {drawn!r}")
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


def round_up_epsilon(epsilon: float, *, digits: int = 2) -> Decimal:
    """Round an epsilon up for display, so that what is shown is never below what runs.

    Parameters
    ----------
    epsilon : float
        In nats, at least 0 and finite.
    digits : int, optional
        Digits after the point, at least 0.

    Returns
    -------
    Decimal
        The smallest number with that many digits that is not below epsilon.

    Raises
    ------
    ValueError
        If epsilon is negative or not finite, or digits is negative or not whole.

    Examples
    --------
    >>> round_up_epsilon(1.0986122886681098)
    Decimal('1.10')
    >>> round_up_epsilon(1.0986122886681098, digits=4)
    Decimal('1.0987')
    """
    epsilon = check_not_negative("epsilon", epsilon)
    digits = check_whole("digits", digits, at_least=0)
    return Decimal(epsilon).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING)


def _check_integer(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")


def _check_symbols(symbols: int) -> None:
    _check_integer("symbols", symbols)
    if not 2 <= symbols <= MAX_SYMBOLS:
        raise ValueError(f"symbols must lie from 2 to {MAX_SYMBOLS}, got {symbols!r}")
