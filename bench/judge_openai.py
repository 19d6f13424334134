"""The same questions through the OpenAI SDK, without storing anything. `judge.py` runs this in a separate environment.

PEERS/bin/python bench/judge_openai.py --url http://127.0.0.1:8777/v1 --messages FILE --calls 4000 --concurrency 128
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import time
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI, __version__

WARM_UP = 200


async def ask_all(url: str, messages: list[dict[str, str]], calls: int, concurrency: int) -> dict[str, Any]:
    """Send ``calls`` requests with ``concurrency`` in flight; figures of the second pass, after a warm-up."""

    async def passes(numbers: list[int]) -> None:
        left = iter(numbers)

        async def worker() -> None:
            for number in left:
                first, last = messages[0], messages[-1]
                completion = await client.chat.completions.create(
                    model="ok",
                    messages=[first, {**last, "content": f"{last['content']} {number}"}],  # type: ignore[list-item]
                    temperature=0.0,
                    max_tokens=1024,
                    response_format={"type": "json_object"},
                )
                met = json.loads(completion.choices[0].message.content or "")["criteria_met"]
                if not isinstance(met, bool):
                    raise SystemExit("not a verdict")

        await asyncio.gather(*(worker() for _ in range(concurrency)))

    async with AsyncOpenAI(base_url=url, api_key="none") as client:
        await passes(list(range(WARM_UP)))
        wall, cpu = time.perf_counter(), time.process_time()
        await passes(list(range(calls)))
        seconds, used = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "rate": calls / seconds,
        "cpu_ms": used / calls * 1000,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "version": __version__,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--messages", type=Path, required=True, help="a file with the messages of one request")
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--concurrency", type=int, default=128)
    options = parser.parse_args()
    messages = json.loads(options.messages.read_text())
    print(json.dumps(asyncio.run(ask_all(options.url, messages, options.calls, options.concurrency))))


if __name__ == "__main__":
    main()
