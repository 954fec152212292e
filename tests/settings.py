"""The product's settings, with a temporary folder for files and the cache in memory."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

os.environ["MURMUR_VAR"] = tempfile.mkdtemp(prefix="murmur-test-")
atexit.register(shutil.rmtree, os.environ["MURMUR_VAR"], ignore_errors=True)
os.environ["MURMUR_HTTPS"] = "false"
os.environ.pop("DATABASE_URL", None)
# Static files go here. WhiteNoise looks for them when it loads.
Path(os.environ["MURMUR_VAR"], "static").mkdir()

from config import settings as product  # noqa: E402
from config.settings import *  # noqa: E402, F403

# No test's database outlives its process, so no commit needs to wait for the disk.
_own: dict[str, Any] = product.DATABASES["default"]
_init = _own["OPTIONS"]["init_command"] + " PRAGMA synchronous=OFF;"
DATABASES = {"default": {**_own, "OPTIONS": {**_own["OPTIONS"], "init_command": _init}}}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
# No unit test may send anything to a broker; system tests start a real broker.
CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
# WhiteNoise lists its folder when it starts, but the tests put files into that folder later.
WHITENOISE_AUTOREFRESH = True
# Tests may start a sweep at any time.
SWEEP_SECONDS = 0
