"""The product's own settings with the plain view in place of all addresses."""

from config.settings import *  # noqa: F403
from config.settings import DATABASES

ROOT_URLCONF = "scripts.benchmarks.naive.urls"
# One round trip less for each report: this view is to look as good as it can.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = False
