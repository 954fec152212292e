"""`manage.py survey`: write a survey as a definition, create a draft from one, or check one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from surveys.definition.checking import check_definition
from surveys.definition.creating import create_draft
from surveys.definition.exporting import export_definition
from surveys.definition.format import InvalidDefinition
from surveys.definition.parsing import parse_definition
from surveys.models import Survey

INVALID, UNUSABLE = 1, 2


class Command(BaseCommand):
    help = (
        "Write a survey as a definition (JSON), create a draft from one, or check one. FILE can be "
        "- for standard input or output. The exit code is 1 if a definition has problems, each of "
        "which is printed with a JSON pointer, and 2 if a file, survey or account is missing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        export = actions.add_parser("export", help="write a draft or an opened survey")
        export.add_argument("slug", help="the last part of the survey's address")
        export.add_argument("file", nargs="?", default="-")
        creating = actions.add_parser("import", help="create a draft")
        creating.add_argument("file")
        creating.add_argument("--owner", required=True, help="the address of the account")
        actions.add_parser("validate", help="check without creating anything").add_argument("file")

    def handle(self, *args: Any, **options: Any) -> None:
        action, file = options["action"], options["file"]
        if action == "export":
            _write(file, export_definition(_find_survey(options["slug"])))
            return
        try:
            definition = parse_definition(_read(file))
            if action == "validate":
                _refuse_problems(definition)
                self.stdout.write("The definition is valid.")
            else:
                survey = create_draft(definition, owner=_find_owner(options["owner"]))
                self.stdout.write(f"Created the draft {survey.slug}.")
        except InvalidDefinition as error:
            lines = "\n".join(map(str, error.problems))
            raise CommandError(
                f"The definition has problems.\n{lines}", returncode=INVALID
            ) from None


def _refuse_problems(definition: Any) -> None:
    if problems := check_definition(definition).problems:
        raise InvalidDefinition(problems)


def _find_survey(slug: str) -> Survey:
    survey = Survey.objects.filter(slug=slug).first()
    if survey is None:
        raise CommandError(f"There is no survey {slug}.", returncode=UNUSABLE)
    return survey


def _find_owner(email: str) -> User:
    owner = User.objects.filter(email__iexact=email, is_active=True).first()
    if owner is None:
        raise CommandError(f"There is no active account for {email}.", returncode=UNUSABLE)
    return owner


def _read(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise CommandError(
            f"{file} cannot be read: {error.strerror}.", returncode=UNUSABLE
        ) from None


def _write(file: str, content: bytes) -> None:
    try:
        if file == "-":
            sys.stdout.buffer.write(content)
        else:
            Path(file).write_bytes(content)
    except OSError as error:
        raise CommandError(
            f"{file} cannot be written: {error.strerror}.", returncode=UNUSABLE
        ) from None
