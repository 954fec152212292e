"""uvicorn's HTTP protocol with deadlines for sending headers and for reading replies.

uvicorn itself waits forever for a request line, for endless headers, and for clients that never
read a reply. Each such client would hold a connection; one that reads no reply would also hold a
thread. The application has its own deadline for bodies. This protocol also refuses requests that
have too many headers, use another version of HTTP than 1.0 or 1.1, or do not name one host.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from aggregator import problems
from config.headers import DEFAULT_CACHE_CONTROL, headers_for

HEADER_DEADLINE_SECONDS = 10.0
READING_DEADLINE_SECONDS = 30.0
# Everything in a request except its body: headers, chunk sizes, trailers.
MAX_FRAMING_BYTES = 65_536
TOO_MANY_HEADERS = "The request has too many headers."


class InvalidRequest(Exception):
    """The message says why a request is refused; the parser stops and passes the error on."""


class Protocol(HttpToolsProtocol):
    _deadline: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    _in_headers = True
    _in_message = False
    _framing_bytes = 0
    _body_bytes = 0  # in the data that is being parsed
    _header_bytes = 0  # of this request
    _hosts = 0
    _is_refused = False
    _why = ""
    # Every request that has been read and not yet fully answered. uvicorn itself remembers only the
    # last one, and would write replies to the others into a closed connection.
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
        if self._is_refused:
            return  # earlier requests are still being answered
        self._body_bytes = 0
        super().data_received(data)
        if self._is_refused:
            return
        if not (self._in_headers or self._in_message):
            self._framing_bytes = 0
            # An empty line between requests ends uvicorn's own timeout without starting a request.
            if self._deadline is None and self._all_are_answered():
                self._expect_headers()
            return
        self._framing_bytes += len(data) - self._body_bytes
        if self._framing_bytes > MAX_FRAMING_BYTES:
            self._refuse_framing()
        elif self._in_headers and self._deadline is None:
            self._expect_headers()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_headers = self._in_message = True
        self._header_bytes = self._hosts = 0

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count_header_bytes(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        # Ignore trailers after a chunked body: the application has already read and checked the
        # headers, and trailers must not change them.
        if not self._in_headers:
            return
        self._count_header_bytes(len(name) + len(value) + len(b": \r\n"))
        self._hosts += name.lower() == b"host"
        super().on_header(name, value)

    def _count_header_bytes(self, count: int) -> None:
        """Count during parsing: data_received counts only after it has parsed all its data."""
        self._header_bytes += count
        if self._header_bytes > MAX_FRAMING_BYTES:
            self._refuse(TOO_MANY_HEADERS)

    def _refuse(self, why: str) -> None:
        self._why = why
        raise InvalidRequest(why)

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_message = False
        super().on_message_complete()

    def on_headers_complete(self) -> None:
        version = self.parser.get_http_version()
        if version not in ("1.0", "1.1"):
            self._refuse("The request must be HTTP/1.1.")
        if self._hosts > 1 or (version == "1.1" and not self._hosts):
            self._refuse("The request must have one Host.")
        self._in_headers = False
        self._headers_came()
        super().on_headers_complete()
        self._unanswered = [c for c in self._unanswered if not c.response_complete]
        self._unanswered.append(self.cycle)

    def send_400_response(self, msg: str) -> None:
        """Refuse invalid HTTP, and close the connection once earlier requests are answered."""
        self._is_refused = True
        self._headers_came()
        if self._all_are_answered():
            self.transport.write(_write_refusal(self._why or msg))
            self.transport.close()
        elif self._in_message and not self._in_headers:
            # The last request is invalid, and a refusal would look like the reply to an earlier
            # request.
            self._forget_replies()
            self.transport.close()
        else:
            # uvicorn closes the connection after it answers the last request it has read.
            self.cycle.keep_alive = False

    def _refuse_framing(self) -> None:
        if self._in_headers and not self.transport.is_closing():
            self.send_400_response(TOO_MANY_HEADERS)
        else:
            self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reading is None:
            self._reading = self.loop.call_later(READING_DEADLINE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._client_reads()
        super().resume_writing()

    def _all_are_answered(self) -> bool:
        return all(cycle.response_complete for cycle in self._unanswered)

    def _forget_replies(self) -> None:
        """Let code that is still producing replies finish; no one receives those replies."""
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


def _write_refusal(detail: str) -> bytes:
    """Write the only response that the application does not send, with its usual headers."""
    body = problems.problem_body(problems.NOT_HTTP, detail)
    headers = {
        # The path is not known, so use the row for responses that are not pages.
        **headers_for("/api/"),
        "Cache-Control": DEFAULT_CACHE_CONTROL,
        "Content-Type": problems.CONTENT_TYPE,
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return b"HTTP/1.1 400 Bad Request\r\n%s\r\n%s" % (lines.encode(), body)
