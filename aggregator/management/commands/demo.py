"""`manage.py demo`: field the demo survey through the real HTTP intake."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from accounts.models import User
from aggregator.demo import (
    DEMO_TRUTH,
    PEOPLE,
    encode_envelopes,
    field_demo,
    load_or_draw_envelopes,
)
from aggregator.models import Snapshot
from aggregator.sealing import count_acknowledged
from aggregator.sending import SendingError, send_reports
from aggregator.snapshots import newest_snapshot
from surveys.models import Wave

POLL_SECONDS = 0.5


class Command(BaseCommand):
    help = "Field the demo survey: draw each respondent's codes once and send them over HTTP."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", default="http://127.0.0.1:8000", help="where Murmur runs")
        parser.add_argument("--owner", help="e-mail address of the demo's owner")
        parser.add_argument(
            "--envelopes",
            type=Path,
            help="keep the drawn reports in this file (otherwise erased when all are counted)",
        )
        parser.add_argument("--connections", type=int, default=8, help="at the same time")
        parser.add_argument("--seconds", type=float, default=900, help="give up after this long")

    def handle(self, *args: Any, **options: Any) -> None:
        deadline = time.monotonic() + options["seconds"]
        wave = field_demo(owner=self._find_owner(options["owner"]))
        snapshot = newest_snapshot(wave)
        if snapshot is None or not snapshot.final:
            path = options["envelopes"] or settings.VAR_DIR / "demo-envelopes.json"
            self._send(wave, path=path, options=options)
            snapshot = self._wait_for_workers(wave, deadline=deadline)
            if options["envelopes"] is None:
                path.unlink(missing_ok=True)
        else:
            self.stdout.write("The demo is complete already.")
        self._summarize(wave, snapshot)

    def _find_owner(self, email: str | None) -> User:
        people = User.objects.filter(email__iexact=email) if email else User.objects.order_by("pk")
        owner = people.first()
        if owner is None:
            raise CommandError("There is no such account. Make one with create_first_account.")
        return owner

    def _send(self, wave: Wave, *, path: Path, options: dict[str, Any]) -> None:
        if not path.exists() and count_acknowledged(wave):
            raise CommandError(
                f"The demo was begun, but its envelopes are not at {path}: drawing them again "
                "would count people twice. Close the survey by hand, or start with a new database."
            )
        bodies = encode_envelopes(wave=wave, envelopes=load_or_draw_envelopes(wave=wave, path=path))
        with tqdm(total=PEOPLE, desc="Demo", unit=" reports", mininterval=0.5) as bar:
            try:
                send_reports(
                    bodies,
                    url=options["url"].rstrip("/"),
                    connections=options["connections"],
                    seconds=options["seconds"],
                    on_acknowledged=lambda _: bar.update(),
                )
            except SendingError as error:
                advice = "Run the demo again to go on with the same reports."
                raise CommandError(f"{error} {advice}") from error
            except KeyboardInterrupt:
                raise CommandError("Stopped. Run the demo again to go on.") from None

    def _wait_for_workers(self, wave: Wave, *, deadline: float) -> Snapshot:
        while time.monotonic() < deadline:
            snapshot = newest_snapshot(wave)
            if snapshot is not None and snapshot.final:
                return snapshot
            time.sleep(POLL_SECONDS)
        raise CommandError("All reports are stored, but no worker has counted them yet.")

    def _summarize(self, wave: Wave, snapshot: Snapshot) -> None:
        self.stdout.write(f"{snapshot.total:,} reports counted. Estimates, and the known truth:")
        for question, known in zip(snapshot.estimates, DEMO_TRUTH, strict=True):
            yes = question["codes"][1]
            self.stdout.write(
                f"  {known.label:<17} {yes['estimate']:6.1%}  "
                f"(95 %: {yes['low']:.1%} to {yes['high']:.1%})  truth {known.share:.1%}"
            )
        self.stdout.write(f"Results: /surveys/{wave.survey.slug}/results")
