"""The differences that `manage.py verify` finds in the reports of a test."""

from __future__ import annotations

from aggregator.upkeep.verification.run import Verification
from surveys.models import Wave


def find_differences() -> list[str]:
    """Return what verify finds, apart from reports made here that were never acknowledged."""
    found = Verification().run(Wave.objects.order_by("pk"))
    return [str(difference) for difference in found if difference.kind != "reports"]
