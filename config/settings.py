"""All settings, read from the environment (config/environment.py).

Without any environment variables, Murmur starts on SQLite and a local Redis, with a secret key that
is generated on first use. docs/development.md lists the variables.
"""

import base64
import secrets
from collections.abc import Callable
from pathlib import Path

from celery.schedules import crontab

from config.environment import Environment

BASE_DIR = Path(__file__).resolve().parent.parent
# The version in pyproject.toml, a file that servers need not have. The tag of a release is this
# version with the prefix "v".
VERSION = "0.1.0"
env = Environment()


def _own_key(path: Path, make: Callable[[], str]) -> str:
    """Return the key in this file, generated once. A setting lets several machines share a key."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(make())
    return path.read_text().strip()


VAR_DIR = Path(env.text("MURMUR_VAR", default=str(BASE_DIR / "var")))
DEBUG = env.flag("DEBUG", default=False)
# The proxy terminates TLS and appends the client's address to X-Forwarded-For.
BEHIND_PROXY = env.flag("MURMUR_BEHIND_PROXY", default=False)
if BEHIND_PROXY:
    env.demand(
        "DATABASE_URL",
        "SECRET_KEY",
        "MFA_KEY",
        why="With MURMUR_BEHIND_PROXY=true, Murmur does not make one, because all processes must "
        "share it.",
    )
SECRET_KEY = env.text("SECRET_KEY", default="") or _own_key(
    VAR_DIR / "secret_key", lambda: secrets.token_urlsafe(64)
)
# Earlier keys, with which labels still count questions that surveys asked before the key was
# replaced.
SECRET_KEY_FALLBACKS = env.names("SECRET_KEY_FALLBACKS", default=[])
# Encrypts the secrets of second factors: 32 random bytes in base64. Earlier keys still decrypt old
# secrets.
MFA_KEY = env.key("MFA_KEY") or _own_key(
    VAR_DIR / "mfa_key", lambda: base64.b64encode(secrets.token_bytes(32)).decode()
)
MFA_KEY_FALLBACKS = env.old_keys("MFA_KEY_FALLBACKS")
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
# Turn this off only where there is no TLS, as on a laptop: cookies are then sent over plain HTTP.
HTTPS = env.flag("MURMUR_HTTPS", default=True)


def _first_host() -> str:
    named = [host.removeprefix(".") for host in ALLOWED_HOSTS if host != "*"]
    return named[0] if named else "localhost"


# The start of all links that are sent or printed: in emails, share links, posters and QR codes. It
# is not taken from the request, because an attacker can set the host there.
_PUBLIC_URL = env.text("MURMUR_PUBLIC_URL", default="").rstrip("/")
PUBLIC_URL_IS_SET = bool(_PUBLIC_URL)
PUBLIC_URL = _PUBLIC_URL or f"{'https' if HTTPS else 'http'}://{_first_host()}"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "axes",
    "accounts",
    "surveys",
    "aggregator",
]

MIDDLEWARE = [
    "config.probes.accept_any_host",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.acting.remember_request",
    "accounts.sessions.watch_sessions",
    "surveys.history.downloads.record_downloads",
    "accounts.second_factor.required.demand_second_factor",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.asgi.django_application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

_OWN_DATABASE = f"sqlite:///{VAR_DIR / 'murmur.sqlite3'}"
DATABASES = {"default": env.database("DATABASE_URL", default=_OWN_DATABASE)}
_HAS_OWN_DATABASE = DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3"
if _HAS_OWN_DATABASE:
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; "
            "PRAGMA temp_store=MEMORY;"
        ),
    }
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    _options = DATABASES["default"].setdefault("OPTIONS", {})
    _options.setdefault("connect_timeout", 5)
    # The database server ends idle transactions that hold locks, such as a stopped worker's.
    # Neither side waits long for a broken connection.
    _options.setdefault("options", "-c idle_in_transaction_session_timeout=15s")
    _options.setdefault("prepare_threshold", 5)  # the intake repeats one statement
    _options.setdefault("keepalives_idle", 10)
    _options.setdefault("keepalives_interval", 5)
    _options.setdefault("keepalives_count", 3)
    _options.setdefault("tcp_user_timeout", 15_000)
DATABASES["default"]["CONN_MAX_AGE"] = None  # the few threads keep their connections
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# One Redis server holds messages. The other keeps everything in memory only. It counts failed
# sign-ins, and the reports from each network.
REDIS_URL = env.redis("REDIS_URL", default="redis://127.0.0.1:6379/0")
LIMITER_URL = env.redis("LIMITER_URL", default="redis://127.0.0.1:6380/0")
CACHES = {
    "default": {
        "BACKEND": "config.cache.RedisCache",
        "LOCATION": LIMITER_URL,
        # Earlier versions pickle under the same keys without a prefix, and would fail on JSON.
        "KEY_PREFIX": "json",
        "OPTIONS": {
            "serializer": "config.cache.JsonSerializer",
            "socket_connect_timeout": 2,
            "socket_timeout": 2,
        },
    }
}

CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "socket_timeout": 30,
    "socket_keepalive": True,
    "socket_connect_timeout": 5,
    "health_check_interval": 25,
}
CELERY_TASK_DEFAULT_QUEUE = "celery"
# Separate workers run long tasks, so sealing and estimating never wait for them.
LEISURE_QUEUE = "leisure"
CELERY_TASK_ROUTES = {
    f"aggregator.tasks.{name}": {"queue": LEISURE_QUEUE}
    for name in (
        *("propose_rows", "render_file", "compare", "verify", "read_import"),
        *("send_account_mail", "send_deletion_mail", "send_invitation"),
        "delete_survey_on_its_date",
    )
}
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = 300
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 5
# A task continues if the broker is lost. Running a task twice does no harm, but ending its process
# would leave the worker without a process for seconds.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Without a mail server, emails are printed, because logging would remove their links.
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_BEAT_SCHEDULER = "config.beat:Scheduler"
SWEEP_SECONDS = env.number("MURMUR_SWEEP_SECONDS", default=2.0)
CELERY_BEAT_SCHEDULE = {
    "sweep": {
        "task": "aggregator.tasks.sweep",
        "schedule": SWEEP_SECONDS,
    },
    "forget_sessions": {
        "task": "aggregator.tasks.forget_sessions",
        # Hourly, because a laptop may always be off at night.
        "schedule": crontab(minute="17"),
        "options": {"priority": 9},
    },
    "tend_history": {
        "task": "aggregator.tasks.tend_history",
        "schedule": crontab(minute="7"),
        "options": {"priority": 9},
    },
    "verify": {
        "task": "aggregator.tasks.verify",
        "schedule": crontab(hour="3", minute="0"),  # UTC
        "options": {"priority": 9},
    },
}

# `/readyz` calls work late after this time, but never before a minute has passed
# (aggregator/upkeep/status.py).
LATE_SECONDS = env.number("MURMUR_LATE_SECONDS", default=120.0)

# The folder where workers count the releases that they drew. It must outlive the database, so that
# nothing is drawn twice after a restore. If none is named, the workers of another machine draw all
# releases. There is no default for a database that machines can share, because workers with a
# second folder draw nothing.
_OWN_RELEASES = str(VAR_DIR / "releases") if _HAS_OWN_DATABASE else ""
_RELEASES = env.text("MURMUR_RELEASES", default=_OWN_RELEASES)
RELEASES = Path(_RELEASES) if _RELEASES else None

# The most bytes of charts and reports that the database keeps for the surveys of one account.
FILE_BYTES_PER_ACCOUNT = env.whole("MURMUR_FILE_MEGABYTES_PER_ACCOUNT", default=50) * 1_000_000

# The history of a survey is kept for this many years, rounded up to the end of a year. Each row
# stores its last day, so a new number does not affect rows that are already written.
HISTORY_YEARS = env.whole("MURMUR_HISTORY_YEARS", default=10)

# The database's files may contain traces of sealed reports for about this long.
PURGE_SECONDS = env.number("MURMUR_PURGE_SECONDS", default=60.0)

# The limit for an IPv4 address or IPv6 /64 network; 0 means no limit. A whole school may share an
# address. An IPv6 /56 may send 4 times as many reports, and a /48, such as a whole university, 16
# times as many. These limits slow programs that send made-up reports. With an open link, nothing
# stops such programs; only single-use invitations would.
REPORTS_PER_MINUTE = env.whole("MURMUR_REPORTS_PER_MINUTE", default=120)
# The limit for everyone together, in each web process, while the limiter is unavailable.
REPORTS_PER_SECOND = env.whole("MURMUR_REPORTS_PER_SECOND", default=200)

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = ["accounts.passwords.Argon2Hasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "accounts.passwords.GuessableValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "aggregator:home"
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # would invite strangers to sign up, which is not possible
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
# accounts/lockout.py counts failed sign-ins. After too many failures, allauth would refuse all
# sign-ins to an account, so that anyone could lock out anyone. Resets are refused per network only,
# for the same reason. Our own limit (reset_mail) allows an account five emails a minute; beyond it,
# the page still answers as usual.
ACCOUNT_RATE_LIMITS = {
    "login_failed": None,
    "reset_password": "20/m/ip",
    "reset_mail": "5/m/key",
    "address_mail": "5/h/key",
    "invitation": "50/h/key",
}
ACCOUNT_FORMS = {
    "login": "accounts.forms.SignInForm",
    "reauthenticate": "accounts.forms.ConfirmPasswordForm",
    "change_password": "accounts.forms.ChangePasswordForm",
    "reset_password": "accounts.forms.RequestResetForm",
    "reset_password_from_key": "accounts.forms.NewPasswordForm",
}
MFA_ADAPTER = "accounts.second_factor.adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "accounts.second_factor.forms.SignInCodeForm",
    "reauthenticate": "accounts.second_factor.forms.ConfirmCodeForm",
}
MFA_TOTP_TOLERANCE = 1  # step of 30 seconds before and after, for clocks that differ
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TRUST_ENABLED = False
MFA_ALLOW_UNVERIFIED_EMAIL = True  # accounts are made by the operator, not by sign-up
# Every account must set up a second factor before it can do anything else.
SECOND_FACTOR_REQUIRED = env.flag("MURMUR_SECOND_FACTOR_REQUIRED", default=False)
AXES_HANDLER = "accounts.lockout.SignInHandler"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 6
AXES_COOLOFF_TIME = 1  # hour
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # the hour ends even if attempts continue
AXES_USERNAME_CALLABLE = "accounts.lockout.person_of"
AXES_CLIENT_IP_CALLABLE = "accounts.lockout.source_of"
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_LOCKOUT_CALLABLE = "accounts.lockout.refuse"
EMAIL_CONFIG = env.email("EMAIL_URL", default="consolemail://")
vars().update(EMAIL_CONFIG)
EMAIL_PLACE = env.find_place("EMAIL_URL")
EMAIL_TIMEOUT = 5  # seconds; the worker that waits does nothing else
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", default="murmur@localhost")

# config/headers.py sets the headers of every response.
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
SESSION_ENGINE = "accounts.sessions"
# A session ends after SESSION_IDLE_SECONDS without activity, and at the latest SESSION_COOKIE_AGE
# seconds after sign-in.
SESSION_IDLE_SECONDS = int(env.number("MURMUR_SESSION_IDLE_HOURS", default=12.0) * 3600)
SESSION_COOKIE_AGE = int(env.number("MURMUR_SESSION_DAYS", default=7.0) * 24 * 3600)
SESSION_COOKIE_NAME = "__Host-session" if HTTPS else "session"
CSRF_COOKIE_NAME = "__Host-csrf" if HTTPS else "csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz)$"]  # probes come from inside, over plain HTTP
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# This covers only this host, because the operator may run services without TLS on its subdomains.
HSTS = env.text("MURMUR_HSTS", default="max-age=63072000")
SILENCED_SYSTEM_CHECKS = ["security.W004"]  # asks for Django's own setting of this header
SECURE_REFERRER_POLICY = "same-origin"  # the table of headers overrides it
SECURE_CROSS_ORIGIN_OPENER_POLICY = None
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000

# "Exit this page" leads to this URL, whose page reveals nothing.
EXIT_URL = env.text("MURMUR_EXIT_URL", default="https://www.wikipedia.org/")

# The URL of the source code, to which the start page links. If it is empty, there is no link.
SOURCE_URL = env.text("MURMUR_SOURCE_URL", default="")

# The address to which people report vulnerabilities in this server, and the URL of the policy for
# such reports. Both are in security.txt.
SECURITY_CONTACT = env.text("MURMUR_SECURITY_CONTACT", default="")
SECURITY_POLICY = env.text("MURMUR_SECURITY_POLICY", default="")

LANGUAGE_CODE = "en"
USE_I18N = True
# The languages of respondents' pages and protected results (surveys/locale). All other pages are in
# English. Each name is in the language itself, so that its speakers find it.
LANGUAGES = [
    ("en", "English"),
    ("es", "Español"),
    ("fr", "Français"),
    ("de", "Deutsch"),
    ("ar", "العربية"),
    ("zh-hans", "简体中文"),
]
# These catalogues come before the catalogues of apps that translate the same words differently.
LOCALE_PATHS = [BASE_DIR / "surveys" / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.static.StaticFilesStorage"},
}
API_REQUESTS_PER_MINUTE = 120  # with all tokens of an account together
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "aggregator.api.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["aggregator.api.tokens.SessionOnly"],
    "DEFAULT_THROTTLE_CLASSES": ["aggregator.api.tokens.TokenThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["aggregator.api.parsers.ShallowJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 50,
    "DEFAULT_METADATA_CLASS": None,  # OPTIONS answers 405; the schema describes the API
    "EXCEPTION_HANDLER": "aggregator.api.errors.problem_response",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Murmur",
    "VERSION": "1",
    "DESCRIPTION": "Surveys on sensitive questions under local differential privacy.",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {"IntervalMethodEnum": "aggregator.api.serializers.METHODS"},
}

# Logs contain no addresses, bodies or reset links. Django's own error emails stay off.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "class": "config.logs.WithoutResetLinks",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        }
    },
    "filters": {
        "respondents": {"()": "config.logs.WithoutRespondents"},
        "not_found": {"()": "config.logs.CountsNotFound"},
        "outages": {"()": "config.logs.OutagesOnce"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "plain",
            "filters": ["respondents", "not_found", "outages"],
        }
    },
    "root": {"handlers": ["console"], "level": env.log_level("LOG_LEVEL", default="INFO")},
    "loggers": {
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        "httpx": {"level": "WARNING"},
        # Actions on accounts and surveys are logged at every LOG_LEVEL (accounts/audit.py).
        "murmur.audit": {"level": "INFO"},
        "axes": {"level": "ERROR"},  # its warnings contain addresses
        # Internet scanners use wrong host names: they get a 400, and no traceback is logged.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
    },
}
