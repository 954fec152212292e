"""`manage.py demo`: open the demo surveys, and answer two of them over HTTP."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from accounts.models import User
from aggregator.background.rows_files import accept_proposal, make_rows_file
from aggregator.batches.sealing import count_acknowledged
from aggregator.results.snapshots import newest_snapshot
from aggregator.simulation.demo import (
    encode_envelopes,
    field_demo,
    load_or_draw_envelopes,
)
from aggregator.simulation.demo_surveys import DEMOS, OPEN, Demo
from aggregator.simulation.fielding import FieldingCommand
from aggregator.simulation.truth import known_truth
from surveys.models import Wave


class Command(FieldingCommand):
    advice = "Run the demo again to continue with the same reports."
    help = (
        "Open the demo surveys. One is for visitors; for the others, scramble each respondent's "
        "answers once and send them over HTTP."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--only",
            choices=[demo.key for demo in DEMOS],
            help="open only this survey (default: all)",
        )
        parser.add_argument("--owner", help="email address of the owner (default: first account)")
        parser.add_argument(
            "--envelopes",
            type=Path,
            help="keep the reports in this file (default: erase them once they are counted)",
        )

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
            # A closed wave has all its reports; after an upgrade, its results are computed again.
            if wave.is_open:
                self._send(demo, wave, path=path, options=options)
            snapshot = self.wait_for_workers(wave, deadline=deadline)
            if options["envelopes"] is None:
                path.unlink(missing_ok=True)
        else:
            self.stdout.write(f"“{demo.title}” is already complete.")
        accept_proposal(make_rows_file(wave_id=wave.pk))
        self.summarize(wave, snapshot, truth=known_truth(wave.survey))
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
        try:
            self.send(bodies, title=demo.title, options=options)
        except KeyboardInterrupt:
            raise CommandError("Stopped. Run the demo again to continue.") from None
