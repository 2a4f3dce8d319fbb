"""What visitors share across the servers of one site.

- `memory.py`: in the memory of this process, for a site of one server; the default.
- `redis_store.py`: in Redis (`BERT_EXPLORER_SHARED`), for several; imported with that setting only.

Both have four kinds of things, all with a bound and an end: shelves (texts of links), tries
(counted anew in each minute), ledgers (what visitors may still use) and documents (class rooms).
"""

from functools import cache

from app.settings import settings
from app.shared.memory import Memory


@cache
def shared() -> Memory:
    """Return what the setting names."""
    if not settings().shared:
        return Memory()
    from app.shared.redis_store import Redis

    return Redis(settings().shared)
