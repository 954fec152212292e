"""The real application on a free port, with the test database, for tests in a browser.

Server threads and tests share one SQLite file, so tests read with the ORM what the browser
has sent. Use with transactional_db: the server's own connections see committed rows only.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn

# Playwright's synchronous interface runs an event loop in the thread of the test; the ORM
# would refuse to work in that thread, although nothing here is asynchronous.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


class Application:
    """Murmur, which a test can wrap. Its intake supports only one server in each process."""

    def __init__(self) -> None:
        self.around: Callable[[Any], Any] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        from config.asgi import application

        around = self.around if scope["type"] == "http" else None
        await (around(application) if around else application)(scope, receive, send)


@dataclass(frozen=True, kw_only=True)
class LiveApplication:
    url: str  # without a slash at the end
    port: int
    application: Application


@pytest.fixture(scope="session")
def live_server_process(django_db_setup: None, static_files: None) -> Iterator[LiveApplication]:
    """Run the application with uvicorn in a thread, once for all tests."""
    from config.protocol import Protocol

    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    application = Application()
    server = uvicorn.Server(
        uvicorn.Config(
            application,
            log_level="warning",
            http=Protocol,
            lifespan="on",
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=2,
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield LiveApplication(url=f"http://127.0.0.1:{port}", port=port, application=application)
    server.should_exit = True
    thread.join(timeout=10)
    listener.close()


@pytest.fixture
def live(live_server_process: LiveApplication, transactional_db: None) -> LiveApplication:
    """Return the application, with an empty database for this test."""
    return live_server_process
