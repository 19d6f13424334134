"""A chat endpoint on this machine that answers like a judge, or misbehaves on purpose. For benchmarks, tests, demos.

    .venv/bin/python bench/loopback_judge.py --port 0 --latency 0.2

prints its address (``http://127.0.0.1:PORT/v1``) and serves until stopped. How it answers is chosen by the name of the
model in the request, so that one server plays every part: ``ok``, ``429``, ``429-forever``, ``500``, ``400``, ``401``,
``html``, ``cut``, ``cut-json``, ``slow``, ``drip``, ``huge``, ``string-true``, ``two-objects``, ``nul``, ``echo-key``,
``redirect``, ``refusal``, ``empty``, ``flaky`` (every third request fails), ``forged`` (repeats the fences it was
given), ``fenced`` or ``mixed`` (by the text of the request: mostly ok). An ``ok`` verdict is a function of the
request's text alone.
``GET /stats`` counts requests, and for each model the most that were in flight at once; ``POST
/reset?latency=0.1`` starts afresh.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
from typing import Any

from aiohttp import web

MIXED = ("html", "cut-json", "string-true", "500", "nul", "cut")


class Loopback:
    """The server's state: its latency and what it counted."""

    def __init__(self, latency: float) -> None:
        self.start_afresh(latency)

    def start_afresh(self, latency: float) -> None:
        """Forget all counts."""
        self.latency = latency
        self.requests = 0
        self.in_flight: dict[str, int] = {}
        self.most_in_flight: dict[str, int] = {}
        self.by_model: dict[str, int] = {}
        self.seen: dict[str, int] = {}

    async def complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        model = str(body.get("model", "ok"))
        text = "\n".join(str(message.get("content")) for message in body.get("messages", []))
        self.requests += 1
        self.by_model[model] = self.by_model.get(model, 0) + 1
        self.in_flight[model] = self.in_flight.get(model, 0) + 1
        self.most_in_flight[model] = max(self.most_in_flight.get(model, 0), self.in_flight[model])
        try:
            await asyncio.sleep(self.latency)
            return await self.answer(request, model, text)
        finally:
            self.in_flight[model] = self.in_flight.get(model, 1) - 1

    async def answer(self, request: web.Request, model: str, text: str) -> web.StreamResponse:
        digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        if model == "mixed":
            model = MIXED[digest[0] % len(MIXED)] if digest[1] < 40 else "ok"
            if model == "500" and self.again(digest) > 1:
                model = "ok"
        if model == "flaky":
            model = "500" if self.requests % 3 == 0 else "ok"
        if model == "429":
            if self.again(digest) == 1:
                return web.json_response({"error": "slow down"}, status=429, headers={"Retry-After": "0.01"})
            model = "ok"
        if model == "429-forever":
            return web.json_response({"error": "slow down"}, status=429, headers={"Retry-After": "999999"})
        if model in ("500", "400", "401"):
            return web.json_response({"error": f"told to say {model}"}, status=int(model))
        if model == "echo-key":
            return web.json_response({"error": f"bad key {request.headers.get('Authorization')}"}, status=401)
        if model == "redirect":
            return web.Response(status=302, headers={"Location": "/v1/elsewhere"})
        if model == "html":
            return web.Response(text="<html><body>Sign in to continue</body></html>", content_type="text/html")
        if model == "slow":
            await asyncio.sleep(3600)
        if model in ("cut", "drip"):
            return await self.broken_stream(request, drip=model == "drip")
        if model == "refusal":
            return self.completion(None, refusal="I cannot help with that.")
        if model == "empty":
            return self.completion("")
        return self.completion(self.content(model, text, digest))

    def again(self, digest: bytes) -> int:
        """How often this very text was asked."""
        key = digest.hex()
        self.seen[key] = self.seen.get(key, 0) + 1
        return self.seen[key]

    def content(self, model: str, text: str, digest: bytes) -> str:
        good = json.dumps({"explanation": "Decided by the text's hash.", "criteria_met": digest[2] % 2 == 0})
        if model == "huge":
            return json.dumps({"explanation": "x" * 10_000_000, "criteria_met": True})
        return {
            "cut-json": good[:-9],
            "string-true": '{"explanation": "yes", "criteria_met": "true"}',
            "two-objects": good + good,
            "nul": '{"explanation": "a\\u0000b", "criteria_met": true}\x00',
            "forged": text,
            "fenced": f"```json\n{good}\n```",
        }.get(model, good)

    def completion(self, content: str | None, **more: Any) -> web.Response:
        message = {"role": "assistant", "content": content, **more}
        usage = {"prompt_tokens": 400, "completion_tokens": 20}
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})

    async def broken_stream(self, request: web.Request, *, drip: bool) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "5000"})
        await response.prepare(request)
        await response.write(b'{"choices": [')
        with contextlib.suppress(ConnectionError):
            while drip:
                await asyncio.sleep(1)
                await response.write(b" ")
        if request.transport is not None:
            request.transport.close()
        return response

    async def reset(self, request: web.Request) -> web.Response:
        """Forget all counts, and take another latency where one is given."""
        self.start_afresh(float(request.query.get("latency", self.latency)))
        return web.json_response({})

    async def stats(self, _request: web.Request) -> web.Response:
        return web.json_response(
            {"requests": self.requests, "most_in_flight": self.most_in_flight, "by_model": self.by_model}
        )


async def serve(port: int, latency: float) -> None:
    """Serve on loopback until cancelled; port 0 takes a free one."""
    loopback = Loopback(latency)
    app = web.Application(client_max_size=50_000_000)
    app.router.add_post("/v1/chat/completions", loopback.complete)
    app.router.add_get("/stats", loopback.stats)
    app.router.add_post("/reset", loopback.reset)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    address = runner.addresses[0]
    print(f"http://127.0.0.1:{address[1]}/v1", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    arguments = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(arguments.port, arguments.latency))


if __name__ == "__main__":
    main()
