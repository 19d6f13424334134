"""What tests of accounts share."""

from __future__ import annotations

import pytest

from accounts import tasks


@pytest.fixture
def password_links(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """Run the task that mails password links at once, in this process, where the test can read the mail.

    The list holds what the task was given, which is all that goes through the broker.
    """
    given: list[int | None] = []

    def run(user_id: int | None) -> None:
        given.append(user_id)
        tasks.mail_password_link(user_id)

    monkeypatch.setattr(tasks.mail_password_link, "delay_on_commit", run)
    return given
