"""Rate limits of the API, counted in each process's memory: the database would cost more than most answers."""

from django.core.cache import caches
from rest_framework import throttling


class AnonymousRate(throttling.AnonRateThrottle):
    """Requests without a valid token or session, by address."""

    cache = caches["rates"]


class UserRate(throttling.UserRateThrottle):
    """Requests of one user."""

    cache = caches["rates"]
