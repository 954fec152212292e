"""What came back: intake, sealing, estimates, dashboards and exports."""

from django.apps import AppConfig


class AggregatorConfig(AppConfig):
    name = "aggregator"

    def ready(self) -> None:
        # Not at the top: the checks read models, which do not exist before the apps are ready.
        from aggregator.upkeep.checks.registry import register_checks

        register_checks()
