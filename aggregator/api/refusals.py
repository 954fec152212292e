"""The reasons why views of the API refuse a request; errors.py turns each reason into a reply."""

from __future__ import annotations

from rest_framework import exceptions


class TooFewResponses(exceptions.APIException):
    """The survey exists, but has too few responses to show."""


class SurveyNotCounted(exceptions.APIException):
    """The survey has results, but its rows exist only once it has closed and been counted."""


class BackgroundNotChosen(exceptions.APIException):
    """The rows are available only once the survey's owner has chosen their background questions."""


class NoSuchRows(exceptions.APIException):
    """The request names a block although there is one file, or no block although each has one."""


class InvalidToken(exceptions.AuthenticationFailed):
    """The token does not work: it is unknown, expired or revoked."""


class WrongScope(exceptions.PermissionDenied):
    """The token lacks the endpoint's `scope`, which is None if the endpoint accepts no tokens."""

    def __init__(self, scope: str | None) -> None:
        super().__init__(
            f"The token lacks the scope {scope}." if scope else "This address takes no tokens."
        )


class IfMatchMissing(exceptions.APIException):
    """Without If-Match, a program could overwrite what someone else has just saved."""


class DefinitionTooLarge(exceptions.APIException):
    """The body is larger than any definition may be."""
