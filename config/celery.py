"""Celery workers, which seal and estimate. The database lists due work; messages announce it."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("murmur")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
