"""A silent mail server stops neither pages nor sealing; unsent mails are in the log."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from scripts.attacks.fuzz.target import wait_for
from scripts.stack.opening import OpenWave, open_surveys
from scripts.stack.stack import Stack, free_port
from scripts.stack.world import OWNER, World

JSON = {"content-type": "application/json"}
RESET = "/accounts/password/reset/"
PEOPLE = [OWNER, "rosa@example.org", "carl@example.org"]
ADD = """
from accounts.models import User
for email in {emails!r}:
    User.objects.create_user(email, "a long enough passphrase")
"""


def make_world(var: Path, *, email_url: str = "") -> World:
    settings = {"MURMUR_SWEEP_SECONDS": "1"} | ({"EMAIL_URL": email_url} if email_url else {})
    return World(stack=Stack(var=var, port=free_port(), settings=settings), database_url="")


@pytest.fixture
def silent_server() -> Iterator[socket.socket]:
    """Accept connections, as a mail server does, and send nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield server


@pytest.fixture
def hanging(silent_server: socket.socket, tmp_path: Path) -> Iterator[World]:
    port = silent_server.getsockname()[1]
    world = make_world(tmp_path, email_url=f"smtp://127.0.0.1:{port}")
    try:
        world.begin()
        world.stack.manage("shell", "-v", "0", "-c", ADD.format(emails=PEOPLE[1:]))
        yield world
    finally:
        world.stack.stop()


@pytest.fixture
def unsent(tmp_path: Path) -> Iterator[World]:
    """Run Murmur as scripts/run does: it writes mails to a log."""
    world = make_world(tmp_path)
    try:
        world.begin()
        yield world
    finally:
        world.stack.stop()


def browser(world: World) -> httpx.Client:
    return httpx.Client(base_url=world.stack.url, trust_env=False, timeout=20)


def ask_for_reset(world: World, email: str) -> int:
    with browser(world) as client:
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get(RESET).text)
        assert token is not None
        form = {"email": email, "csrfmiddlewaretoken": token[1]}
        return client.post(RESET, data=form, headers={"Referer": world.stack.url}).status_code


def send_reports(world: World, wave: OpenWave, *, count: int) -> None:
    with browser(world) as client:
        for _ in range(count):
            reply = client.post("/api/reports", content=wave.body(b"\1"), headers=JSON)
            assert reply.status_code == 201


def count_waiting_mails(world: World) -> int:
    [(count,)] = world.query("SELECT count(*) FROM accounts_mail WHERE account <> 0")
    return int(count)


@pytest.mark.long
def test_a_mail_server_that_says_nothing_stops_no_page_and_no_sealing(
    hanging: World, silent_server: socket.socket
) -> None:
    [wave] = open_surveys(
        hanging.stack, [{"minimum_batch": 10, "display_minimum": 10}], questions=1
    )
    silent_server.settimeout(60)
    with ThreadPoolExecutor(12) as people:
        replies = list(people.map(lambda email: ask_for_reset(hanging, email), PEOPLE * 4))
    assert replies == [302] * 12
    # Now a worker waits for the mail server, and no other process does.
    connection, _ = silent_server.accept()
    with connection, browser(hanging) as client:
        for path in ("/healthz", "/accounts/login/", f"/s/{wave.slug}", RESET):
            assert client.get(path).status_code == 200
        for _ in range(2):
            before = hanging.tally().sealed
            send_reports(hanging, wave, count=40)
            wait_for(lambda known=before: hanging.tally().sealed > known, seconds=60)  # type: ignore[misc]
        assert count_waiting_mails(hanging) == len(PEOPLE)
    # A mail that is requested later is also tried once, but no mail is retried immediately.
    silent_server.settimeout(0)
    attempts = 1
    while True:
        try:
            silent_server.accept()[0].close()
        except BlockingIOError:
            break
        attempts += 1
    assert attempts <= len(PEOPLE)


@pytest.mark.long
def test_a_mail_that_nobody_sends_is_where_the_page_says(unsent: World) -> None:
    assert ask_for_reset(unsent, OWNER) == 302
    with browser(unsent) as client:
        place = re.search(r"<code>([^<]+)</code>", client.get(f"{RESET}done/").text)
        assert place is not None
        log = Path(place[1])
        pattern = rf"http://localhost:{unsent.stack.port}({RESET}key/\S+)"
        wait_for(lambda: re.search(pattern, log.read_text()) is not None, seconds=60)
        link = re.search(pattern, log.read_text())
        assert link is not None
        page = client.get(link[1], follow_redirects=True)
        assert "Choose a new password" in page.text
    assert count_waiting_mails(unsent) == 0
