"""The whole numbers to which noise is added, or by which an answer is chosen.

All numbers are whole until after the draw. Sums of floats would depend on their order, and one
report could change them by more than expected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aggregator.batches.agreements import Pair, name_pair
from aggregator.batches.columns import Columns
from aggregator.batches.grouped_cells import Cells, count_sealed
from aggregator.releases.ledger import FinalCounts
from aggregator.results.estimands import YES
from privacy.central.key_driver import Rule, rule_scores
from privacy.central.median import scaled_scores
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.releases import ReleaseRequest
from surveys.models import Wave
from surveys.releasing.noise import find_other_probability, find_question, list_symbols

Counts = list[list[int]]  # of columns, as in batches and snapshots


def table_cells(
    counts: Counts, manifest: Manifest, questions: Sequence[str]
) -> dict[str, list[int]]:
    """Return how often each code was sent, for every symbol of these questions.

    One more report adds 1 to one cell of each symbol that it has.
    """
    by_symbol = _by_symbol(counts, manifest)
    return {symbol.name: by_symbol[symbol.name] for symbol in list_symbols(manifest, questions)}


def grouped_cells(counted: FinalCounts, wave: Wave, request: ReleaseRequest) -> Cells:
    """Return how often each code was sent in each group, for a planned table by groups.

    Each report is in one group, so one more report adds 1 to one cell of each symbol that it has.
    """
    if counted.through_batch:
        return count_sealed(wave, request, through_batch=counted.through_batch)
    return dict(counted.grouped.get(request.digest, {}))


def leader_scores(counts: Counts, manifest: Manifest, question: ManifestQuestion) -> dict[int, int]:
    """Return how many reports name each option, by its code.

    One more report adds at most 1 to each score and lowers none, so the scores are monotone.
    """
    by_symbol = _by_symbol(counts, manifest)
    if question.has_items:
        return {
            option.code: by_symbol[question.item_name(option.code)][YES]
            for option in question.options
        }
    return {option.code: by_symbol[question.name][option.code] for option in question.options}


def median_scores(counts: Counts, manifest: Manifest, question: ManifestQuestion) -> dict[int, int]:
    """Return, by code, how close each point of a scale is to being the median of all answers.

    One more report changes no score by more than `privacy.central.median.scaled_sensitivity`.
    """
    cells = _by_symbol(counts, manifest)[question.name]
    points = question.answers
    scores = scaled_scores(
        cells[:points],
        other_probability=find_other_probability(question),
        others=sum(cells[points:]),
    )
    return dict(enumerate(scores))


@dataclass(frozen=True, kw_only=True)
class RuleCounts:
    """The counts from which a key driver is drawn; predictors are in the order of its request."""

    predictors: tuple[ManifestQuestion, ...]
    agreeing: tuple[int, ...]
    yes: int
    yes_to: tuple[int, ...]  # the number of Yes to each predictor
    total: int

    @classmethod
    def of(
        cls,
        counts: Counts,
        manifest: Manifest,
        questions: Sequence[str],
        agreeing: Mapping[Pair, int],
    ) -> RuleCounts:
        """Read the counts of `questions`: the outcome, then its predictors."""
        by_symbol = _by_symbol(counts, manifest)
        outcome, *names = questions
        return cls(
            predictors=tuple(find_question(manifest, name) for name in names),
            agreeing=tuple(agreeing[name_pair(outcome, name)] for name in names),
            yes=by_symbol[outcome][YES],
            yes_to=tuple(by_symbol[name][YES] for name in names),
            total=sum(by_symbol[outcome]),
        )

    def score(self) -> list[int]:
        """Score every rule. One more report adds from 0 to `privacy.central.key_driver.FACTOR`."""
        return rule_scores(
            agreeing=self.agreeing,
            yes=self.yes,
            total=self.total,
            predictors=[one.mechanism for one in self.predictors],
        )

    def list_cells(self, rule: Rule) -> list[int]:
        """List the cells that say how often a rule is right. One more report adds 1 to one cell.

        For a constant, the cells count No and Yes to the outcome. Otherwise, they count the codes
        of outcome and predictor: No and No, No and Yes, Yes and No, Yes and Yes.
        """
        if rule.predictor is None:
            return [self.total - self.yes, self.yes]
        same, other = self.agreeing[rule.predictor], self.yes_to[rule.predictor]
        # The number of No-No reports is the number of Yes-Yes reports plus n, minus both numbers of
        # Yes.
        both = (same + self.yes + other - self.total) // 2
        return [same - both, other - both, self.yes - both, both]


def _by_symbol(counts: Counts, manifest: Manifest) -> dict[str, list[int]]:
    found = Columns.of(manifest).read_counts(counts)
    return {symbol.name: cells for symbol, cells in zip(manifest.symbols, found, strict=True)}
