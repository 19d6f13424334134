"""WSGI door for gunicorn."""

import gc
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "consilium.settings")
os.environ.setdefault("CONSILIUM_WEB", "1")

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

gc.disable()  # until all is there
application = get_wsgi_application()
# Before gunicorn forks: every process has the views from the start, and none looks for garbage among what stays.
_ = get_resolver().url_patterns
gc.freeze()
gc.enable()
