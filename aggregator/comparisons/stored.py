"""Write the result of a comparison as JSON and read it back.

JSON has no infinite or undefined numbers, so "inf", "-inf" and null stand for them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite, isnan
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from aggregator.comparisons.breakdown.result import BreakdownResult
from aggregator.comparisons.result import (
    STORED_AS,
    PairsResult,
    RegressionResult,
    SegmentsResult,
    StoredResult,
    TwoQuestionsResult,
)
from aggregator.models import Comparison
from aggregator.results.estimands import list_estimands
from surveys.manifest.manifest import Manifest

RESULT_CLASSES: Mapping[str, type[StoredResult]] = {
    Comparison.Kind.TABLE: TwoQuestionsResult,
    Comparison.Kind.REGRESSION: RegressionResult,
    Comparison.Kind.PAIRS: PairsResult,
    Comparison.Kind.BREAKDOWN: BreakdownResult,
    Comparison.Kind.SEGMENTS: SegmentsResult,
    Comparison.Kind.CLAIM: TwoQuestionsResult,
}
TEST_METHODS = frozenset({"pearson", "fisher_exact", "latent_likelihood_ratio", "no_variation"})
INFINITIES = ("inf", "-inf")


class UnreadableResult(Exception):
    """The stored JSON is not in this version's format, so the comparison must be computed again."""


def write_result(result: StoredResult) -> dict[str, Any]:
    written: dict[str, Any] = _write(result)
    return written


def read_result(kind: str, stored: object, *, indicators: Collection[str]) -> StoredResult:
    """Read a stored result, or raise UnreadableResult if any key, type or name is unknown."""
    try:
        result: StoredResult = _read_object(RESULT_CLASSES[kind], stored)
    except (KeyError, ValueError) as error:
        raise UnreadableResult(f"the stored {kind} does not fit: {error}") from error
    unknown = (result.indicators - set(indicators)) | (result.test_methods - TEST_METHODS)
    if unknown:
        raise UnreadableResult(f"unknown names {sorted(unknown)}")
    return result


def check_names(result: BreakdownResult, manifest: Manifest) -> None:
    """Raise UnreadableResult if a breakdown names anything that the survey does not have."""
    known = {(one.question.name, one.name) for one in list_estimands(manifest)}
    named = {(one.question, one.estimand) for one in result.estimates}
    named |= {(one.question, one.estimand) for one in result.differences}
    declared = {one.name for one in manifest.questions if one.is_declared}
    unknown = named - known
    unknown |= {(one.question, "") for one in result.crossed if one.question not in declared}
    if unknown:
        raise UnreadableResult(f"unknown names {sorted(unknown)}")


def _write(value: Any) -> Any:
    described: Any = type(value)
    if is_dataclass(value):
        return {key: _write(getattr(value, name)) for name, key, _ in _list_fields(described)}
    if isinstance(value, tuple):
        return [_write(part) for part in value]
    if not isinstance(value, float) or isfinite(value):
        return value
    return None if isnan(value) else repr(value)


def _read(expected: Any, value: Any) -> Any:
    origin, arguments = get_origin(expected), get_args(expected)
    if origin is UnionType:
        if value is None:
            return None
        [expected] = [argument for argument in arguments if argument is not NoneType]
        return _read(expected, value)
    if origin is tuple:
        return _read_list(arguments, value)
    if is_dataclass(expected):
        return _read_object(expected, value)
    if expected is float:
        return _read_number(value)
    if type(value) is not expected:
        raise UnreadableResult(f"expected {expected.__name__}, got {value!r}")
    return value


def _read_number(value: Any) -> float:
    if isinstance(value, str) and value in INFINITIES:
        return float(value)
    if type(value) not in (int, float) or not isfinite(value):
        raise UnreadableResult(f"expected a number, got {value!r}")
    number: float = value
    return number


def _read_list(arguments: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise UnreadableResult(f"expected a list, got {value!r}")
    if arguments[-1] is Ellipsis:
        arguments = (arguments[0],) * len(value)
    if len(arguments) != len(value):
        raise UnreadableResult(f"expected {len(arguments)} entries, got {value!r}")
    return tuple(_read(part, entry) for part, entry in zip(arguments, value, strict=True))


def _read_object(expected: Any, value: Any) -> Any:
    known = _list_fields(expected)
    if not isinstance(value, dict) or value.keys() != {key for _, key, _ in known}:
        found = sorted(value) if isinstance(value, dict) else value
        raise UnreadableResult(f"expected {[key for _, key, _ in known]}, got {found}")
    return expected(**{name: _read(kind, value[key]) for name, key, kind in known})


@cache
def _list_fields(described: type) -> list[tuple[str, str, Any]]:
    """List the name, key in JSON and type of each field."""
    kinds = get_type_hints(described)
    return [
        (one.name, one.metadata.get(STORED_AS, one.name), kinds[one.name])
        for one in fields(described)
    ]
