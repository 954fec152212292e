"""A code works only once and near its time; wrong codes cause pauses that nothing shortens."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext

import pytest
from django.core.cache import cache
from django.db import connection
from pytest_django.plugin import DjangoDbBlocker

from accounts.models import AccountMail, User
from accounts.second_factor.codes import (
    FREE_FAILURES,
    LONGEST_PAUSE_SECONDS,
    TOLD_AFTER,
    check_code,
    find_step,
    hide_moments,
    pause_after,
)
from scripts.attacks.linker.server import Server, django_on
from tests.support.factories import make_user
from tests.support.second_factors import add_second_factor, app_of, code_now, wrong_code

MoveOn = Callable[[float], None]
# These are the last six of the eight digits in RFC 6238, appendix B, for SHA-1.
VECTORS = ((59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130"))


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


@pytest.fixture
def passing_time(monkeypatch: pytest.MonkeyPatch) -> MoveOn:
    """A clock that stands still, in the middle of a step, until a test moves it."""
    now = [1_800_000_015.0]
    monkeypatch.setattr(time, "time", lambda: now[0])

    def move_on(seconds: float) -> None:
        now[0] += seconds

    return move_on


def is_right(person: User, code: str) -> bool:
    return check_code(user=person, code=code).authenticator is not None


def test_codes_are_those_of_the_standard(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    for moment, code in VECTORS:
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        assert find_step(secret, code) == moment // 30


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("seconds", "expected"), [(-60, False), (-30, True), (30, True), (60, False)]
)
def test_a_clock_may_be_half_a_minute_off(
    person: User, passing_time: MoveOn, seconds: int, expected: bool
) -> None:
    add_second_factor(person)
    assert is_right(person, code_now(seconds=seconds)) is expected


@pytest.mark.django_db
def test_a_code_works_once_even_without_the_cache_and_with_the_clock_set_back(
    person: User, passing_time: MoveOn
) -> None:
    add_second_factor(person)
    code, earlier = code_now(), code_now(seconds=-30)
    assert is_right(person, code)
    cache.clear()
    assert not is_right(person, code)
    assert not is_right(person, earlier)
    passing_time(-30)
    assert not is_right(person, code)
    passing_time(90)
    assert is_right(person, code_now())


@pytest.mark.django_db
def test_an_hour_later_no_row_says_when_a_code_was_used(person: User, passing_time: MoveOn) -> None:
    add_second_factor(person)
    code = code_now()
    assert is_right(person, code)
    check_code(user=person, code=wrong_code())
    app_of(person).record_usage()
    hide_moments()
    assert not is_right(person, code)
    passing_time(2 * LONGEST_PAUSE_SECONDS)
    hide_moments()
    row = app_of(person)
    assert row.last_used_at is None
    assert f"{row.created_at:%H:%M:%S.%f}" == "00:00:00.000000"
    assert row.data.keys() == {"secret", "failures"}


@pytest.mark.django_db
def test_spaces_are_fine_and_other_digits_and_long_texts_are_only_wrong(
    person: User, passing_time: MoveOn
) -> None:
    add_second_factor(person)
    for text in ("٣٣٣٣٣٣", "\x00", "1" * 10_000):
        assert not is_right(person, text)
    assert is_right(person, f" {code_now()[:3]} {code_now()[3:]}")


@pytest.mark.django_db
def test_wrong_codes_cost_time_whatever_becomes_of_the_cache(
    person: User, passing_time: MoveOn
) -> None:
    codes = add_second_factor(person)
    for _ in range(FREE_FAILURES):
        assert check_code(user=person, code=wrong_code()).wait == 0
    cache.clear()
    for right in (code_now(), codes[0]):
        assert check_code(user=person, code=right).wait == 30
    assert app_of(person).data["failures"] == FREE_FAILURES  # these two were not checked
    passing_time(30)
    assert is_right(person, code_now())
    assert check_code(user=person, code=wrong_code()).wait == 0


@pytest.mark.django_db
def test_a_clock_that_was_set_back_locks_nobody_out(person: User, passing_time: MoveOn) -> None:
    add_second_factor(person)
    for _ in range(FREE_FAILURES):
        check_code(user=person, code=wrong_code())
    passing_time(-86_400)
    assert is_right(person, code_now())


def test_pauses_double_up_to_an_hour() -> None:
    pauses = [pause_after(failures) for failures in range(FREE_FAILURES - 1, FREE_FAILURES + 9)]
    assert pauses == [0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert pause_after(10**9) == LONGEST_PAUSE_SECONDS


@pytest.mark.django_db
def test_the_owner_reads_that_somebody_guesses(person: User, passing_time: MoveOn) -> None:
    add_second_factor(person)
    for number in range(TOLD_AFTER + 2):
        assert AccountMail.objects.exists() is (number >= TOLD_AFTER)
        check_code(user=person, code=wrong_code())
        passing_time(LONGEST_PAUSE_SECONDS)
    assert AccountMail.objects.get(kind="codes-guessed").account == person.pk


@pytest.mark.django_db
def test_each_recovery_code_works_once(person: User) -> None:
    codes = add_second_factor(person)
    assert len(set(codes)) == 10
    assert is_right(person, codes[3])
    assert not is_right(person, codes[3])
    assert is_right(person, codes[4])
    assert AccountMail.objects.get().kind == "code-used"


def send_at_once(connect: Callable[[], AbstractContextManager[None]]) -> None:
    """Send the same codes in several threads; `connect` connects a thread to the database."""
    person = make_user()
    codes = add_second_factor(person)

    def send(code: str) -> bool:
        try:
            with connect():
                return is_right(person, code)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        for code in (code_now(), codes[0]):
            assert sum(threads.map(send, [code] * 4)) == 1
        list(threads.map(send, [wrong_code()] * 12))
    assert app_of(person).data["failures"] == FREE_FAILURES


@pytest.mark.django_db(transaction=True)
def test_a_code_sent_several_times_at_once_works_once() -> None:
    send_at_once(nullcontext)


def test_on_postgresql_too(postgres_server: Server, django_db_blocker: DjangoDbBlocker) -> None:
    def connect() -> AbstractContextManager[None]:
        return django_on(postgres_server.application_url)

    with django_db_blocker.unblock(), connect():
        send_at_once(connect)
