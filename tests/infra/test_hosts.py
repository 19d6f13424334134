"""The site answers to the Host that people find it at, port included, and to no other."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from consilium.hosts import bound_name, host_names, named_ports, site_address, site_ports, split_port


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("study.example.org", ("study.example.org", "")),
        ("study.example.org:8000", ("study.example.org", "8000")),
        ("[::1]", ("[::1]", "")),
        ("[::1]:8000", ("[::1]", "8000")),
    ],
)
def test_a_host_is_a_name_and_perhaps_a_port(address: str, parts: tuple[str, str]) -> None:
    assert split_port(address) == parts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("site_url", "port", "ports"),
    [
        ("https://study.example.org", 8000, {"", "443"}),
        ("http://study.example.org", 8000, {"", "80"}),
        ("https://study.example.org:443", 8000, {"", "443"}),
        ("https://study.example.org:8443", 8000, {"8443"}),
        ("http://localhost:8131", 8000, {"8131"}),
        ("http://[::1]:8131", 8000, {"8131"}),
        ("", 8131, {"8131"}),
        ("", 80, {"", "80"}),
    ],
)
def test_ports_are_those_of_the_sites_address(site_url: str, port: int, ports: set[str]) -> None:
    assert site_ports(site_url=site_url, port=port) == ports


def test_names_are_those_of_the_sites_address_and_of_allowed_hosts() -> None:
    allowed = ["ward.example.org:9000", ".clinic.example.org"]
    assert host_names(site_url="https://study.example.org:8443", allowed_hosts=allowed, bind="127.0.0.1") == [
        "study.example.org",
        "ward.example.org",
        ".clinic.example.org",
    ]
    assert host_names(site_url="", allowed_hosts=[], bind="::") == ["localhost", "127.0.0.1", "[::1]"]
    assert host_names(site_url="", allowed_hosts=[], bind="10.0.0.7")[-1] == "10.0.0.7"


def test_a_port_in_allowed_hosts_holds_for_its_name() -> None:
    ports = named_ports(
        site_url="https://study.example.org",
        allowed_hosts=["study.example.org:9000", "ward.example.org:9001", "other.example.org"],
        port=8000,
    )
    assert ports == {"study.example.org": {"", "443", "9000"}, "ward.example.org": {"9001"}}


@pytest.mark.parametrize(
    ("bind", "name"),
    [("127.0.0.1", "localhost"), ("", "localhost"), ("::", "localhost"), ("10.0.0.7", "10.0.0.7"),
     ("fd00::7", "[fd00::7]")],
)  # fmt: skip
def test_without_a_site_url_mails_lead_to_the_bound_address(bind: str, name: str, settings: Any) -> None:
    settings.BIND, settings.PORT, settings.SITE_URL = bind, 8131, ""
    assert bound_name(bind) == name
    assert site_address() == f"http://{name}:8131"


@pytest.fixture
def study(settings: Any) -> None:
    settings.SITE_URL = "http://study.example.org:8000"
    settings.ALLOWED_HOSTS = ["study.example.org", "ward.example.org"]
    settings.NAMED_PORTS = {"ward.example.org": frozenset({"9000"})}


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("study.example.org:8000", 200),
        ("STUDY.example.org:8000", 200),
        ("ward.example.org:9000", 200),
        ("study.example.org:6666", 400),
        ("study.example.org", 400),
        ("ward.example.org:8000", 400),
        ("evil.example.net:8000", 400),
        ("study.example.org.evil.example.net:8000", 400),
        ("study.example.org:8000@evil.example.net", 400),
        ("127.0.0.1:8000", 400),
    ],
)
@pytest.mark.parametrize("path", ["/accounts/login/", "/static/favicon.svg", "/api/v1/schema/"])
def test_another_host_or_port_is_refused_whatever_is_asked_for(host: str, status: int, path: str) -> None:
    answer = Client().get(path, headers={"host": host})
    answer.close()  # a static file is open until then
    assert answer.status_code == status


@pytest.mark.django_db
@pytest.mark.usefixtures("study")
def test_a_health_check_names_no_port_and_still_a_name() -> None:
    assert Client().get("/healthz", headers={"host": "study.example.org"}).status_code == 200
    assert Client().get("/healthz", headers={"host": "evil.example.net"}).status_code == 400


@pytest.mark.django_db
def test_the_usual_port_of_https_need_not_be_written(settings: Any) -> None:
    settings.SITE_URL, settings.ALLOWED_HOSTS = "https://study.example.org", ["study.example.org"]
    statuses = [
        Client().get("/accounts/login/", headers={"host": host}).status_code
        for host in ("study.example.org", "study.example.org:443", "study.example.org:8000", "study.example.org:80")
    ]
    assert statuses == [200, 200, 400, 400]


@pytest.mark.django_db
def test_no_guess_reaches_a_password_by_another_port(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from accounts.models import User

    settings.SITE_URL, settings.ALLOWED_HOSTS = "http://localhost:8131", ["localhost"]
    monkeypatch.setattr(User, "check_password", lambda *_: pytest.fail("compared"))
    for port in range(5000, 5040):
        answer = Client().post(
            "/accounts/login/",
            {"login": "ana@example.org", "password": "guess"},
            headers={"host": f"localhost:{port}"},
        )
        assert answer.status_code == 400
