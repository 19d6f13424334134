"""Tables that belong to no app."""

from consilium.core.heartbeat import BeatHeartbeat, WorkerHeartbeat

__all__ = ["BeatHeartbeat", "WorkerHeartbeat"]
