"""The true value of every estimand, for respondents whose answers are known: demo and rehearsal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from aggregator.results.estimands import ANSWERED, Estimand, Kind, list_estimands
from aggregator.results.results import Results
from aggregator.results.sentences import describe_estimate, write_value
from aggregator.simulation.respondents import Answers, find_asked, find_code
from surveys.manifest.manifest import Manifest, ManifestQuestion


def name_estimand(estimand: Estimand) -> str:
    """As truths are named: "q3 1" is the share of code 1 of q3."""
    return f"{estimand.question} {estimand.name}"


def find_truths(manifest: Manifest, people: Sequence[Answers]) -> dict[str, float]:
    """What the estimates would be if everybody's answers were known; none where nobody counts."""
    questions = {question.name: question for question in manifest.questions}
    asked = [find_asked(manifest, answers) for answers in people]
    codes = {
        symbol.name: [
            # Rounded down: of a number only whether there is one counts here.
            find_code(
                symbol, questions[symbol.question], seen, answers, random_uint32=lambda: 2**32 - 1
            )
            for seen, answers in zip(asked, people, strict=True)
        ]
        for symbol in manifest.symbols
    }
    truths = {}
    for estimand in list_estimands(manifest):
        values = list(_values(estimand, questions[estimand.question], codes, people))
        if values:
            truths[name_estimand(estimand)] = sum(values) / len(values)
    return truths


def _values(
    estimand: Estimand,
    question: ManifestQuestion,
    codes: dict[str, list[int]],
    people: Sequence[Answers],
) -> Iterator[float]:
    """Of each person who counts: 1 or 0, or the number."""
    gates = codes[estimand.gate] if estimand.gate else [ANSWERED] * len(people)
    for code, gate, answers in zip(codes[estimand.symbol], gates, people, strict=True):
        if gate != ANSWERED or (estimand.among is not None and code not in estimand.among):
            continue
        if estimand.kind is Kind.SHARE:
            yield float(code in estimand.event)
            continue
        answer = answers[question.name]
        assert isinstance(answer, int)
        assert question.minimum is not None
        yield float(answer if question.is_rounded else question.minimum + answer)


def write_comparison(results: Results, truths: Mapping[str, float]) -> Iterator[str]:
    """A line for each estimate that pages show: what is estimated, and what is true."""
    for question in results.questions:
        for found in question.interest:
            truth = write_value(found, truths.get(name_estimand(found.estimand)), 1)
            name = f"Q{question.number} {found.estimand.text}"
            yield f"  {name:<34.34} {describe_estimate(question, found):<44} truth {truth}"
