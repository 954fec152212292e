"""The plain view under its usual servers, all on the same database."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from scripts.benchmarks.grounds.ground import Ground, running, wait_until_answered
from scripts.stack.stack import Stack, free_port

PATH = "/naive/reports"
SETTINGS = "scripts.benchmarks.naive.settings"


@contextmanager
def naive_servers(ground: Ground) -> Iterator[dict[str, list[str]]]:
    """Run the servers and return their addresses by name; an idle server costs nothing."""
    environment = {**ground.stack.environment, "DJANGO_SETTINGS_MODULE": SETTINGS}
    copies = len(ground.web)
    own = Stack(
        var=ground.stack.var,
        port=free_port(),
        redis_url=ground.stack.redis_url,
        limiter_url=ground.stack.limiter_url,
        settings=environment,
        copies=copies,
    )
    log = ground.stack.var / "log"
    with (
        _gunicorn(environment, workers=2, log=log) as two,
        _gunicorn(environment, workers=4, log=log) as four,
    ):
        try:
            for name in own.web_ports:
                own.start(name)
            servers = {
                "gunicorn, 2 workers": [two],
                "gunicorn, 4 workers": [four],
                f"uvicorn and a2wsgi, {copies} × 8 threads": [
                    own.web_url(name) for name in own.web_ports
                ],
            }
            for urls in servers.values():
                wait_until_answered(urls, path=PATH)
            yield servers
        finally:
            own.stop()


@contextmanager
def _gunicorn(environment: Mapping[str, str], *, workers: int, log: Path) -> Iterator[str]:
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn", "scripts.benchmarks.naive.wsgi"),
        *("--bind", f"127.0.0.1:{port}", "--workers", str(workers), "--preload"),
        *("--worker-tmp-dir", str(log), "--no-control-socket", "--log-level", "warning"),
    ]
    with running(command, environment=environment, log=log / f"gunicorn-{workers}.log"):
        yield f"http://127.0.0.1:{port}"
