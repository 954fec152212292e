"""The product's settings with a clock that system tests set: a file says how far it is ahead."""

import os
from datetime import datetime, timedelta
from pathlib import Path

from celery import Celery
from django.utils import timezone

from config.settings import *  # noqa: F403

_HOURS = Path(os.environ["MURMUR_TEST_CLOCK"])
_real_now = timezone.now


def _now() -> datetime:
    return _real_now() + timedelta(hours=float(_HOURS.read_text()))


timezone.now = _now
# Beat sends tasks by Celery's clock.
Celery.now = lambda app: _now().astimezone(app.timezone)
