"""For gunicorn, which loads this once and forks its workers from there."""

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

import scripts.benchmarks.naive.urls  # noqa: E402, F401  else every worker's first report paid for it
