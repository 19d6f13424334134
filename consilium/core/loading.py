"""One lock for pandas, which is loaded late.

Altair looks pandas up among the loaded modules; while another thread imports it, only half of it is there. Who imports
pandas holds the lock, and who draws does, too, so that a figure need not load pandas, which takes 30 MiB.
"""

from __future__ import annotations

import threading

LOADING_PANDAS = threading.RLock()
