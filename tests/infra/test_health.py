"""The answer that load balancers and `manage.py up` wait for."""

import pytest


@pytest.mark.django_db
def test_healthz_answers_without_signing_in(client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")
