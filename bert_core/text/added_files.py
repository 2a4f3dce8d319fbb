"""What a tokenizer's files say of its special tokens and of the tokens that were added to it.

Four files do: `tokenizer_config.json`, `special_tokens_map.json`, `added_tokens.json` and
`tokenizer.json`. They are read as `transformers` 5 reads them. `added_tokens_decoder` in
`tokenizer_config.json` makes the other three void; without it, all of them count. After the tokens
with an id come those that have a role, then `additional_special_tokens`. A token that is not in the
vocabulary gets the next id; a file that gives it another one is refused.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bert_core.small_files import shown
from bert_core.text.added import AddedToken, as_entry
from bert_core.text.tokenizer_class import CONFIG_NAME, read_object
from bert_core.text.tokenizer_json import TOKENIZER_NAME, added_tokens, refuse
from bert_core.text.vocabulary import entries

MAP_NAME = "special_tokens_map.json"
ADDED_NAME = "added_tokens.json"
_ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")  # in the order in which ids are given
_ADDITIONAL = ("additional_special_tokens", "extra_special_tokens")
# Classes that take `tokenizer.json` as it is; all others make a tokenizer anew from its pieces.
_WHOLE = ("PreTrainedTokenizerFast", "TokenizersBackend")


@dataclass(frozen=True, slots=True)
class Beside:
    """The files beside a vocabulary; {} where there is none.

    Attributes:
        folder: where they are.
        settings: `tokenizer_config.json`.
        names: `special_tokens_map.json`.
        ids: `added_tokens.json`.
    """

    folder: Path
    settings: Mapping[str, Any]
    names: Mapping[str, Any]
    ids: Mapping[str, Any]

    @property
    def path(self) -> str:
        """The path of `tokenizer_config.json`, for error messages."""
        return str(self.folder / CONFIG_NAME)

    @property
    def decoder(self) -> list[dict[str, Any]] | None:
        """The tokens of `added_tokens_decoder`, as `tokenizer.json` has them; None without it."""
        found = self.settings.get("added_tokens_decoder")
        if found is None:
            return None
        if not isinstance(found, dict):
            refuse(self.path, "added_tokens_decoder", found, "an object of ids and tokens")
        for number, token in found.items():
            if not number.isdecimal() or not isinstance(token, dict):
                refuse(self.path, f"added_tokens_decoder {number!r}", token, "a token and its id")
        return [{**token, "id": int(number)} for number, token in found.items()]

    @property
    def whole(self) -> bool:
        """Whether the class takes `tokenizer.json` as it is."""
        return self.settings.get("tokenizer_class") in _WHOLE

    @property
    def named(self) -> Mapping[str, Any]:
        """Where special tokens are named."""
        return self.settings if self.decoder is not None else {**self.settings, **self.names}

    def role(self, role: str, usual: str) -> str:
        """Return the token of a role; `usual` if no file names one."""
        found = _content(self.named.get(f"{role}_token"))
        return found if isinstance(found, str) and found else usual


def files_beside(folder: Path) -> Beside:
    """Read the files of a folder that say something of special and added tokens.

    Raises:
        CheckpointError: one is not a JSON object.
    """
    names = CONFIG_NAME, MAP_NAME, ADDED_NAME
    return Beside(folder, *(read_object(folder / name) for name in names))


@dataclass(frozen=True, slots=True)
class NamedTokens:
    """The special and added tokens of a tokenizer.

    Attributes:
        roles: role -> token, such as "mask" -> "[MASK]".
        added: all tokens that are found in a text before anything else.
        contradictions: sentences on files that say different things, and which of them counts.
    """

    roles: Mapping[str, str]
    added: tuple[AddedToken, ...]
    contradictions: tuple[str, ...]


def named_tokens(
    beside: Beside,
    pieces: list[str],
    usual: Mapping[str, AddedToken],
    document: Mapping[str, Any] | None = None,
) -> NamedTokens:
    """Understand what the files say; tokens that the vocabulary lacks are put after its pieces.

    Args:
        beside: the files.
        pieces: the vocabulary; it is extended.
        usual: role -> token of tokenizers whose files name none.
        document: the contents of the `tokenizer.json` that the pieces are from.

    Raises:
        CheckpointError: a file is malformed, gives a token an id that it cannot have, or says
            something that is not implemented.
    """
    own = document.get("added_tokens") if document else None
    named = beside.named
    absent = {role for role in usual if named.get(f"{role}_token", "") is None}  # null: has none
    roles = {role: token for role, token in usual.items() if role not in absent}
    roles |= dict(_roles(named, usual, beside.path))
    first, last = [role for role in _ROLES if role in roles], [*roles.keys() - {*_ROLES}]
    special = [*(roles[role] for role in (*first, *last)), *_additional(named, beside.path)]
    source = (
        CONFIG_NAME
        if beside.decoder is not None
        else ADDED_NAME
        if own in (None, [])
        else TOKENIZER_NAME
    )
    listed = added_tokens(_listed(beside, own), pieces, str(beside.folder / source))
    names = {token.content for token in special}
    added = {
        content: replace(token, special=token.special or content in names)
        for content, token in ((each, _token(entry, beside.path)) for each, entry in listed.items())
    }
    _give_ids([token.content for token in special], pieces, usual)
    known = entries(pieces)
    for token in special:
        if token.content in known:
            added.setdefault(token.content, token)
    _refuse_settings(beside, added.keys())
    return NamedTokens(
        roles={role: token.content for role, token in {**usual, **roles}.items()},
        added=tuple(added.values()),
        contradictions=(*_other_names(beside), *_other_ids(beside, own, known)),
    )


def _listed(beside: Beside, own: object) -> object:
    """Return the tokens that files list with ids, as `tokenizer.json` has them."""
    rows = own if isinstance(own, list) else []
    there = _ids(rows)
    decoder = beside.decoder
    if decoder is not None:
        if not beside.whole:
            return decoder
        return [*rows, *(each for each in decoder if each.get("content") not in there)]
    named = [_content(beside.named.get(f"{role}_token")) for role in _ROLES]
    # `transformers` does not look for these in special_tokens_map.json, and finds them otherwise.
    named += _content(beside.settings.get(_ADDITIONAL[0]) or [])
    older = [
        as_entry(AddedToken(token, token in named, token not in named), number)
        for token, number in beside.ids.items()
        if token not in there
    ]
    return [*older, *rows] if isinstance(own, list | None) else own


def listed_contents(document: Mapping[str, Any]) -> Collection[str]:
    """Return the added tokens of a `tokenizer.json`."""
    own = document.get("added_tokens")
    return _ids(own if isinstance(own, list) else []).keys()


def _ids(rows: Sequence[Any]) -> dict[str, Any]:
    """Return the id of each token in a list."""
    found = ((_content(each), each.get("id")) for each in rows if isinstance(each, dict))
    return {content: number for content, number in found if isinstance(content, str)}


def _give_ids(tokens: list[str], pieces: list[str], usual: Mapping[str, AddedToken]) -> None:
    """Give ids to special tokens that the vocabulary lacks.

    A vocabulary that lacks only some of the usual ones has none of them: a name that every
    configuration repeats is no reason to invent a vector for it.
    """
    known = entries(pieces)
    lacking = dict.fromkeys(token for token in tokens if token not in known)
    if lacking.keys() - {token.content for token in usual.values()}:
        pieces += lacking


def _roles(
    named: Mapping[str, Any], usual: Mapping[str, AddedToken], path: str
) -> Iterator[tuple[str, AddedToken]]:
    """Yield each role that the files name, with its token."""
    for key, value in named.items():
        role = key.removesuffix("_token")
        if role in _ROLES and value and not isinstance(value, str | dict):
            refuse(path, key, value, "a token")
        if role != key and isinstance(value, str | dict) and value:
            lstrip = role in usual and usual[role].lstrip and isinstance(value, str)
            token = _token(value, path)
            yield role, replace(token, special=True, lstrip=token.lstrip or lstrip)


def _additional(named: Mapping[str, Any], path: str) -> Iterator[AddedToken]:
    """Yield the special tokens without a role."""
    for key in _ADDITIONAL:
        found = named.get(key) or ()
        if not isinstance(found, list | tuple | dict):
            refuse(path, key, found, "a list of tokens")
        for each in found.values() if isinstance(found, dict) else found:
            yield replace(_token(each, path), special=True)


def _token(given: object, path: str) -> AddedToken:
    """Read a token that is written as a string, or as an object with flags."""
    found = {"content": given, "special": True} if isinstance(given, str) else given
    content = _content(found)
    if not isinstance(found, dict) or not isinstance(content, str) or not content:
        refuse(path, "a special token", given, "a string, or an object with a content")
    special = found.get("special") is True
    normalized = found.get("normalized", not special) is True
    lstrip, rstrip, single = (
        found.get(each) is True for each in ("lstrip", "rstrip", "single_word")
    )
    return AddedToken(content, special, normalized, lstrip, rstrip, single)


def _content(given: Any) -> Any:
    """Return the content of a token, or of each in a list."""
    if isinstance(given, list):
        return [_content(each) for each in given]
    return given.get("content") if isinstance(given, dict) else given


def _refuse_settings(beside: Beside, added: Collection[str]) -> None:
    """Reject settings that would give other ids and are not implemented."""
    if beside.settings.get("split_special_tokens"):
        refuse(beside.path, "split_special_tokens", True, "false, as in the published tokenizers")
    never = beside.settings.get("never_split") or []
    if unknown := [each for each in never if each not in added]:
        refuse(beside.path, "never_split", unknown[0], "tokens of added_tokens_decoder alone")


# -- what contradicts -----------------------------------------------------------------------------


def _other_names(beside: Beside) -> Iterator[str]:
    """Say where two files name different special tokens."""
    used, void = (MAP_NAME, beside.names), (CONFIG_NAME, beside.settings)
    if beside.decoder is not None:
        used, void = void, used
    for key in used[1]:
        values = _content(used[1][key]), _content(void[1].get(key))
        if (
            key in void[1]
            and (key.endswith("_token") or key in _ADDITIONAL)
            and values[0] != values[1]
        ):
            yield _says((used[0], void[0]), key, values)


def _other_ids(beside: Beside, own: object, known: Mapping[str, int]) -> Iterator[str]:
    """Say where a file gives an added token another id than the one that counts."""
    files = {ADDED_NAME: beside.ids}
    if isinstance(own, list) and own:
        files[TOKENIZER_NAME] = _ids(own)
    if beside.decoder is not None:
        files[CONFIG_NAME] = _ids(beside.decoder)
    used, _ = files.popitem()
    for name, ids in files.items():
        for content, number in ids.items():
            if known.get(content) != number:
                what = f"the id of {shown(content)}"
                yield _says((used, name), what, (known.get(content), number))
                break


def _says(names: tuple[str, str], what: str, values: tuple[object, object]) -> str:
    (used, other), (first, second) = names, map(shown, values)
    return (
        f"{used} and {other} contradict each other: {what} is {first} in the first and {second} "
        f"in the second; {used} is used."
    )
