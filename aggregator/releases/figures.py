"""The figures of a release, computed only from its stored noisy result and the manifest.

Everything here is computed after the noise: nothing reads a count, and nothing draws. A page may
therefore show these figures any number of times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, fsum, sqrt

from aggregator.models import Release
from aggregator.releases.requests import ReleaseRequest, find_other_probability, list_symbols
from aggregator.results.estimands import YES
from privacy.central.noise import discrete_gaussian_variance, discrete_laplace_variance
from privacy.central.points import table_mean
from privacy.central.selection import selection_bound
from privacy.central.table import (
    SpreadParts,
    least_people,
    table_interval,
    table_standard_error,
)
from privacy.central.typical import FACTOR, scaled_sensitivity
from surveys.manifest.manifest import HUNDREDTHS, Manifest
from surveys.manifest.questions import REFUSED_TEXT, ManifestQuestion, Symbol

NOT_ASKED_TEXT = "Not asked"
MEAN_TEXT = "Mean"
LEVEL = 0.95
# The noise of two cells or more is within so many standard deviations with 95 %: Laplace noise of
# two cells is the widest, exp(-x / b) (1 + x / 2 b) of which is beyond x.
_DEVIATIONS = 2.1


@dataclass(frozen=True, kw_only=True)
class FigureRow:
    """A share of everyone who was asked, or a mean in the unit of its question.

    `share` is cut to what is possible and `estimate` is not. `parts` are standard errors in the
    same unit. `count` is the noisy number of reports; a mean has none.
    """

    key: str  # a code, "refused", "not_asked" or "mean"
    text: str
    share: float
    low: float
    high: float
    estimate: float
    count: int | None
    parts: SpreadParts
    is_authors: bool  # whether the words are the survey's
    # No share from 0 to 1 is plausible; the nearest one stands for it.
    contradiction: bool = False


@dataclass(frozen=True, kw_only=True)
class QuestionFigures:
    """`people` were asked, noise included. Without enough of them there are no rows.

    With 95 %, their number without noise is within `margin`. Of random subsets, most questions are
    asked of some people only, so not `of_everyone`.
    """

    question: ManifestQuestion
    of_everyone: bool
    people: int
    margin: int
    is_enough: bool
    people_needed: int
    rows: tuple[FigureRow, ...] = ()
    mean: FigureRow | None = None


@dataclass(frozen=True, kw_only=True)
class TableFigures:
    """`people` took part, noise included; None if each question was asked of some people only."""

    people: int | None
    margin: int
    questions: tuple[QuestionFigures, ...]

    @property
    def is_enough(self) -> bool:
        return any(question.is_enough for question in self.questions)

    @property
    def people_needed(self) -> int:
        return max(question.people_needed for question in self.questions)


@dataclass(frozen=True, kw_only=True)
class ChosenFigure:
    """A leader or a typical answer.

    With 95 %, no option is more than `bound` people ahead of a leader. People are estimated as they
    are without the noise of the release. Scrambling comes on top. A typical answer has no bound:
    that of its score is not the distance from any answer.
    """

    question: ManifestQuestion
    is_leader: bool
    code: int
    text: str
    bound: float | None


Figures = TableFigures | ChosenFigure


def read_figures(release: Release, manifest: Manifest) -> Figures:
    """Read the figures of a release that was drawn; `manifest` is that of its wave."""
    request = ReleaseRequest.from_json(release.request)
    result = release.result
    if result is None:
        raise ValueError("release must be drawn before it has figures")
    if request.kind == Release.Kind.TABLE:
        return _read_table(release, manifest, request.questions, result["cells"])
    question = next(one for one in manifest.questions if one.name == request.questions[0])
    code = result["code"]
    text = next(option.text for option in question.options if option.code == code)
    is_leader = request.kind == Release.Kind.LEADER
    return ChosenFigure(
        question=question,
        is_leader=is_leader,
        code=code,
        text=text,
        bound=find_bound(request, question) if is_leader else None,
    )


def find_bound(request: ReleaseRequest, question: ManifestQuestion) -> float:
    """Return how many people the score of the chosen answer may lie below the best, with 95 %.

    One person more moves the expected number of reports of an answer by the slope of the channel.
    """
    slope = question.mechanism.slope if question.is_scrambled else 1.0
    epsilon = request.epsilon_hundredths / HUNDREDTHS
    if request.kind == Release.Kind.LEADER:
        reports = selection_bound(
            sensitivity=1,
            epsilon=epsilon,
            candidates=len(question.options),
            level=LEVEL,
            monotone=True,
        )
        return reports / slope
    scaled = selection_bound(
        sensitivity=scaled_sensitivity(
            question.answers, other_probability=find_other_probability(question)
        ),
        epsilon=epsilon,
        candidates=question.answers,
        level=LEVEL,
    )
    # Scores are rounded to whole thousandths, which can move two of them apart by one.
    return (scaled + 1) / FACTOR / slope


# --- tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The noise of each cell of a table; `least` people must be in a symbol's noisy sum."""

    variance: float
    least: int

    @classmethod
    def of(cls, mechanism: str, scale: Fraction) -> Noise:
        """Describe the noise of a table by its mechanism and scale."""
        if mechanism == Release.Mechanism.GAUSSIAN:
            return cls(
                variance=discrete_gaussian_variance(variance=scale**2),
                least=least_people(scale=scale, mechanism="gaussian"),
            )
        return cls(variance=discrete_laplace_variance(scale=scale), least=least_people(scale=scale))


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """The noisy counts of one symbol, and its channel: c = 0 and d = 1 if nothing scrambled it."""

    counts: tuple[int, ...]
    other_probability: float
    slope: float

    @property
    def people(self) -> int:
        return sum(self.counts)


def _read_table(
    release: Release,
    manifest: Manifest,
    questions: Sequence[str],
    found: Mapping[str, Sequence[int]],
) -> TableFigures:
    noise = Noise.of(release.mechanism, Fraction(release.scale))
    symbols = list_symbols(manifest, questions)
    cells = {symbol.name: _read_cells(symbol, found[symbol.name]) for symbol in symbols}
    of_everyone = [
        cells[symbol.name] for symbol in symbols if manifest.drawn is None or symbol.block is None
    ]
    return TableFigures(
        people=_pool(of_everyone) if of_everyone else None,
        margin=_pool_margin(of_everyone, noise) if of_everyone else 0,
        questions=tuple(
            _read_question(question, cells, noise, of_everyone=_is_of_everyone(manifest, question))
            for question in manifest.questions
            if question.name in questions
        ),
    )


def _read_cells(symbol: Symbol, counts: Sequence[int]) -> _Cells:
    if symbol.threshold is None:
        return _Cells(counts=tuple(counts), other_probability=0.0, slope=1.0)
    return _Cells(
        counts=tuple(counts),
        other_probability=symbol.mechanism.other_probability,
        slope=symbol.mechanism.slope,
    )


def _pool(cells: Sequence[_Cells]) -> int:
    """Combine noisy sums that count the same people; the variance of each grows with its codes."""
    weights = [1 / len(one.counts) for one in cells]
    total = fsum(weight * one.people for weight, one in zip(weights, cells, strict=True))
    return max(0, round(total / fsum(weights)))


def _pool_margin(cells: Sequence[_Cells], noise: Noise) -> int:
    """Return how far the pooled number may be from the one without noise, with 95 %."""
    # Each sum has the variance k v and the weight 1 / k.
    variance = noise.variance / fsum(1 / len(one.counts) for one in cells)
    return ceil(_DEVIATIONS * sqrt(variance))


def _is_of_everyone(manifest: Manifest, question: ManifestQuestion) -> bool:
    return manifest.drawn is None or question.name not in manifest.blocks


def _read_question(
    question: ManifestQuestion, cells: Mapping[str, _Cells], noise: Noise, *, of_everyone: bool
) -> QuestionFigures:
    names = [question.gate_name] if question.has_gate else []
    names += list(question.answer_names)
    own = [cells[name] for name in names]
    found = QuestionFigures(
        question=question,
        of_everyone=of_everyone,
        people=_pool(own),
        margin=_pool_margin(own, noise),
        is_enough=all(one.people >= noise.least for one in own),
        people_needed=noise.least,
    )
    if not found.is_enough:
        return found
    return replace(
        found,
        rows=tuple(_list_rows(question, cells, noise)),
        mean=_read_mean(question, cells[question.name], noise) if _has_mean(question) else None,
    )


def _list_rows(
    question: ManifestQuestion, cells: Mapping[str, _Cells], noise: Noise
) -> Iterator[FigureRow]:
    """List a share for each answer, then for each code that is no answer."""
    if question.has_items:
        for option in question.options:
            item = cells[question.item_name(option.code)]
            yield _read_share(item, YES, noise, key=str(option.code), text=option.text)
    elif not question.is_rounded:
        for option in question.options:
            # The share of Yes determines that of No.
            if not question.has_only_yes_and_no or option.code == YES:
                yield _read_share(
                    cells[question.name],
                    option.code,
                    noise,
                    key=str(option.code),
                    text=option.text,
                )
    gate = cells.get(question.gate_name or question.name)
    for key, text, code in (
        ("refused", REFUSED_TEXT, question.refused_code),
        ("not_asked", NOT_ASKED_TEXT, question.not_asked_code),
    ):
        if code is not None and gate is not None:
            yield _read_share(gate, code, noise, key=key, text=text, is_authors=False)


def _read_share(
    cells: _Cells, code: int, noise: Noise, *, key: str, text: str, is_authors: bool = True
) -> FigureRow:
    found = table_interval(
        count=cells.counts[code],
        people=cells.people,
        codes=len(cells.counts),
        other_probability=cells.other_probability,
        slope=cells.slope,
        noise_variance=noise.variance,
        level=LEVEL,
    )
    estimate = float(found.share)
    share = min(max(estimate, 0.0), 1.0)
    low, high = float(found.low), float(found.high)
    return FigureRow(
        key=key,
        text=text,
        share=min(max(share, low), high),
        low=low,
        high=high,
        estimate=estimate,
        count=cells.counts[code],
        parts=table_standard_error(
            share=share,
            people=cells.people,
            mechanism_k=len(cells.counts),
            other_probability=cells.other_probability,
            slope=cells.slope,
            noise_variance=noise.variance,
        ),
        is_authors=is_authors,
        contradiction=bool(found.contradiction),
    )


def _has_mean(question: ManifestQuestion) -> bool:
    """Whether its codes have a mean that is one of everyone: none is a refusal or "not asked"."""
    return question.has_mean and not question.has_extra_codes


def _read_mean(question: ManifestQuestion, cells: _Cells, noise: Noise) -> FigureRow:
    assert question.minimum is not None
    assert question.maximum is not None
    if question.is_rounded:
        share = _read_share(cells, YES, noise, key="mean", text=MEAN_TEXT, is_authors=False)
        return _stretch(share, least=question.minimum, width=question.maximum - question.minimum)
    found = table_mean(
        counts=cells.counts,
        points=range(question.minimum, question.maximum + 1),
        other_probability=cells.other_probability,
        slope=cells.slope,
        noise_variance=noise.variance,
        level=LEVEL,
    )
    return FigureRow(
        key="mean",
        text=MEAN_TEXT,
        share=min(max(found.value, found.low), found.high),
        low=found.low,
        high=found.high,
        estimate=found.value,
        count=None,
        parts=found.parts,
        is_authors=False,
    )


def _stretch(row: FigureRow, *, least: int, width: int) -> FigureRow:
    """Turn the share of ones of a rounded number into its mean."""
    parts = SpreadParts(
        people=width * row.parts.people,
        scrambling=width * row.parts.scrambling,
        publication=width * row.parts.publication,
        total=width * row.parts.total,
    )
    return replace(
        row,
        share=least + width * row.share,
        low=least + width * row.low,
        high=least + width * row.high,
        estimate=least + width * row.estimate,
        count=None,
        parts=parts,
    )
