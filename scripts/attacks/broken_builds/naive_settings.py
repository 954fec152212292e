"""The product's settings with a task that stores reports and a broker that redelivers soon."""

from config.settings import *  # noqa: F403
from config.settings import CELERY_BROKER_TRANSPORT_OPTIONS, INSTALLED_APPS

QUEUE = "naive"
INSTALLED_APPS = [*INSTALLED_APPS, "scripts.attacks.broken_builds"]
CELERY_BROKER_TRANSPORT_OPTIONS = {**CELERY_BROKER_TRANSPORT_OPTIONS, "visibility_timeout": 4}
