"""Wiring only: settings, URLs, Celery and the entry point for requests."""

import gc
import os

from config.celery import app as celery_app

# Every process and command imports this package first. Other users of this machine must not read
# the database, keys and logs that they write.
os.umask(0o077)

# This must be set before numpy is imported. The estimators' matrices are small, so threads that
# share a matrix only wait for each other. A regression with six predictors took 4 s of processor
# time with one thread, and 66 s with two.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# With Python's default of 700 new objects, garbage is collected thousands of times while modules
# load, and Murmur takes a tenth longer to start.
gc.set_threshold(10_000)

__all__ = ["celery_app"]
