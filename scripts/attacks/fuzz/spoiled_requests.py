"""Requests that are almost valid HTTP, or almost ours; each function spoils one thing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from scripts.attacks.fuzz.draws import PATH, Case, Draw
from scripts.attacks.fuzz.intake_model import write

Mutation = Callable[[Draw], Case]
CHUNKED = b"Transfer-Encoding"


# Headers.


def foreign(draw: Draw) -> Case:
    """Send from a foreign site, for a foreign host, or with a wrong type."""
    request = draw.request()
    name, value, status = draw.rng.choice(
        (
            (b"Origin", b"https://evil.example", 403),
            (b"Origin", b"null", 403),
            (b"Origin", b"http://localhost.evil.example", 403),
            (b"Origin", b"http://evil.example#localhost", 403),
            (b"Origin", b"http://user@localhost", 403),
            (b"Origin", b"http://localhost:99999999", 403),
            (b"Origin", b"http://[", 403),
            (b"Origin", b"http://[::1", 403),
            (b"Origin", b"http://\xbc]\xff", 403),
            (b"Origin", b"localhost", 403),
            (b"Sec-Fetch-Site", b"cross-site", 403),
            (b"Sec-Fetch-Site", b"same-site", 403),
            (b"Sec-Fetch-Site", b"none", 403),
            (b"Sec-Fetch-Site", b"same-origin, cross-site", 403),
            (b"Sec-Fetch-Site", b"\xff\xfe", 403),
            (b"Host", b"evil.example", 400),
            (b"Host", b"localhost@evil.example", 400),
            (b"Host", b"localhost:x", 400),
            (b"Host", b"[::1", 400),
            (b"Host", b"\xff\xbc", 400),
            (b"Host", b"localhost, localhost", 400),
            (b"Host", b"a" * 3000, 400),
            (b"Content-Type", b"text/plain", 415),
            (b"Content-Type", b"application/x-www-form-urlencoded", 415),
            (b"Content-Type", b"multipart/form-data; boundary=x", 415),
            (b"Content-Type", b"application/jsonx", 415),
            (b"Content-Type", b"application/problem+json", 415),
            (b"Content-Type", b"*/*", 415),
            (b"Content-Type", b"\xff", 415),
            (b"Content-Type", b"text/plain, application/json", 415),
        )
    )
    return draw.refused(request.instead(name, value), status, framed=True)


def lacking_a_header(draw: Draw) -> Case:
    name, status = draw.rng.choice(((b"Host", 400), (b"Content-Type", 415)))
    # A request without a host is not HTTP/1.1, so the server closes the connection.
    return draw.refused(draw.request().lacking(name), status, framed=name != b"Host")


def doubled_header(draw: Draw) -> Case:
    """Send a right and a wrong value, so that it is unclear which one counts."""
    name, right, wrong = draw.rng.choice(
        (
            (b"Host", b"localhost", b"evil.example"),
            (b"Host", b"localhost", b"localhost"),
            (b"Origin", b"http://localhost", b"https://evil.example"),
            (b"Sec-Fetch-Site", b"same-origin", b"cross-site"),
            (b"Content-Type", b"application/json", b"text/plain"),
            (b"Content-Type", b"application/json;", b"text/plain"),
            (b"Origin", b"http://localhost/", b"https://evil.example"),
        )
    )
    pair = [(name, right), (name, wrong)]
    draw.rng.shuffle(pair)
    return draw.refused(draw.request().lacking(name).having(*pair), framed=name != b"Host")


def from_our_own_page(draw: Draw) -> Case:
    """Send headers that browsers add. This is the second control: they must do no harm."""
    request = draw.request().having(
        (b"Origin", b"http://localhost"),
        (b"Sec-Fetch-Site", b"same-origin"),
        (b"Sec-Fetch-Mode", b"cors"),
        (b"Accept", b"*/*"),
        (b"Accept-Encoding", b"gzip, deflate, br"),
        (b"Cookie", b"session=" + b"x" * draw.rng.randrange(400)),
    )
    return Case(bytes(request), (draw.new_id(),), frozenset({201}), framed=True)


def other_header(draw: Draw) -> Case:
    """Send headers that have no meaning here, of any size and with any bytes."""
    rng = draw.rng
    name = rng.choice(
        (
            *(b"X-Noise", b"Content_Type", b"X_Forwarded_For", b"X-Forwarded-For", b"Forwarded"),
            *(b"X-HTTP-Method-Override", b"Range", b"If-Match", b"Expect", b"TE", b"Cookie"),
            *(b"Content-Encoding", b"Accept", b"Authorization", b"Content_Length", b"Proxy"),
        )
    )
    value = rng.choice(
        (
            rng.randbytes(rng.randrange(40)).replace(b"\r", b"").replace(b"\n", b""),
            b"a" * rng.choice((100, 8_000, 60_000)),
            b"\x01\x02\x7f\x80\xff",
            b"identity, gzip;q=0",
            b"GET",
            b"127.0.0.1, ::1, \xff",
        )
    )
    return draw.either(draw.request().having((name, value)))


def odd_header_line(draw: Draw) -> Case:
    lines = (
        *(
            b"Bad Name: x",
            b"Host : localhost",
            b": x",
            b"X-Fold: a\r\n b",
            b" X-Lead: 1",
            b"\tY: 1",
        ),
        *(b"no colon", b"X\0: 1", b"X: \0", b"X: a\rb", b"X: a\nY: b", "Ä: 1".encode(), b"X:"),
        *(b"Content-Type: text/plain\r\n\tapplication/json", b"(x): 1", b"X: " + b"a" * 70_000),
    )
    head, _, body = bytes(draw.request()).partition(b"\r\n\r\n")
    line = draw.rng.choice(lines)
    return draw.either(head + b"\r\n" + line + b"\r\n\r\n" + body)


def very_many_headers(draw: Draw) -> Case:
    count = draw.rng.choice((100, 300, 1000))
    return draw.either(draw.request().having(*((b"X-%d" % i, b"a") for i in range(count))))


# Length, chunks, and bytes after the body.


def odd_length(draw: Draw) -> Case:
    request = replace(draw.request(), measured=False)
    real = len(request.body)
    value = draw.rng.choice(
        (
            *(b"-1", b"+%d" % real, b"0x%x" % real, b"%d " % real, b"00%d" % real, b"%d.0" % real),
            *(b"%d, %d" % (real, real), b"", b"x", b"9" * 30, b"18446744073709551616", b"1e2"),
            *(b"%d" % (real - 1), b"%d" % (real + 1), b"%d" % 2**63, b"\xb2"),
        )
    )
    return replace(draw.either(request.having((b"Content-Length", value))), silent=True)


def chunks_of(draw: Draw, body: bytes) -> bytes:
    pieces = []
    while body:
        size = draw.rng.randrange(1, len(body) + 1)
        pieces.append(b"%x\r\n%s\r\n" % (size, body[:size]))
        body = body[size:]
    return b"".join(pieces)


def in_chunks(draw: Draw) -> Case:
    request = draw.request()
    whole = request.chunked(chunks_of(draw, request.body) + b"0\r\n\r\n")
    return Case(bytes(whole), (draw.new_id(),), frozenset({201}), framed=True)


def odd_chunks(draw: Draw) -> Case:
    request = draw.request()
    body, size = request.body, len(request.body)
    good = b"%x\r\n%s\r\n" % (size, body)
    framing = draw.rng.choice(
        (
            *(
                prefix % size + b"\r\n" + body
                for prefix in (b"-%x", b"+%x", b"0x%x", b" %x", b"%xg")
            ),
            *(
                b"%x%s\r\n%s" % (size, ext, body)
                for ext in (b";a=b", b";" + b"x" * 9000, b" ", b"\0")
            ),
            b"%x\n%s\n0\n\n" % (size, body),
            b"%x\r\n%s" % (size - 1, body),
            b"%x\r\n%s" % (size + 1, body),
            b"f" * 17 + b"\r\n" + body,
            b"ffffffffffffffff\r\n" + body,
            b"000000000000%x\r\n%s" % (size, body),
            b"\r\n" + good,
            body,
        )
    )
    case = draw.either(request.chunked(framing + b"\r\n0\r\n\r\n"))
    return replace(case, silent=True)


def trailers(draw: Draw) -> Case:
    """Add trailers after a body; they must not make an invalid request valid."""
    request = draw.request()
    end = chunks_of(draw, request.body) + b"0\r\n"
    name, value = draw.rng.choice(((b"Content-Type", b"application/json"), (b"Host", b"localhost")))
    if draw.rng.getrandbits(1):
        whole = request.lacking(name).chunked(end + name + b": " + value + b"\r\n\r\n")
        return draw.refused(whole, framed=name != b"Host")
    noise = b"X-Trailer: " + b"a" * draw.rng.choice((1, 5000)) + b"\r\n\r\n"
    return draw.either(request.chunked(end + noise))


def smuggled(draw: Draw) -> Case:
    """Send a request whose end is ambiguous; the hidden second request must never be accepted."""
    inner = bytes(draw.request(write(draw.sent(salt="inner"))))
    outer = replace(draw.request(), measured=False)
    chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(outer.body), outer.body)
    te = draw.rng.choice((b"chunked", b"Chunked", b"identity, chunked", b"xchunked", b"chunked, x"))
    space = draw.rng.choice((b"", b" ", b"\x0b", b"\t"))
    both = [(CHUNKED, te + space), (b"Content-Length", b"%d" % len(chunk + inner))]
    twice = [(b"Content-Length", b"%d" % n) for n in (len(outer.body), len(outer.body + inner))]
    kind = draw.rng.randrange(3)
    if kind == 0:
        draw.rng.shuffle(both)
        request = replace(outer.having(*both), body=chunk + inner)
    elif kind == 1:
        draw.rng.shuffle(twice)
        request = replace(outer.having(*twice), body=outer.body + inner)
    else:  # the inner request is only a body
        return draw.refused(draw.request(inner), 422, framed=True)
    return replace(draw.either(request), silent=True)


# The request line.

METHODS = (
    *(b"GET", b"HEAD", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE", b"PROPFIND", b"QUERY"),
    *(b"post", b"POSTX", b"P\0ST", b"", b"A" * 5000, b"\xff\xfe", b"CONNECT", b"PRI"),
)


def other_method(draw: Draw) -> Case:
    return draw.refused(replace(draw.request(), method=draw.rng.choice(METHODS)))


ELSEWHERE = (
    *(b"/api/reports/", b"//api/reports", b"/api//reports", b"/api/reports%2f"),
    *(b"/api/reports;x", b"/API/reports", b"/api/./reports", b"/x/../api/reports", b"/api/report"),
    *(b"/api/reports%00", b"/api/reports%0a", b"/api/reports%20", b"/api/reports\\", b"*"),
    *(b"/api/reports/../reports", b"/%ff%fe", b"/api/schema", b"/", b"/s/x", b"/m/x.json"),
    *(b"/static/../api/reports", b"/api/reports/%2e%2e/reports", b"\\api\\reports", b"api/reports"),
    *(b"/api/reports\xc3\xa4", b"/api/reports%c3%a4", b"?", b"#", b"//evil.example/api/reports"),
)
SAME_PLACE = (
    *(b"?x=1", b"?", b"#x", b"?%ff", b"?" + b"a" * 5000),
    *(b"http://localhost", b"http://evil.example", b"HTTP://localhost:1", b"ftp://localhost"),
)


def other_path(draw: Draw) -> Case:
    return draw.refused(replace(draw.request(), target=draw.rng.choice(ELSEWHERE)))


def unusual_target(draw: Draw) -> Case:
    addition = draw.rng.choice(SAME_PLACE)
    target = addition + PATH if b"://" in addition else PATH + addition
    decoded = (b"/%61pi/reports", b"/api%2freports", b" /api/reports")
    target = draw.rng.choice((target, target, *decoded, b"/api/reports\t", b"/" * 9000))
    return draw.either(replace(draw.request(), target=target))


VERSIONS = (
    *(b"HTTP/1.0", b"HTTP/0.9", b"HTTP/1.2", b"HTTP/2.0", b"HTTP/9.9", b"http/1.1", b"HTTP/11"),
    *(b"", b"HTTP/", b"HTTP/1", b"HTTP/1.1 ", b"HTTP/1.1x", b"HTTP/\xff", b"RTSP/1.0", b"ICE/1.1"),
)


def other_version(draw: Draw) -> Case:
    return draw.either(replace(draw.request(), version=draw.rng.choice(VERSIONS)))


def other_line_ends(draw: Draw) -> Case:
    end = draw.rng.choice((b"\n", b"\r", b"\r\r\n", b"\n\r", b"\0"))
    return replace(draw.either(replace(draw.request(), line_end=end)), silent=True)


def upgrade(draw: Draw) -> Case:
    value = draw.rng.choice((b"websocket", b"h2c", b"HTTP/2.0", b"TLS/1.0", b"\xff"))
    request = draw.request().having(
        (b"Connection", draw.rng.choice((b"Upgrade", b"Upgrade, HTTP2-Settings", b"close"))),
        (b"Upgrade", value),
        (b"HTTP2-Settings", b"AAMAAABkAARAAAAAAAIAAAAA"),
        (b"Sec-WebSocket-Key", b"dGhlIHNhbXBsZSBub25jZQ=="),
        (b"Sec-WebSocket-Version", b"13"),
    )
    method = draw.rng.choice((b"POST", b"GET"))
    return replace(draw.either(replace(request, method=method)), silent=True)


def expecting(draw: Draw) -> Case:
    request = draw.request().having((b"Expect", b"100-continue"))
    return Case(bytes(request), (draw.new_id(),), frozenset({201}), framed=True)


# Random damage.


def shuffled_bytes(draw: Draw) -> Case:
    """Cut, copy, flip and splice bytes without regard to their meaning."""
    rng = draw.rng
    request = bytearray(bytes(draw.request()))
    for _ in range(rng.randrange(1, 4)):
        a, b = sorted(rng.randrange(len(request)) for _ in range(2))
        kind = rng.randrange(5)
        if kind == 0:
            request[a] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del request[a : a + rng.randrange(1, 5)]
        elif kind == 2:
            request[a:a] = request[a : min(b, a + 40)]
        elif kind == 3:
            request[a:a] = rng.randbytes(rng.randrange(1, 5))
        else:
            request[a:b] = request[a:b][::-1]
    bodies = re.findall(rb'\{"format":1,[^}]*\}', request)
    possible = tuple(wanted for body in bodies if (wanted := draw.survey.wants(body)))
    return replace(draw.either(bytes(request)), allowed=possible, silent=True)


def cut_off(draw: Draw) -> Case:
    request = bytes(draw.request())
    return Case(request[: draw.rng.randrange(1, len(request))], silent=True)


FIRST_BYTES = (
    *(b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", b"SSH-2.0-x\r\n", b"\0" * 100, b"\r\n" * 50),
    *(
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /\r\n",
        b"\xff" * 300,
        b" \r\n\r\n",
    ),
)


def no_http(draw: Draw) -> Case:
    noise = draw.rng.randbytes(draw.rng.randrange(1, 300))
    return Case(draw.rng.choice((*FIRST_BYTES, noise, noise)), silent=True)


# Each function with its weight in the draw.
REQUESTS: dict[Mutation, int] = {
    foreign: 12,
    lacking_a_header: 2,
    doubled_header: 5,
    from_our_own_page: 1,
    other_header: 3,
    odd_header_line: 2,
    very_many_headers: 1,
    odd_length: 2,
    in_chunks: 1,
    odd_chunks: 2,
    trailers: 2,
    smuggled: 3,
    other_method: 2,
    other_path: 2,
    unusual_target: 2,
    other_version: 1,
    other_line_ends: 1,
    upgrade: 1,
    expecting: 1,
    shuffled_bytes: 4,
    cut_off: 2,
    no_http: 1,
}
