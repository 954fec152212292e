"""uvicorn's HTTP protocol with an end to a client's time: for its headers, and for reading.

uvicorn itself waits for ever for a request line, for headers without end and for somebody who
never reads a reply; each such client would hold a connection, and the last kind a thread.
Bodies have their own deadline in the application.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_DEADLINE_SECONDS = 10.0
READING_DEADLINE_SECONDS = 30.0
MAX_HEADER_BYTES = 65_536


class Protocol(HttpToolsProtocol):
    _deadline: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    _in_headers = True
    _header_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_came()
        self._client_reads()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._in_headers:
            return
        # A request has begun and its headers are not complete yet.
        self._header_bytes += len(data)
        if self._header_bytes > MAX_HEADER_BYTES and not self.transport.is_closing():
            self.send_400_response("The request has too many headers.")
        elif self._deadline is None:
            self._expect_headers()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_headers = True
        self._header_bytes = 0

    def on_headers_complete(self) -> None:
        self._in_headers = False
        self._headers_came()
        super().on_headers_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reading is None:
            self._reading = self.loop.call_later(READING_DEADLINE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._client_reads()
        super().resume_writing()

    def _expect_headers(self) -> None:
        self._deadline = self.loop.call_later(HEADER_DEADLINE_SECONDS, self._give_up)

    def _headers_came(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _client_reads(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()
