"""A kill storm: runs all of Murmur under load, kills its parts, and checks the result."""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from scripts.attacks.storm.checker import History, Verdict, check
from scripts.attacks.storm.crowd import UNRELIABLE, Crowd, Fate, Habits, Target
from scripts.attacks.storm.kills import Kill, Nemesis
from scripts.attacks.storm.rows import AWAY, OPEN_SEALING_SEEN, UNSETTLED, open_rows, read_batches
from scripts.stack.opening import open_surveys
from scripts.stack.postgres import Postgres
from scripts.stack.stack import Stack, free_port
from scripts.stack.world import World

MINIMUM_BATCH = 10
SETTLE_SECONDS = 90.0
RECOVERY_SECONDS = 10.0
SLOWEST_TOLD = 3
TASK_ERROR = re.compile(r"Task (\S+?)\[\S+\] raised unexpected: (.*)")
EXPECTED_ERRORS = ("OperationalError", "InterfaceError")
# No charts are made: they would take most of the workers' time, and they contain no reports.
SURVEY = {"minimum_batch": MINIMUM_BATCH, "display_minimum": 10**6}
QUESTIONS = 40
CLOSE_WAVES = """
from surveys.models import Wave
from surveys.lifecycle.services import close_wave
for wave in Wave.objects.open():
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
"""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The length and strength of a storm. Waves with a cap or a date close during it."""

    seed: int
    kills: int = 0
    rate: float = 160.0
    pause: float = 0.5
    owned: int = 3
    caps: Sequence[int] = ()
    dates: Sequence[int] = ()
    broker_away: float = 0.0  # seconds without a broker, after all kills
    habits: Habits = UNRELIABLE


@dataclass(frozen=True, kw_only=True)
class Outcome:
    start: float  # seconds of a start without kills
    seconds: float  # seconds from the end of the start to the last recovery
    acknowledged_meanwhile: int
    kills: Sequence[Kill]
    crowd: Crowd
    nemesis: Nemesis
    broker_away: float
    after_broker: float  # seconds from the broker's return to the next batch
    task_errors: Sequence[str]
    verdict: Verdict

    @property
    def surprises(self) -> list[str]:
        """Replies and errors that no kill explains."""
        return [*self.crowd.surprises, *self.task_errors]

    @property
    def rate(self) -> float:
        return self.acknowledged_meanwhile / self.seconds

    @property
    def worst_recovery(self) -> float:
        return max((kill.recovery for kill in self.kills), default=0.0)

    @property
    def usual_restart(self) -> float:
        """Return the time of a plain restart: the median over the killed web processes."""
        return statistics.median(kill.recovery for kill in self.kills if kill.kind == "web")

    @property
    def recovers_slowly(self) -> bool:
        # On a busy machine a plain restart alone takes many seconds.
        return self.worst_recovery >= max(RECOVERY_SECONDS, 3 * self.usual_restart)

    @property
    def in_open_sealing(self) -> int:
        return sum(OPEN_SEALING_SEEN in kill.evidence for kill in self.kills)

    def __str__(self) -> str:
        lines = [f"{'killed':<10}{'kills':>6}{'median s':>10}{'worst s':>9}"]
        for kind in sorted({kill.kind for kill in self.kills}):
            times = [kill.recovery for kill in self.kills if kill.kind == kind]
            median = statistics.median(times)
            lines.append(f"{kind:<10}{len(times):>6}{median:>10.1f}{max(times):>9.1f}")
        lines += [self._tell_kills(), self._tell_gaps(), self._tell_requests()]
        slowest = sorted(self.kills, key=lambda kill: kill.recovery)[-SLOWEST_TOLD:]
        lines += [f"slowest: {kill}"[:100] for kill in reversed(slowest)]
        if self.broker_away:
            lines.append(
                f"broker away for {self.broker_away:.0f} s; a batch {self.after_broker:.1f} s "
                "after it was back"
            )
        return "\n".join([*lines, str(self.verdict)])

    def _tell_kills(self) -> str:
        return (
            f"everything started in {self.start:.1f} s; {len(self.kills)} kills in "
            f"{self.seconds:.0f} s; in an open sealing transaction: "
            f"{self.in_open_sealing}; no moment with work found: {dict(self.nemesis.missed)}; "
            f"ended without a kill: {dict(self.nemesis.deaths)}"
        )

    def _tell_gaps(self) -> str:
        return (
            f"{self.rate:.0f} reports/s acknowledged; longest time without one: "
            f"{self.crowd.longest_gap:.1f} s, without a batch: {self.nemesis.longest_gap:.1f} s"
        )

    def _tell_requests(self) -> str:
        fates = ", ".join(f"{self.crowd.fates[fate]} {fate.name.lower()}" for fate in Fate)
        statuses = dict(sorted(self.crowd.statuses.items()))
        return f"requests: {fates}; replays known: {self.crowd.replays}; replies: {statuses}"


def make_storm_world(
    *,
    var: Path,
    database_url: str,
    copies: int = 1,
    settings: Mapping[str, str] | None = None,
    stack_class: type[Stack] = Stack,
) -> World:
    stack = stack_class(
        var=var,
        port=free_port(),
        database_url=database_url,
        settings={
            "MURMUR_SWEEP_SECONDS": "1",
            "MURMUR_PURGE_SECONDS": "5",
            # This makes the intake ask the limiter about each report.
            "MURMUR_BEHIND_PROXY": "true",
            **(settings or {}),
        },
        copies=copies,
    )
    return World(stack=stack, database_url=database_url)


def open_waves(world: World, plan: Plan) -> list[Target]:
    """Open surveys that are closed by their owner, their cap or their date."""
    now = datetime.now(UTC).replace(microsecond=0)
    endings: list[dict[str, Any]] = [
        *({} for _ in range(plan.owned)),
        *({"cap": cap} for cap in plan.caps),
        *({"closes_at": now + timedelta(seconds=seconds)} for seconds in plan.dates),
    ]
    surveys = [{**SURVEY, **ending} for ending in endings]
    waves = open_surveys(world.stack, surveys, questions=QUESTIONS, flips=49)
    return [
        Target(wave=wave.pk, manifest_hash=wave.manifest_hash, ends=bool(ending))
        for wave, ending in zip(waves, endings, strict=True)
    ]


def begin(world: World, plan: Plan, *, history: History) -> Crowd:
    """Start everything and return the crowd. Pages and static files are not needed."""
    stack = world.stack
    stack.var.mkdir(parents=True, exist_ok=True)
    stack.manage("migrate", "--no-input", "--verbosity", "0")
    targets = open_waves(world, plan)
    for name in stack.names:
        stack.start(name)
    return Crowd(
        ports=stack.web_ports,
        targets=targets,
        history=history,
        seed=plan.seed,
        rate=plan.rate,
        habits=plan.habits,
    )


def run_storm(world: World, plan: Plan, *, postgres: Postgres | None = None) -> Outcome:
    """Kill under load, wait until all work is done, and check what was counted."""
    path = world.stack.var / "history"
    with History(path=path) as history:
        crowd = begin(world, plan, history=history)
        nemesis = Nemesis(
            world=world, postgres=postgres, crowd=crowd, seed=plan.seed, pause=plan.pause
        )
        start, seconds, acknowledged, after_broker = asyncio.run(_blow(crowd, nemesis, plan))
    verdict = settle_and_check(world, History.read(path))
    return Outcome(
        start=start,
        seconds=seconds,
        acknowledged_meanwhile=acknowledged,
        kills=nemesis.kills,
        crowd=crowd,
        nemesis=nemesis,
        broker_away=plan.broker_away,
        after_broker=after_broker,
        task_errors=find_task_errors(world),
        verdict=verdict,
    )


async def _blow(crowd: Crowd, nemesis: Nemesis, plan: Plan) -> tuple[float, float, int, float]:
    """Kill processes, then stop the broker for a while; return the measurements.

    They are the seconds that the start and the storm took, the number of reports acknowledged in
    the storm, and the seconds until sealing resumed after the broker's return.
    """
    after_broker = 0.0
    sending = asyncio.create_task(crowd.run())
    try:
        async with nemesis.watching():
            start = await nemesis.wait_until_all_work()
            begun, before = time.monotonic(), len(crowd.history.acknowledged)
            await nemesis.kill_many(plan.kills)
            seconds = time.monotonic() - begun
            acknowledged = len(crowd.history.acknowledged) - before
            if plan.broker_away:
                after_broker = await nemesis.keep_broker_away(plan.broker_away)
    finally:
        crowd.stop()
        await sending
    return start, seconds, acknowledged, after_broker


def settle_and_check(world: World, history: History, *, ids_are_spent: bool = True) -> Verdict:
    """Close all waves, wait until everything is sealed and estimated, and check the result."""
    world.stack.manage("shell", "-v", "0", "-c", CLOSE_WAVES)
    wait_until_settled(world)
    with open_rows(world) as query:
        batches = read_batches(query)
        spent = int(query("SELECT count(*) FROM aggregator_spent_id")[0][0])
    return check(
        history,
        batches,
        minimum_batch=MINIMUM_BATCH,
        spent=spent if ids_are_spent else None,
    )


def find_task_errors(world: World) -> list[str]:
    """Find errors in tasks, other than those from an unavailable database or broker."""
    raised = [
        error
        for log in (world.stack.var / "log").glob("worker*.log")
        for error in TASK_ERROR.findall(log.read_text(errors="replace"))
    ]
    return [f"{task}: {error}" for task, error in raised if not error.startswith(EXPECTED_ERRORS)]


def wait_until_settled(world: World) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    unsettled = -1
    while unsettled != 0:
        assert time.monotonic() < deadline, f"{unsettled} waves and reports are still unsettled"
        time.sleep(0.2)
        try:
            with open_rows(world) as query:
                unsettled = int(query(UNSETTLED)[0][0])
        except AWAY:
            continue
