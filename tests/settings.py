"""Settings of the tests: the real ones, over an embedded server and a broker of their own."""

import os
from pathlib import Path

_root = Path(__file__).resolve().parent.parent
# Set before the real settings are read, and inherited by every process that a test starts.
os.environ["CONSILIUM_HOME"] = os.environ.get("CONSILIUM_TEST_HOME") or str(_root / "var" / "test")
os.environ.setdefault("SECRET_KEY", "only-for-tests-" + "0123456789" * 5)
os.environ["DEBUG"] = "0"

from consilium.settings import *  # noqa: E402, F403

ALLOWED_HOSTS = ["*"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
# A fast hasher: Argon2 is slow on purpose, and tests sign in hundreds of times.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
