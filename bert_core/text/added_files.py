"""What a tokenizer's files say of its special tokens and of the tokens that were added to it.

Four files are read as `transformers` 5 reads them. `added_tokens_decoder` in
`tokenizer_config.json` makes the other three void; without it, all of them count. After the tokens
with an id come those that have a role, then `additional_special_tokens`. A token that is not in the
vocabulary gets the next id; a file that gives it another one is refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from bert_core.small_files import shown
from bert_core.text.added import AddedToken, as_entry
from bert_core.text.tokenizer_class import ADDED_NAME, CONFIG_NAME, Folder
from bert_core.text.tokenizer_json import TOKENIZER_NAME, refuse
from bert_core.text.vocabulary import entries

_ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")  # in the order in which ids are given
_ADDITIONAL = ("additional_special_tokens", "extra_special_tokens")
_FLAGS = tuple(asdict(AddedToken("")))[1:]
_Rows = list[dict[str, Any]]  # tokens as `tokenizer.json` has them


def named_tokens(
    folder: Folder, pieces: list[str], usual: Mapping[str, AddedToken], own: object
) -> tuple[dict[str, str], tuple[AddedToken, ...]]:
    """Return the token of each role, and all tokens that are found in a text before anything else.

    Those that the vocabulary lacks are appended to `pieces`.
    `usual` has the role -> token of tokenizers whose files name none, `own` the added tokens of the
    `tokenizer.json` that the pieces are from.
    """
    path, decoder, named = _path(folder), _decoder(folder), _named(folder)
    absent = {role for role in usual if named.get(f"{role}_token", "") is None}  # null: has none
    roles = {role: token for role, token in usual.items() if role not in absent}
    roles |= dict(_roles(named, usual, path))
    order = [*(role for role in _ROLES if role in roles), *(r for r in roles if r not in _ROLES)]
    special = [roles[role] for role in order]
    for key in _ADDITIONAL:
        found = named.get(key) or ()
        if not isinstance(found, list | tuple | dict):
            refuse(path, key, found, "a list of tokens")
        for each in found.values() if isinstance(found, dict) else found:
            special.append(replace(_token(each, path), special=True))
    listed = ADDED_NAME if own in (None, []) else TOKENIZER_NAME
    source = str(folder.path / (listed if decoder is None else CONFIG_NAME))
    names = {token.content for token in special}
    added: dict[str, AddedToken] = {}
    for entry in _with_ids(_listed(folder, own, decoder), pieces, source):
        token = _token(entry, path)
        added[token.content] = replace(token, special=token.special or token.content in names)
    known = set(pieces) - {""}
    lacking = dict.fromkeys(t.content for t in special if t.content not in known)
    # A vocabulary that lacks only some of the usual ones has none of them: a name that every
    # configuration repeats is no reason to invent a vector for it.
    if lacking.keys() - {token.content for token in usual.values()}:
        pieces += lacking
        known |= lacking.keys()
    for token in special:
        if token.content in known:
            added.setdefault(token.content, token)
    if folder.settings.get("split_special_tokens"):
        refuse(path, "split_special_tokens", True, "false, as in the published tokenizers")
    never = folder.settings.get("never_split") or []
    if unknown := [each for each in never if each not in added]:
        refuse(path, "never_split", unknown[0], "tokens of added_tokens_decoder alone")
    named_roles = {role: token.content for role, token in {**usual, **roles}.items()}
    return named_roles, tuple(added.values())


def role_of(folder: Folder, role: str, usual: str) -> str:
    """Return the token of a role; `usual` if no file names one."""
    found = _content(_named(folder).get(f"{role}_token"))
    return found if isinstance(found, str) and found else usual


def ids_in(rows: object) -> dict[str, Any]:
    """Return the id of each token in a list of `tokenizer.json`."""
    listed = [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []
    found = ((_content(each), each.get("id")) for each in listed)
    return {content: number for content, number in found if isinstance(content, str)}


def _decoder(folder: Folder) -> _Rows | None:
    found = folder.settings.get("added_tokens_decoder")
    if found is None:
        return None
    if not isinstance(found, dict):
        refuse(_path(folder), "added_tokens_decoder", found, "an object of ids and tokens")
    for number, token in found.items():
        if not number.isdecimal() or not isinstance(token, dict):
            refuse(_path(folder), f"added_tokens_decoder {number!r}", token, "a token and its id")
    return [{**token, "id": int(number)} for number, token in found.items()]


def _listed(folder: Folder, own: object, decoder: _Rows | None) -> object:
    rows = own if isinstance(own, list) else []
    there = ids_in(rows)
    if decoder is not None:
        if not folder.any_class:
            return decoder
        return [*rows, *(each for each in decoder if each.get("content") not in there)]
    if not isinstance(own, list | None):
        return own
    named = [_content(_named(folder).get(f"{role}_token")) for role in _ROLES]
    # `transformers` does not look for these in special_tokens_map.json, and finds them otherwise.
    named += _content(folder.settings.get(_ADDITIONAL[0]) or [])
    older = [
        as_entry(AddedToken(token, token in named, token not in named), number)
        for token, number in folder.ids.items()
        if token not in there
    ]
    return [*older, *rows]


def _with_ids(found: object, pieces: list[str], name: str) -> _Rows:
    """Return listed tokens by id, each once; new ones are put after the pieces."""
    if not isinstance(found, list):
        refuse(name, "added_tokens", found, "a list")
    known = entries(pieces)
    rows, before = sorted(found, key=_id_of), set()
    for each in rows:
        token = each.get("content") if isinstance(each, dict) else None
        if not isinstance(token, str) or not token or token in before:
            refuse(name, "an added token", each, "an object with a content of its own")
        before.add(token)
        for flag in _FLAGS:
            if not isinstance(each.get(flag, False), bool):
                refuse(name, f"{flag} of {shown(token)}", each[flag], "true or false")
        expected = known.get(token, len(pieces))
        if _id_of(each) != expected:
            what = f"the id of the added token {shown(token)}"
            refuse(name, what, each.get("id"), f"{expected:,}")
        pieces += [token] * (token not in known)
    return rows


def _id_of(token: object) -> int:
    number = token.get("id") if isinstance(token, dict) else None
    return number if type(number) is int else -1


def _path(folder: Folder) -> str:
    return str(folder.path / CONFIG_NAME)


def _named(folder: Folder) -> Mapping[str, Any]:
    void = folder.settings.get("added_tokens_decoder") is not None
    return folder.settings if void else {**folder.settings, **folder.names}


def _roles(
    named: Mapping[str, Any], usual: Mapping[str, AddedToken], path: str
) -> Iterator[tuple[str, AddedToken]]:
    for key, value in named.items():
        role = key.removesuffix("_token")
        if role in _ROLES and value and not isinstance(value, str | dict):
            refuse(path, key, value, "a token")
        if role != key and isinstance(value, str | dict) and value:
            lstrip = role in usual and usual[role].lstrip and isinstance(value, str)
            token = _token(value, path)
            yield role, replace(token, special=True, lstrip=token.lstrip or lstrip)


def _token(given: object, path: str) -> AddedToken:
    found = {"content": given, "special": True} if isinstance(given, str) else given
    content = _content(found)
    if not isinstance(found, dict) or not isinstance(content, str) or not content:
        refuse(path, "a special token", given, "a string, or an object with a content")
    flags = {flag: found.get(flag) is True for flag in _FLAGS}
    flags["normalized"] = found.get("normalized", not flags["special"]) is True
    return AddedToken(content, **flags)


def _content(given: Any) -> Any:
    if isinstance(given, list):
        return [_content(each) for each in given]
    return given.get("content") if isinstance(given, dict) else given
