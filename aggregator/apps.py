"""What came back: intake, sealing, estimates, dashboards and exports."""

from django.apps import AppConfig


class AggregatorConfig(AppConfig):
    name = "aggregator"
