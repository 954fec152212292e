"""A valid upload in parts that can be spoiled one at a time."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field, replace

from scripts.attacks.fuzz.intake_model import Sent, read_strictly, write

PATH = b"/api/reports"
Headers = tuple[tuple[bytes, bytes], ...]
TAKEN, REFUSED = frozenset({201}), frozenset(range(400, 500))


@dataclass(frozen=True)
class Survey:
    """The facts about an open survey of yes/no questions that a sender must know."""

    manifest_hash: bytes
    questions: int

    def wants(self, body: bytes) -> bytes | None:
        """Return the id of the report in this body if the intake should record it."""
        sent = read_strictly(body)
        if sent is None or sent.manifest_hash != self.manifest_hash:
            return None
        fits = len(sent.symbols) == self.questions and max(sent.symbols) <= 1
        return sent.report_id if fits else None


@dataclass(frozen=True)
class Request:
    body: bytes
    method: bytes = b"POST"
    target: bytes = PATH
    version: bytes = b"HTTP/1.1"
    headers: Headers = ((b"Host", b"localhost"), (b"Content-Type", b"application/json"))
    # Content-Length is written last, unless one of the headers is about length.
    measured: bool = True
    line_end: bytes = b"\r\n"

    def __bytes__(self) -> bytes:
        lines = [b" ".join((self.method, self.target, self.version))]
        lines += [name + b": " + value for name, value in self.headers]
        if self.measured:
            lines.append(b"Content-Length: %d" % len(self.body))
        return self.line_end.join([*lines, b"", self.body])

    def having(self, *headers: tuple[bytes, bytes]) -> Request:
        return replace(self, headers=(*self.headers, *headers))

    def lacking(self, name: bytes) -> Request:
        return replace(self, headers=tuple(h for h in self.headers if h[0].lower() != name.lower()))

    def instead(self, name: bytes, value: bytes) -> Request:
        return self.lacking(name).having((name, value))

    def chunked(self, rest: bytes) -> Request:
        """Return the request with these bytes instead of the body's chunks."""
        return replace(self.having((b"Transfer-Encoding", b"chunked")), body=rest, measured=False)


@dataclass(frozen=True)
class Case:
    """Bytes to send, and the correct outcomes."""

    request: bytes
    # The ids of reports that are stored if the reply is 201, and perhaps if there is no reply.
    allowed: tuple[bytes, ...] = ()
    expected: frozenset[int] = REFUSED
    # The server knows where the request ends, so another can follow on the same connection.
    framed: bool = False
    # The request is incomplete: the server waits for more, so the fuzzer does not wait for a reply.
    silent: bool = False
    name: str = ""


@dataclass(frozen=True)
class Draw:
    """One number of the sequence, with its own generator, id and valid request."""

    survey: Survey
    seed: str
    known: tuple[bytes, ...] = ()  # bodies that the server has recorded
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rng", random.Random(self.seed))

    def new_id(self, *, salt: str = "") -> bytes:
        return hashlib.sha256(f"{self.seed}{salt}".encode()).digest()

    def sent(self, *, salt: str = "") -> Sent:
        symbols = bytes(self.rng.getrandbits(1) for _ in range(self.survey.questions))
        return Sent(self.survey.manifest_hash, self.new_id(salt=salt), symbols)

    def request(self, body: bytes | None = None) -> Request:
        return Request(body=write(self.sent()) if body is None else body)

    def with_body(self, body: bytes) -> Case:
        """Return a request in which only the body can be invalid; a body may be valid by chance."""
        report_id = self.survey.wants(body)
        if report_id is not None:
            return Case(bytes(self.request(body)), (report_id,), TAKEN, framed=True)
        return Case(bytes(self.request(body)), expected=frozenset({422}), framed=True)

    def refused(self, request: Request | bytes, *expected: int, framed: bool = False) -> Case:
        return Case(bytes(request), expected=frozenset(expected or REFUSED), framed=framed)

    def either(self, request: Request | bytes, *, framed: bool = False) -> Case:
        """Return an unusual but valid case, which may be accepted or refused."""
        return Case(bytes(request), (self.new_id(),), TAKEN | REFUSED, framed=framed)
