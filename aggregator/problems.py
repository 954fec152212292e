"""The complete list of reasons why a request is refused or fails.

Each reason has one slug and one status, defined only here. Programs may rely on the slug;
/problems explains each reason in a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CONTENT_TYPE = "application/problem+json"


@dataclass(frozen=True)
class Problem:
    slug: str
    status: int
    title: str
    # What the sender can do; shown on /problems.
    advice: str = ""

    @property
    def type(self) -> str:
        return f"/problems/{self.slug}"


MALFORMED_REPORT = Problem(
    "malformed-report",
    422,
    "The report has the wrong format",
    "Send exactly the four members format, manifest, id and symbols, in this order, as compact "
    "JSON.",
)
SYMBOL_OUT_OF_RANGE = Problem(
    "symbol-out-of-range",
    422,
    "A symbol is outside its question's range",
    "A question with k options uses the first k characters of the base64url alphabet.",
)
WRONG_LENGTH = Problem(
    "wrong-length",
    422,
    "The number of symbols does not match the survey",
    "Send one character for each symbol of the manifest.",
)
UNKNOWN_MANIFEST = Problem(
    "unknown-manifest",
    422,
    "No survey has this manifest",
    "Reload the survey's page to get the current manifest.",
)
ID_ALREADY_USED = Problem(
    "id-already-used",
    409,
    "This id was already used for a different report",
    "When you retry, send identical bytes. Draw a new id for each new report.",
)
WAVE_CLOSED = Problem(
    "wave-closed", 410, "The survey is closed", "It accepts no more reports. Nothing was recorded."
)
SURVEY_DELETED = Problem(
    "survey-deleted",
    410,
    "The survey has been deleted",
    "It accepts no more reports, and those that it had were erased. Nothing was recorded.",
)
TOO_LARGE = Problem(
    "too-large", 413, "The request is too large", "A report is only a few hundred bytes long."
)
WRONG_CONTENT_TYPE = Problem(
    "wrong-content-type", 415, "Only application/json is accepted", "Set the Content-Type header."
)
METHOD_NOT_ALLOWED = Problem(
    "method-not-allowed",
    405,
    "This method is not allowed here",
    "The Allow header lists the methods that are.",
)
CROSS_SITE = Problem(
    "cross-site",
    403,
    "Reports are accepted from this site's own pages only",
    "Open the survey on this site.",
)
PLAIN_HTTP = Problem(
    "plain-http",
    403,
    "Reports are accepted over HTTPS only",
    "Open the survey with https:// at the beginning of its address.",
)
NOT_HTTP = Problem(
    "not-http",
    400,
    "This is not a valid HTTP/1.1 request",
    "Send a valid request with fewer headers.",
)
WRONG_HOST = Problem(
    "wrong-host", 400, "This server does not answer to this host name", "Check the address."
)
BODY_TOO_SLOW = Problem(
    "body-too-slow", 408, "The request did not arrive in time", "Send it again."
)

WAVE_NOT_OPEN_YET = Problem(
    "wave-not-open-yet",
    425,
    "The survey has not opened yet",
    "Send it again after the opening date.",
)
TOO_MANY_REQUESTS = Problem(
    "too-many-requests", 429, "Too many requests", "Wait for the time given in Retry-After."
)
DATABASE_UNAVAILABLE = Problem(
    "database-unavailable",
    503,
    "The report could not be stored",
    "The report was not recorded. Send it again, unchanged, after the time in Retry-After.",
)
BUSY = Problem(
    "busy",
    503,
    "The server is busy",
    "The report was not recorded. Send it again, unchanged, after the time in Retry-After.",
)

NOT_SIGNED_IN = Problem(
    "not-signed-in",
    403,
    "Sign in first",
    "The API needs a token, or the session of a signed-in user.",
)
INVALID_TOKEN = Problem(
    "invalid-token",
    401,
    "The token does not work",
    "It may have expired or been revoked. Make a new one on your account page.",
)
WRONG_SCOPE = Problem(
    "wrong-scope",
    403,
    "The token does not allow this",
    "The detail names the missing scope. Make a token that has this scope.",
)
FORBIDDEN = Problem(
    "forbidden",
    403,
    "This is not allowed",
    "Your role on the survey may be too low. In a browser, reload the page and try again.",
)
NOT_FOUND = Problem("not-found", 404, "Not found", "Check the address.")
TOO_FEW_RESPONSES = Problem(
    "too-few-responses",
    409,
    "Too few responses to show",
    "Results and exports need 3 × K reports, or more if the author chose a higher minimum. A "
    "survey that asks each person only some of its questions shows results only once it has "
    "closed.",
)
SURVEY_NOT_COUNTED = Problem(
    "survey-not-counted",
    409,
    "There are no rows yet",
    "reports.csv exists once the survey has closed and all its reports are counted.",
)
BACKGROUND_NOT_CHOSEN = Problem(
    "background-not-chosen",
    409,
    "The background of the rows is not chosen yet",
    "On the Data page, choose which background questions reports.csv includes. You can choose only "
    "once.",
)
NO_SUCH_ROWS = Problem(
    "no-such-rows",
    404,
    "There is no such file of rows",
    "If blocks of questions were drawn at random and few people were asked the same blocks, each "
    "block has its own file, such as reports.csv?block=1. Otherwise, leave out block.",
)
INVALID_INPUT = Problem(
    "invalid-input", 422, "The input is not valid", "The detail says what is wrong."
)
INVALID_DEFINITION = Problem(
    "invalid-definition",
    422,
    "The definition has problems",
    "The member errors lists up to 100 of them, each with a JSON pointer and a detail.",
)
DEFINITION_TOO_LARGE = Problem(
    "definition-too-large", 413, "The definition is too large", "It can have at most 2 MB."
)
IF_MATCH_MISSING = Problem(
    "if-match-missing",
    428,
    "Say which version you replace",
    "Get the definition, and send its ETag in If-Match. The value * is not accepted.",
)
OVERTAKEN = Problem(
    "overtaken",
    412,
    "Someone else has changed the draft",
    "Get the definition again, and make your change there. Nothing was saved.",
)
SURVEY_OPENED = Problem(
    "survey-opened",
    409,
    "The survey has been opened",
    "It can no longer be changed. Create another one from the same definition.",
)
NOT_ACCEPTABLE = Problem(
    "not-acceptable", 406, "This format is not available", "Leave out the Accept header."
)
SERVER_ERROR = Problem(
    "server-error",
    500,
    "Something failed on our side",
    "Try again. If it keeps failing, tell the operator.",
)
UNAVAILABLE = Problem(
    "unavailable",
    503,
    "A required service is unavailable",
    "Try again after the time in Retry-After.",
)

INTAKE_PROBLEMS: tuple[Problem, ...] = (
    MALFORMED_REPORT,
    SYMBOL_OUT_OF_RANGE,
    WRONG_LENGTH,
    UNKNOWN_MANIFEST,
    ID_ALREADY_USED,
    WAVE_CLOSED,
    SURVEY_DELETED,
    WAVE_NOT_OPEN_YET,
    TOO_LARGE,
    WRONG_CONTENT_TYPE,
    METHOD_NOT_ALLOWED,
    CROSS_SITE,
    PLAIN_HTTP,
    NOT_HTTP,
    WRONG_HOST,
    BODY_TOO_SLOW,
    DATABASE_UNAVAILABLE,
    BUSY,
    TOO_MANY_REQUESTS,
)
API_PROBLEMS: tuple[Problem, ...] = (
    NOT_SIGNED_IN,
    INVALID_TOKEN,
    WRONG_SCOPE,
    FORBIDDEN,
    NOT_FOUND,
    TOO_FEW_RESPONSES,
    SURVEY_NOT_COUNTED,
    BACKGROUND_NOT_CHOSEN,
    NO_SUCH_ROWS,
    INVALID_INPUT,
    INVALID_DEFINITION,
    DEFINITION_TOO_LARGE,
    IF_MATCH_MISSING,
    OVERTAKEN,
    SURVEY_OPENED,
    NOT_ACCEPTABLE,
    SERVER_ERROR,
    UNAVAILABLE,
)
ALL_PROBLEMS = INTAKE_PROBLEMS + API_PROBLEMS


def problem_body(
    problem: Problem, detail: str = "", *, errors: Sequence[Mapping[str, str]] = ()
) -> bytes:
    """Return the body of an application/problem+json response (RFC 9457).

    `errors` lists all faults of the request, if known.
    """
    content: dict[str, object] = {
        "type": problem.type,
        "title": problem.title,
        "status": problem.status,
        "detail": detail or problem.title + ".",
    }
    if errors:
        content["errors"] = list(errors)
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
