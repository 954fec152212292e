"""Two machines on one PostgreSQL, each with web, worker, beat and its own folder.

The machines share only the database, the two Redis servers and the key that signs sessions.
"""

from __future__ import annotations

import asyncio
import base64
import multiprocessing
import random
import re
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass

import httpx
import psycopg
import pytest

from aggregator.batches.packing import unpack_reports
from aggregator.simulation.sending import send_reports
from scripts.attacks.fuzz.target import wait_for
from scripts.load.command import run_share
from scripts.load.plan import Plan, Tally
from scripts.stack.opening import OpenWave, open_surveys
from scripts.stack.postgres import Postgres
from scripts.stack.stack import Stack, free_port
from scripts.stack.world import World

pytestmark = pytest.mark.long  # the two machines keep both cores busy for a minute
# Forty codes make every report unique.
QUESTIONS = 40
# The first wave seals nothing, so that its reports can be compared with later copies.
MINIMUM_BATCHES = (1000, 10, 10, 10, 10)
# No row says which worker sealed, so a trigger records the connection's application name.
NOTE_WHO_SEALS = """
    CREATE TABLE sealed_by (wave_id bigint, machine text);
    CREATE FUNCTION note_who_seals() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO sealed_by VALUES (NEW.wave_id, current_setting('application_name'));
        RETURN NEW;
    END $$;
    CREATE TRIGGER note_who_seals AFTER INSERT ON aggregator_batch
    FOR EACH ROW EXECUTE FUNCTION note_who_seals()
"""


@dataclass(frozen=True)
class Machines:
    """The first machine's environment is used to query the database, which both machines share."""

    world: World
    first: Stack
    second: Stack
    waves: list[OpenWave]

    @property
    def urls(self) -> tuple[str, str]:
        return self.first.url, self.second.url

    def close(self, wave: OpenWave, *, client: httpx.Client, url: str) -> float:
        """Close the wave on a page, as its owner does; return how many seconds that took."""
        address = f"{url}/surveys/{wave.slug}/close"
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get(address).text)
        assert token is not None
        start = time.monotonic()
        reply = client.post(
            address, data={"csrfmiddlewaretoken": token[1]}, headers={"Referer": address}
        )
        assert reply.status_code == 302, reply.text
        return time.monotonic() - start

    def wait_until_final(self, wave: OpenWave) -> None:
        wait_for(
            lambda: bool(
                self.world.query(
                    f"SELECT 1 FROM aggregator_snapshot WHERE wave_id = {wave.pk} AND final"
                )
            ),
            seconds=45,
        )

    def sealed(self, wave: OpenWave) -> Counter[bytes]:
        """Return all sealed reports of a wave, read back from its batches."""
        found: Counter[bytes] = Counter()
        for packed, size in self.world.query(
            f"SELECT packed, size FROM aggregator_batch WHERE wave_id = {wave.pk}"
        ):
            rows = unpack_reports(bytes(packed), size=size, ks=[2] * QUESTIONS)
            found.update(row.tobytes() for row in rows)
        return found

    def sealers(self, wave: OpenWave) -> Counter[str]:
        rows = self.world.query(f"SELECT machine FROM sealed_by WHERE wave_id = {wave.pk}")
        return Counter(machine for (machine,) in rows)

    def spent(self, wave: OpenWave) -> set[bytes]:
        rows = self.world.query(f"SELECT id FROM aggregator_spent_id WHERE wave_id = {wave.pk}")
        return {bytes(report_id) for (report_id,) in rows}


@pytest.fixture(scope="module")
def machines(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    database_url = postgres.create_database()
    settings = {"MURMUR_SWEEP_SECONDS": "1", "SECRET_KEY": secrets.token_urlsafe(64)}

    def make(name: str, *, redis_url: str = "", limiter_url: str = "") -> Stack:
        return Stack(
            var=tmp_path_factory.mktemp(name),
            port=free_port(),
            database_url=f"{database_url}?application_name={name}",
            redis_url=redis_url,
            limiter_url=limiter_url,
            settings=settings,
        )

    first = make("first")
    second = make("second", redis_url=first.redis_url, limiter_url=first.limiter_url)
    world = World(stack=first, database_url=database_url)
    try:
        world.begin()
        # Both have the same build of static files, as if from one image.
        shutil.copytree(first.var / "static", second.var / "static")
        surveys = [
            {"minimum_batch": minimum, "display_minimum": 1000} for minimum in MINIMUM_BATCHES
        ]
        waves = open_surveys(first, surveys, questions=QUESTIONS, flips=45)
        with psycopg.connect(database_url) as connection:
            connection.execute(NOTE_WHO_SEALS)
        second.start_all()
        yield Machines(world, first, second, waves)
    finally:
        second.stop()
        first.stop()


def test_a_sign_in_on_one_machine_is_valid_on_the_other(machines: Machines) -> None:
    assert machines.first.var != machines.second.var
    with machines.world.signed_in() as client:
        for url in machines.urls:
            assert client.get(f"{url}/surveys/new").status_code == 200
    stranger = httpx.get(f"{machines.second.url}/surveys/new", trust_env=False)
    assert stranger.status_code == 302


def test_one_id_sent_to_both_machines_at_once_counts_once(machines: Machines) -> None:
    wave = machines.waves[0]
    ids = [secrets.token_bytes(32) for _ in range(100)]
    yes, no = bytes([1]) * QUESTIONS, bytes(QUESTIONS)

    async def race(client: httpx.AsyncClient, report_id: bytes, *symbols: bytes) -> tuple[int, ...]:
        posts = [
            client.post(
                f"{url}/api/reports",
                content=wave.body(chosen, report_id=report_id),
                headers={"content-type": "application/json"},
            )
            for url, chosen in zip(machines.urls, symbols, strict=True)
        ]
        return tuple(sorted(reply.status_code for reply in await asyncio.gather(*posts)))

    async def race_all() -> Counter[tuple[int, ...]]:
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
            outcomes = [await race(client, report_id, yes, yes) for report_id in ids[:50]]
            outcomes += [await race(client, report_id, yes, no) for report_id in ids[50:]]
        return Counter(outcomes)

    outcomes = asyncio.run(race_all())
    # If both reports with an id have the same content, one is recorded and the other is recognized.
    # If they differ, one is refused.
    assert outcomes == {(200, 201): 50, (201, 409): 50}
    assert machines.spent(wave) == set(ids)


def test_both_workers_seal_and_every_report_counts_once(machines: Machines) -> None:
    wave = machines.waves[1]
    generator = random.Random(20)
    rows = [bytes(generator.choices((0, 1), k=QUESTIONS)) for _ in range(3000)]
    bodies = [wave.body(row) for row in rows]
    assert len(set(rows)) == len(rows)

    def send(some: list[bytes]) -> None:
        """Send half of the reports to each machine at the same time."""
        with ThreadPoolExecutor(2) as pool:
            shares = [
                pool.submit(
                    send_reports,
                    some[number::2],
                    url=url,
                    connections=8,
                    seconds=60,
                    on_acknowledged=lambda _: None,
                )
                for number, url in enumerate(machines.urls)
            ]
            for share in shares:
                share.result()

    # Either worker alone seals the reports that both machines accepted. One beat is enough.
    machines.second.kill("beat")
    for number, (alive, dead) in enumerate((("first", "second"), ("second", "first"))):
        stack = getattr(machines, dead)
        stack.kill("worker")
        before = machines.sealers(wave)
        send(bodies[500 * number : 500 * (number + 1)])
        wait_for(lambda n=alive, b=before: machines.sealers(wave)[n] > b[n], seconds=45)  # type: ignore[misc]
        assert machines.sealers(wave)[dead] == before[dead]
        stack.start("worker")
    machines.second.start("beat")
    send(bodies[1000:])
    with machines.world.signed_in() as client:
        machines.close(wave, client=client, url=machines.second.url)
    machines.wait_until_final(wave)
    assert set(machines.sealers(wave)) == {"first", "second"}
    assert machines.sealed(wave) == Counter(rows)


def test_a_wave_closed_through_one_machine_is_closed_for_the_other_at_once(
    machines: Machines,
) -> None:
    symbols = bytes(QUESTIONS)
    headers = {"content-type": "application/json"}
    with machines.world.signed_in() as client:
        for number, urls in ((2, machines.urls), (3, machines.urls[::-1])):
            closing_url, other_url = urls
            wave = machines.waves[number]
            for _ in range(20):  # the other machine considers the wave open
                reply = client.post(
                    f"{other_url}/api/reports", content=wave.body(symbols), headers=headers
                )
                assert reply.status_code == 201
            machines.close(wave, client=client, url=closing_url)
            late = client.post(
                f"{other_url}/api/reports", content=wave.body(symbols), headers=headers
            )
            assert late.status_code == 410, late.text


def test_closing_succeeds_while_both_machines_are_fully_loaded(machines: Machines) -> None:
    wave = machines.waves[4]
    plan = Plan(
        urls=machines.urls,
        connections=64,
        seconds=8,
        manifest=wave.manifest,
        questions=QUESTIONS,
    )
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool, machines.world.signed_in() as client:
        sending = pool.submit(run_share, plan)
        wait_for(lambda: len(machines.spent(wave)) > 4000, seconds=45)
        seconds = machines.close(wave, client=client, url=machines.second.url)
        [(taken,)] = machines.world.query(
            f"SELECT count(*) FROM aggregator_spent_id WHERE wave_id = {wave.pk}"
        )
        assert not sending.done()
        tally: Tally = sending.result(timeout=60)
    print(f"closed after {seconds:.2f} s; {dict(tally.statuses)}, {dict(tally.failures)}")
    assert seconds < 5
    # Reports were either acknowledged before the closing or refused after it.
    assert set(tally.statuses) == {201, 410}
    assert not tally.failures
    assert min(tally.statuses.values()) > 1000
    acknowledged = {base64.urlsafe_b64decode(name + b"=") for name in tally.acknowledged}
    assert len(acknowledged) == tally.statuses[201] == taken
    machines.wait_until_final(wave)
    assert machines.spent(wave) == acknowledged
    assert machines.sealed(wave).total() == len(acknowledged)
