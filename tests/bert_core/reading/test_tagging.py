"""Labels read as stretches, against rules written down independently."""

import random
from collections.abc import Sequence

import pytest

from bert_core.reading.tagging import Fault, Stretch, TagScheme

BIO = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
BIOES = ["O", *(f"{mark}-{kind}" for kind in ("PER", "LOC") for mark in "BIES")]
BILOU = [name.replace("E-", "L-").replace("S-", "U-") for name in BIOES]
BMES = [name.replace("I-", "M-") for name in BIOES]
IOB1 = ["O", "I-PER", "I-LOC", "B-LOC"]
IO = ["O", "I-PER", "I-LOC"]
PLAIN = ["NOUN", "VERB", "PROPER-NOUN", "X"]
SETS = {"BIO": BIO, "BIOES": BIOES, "BILOU": BILOU, "BMES": BMES, "IOB1": IOB1, "IO": IO}


def reference(names: Sequence[str]) -> list[Stretch]:
    """Stretches by the rules of the CoNLL shared tasks' scorer: two questions at every gap."""
    same = {"L": "E", "U": "S", "M": "I"}
    marks = [("O", "") if name == "O" else (name[0], name[2:]) for name in names]
    marks = [("O", ""), *((same.get(mark, mark), kind) for mark, kind in marks), ("O", "")]
    found, begun = [], None
    for at in range(1, len(marks)):
        (before, old), (mark, kind) = marks[at - 1], marks[at]
        ends = before != "O" and (before in "ES" or mark in "BSO" or old != kind)
        begins = mark != "O" and (mark in "BS" or before in "ESO" or old != kind)
        if ends:
            assert begun is not None
            found.append(Stretch(old, begun, at - 1))
            begun = None
        if begins:
            begun = at - 1
    return found


@pytest.mark.parametrize("names", SETS.values(), ids=SETS.keys())
@pytest.mark.parametrize("seed", range(4))
def test_random_labels_are_read_as_the_shared_task_reads_them(names: list[str], seed: int) -> None:
    drawn = random.Random(seed)
    scheme = TagScheme(names)
    for _ in range(150):
        labels = [drawn.randrange(len(names)) for _ in range(drawn.randrange(12))]
        assert scheme.stretches(labels) == reference([names[label] for label in labels])


@pytest.mark.parametrize(
    ("names", "scheme", "kinds"),
    [
        (BIO, "BIO", ("LOC", "PER")),
        (list(reversed(BIO)), "BIO", ("LOC", "PER")),
        (["B_PER", "I_PER", "O"], "BIO", ("PER",)),
        (["O", "B-PER"], "BIO", ("PER",)),
        (BIOES, "BIOES", ("LOC", "PER")),
        (BILOU, "BIOES", ("LOC", "PER")),
        (BMES, "BIOES", ("LOC", "PER")),
        (IOB1, "IOB1", ("LOC", "PER")),
        (IO, "IO", ("LOC", "PER")),
        (PLAIN, "plain", ("NOUN", "PROPER-NOUN", "VERB", "X")),
        (["PER", "LOC", "O"], "plain", ("LOC", "PER")),
        (["O", "S-BAHN", "U-BAHN"], "plain", ("S-BAHN", "U-BAHN")),
        (["LABEL_0", "LABEL_1"], "plain", ("LABEL_0", "LABEL_1")),
        ([], "plain", ()),
    ],
)
def test_the_scheme_is_known_from_the_labels(
    names: list[str], scheme: str, kinds: tuple[str, ...]
) -> None:
    found = TagScheme(names)
    assert (found.name, found.kinds) == (scheme, kinds)
    assert found.nameless == (names[:1] == ["LABEL_0"])


@pytest.mark.parametrize("seed", range(4))
def test_in_bio_exactly_the_unopened_labels_are_faults(seed: int) -> None:
    drawn = random.Random(seed)
    scheme = TagScheme(BIO)
    for _ in range(100):
        labels = [drawn.randrange(5) for _ in range(drawn.randrange(10))]
        names = ["O", *(BIO[label] for label in labels)]
        expected = [
            Fault(at, "not opened", names[at + 1], names[at] if at else "")
            for at in range(len(labels))
            if names[at + 1][0] == "I" and names[at][2:] != names[at + 1][2:]
        ]
        assert scheme.faults(labels) == expected


@pytest.mark.parametrize(
    ("written", "faults"),
    [
        ("B-PER I-PER E-PER S-LOC O", []),
        ("B-PER O", [(0, "not closed")]),
        ("O B-PER", [(1, "not closed")]),
        ("E-PER", [(0, "not opened")]),
        ("S-PER I-PER", [(1, "not opened"), (1, "not closed")]),
        ("B-PER E-LOC", [(0, "not closed"), (1, "not opened")]),
        ("B-PER B-PER E-PER", [(0, "not closed")]),
    ],
)
def test_in_bioes_a_broken_promise_is_a_fault_too(
    written: str, faults: list[tuple[int, str]]
) -> None:
    scheme = TagScheme(BIOES)
    names = written.split()
    found = scheme.faults([BIOES.index(name) for name in names])
    assert [(fault.at, fault.why) for fault in found] == faults
    assert [fault.label for fault in found] == [names[at] for at, _ in faults]


@pytest.mark.parametrize("names", [IOB1, IO, PLAIN])
def test_schemes_without_such_rules_know_no_faults(names: list[str]) -> None:
    labels = [number for first in range(len(names)) for number in (first, 0)]
    assert TagScheme(names).faults(labels) == []
