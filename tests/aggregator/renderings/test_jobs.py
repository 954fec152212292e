"""Files are made by workers: each once, again after a crash, and never for an older look."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone
from pytest_django.fixtures import Settings

from aggregator.models import Rendering
from aggregator.renderings.jobs import (
    GAVE_UP,
    KEPT_BYTES,
    KEPT_PER_WAVE,
    QUEUE,
    find_renderings_to_run,
    note_sent,
    request_rendering,
    run_rendering,
)
from aggregator.renderings.recipes import NotRenderable, Recipe
from aggregator.results.display import Results, find_view
from aggregator.upkeep.deleting import delete_survey
from surveys.leases import MAX_ATTEMPTS, Queue
from surveys.models import Survey, Wave
from tests.support.factories import make_launched_survey
from tests.support.fielding import field, process, send_codes

pytestmark = pytest.mark.django_db
NAME = "chart.180mm.svg"


@pytest.fixture
def survey() -> Survey:
    return field(make_launched_survey(), yes=[80, 100], total=200)


def results_of(survey: Survey) -> Results:
    results = find_view(survey).results
    assert results is not None
    return results


def request(survey: Survey, *, name: str = NAME, inputs: str = "1") -> Rendering:
    return request_rendering(results=results_of(survey), name=name, inputs=inputs)


def make_recipe(
    render: Callable[[Results, str], bytes] = lambda results, name: b"made", *, inputs: str = "1"
) -> Callable[[str], Recipe]:
    recipe = Recipe(find_inputs=lambda results, name: inputs, render=render)
    return lambda name: recipe


def run(rendering: Rendering, recipe: Callable[[str], Recipe | None]) -> bool:
    done = run_rendering(rendering_id=rendering.pk, find_recipe=recipe)
    if Rendering.objects.filter(pk=rendering.pk).exists():
        rendering.refresh_from_db()
    return done


def refuse(results: Results, name: str) -> bytes:
    raise NotRenderable("Nobody was asked Q3.")


def fail(results: Results, name: str) -> bytes:
    raise OSError("the disk is full")


def test_a_file_is_asked_for_once_and_made_once(survey: Survey) -> None:
    rendering = request(survey)
    assert request(survey) == rendering
    assert not rendering.content
    made: list[str] = []

    def render(results: Results, name: str) -> bytes:
        made.append(f"{name} {results.snapshot.total}")
        return b"<svg/>"

    assert run(rendering, make_recipe(render))
    assert not run(rendering, make_recipe(render))
    assert made == [f"{NAME} 200"]
    assert (rendering.state, rendering.content) == (Rendering.State.DONE, b"<svg/>")
    assert not find_renderings_to_run().exists()


def test_another_worker_takes_over_when_the_lease_expires(survey: Survey) -> None:
    rendering = request(survey)
    taken: list[bool] = []

    def render(results: Results, name: str) -> bytes:
        taken.append(run_rendering(rendering_id=rendering.pk, find_recipe=make_recipe()))
        Rendering.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
        taken.append(run_rendering(rendering_id=rendering.pk, find_recipe=make_recipe()))
        return b"too late"

    assert run(rendering, make_recipe(render))
    assert taken == [False, True]
    assert rendering.content == b"made"  # when its lease expired, the first worker lost its row


def test_a_lease_from_a_clock_that_was_set_back_expires(survey: Survey) -> None:
    rendering = request(survey)
    until = timezone.now() + 3 * QUEUE.lease
    Rendering.objects.update(state=Rendering.State.RUNNING, leased_until=until)
    assert list(find_renderings_to_run()) == [rendering]


def test_a_failure_is_tried_again_and_then_given_up_with_a_sentence(survey: Survey) -> None:
    rendering = request(survey)
    for attempt in range(MAX_ATTEMPTS + 1):
        assert rendering.attempts == attempt
        assert run(rendering, make_recipe(fail))
        Rendering.objects.update(leased_until=None)
    assert (rendering.state, rendering.problem) == (Rendering.State.FAILED, GAVE_UP)
    assert rendering.was_given_up
    assert not run(rendering, make_recipe())
    QUEUE.try_again(rendering)
    assert run(rendering, make_recipe())
    assert rendering.content == b"made"


def test_a_refusal_is_final(survey: Survey) -> None:
    rendering = request(survey)
    run(rendering, make_recipe(refuse))
    assert (rendering.state, rendering.problem) == (
        Rendering.State.FAILED,
        "Nobody was asked Q3.",
    )
    assert not rendering.was_given_up
    QUEUE.try_again(rendering)
    assert not find_renderings_to_run().exists()


def test_a_file_of_an_older_look_is_never_made() -> None:
    wave = make_launched_survey()
    send_codes(wave, yes=[80, 100], total=200)
    process(wave)
    old = request(wave.survey)
    survey = field(wave, yes=[80, 100], total=200)
    assert run(old, make_recipe(fail))
    assert not Rendering.objects.exists()
    assert request(survey).final


def test_files_of_older_looks_are_deleted_at_the_next_visit() -> None:
    wave = make_launched_survey()
    send_codes(wave, yes=[80, 100], total=200)
    process(wave)
    run(request(wave.survey), make_recipe())
    survey = field(wave, yes=[80, 100], total=200)
    new = request(survey)
    assert list(Rendering.objects.all()) == [new]


@pytest.mark.parametrize(
    "recipe", [make_recipe(inputs="2"), lambda name: None], ids=["inputs", "no such file"]
)
def test_a_file_whose_inputs_have_changed_is_not_made(
    survey: Survey, recipe: Callable[[str], Recipe | None]
) -> None:
    run(request(survey), recipe)
    assert not Rendering.objects.exists()


def test_only_the_newest_files_of_a_wave_are_kept(survey: Survey) -> None:
    other = request(field(make_launched_survey(), yes=[80, 100], total=200))
    first = request(survey)
    for number in range(KEPT_PER_WAVE):
        request(survey, inputs=f"another {number}")
    assert survey.waves.get().renderings.count() == KEPT_PER_WAVE
    assert not Rendering.objects.filter(pk=first.pk).exists()
    assert Rendering.objects.filter(pk=other.pk).exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("render", [lambda results, name: b"made", fail])
def test_a_survey_that_is_deleted_meanwhile_leaves_nothing(
    survey: Survey, render: Callable[[Results, str], bytes]
) -> None:
    rendering = request(survey)

    def delete_first(results: Results, name: str) -> bytes:
        delete_survey(survey=survey)
        return render(results, name)

    assert run(rendering, make_recipe(delete_first))
    assert not Rendering.objects.exists()
    assert not Wave.objects.exists()


@pytest.fixture
def small(settings: Settings) -> int:
    """Let an account keep ten bytes of files."""
    settings.FILE_BYTES_PER_ACCOUNT = 10
    return 10


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [([4, 4], [4, 4]), ([4, 4, 2], [4, 4, 2]), ([4, 4, 3], [4, 3]), ([1, 1, 10], [10])],
)
def test_the_oldest_files_of_an_account_make_room(
    survey: Survey, small: int, sizes: list[int], kept: list[int]
) -> None:
    second = field(make_launched_survey(), yes=[80, 100], total=200)
    second.memberships.update(account=survey.owner)
    foreign = request(field(make_launched_survey(), yes=[80, 100], total=200))
    assert run(foreign, make_recipe(lambda results, name: b"x" * small))
    for number, size in enumerate(sizes):
        own = request((survey, second)[number % 2], inputs=str(number))
        content = b"x" * size
        assert run(own, make_recipe(lambda *_, c=content: c, inputs=str(number)))
    made = Rendering.objects.exclude(pk=foreign.pk).order_by("pk")
    assert [len(bytes(row.content or b"")) for row in made] == kept
    foreign.refresh_from_db()
    assert foreign.content


def test_a_file_larger_than_all_room_says_so_and_can_be_tried_again(
    survey: Survey, small: int, settings: Settings
) -> None:
    rendering = request(survey)
    large = make_recipe(lambda results, name: b"x" * (small + 1))
    assert run(rendering, large)
    assert rendering.state == Rendering.State.FAILED
    assert "the server keeps at most 0 MB of files for one account" in rendering.problem
    settings.FILE_BYTES_PER_ACCOUNT = 20
    assert rendering.was_given_up
    QUEUE.try_again(rendering)
    assert run(rendering, large)
    assert rendering.state == Rendering.State.DONE


@pytest.mark.parametrize(("size", "is_kept"), [(KEPT_BYTES, True), (KEPT_BYTES + 1, False)])
def test_a_large_file_goes_when_it_was_sent(survey: Survey, size: int, is_kept: bool) -> None:
    rendering = request(survey)
    run(rendering, make_recipe(lambda results, name: b"x" * size))
    note_sent(rendering)
    assert Rendering.objects.exists() == is_kept


def test_a_disk_that_is_full_when_a_file_is_stored_delays_it(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendering = request(survey)

    def fill(*_: object, **__: object) -> None:
        raise OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Queue, "store", fill)
        assert run(rendering, make_recipe())
    assert rendering.state == Rendering.State.WAITING
    Rendering.objects.update(leased_until=None)
    assert run(rendering, make_recipe())
    assert rendering.content == b"made"
