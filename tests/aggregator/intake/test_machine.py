"""Uploads, retries, forgeries, sealing, closing, crashes and wrong clocks, in any order.

Hypothesis generates histories. A model that consists of dictionaries predicts every reply and,
after every step, every row. To search for new histories, run:
HYPOTHESIS_PROFILE=search scripts/test tests/aggregator/intake/test_machine.py
"""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import OperationalError
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from aggregator.batches import closing, sealing
from aggregator.batches.packing import unpack_reports
from aggregator.intake.core import handle
from aggregator.intake.errors import IntakeError
from aggregator.intake.store import Outcome, record_reports
from aggregator.intake.wire import parse_upload
from aggregator.models import Batch, Discard, RawReport, SpentId
from scripts.attacks.fuzz.intake_model import (
    LETTERS,
    K,
    Model,
    ModelWave,
    Sent,
    read_strictly,
    write,
)
from surveys.lifecycle.errors import NotOpen
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.deaths import Moment, failing_at, killed
from tests.support.waves import make_wave

START = datetime(2027, 3, 1, 12, tzinfo=UTC)
HALF_A_DAY = timedelta(hours=12)
LARGEST_BATCH = 35  # the product's 65,536 cannot be reached here
HEADERS = {"host": "localhost", "content-type": "application/json"}
STATUS = {Outcome.RECORDED: 201, Outcome.ALREADY_RECORDED: 200}
NUMBERS = st.integers(0, 10**6)
WHICH_WAVE = st.integers(0, 2)
MOMENTS = st.sampled_from(
    [*(sign * n for n in range(1, 7) for sign in (1, -1)), "before the commit", "after the commit"]
)
EXAMPLES = 60 if os.environ.get("HYPOTHESIS_PROFILE", "suite") == "suite" else 1000
# Counts the events in all histories; the test finally checks that each kind has occurred.
seen: Counter[str] = Counter()


def make_waves() -> list[Wave]:
    weak: dict[str, Any] = {"flips": 49}  # allows many questions within the largest total ε
    dates = {"opens_at": START - HALF_A_DAY, "closes_at": START + HALF_A_DAY}
    with mock.patch("django.utils.timezone.now", return_value=START):
        return [
            make_wave(questions=12, **weak),
            make_wave(questions=12, **weak, **dates),
            make_wave(questions=9, **weak, cap=2 * K),
        ]


class IntakeMachine(RuleBasedStateMachine):
    rows: list[Wave]

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self._patches: list[Any] = [
            mock.patch("django.utils.timezone.now", self.read_clock),
            mock.patch.object(sealing, "MAX_BATCH", LARGEST_BATCH),
        ]
        for patch in self._patches:
            patch.start()
        self.model = Model(
            [
                ModelWave(
                    manifest_hash=bytes(row.manifest_hash),
                    questions=questions,
                    opens_at=row.opens_at,
                    closes_at=row.closes_at,
                    cap=row.cap,
                )
                for row, questions in zip(self.rows, (12, 12, 9), strict=True)
            ]
        )
        self.drawn = 0
        self.outbox: list[bytes] = []  # bodies that some browser drew, whether sent or not
        self.unanswered: set[bytes] = set()
        self.acknowledged: set[bytes] = set()

    def read_clock(self) -> datetime:
        return self.now

    def draw(self, wave: int) -> bytes:
        """Make a report whose symbols and id depend on how many reports were made before it."""
        self.drawn += 1
        questions = self.model.waves[wave].questions
        symbols = bytes(self.drawn >> bit & 1 for bit in range(questions))
        report_id = bytes([self.drawn * 89 % 256, self.drawn % 256, *range(30)])
        manifest_hash = self.model.waves[wave].manifest_hash
        body = write(Sent(manifest_hash=manifest_hash, report_id=report_id, symbols=symbols))
        self.outbox.append(body)
        return body

    def post(self, body: bytes) -> int:
        (expected,) = self.model.take([body], now=self.now)
        status = handle(method="POST", headers=HEADERS, body=body).status
        assert status in expected
        self.note(body, status)
        return status

    def note(self, body: bytes, status: int) -> None:
        seen[str(status)] += 1
        if status in (200, 201):
            self.acknowledged.add(body)
            self.unanswered.discard(body)

    def old(self, number: int) -> bytes:
        return self.outbox[number % len(self.outbox)]

    has_reports = precondition(lambda self: bool(self.outbox))

    @rule(wave=WHICH_WAVE)
    def upload(self, wave: int) -> None:
        self.post(self.draw(wave))

    @rule(wave=WHICH_WAVE, size=st.integers(8, 20))
    def upload_many(self, wave: int, size: int) -> None:
        self.take_group([self.draw(wave) for _ in range(size)])

    @has_reports
    @rule(fresh=st.lists(WHICH_WAVE, max_size=4), again=st.lists(NUMBERS, max_size=6))
    def upload_a_mixture(self, fresh: list[int], again: list[int]) -> None:
        """Upload new reports, old reports and forged copies in one commit, for several waves."""
        group = [self.old(number) for number in again] + [self.draw(wave) for wave in fresh]
        group += [self.forge(body, number) for body, number in zip(group[::2], again, strict=False)]
        self.take_group(group)

    def take_group(self, group: list[bytes]) -> None:
        uploads = [(body, parse_upload(body)) for body in group]
        expected = self.model.take(group, now=self.now)
        results = record_reports([upload for _, upload in uploads])
        statuses = [
            result.problem.status if isinstance(result, IntakeError) else STATUS[result]
            for result in results
        ]
        assert all(map(set.__contains__, expected, statuses)), (statuses, expected)
        for body, status in zip(group, statuses, strict=True):
            self.note(body, status)

    @has_reports
    @rule(number=NUMBERS)
    def replay(self, number: int) -> None:
        known = self.old(number) in self.acknowledged
        status = self.post(self.old(number))
        assert status == 200 or not known

    def forge(self, body: bytes, number: int) -> bytes:
        """Return a report that has a known id, but other symbols or another wave."""
        sent = read_strictly(body)
        assert sent is not None
        where = number % (len(sent.symbols) + 1)
        if where == len(sent.symbols):
            other = self.model.waves[number % 3].manifest_hash
            return write(Sent(other, sent.report_id, sent.symbols))
        symbols = bytearray(sent.symbols)
        symbols[where] = number // 100 % 3 if number % 5 == 0 else 1 - symbols[where]
        return write(Sent(sent.manifest_hash, sent.report_id, bytes(symbols)))

    @has_reports
    @rule(number=NUMBERS, change=NUMBERS)
    def mutate(self, number: int, change: int) -> None:
        forged = self.forge(self.old(number), change)
        if self.post(forged) == 201:  # the report of the id's owner had never arrived
            self.outbox.append(forged)

    @rule(wave=WHICH_WAVE, number=NUMBERS, place=NUMBERS, bit=st.integers(0, 7))
    def flip_a_bit(self, wave: int, number: int, place: int, bit: int) -> None:
        body = bytearray(self.old(number) if self.outbox and number % 2 else self.draw(wave))
        body[place % len(body)] ^= 1 << bit
        if self.post(bytes(body)) == 201:  # a changed id that is canonical makes a valid report
            self.outbox.append(bytes(body))

    @rule(wave=WHICH_WAVE, number=NUMBERS, change=st.integers(0, 4))
    def misspell(self, wave: int, number: int, change: int) -> None:
        """Send symbols that fit no survey, or a second spelling of a known or new id."""
        body = self.old(number) if self.outbox and number % 2 else self.draw(wave)
        parts = body.split(b'"')  # the id is the tenth, the symbols are the last but one
        if change == 4:  # two of the last letter's six bits are unused
            last = LETTERS.index(chr(parts[9][-1]))
            parts[9] = parts[9][:-1] + LETTERS[last + 1 + number % 3].encode()
        else:
            parts[-2] = parts[-2][: -1 if change else None] + (b"A", b"", b"C", b"~")[change]
        self.post(b'"'.join(parts))

    @rule(wave=WHICH_WAVE)
    def drop_request(self, wave: int) -> None:
        self.unanswered.add(self.draw(wave))

    @rule(wave=WHICH_WAVE, size=st.integers(1, 6))
    def drop_responses(self, wave: int, size: int) -> None:
        group = [self.draw(wave) for _ in range(size)]
        self.model.take(group, now=self.now)
        record_reports([parse_upload(body) for body in group])
        self.unanswered.update(group)

    @precondition(lambda self: bool(self.unanswered))
    @rule()
    def retry_the_unanswered(self) -> None:
        for body in sorted(self.unanswered):
            self.post(body)

    @rule(wave=WHICH_WAVE, size=st.integers(1, 12), moment=MOMENTS)
    def die_while_recording(self, wave: int, size: int, moment: Moment) -> None:
        group = [self.draw(wave) for _ in range(size)]
        with killed(moment) as ended:
            record_reports([parse_upload(body) for body in group])
        seen[f"recording {'undone' if ended == ['undone'] else 'done'}"] += 1
        self.unanswered.update(group)
        if ended != ["undone"]:
            self.model.take(group, now=self.now)

    @rule(
        wave=WHICH_WAVE,
        statement=st.sampled_from([1, -1, 2, -2, 3, -3]),
        times=st.sampled_from([1, 99]),
    )
    def lose_the_database(self, wave: int, statement: int, times: int) -> None:
        """Lose the database: a brief loss has no effect; during a longer one, the reply is 503."""
        body = self.draw(wave)
        self.unanswered.add(body)
        error = OperationalError("server closed the connection unexpectedly")
        with failing_at(statement, error, times=times):
            status = handle(method="POST", headers=HEADERS, body=body).status
        if status == 503:
            assert times > 1
        else:
            (expected,) = self.model.take([body], now=self.now)
            assert status in expected
        self.note(body, status)

    @rule(days=st.sampled_from([-1, 1]))
    def move_the_clock(self, days: int) -> None:
        self.now += timedelta(days=days)

    def due(self) -> list[int]:
        waves = enumerate(self.model.waves)
        return [i for i, wave in waves if wave.size_to_seal(largest=LARGEST_BATCH)]

    something_is_due = precondition(lambda self: bool(self.due()))

    @something_is_due
    @rule(number=NUMBERS)
    def seal_what_is_due(self, number: int) -> None:
        self.seal(self.due()[number % len(self.due())])

    @something_is_due
    @rule(number=NUMBERS, moment=MOMENTS)
    def die_while_sealing(self, number: int, moment: Moment) -> None:
        self.seal(self.due()[number % len(self.due())], moment)

    @rule(wave=WHICH_WAVE)
    def seal_whatever_waits(self, wave: int) -> None:
        self.seal(wave)

    def seal(self, wave: int, moment: Moment = None) -> None:
        row, model = self.rows[wave], self.model.waves[wave]
        size = model.size_to_seal(largest=LARGEST_BATCH)
        with killed(moment) as ended:
            sealing.seal_next_batch(wave_id=row.pk)
        happened = "undone" if ended == ["undone"] else "done"
        seen[f"sealing {happened}" if size else "nothing to seal"] += 1
        if happened == "undone":
            return
        if size:
            left = {
                bytes(pk) for pk in RawReport.objects.filter(wave=row).values_list("pk", flat=True)
            }
            assert left <= model.raw.keys()
            taken = model.raw.keys() - left
            assert len(taken) == size
            model.seal(taken)
        elif model.ending and model.raw:
            seen["discarded"] += 1
            model.discard()

    @precondition(lambda self: len(self.model.spent) > 2 * K)  # otherwise, most histories end early
    @rule(wave=WHICH_WAVE, moment=MOMENTS | st.none())
    def close(self, wave: int, moment: Moment) -> None:
        model = self.model.waves[wave]
        was_open = not model.ending
        with killed(moment) as ended:
            try:
                close_wave(wave_id=self.rows[wave].pk, ending=Wave.Ending.OWNER)
            except NotOpen:
                assert not was_open
            else:
                assert was_open
        if was_open and ended != ["undone"]:
            model.close(ending="owner", now=self.now)

    @rule()
    def sweep(self) -> None:
        due = [
            wave
            for wave in self.model.waves
            if not wave.ending
            and (wave.is_past(self.now) or (wave.cap and wave.acknowledged >= wave.cap))
        ]
        assert closing.close_due_waves() == len(due)
        for wave in due:
            wave.close(ending="cap", now=self.now)
            seen[f"closed by {wave.ending}"] += 1
        to_seal = {
            row.pk
            for row, wave in zip(self.rows, self.model.waves, strict=True)
            if wave.raw and (wave.ending or len(wave.raw) >= 2 * K)
        }
        assert {wave.pk for wave in sealing.find_waves_to_seal()} == to_seal

    @invariant()
    def every_row_is_as_predicted(self) -> None:
        model_of = {row.pk: wave for row, wave in zip(self.rows, self.model.waves, strict=True)}
        spent = {bytes(pk): model_of[wave_id] for pk, wave_id in SpentId.objects.values_list()}
        assert spent == self.model.spent
        raw: dict[int, dict[bytes, bytes]] = {pk: {} for pk in model_of}
        for report in RawReport.objects.all():
            raw[report.wave_id][bytes(report.pk)] = bytes(report.symbols)
        batches = list(Batch.objects.order_by("wave", "number"))
        discards = dict(Discard.objects.values_list("wave", "size"))
        endings = dict(Wave.objects.values_list("pk", "ending"))
        for row in self.rows:
            wave = model_of[row.pk]
            assert raw[row.pk] == wave.raw
            assert endings[row.pk] == wave.ending
            assert discards.get(row.pk, 0) == wave.discarded
            own = [batch for batch in batches if batch.wave_id == row.pk]
            self.check_batches(own, wave)
            if own and not wave.ending:
                assert len(wave.raw) >= K  # enough for a last batch at the close
            assert sealing.count_acknowledged(row) == wave.acknowledged

    def check_batches(self, batches: list[Batch], wave: ModelWave) -> None:
        assert [batch.number for batch in batches] == list(range(1, len(wave.batches) + 1))
        for batch, expected in zip(batches, wave.batches, strict=True):
            assert K <= batch.size <= LARGEST_BATCH
            ks = [2] * wave.questions
            unpacked = unpack_reports(bytes(batch.packed), size=batch.size, ks=ks)
            assert Counter(bytes(symbols) for symbols in unpacked) == expected
            assert batch.counts == [[int((c == code).sum()) for code in (0, 1)] for c in unpacked.T]

    def teardown(self) -> None:
        try:
            self.settle()
        finally:
            for patch in self._patches:
                patch.stop()
            for table in (RawReport, SpentId, Batch, Discard):
                table._base_manager.all().delete()
            Wave.objects.update(state=Wave.State.OPEN, ending="", closed_at=None)

    def settle(self) -> None:
        """Check at the end that every acknowledged report has been counted once."""
        self.now = START
        for body in sorted(self.unanswered):
            self.post(body)
        for row, model in zip(self.rows, self.model.waves, strict=True):
            if not model.ending:
                close_wave(wave_id=row.pk, ending=Wave.Ending.OWNER)
                model.close(ending="owner", now=self.now)
        for wave, model in enumerate(self.model.waves):
            while waiting := len(model.raw):
                self.seal(wave)
                assert len(model.raw) < waiting
        self.every_row_is_as_predicted()
        counted = {sent.report_id for body in self.acknowledged if (sent := read_strictly(body))}
        assert counted == self.model.spent.keys()


def walk_rare_paths(machine: IntakeMachine) -> None:
    """Take steps that random histories rarely take: an early report, the cap, the closing date."""
    machine.move_the_clock(days=-1)
    machine.upload(wave=1)
    machine.move_the_clock(days=1)
    machine.upload_many(wave=2, size=2 * K)
    machine.sweep()
    machine.every_row_is_as_predicted()
    machine.move_the_clock(days=1)
    machine.sweep()
    machine.every_row_is_as_predicted()
    machine.teardown()


@pytest.mark.django_db(transaction=True)
def test_every_history_ends_with_each_acknowledged_report_counted_once() -> None:
    class Machine(IntakeMachine):
        rows = make_waves()

    walk_rare_paths(Machine())
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=EXAMPLES, stateful_step_count=40)
    )
    print(dict(seen))  # for anyone who changes this test
    # Histories without these events would prove nothing about the events.
    assert {"200", "201", "409", "410", "422", "425", "503"} <= seen.keys()
    for what in ("recording", "sealing"):
        assert {f"{what} undone", f"{what} done"} <= seen.keys()
    assert {"discarded", "closed by date", "closed by cap"} <= seen.keys()
