"""uvicorn's HTTP protocol with an end to a client's time: for its headers, and for reading.

uvicorn itself waits for ever for a request line, for headers without end and for somebody who
never reads a reply; each such client would hold a connection, and the last kind a thread.
Bodies have their own deadline in the application.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEADER_DEADLINE_SECONDS = 10.0
READING_DEADLINE_SECONDS = 30.0
MAX_HEADER_BYTES = 65_536


class Protocol(HttpToolsProtocol):
    _deadline: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    _in_headers = True
    _header_bytes = 0
    # Every request that was read and has no whole reply yet. uvicorn itself remembers the last
    # one only, and would write replies to the others into a connection that is gone.
    _unanswered: list[RequestResponseCycle]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._unanswered = []
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_came()
        self._client_reads()
        self._forget_replies()
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

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_headers:
            super().on_header(name, value)
            return
        # A field behind a chunked body. The application has read the headers by then, perhaps
        # with checks that this one would turn; nobody needs them, and they must not pile up.
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > MAX_HEADER_BYTES:
            self.transport.abort()

    def on_headers_complete(self) -> None:
        self._in_headers = False
        self._headers_came()
        super().on_headers_complete()
        self._unanswered = [c for c in self._unanswered if not c.response_complete]
        self._unanswered.append(self.cycle)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, unless an earlier request still waits for its own reply."""
        if all(cycle.response_complete for cycle in self._unanswered):
            super().send_400_response(msg)
            return
        # The refusal would pass for an earlier request's reply.
        self._forget_replies()
        self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reading is None:
            self._reading = self.loop.call_later(READING_DEADLINE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._client_reads()
        super().resume_writing()

    def _forget_replies(self) -> None:
        """Let what still works on a reply come to its end, for nobody."""
        for cycle in self._unanswered:
            cycle.disconnected = True
            cycle.message_event.set()

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
