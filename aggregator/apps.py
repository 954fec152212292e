"""The app that takes in reports, seals them, estimates shares, and shows and exports results."""

from django.apps import AppConfig


class AggregatorConfig(AppConfig):
    name = "aggregator"

    def ready(self) -> None:
        # This import comes late because the checks read models, which exist only once the apps are
        # ready.
        from aggregator.upkeep.checks.registry import register_checks

        register_checks()
