"""Database sessions as in Django, but read by a prepared query, since every request reads one."""

from __future__ import annotations

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from consilium.core.prepared import Prepared

_by_key = Prepared(lambda key: Session.objects.filter(session_key=key), key=str)


class SessionStore(db.SessionStore):
    """Django's own in everything else."""

    def _get_session_from_db(self) -> Session | None:
        session = _by_key.first(key=self.session_key)
        if session is not None and session.expire_date > timezone.now():
            return session
        self._session_key = None
        return None
