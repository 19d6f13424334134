"""Tables that belong to no app."""

from consilium.core.heartbeat import WorkerHeartbeat

__all__ = ["WorkerHeartbeat"]
