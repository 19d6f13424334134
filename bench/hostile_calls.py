"""Calls generated from the API's schema, in all phases of Schemathesis, to the running product, as five roles.

    .venv/bin/python bench/hostile_calls.py [--examples 50] [--role admin …] [--seconds 600]

Each role calls every operation on the demo benchmark, at addresses that lead to its objects where the lists of the API
name one. An answer 5xx, one that takes over five seconds, or one that the schema does not declare fails the run.
`tests/access/test_generated_calls.py` sends a few such calls in `make test`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from processes import web_server

from bench.scratch import scratch_product

PORT = int(os.environ.get("BENCH_PORT", "8793"))
PEOPLE = {
    "annotator": "annotator-a1@example.org",
    "checker": "checker-a1@example.org",
    "author": "author-1@example.org",
    "researcher": "researcher@example.org",
    "admin": "admin@example.org",
}
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance"
)


def main() -> None:
    """Run Schemathesis once for each role, and end with 1 if any run failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--role", nargs="*", default=list(PEOPLE), choices=list(PEOPLE))
    parser.add_argument("--examples", type=int, default=50, help="for each operation and phase")
    parser.add_argument("--seconds", type=int, default=0, help="end each role's run after this time")
    parser.add_argument("--slowest", type=float, default=5.0, help="an answer that takes longer fails the run, in s")
    options = parser.parse_args()
    os.environ["API_REQUESTS_PER_MINUTE"] = "10000000"  # refusals of the limit would hide all others
    failed = []
    with scratch_product(), tempfile.TemporaryDirectory() as folder:
        from django.core.management import call_command

        from demo import SLUG

        call_command("load_demo", verbosity=0)
        with web_server(PORT):
            for role in options.role:
                token = token_of(PEOPLE[role])
                config = Path(folder) / f"{role}.toml"
                config.write_text(configuration(SLUG, token))
                print(f"== {role}", flush=True)
                code = run(config, token, options.examples, options.seconds, options.slowest)
                if code or not ask("/api/v1/account/tokens/", token):
                    failed.append(role)
    if failed:
        raise SystemExit(f"Failed: {', '.join(failed)}")


def token_of(email: str) -> str:
    """The key of a token of that person with all scopes."""
    from datetime import timedelta

    from django.utils import timezone

    from accounts.models import ApiToken, User
    from accounts.services import api_tokens

    at = timezone.now()
    _token, key = api_tokens.make_token(
        user=User.objects.get(email=email),
        name="Generated calls",
        scopes=ApiToken.Scope.values,
        expires_at=at + timedelta(days=1),
        by=None,
        at=at,
    )
    return key


def run(config: Path, token: str, examples: int, seconds: int, slowest: float) -> int:
    """Run Schemathesis against the web server; its exit code."""
    command = [
        *(str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(config)),
        *("run", f"http://127.0.0.1:{PORT}/api/v1/schema/?format=json", "--header", f"Authorization: Token {token}"),
        *("--phases", "examples,coverage,fuzzing,stateful", "--max-examples", str(examples), "--checks", CHECKS),
        *("--continue-on-failure", "--request-timeout", "30", "--warnings", "off"),
        *("--max-response-time", str(slowest)),
        # Else a run may revoke its own token, and learn nothing from then on.
        *("--exclude-path-regex", "/account/tokens/."),
        # Few of the addresses that are made up for two ids fit both patterns.
        *("--suppress-health-check", "filter_too_much"),
        *(("--max-time", str(seconds)) if seconds else ()),
    ]
    return subprocess.run(command, check=False).returncode


def configuration(slug: str, token: str) -> str:
    """Arguments of addresses that lead to objects, for each operation, in the form of Schemathesis."""
    schema = ask("/api/v1/schema/?format=json", token)
    lines = ["[parameters]", f'slug = "{slug}"']
    for path in schema["paths"]:
        if not path.endswith("/{public_id}/"):
            continue
        listed = ask(path.removesuffix("{public_id}/").replace("{slug}", slug), token)
        rows = listed.get("results", []) if isinstance(listed, dict) else listed
        ids = [row["id"] for row in rows or [] if isinstance(row, dict) and isinstance(row.get("id"), str)]
        if not ids:
            continue
        # What lies below the object's address has the same argument.
        for below, its_methods in schema["paths"].items():
            if below.startswith(path) and re.findall(r"{\w+}", below) == re.findall(r"{\w+}", path):
                for method in set(its_methods) & {"get", "post", "put", "patch", "delete"}:
                    lines += [
                        "[[operations]]",
                        f'include-name = "{method.upper()} {below}"',
                        f'parameters = {{ public_id = "{ids[0]}", slug = "{slug}" }}',
                    ]
    return "\n".join(lines) + "\n"


def ask(path: str, token: str) -> Any:
    """The JSON that a GET of ``path`` gives; empty where it is refused."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    connection.request("GET", path, headers={"Authorization": f"Token {token}"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return json.loads(body) if answer.status == 200 else {}


if __name__ == "__main__":
    main()
