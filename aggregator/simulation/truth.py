"""Compute the true value of every estimand where all answers are known, as in a demo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from aggregator.results.display import Results
from aggregator.results.estimands import Estimand, list_estimands
from aggregator.results.sentences import (
    EMPTY,
    describe_caution,
    describe_estimate,
    write_value,
)
from aggregator.simulation.demo import demo_of
from aggregator.simulation.demo_surveys import DEMOS
from aggregator.simulation.respondents import Answers, find_asked, find_code
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ANSWERED
from surveys.manifest.serialization import parse_manifest
from surveys.models import Survey


def known_truth(survey: Survey) -> Mapping[str, float]:
    """Return the true values by `Estimand.key`; surveys other than demos have none."""
    demo = demo_of(survey)
    wave = survey.find_wave() if demo else None
    return EMPTY if demo is None or wave is None else _of_demo(demo.key, bytes(wave.manifest))


@lru_cache(maxsize=len(DEMOS))
def _of_demo(key: str, manifest: bytes) -> Mapping[str, float]:
    (demo,) = (demo for demo in DEMOS if demo.key == key)
    described = parse_manifest(manifest)
    return compute_truth(described, demo.people_of(described))


def describe_truth(survey: Survey) -> str:
    """Say where the true values come from, or return "" if the survey is not a demo."""
    demo = demo_of(survey)
    return demo.note if demo else ""


def compute_truth(manifest: Manifest, people: Sequence[Answers]) -> dict[str, float]:
    """Compute the true value of each estimand that describes anyone, by its key."""
    questions = {question.name: question for question in manifest.questions}
    asked = [find_asked(manifest, answers) for answers in people]
    codes = {
        symbol.name: [
            # Below, only the presence of a number matters, not its bit.
            find_code(
                symbol, questions[symbol.question], seen, answers, random_uint32=lambda: 2**32 - 1
            )
            for seen, answers in zip(asked, people, strict=True)
        ]
        for symbol in manifest.symbols
    }
    truth = {}
    for estimand in list_estimands(manifest):
        values = list(_values(estimand, codes, people))
        if values:
            truth[estimand.key] = sum(values) / len(values)
    return truth


def _values(
    estimand: Estimand, codes: Mapping[str, Sequence[int]], people: Sequence[Answers]
) -> Iterator[float]:
    """Yield 1, 0 or the number for each person in the group that the estimand describes."""
    question = estimand.question
    gates = codes[estimand.gate] if estimand.gate else [ANSWERED] * len(people)
    for code, gate, answers in zip(codes[estimand.symbol], gates, people, strict=True):
        if gate != ANSWERED or (estimand.among is not None and code not in estimand.among):
            continue
        if not estimand.is_mean:
            yield float(code in estimand.event)
            continue
        answer = answers[question.name]
        assert isinstance(answer, int)
        assert question.minimum is not None
        yield float(answer if question.is_rounded else question.minimum + answer)


def write_comparison(results: Results, truth: Mapping[str, float]) -> Iterator[str]:
    """Write a line for each estimate that pages list, with the estimate and the true value."""
    for question in results.questions:
        for estimate in question.shown:
            true_value = write_value(estimate, truth.get(estimate.estimand.key), 1)
            name = f"Q{question.number} {estimate.estimand.text}"
            yield f"  {name:<34.34} {describe_estimate(estimate):<44} truth {true_value}"
    if caution := describe_caution(one for question in results.questions for one in question.shown):
        yield f"  {caution}"
