"""The session engine: Django's, in a table that names the person of each session and says when it was last used.

So that people see their sessions and end them, and so that a session ends after a time without use.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.utils import timezone

from accounts.models import UserSession
from consilium.time_limits import is_time_limit

# In the data of a session: when, from where and with which browser its person signed in.
SIGNED_IN = "signed_in"


# The name of the class is part of the signature of the data, so it must stay that of Django's class.
class SessionStore(DatabaseStore):
    """Sessions in `UserSession`. However often one is used, it ends ``SESSION_COOKIE_AGE`` after the sign-in."""

    used_at: datetime | None = None

    @classmethod
    def get_model_class(cls) -> type[UserSession]:
        """The table."""
        return UserSession

    def load(self) -> dict[str, Any]:
        """The data of the session; `used_at` comes with them, in the same query."""
        rows = UserSession.objects.filter(session_key=self.session_key, expire_date__gt=timezone.now())
        try:
            data, self.used_at = rows.values_list("session_data", "used_at").get()
        except UserSession.DoesNotExist:
            self._session_key = None
            return {}
        return dict(self.decode(data))

    def save(self, must_create: bool = False) -> None:
        """Store the session. Django takes any error of the database for a session that is gone, also a time limit."""
        try:
            super().save(must_create=must_create)
        except UpdateError as error:
            ended = error.__context__
            if ended is None or not is_time_limit(ended):
                raise
            raise ended from ended.__cause__

    def create_model_instance(self, data: dict[str, Any]) -> UserSession:
        """The row of the session: the columns follow from its data, also where Django gives it a new key."""
        row = super().create_model_instance(data)
        assert isinstance(row, UserSession)
        row.user_id = data.get(SESSION_KEY)  # the field makes a number of it
        row.used_at = self.used_at or timezone.now()
        return row

    def get_expiry_age(self, **kwargs: Any) -> int:
        """Seconds until the session ends."""
        age = int(super().get_expiry_age(**kwargs))
        end = self._end()
        if end is None:
            return age
        left = end - kwargs.get("modification", timezone.now())
        return max(0, min(age, int(left.total_seconds())))

    def get_expiry_date(self, **kwargs: Any) -> datetime:
        """When the session ends."""
        date: datetime = super().get_expiry_date(**kwargs)
        end = self._end()
        return date if end is None else min(date, end)

    def _end(self) -> datetime | None:
        begun = self.get(SIGNED_IN, {}).get("at")
        if begun is None:  # nobody is signed in, or was before this was recorded
            return None
        return datetime.fromtimestamp(begun, tz=timezone.get_default_timezone()) + timedelta(
            seconds=settings.SESSION_COOKIE_AGE
        )
