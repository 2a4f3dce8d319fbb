"""# 1. The longest match, and its trace

BERT cuts a word into pieces of its vocabulary: the longest piece that fits at the beginning, then
the longest that goes on (written with `##`), and so on. If at some place nothing fits, the whole
word becomes `[UNK]`. Page: *Tokenizer*. Reading: Wu et al. 2016, section 4.1; Devlin et al. 2019,
section 3.

Write the functions; the cell after each checks it. Do not use `bert_core` for the answers.
"""

# %%
from bert_core import BertTokenizer

tokenizer = BertTokenizer.from_pretrained("explorer-mini-uncased")
vocabulary = set(tokenizer.vocab)
small = {"un", "unhappy", "##happy", "##hap", "##p", "##iness", "##in", "a", "##y", "h", "[UNK]"}


# %% blank longest_match 3
def longest_match(word: str, vocabulary: set[str]) -> list[str]:
    """Return the pieces of a lower-case word without spaces; ["[UNK]"] if it cannot be cut."""
    raise NotImplementedError


# %% check longest_match
assert longest_match("unhappy", small) == ["unhappy"], (
    "“unhappy” is on the list. Begin with the longest candidate, then take a letter away each time."
)
found = longest_match("unhappiness", small)
assert found != ["[UNK]"] and all(each.startswith("##") for each in found[1:]), (
    "Pieces that go on have ## before them on the list: look them up, and return them, like that."
)
assert found == ["un", "##hap", "##p", "##iness"], (
    f"“unhappiness” became {found}; take the longest piece each time."
)
assert longest_match("unx", small) == ["[UNK]"], (
    "Nothing fits at “x”. Then the whole word is unknown, also the pieces before it."
)
for word in ("unquestionably", "witner", "tokenization", "ελλάδα", "x", "😀"):
    pieces = tokenizer.wordpiece_tokenizer.tokenize(word)
    assert longest_match(word, vocabulary) == pieces, f"“{word}” should become {pieces}."

# %% [markdown]
# A trace lists every piece that was looked up, in order, and whether it was found.


# %% blank trace 3
def trace(word: str, vocabulary: set[str]) -> list[tuple[str, bool]]:
    """Return each piece that is looked up, and whether it is found; it ends where nothing fits."""
    raise NotImplementedError


# %% check trace
assert trace("ay", small) == [("ay", False), ("a", True), ("##y", True)], (
    "“ay” is looked up first, then “a”; after a piece is found, the search goes on behind it."
)
found = trace("unx", small)
assert ("##x", False) in found, "What is not found belongs to the trace, too: “##x”, the last one."
assert found[-1] == ("##x", False), "Where not even one letter fits, the search ends."
for word in ("unhappiness", "witner", "playfulness"):
    wanted = [(each.piece, each.found) for each in tokenizer.wordpiece_tokenizer.lookups(word)]
    found = trace(word, vocabulary)
    assert len(found) == len(wanted), f"“{word}” takes {len(wanted)} look-ups; found {len(found)}."
    assert found == wanted, f"The look-ups of “{word}” are in another order."


# %% blank offsets 2
def offsets(word: str, pieces: list[str]) -> list[tuple[int, int]]:
    """Return where each piece begins and ends in the word; [UNK] stands for all of it."""
    raise NotImplementedError


# %% check offsets
assert offsets("unhappiness", ["un", "##happiness"])[1] != (2, 13), (
    "The sign ## is no part of the word: leave it out."
)
assert offsets("abcd", ["a", "##bc", "##d"]) == [(0, 1), (1, 3), (3, 4)], (
    "Each piece begins where the one before it ends; the end is not included."
)
assert offsets("unx", ["[UNK]"]) == [(0, 3)], "[UNK] stands for the whole word, however long it is."


# %% blank fertility 2
def fertility(texts: list[str], tokenizer: BertTokenizer) -> float:
    """Return the pieces of a word on average, over all words of all texts together.

    Words are what `split()` gives; `tokenizer.tokenize(text)` gives pieces.
    """
    raise NotImplementedError


# %% check fertility
texts = ["a a a a a a", "unhappiness"]
found = fertility(texts, tokenizer)
assert abs(found - 2.5) > 1e-6, "That is the mean of two texts. Count all pieces, then all words."
assert found >= 1, "Pieces are divided by words, not words by pieces."
assert abs(found - 10 / 7) < 1e-6, f"Ten pieces of seven words are {10 / 7:.3f}; found {found:.3f}."
