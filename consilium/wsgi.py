"""WSGI door for gunicorn."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "consilium.settings")
os.environ.setdefault("CONSILIUM_WEB", "1")

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
