"""Turn a check of this installation into a message of Django's system checks.

Every kind of finding has one number. A finding is an error (`aggregator.E020`) if a check fails, a
warning (`aggregator.W020`) if Murmur cannot tell, and a note (`aggregator.I020`) if a state is
right only on some machines.
"""

from __future__ import annotations

from django.core import checks
from django.core.checks import CheckMessage

# Settings of Murmur itself
DEBUG = 1
HTTPS = 2
PROXY = 3
HOSTS = 4
LOG_LEVEL = 5
REPORT_LIMIT = 6
CORE_DUMPS = 7
CONTRADICTION = 8
SECURITY_CONTACT = 9
PUBLIC_ADDRESS = 11
MAIL = 12
# The database's schema
MIGRATIONS = 10
# PostgreSQL
SERVER_SETTING = 20
LIBRARIES = 21
RIGHTS = 22
ROLE = 23
CONNECTION = 24
REPLICATION = 25
UNLOGGED_TABLES = 26
STATISTICS = 27
DATABASE_REACH = 28
# SQLite
PRAGMA = 30
FILE_MODE = 31
ONE_PROCESS = 32
# Redis
REDIS_SETTING = 40
REDIS_APART = 41
REDIS_VERSION = 42
REDIS_REACH = 43
# Results of the workers
LAST_PURGE = 50
TRACES_LEFT = 51
SMALL_BATCHES = 52
# Drawing of releases
RELEASES = 60
OPENDP = 61
DRAWS_NOWHERE = 62
RELEASES_FOLDER = 63
# Accounts
MFA_KEYS = 70


def judge(
    number: int, subject: str, *, good: bool | None, meaning: str, remedy: str
) -> list[CheckMessage]:
    """Return no message if `good`, a warning if `good` is None (unknown), or else an error.

    `meaning` names the consequence; `remedy` is the command to type, if there is one.
    """
    if good:
        return []
    text = f"{subject}: {meaning}"
    if good is None:
        return [checks.Warning(text, hint=remedy, id=f"aggregator.W{number:03}")]
    return [checks.Error(text, hint=remedy, id=f"aggregator.E{number:03}")]
