"""Wiring only: settings, addresses, Celery and the entry point for requests."""

import os

from config.celery import app as celery_app

# Every process and command imports this package first. Other users of this machine must not read
# the database, keys and logs that they write.
os.umask(0o077)

__all__ = ["celery_app"]
