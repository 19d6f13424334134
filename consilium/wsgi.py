"""WSGI door for gunicorn."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "consilium.settings")
os.environ.setdefault("CONSILIUM_WEB", "1")

from django.core.wsgi import get_wsgi_application  # noqa: E402  (the environment comes first)

application = get_wsgi_application()
