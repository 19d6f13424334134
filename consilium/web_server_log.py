"""gunicorn's own log lines, written as all other lines: ``gunicorn --logger-class``."""

from __future__ import annotations

import logging.config
import os
from typing import Any

from gunicorn.glogging import Logger

from consilium.logs import logging_settings


class WebServerLogger(Logger):
    """Writes what gunicorn itself logs, such as its start and a worker that ended, as all other lines."""

    def setup(self, cfg: Any) -> None:
        """Hand gunicorn's own lines to the root logger; its level is that of ``LOG_LEVEL``."""
        super().setup(cfg)
        level = os.environ.get("LOG_LEVEL", "INFO").upper()
        logging.config.dictConfig(logging_settings(level=level))
        for logger in (self.error_log, self.access_log):
            logger.handlers = []
            logger.propagate = True
            logger.setLevel(level)
