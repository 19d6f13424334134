"""The other design: one Celery task for each verdict. `judge.py` starts it with a pool of as many threads as requests.

Each task sends its request by a pooled HTTP client and writes its verdict by one INSERT into a table without keys, over
a connection of its thread. There are no retries, no call records and no checks, so its cost is that of Celery, HTTP and
one row. The environment names broker, address, prompt and database.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import psycopg
import urllib3
from celery import Celery

TABLE = "bench_one_task"
app = Celery("judge_one_task", broker=os.environ["ONE_TASK_BROKER"])
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=4)
_pool = urllib3.PoolManager(maxsize=int(os.environ["ONE_TASK_CONCURRENCY"]), block=True)
_messages = json.loads(Path(os.environ["ONE_TASK_MESSAGES"]).read_text())
_thread = threading.local()


@app.task
def judge_one(number: int) -> None:
    """Ask for one verdict and write it."""
    first, last = _messages[0], _messages[-1]
    body = {
        "model": "ok",
        "messages": [first, {**last, "content": f"{last['content']} {number}"}],
        "temperature": 0.0,
        "max_tokens": 1024,
        "response_format": {"type": "json_object"},
    }
    answer = _pool.request("POST", os.environ["ONE_TASK_URL"] + "/chat/completions", json=body, timeout=60)
    verdict = json.loads(answer.json()["choices"][0]["message"]["content"])
    if not isinstance(verdict["criteria_met"], bool):
        raise TypeError("not a verdict")
    if not hasattr(_thread, "connection"):
        _thread.connection = psycopg.connect(os.environ["ONE_TASK_DATABASE"], autocommit=True)
    _thread.connection.execute(
        f"INSERT INTO {TABLE} (number, met, explanation) VALUES (%s, %s, %s)",
        [number, verdict["criteria_met"], verdict["explanation"]],
    )
