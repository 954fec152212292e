"""Wiring only: settings, addresses, Celery and the entry point for requests."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
