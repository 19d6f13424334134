"""Settings; everything that differs between machines comes from the environment (see docs/operating.md).

The process refuses to start where ``DEBUG`` is off and there is no ``SECRET_KEY``, or one that can be guessed.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from config.environment import Environment, with_time_limits
from consilium.generic_classes import allow_subscripts
from consilium.hosts import host_names, named_ports
from consilium.local_key import consilium_home, weakness_of_key
from consilium.logs import logging_settings
from standalone.broker.address import broker_url
from standalone.embedded.server import SUPERUSER, EmbeddedServerError, binaries, server_for

MIN_TOKEN_LENGTH = 32

env = Environment()
allow_subscripts()

BASE_DIR = Path(__file__).resolve().parent.parent
CONSILIUM_HOME = consilium_home(os.environ)
DEBUG: bool = env.bool("DEBUG", default=False)
SECRET_KEY: str = env.str("SECRET_KEY", default="")
if not SECRET_KEY:
    if not DEBUG:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set and DEBUG is off. Set SECRET_KEY to a long random text that only this deployment "
            'knows, for example the output of: python3 -c "import secrets; print(secrets.token_urlsafe(50))"'
        )
    SECRET_KEY = secrets.token_urlsafe(50)  # sessions end with the process, which is fine while developing
if not DEBUG and (weakness := weakness_of_key(SECRET_KEY)):
    raise ImproperlyConfigured(
        f"SECRET_KEY {weakness}, so sessions and links could be forged. Set it to a long random text that only this "
        'deployment knows, for example the output of: python3 -c "import secrets; print(secrets.token_urlsafe(50))". '
        "Put the former key into SECRET_KEY_FALLBACKS until people have signed in again."
    )
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", default=[])

PORT: int = env.int("PORT", default=8000)
BIND: str = env.str("BIND", default="127.0.0.1")
# Where people find the site, e.g. https://consilium.example.org; https switches on everything that needs it.
SITE_URL: str = env.str("SITE_URL", default="").rstrip("/")
if SITE_URL and not SITE_URL.startswith(("http://", "https://")):
    raise ImproperlyConfigured(f"SITE_URL must begin with http:// or https://, and is {SITE_URL!r}.")
_allowed_hosts: list[str] = [host.strip().lower() for host in env.list("ALLOWED_HOSTS", default=[]) if host.strip()]
ALLOWED_HOSTS: list[str] = host_names(site_url=SITE_URL, allowed_hosts=_allowed_hosts, bind=BIND)
# The ports of each name for which ALLOWED_HOSTS gives them. Other names have the port of SITE_URL, or else PORT.
NAMED_PORTS: dict[str, frozenset[str]] = named_ports(site_url=SITE_URL, allowed_hosts=_allowed_hosts, port=PORT)
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", default=[]) or ([SITE_URL] if SITE_URL else [])

INSTALLED_APPS = [
    "consilium",
    "standalone",
    "accounts",
    "rubrics",
    "documents",
    "annotation",
    "scoring",
    "drafting",
    "validation",
    "agreement",
    "releases",
    "operations",
    "demo",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "consilium.apps.StaticFiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "csp",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "pghistory",
    "pgtrigger",
    "rest_framework",
    "template_partials",
]

MIDDLEWARE = [
    "consilium.middleware.refuse_other_hosts",
    "consilium.middleware.refuse_other_encodings",
    "consilium.middleware.answer_head",
    "consilium.browser_rules.browser_rules",
    "consilium.browser_rules.refuse_plain_api",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "consilium.middleware.refuse_long_queries",
    "consilium.middleware.RefuseNul",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "consilium.middleware.refuse_missing_slash",
    "django.middleware.common.CommonMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.session_middleware.session_times",
    "accounts.middleware.reader_preferences",
    "config.body_limits.refuse_long_bodies",
    "django.middleware.csrf.CsrfViewMiddleware",
    "accounts.session_middleware.keep_forms",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "accounts.second_step_middleware.demand_second_step",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "pghistory.middleware.HistoryMiddleware",
    "consilium.middleware.RefuseForms",
    "consilium.middleware.explain_wrong_method",
    "consilium.time_limits.TimeLimits",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

_TEMPLATE_LOADERS = [
    (
        "django.template.loaders.cached.Loader",
        [
            "consilium.core.template_loader.Loader",  # our templates, without the indentation of their source
            "django.template.loaders.app_directories.Loader",
        ],
    )
]
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [("template_partials.loader.Loader", _TEMPLATE_LOADERS)],
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "consilium.context.limits",
                "demo.context.demo_sign_ins",
            ],
        },
    }
]

# Database ---------------------------------------------------------------------------------------------------------
# Web processes have many short-lived threads, so they pool connections; a worker or a command has one lasting thread.
WEB_PROCESS: bool = env.bool("CONSILIUM_WEB", default=False)
# Of the web server; more need more memory, threads and connections to PostgreSQL (docs/operating.md, Sizes).
WEB_PROCESSES: int = env.int("WEB_PROCESSES", default=2)
if not 1 <= WEB_PROCESSES <= 16:
    raise ImproperlyConfigured("WEB_PROCESSES is from 1 to 16.")
_test_database: str = env.str("CONSILIUM_TEST_DB", default="consilium_test")

_database: dict[str, Any]
if env.str("DATABASE_URL", default=""):
    _database = dict(env.db_url("DATABASE_URL"))
    if "postgres" not in _database["ENGINE"]:
        raise ImproperlyConfigured("DATABASE_URL must name a PostgreSQL server: postgres://user:password@host/name")
    _host = _database.get("OPTIONS", {}).pop("host", None)  # a socket's folder: postgres://user@/name?host=/folder
    if _host:
        _database["HOST"] = _host
    EMBEDDED = False
else:
    _database = {
        "NAME": "consilium",
        "USER": SUPERUSER,
        "HOST": str(server_for(CONSILIUM_HOME).socket_folder),
        "EMBEDDED_HOME": str(CONSILIUM_HOME),
    }
    EMBEDDED = True
_database["ENGINE"] = "standalone.postgres"
_database.setdefault("OPTIONS", {})
_database["TEST"] = {"NAME": _test_database}
# In milliseconds. A page that waits longer than this has been given up by its reader. Commands have no limits, and
# workers have one for locks alone (config/celery.py): an import may take an hour, and another one waits for it.
WEB_TIME_LIMITS = {"statement_timeout": 20_000, "lock_timeout": 5_000, "idle_in_transaction_session_timeout": 60_000}
WORKER_TIME_LIMITS = {"lock_timeout": 600_000}

if WEB_PROCESS:
    _options: str = _database["OPTIONS"].get("options", "")
    _database["OPTIONS"]["options"] = with_time_limits(_options, WEB_TIME_LIMITS)
    _database["OPTIONS"]["pool"] = {"min_size": 1, "max_size": 10, "timeout": 10}
    # From its second run on, a connection keeps the plan of a query that every page runs
    # (consilium.core.compiled_queries).
    _database["OPTIONS"]["prepare_threshold"] = 1 if env.bool("DATABASE_PREPARE", default=True) else None
else:
    _database["CONN_MAX_AGE"] = 60
    _database["CONN_HEALTH_CHECKS"] = True
DATABASES = {"default": _database}
# Folders with pg_dump and pg_restore: the one that the operator names, and that of the Python packages (version 18).
PG_BIN: str = env.str("PG_BIN", default="")
try:
    EMBEDDED_PG_BIN = str(binaries())
except EmbeddedServerError:
    EMBEDDED_PG_BIN = ""
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Backups ----------------------------------------------------------------------------------------------------------
# Where workers put them; none are made if it is empty.
BACKUP_DIR: str = str(Path(env.str("BACKUP_DIR", default="")).absolute()) if env.str("BACKUP_DIR", default="") else ""
BACKUP_HOUR: int = env.int("BACKUP_HOUR", default=2)  # UTC
BACKUP_KEEP_DAYS: int = env.int("BACKUP_KEEP_DAYS", default=7)
BACKUP_KEEP_WEEKS: int = env.int("BACKUP_KEEP_WEEKS", default=4)
# A backup is restored for a test if the last good test is so many days old; 0: never.
BACKUP_TEST_DAYS: int = env.int("BACKUP_TEST_DAYS", default=7)
if not (0 <= BACKUP_HOUR <= 23 and BACKUP_KEEP_DAYS >= 1 and BACKUP_KEEP_WEEKS >= 0 and BACKUP_TEST_DAYS >= 0):
    raise ImproperlyConfigured(
        "BACKUP_HOUR is from 0 to 23, BACKUP_KEEP_DAYS at least 1, BACKUP_KEEP_WEEKS and BACKUP_TEST_DAYS at least 0."
    )
BACKUP_TIME_LIMIT_S = 6 * 3600

# Broker and cache -------------------------------------------------------------------------------------------------
REDIS_URL: str = env.str("REDIS_URL", default="")
# A full cache drops entries. With Django's default of 300, guesses at other accounts would remove an account's count.
MAX_COUNTED = 50_000
CACHES: dict[str, dict[str, Any]] = {
    # Holds what must be counted across processes, such as failed sign-ins.
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "consilium_cache",
        "OPTIONS": {"MAX_ENTRIES": MAX_COUNTED},
    },
    "rates": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "rates",
        "OPTIONS": {"MAX_ENTRIES": MAX_COUNTED},
    },
}

TASK_TIME_LIMIT_S = 30 * 60
CELERY_BROKER_URL: str = REDIS_URL or broker_url({**_database, "NAME": f"{_database['NAME']}_broker"})
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    # Redis delivers an unacknowledged task again after this time, so it must be longer than any task may run.
    {"visibility_timeout": 2 * TASK_TIME_LIMIT_S, "socket_connect_timeout": 3, "socket_keepalive": True}
    if REDIS_URL
    else {"pool_pre_ping": True, "pool_size": 2}
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 2, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.5}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = TASK_TIME_LIMIT_S
CELERY_TASK_SOFT_TIME_LIMIT = TASK_TIME_LIMIT_S - 60
CELERY_WORKER_PREFETCH_MULTIPLIER = 1 if REDIS_URL else 4  # each fetch by polling has a cost
CELERY_WORKER_ENABLE_REMOTE_CONTROL = bool(REDIS_URL)
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 5.0
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(CONSILIUM_HOME / "beat-schedule")
# A worker without progress for this long ends, and its supervisor starts it again (consilium.core.watchdog).
WORKER_STALL_LIMIT_S: float = env.float("WORKER_STALL_LIMIT", default=30.0)
if WORKER_STALL_LIMIT_S < 1:
    raise ImproperlyConfigured("WORKER_STALL_LIMIT is in seconds, and at least 1.")
SWEEP_SECONDS = 15.0
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    # A sweep picks up work that a lost worker or a flushed broker left behind. Its task expires when the next is due.
    **{
        name: {"task": name, "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}}
        for name in (
            "rubrics.tasks.sweep_imports",
            "scoring.tasks.sweep_runs",
            "agreement.tasks.sweep_reports",
            "agreement.tasks.sweep_replications",
            "releases.tasks.sweep_releases",
            "documents.tasks.sweep_generations",
            "operations.tasks.sweep_backups",
        )
    },
    "operations.tasks.schedule_backups": {
        "task": "operations.tasks.schedule_backups",
        "schedule": 300.0,
        "options": {"expires": 300.0},
    },
    "annotation.tasks.sweep_slots": {
        "task": "annotation.tasks.sweep_slots",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    # Rarely, so that nobody can tell which response was a gold item: see `hold_back_by_gold`.
    "annotation.tasks.sweep_gold": {
        "task": "annotation.tasks.sweep_gold",
        "schedule": 3600.0,
        "options": {"expires": 3600.0},
    },
    "accounts.tasks.sweep_mails": {
        "task": "accounts.tasks.sweep_mails",
        "schedule": 300.0,
        "options": {"expires": 300.0},
    },
    "accounts.tasks.notify_of_expiring_tokens": {
        "task": "accounts.tasks.notify_of_expiring_tokens",
        "schedule": 3600.0,
        "options": {"expires": 3600.0},
    },
    # Twice an hour, so that a run falls between six and seven in the morning in every time zone.
    "annotation.tasks.sweep_due_dates": {
        "task": "annotation.tasks.sweep_due_dates",
        "schedule": 1800.0,
        "options": {"expires": 1800.0},
    },
    "consilium.tasks.clear_expired_sessions": {
        "task": "consilium.tasks.clear_expired_sessions",
        "schedule": 24 * 3600.0,
    },
}

# People -----------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "accounts.hashers.PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "accounts.password_words.ContextWordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"
ACCOUNT_FORMS = {
    "change_password": "accounts.forms.ChangePasswordForm",
    "reauthenticate": "accounts.forms.ConfirmByPasswordForm",
    "reset_password": "accounts.forms.ResetPasswordForm",
    "reset_password_from_key": "accounts.forms.ResetPasswordKeyForm",
    "set_password": "accounts.forms.SetPasswordForm",
}
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_USER_DISPLAY = str  # shows the name or the address; the username is internal
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # accounts are made by an admin, who knows the address
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # a mail about signing up would go to strangers, and nobody signs up here
ACCOUNT_EMAIL_NOTIFICATIONS = True  # mails about a new password and other changes to the sign-in
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""  # allauth's default names the Host of the request
# Sign in at once after a reset: while somebody keeps guessing, the owner would be locked out again before signing in.
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "accounts.services.reset_tokens.AccessAwareTokenGenerator"  # noqa: S105
# A signature, and a change of the own sign-in, need a proof within this time: accounts.confirming.
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
# welcome: links of invitations; first_run: codes for the first account
ACCOUNT_RATE_LIMITS = {
    "login_failed": "10/m/ip,5/5m/key",
    "welcome": "30/m/ip",
    "first_run": "10/m/ip",
    "apply": "10/m/ip",
}
# Who needs a second step (or a passkey) to reach any page: "all", "operators" of the server, or nobody. Admins demand
# it for their benchmark. See accounts.services.second_factor.
REQUIRE_SECOND_FACTOR: str = env.str("REQUIRE_SECOND_FACTOR", default="").strip().lower()
if REQUIRE_SECOND_FACTOR not in ("", "all", "operators"):
    raise ImproperlyConfigured(f"REQUIRE_SECOND_FACTOR is all, operators or empty, not {REQUIRE_SECOND_FACTOR!r}.")
MFA_ADAPTER = "accounts.adapters.SecondStepAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_FORMS = {
    "authenticate": "accounts.forms.CodeForm",
    "authenticate_webauthn": "accounts.forms.KeyForm",
    "login_webauthn": "accounts.forms.PasskeyForm",
    "reauthenticate": "accounts.forms.ConfirmByCodeForm",
    "reauthenticate_webauthn": "accounts.forms.ConfirmByPasskeyForm",
    "add_webauthn": "accounts.forms.AddKeyForm",
    "edit_webauthn": "accounts.forms.RenameKeyForm",
}
# Passkeys need https, or http on localhost, which browsers and the library accept by themselves.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = False
MFA_TOTP_ISSUER = "Consilium"
MFA_ALLOW_UNVERIFIED_EMAIL = True  # the address was given by an admin, not claimed by whoever signed up
SOCIALACCOUNT_ADAPTER = "accounts.adapters.SocialAccountAdapter"
SOCIALACCOUNT_ONLY = False
SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True  # before an identity is disconnected; only a sign-on connects one
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {}
OIDC_NAME: str = env.str("OIDC_NAME", default="single sign-on")
# Accept an address even if the provider does not say whether it is verified: `accounts.services.sign_on`.
OIDC_TRUST_EMAIL: bool = env.bool("OIDC_TRUST_EMAIL", default=False)
# Accept only people of these domains; empty accepts every domain.
OIDC_DOMAINS: list[str] = [name.strip().lower() for name in env.list("OIDC_DOMAINS", default=[]) if name.strip()]
if env.str("OIDC_ISSUER", default=""):
    SOCIALACCOUNT_PROVIDERS["openid_connect"] = {
        "APPS": [
            {
                "provider_id": "sso",
                "name": OIDC_NAME,
                "client_id": env.str("OIDC_CLIENT_ID"),
                "secret": env.str("OIDC_CLIENT_SECRET"),
                "settings": {"server_url": env.str("OIDC_ISSUER").rstrip("/"), "oauth_pkce_enabled": True},
            }
        ],
    }

EMAIL_BACKEND: str = env.str("EMAIL_BACKEND", default="django.core.mail.backends.console.EmailBackend")
EMAIL_TIMEOUT = 10  # seconds; a mail server that hangs must not hold a thread for long
if env.str("EMAIL_URL", default=""):
    vars().update(env.email_url("EMAIL_URL"))
DEFAULT_FROM_EMAIL: str = env.str("DEFAULT_FROM_EMAIL", default="consilium@localhost")

# Browser's rules --------------------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "object-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_ENGINE = "accounts.sessions"
# A session ends after so many days, however often it is used, and after so many minutes without use; 0 is never.
SESSION_MAX_DAYS: int = env.int("SESSION_MAX_DAYS", default=14)
SESSION_IDLE_MINUTES: int = env.int("SESSION_IDLE_MINUTES", default=12 * 60)
if SESSION_MAX_DAYS < 1 or SESSION_IDLE_MINUTES < 0:
    raise ImproperlyConfigured("SESSION_MAX_DAYS is at least 1, and SESSION_IDLE_MINUTES at least 0, which is never.")
SESSION_COOKIE_AGE = SESSION_MAX_DAYS * 86_400
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
HTTPS: bool = env.bool("HTTPS", default=SITE_URL.startswith("https://"))
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
LANGUAGE_COOKIE_SAMESITE = "Lax"
# Browsers take a cookie of such a name from this host alone, and only by https: another host of its domain cannot set
# one for us.
HOST_COOKIE_PREFIX = "__Host-" if HTTPS else ""
SESSION_COOKIE_NAME = f"{HOST_COOKIE_PREFIX}sessionid"
CSRF_COOKIE_NAME = f"{HOST_COOKIE_PREFIX}csrftoken"
LANGUAGE_COOKIE_NAME = f"{HOST_COOKIE_PREFIX}django_language"
MESSAGES_COOKIE_NAME = f"{HOST_COOKIE_PREFIX}messages"
MESSAGE_STORAGE = "consilium.message_storage.MessageStorage"
SECURE_SSL_REDIRECT: bool = env.bool("SECURE_SSL_REDIRECT", default=HTTPS)
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]  # a load balancer requests it over plain HTTP from inside
SECURE_HSTS_SECONDS: int = env.int("SECURE_HSTS_SECONDS", default=31_536_000 if HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
BEHIND_PROXY: bool = env.bool("BEHIND_PROXY", default=False)
if BEHIND_PROXY:
    # Only where a proxy in front sets this header itself and drops one sent by the client.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    ALLAUTH_TRUSTED_PROXY_COUNT = 1

# Whom to tell of a vulnerability, in /.well-known/security.txt: mailto:…, https://… or tel:…
SECURITY_CONTACT: str = env.str("SECURITY_CONTACT", default="").strip()
if SECURITY_CONTACT and not SECURITY_CONTACT.startswith(("mailto:", "https://", "tel:")):
    raise ImproperlyConfigured(f"SECURITY_CONTACT begins with mailto:, https:// or tel:, and is {SECURITY_CONTACT!r}.")


# Watching ---------------------------------------------------------------------------------------------------------
def _token(name: str) -> str:
    """A token of the environment, "" where none is set; refused if it is short enough to be guessed."""
    token: str = env.str(name, default="").strip()
    if token and len(token) < MIN_TOKEN_LENGTH:
        raise ImproperlyConfigured(
            f"{name} must have at least {MIN_TOKEN_LENGTH} characters, and has {len(token)}. Make one with: "
            'python3 -c "import secrets; print(secrets.token_urlsafe(32))"'
        )
    return token


OPERATOR_TOKEN = _token("OPERATOR_TOKEN")  # with it, /healthz?deep=1 says how each part of the server is
METRICS_TOKEN = _token("METRICS_TOKEN")  # without it there is no /metrics

# Files and languages ----------------------------------------------------------------------------------------------
STATIC_URL = "static/"
STATIC_ROOT: str = env.str("STATIC_ROOT", default=str(CONSILIUM_HOME / "static"))
STATICFILES_DIRS = [BASE_DIR / "static"] if (BASE_DIR / "static").is_dir() else []
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "consilium.core.static_files.StaticFiles",
        # In an image, another user than the one who collected them reads them.
        "OPTIONS": {}
        if Path(STATIC_ROOT).is_relative_to(CONSILIUM_HOME)
        else {"file_permissions_mode": 0o644, "directory_permissions_mode": 0o755},
    },
}
# Uploads, and what workers store; for any umask.
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
MEDIA_ROOT = Path(env.str("MEDIA_ROOT", default=str(CONSILIUM_HOME / "media")))
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
# The longest body, files included; `config.body_limits` lists the routes that take more.
MAX_BODY_BYTES = 3_000_000
# The part of a body that is kept in memory: JSON, or the fields of a form without its files.
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 << 20
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "consilium.formats"

# API --------------------------------------------------------------------------------------------------------------
# How many requests of the API each user may make in a minute, in each web process.
API_REQUESTS_PER_MINUTE: int = env.int("API_REQUESTS_PER_MINUTE", default=1200)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.SessionAuthentication",
        "accounts.token_authentication.TokenAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "config.api_scopes.TokenScope",
        "accounts.permissions.HasSecondStep",
        "consilium.core.parameters.DeclaredParameters",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "consilium.core.negotiation.DeclaredTypes",
    "DEFAULT_PARSER_CLASSES": ["consilium.core.api.StorableJSONParser"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "consilium.core.endpoints.Pages",
    "PAGE_SIZE": 50,
    "DEFAULT_SCHEMA_CLASS": "consilium.core.schema.Schema",
    "EXCEPTION_HANDLER": "consilium.core.api.exception_handler",
    "DEFAULT_THROTTLE_CLASSES": [
        "consilium.throttles.AnonymousRate",
        "consilium.throttles.UserRate",
    ],
    "DEFAULT_THROTTLE_RATES": {"anon": "60/min", "user": f"{API_REQUESTS_PER_MINUTE}/min"},
    # Without a proxy the client itself writes X-Forwarded-For, and could start a new count with each value.
    "NUM_PROXIES": 1 if BEHIND_PROXY else 0,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Consilium",
    "DESCRIPTION": "Cases, rubrics, responses, decisions, judges and agreement. Authenticate with a token: "
    "`Authorization: Bearer …`. Each operation says which scope the token needs.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "consilium.core.schema.with_single_backquotes",
        "consilium.core.schema.with_examples_of_amounts",
        "config.api_scopes.with_scopes",
    ],
    # Fields of the same name with different choices: each enumeration gets a name of its own, not a generated one.
    "ENUM_NAME_OVERRIDES": {
        "AdjudicationStatus": "annotation.models.Adjudication.Status",
        "AnnotationRole": "annotation.models.Membership.Role",
        "AssignmentStatus": "annotation.models.Assignment.Status",
        "BatchKind": "annotation.models.Batch.Kind",
        "BatchStatus": "annotation.models.Batch.Status",
        "AuthorsRole": "rubrics.models.AuthoringRole.Role",
        "BenchmarkRole": "rubrics.models.BenchmarkRole.Role",
        "AuditedCases": "rubrics.audits.drawing.STATES",
        "AuditStatus": "rubrics.models.CaseAudit.Status",
        "AdmissionStep": "annotation.cohort.states.STEPS",
        "ApplicationReviewStep": "annotation.cohort.api.REVIEW_STEPS",
        "CaseWorkStatus": "annotation.models.work.CaseWorkStatus",
        "RubricStatus": "rubrics.models.Rubric.Status",
        "RejectionReason": "drafting.models.RejectionReason",
        "RulingReason": "annotation.models.AcuityRuling.Reason",
        "SkipReason": "annotation.models.Skip.Reason",
        "CheckOutcome": "annotation.selectors.review_rounds.CHECK_CHOICES",
        "CandidateKind": "rubrics.models.Candidate.Kind",
        "DecisionOutcome": "annotation.models.Outcome",
        "DocumentKind": "documents.models.Document.Kind",
        "ErrorKind": "validation.models.pairs.ErrorKind",
        "GenerationStatus": "scoring.models.GenerationRun.Status",
        "JobStatus": "consilium.core.api.JOB_STATES",
        "HowMapped": "rubrics.models.acuity.HowMapped",
        "ImportKind": "rubrics.models.ImportJob.Kind",
        "JudgeKind": "scoring.models.Judge.Kind",
        "JudgeRunStatus": "scoring.models.JudgeRun.Status",
        "JudgeRunPurpose": "scoring.models.JudgeRun.Purpose",
        "MendedHow": "validation.models.RubricSetMend.How",
        "ReportKind": "agreement.models.Report.Kind",
        "RulingOutcome": "annotation.models.RulingOutcome",
        "SecurityEventKind": "accounts.security_kinds.KINDS",
        "SliceRule": "agreement.models.NamedSlice.Rule",
        "SliceRuleToChoose": "agreement.models.NamedSlice.rules_to_choose",
        "VerdictOutcome": "scoring.models.Verdict.Outcome",
        "WritingMode": ["unaided", "aided"],
    },
    # One area is drawn when it is opened; `consilium/static/consilium/api-docs.js` lists all operations.
    "SWAGGER_UI_SETTINGS": """{
        deepLinking: true, filter: true, docExpansion: "none", onComplete: () => window.listOperations(ui)
    }""",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

# Judges -----------------------------------------------------------------------------------------------------------
# Hosts (``name`` or ``name:port``) that a judge of kind ``chat`` may call.
JUDGE_ALLOWED_HOSTS: list[str] = env.list("JUDGE_ALLOWED_HOSTS", default=[])
# Keys of endpoints and the hosts they may be sent to: ``NAME@host`` or ``NAME@host:port``, once for each host.
ENDPOINT_KEYS: list[str] = env.list("ENDPOINT_KEYS", default=[])
# The address of `manage.py rule_endpoint`, which judges may call where it is set; `up` sets it.
RULE_ENDPOINT: str = env.str("RULE_ENDPOINT", default="")
if RULE_ENDPOINT:
    JUDGE_ALLOWED_HOSTS = [*JUDGE_ALLOWED_HOSTS, urlsplit(RULE_ENDPOINT).netloc]

# Documents --------------------------------------------------------------------------------------------------------
# Hosts (``name`` or ``name:port``) from which documents may be fetched.
DOCUMENT_ALLOWED_HOSTS: list[str] = env.list("DOCUMENT_ALLOWED_HOSTS", default=[])

WHITENOISE_USE_FINDERS = DEBUG
LOGGING = logging_settings(level=env.str("LOG_LEVEL", default="INFO"))
