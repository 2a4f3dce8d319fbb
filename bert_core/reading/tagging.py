"""Join token-classification labels into stretches: BIO, related schemes, and plain labels.

Schemes: BIO (Tjong Kim Sang 2002: every entity begins with B-); its original form IOB1 (Ramshaw and
Marcus 1995: B- only between neighbours of the same kind); IO; BIOES and BILOU (Ratinov and Roth
2009: also marks of the end of an entity, and of one-word entities); plain labels without marks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from bert_core.config import BertConfig
from bert_core.labels import NAMELESS, Tag, read_tags

Scheme = Literal["BIO", "IOB1", "IO", "BIOES", "plain"]
Break = Literal["not opened", "not closed"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of labels that belong together."""

    kind: Annotated[str, 'such as "PER"']
    start: Annotated[int, "its first position in the sequence"]
    stop: Annotated[int, "the position after its last"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A place where a sequence of labels breaks the rules of its scheme.

    A label is "not opened" if it continues a stretch that is not open; "not closed" (BIOES only) if
    its stretch should continue but does not.
    """

    at: Annotated[int, "the position of the label"]
    why: Break
    label: Annotated[str, "the label's name"]
    before: Annotated[str, 'the name of the preceding label; "" at the start']


class TagScheme:
    """The labels of one model, and the rules by which they form stretches.

    Attributes:
        kinds: every kind of stretch, sorted so that equal sets of labels give equal orders.
        nameless: whether all labels have default names ("LABEL_0", "LABEL_1", ...).

    >>> scheme = TagScheme(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"])
    >>> scheme.name, scheme.kinds
    ('BIO', ('LOC', 'PER'))
    >>> scheme.stretches([1, 2, 0])
    [Stretch(kind='PER', start=0, stop=2)]
    >>> scheme.faults([0, 2])
    [Fault(at=1, why='not opened', label='I-PER', before='O')]
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.tags = read_tags(self.names)
        self.kinds = tuple(sorted({tag.kind for tag in self.tags if tag.role != "outside"}))
        self.name: Scheme = _recognise(self.tags)
        self.nameless = bool(names) and all(NAMELESS.fullmatch(name) for name in self.names)

    @classmethod
    def of(cls, config: BertConfig) -> "TagScheme":
        """Return the scheme of a model's labels, one for each of its logits."""
        return cls([config.label_name(number) for number in range(config.num_labels)])

    def stretches(self, labels: Sequence[int]) -> list[Stretch]:
        """Join a sequence of label numbers into stretches.

        A continuing label (I-, E- or plain) joins the preceding stretch if that is still open and
        of the same kind. Otherwise it starts a new one, so that nothing the model marked is lost.
        """
        found: list[Stretch] = []
        kind, start, is_open = "", 0, False
        for at, label in enumerate(labels):
            tag = self.tags[label]
            joins = is_open and tag.kind == kind and tag.role in ("inside", "end", "plain")
            if not joins:
                if kind:
                    found.append(Stretch(kind, start, at))
                kind, start = tag.kind, at
            is_open = tag.role in ("begin", "inside", "plain")
        if kind:
            found.append(Stretch(kind, start, len(labels)))
        return found

    def faults(self, labels: Sequence[int]) -> list[Fault]:
        """Find labels that break the rules of the scheme; in IOB1, IO and plain none can."""
        if self.name not in ("BIO", "BIOES"):
            return []
        found: list[tuple[int, Break]] = []
        for each in self.stretches(labels):
            if self.tags[labels[each.start]].role in ("inside", "end"):
                found.append((each.start, "not opened"))
            last = each.stop - 1
            if self.name == "BIOES" and self.tags[labels[last]].role in ("begin", "inside"):
                found.append((last, "not closed"))
        names = ["", *(self.tags[label].name for label in labels)]
        return [Fault(at, why, names[at + 1], names[at]) for at, why in found]


def _recognise(tags: Sequence[Tag]) -> Scheme:
    roles = {tag.role for tag in tags}
    begun = {tag.kind for tag in tags if tag.role == "begin"}
    if begun and roles & {"end", "single"}:
        return "BIOES"
    inside = {tag.kind for tag in tags if tag.role == "inside"}
    if not begun | inside:
        return "plain"
    if inside <= begun:
        return "BIO"
    return "IOB1" if begun else "IO"
