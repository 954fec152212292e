"""A lower bound on the privacy loss of a mechanism, computed from repeated runs."""

from __future__ import annotations

from math import log

from scipy.special import betaincinv

from privacy.checks import check_level, check_share, check_whole


def audited_epsilon(
    *, hits: int, other_hits: int, runs: int, delta: float = 0.0, level: float = 0.975
) -> float:
    """Find a lower bound on a mechanism's epsilon from how often an event occurs on two neighbours.

    Parameters
    ----------
    hits : int
        Number of runs on the first table in which the event occurred, 0 <= hits <= runs.
    other_hits : int
        Number of runs on the neighbouring table in which the event occurred,
        0 <= other_hits <= runs.
    runs : int
        Number of independent runs on each of the two tables, at least 1.
    delta : float, optional
        The mechanism's delta, in [0, 1).
    level : float, optional
        Confidence of each of the two limits, in (0, 1).

    Returns
    -------
    float
        ln((p - delta) / q), where p is the lower limit for the first probability and q is the upper
        limit for the other, or 0 if the logarithm would be negative. The probability that the
        result exceeds the mechanism's epsilon is at most 2 (1 - level).

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The limits are Clopper and Pearson's, which hold for any number of runs. The event must be
    chosen before the runs. A value above the promised epsilon shows a fault; a value below it
    proves nothing, because the loss may be larger for another event or other neighbours.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934), The use of confidence or fiducial limits illustrated
    in the case of the binomial, Biometrika 26(4).
    Jagielski, M., Ullman, J. and Oprea, A. (2020), Auditing differentially private machine
    learning, NeurIPS, algorithm 1.

    Examples
    --------
    >>> round(audited_epsilon(hits=62_246, other_hits=37_754, runs=100_000), 9)
    0.487201231
    """
    runs = check_whole("runs", runs, at_least=1)
    hits = check_whole("hits", hits, at_least=0, at_most=runs)
    other_hits = check_whole("other_hits", other_hits, at_least=0, at_most=runs)
    delta = check_share("delta", delta, ends="[)")
    level = check_level(level)
    low = float(betaincinv(hits, runs - hits + 1, 1 - level)) if hits else 0.0
    high = float(betaincinv(other_hits + 1, runs - other_hits, level)) if other_hits < runs else 1.0
    return log((low - delta) / high) if low - delta > high else 0.0
