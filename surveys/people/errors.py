"""Errors about refused changes of people and roles, each with the sentence that people read."""

from __future__ import annotations


class PeopleError(Exception):
    """Nothing was changed."""


class LastOwner(PeopleError):
    def __init__(self) -> None:
        super().__init__("Someone must remain the owner. Make another person the owner first.")


class NotAMember(PeopleError):
    def __init__(self) -> None:
        super().__init__("This person has no role here any more. Reload the page.")


class RoleTooLow(PeopleError):
    def __init__(self) -> None:
        super().__init__("Your own role was changed. Only owners can make this change.")


class HasRole(PeopleError):
    def __init__(self) -> None:
        super().__init__("This person already has a role. Change it in the list.")


class InvalidInvitation(PeopleError):
    def __init__(self) -> None:
        super().__init__("This invitation no longer works. Ask for a new one.")


class OtherAddress(PeopleError):
    def __init__(self) -> None:
        super().__init__("This invitation is for a different address.")


class OwnsSurveys(PeopleError):
    def __init__(self) -> None:
        super().__init__("The account is the only owner of a survey or a team.")
