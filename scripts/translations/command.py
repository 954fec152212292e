"""scripts/messages: brings the translations of respondents' pages in line with the code.

Writes surveys/locale/<language>/LC_MESSAGES/django.po, which people edit, and next to it the
django.mo that the pages use. --check writes nothing and fails if anything is left to do.
"""

from __future__ import annotations

import argparse
import sys

from scripts.translations.catalogs import (
    LOCALES,
    compile_catalog,
    extract_messages,
    mo_path,
    update_catalog,
)
from scripts.translations.checks import find_problems


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/messages",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true")
    check_only = parser.parse_args().check
    if not check_only:
        write_catalogs()
    problems = find_problems()
    print("\n".join([*problems, f"{len(problems)} to do in surveys/locale."]))
    sys.exit(1 if check_only and problems else 0)


def write_catalogs() -> None:
    found = extract_messages()
    for locale in LOCALES:
        update_catalog(locale, found)
        mo_path(locale).write_bytes(compile_catalog(locale))


if __name__ == "__main__":
    main()
