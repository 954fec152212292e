"""`manage.py build_chart_bundle`: build the dashboards' chart library, offline."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from aggregator.results.charts.bundle import STATIC_NAME, build_bundle, hash_bundle


class Command(BaseCommand):
    help = "Build the browser's chart library from the installed vl-convert, unless up to date."

    def handle(self, *args: Any, **options: Any) -> None:
        built = build_bundle(folder=settings.CHART_BUNDLE_DIR)
        if options["verbosity"] > 0:
            state = "built" if built else "up to date"
            digest = hash_bundle(folder=settings.CHART_BUNDLE_DIR)
            self.stdout.write(f"{STATIC_NAME} {state}, sha256 {digest}")
