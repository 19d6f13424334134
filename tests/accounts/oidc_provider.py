"""An OpenID Connect provider on loopback: discovery, authorization, token, userinfo and keys, over real HTTP.

It answers in the shape of a `Shape`, with code and PKCE (S256), and can be made to do one thing wrong at a time.
"""

from __future__ import annotations

import base64
import hashlib
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
SECRET = "between the two of us, and nobody else in the world"
CODE = "a-code-that-is-used-once"
ACCESS_TOKEN = "an-access-token"
HANG_S = 20.0


@dataclass(frozen=True)
class Shape:
    """What differs between providers: the path of the issuer and of its endpoints, how a client says who it is, and
    whether the keys name their algorithm. ``claims`` are in userinfo and in the ID token, ``token_claims`` in it alone.
    """

    path: str = ""
    endpoints: str = ""
    auth_methods: tuple[str, ...] | None = ("client_secret_post",)
    keys_name_algorithm: bool = True
    claims: Mapping[str, Any] = field(default_factory=dict)
    token_claims: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Provider:
    """A running provider; ``userinfo`` and ``id_token`` are the claims that it makes of whoever signs in."""

    base: str = ""
    shape: Shape = Shape()
    userinfo: dict[str, Any] = field(default_factory=dict)
    id_token: dict[str, Any] = field(default_factory=dict)
    redirect_uris: list[str] = field(default_factory=list)
    requested_paths: list[str] = field(default_factory=list)
    used_auth: list[str] = field(default_factory=list)
    # What goes wrong: the name of an endpoint that hangs or trickles, a key that is not published, no ID token.
    hangs_at: str = ""
    trickles_at: str = ""
    signs_with_other_key: bool = False
    names_key: str | None = "1"  # in the ID token; the key that signs is "1"
    publishes_two_keys: bool = False
    # When its person signed in there; None: as they come. It is in the ID token as auth_time, if the provider sends it.
    signed_in_at: float | None = None
    sends_auth_time: bool = True
    algorithm: str = "RS256"
    omits_id_token: bool = False
    described_issuer: str = ""
    waits_for: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """The issuer."""
        return f"{self.base}{self.shape.path}"

    def reset(self) -> None:
        """As after the start."""
        base = self.base
        self.waits_for.set()
        self.__init__(base=base)  # type: ignore[misc]

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
            "settings": {"server_url": self.url, "oauth_pkce_enabled": True},
        }
        return {"openid_connect": {"APPS": [app]}}


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Serve on a free port of 127.0.0.1 until the block ends."""
    provider = Provider()
    key, other_key = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
    public, other_public = (
        {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key())), "kid": number, "use": "sig"}
        for number, private in (("1", key), ("2", other_key))
    )
    authorization: dict[str, str] = {}  # what the last request for authorization had: code_challenge and nonce

    class Handler(BaseHTTPRequestHandler):
        def answer(self, body: Any, status: int = 200, *, name: str = "") -> None:
            if name and provider.hangs_at == name:
                provider.waits_for.wait(HANG_S)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if name and provider.trickles_at == name:
                for number in range(len(data)):
                    if provider.waits_for.wait(0.2):
                        break
                    self.wfile.write(data[number : number + 1])
                return
            self.wfile.write(data)

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            provider.requested_paths.append(url.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            shape = provider.shape
            at = f"{provider.base}{shape.endpoints or shape.path}"
            here = url.path.removeprefix(shape.endpoints or shape.path)
            if url.path == f"{shape.path}/.well-known/openid-configuration":
                description = {
                    "issuer": provider.described_issuer or provider.url,
                    "authorization_endpoint": f"{at}/authorize",
                    "token_endpoint": f"{at}/token",
                    "userinfo_endpoint": f"{at}/userinfo",
                    "jwks_uri": f"{at}/keys",
                    "response_types_supported": ["code"],
                    "id_token_signing_alg_values_supported": ["RS256"],
                }
                if shape.auth_methods is not None:
                    description["token_endpoint_auth_methods_supported"] = list(shape.auth_methods)
                self.answer(description, name="discovery")
            elif here == "/authorize":  # whoever comes has signed in at the provider already
                provider.redirect_uris.append(query["redirect_uri"])
                authorization.update(challenge=query.get("code_challenge", ""), nonce=query.get("nonce", ""))
                authorization.update(method=query.get("code_challenge_method", ""))
                if provider.signed_in_at is None or query.get("prompt") == "login" or query.get("max_age") == "0":
                    authorization.update(at=str(time.time()))
                else:
                    authorization.update(at=str(provider.signed_in_at))
                self.send_response(302)
                back = urlencode({"code": CODE, "state": query["state"]})
                self.send_header("Location", f"{query['redirect_uri']}?{back}")
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif here == "/userinfo" and self.headers["Authorization"] == f"Bearer {ACCESS_TOKEN}":
                self.answer({**shape.claims, **provider.userinfo}, name="userinfo")
            elif here == "/keys":
                algorithm = {"alg": "RS256"} if shape.keys_name_algorithm else {}
                keys = [public | algorithm, other_public | algorithm]
                self.answer({"keys": keys if provider.publishes_two_keys else keys[:1]}, name="keys")
            else:
                self.answer({"error": "not_found"}, 404)

        def do_POST(self) -> None:
            shape = provider.shape
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            word, _, secret = self.headers.get("Authorization", "").partition(" ")
            by_header = base64.b64decode(secret).decode().split(":", 1) if word == "Basic" else []
            by_form = [*form.get("client_id", []), *form.get("client_secret", [])]
            way = "client_secret_basic" if by_header else "client_secret_post"
            provider.used_auth.append(way)
            verifier = form.get("code_verifier", [""])[0]
            digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
            is_right = (
                urlsplit(self.path).path == f"{shape.endpoints or shape.path}/token"
                and way in (shape.auth_methods or ("client_secret_post", "client_secret_basic"))
                and (by_header or by_form) == [CLIENT_ID, SECRET]
                and form.get("code") == [CODE]
                and (authorization["method"], authorization["challenge"]) == ("S256", digest)
            )
            if not is_right:
                self.answer({"error": "invalid_grant"}, 400)
                return
            now = int(time.time())
            claims = {
                "iss": provider.url,
                "aud": CLIENT_ID,
                "iat": now,
                "exp": now + 60,
                "nonce": authorization["nonce"],
                **({"auth_time": int(float(authorization["at"]))} if provider.sends_auth_time else {}),
                **shape.claims,
                **shape.token_claims,
                **provider.id_token,
            }
            signing: Any = other_key if provider.signs_with_other_key else key
            if provider.algorithm != "RS256":
                signing = SECRET if provider.algorithm == "HS256" else None
            named = {} if provider.names_key is None else {"kid": provider.names_key}
            token = jwt.encode(claims, signing, algorithm=provider.algorithm, headers=named)
            body = {"access_token": ACCESS_TOKEN, "token_type": "Bearer", "expires_in": 60}
            self.answer(body if provider.omits_id_token else {**body, "id_token": token}, name="token")

        def log_message(self, *args: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.base = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        provider.waits_for.set()
        server.shutdown()
        server.server_close()
