"""Claims chosen on one half of the data and tested on the other, sealed half."""

from __future__ import annotations

from math import comb

from privacy.checks import check_whole


def count_possible_claims(claims: int, *, misses: int) -> int:
    """Count the claims that could be tested, whatever the verdicts on the sealed half are.

    Parameters
    ----------
    claims : int
        Largest number of claims tested, at least 1.
    misses : int
        Number of verdicts "not confirmed" after which no further claim is tested, at least 1.

    Returns
    -------
    int
        The number of tests that an error rate must be divided by.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Each claim is a function of the open half and of the earlier verdicts. With B = `claims` and r =
    `misses`, a claim can follow each sequence of t < B verdicts with fewer than r misses. The
    number of possible claims is

    $$N = \\sum_{t=0}^{B-1} \\sum_{j=0}^{r-1} \\binom{t}{j}.$$

    Given the open half, these N claims are fixed before the sealed half is read, so Bonferroni's
    inequality holds for all of them. Claims that are all tested together do not depend on verdicts;
    r = 1 covers this case, because N is then equal to B.

    References
    ----------
    Dunn, O. J. (1961), Multiple comparisons among means, JASA 56(293), section 3; for verdicts that
    later claims depend on, Blum, A. and Hardt, M. (2015), The Ladder, ICML, section 3.

    Examples
    --------
    >>> count_possible_claims(10, misses=1), count_possible_claims(10, misses=2)
    (10, 55)
    """
    claims = check_whole("claims", claims, at_least=1)
    misses = check_whole("misses", misses, at_least=1)
    return sum(comb(tested, missed) for tested in range(claims) for missed in range(misses))
