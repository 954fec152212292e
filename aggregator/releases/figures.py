"""The figures of a release, computed only from its stored noisy result and the manifest.

All code here works on noisy results. It reads no exact count and draws no noise. Pages may
therefore show these figures any number of times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, fsum, sqrt

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as noop
from scipy.special import ndtri

from aggregator.batches.grouped_cells import split_groups
from aggregator.models import Release
from aggregator.results.estimands import YES
from privacy.central.key_driver import (
    FACTOR,
    agreement_channel,
    estimate_rule,
    list_rules,
)
from privacy.central.points import table_mean
from privacy.central.table import (
    SpreadParts,
    least_people,
    table_interval,
    table_standard_error,
)
from privacy.level import LEVEL
from privacy.shares.intervals import simultaneous_level
from surveys.formatting import whole
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import NOT_ASKED_TEXT, REFUSED_TEXT, ManifestQuestion, Symbol
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.releasing.noise import (
    Mechanism,
    Noise,
    find_bound,
    find_question,
    find_rule_bound,
    list_symbols,
)
from surveys.releasing.words import find_group, name_question

MEAN_TEXT = noop("Mean")
NEEDS_TABLE = noop("It is shown only beside a table of the same question.")
# With probability 95 %, the noise of two or more cells is within this many standard deviations. Two
# cells with Laplace noise are the worst case: their noise exceeds x with probability exp(-x / b) (1
# + x / 2 b).
_DEVIATIONS = 2.1


@dataclass(frozen=True, kw_only=True)
class FigureRow:
    """A share of everyone who was asked, or a mean in the unit of its question.

    `share` is clipped to the possible range; `estimate` is not. `parts` are standard errors in the
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
    is_authors: bool  # whether the author wrote `text`
    # No share from 0 to 1 is plausible; the nearest share is shown.
    contradiction: bool = False
    level: float = LEVEL  # of the interval


@dataclass(frozen=True, kw_only=True)
class Group:
    """One answer to the background question that divides a table."""

    question: ManifestQuestion
    code: int

    @property
    def text(self) -> str:
        text = self.question.name_code(self.code)
        return text if self.is_authors else _(text)

    @property
    def key(self) -> str:
        return "refused" if self.code == self.question.refused_code else str(self.code)

    @property
    def is_authors(self) -> bool:
        """Whether the survey's author wrote the text."""
        return self.code != self.question.refused_code


@dataclass(frozen=True, kw_only=True)
class QuestionFigures:
    """The figures of one question, which `people` were asked according to noisy counts.

    If there are too few people, there are no rows. With probability 95 %, the number of people
    without noise is within `margin` of `people`. With random subsets, most questions are not
    `of_everyone`. In a table by groups, `people` counts one `group`.
    """

    question: ManifestQuestion
    of_everyone: bool
    people: int
    margin: int
    is_enough: bool
    people_needed: int
    rows: tuple[FigureRow, ...] = ()
    mean: FigureRow | None = None
    group: Group | None = None


@dataclass(frozen=True, kw_only=True)
class TableFigures:
    """The figures of a table, in which `people` took part according to noisy counts.

    `people` is None if each question was asked of only some people. A table by groups has every
    question once for each group.
    """

    people: int | None
    margin: int
    questions: tuple[QuestionFigures, ...]

    @property
    def is_enough(self) -> bool:
        return any(question.is_enough for question in self.questions)

    @property
    def people_needed(self) -> int:
        return max(question.people_needed for question in self.questions)

    @property
    def group(self) -> ManifestQuestion | None:
        """The question that divides the table, or None for a table of everyone together."""
        first = self.questions[0].group
        return first.question if first else None


@dataclass(frozen=True, kw_only=True)
class ChosenFigure:
    """One answer that chance named: a leader, a median, or a typical answer of earlier versions.

    At 95 % confidence, no option is more than `bound` people ahead of a leader, and a named point
    is the median or would be if at most `bound` people had answered differently. The bound covers
    only the noise of the release, not scrambling. A typical answer has no bound, because its score
    is not a number of people.
    """

    question: ManifestQuestion
    kind: ReleaseKind
    code: int
    text: str
    bound: float | None


@dataclass(frozen=True, kw_only=True)
class AlertFigure:
    """Whether the alert came, which says that more than `percent` % of those asked gave `code`."""

    question: ManifestQuestion
    code: int
    text: str
    percent: int
    came: bool


@dataclass(frozen=True, kw_only=True)
class KeyDriverFigures:
    """The rule that chance named, and how often it is right, from its noisy cells.

    `predictor` is None if no rule was named, or if the named rule is right no more often than the
    better constant. The first row is the rule, and the last is this constant. At 95 % confidence
    about the random choice, no other rule is right for more than `bound` additional people.
    """

    question: ManifestQuestion  # the outcome
    predictor: ManifestQuestion | None
    says_same: bool
    is_clear: bool  # whether the rule surely beats the constant
    bound: float
    people: int
    margin: int
    is_enough: bool
    people_needed: int
    rows: tuple[FigureRow, ...] = ()


Figures = TableFigures | ChosenFigure | AlertFigure | KeyDriverFigures


@dataclass(frozen=True, kw_only=True)
class Unsure:
    """An answer that chance named but that is not shown; `why` is a sentence."""

    question: ManifestQuestion
    why: str


def read_shown(releases: Sequence[Release], manifest: Manifest) -> dict[int, Figures | Unsure]:
    """Return the figures of drawn releases that the same people see, by primary key.

    An answer that chance named is shown only next to a table of its question with enough people,
    because the table's intervals show how uncertain the answer is. The noisy table decides whether
    it is shown, so this decision costs no ε.
    """
    found = {release.pk: read_figures(release, manifest) for release in releases}
    tables = [
        question
        for figures in found.values()
        if isinstance(figures, TableFigures)
        for question in figures.questions
        if question.group is None
    ]
    return {pk: _hide_unsure(figures, tables, manifest) for pk, figures in found.items()}


def _hide_unsure(
    figures: Figures, tables: Sequence[QuestionFigures], manifest: Manifest
) -> Figures | Unsure:
    # Earlier versions named answers without a table, and readers have seen them.
    if not isinstance(figures, ChosenFigure) or manifest.planned_releases is None:
        return figures
    own = [one for one in tables if one.question == figures.question]
    if any(one.is_enough for one in own):
        return figures
    why = describe_too_few(own[0]) if own else _(NEEDS_TABLE)
    return Unsure(question=figures.question, why=why)


def describe_too_few(figures: QuestionFigures | TableFigures | KeyDriverFigures) -> str:
    if isinstance(figures, KeyDriverFigures):
        too_few = _("Too few people for this key driver: it takes about %(people)s.")
    elif figures.group is None:
        too_few = _("Too few people for this table: it takes about %(people)s.")
    elif isinstance(figures, TableFigures):
        too_few = _("Too few people in every group: it takes about %(people)s.")
    else:
        too_few = _("Too few people in this group: it takes about %(people)s.")
    return too_few % {"people": whole(figures.people_needed)}


def read_figures(release: Release, manifest: Manifest) -> Figures:
    """Read the figures of a drawn release; `manifest` belongs to its wave."""
    request = ReleaseRequest.from_json(release.request)
    result = release.result
    if result is None:
        raise ValueError("release must be drawn before it has figures")
    if request.kind == ReleaseKind.TABLE:
        return _read_table(release, manifest, request, result["cells"])
    if request.kind == ReleaseKind.KEY_DRIVER:
        return _read_key_driver(release, request, manifest)
    question = next(one for one in manifest.questions if one.name == request.questions[0])
    texts = {option.code: option.text for option in question.options}
    if request.kind == ReleaseKind.ALERT:
        assert request.answer is not None
        assert request.percent is not None
        return AlertFigure(
            question=question,
            code=request.answer,
            text=texts[request.answer],
            percent=request.percent,
            came=result["alert"],
        )
    code = result["code"]
    is_bounded = request.kind != ReleaseKind.TYPICAL
    return ChosenFigure(
        question=question,
        kind=request.kind,
        code=code,
        text=texts[code],
        bound=find_bound(request, question) if is_bounded else None,
    )


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """The noisy counts of one symbol and its channel, which is 0.0 and 1.0 without scrambling."""

    counts: tuple[int, ...]
    other_probability: float
    slope: float

    @property
    def people(self) -> int:
        return sum(self.counts)


def _read_table(
    release: Release,
    manifest: Manifest,
    request: ReleaseRequest,
    found: Mapping[str, Sequence[int]],
) -> TableFigures:
    noise = Noise.of(release.mechanism, Fraction(release.scale))
    symbols = list_symbols(manifest, request.questions)
    cells = {symbol.name: _read_cells(symbol, found[symbol.name]) for symbol in symbols}
    of_everyone = [
        cells[symbol.name] for symbol in symbols if manifest.drawn is None or symbol.block is None
    ]
    # In a table by groups, all cells of a symbol together count its people.
    groups = list(_split(cells, find_group(manifest, request)))
    return TableFigures(
        people=_pool(of_everyone) if of_everyone else None,
        margin=_pool_margin(of_everyone, noise) if of_everyone else 0,
        questions=tuple(
            replace(
                _read_question(
                    question, own, noise, of_everyone=_is_of_everyone(manifest, question)
                ),
                group=group,
            )
            for question in manifest.questions
            if question.name in request.questions
            for group, own in groups
        ),
    )


def _split(
    cells: Mapping[str, _Cells], question: ManifestQuestion | None
) -> Iterator[tuple[Group | None, Mapping[str, _Cells]]]:
    """Yield the cells of each group, or all of them for everyone together."""
    if question is None:
        yield None, cells
        return
    counts = {name: list(one.counts) for name, one in cells.items()}
    for code, part in enumerate(split_groups(counts, groups=question.k)):
        own = {name: replace(cells[name], counts=tuple(part[name])) for name in cells}
        yield Group(question=question, code=code), own


def _read_cells(symbol: Symbol, counts: Sequence[int]) -> _Cells:
    if symbol.threshold is None:
        return _Cells(counts=tuple(counts), other_probability=0.0, slope=1.0)
    return _Cells(
        counts=tuple(counts),
        other_probability=symbol.mechanism.other_probability,
        slope=symbol.mechanism.slope,
    )


def _pool(cells: Sequence[_Cells]) -> int:
    """Combine noisy sums over the same people; a sum's variance grows with its number of codes."""
    weights = [1 / len(one.counts) for one in cells]
    total = fsum(weight * one.people for weight, one in zip(weights, cells, strict=True))
    return max(0, round(total / fsum(weights)))


def _pool_margin(cells: Sequence[_Cells], noise: Noise) -> int:
    """Return how far noise may move the pooled number, with probability 95 %."""
    # A sum of k cells has the variance k v and the weight 1 / k.
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
    """List a share for each answer, then for each other code."""
    if question.has_items:
        for option in question.options:
            item = cells[question.item_name(option.code)]
            yield _read_share(item, YES, noise, key=str(option.code), text=option.text)
    elif not question.is_rounded:
        for option in question.options:
            # The share of Yes determines the share of No.
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
            yield _read_share(gate, code, noise, key=key, text=_(text), is_authors=False)


def _read_share(
    cells: _Cells,
    code: int,
    noise: Noise,
    *,
    key: str,
    text: str,
    is_authors: bool = True,
    level: float = LEVEL,
) -> FigureRow:
    found = table_interval(
        count=cells.counts[code],
        people=cells.people,
        codes=len(cells.counts),
        other_probability=cells.other_probability,
        slope=cells.slope,
        noise_variance=noise.variance,
        level=level,
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
        level=level,
    )


def _has_mean(question: ManifestQuestion) -> bool:
    """Return whether the codes have a mean: none of them may be a refusal or "not asked"."""
    return question.has_mean and not question.has_extra_codes


def _read_mean(question: ManifestQuestion, cells: _Cells, noise: Noise) -> FigureRow:
    assert question.minimum is not None
    assert question.maximum is not None
    if question.is_rounded:
        share = _read_share(cells, YES, noise, key="mean", text=_(MEAN_TEXT), is_authors=False)
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
        text=_(MEAN_TEXT),
        share=min(max(found.value, found.low), found.high),
        low=found.low,
        high=found.high,
        estimate=found.value,
        count=None,
        parts=found.parts,
        is_authors=False,
    )


def _stretch(row: FigureRow, *, least: int, width: int) -> FigureRow:
    """Turn the share of ones of a rounded number into the number's mean."""
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


def _read_key_driver(
    release: Release, request: ReleaseRequest, manifest: Manifest
) -> KeyDriverFigures:
    """Read the named rule, and how often it is right.

    The rule was chosen from many, so its interval is a simultaneous one.
    """
    outcome, *predictors = (find_question(manifest, name) for name in request.questions)
    assert release.result is not None
    cells: list[int] = release.result["cells"]
    rule = list_rules(len(predictors))[release.result["rule"]]
    scale = Fraction(release.scale) / FACTOR
    noise, people = Noise.of(Mechanism.LAPLACE, scale), sum(cells)
    # Each count sums two cells, so its noise is as wide as noise with √2 times the scale.
    least = least_people(scale=sqrt(2) * float(scale))
    found = KeyDriverFigures(
        question=outcome,
        predictor=None,
        says_same=rule.says_same,
        is_clear=False,
        bound=find_rule_bound(request, manifest),
        people=max(0, people),
        margin=ceil(_DEVIATIONS * sqrt(len(cells) * noise.variance)),
        is_enough=people >= least,
        people_needed=least,
    )
    level = simultaneous_level(LEVEL, shares=len(predictors) + 1)
    if not found.is_enough:
        return found
    if rule.predictor is None:
        return replace(found, rows=(_read_constant(outcome, cells, noise, level=level),))
    (no_no, no_yes), (yes_no, yes_yes) = table = (cells[:2], cells[2:])
    both = replace(noise, variance=2 * noise.variance)
    constant = _read_constant(outcome, list(map(sum, table)), both, level=level)
    predictor = predictors[rule.predictor]
    estimate = estimate_rule(
        table=table,
        outcome=outcome.mechanism,
        predictor=predictor.mechanism,
        says_same=rule.says_same,
        noise_variance=noise.variance,
    )
    if estimate.gain <= 0:
        return replace(found, rows=(constant,))
    same, opposite = no_no + yes_yes, no_yes + yes_no
    named = _read_rule(
        (opposite, same) if rule.says_same else (same, opposite),
        (outcome, predictor),
        both,
        says_same=rule.says_same,
        level=level,
    )
    least_gain = estimate.find_least_gain(float(ndtri((1 + level) / 2)))
    return replace(found, predictor=predictor, is_clear=least_gain > 0, rows=(named, constant))


def _read_rule(
    counts: tuple[int, int],
    questions: tuple[ManifestQuestion, ManifestQuestion],
    noise: Noise,
    *,
    says_same: bool,
    level: float,
) -> FigureRow:
    """Read how often a rule is right; `counts` says for how many reports it is wrong and right."""
    outcome, predictor = questions
    b, a = agreement_channel(outcome=outcome.mechanism, predictor=predictor.mechanism)
    how = "same" if says_same else "opposite"
    # Translators: "question" is "Q3", in both.
    text = _("%(question)s: same answer") if says_same else _("%(question)s: opposite answer")
    return _read_share(
        _Cells(counts=counts, other_probability=b, slope=a),
        YES,
        noise,
        key=f"{predictor.name}_{how}",
        text=text % {"question": name_question(predictor)},
        is_authors=False,
        level=level,
    )


def _read_constant(
    outcome: ManifestQuestion, counts: Sequence[int], noise: Noise, *, level: float
) -> FigureRow:
    """Read how often the better of “always Yes” and “always No” is right."""
    mechanism = outcome.mechanism
    code = int(2 * counts[YES] > sum(counts))
    answer = "yes" if code == YES else "no"
    return _read_share(
        _Cells(
            counts=tuple(counts),
            other_probability=mechanism.other_probability,
            slope=mechanism.slope,
        ),
        code,
        noise,
        key=f"always_{answer}",
        text=_("Always Yes") if code == YES else _("Always No"),
        is_authors=False,
        level=level,
    )
