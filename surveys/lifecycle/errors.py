"""Errors about a survey's state, each with the sentence that the author reads.

Authoring errors (`surveys.authoring.errors`) also derive from SurveyError.
"""


class SurveyError(Exception):
    """A request that the survey's state does not allow."""


class NotOpen(SurveyError):
    def __init__(self) -> None:
        super().__init__("This survey is not open, so there is nothing to close.")


class NotClosed(SurveyError):
    def __init__(self) -> None:
        super().__init__("This survey is still open. Close it first, then delete it.")
