"""The attacks on a survey: their targets, and how often they succeed."""

from __future__ import annotations

from math import exp

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aggregator.results.display import Results, find_view
from aggregator.simulation import attacks
from aggregator.simulation.attacks import Attacks, Target, find_target, play_attacks
from privacy.central.attacks import success_bound
from surveys.authoring.services import add_question
from surveys.models import Question, Wave
from tests.support.breakdowns.waves import finish, make_closed_wave, send_rows
from tests.support.factories import make_survey, open_survey
from tests.support.waves import make_wave

pytestmark = pytest.mark.django_db


def results_of(wave: Wave) -> Results:
    results = find_view(wave.survey).results
    assert results is not None
    return results


def target_of(wave: Wave) -> Target:
    target = find_target(results_of(wave))
    assert target is not None
    return target


def play(wave: Wave, hundredths: int) -> Attacks:
    played = play_attacks(results_of(wave), epsilon_hundredths=hundredths)
    assert played is not None
    return played


def yes_wave(*, yes: int, total: int) -> Wave:
    """Close a wave with one question; `yes` of the codes are Yes."""
    wave = make_wave(questions=1)
    send_rows(wave, [bytes([number < yes]) for number in range(total)])
    return finish(wave)


def test_a_declared_answer_is_looked_for_before_any_code() -> None:
    target = target_of(make_closed_wave())
    assert target.question.is_declared
    assert target.text in ("Kitchen", "Ward", "Office")
    assert 0 < target.count < target.total == 600


def test_without_a_declared_question_it_is_the_code_that_splits_reports_most_evenly() -> None:
    wave = make_wave(questions=2)
    send_rows(wave, [bytes([number < 30, number < 55]) for number in range(100)])
    target = target_of(finish(wave))
    assert target.question.number == 2
    assert {target.count, target.total - target.count} == {55, 45}
    assert target.people == 90


def test_a_declared_answer_that_hardly_splits_people_is_passed_over() -> None:
    wave = make_closed_wave(people=200, display_minimum=10, groups=("Kitchen", "Ward"))
    assert target_of(wave).question.is_declared
    snapshot = wave.snapshots.get(final=True)
    snapshot.counts[0] = [5, 195, 0]
    snapshot.save()
    assert not target_of(wave).question.is_declared


@pytest.mark.parametrize("yes", [0, 9, 91, 100])
def test_equal_reports_have_nothing_to_find_out(yes: int) -> None:
    assert play_attacks(results_of(yes_wave(yes=yes, total=100)), epsilon_hundredths=100) is None


def test_at_most_two_hundred_people_are_reconstructed_and_half_of_them_have_the_answer() -> None:
    assert target_of(yes_wave(yes=300, total=700)).people == 200
    assert target_of(yes_wave(yes=37, total=700)).people == 74


@pytest.mark.parametrize("hundredths", [10, 50, 100, 200])
def test_exact_figures_are_broken_and_a_release_keeps_its_bound(hundredths: int) -> None:
    played = play(yes_wave(yes=300, total=700), hundredths)
    bound = success_bound(epsilon=hundredths / 100)
    assert played.epsilon == hundredths / 100
    for bars in (played.differencing, played.needle, played.reconstruction):
        right = {bar.kind: bar.right for bar in bars}
        assert all(bar.right == 1 for bar in bars if bar.kind == "exact")
        assert right["release"] <= bound + 1e-12
        assert right["guessing"] == 0.5


@pytest.mark.parametrize("hundredths", [10, 50, 100, 200])
def test_a_leader_tells_more_about_an_answer_than_any_release_about_taking_part(
    hundredths: int,
) -> None:
    """Two answers are tied without the person, whose answer puts one of them ahead by one."""
    played = play(yes_wave(yes=300, total=700), hundredths)
    epsilon = hundredths / 100
    assert played.leader is not None
    assert played.leader == pytest.approx(1 - exp(-epsilon) / 2)
    bound = success_bound(epsilon=played.epsilon)
    bound_of_answers = success_bound(epsilon=played.replaced_epsilon)
    assert bound < played.leader < bound_of_answers
    assert played.replaced_epsilon == 2 * epsilon
    if hundredths == 100:
        assert round(played.leader, 3) == 0.816
        assert (round(bound, 3), round(bound_of_answers, 3)) == (0.731, 0.881)


def test_the_leader_of_a_list_tells_no_single_answer() -> None:
    survey = make_survey(questions=())
    options = ["Boss", "Doctor", "Nobody"]
    add_question(survey=survey, type=Question.Type.SEVERAL, text="Which help?", options=options)
    wave = open_survey(survey=survey)
    send_rows(wave, [bytes([number % 2, 1, 0]) for number in range(300)])
    assert play(finish(wave), 100).leader is None


def test_the_needle_reaches_the_bound_in_a_table_of_one_code_only() -> None:
    one = play(yes_wave(yes=300, total=700), 100)
    assert one.symbols == 1
    assert one.needle[-2].right == pytest.approx(success_bound(epsilon=1))
    wave = make_closed_wave()
    many = play(wave, 100)
    assert many.symbols == len(wave.description.symbols)
    assert 0.5 < many.needle[-2].right < success_bound(epsilon=1)


def test_a_table_of_a_random_subset_counts_only_what_one_report_can_have() -> None:
    wave = make_closed_wave(drawn=2)
    manifest = wave.description
    assert play(wave, 100).symbols < len(manifest.symbols)


def test_groups_have_at_least_as_many_people_as_the_survey_shows() -> None:
    wave = make_wave(questions=1, display_minimum=30)
    send_rows(wave, [bytes([number < 300]) for number in range(700)])
    names = [bar.name for bar in play(finish(wave), 100).reconstruction]
    assert names[1] == "Exact, no group below 30 people"


def test_no_group_is_larger_than_its_complement_may_be() -> None:
    wave = make_wave(questions=1, display_minimum=500)
    send_rows(wave, [bytes([number < 300]) for number in range(700)])
    assert play(finish(wave), 100).solved.smallest == 100  # half of 200 people


def test_attacks_read_counts_and_never_a_row() -> None:
    wave = make_closed_wave()
    results = results_of(wave)
    attacks._reconstruct.cache_clear()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert play_attacks(results, epsilon_hundredths=100) is not None
    assert len(queries) == 0


def test_a_second_visit_solves_nothing_again() -> None:
    results = results_of(yes_wave(yes=300, total=700))
    attacks._reconstruct.cache_clear()
    first = play_attacks(results, epsilon_hundredths=50)
    misses = attacks._reconstruct.cache_info().misses
    assert misses == 3  # exact, exact in large groups, and the release
    assert play_attacks(results, epsilon_hundredths=50) == first
    assert attacks._reconstruct.cache_info().misses == misses
