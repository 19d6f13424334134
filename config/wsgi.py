"""The WSGI application, for `standalone.web_server`."""

import logging
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("CONSILIUM_WEB", "1")

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from consilium.core.private_files import UMASK
from consilium.hosts import site_address
from consilium.request_bodies import bound_bodies

os.umask(UMASK)
application = bound_bodies(get_wsgi_application(), max_spooled=settings.MAX_BODY_BYTES)
logging.getLogger("consilium").info(
    "Requests for other hosts or ports than the site's are refused; a proxy has to pass on the header Host",
    extra={"site": site_address(), "allowed_hosts": settings.ALLOWED_HOSTS},
)
_ = get_resolver().url_patterns  # before the web server forks, so that its processes share the views
