"""Labels of a model: their names in config files, and the parts of the names of tags.

Taggers write one name for each kind and place in it: "B-PER" begins a PER. The mark is before the
kind or after it, apart by one of `-_ :.|/`, in any case: "B-PER", "b_per", "PER-B".
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from bert_core.errors import ConfigError
from bert_core.small_files import shown

Role = Literal["outside", "begin", "inside", "end", "single", "plain"]

NAMELESS = re.compile(r"LABEL_\d+")
"""The default name of a label, where a configuration gives none."""

_ROLES: dict[str, Role] = {
    "B": "begin",
    "I": "inside",
    "M": "inside",
    "E": "end",
    "L": "end",
    "S": "single",
    "U": "single",
    "W": "single",
}
_BEFORE = re.compile(r"(?P<mark>[BIMELSUW])[-_ :.|/](?P<kind>.+)", re.IGNORECASE | re.DOTALL)
_AFTER = re.compile(r"(?P<kind>.+)[-_ :.|/](?P<mark>[BIMELSUW])", re.IGNORECASE | re.DOTALL)
_OUTSIDE = re.compile(r"OTHERS?|OUTSIDE|NONE|LABEL_0", re.IGNORECASE)  # where no label is O


@dataclass(frozen=True, slots=True)
class Tag:
    """One label, split into its parts."""

    name: Annotated[str, 'as spelled in the model\'s configuration, such as "B-PER"']
    role: Annotated[Role, "its role in a stretch"]
    kind: Annotated[str, 'the kind of the stretch, such as "PER"; "" outside all stretches']


def read_labels(id2label: object, label2id: object = None) -> dict[int, str]:
    """Read the names of labels, by number; {} if there are none.

    In JSON the keys of `id2label` are strings, and labels such as star ratings are numbers.
    `label2id` counts only without it.

    >>> read_labels({"0": "O", "1": "B-PER"}), read_labels(None, {"no": 0, "yes": 1})
    ({0: 'O', 1: 'B-PER'}, {0: 'no', 1: 'yes'})
    >>> read_labels(["bad", "good"]), read_labels({"0": 1, "1": 2.5})
    ({0: 'bad', 1: 'good'}, {0: '1', 1: '2.5'})
    """
    if isinstance(id2label, list | tuple):
        id2label = dict(enumerate(id2label))
    key, pairs = "id2label", list(_mapping("id2label", id2label, "index to name").items())
    if not pairs:
        key, found = "label2id", _mapping("label2id", label2id, "name to index")
        pairs = [(index, label) for label, index in found.items()]
    return _numbered(key, pairs)


def _numbered(key: str, pairs: Sequence[tuple[object, object]]) -> dict[int, str]:
    labels: dict[int, str] = {}
    for index, label in pairs:
        if not isinstance(label, str | int | float):
            raise ConfigError(f"{key} calls label {shown(index)} {shown(label)}; expected a name.")
        try:
            number = int(index) if isinstance(index, str | int) else -1
        except ValueError:
            number = -1
        if not 0 <= number < len(pairs) or number in labels:
            raise ConfigError(
                f"{key} has the indices {shown([index for index, _ in pairs[:8]])}; expected "
                f"each from 0 to {len(pairs) - 1} once."
            )
        labels[number] = _label_text(label)
    return dict(sorted(labels.items()))


def _mapping(key: str, value: object, kind: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping | None):
        raise ConfigError(f"{key} is {shown(value)}; expected a mapping from {kind}.")
    return {} if value is None else value


def _label_text(label: str | float) -> str:
    """Return a label as JSON writes it, but text without quotes.

    >>> _label_text("B-PER"), _label_text(5), _label_text(True)
    ('B-PER', '5', 'true')
    """
    return label if isinstance(label, str) else json.dumps(label)


def read_tags(names: Sequence[str]) -> tuple[Tag, ...]:
    """Split the names of a tagger's labels into mark and kind, if it uses marks.

    >>> [(tag.role, tag.kind) for tag in read_tags(["O", "b-per", "I-PER"])]
    [('outside', ''), ('begin', 'per'), ('inside', 'per')]
    >>> [(tag.role, tag.kind) for tag in read_tags(["Other", "PER-B", "PER-E"])]
    [('outside', ''), ('begin', 'PER'), ('end', 'PER')]
    """
    marked = _marked(names)
    seen = {(mark, kind.casefold()) for mark, kind in marked.values()}
    spelled: dict[str, str] = {}  # folded -> as the first label spells it
    if len(seen) == len(marked):  # no two labels differ in nothing but case
        for _, kind in marked.values():
            spelled.setdefault(kind.casefold(), kind)
    outside = _outside({*names} - {*marked}, bool(marked))
    tags = []
    for name in names:
        if name in marked:
            mark, kind = marked[name]
            tags.append(Tag(name, _ROLES[mark], spelled.get(kind.casefold(), kind)))
        elif name in outside:
            tags.append(Tag(name, "outside", ""))
        else:
            tags.append(Tag(name, "plain", name))
    return tuple(tags)


def _marked(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return mark and kind of the labels that have them; {} where labels have none."""
    before, after = (
        {
            name: (match["mark"].upper(), match["kind"])
            for name in names
            if (match := form.fullmatch(name))
        }
        for form in (_BEFORE, _AFTER)
    )
    # "Group B" is a label without a mark, unless most of them end so.
    found = after if len(after) > max(len(before), len(names) / 2) else before
    kinds = {kind.casefold() for mark, kind in found.values() if mark in "BI"}
    # "E-mail" is a label without a mark, unless there is also a "B-mail".
    return {name: each for name, each in found.items() if each[1].casefold() in kinds}


def _outside(bare: set[str], has_marks: bool) -> set[str]:
    """Return the labels outside all stretches, of those without a mark."""
    if spelled := {name for name in bare if name.upper() == "O"}:
        return spelled
    if has_marks and len(bare) == 1:
        return bare
    nameless = all(map(NAMELESS.fullmatch, bare))
    return set() if nameless else {name for name in bare if _OUTSIDE.fullmatch(name)}
