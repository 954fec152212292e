"""The rows of a logistic regression: checked, and added up where design and channel agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from privacy.checks import Floats, check_whole_counts

_COLLINEAR = 1e-10  # length of the part of a unit column that earlier columns do not explain


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportRows:
    """Distinct rows of design and channel with their counts, as floats."""

    design: Floats
    successes: Floats
    failures: Floats
    c: Floats
    d: Floats
    rest: Floats  # 1 - c - d, the probability of not reporting the event when it is true


def check_design(design: ArrayLike) -> Floats:
    rows = np.asarray(design, dtype=np.float64)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"design must have the shape (rows, predictors), got {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError(f"design must be finite, got {rows[~np.isfinite(rows)][0]}")
    return rows


def _check_counts(name: str, counts: ArrayLike, rows: int) -> Floats:
    values = check_whole_counts(name, counts)
    if values.shape != (rows,):
        raise ValueError(f"{name} must have one entry for each of {rows} rows, got {values.shape}")
    return values.astype(np.float64)


def _check_channel(name: str, value: ArrayLike, rows: int) -> Floats:
    values = np.asarray(value, dtype=np.float64)
    if values.shape not in ((), (rows,)):
        raise ValueError(
            f"{name} must be one number or one for each of {rows} rows, got {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, got {value!r}")
    return np.broadcast_to(values, (rows,))


def check_rows(
    design: ArrayLike,
    successes: ArrayLike,
    totals: ArrayLike,
    *,
    other_probability: ArrayLike,
    slope: ArrayLike,
) -> ReportRows:
    table = check_design(design)
    rows, predictors = table.shape
    shown = _check_counts("successes", successes, rows)
    reports = _check_counts("totals", totals, rows)
    c = _check_channel("other_probability", other_probability, rows)
    d = _check_channel("slope", slope, rows)
    if reports.min() < 1:
        raise ValueError(
            f"totals must be at least 1 (leave out rows without reports), got {reports.min():.0f}"
        )
    if (shown > reports).any():
        bad = int(np.argmax(shown > reports))
        raise ValueError(
            f"successes must be from 0 to totals, got {shown[bad]:.0f} of {reports[bad]:.0f}"
        )
    if c.min() < 0:
        raise ValueError(f"other_probability must be at least 0, got {c.min()}")
    if d.min() <= 0:
        raise ValueError(f"slope must be positive, got {d.min()}")
    if (c + d).max() > 1 + 1e-12:
        raise ValueError(f"other_probability + slope must be at most 1, got {(c + d).max()}")
    if rows < predictors:
        raise ValueError(f"design must have at least {predictors} rows with reports, got {rows}")
    return ReportRows(
        design=table,
        successes=shown,
        failures=reports - shown,
        c=c,
        d=d,
        rest=rest_probability(c, d),
    )


def rest_probability(c: Floats, d: Floats) -> Floats:
    rest = 1 - c - d
    return np.where(rest < 1e-15, 0.0, rest)  # rounding of c + d = 1


def group_rows(rows: ReportRows) -> ReportRows:
    """Add up rows with equal design and channel; the likelihood stays the same."""
    keys, which = np.unique(
        np.column_stack([rows.design, rows.c, rows.d]), axis=0, return_inverse=True
    )
    return ReportRows(
        design=np.ascontiguousarray(keys[:, :-2]),
        successes=np.bincount(which, weights=rows.successes).astype(np.float64),
        failures=np.bincount(which, weights=rows.failures).astype(np.float64),
        c=keys[:, -2],
        d=keys[:, -1],
        rest=rest_probability(keys[:, -2], keys[:, -1]),
    )


def check_names(names: Sequence[str] | None, predictors: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{j + 1}" for j in range(predictors))
    if len(names) != predictors or len(set(names)) != predictors:
        raise ValueError(f"names must be {predictors} different names, got {list(names)!r}")
    return tuple(names)


def check_rank(design: Floats, names: tuple[str, ...]) -> None:
    lengths = np.linalg.norm(design, axis=0)
    scaled = design / np.where(lengths > 0, lengths, 1.0)
    left = np.zeros(len(names))  # the part of each column that earlier columns do not explain
    diagonal = np.abs(np.diagonal(np.linalg.qr(scaled).R))
    left[: len(diagonal)] = diagonal  # distinct rows may be fewer than columns
    if (left < _COLLINEAR).any():
        j = int(np.argmax(left < _COLLINEAR))
        raise ValueError(
            f"design must have independent columns: {names[j]!r} is zero or a combination of "
            f"{list(names[:j])!r}; leave it out"
        )
