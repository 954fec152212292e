"""Replaces Murmur's sealer with a broken one after all apps are loaded."""

from __future__ import annotations

from unittest import mock

from django.apps import AppConfig

SEALER = "aggregator.tasks.seal_next_batch"


class DeleteFirst(AppConfig):
    name = "scripts.attacks.broken_builds"
    label = "control_delete_first"

    def ready(self) -> None:
        from scripts.attacks.broken_builds.sealers import seal_delete_first

        mock.patch(SEALER, seal_delete_first).start()  # fails if Murmur's own sealer is renamed


class InsertFirst(AppConfig):
    name = "scripts.attacks.broken_builds"
    label = "control_insert_first"

    def ready(self) -> None:
        from scripts.attacks.broken_builds.sealers import seal_insert_first

        mock.patch(SEALER, seal_insert_first).start()
