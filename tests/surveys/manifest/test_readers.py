"""The most that readers of releases can learn about one answer, however the cap is spent."""

from __future__ import annotations

import itertools
from math import exp, log, prod

import pytest

from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question
from surveys.manifest.manifest import Manifest, Publication
from surveys.manifest.question_types import QuestionType
from surveys.manifest.readers import (
    Loss,
    find_answered,
    find_replaced,
    find_taking_part,
    worst_reader,
)
from surveys.models import Survey
from tests.support.factories import make_survey

pytestmark = pytest.mark.django_db
REGIONS = [f"Region {letter}" for letter in "abcdefghijklmnop"]


def make(*, cap: int = 100, delta: int = 0, questions: tuple[str, ...] = ("Moved?",)) -> Survey:
    return make_survey(
        questions=questions,
        publication=Publication.PROTECTED,
        release_epsilon_hundredths=cap,
        release_delta_nanos=delta,
    )


def read(survey: Survey) -> Manifest:
    return build_manifest(survey=survey, wave_number=1)


def largest_log_ratio(mechanisms: list[RandomizedResponse], *, epsilon: float) -> float:
    """Search all corners: outputs whose likelihoods given each report are either 1 or e^ε."""
    reports = list(itertools.product(*(range(one.symbols) for one in mechanisms)))

    def chances(answer: int) -> list[float]:
        return [
            prod(_chance(one, code, answer) for one, code in zip(mechanisms, report, strict=True))
            for report in reports
        ]

    one, other = chances(0), chances(1)
    return max(
        log(_weigh(one, corner) / _weigh(other, corner))
        for corner in itertools.product((1.0, exp(epsilon)), repeat=len(reports))
    )


def _chance(mechanism: RandomizedResponse, code: int, answer: int) -> float:
    return mechanism.other_probability + (mechanism.slope if code == answer else 0.0)


def _weigh(chances: list[float], likelihoods: tuple[float, ...]) -> float:
    return sum(chance * one for chance, one in zip(chances, likelihoods, strict=True))


# The figures are the reader's ε for k = 2 and ln 3. The ε of a replaced report is twice the cap.
@pytest.mark.parametrize(
    ("cap", "reader"), [(25, 0.246154088), (50, 0.470614920), (100, 0.801983163)]
)
def test_one_code_reveals_what_the_reference_says(cap: int, reader: float) -> None:
    manifest = read(make(cap=cap))
    assert find_answered(manifest, manifest.questions[0]).epsilon == pytest.approx(reader, abs=1e-9)


@pytest.mark.parametrize("cap", [10, 50, 100, 300])
@pytest.mark.parametrize("codes", [1, 2, 3])
@pytest.mark.parametrize("flips", [12, 25, 40])
def test_no_release_tells_a_reader_more_about_a_fact_asked_several_times(
    cap: int, codes: int, flips: int
) -> None:
    survey = make(cap=cap, questions=())
    for number in range(codes):
        first = survey.questions.first()
        add_question(
            survey=survey,
            text=f"Moved ({number})?",
            flips=flips,
            same_fact=first.pk if first else None,
        )
    manifest = read(survey)
    found = find_answered(manifest, manifest.questions[0]).epsilon
    mechanisms = [one.mechanism for one in manifest.questions]
    worst = largest_log_ratio(mechanisms, epsilon=cap / 50)
    print(f"{codes} codes, cap {cap / 100}: bound {found:.6f}, worst release {worst:.6f}")
    assert found >= worst - 1e-12
    if codes == 1:
        assert found == pytest.approx(worst, rel=1e-12)


def test_the_smallest_bound_counts() -> None:
    """Two lists of 16 regions have small slopes, so the reports' distance is the tighter bound."""
    survey = make(questions=())
    for text in ("Where do you live?", "Where is your home?"):
        first = survey.questions.first()
        add_question(
            survey=survey,
            type=QuestionType.CHOICE,
            text=text,
            options=REGIONS,
            flips=12,
            same_fact=first.pk if first else None,
        )
    manifest = read(survey)
    mechanism = manifest.questions[0].mechanism
    growth = exp(2) - 1
    keep, other = mechanism.other_probability + mechanism.slope, mechanism.other_probability
    several = 2 * log((1 + keep * growth) / (1 + other * growth))
    apart = log(1 + 2 * mechanism.slope * growth)
    assert apart < several < manifest.statement_epsilon(manifest.questions[0])
    assert find_answered(manifest, manifest.questions[0]).epsilon == pytest.approx(apart)


def test_many_rows_reveal_no_more_than_a_replaced_report_or_than_to_the_server() -> None:
    survey = make(cap=50, questions=())
    add_question(survey=survey, type=QuestionType.SEVERAL, text="Which?", options=REGIONS)
    manifest = read(survey)
    assert find_answered(manifest, manifest.questions[0]).epsilon == 1.0
    weak = make(cap=300)
    [question] = read(weak).questions
    server = read(weak).statement_epsilon(question)
    assert 1.08 < find_answered(read(weak), question).epsilon < server


def test_an_answer_that_is_sent_as_it_is_may_lose_twice_the_cap() -> None:
    survey = make(cap=30)
    add_question(survey=survey, type=QuestionType.DECLARED, text="Department?", options=REGIONS[:3])
    manifest = read(survey)
    assert find_answered(manifest, manifest.questions[1]).epsilon == 0.6
    worst = worst_reader(manifest)
    assert worst is not None
    assert worst.question.name == "q1"
    assert worst.reader < 0.6
    assert worst.server == pytest.approx(log(3))


def test_what_is_asked_only_after_an_answer_tells_about_that_answer_too() -> None:
    survey = make()
    first = survey.questions.get()
    add_question(survey=survey, text="Last year?", rule={"name": str(first.pk), "is": [1]})
    manifest = read(survey)
    parent, child = (find_answered(manifest, one).epsilon for one in manifest.questions)
    assert parent == pytest.approx(child + 0.801983163)
    worst = worst_reader(manifest)
    assert worst is not None
    assert (worst.question.name, worst.reader) == ("q1", parent)


def test_of_a_random_subset_only_what_one_person_is_asked_counts() -> None:
    survey = make(questions=("Moved?",))
    first = survey.questions.get()
    add_question(survey=survey, text="Ever moved?", flips=25, same_fact=first.pk)
    everything = read(survey)
    survey.drawn = 1
    one = read(survey)
    assert find_answered(one, one.questions[0]).epsilon == pytest.approx(0.801983163)
    assert find_answered(everything, everything.questions[0]).epsilon == pytest.approx(
        2 * 0.801983163
    )


def test_delta_grows_as_two_steps_and_never_makes_a_guess_better_than_said() -> None:
    manifest = read(make(cap=100, delta=1000))
    assert find_taking_part(manifest) == Loss(epsilon=1.0, delta=1e-6)
    replaced = find_replaced(manifest)
    assert replaced.epsilon == 2.0
    assert replaced.delta == pytest.approx(1e-6 * (1 + exp(1)))
    found = find_answered(manifest, manifest.questions[0])
    assert found.epsilon == pytest.approx(0.801983163)
    assert 0.5 * replaced.delta <= found.delta < 2 * replaced.delta
    guess = 1 / (1 + exp(-found.guess_epsilon))
    assert guess == pytest.approx((exp(found.epsilon) + found.delta) / (1 + exp(found.epsilon)))
    assert Loss(epsilon=1.0).guess_epsilon == pytest.approx(1.0)


def test_a_survey_without_scrambled_questions_has_no_worst_answer() -> None:
    assert worst_reader(read(make(questions=()))) is None
