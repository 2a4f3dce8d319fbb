"""Solutions of sheet 1."""


# %% blank longest_match
def longest_match(word: str, vocabulary: set[str]) -> list[str]:
    """Return the pieces of a lower-case word without spaces; ["[UNK]"] if it cannot be cut."""
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if prefix + word[start:end] in vocabulary), None)
        if end is None:
            return ["[UNK]"]
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


# %% blank trace
def trace(word: str, vocabulary: set[str]) -> list[tuple[str, bool]]:
    """Return each piece that is looked up, and whether it is found; it ends where nothing fits."""
    tried, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            tried.append((piece, piece in vocabulary))
            if tried[-1][1]:
                break
        if not tried[-1][1]:
            return tried
        start = end
    return tried


# %% blank offsets
def offsets(word: str, pieces: list[str]) -> list[tuple[int, int]]:
    """Return where each piece begins and ends in the word; [UNK] stands for all of it."""
    found, start = [], 0
    for piece in pieces:
        size = len(word) if piece == "[UNK]" else len(piece.removeprefix("##"))
        found.append((start, start + size))
        start += size
    return found


# %% blank fertility
def fertility(texts: list[str], tokenizer: object) -> float:
    """Return the pieces of a word on average, over all words of all texts together."""
    pieces = sum(len(tokenizer.tokenize(text)) for text in texts)
    return pieces / sum(len(text.split()) for text in texts)
