"""Settings of the tests: the real ones, over an embedded server and a broker of their own."""

import os
from pathlib import Path

_root = Path(__file__).resolve().parent.parent
# Set before the real settings are read, and inherited by every process that a test starts.
os.environ["CONSILIUM_HOME"] = os.environ.get("CONSILIUM_TEST_HOME") or str(_root / "var" / "test")
os.environ.setdefault("SECRET_KEY", "only-for-tests-" + "0123456789" * 5)
os.environ["DEBUG"] = "0"

from config.settings import *  # noqa: F403
from config.settings import CONSILIUM_HOME, DATABASES, EMBEDDED
from standalone.broker.address import broker_url
from tests.template import template_name

ALLOWED_HOSTS = ["*"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = True
CACHES = {
    name: {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": name}
    for name in ("default", "rates")
}
# A fast hasher: Argon2 is slow on purpose, and tests sign in hundreds of times.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

if EMBEDDED:
    DATABASES["default"]["TEST"]["TEMPLATE"] = template_name()

# The same name that pytest-django gives the test database in this process, so that no test reaches another's broker.
_worker = os.environ.get("PYTEST_XDIST_WORKER", "")
TEST_DATABASE = DATABASES["default"]["TEST"]["NAME"] + (f"_{_worker}" if _worker else "")
CELERY_BROKER_URL = broker_url({**DATABASES["default"], "NAME": f"{TEST_DATABASE}_broker"})
CELERY_BROKER_TRANSPORT_OPTIONS = {"pool_pre_ping": True, "pool_size": 2}

# Uploads, too: a test that clears away its own would take those of a test in another process.
MEDIA_ROOT = CONSILIUM_HOME / "media" / TEST_DATABASE
os.environ["MEDIA_ROOT"] = str(MEDIA_ROOT)
