"""The product's settings with a broken sealer: see sealers.py."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "scripts.attacks.broken_builds.apps.DeleteFirst"]
