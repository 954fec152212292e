"""The product's own settings, with one plain view as the only route."""

from config.settings import *  # noqa: F403
from config.settings import DATABASES

ROOT_URLCONF = "scripts.benchmarks.naive.urls"
# One round trip fewer per report makes this view as fast as possible.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = False
