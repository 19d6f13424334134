"""An OpenID Connect provider on loopback: discovery, authorization, token, userinfo and keys, over real HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID = "consilium"
SECRET = "between the two of us"
CODE = "a-code-that-is-used-once"
ACCESS_TOKEN = "an-access-token"


@dataclass
class Provider:
    """A running provider; ``userinfo`` and ``id_token`` are the claims that it makes of whoever signs in."""

    url: str = ""
    userinfo: dict[str, Any] = field(default_factory=dict)
    id_token: dict[str, Any] = field(default_factory=dict)
    redirect_uris: list[str] = field(default_factory=list)
    requested_paths: list[str] = field(default_factory=list)

    def says(self, userinfo: Mapping[str, Any], id_token: Mapping[str, Any] | None = None) -> None:
        """From now on make these claims; ``sub`` is the same in both."""
        self.userinfo = {"sub": "person-1", **userinfo}
        self.id_token = {"sub": "person-1", **(userinfo if id_token is None else id_token)}

    def settings(self) -> dict[str, Any]:
        """``SOCIALACCOUNT_PROVIDERS`` as config/settings.py makes it from the environment."""
        app = {
            "provider_id": "sso",
            "name": "Clinic sign-on",
            "client_id": CLIENT_ID,
            "secret": SECRET,
            "settings": {"server_url": self.url},
        }
        return {"openid_connect": {"APPS": [app]}}


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Serve on a free port of 127.0.0.1 until the block ends."""
    provider = Provider()
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())), "kid": "1", "alg": "RS256"}

    class Handler(BaseHTTPRequestHandler):
        def answer(self, body: Any, status: int = 200) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            provider.requested_paths.append(url.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            if url.path == "/.well-known/openid-configuration":
                self.answer(
                    {
                        "issuer": provider.url,
                        "authorization_endpoint": f"{provider.url}/authorize",
                        "token_endpoint": f"{provider.url}/token",
                        "userinfo_endpoint": f"{provider.url}/userinfo",
                        "jwks_uri": f"{provider.url}/keys",
                        "token_endpoint_auth_methods_supported": ["client_secret_post"],
                    }
                )
            elif url.path == "/authorize":  # whoever comes has signed in at the provider already
                provider.redirect_uris.append(query["redirect_uri"])
                self.send_response(302)
                back = urlencode({"code": CODE, "state": query["state"]})
                self.send_header("Location", f"{query['redirect_uri']}?{back}")
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif url.path == "/userinfo" and self.headers["Authorization"] == f"Bearer {ACCESS_TOKEN}":
                self.answer(provider.userinfo)
            elif url.path == "/keys":
                self.answer({"keys": [public]})
            else:
                self.answer({"error": "not_found"}, 404)

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            given = (form.get("client_id"), form.get("client_secret"), form.get("code"))
            if urlsplit(self.path).path != "/token" or given != ([CLIENT_ID], [SECRET], [CODE]):
                self.answer({"error": "invalid_grant"}, 400)
                return
            now = int(time.time())
            claims = {"iss": provider.url, "aud": CLIENT_ID, "iat": now, "exp": now + 60, **provider.id_token}
            token = jwt.encode(claims, key, algorithm="RS256", headers={"kid": "1"})
            self.answer({"access_token": ACCESS_TOKEN, "token_type": "Bearer", "expires_in": 60, "id_token": token})

        def log_message(self, *args: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
