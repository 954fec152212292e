"""The closed list of reasons for which a request is answered with a problem.

Each reason has one slug and one status, here and nowhere else. The slug is what programs
may rely on; /problems says what each of them means in a sentence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

CONTENT_TYPE = "application/problem+json"


@dataclass(frozen=True)
class Problem:
    slug: str
    status: int
    title: str
    # What the sender can do about it; shown on /problems.
    advice: str = ""

    @property
    def type(self) -> str:
        return f"/problems/{self.slug}"


# --- a report that is refused for what it is: sending it again changes nothing ------------------
MALFORMED_REPORT = Problem(
    "malformed-report",
    422,
    "The report does not have the agreed form",
    "Send exactly the four members format, manifest, id and symbols, in this order, as compact "
    "JSON.",
)
SYMBOL_OUT_OF_RANGE = Problem(
    "symbol-out-of-range",
    422,
    "A code lies outside its question's range",
    "Each question of k options takes the first k characters of the base64url alphabet.",
)
WRONG_LENGTH = Problem(
    "wrong-length",
    422,
    "The number of codes is not the number of questions",
    "Send one code for each question of the manifest.",
)
UNKNOWN_MANIFEST = Problem(
    "unknown-manifest",
    422,
    "No survey was launched with this manifest",
    "Load the survey's page again: it carries the manifest that is in force.",
)
ID_ALREADY_USED = Problem(
    "id-already-used",
    409,
    "This id was already used for other codes",
    "Repeat an upload with identical bytes; draw a new id for another report.",
)
WAVE_CLOSED = Problem(
    "wave-closed", 410, "The survey is closed", "It takes no more reports; nothing was recorded."
)
TOO_LARGE = Problem(
    "too-large", 413, "The request is too large", "A report is a few hundred bytes."
)
WRONG_CONTENT_TYPE = Problem(
    "wrong-content-type", 415, "Only application/json is accepted", "Set Content-Type."
)
METHOD_NOT_ALLOWED = Problem(
    "method-not-allowed",
    405,
    "This method is not allowed here",
    "The Allow header names those are.",
)
CROSS_SITE = Problem(
    "cross-site", 403, "Reports are taken from this site's own pages only", "Open the survey here."
)
NOT_HTTP = Problem(
    "not-http", 400, "This is not a request of HTTP/1.1", "Send one that is, with fewer headers."
)
WRONG_HOST = Problem("wrong-host", 400, "This host name is not served here", "Check the address.")
BODY_TOO_SLOW = Problem(
    "body-too-slow", 408, "The request did not arrive in time", "Send it again."
)

# --- a report that may be sent again, unchanged, later ------------------------------------------
WAVE_NOT_OPEN_YET = Problem(
    "wave-not-open-yet",
    425,
    "The survey has not opened yet",
    "Send it again after the opening date.",
)
TOO_MANY_REQUESTS = Problem(
    "too-many-requests", 429, "Too many requests", "Wait as long as Retry-After says."
)
DATABASE_UNAVAILABLE = Problem(
    "database-unavailable",
    503,
    "Nothing could be stored",
    "The report was not recorded. Send it again, unchanged, after Retry-After.",
)
BUSY = Problem(
    "busy",
    503,
    "Too much is waiting at this moment",
    "The report was not recorded. Send it again, unchanged, after Retry-After.",
)

# --- pages and the API --------------------------------------------------------------------------
NOT_SIGNED_IN = Problem("not-signed-in", 403, "Sign in first", "The API takes a signed-in session.")
FORBIDDEN = Problem("forbidden", 403, "This is not allowed", "Reload the page and try again.")
NOT_FOUND = Problem("not-found", 404, "There is nothing here for you", "Check the address.")
TOO_FEW_RESPONSES = Problem(
    "too-few-responses",
    409,
    "Too few responses to show",
    "Results and exports appear once the survey's display minimum is reached.",
)
INVALID_INPUT = Problem(
    "invalid-input", 422, "The input is not valid", "The detail names what is wrong."
)
NOT_ACCEPTABLE = Problem(
    "not-acceptable", 406, "The answer does not exist in this format", "Drop the Accept header."
)
SERVER_ERROR = Problem(
    "server-error", 500, "Something failed on our side", "Try again; tell the operator if it stays."
)
UNAVAILABLE = Problem(
    "unavailable", 503, "A service this needs is unavailable", "Try again after Retry-After."
)

INTAKE_PROBLEMS: tuple[Problem, ...] = (
    MALFORMED_REPORT,
    SYMBOL_OUT_OF_RANGE,
    WRONG_LENGTH,
    UNKNOWN_MANIFEST,
    ID_ALREADY_USED,
    WAVE_CLOSED,
    WAVE_NOT_OPEN_YET,
    TOO_LARGE,
    WRONG_CONTENT_TYPE,
    METHOD_NOT_ALLOWED,
    CROSS_SITE,
    NOT_HTTP,
    WRONG_HOST,
    BODY_TOO_SLOW,
    DATABASE_UNAVAILABLE,
    BUSY,
    TOO_MANY_REQUESTS,
)
API_PROBLEMS: tuple[Problem, ...] = (
    NOT_SIGNED_IN,
    FORBIDDEN,
    NOT_FOUND,
    TOO_FEW_RESPONSES,
    INVALID_INPUT,
    NOT_ACCEPTABLE,
    SERVER_ERROR,
    UNAVAILABLE,
)
ALL_PROBLEMS = INTAKE_PROBLEMS + API_PROBLEMS


def problem_body(problem: Problem, detail: str = "") -> bytes:
    """Write the body of an application/problem+json answer (RFC 9457)."""
    content = {
        "type": problem.type,
        "title": problem.title,
        "status": problem.status,
        "detail": detail or problem.title + ".",
    }
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
