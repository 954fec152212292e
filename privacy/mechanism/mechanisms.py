"""k-ary randomized response, parametrized by one integer.

Only the keep threshold T out of 2**32 is stored; every probability and every epsilon is
derived from it. `surveys/respondent/client/randomize.js` draws in exactly the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from privacy.checks import check_integer, check_not_negative, check_positive, check_whole
from privacy.mechanism.drawing import SCALE, draw_report, secure_uint32

MAX_SYMBOLS = 64
# Each operation is correctly rounded to fifty digits; a float has at most seventeen.
_DECIMAL = Context(prec=50)


@lru_cache(maxsize=10_000)  # a page asks for the same strengths repeatedly
def _logarithm_above(numerator: int, denominator: int) -> float:
    """Return the logarithm of a fraction, rounded up to a float."""
    exact = _DECIMAL.ln(_DECIMAL.divide(Decimal(numerator), Decimal(denominator)))
    rounded = float(exact)
    # Return the next float unless the conversion already rounded up. Either way, there is room for
    # an error in the fiftieth digit.
    return rounded if Decimal(rounded) > exact else nextafter(rounded, inf)


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
        no more often than any other symbol; 2**32 would always report the truth.

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
        check_integer("threshold", self.threshold)
        if not SCALE < self.threshold * self.symbols or not self.threshold < SCALE:
            raise ValueError(
                f"threshold must lie between 2**32 / {self.symbols} and 2**32, "
                f"got {self.threshold!r}"
            )

    @classmethod
    def from_flips(cls, *, symbols: int, flips: int) -> RandomizedResponse:
        """Choose the strength in flips out of 100, which fixes epsilon for every k.

        Parameters
        ----------
        symbols : int
            Number of symbols k, from 2 to 64.
        flips : int
            For a question with two answers, how many of 100 people send the code of the answer that
            is not theirs, from 1 to 49. Epsilon is at most ln((100 - flips) / flips).

        Returns
        -------
        RandomizedResponse
            Mechanism with T = floor(2**32 (100 - F) / (100 - F + F (k - 1))), computed in integers,
            where F is flips.

        Raises
        ------
        TypeError, ValueError
            If a parameter is not an integer or is out of range.

        Examples
        --------
        >>> RandomizedResponse.from_flips(symbols=2, flips=25).threshold == 3 * 2**30
        True
        >>> RandomizedResponse.from_flips(symbols=3, flips=25).threshold == 2**32 * 3 // 5
        True
        """
        _check_symbols(symbols)
        check_integer("flips", flips)
        if not 1 <= flips <= 49:
            raise ValueError(f"flips must be from 1 to 49 of 100, got {flips!r}")
        kept = 100 - flips
        return cls(symbols=symbols, threshold=SCALE * kept // (kept + flips * (symbols - 1)))

    @classmethod
    def from_epsilon(cls, *, symbols: int, epsilon: float) -> RandomizedResponse:
        """Choose the strength by epsilon; the actual epsilon never exceeds the requested one.

        Parameters
        ----------
        symbols : int
            Number of symbols k, from 2 to 64.
        epsilon : float
            Requested epsilon in nats, positive and finite.

        Returns
        -------
        RandomizedResponse
            Mechanism with T = floor(2**32 e**epsilon / (e**epsilon + k - 1)).

        Raises
        ------
        TypeError
            If symbols is not an integer.
        ValueError
            If epsilon is not positive and finite, or so small that no integer threshold realizes
            it.

        Examples
        --------
        >>> RandomizedResponse.from_epsilon(symbols=2, epsilon=1.0).threshold
        3139872686
        """
        _check_symbols(symbols)
        epsilon = check_positive("epsilon", epsilon)
        # Increase e**-epsilon by far more than its rounding error, so that T can only decrease.
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
        """t = T / 2**32, the exact probability that the report shows the true symbol."""
        return self.threshold / SCALE

    @cached_property
    def other_probability(self) -> float:
        """c = (1 - t) / (k - 1), the probability of each other symbol."""
        return float(Fraction(SCALE - self.threshold, SCALE * (self.symbols - 1)))

    @cached_property
    def slope(self) -> float:
        """d = t - c: a reported share is c + d times the true share."""
        return float(
            Fraction(self.threshold, SCALE)
            - Fraction(SCALE - self.threshold, SCALE * (self.symbols - 1))
        )

    @property
    def epsilon(self) -> float:
        """ln(t (k - 1) / (1 - t)) in nats, rounded up: never below the true value."""
        return _logarithm_above(self.threshold * (self.symbols - 1), SCALE - self.threshold)

    def channel(self) -> NDArray[np.float64]:
        """Return the probabilities of each report given each true symbol.

        Returns
        -------
        ndarray of float64, shape (k, k)
            Matrix with entries [reported, true], whose columns sum to one. Reported shares are this
            matrix times true shares.

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
            If symbol is not an integer or is out of range.

        Notes
        -----
        The method always draws u, and then draws v until v is below the largest multiple of k - 1
        up to 2**32. The number of draws does not depend on the symbol. The result is selected by
        arithmetic.

        Examples
        --------
        >>> coins = RandomizedResponse(symbols=2, threshold=3 * 2**30)
        >>> draws = iter([3 * 2**30 - 1, 7, 3 * 2**30, 7])
        >>> coins.randomize(1, random_uint32=lambda: next(draws))
        1
        >>> coins.randomize(1, random_uint32=lambda: next(draws))
        0
        """
        check_integer("symbol", symbol)
        if not 0 <= symbol < self.symbols:
            raise ValueError(f"symbol must be from 0 to {self.symbols - 1}, got {symbol!r}")
        return draw_report(
            symbol,
            symbols=self.symbols,
            threshold=self.threshold,
            scale=SCALE,
            random_word=random_uint32,
        )


def round_up_epsilon(epsilon: float, *, digits: int = 2) -> Decimal:
    """Round an epsilon up for display, so that the epsilon shown is never below the actual one.

    Parameters
    ----------
    epsilon : float
        Epsilon in nats, at least 0 and finite.
    digits : int, optional
        Number of digits after the decimal point, at least 0.

    Returns
    -------
    Decimal
        The smallest number with that many digits after the point that is not below epsilon.

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


def _check_symbols(symbols: int) -> None:
    check_integer("symbols", symbols)
    if not 2 <= symbols <= MAX_SYMBOLS:
        raise ValueError(f"symbols must be from 2 to {MAX_SYMBOLS}, got {symbols!r}")
