"""Bodies that are almost valid reports; each function spoils one thing."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from scripts.attacks.fuzz.draws import Case, Draw
from scripts.attacks.fuzz.intake_model import LETTERS, Sent, write

Mutation = Callable[[Draw], Case]


def flipped_bits(draw: Draw) -> Case:
    body = bytearray(write(draw.sent()))
    for _ in range(draw.rng.choice((1, 1, 1, 2, 5))):
        body[draw.rng.randrange(len(body))] ^= 1 << draw.rng.randrange(8)
    return draw.with_body(bytes(body))


def other_byte(draw: Draw) -> Case:
    body = bytearray(write(draw.sent()))
    body[draw.rng.randrange(len(body))] = draw.rng.choice(b'"{}[],:\\~=+/ \0\n\x7f\xff-_AB1')
    return draw.with_body(bytes(body))


def cut_or_extended(draw: Draw) -> Case:
    body = write(draw.sent())
    where = draw.rng.randrange(len(body))
    length = draw.rng.randrange(1, 9)
    noise = draw.rng.randbytes(length)
    return draw.with_body(
        draw.rng.choice(
            (
                body[:where],
                body[where:],
                body[:where] + body[where + length :],
                body[:where] + noise + body[where:],
                body[:where] + body[where : where + length] + body[where:],
                body + noise,
                noise + body,
                body + draw.rng.choice((b"\n", b" ", b"\0", b"\r\n", b"{}", b",")),
                body + body,
            )
        )
    )


def spelled_otherwise(draw: Draw) -> Case:
    """Write JSON that means the same, at least to some parsers."""
    body = write(draw.sent())
    content = json.loads(body)
    changes: tuple[bytes, ...] = (
        json.dumps(content).encode(),
        json.dumps(content, indent=1).encode(),
        json.dumps(dict(reversed(content.items())), separators=(",", ":")).encode(),
        body.replace(b'"format"', b'"\\u0066ormat"'),
        body.replace(b'"symbols":"', b'"symbols":"\\u0041'),
        body.replace(b":1,", b":1.0,"),
        body.replace(b":1,", b":1e0,"),
        body.replace(b":1,", b":true,"),
        body.replace(b":1,", b':"1",'),
        body.replace(b":1,", b":01,"),
        body.replace(b":1,", b":-1,"),
        body.replace(b'"', b"'"),
        body.replace(b"}", b",}"),
        b"/**/" + body,
        b"[" + body + b"]",
        json.dumps(body.decode()).encode(),
        body.replace(b"format", b"Format"),
    )
    return draw.with_body(draw.rng.choice(changes))


def doubled_or_missing_members(draw: Draw) -> Case:
    members = write(draw.sent())[1:-1].split(b",")
    more = (*members, b'"id":"x"', b'"__proto__":{}', b'"extra":null', b'"format":2', b'"":""')
    kind = draw.rng.randrange(3)
    if kind == 0:
        members.insert(draw.rng.randrange(5), draw.rng.choice(more))
    elif kind == 1:
        del members[draw.rng.randrange(4)]
    else:
        draw.rng.shuffle(members)
    return draw.with_body(b"{" + b",".join(members) + b"}")


VALUES = (
    *(b"NaN", b"Infinity", b"-Infinity", b"null", b"true", b"{}", b"[]", b'""', b"0", b"-0"),
    *(b"1e400", b"9" * 400, b"0." + b"1" * 400, b"1E-999", b"[" * 900 + b"]" * 900),
    *(b'{"a":' * 500 + b"1" + b"}" * 500, b'"' + b"A" * 3000 + b'"', b'"\\ud800"', b'"\\u0000"'),
    *('"Ä"'.encode(), b'"\xff\xfe"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"'),
)


def other_value(draw: Draw) -> Case:
    members = write(draw.sent())[1:-1].split(b",")
    which = draw.rng.randrange(4)
    name, _, _ = members[which].partition(b":")
    members[which] = name + b":" + draw.rng.choice(VALUES)
    return draw.with_body(b"{" + b",".join(members) + b"}")


def only_a_value(draw: Draw) -> Case:
    return draw.with_body(draw.rng.choice((*VALUES, b"", b" ", b"\0", b"{", b"not json")))


def other_encoding(draw: Draw) -> Case:
    text = write(draw.sent()).decode()
    encodings = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "utf-7", "cp037")
    return draw.with_body(text.encode(draw.rng.choice(encodings)))


def odd_base64(draw: Draw) -> Case:
    """Use ids of a wrong length, with padding, in the other alphabet, or not in canonical form."""
    sent = draw.sent()
    body = write(sent)
    spelled = base64.urlsafe_b64encode(sent.report_id).rstrip(b"=")
    last = LETTERS.index(chr(spelled[-1]))
    others = (
        spelled[:-1] + LETTERS[last + draw.rng.randrange(1, 4)].encode(),  # unused bits set
        spelled + b"=",
        spelled + b"A",
        spelled[:-1],
        spelled[:22],
        spelled + spelled,
        spelled[:20] + draw.rng.choice((b"+", b"/", b"=", b".", b"%", b" ")) + spelled[21:],
        sent.report_id.hex().encode(),
        b"",
        b"A" * 42,
        b"=" * 43,
    )
    return draw.with_body(body.replace(spelled, draw.rng.choice(others)))


def odd_symbols(draw: Draw) -> Case:
    sent = draw.sent()
    body = write(sent)
    head, _, letters = body[:-2].rpartition(b'"')
    where = draw.rng.randrange(len(letters))
    other = draw.rng.choice((b"C", b"_", b"-", b"9", b"~", b"=", b"+", b"a", b"", b"BA", b"AAAA"))
    changed = letters[:where] + other + letters[where + 1 :]
    changed = draw.rng.choice((changed, changed, changed, b"", b"~" * len(letters), letters * 60))
    return draw.with_body(head + b'"' + changed + b'"}')


def unknown_manifest(draw: Draw) -> Case:
    sent = draw.sent()
    return draw.with_body(write(Sent(draw.new_id(salt="manifest"), sent.report_id, sent.symbols)))


def too_large(draw: Draw) -> Case:
    size = draw.rng.choice((4097, 4098, 5000, 20_000))
    body = draw.rng.choice((b"[", b"{", b" ", b'"', b"\0", b"9")) * size
    return draw.refused(draw.request(body), 413)


def as_large_as_allowed(draw: Draw) -> Case:
    return draw.with_body(write(draw.sent()).ljust(4096, draw.rng.choice((b" ", b"\n", b"A"))))


def noise(draw: Draw) -> Case:
    return draw.with_body(draw.rng.randbytes(draw.rng.randrange(600)))


def known_with_other_symbols(draw: Draw) -> Case:
    """Change a recorded report's symbols; expect 409 and no change to the recorded report."""
    body = bytearray(draw.rng.choice(draw.known))
    body[-3] = b"BA"[body[-3] == ord("B")]
    return draw.refused(draw.request(bytes(body)), 409, framed=True)


def known(draw: Draw) -> Case:
    body = draw.rng.choice(draw.known)
    report_id = draw.survey.wants(body)
    assert report_id is not None
    return Case(bytes(draw.request(body)), (report_id,), frozenset({200}), framed=True)


def valid(draw: Draw) -> Case:
    """Send a valid report as a control; without it, a server that refuses everything would pass."""
    sent = draw.sent()
    request = draw.request(write(sent))
    return Case(bytes(request), (sent.report_id,), frozenset({201}), framed=True)


# Each function with its weight in the draw.
BODIES: dict[Mutation, int] = {
    flipped_bits: 16,
    other_byte: 8,
    cut_or_extended: 8,
    spelled_otherwise: 6,
    doubled_or_missing_members: 6,
    other_value: 8,
    only_a_value: 2,
    other_encoding: 2,
    odd_base64: 8,
    odd_symbols: 6,
    unknown_manifest: 2,
    too_large: 1,
    as_large_as_allowed: 1,
    noise: 3,
    known_with_other_symbols: 2,
    known: 1,
    valid: 2,
}
