"""`manage.py demo`: open the demo surveys, and answer two of them over HTTP."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from accounts.models import User
from aggregator.background.rows_files import accept_proposal, make_rows_file
from aggregator.batches.sealing import count_acknowledged
from aggregator.models import Snapshot
from aggregator.results.display import read_results
from aggregator.results.snapshots import newest_snapshot
from aggregator.simulation.demo import (
    encode_envelopes,
    field_demo,
    load_or_draw_envelopes,
)
from aggregator.simulation.demo_surveys import DEMOS, OPEN, Demo
from aggregator.simulation.sending import SendingError, send_reports
from aggregator.simulation.truth import known_truth, write_comparison
from surveys.models import Wave

POLL_SECONDS = 0.5


class Command(BaseCommand):
    help = (
        "Open the demo surveys. One is for visitors; for the others, scramble each respondent's "
        "answers once and send them over HTTP."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", default="http://127.0.0.1:8000", help="where Murmur runs")
        parser.add_argument(
            "--only",
            choices=[demo.key for demo in DEMOS],
            help="open only this survey (default: all)",
        )
        parser.add_argument("--owner", help="e-mail address of the owner (default: first account)")
        parser.add_argument(
            "--envelopes",
            type=Path,
            help="keep the reports in this file (default: erase them once they are counted)",
        )
        parser.add_argument("--connections", type=int, default=8, help="number of connections")
        parser.add_argument("--seconds", type=float, default=900, help="time limit")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = self._find_owner(options["owner"])
        chosen = [demo for demo in DEMOS if options["only"] in (None, demo.key)]
        if options["envelopes"] is not None and len(chosen) > 1:
            raise CommandError("--envelopes holds one survey's reports: choose it with --only.")
        deadline = time.monotonic() + options["seconds"]
        for demo in chosen:
            self._field(demo, owner=owner, deadline=deadline, options=options)

    def _field(self, demo: Demo, *, owner: User, deadline: float, options: dict[str, Any]) -> None:
        wave = field_demo(demo, owner=owner)
        if demo is OPEN:
            self.stdout.write(f"“{demo.title}” is open to anyone: /s/{wave.survey.slug}")
            return
        snapshot = newest_snapshot(wave)
        if snapshot is None or not snapshot.final:
            path = options["envelopes"] or settings.VAR_DIR / f"demo-{demo.key}-envelopes.json"
            # A closed wave has all its reports: an upgrade may have to compute them again.
            if wave.is_open:
                self._send(demo, wave, path=path, options=options)
            snapshot = self._wait_for_workers(wave, deadline=deadline)
            if options["envelopes"] is None:
                path.unlink(missing_ok=True)
        else:
            self.stdout.write(f"“{demo.title}” is already complete.")
        accept_proposal(make_rows_file(wave_id=wave.pk))
        self._summarize(wave, snapshot)
        if wave.planned_releases:
            slug = wave.survey.slug
            self.stdout.write(f"Releases: /surveys/{slug}/releases, for anyone: /s/{slug}/results")

    def _find_owner(self, email: str | None) -> User:
        people = User.objects.filter(email__iexact=email) if email else User.objects.order_by("pk")
        owner = people.first()
        if owner is None:
            raise CommandError("There is no such account. Create one with create_first_account.")
        return owner

    def _send(self, demo: Demo, wave: Wave, *, path: Path, options: dict[str, Any]) -> None:
        if not path.exists() and count_acknowledged(wave):
            raise CommandError(
                f"The demo has started, but its reports are not at {path}. Scrambling the answers "
                "again would count people twice. Close the survey by hand, or use a new database."
            )
        envelopes = load_or_draw_envelopes(
            wave=wave, people=partial(demo.people_of, wave.description), path=path
        )
        bodies = encode_envelopes(wave=wave, envelopes=envelopes)
        with tqdm(total=len(bodies), desc=demo.title, unit=" reports", mininterval=0.5) as bar:
            try:
                send_reports(
                    bodies,
                    url=options["url"].rstrip("/"),
                    connections=options["connections"],
                    seconds=options["seconds"],
                    on_acknowledged=lambda _: bar.update(),
                )
            except SendingError as error:
                advice = "Run the demo again to continue with the same reports."
                raise CommandError(f"{error} {advice}") from error
            except KeyboardInterrupt:
                raise CommandError("Stopped. Run the demo again to continue.") from None

    def _wait_for_workers(self, wave: Wave, *, deadline: float) -> Snapshot:
        while time.monotonic() < deadline:
            snapshot = newest_snapshot(wave)
            if snapshot is not None and snapshot.final:
                return snapshot
            time.sleep(POLL_SECONDS)
        raise CommandError("All reports are stored, but no worker has counted them yet.")

    def _summarize(self, wave: Wave, snapshot: Snapshot) -> None:
        self.stdout.write(f"{snapshot.total:,} reports counted. Estimates and true values:")
        for line in write_comparison(
            read_results(wave=wave, snapshot=snapshot), known_truth(wave.survey)
        ):
            self.stdout.write(line)
        self.stdout.write(f"Results: /surveys/{wave.survey.slug}/results")
