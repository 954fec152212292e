"""The entry point for gunicorn, which loads this once and then forks its workers."""

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

import scripts.benchmarks.naive.urls  # noqa: E402, F401  else every worker's first report paid for it
