"""Test which requests are possible, and that noise depends only on the request and manifest."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from surveys.authoring.services import add_question
from surveys.manifest.manifest import Manifest, Publication
from surveys.manifest.question_types import QuestionType
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Survey
from surveys.releasing.choice import NotReleasable, check_request, list_candidates
from surveys.releasing.noise import Mechanism, count_most_symbols, plan_release
from tests.support.factories import make_survey, open_survey
from tests.support.waves import make_protected_wave

pytestmark = pytest.mark.django_db
TABLE, LEADER, MEDIAN = ReleaseKind.TABLE, ReleaseKind.LEADER, ReleaseKind.MEDIAN
TYPES = {
    "choice": {"type": QuestionType.CHOICE, "options": ["a", "b", "c"]},
    "scale": {"type": QuestionType.SCALE, "minimum": 1, "maximum": 5},
    "two points": {"type": QuestionType.SCALE, "minimum": 0, "maximum": 1},
    "long scale": {"type": QuestionType.SCALE, "minimum": 0, "maximum": 10},
    "number": {"type": QuestionType.NUMBER, "minimum": 0, "maximum": 80},
    "number, may decline": {
        "type": QuestionType.NUMBER,
        "minimum": 0,
        "maximum": 80,
        "refusal": True,
    },
    "several": {"type": QuestionType.SEVERAL, "options": ["a", "b"], "refusal": True},
    "follow-up": {"type": QuestionType.FOLLOW_UP, "follow_up": "This year?"},
    "declared": {"type": QuestionType.DECLARED, "options": ["North", "South"]},
    "text": {"type": QuestionType.INFORMATION},
}


def describe_every_type() -> tuple[Manifest, dict[str, str]]:
    """Make a manifest with one question of every type, and say what each name stands for."""
    survey = make_survey(
        questions=["Yes or no?"], rehearsal=True, publication=Publication.PROTECTED
    )
    for text, settings in TYPES.items():
        add_question(survey=survey, text=text, flips=25, **settings)  # type: ignore[arg-type]
    manifest = open_survey(survey=Survey.objects.get(pk=survey.pk)).description
    return manifest, {one.name: one.text for one in manifest.questions}


def ask(*questions: str, kind: ReleaseKind = TABLE, epsilon: int = 100) -> ReleaseRequest:
    return ReleaseRequest(kind=kind, questions=questions, epsilon_hundredths=epsilon)


@pytest.mark.parametrize(
    ("kind", "left_out"),
    [
        (TABLE, {"text", "number, may decline"}),
        (LEADER, {"text", "long scale", "number", "number, may decline", "follow-up"}),
    ],
)
def test_every_type_is_offered_unless_its_figure_would_say_nothing(
    kind: ReleaseKind, left_out: set[str]
) -> None:
    manifest, texts = describe_every_type()
    offered = {texts[question.name] for question in list_candidates(manifest, kind)}
    assert offered == set(texts.values()) - left_out


def test_only_a_scale_with_three_points_or_more_has_a_median() -> None:
    manifest, texts = describe_every_type()
    assert [texts[one.name] for one in list_candidates(manifest, MEDIAN)] == ["scale"]


def test_the_order_of_questions_is_the_manifests() -> None:
    manifest, _ = describe_every_type()
    names = [one.name for one in list_candidates(manifest, TABLE)]
    checked = check_request(ask(*reversed(names)), manifest)
    assert checked.questions == tuple(names)
    assert checked.digest == check_request(ask(*names), manifest).digest
    assert checked.digest != check_request(ask(*names, epsilon=99), manifest).digest
    assert ReleaseRequest.from_json(checked.to_json()) == checked


@pytest.mark.parametrize("kind", ["", "median", "TABLE", None])
def test_a_kind_that_does_not_exist_is_refused(kind: ReleaseKind) -> None:
    manifest, _ = describe_every_type()
    with pytest.raises(NotReleasable, match="of this kind"):
        check_request(ask("q1", kind=kind), manifest)


def test_a_table_has_as_much_noise_as_its_symbols_together_take() -> None:
    """One report is in one cell of each symbol, so Δ₁ is the number of symbols, and b = Δ₁/ε."""
    manifest, texts = describe_every_type()
    name = {text: key for key, text in texts.items()}
    # This question has a gate and two items.
    assert count_most_symbols(manifest, [name["several"]]) == 3
    chosen = (name["Yes or no?"], name["several"], name["declared"])
    plan = plan_release(ask(*chosen, epsilon=30), manifest, delta_nanos_left=0)
    assert (plan.mechanism, plan.scale, plan.sensitivity, plan.delta_nanos) == (
        Mechanism.LAPLACE,
        Fraction(50, 3),
        5,
        0,
    )


def test_of_random_subsets_the_largest_that_a_person_may_get_counts() -> None:
    """There are three blocks, of one, one and three symbols; each person gets two of them."""
    survey = make_survey(
        questions=["A?", "B?"], rehearsal=True, publication=Publication.PROTECTED, drawn=2
    )
    for text in ("several", "declared"):
        add_question(survey=survey, text=text, flips=25, **TYPES[text])  # type: ignore[arg-type]
    manifest = open_survey(survey=Survey.objects.get(pk=survey.pk)).description
    assert manifest.block_count == 3
    counts = {
        ("q1",): 1,
        ("q1", "q2"): 2,
        ("q1", "q3"): 4,
        ("q1", "q2", "q3"): 4,
        ("q1", "q2", "q3", "q4"): 5,
    }
    assert {names: count_most_symbols(manifest, names) for names in counts} == counts


def test_many_symbols_take_gaussian_noise_and_all_of_delta() -> None:
    manifest = make_protected_wave(questions=12).description
    names = [f"q{number}" for number in range(1, 13)]
    plans = {
        count: plan_release(ask(*names[:count]), manifest, delta_nanos_left=1000)
        for count in (8, 9, 12)
    }
    assert {count: (plan.mechanism, plan.delta_nanos) for count, plan in plans.items()} == {
        8: ("laplace", 0),
        9: ("gaussian", 1000),
        12: ("gaussian", 1000),
    }
    gaussian = plans[12]
    assert gaussian.rho == pytest.approx(12 / (2 * float(gaussian.scale) ** 2), rel=1e-12)
    assert plan_release(ask(*names), manifest, delta_nanos_left=0).mechanism == "laplace"


@pytest.mark.parametrize(
    ("people", "mechanism"), [(100_000, "gaussian"), (100_001, "laplace"), (None, "gaussian")]
)
def test_delta_must_be_at_most_a_tenth_of_a_person(people: int | None, mechanism: str) -> None:
    manifest = replace(make_protected_wave(questions=12).description, people_expected=people)
    names = [f"q{number}" for number in range(1, 13)]
    plan = plan_release(ask(*names), manifest, delta_nanos_left=1000)
    assert plan.mechanism == mechanism


def test_a_leader_needs_half_the_noise_of_a_median() -> None:
    manifest, texts = describe_every_type()
    (scale,) = (key for key, text in texts.items() if text == "scale")
    leader = plan_release(ask(scale, kind=LEADER, epsilon=50), manifest, delta_nanos_left=1000)
    assert (leader.scale, leader.sensitivity, leader.is_monotone) == (Fraction(2), 1, True)
    median = plan_release(ask(scale, kind=MEDIAN, epsilon=50), manifest, delta_nanos_left=1000)
    # Five points at ε = ln 3: c = 1/7, Δ = 10/7, in thousandths, rounded up.
    assert (median.scale, median.sensitivity, median.is_monotone) == (
        Fraction(4 * 1429),
        1429,
        False,
    )
    assert (leader.delta_nanos, median.delta_nanos, leader.rho) == (0, 0, 0.125)
