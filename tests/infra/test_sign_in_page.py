"""Signing in works in a real browser under the strict Content Security Policy."""

import re

import pytest
from django.contrib.auth import get_user_model


@pytest.fixture
def physician(transactional_db):
    return get_user_model().objects.create_user("p", email="ada@example.org", password="a long enough one")


def test_wrong_password_is_refused_and_right_one_leads_home(page, physician, live_server):
    page.goto("/accounts/login/")
    page.get_by_label(re.compile("e-?mail", re.I)).fill("Ada@example.org")
    page.get_by_label("Password", exact=False).first.fill("a wrong one")
    page.keyboard.press("Enter")
    page.get_by_text("not correct").first.wait_for()
    page.get_by_label("Password", exact=False).first.fill("a long enough one")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{live_server.url}/")


def test_nobody_signs_up(client, db):
    answer = client.get("/accounts/signup/")
    assert b"<form" not in answer.content or b"password1" not in answer.content
    client.post(
        "/accounts/signup/",
        {"email": "eve@example.org", "password1": "a long enough one", "password2": "a long enough one"},
    )
    assert not get_user_model().objects.filter(email="eve@example.org").exists()
