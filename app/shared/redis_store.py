"""Things with a bound and an end, in Redis or Valkey, for all servers of a site.

Every action is one script, so one round trip, and happens whole or not at all. Values are JSON.
While the store is away, what can go on in this process does; documents cannot.
"""

import json
import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.log import cause
from app.shared.memory import (
    DAY,
    MOST_ACCOUNTS,
    MOST_NAMES,
    Account,
    AwayError,
    Balance,
    Clock,
    Documents,
    Entry,
    Ledger,
    Memory,
    Shelf,
    Texts,
    Tries,
)
from bert_core.errors import BertError

T = TypeVar("T")

_LOG = logging.getLogger("app.shared")
_ANSWER = 1.0  # seconds for an answer of the store; then it is away
_PAUSE = 0.5  # seconds until the next try to reach it
_BEAT = 5.0  # seconds between signs of life
_FIRST = 3.0  # seconds in which a server tries to reach it before it begins without
_TELL = 60.0  # seconds between lines in the log
_UNREAD = (ValueError, TypeError, LookupError, AttributeError)  # of a document written otherwise

_SECRET = """
redis.call('SET', KEYS[1], ARGV[1], 'NX')
redis.call('EXPIRE', KEYS[1], ARGV[2])
return redis.call('GET', KEYS[1])"""

_KEEP = """
local now, day, size = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[6])
redis.call('SET', KEYS[1] .. ARGV[3], ARGV[4], 'EX', day)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - day)
redis.call('ZADD', KEYS[1], now, ARGV[3])
redis.call('EXPIRE', KEYS[1], day)
for place, key in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, -1)) do
  size = size - redis.call('STRLEN', KEYS[1] .. key)
  if place > tonumber(ARGV[5]) or size < 0 then
    redis.call('DEL', KEYS[1] .. key)
    redis.call('ZREM', KEYS[1], key)
  end
end"""
_FIND = "return redis.call('GET', KEYS[1])"

_TRY = """
local count = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)
local left = count < tonumber(ARGV[2]) and redis.call('HLEN', KEYS[1]) < tonumber(ARGV[3])
if left and ARGV[4] == '1' then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('EXPIRE', KEYS[1], 120)
end
return left and 1 or 0"""

_DRAW = """
local now, requests, seconds = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local before, balances = {}, {}
for i = 5, #ARGV, 3 do
  local most, much = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local kept = redis.call('HMGET', KEYS[1] .. ARGV[i], 'requests', 'seconds', 'at')
  local minutes = math.max(0, now - (tonumber(kept[3] or now))) / 60
  local left = {ARGV[i], math.min(most, tonumber(kept[1] or most) + minutes * most),
                math.min(much, tonumber(kept[2] or much) + minutes * much), most, much}
  table.insert(before, left)
  table.insert(balances, string.format('%.6f', left[2]))
  table.insert(balances, string.format('%.6f', left[3]))
end
for _, left in ipairs(before) do
  if left[2] < tonumber(ARGV[2]) or left[3] <= 0 then requests = 0 end
end
for _, left in ipairs(before) do
  local more, much = left[2] - requests, left[3] - seconds
  local full = math.max((left[4] - more) / left[4], (left[5] - much) / left[5])
  local key = KEYS[1] .. left[1]
  redis.call('HSET', key, 'requests', more, 'seconds', much, 'at', ARGV[1])
  redis.call('EXPIRE', key, math.ceil(60 * full) + 1)
  redis.call('ZADD', KEYS[1], now, left[1])
end
redis.call('EXPIRE', KEYS[1], 3600)
for _ = 1, redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[4]) do
  redis.call('DEL', KEYS[1] .. redis.call('ZPOPMIN', KEYS[1])[1])
end
return balances"""

_ALL = """
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
local found = {}
for _, key in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local kept = redis.call('HMGET', KEYS[1] .. key, 'version', 'text')
  if kept[1] then table.insert(found, {key, kept[1], kept[2]}) end
end
return found"""
_ADD = """
local most, group = {tonumber(ARGV[3]), tonumber(ARGV[4])}, KEYS[2]
local counts = {}
for i = 1, 2 do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', ARGV[1])
  counts[i] = redis.call('ZCARD', KEYS[i])
end
if counts[1] >= most[1] or counts[2] >= most[2] then return counts end
for i = 1, 2 do
  redis.call('ZADD', KEYS[i], ARGV[2], ARGV[5])
  redis.call('EXPIRE', KEYS[i], 90000)
end
redis.call('HSET', KEYS[1] .. ARGV[5], 'version', 1, 'text', ARGV[6], 'group', group)
redis.call('EXPIREAT', KEYS[1] .. ARGV[5], ARGV[2])
redis.call('PUBLISH', KEYS[1], ARGV[5] .. ' 1 ' .. ARGV[6])"""
_GET = "return redis.call('HMGET', KEYS[1] .. ARGV[1], 'version', 'text')"
_SWAP = """
local kept = redis.call('HMGET', KEYS[1] .. ARGV[1], 'version', 'text')
if kept[1] ~= ARGV[2] then return kept end
redis.call('HSET', KEYS[1] .. ARGV[1], 'version', ARGV[2] + 1, 'text', ARGV[3])
redis.call('PUBLISH', KEYS[1], ARGV[1] .. ' ' .. (ARGV[2] + 1) .. ' ' .. ARGV[3])
return 1"""
_DROP = """
local group = redis.call('HGET', KEYS[1] .. ARGV[1], 'group')
if group then redis.call('ZREM', group, ARGV[1]) end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[1] .. ARGV[1])
redis.call('PUBLISH', KEYS[1], ARGV[1] .. ' 0 ')"""


class Redis(Memory):
    """Makes them in a store; those of one name are the same on every server.

    Args:
        url: of the store; the setting has been checked.
        clock: returns the time in seconds; the clocks of all servers should agree to a second.
    """

    def __init__(self, url: str, clock: Clock = time.time) -> None:
        super().__init__(clock)
        pool = redis.BlockingConnectionPool.from_url(
            url,
            timeout=_ANSWER,  # until one of its connections is free
            socket_timeout=_ANSWER,
            socket_connect_timeout=_ANSWER,
            retry=Retry(NoBackoff(), 0),  # what was lost on the way may have been done
        )
        self._client = redis.Redis.from_pool(pool)
        db = pool.connection_kwargs.get("db") or 0
        self._prefix = f"bert-explorer:{db}:"
        self._documents: dict[str, RedisDocuments[Any]] = {}
        self._reached = threading.Event()
        self._thread: threading.Thread | None = None
        self._missed, self._logged = 0, -math.inf
        self._why = "not yet connected"

    def begin(self) -> None:
        """Connect, and stay connected from now on."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._stay, name="shared", daemon=True)
            self._thread.start()
        self._reached.wait(_FIRST)

    @property
    def state(self) -> str:
        """Whether the store is reached."""
        return "reached" if self._reached.is_set() else "away"

    def shelf(self, name: str, most: int, size: int) -> Shelf:
        """Return the shelf of all servers."""
        return RedisShelf(self, name, most, size)

    def tries(self, name: str, most: int) -> Tries:
        """Return the tries on all servers."""
        return RedisTries(self, name, most)

    def ledger(self, name: str) -> Ledger:
        """Return the ledger of all servers."""
        return RedisLedger(self, name)

    def documents(
        self, name: str, write: Callable[[T], object], read: Callable[[object], T]
    ) -> Documents[T]:
        """Return the documents of all servers; call it before `begin`."""
        made = RedisDocuments(self, name, write, read)
        self._documents[self._prefix + made.name] = made
        return made

    def run(self, script: str, keys: Sequence[str], *given: str | float) -> Any:
        """Run a script.

        Raises:
            AwayError: it cannot be reached, or does not do it.
        """
        if self._reached.is_set():
            try:
                return self.ask(script, keys, *given)
            except redis.RedisError as error:
                self._why = cause(error)
                if isinstance(error, redis.ConnectionError | redis.TimeoutError):
                    self._reached.clear()
        self._missed += 1
        self._log_missed()
        raise AwayError("What the servers of this site share is out of reach. Try again later.")

    def ask(self, script: str, keys: Sequence[str], *given: str | float) -> Any:
        """Run a script, wherever the store is.

        Raises:
            RedisError: it was not done, or whether it was done is unknown.
        """
        names = [self._prefix + each for each in keys]
        return self._client.eval(script, len(names), *names, *map(str, given))

    def _log_missed(self) -> None:
        """Write how many actions had to do without the store, at most once a minute."""
        if self._missed and time.monotonic() - self._logged > _TELL:
            _LOG.warning(
                "the shared store is out of reach; actions without it: %s; %s",
                f"{self._missed:,}",
                self._why.partition(",")[0],
            )
            self._missed, self._logged = 0, time.monotonic()

    def _stay(self) -> None:
        while True:
            try:
                self._follow()
            except Exception as error:  # noqa: BLE001 - the thread must go on
                self._why = cause(error)
            self._reached.clear()
            time.sleep(_PAUSE)

    def _follow(self) -> None:
        self._client.connection_pool.disconnect()  # from before
        made: Callable[..., redis.client.PubSub] = self._client.pubsub
        with made(ignore_subscribe_messages=True) as heard:
            heard.subscribe(self._prefix, *self._documents)  # it must wait for something
            self._beat()
            for each in self._documents.values():
                each.load()
            self._reached.set()
            beat = time.monotonic()
            while self._reached.is_set():
                message = heard.get_message(timeout=_ANSWER)
                if message is not None:
                    self._documents[message["channel"].decode()].hear(message["data"].decode())
                if time.monotonic() - beat > _BEAT:
                    self._beat()
                    beat = time.monotonic()

    def _beat(self) -> None:
        """Give the store a sign of life, and the key, which it may have lost."""
        self._secret = self.ask(_SECRET, ["secret"], self._secret, DAY).decode()
        self._log_missed()
        for each in self._documents.values():
            each.sweep()


def _digest(name: str) -> str:
    """Return a name of one length; no address of a visitor is written into the store."""
    return blake2b(name.encode(errors="surrogatepass"), digest_size=16).hexdigest()


class RedisShelf(Shelf):
    """A shelf of all servers; the size is that of the texts as JSON."""

    def __init__(self, store: Redis, name: str, most: int, size: int) -> None:
        super().__init__(most, size, store.clock)
        self._store, self._name = store, f"{name}:"

    def keep(self, texts: Texts) -> str:
        """Keep texts."""
        key, text = secrets.token_urlsafe(12), json.dumps(dict(texts))
        bounds = self._most, self._most_bytes
        try:
            self._store.run(_KEEP, [self._name], self._clock(), DAY, key, text, *bounds)
        except AwayError:
            return super().keep(texts)
        return key

    def find(self, key: str) -> Texts | None:
        """Return the texts of a key."""
        try:
            found = self._store.run(_FIND, [self._name + key]) if key else None
        except AwayError:
            found = None
        return json.loads(found) if found else super().find(key)


class RedisTries(Tries):
    """Tries on all servers."""

    def __init__(self, store: Redis, name: str, most: int) -> None:
        super().__init__(most, store.clock)
        self._store, self._name = store, name

    def _ask(self, of: str, take: bool) -> bool:
        key, given = f"{self._name}:{self._now()}", (_digest(of), self._most, MOST_NAMES)
        try:
            return bool(self._store.run(_TRY, [key], *given, int(take)))
        except AwayError:
            return super()._ask(of, take)


class RedisLedger(Ledger):
    """A ledger of all servers."""

    def __init__(self, store: Redis, name: str, most: int = MOST_ACCOUNTS) -> None:
        super().__init__(store.clock, most)
        self._store, self._name = store, f"{name}:"

    def draw(
        self, accounts: Sequence[Account], *, requests: int = 0, seconds: float = 0.0
    ) -> list[Balance]:
        """Draw from accounts; return what was left of each before."""
        rows = ((_digest(each.of), each.requests, each.seconds) for each in accounts)
        flat = [part for row in rows for part in row]
        given = self._clock(), requests, seconds, self._most
        try:
            pairs = self._store.run(_DRAW, [self._name], *given, *flat) if flat else []
        except AwayError:
            return super().draw(accounts, requests=requests, seconds=seconds)
        return [Balance(*map(float, pair)) for pair in zip(pairs[::2], pairs[1::2], strict=True)]


class RedisDocuments(Documents[T]):
    """Documents of all servers, each of which knows all of them and hears of their changes.

    A change is tried on the value that is known, and is made if that was the newest; if not, it is
    tried on the newest. What a function refuses is refused after a look at the newest.
    """

    def __init__(
        self,
        store: Redis,
        name: str,
        write: Callable[[T], object],
        read: Callable[[object], T],
    ) -> None:
        super().__init__(store.clock)
        self.name = f"{name}:"  # of the index and of the channel
        self._store, self._write, self._read = store, write, read
        self._unread = False  # whether the log has a line of it
        self._changing = threading.Lock()  # two changes of one process do not meet in the store

    def find(self, key: str) -> T | None:
        """Return a value; None if there is none, or no longer."""
        known = self.known().get(key)
        if known is not None or not key:
            return known
        entry = self._fetched(key)
        return entry.value if entry else None

    def add(
        self, key: str, value: T, *, seconds: float, group: str, most: int, most_of_group: int
    ) -> tuple[int, int] | None:
        """Keep a new value, unless there are as many as there may be."""
        until = math.ceil(self._clock() + seconds)
        entry = Entry(value, until)
        keys = [self.name, f"{self.name[:-1]}@{_digest(group)}"]
        bounds = most, most_of_group
        text = self._written(entry)
        counts = self._store.run(_ADD, keys, self._clock(), until, *bounds, key, text)
        if counts is None:
            self._put(key, entry)
        return counts and (counts[0], counts[1])

    def change(self, key: str, turn: Callable[[T], T]) -> T | None:
        """Replace a value by what a function makes of it; None if there is none."""
        with self._changing:
            self.sweep()
            entry = self._entries.get(key) or self._fetched(key)
            while entry is not None:
                try:
                    value = turn(entry.value)
                except BertError:
                    newest = self._fetched(key)
                    if newest and newest.version == entry.version:
                        raise
                    entry = newest
                    continue
                after = Entry(value, entry.until, version=entry.version + 1)
                given = key, entry.version, self._written(after)
                answer = self._store.run(_SWAP, [self.name], *given)
                if answer == 1:
                    self._put(key, after)
                    return value
                entry = self._noted(key, *answer)
        return None

    def drop(self, key: str) -> None:
        """Forget a value."""
        self._store.run(_DROP, [self.name], key)
        self._put(key, None)

    def load(self) -> None:
        """Learn of all documents; called while the store is not yet used.

        Raises:
            RedisError: it cannot be reached.
        """
        found = self._store.ask(_ALL, [self.name], self._clock())
        for key in set(self._entries) - {key.decode() for key, _, _ in found}:
            self._put(key, None)
        for key, version, text in found:
            self._noted(key.decode(), version, text)

    def hear(self, message: str) -> None:
        """Note a change that was made somewhere."""
        key, version, text = message.split(" ", 2)
        known = self._entries.get(key)
        if not text or known is None or known.version < int(version):
            self._noted(key, version.encode() if text else None, text.encode())

    def _fetched(self, key: str) -> Entry[T] | None:
        return self._noted(key, *self._store.run(_GET, [self.name], key))

    def _noted(self, key: str, version: bytes | None, text: bytes | None) -> Entry[T] | None:
        """Note what the store has; None for nothing, or for what another version wrote."""
        entry: Entry[T] | None = None
        if version is not None and text is not None:
            try:
                found = json.loads(text)
                if self._clock() < found["until"]:
                    entry = Entry(self._read(found["value"]), found["until"], version=int(version))
            except _UNREAD as error:
                if not self._unread:
                    _LOG.warning("a document of the shared store cannot be read: %s", cause(error))
                self._unread = True
        self._put(key, entry)
        return entry

    def _written(self, entry: Entry[T]) -> str:
        return json.dumps({"until": entry.until, "value": self._write(entry.value)})
