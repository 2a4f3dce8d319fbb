"""The heads that the attention examples open."""

import tomllib
from typing import Any

import numpy as np

from app.engine.models import Engine
from app.settings import BUNDLED_MODEL
from tools.example_heads import FILE, choose_heads, strongest, weakest_link, with_heads

TEXT = FILE.read_text(encoding="utf-8")


def test_of_several_links_the_weakest_counts() -> None:
    attentions = np.zeros((2, 3, 4, 4))
    attentions[0, 1, 3, 0], attentions[0, 1, 3, 2] = 0.9, 0.1
    attentions[1, 2, 3, 0], attentions[1, 2, 3, 2] = 0.3, 0.4
    tokens = ["a", "b", "a", "c"]
    links = weakest_link(attentions, tokens, ["c → a", "c → a#2"])
    assert links.shape == (2, 3)
    assert (links[0, 1], links[1, 2], links.sum()) == (0.1, 0.3, 0.4)
    assert strongest(links) == (1, 2)
    assert strongest(weakest_link(attentions, tokens, ["c → a"])) == (0, 1)
    links[1, 2] = np.nan  # a head that was pruned
    assert strongest(links) == (0, 1)


def test_every_example_opens_the_head_chosen_for_it() -> None:
    engine = Engine(BUNDLED_MODEL)
    heads = choose_heads(engine, TEXT)
    opened = {row["label"]: (row["layer"], row["head"]) for row in rows(TEXT) if "wanted" in row}
    assert heads == opened, "Run `python -m tools.derive examples`."
    assert heads["The same guess"] == heads["A guess at “it”"]
    looking = {heads["Nearest noun"], heads["One step ahead"]}
    rest = {heads[label] for label in heads.keys() - {"Nearest noun", "One step ahead"}}
    assert len(looking) == 2 and not looking & rest

    other = with_heads(TEXT, dict.fromkeys(heads, (0, 11)))
    assert {row["head"] for row in rows(other) if "wanted" in row} == {11}
    assert with_heads(other, choose_heads(engine, other)) == TEXT


def rows(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(text)["example"]
    return found
