"""Words to pieces."""

from tokenizers.models import WordPiece

from bert_core.text.tokenizer import WordpieceTokenizer

VOCAB = {
    piece: number
    for number, piece in enumerate(
        ["[UNK]", "un", "##aff", "##able", "##a", "play", "##ing", "a", "##b", "##bb", "日", "##s"]
    )
}


def test_blanks_of_all_kinds_separate_words_and_nothing_else_does() -> None:
    tokens = WordpieceTokenizer(VOCAB).tokenize("  un\tplay\u3000a\x85a\u2028日\n")
    assert tokens == ["un", "play", "a", "a", "日"]
    assert WordpieceTokenizer(VOCAB).tokenize("un,play") == ["[UNK]"]
    assert WordpieceTokenizer(VOCAB).tokenize("") == []


def test_a_word_of_more_than_the_limit_is_unknown() -> None:
    tokenizer = WordpieceTokenizer(VOCAB)
    assert tokenizer.tokenize("a" + "b" * 99) == ["a", *["##bb"] * 49, "##b"]
    assert tokenizer.tokenize("a" + "b" * 100) == ["[UNK]"]
    assert WordpieceTokenizer(VOCAB, max_input_chars_per_word=3).tokenize("play a") == [
        *("[UNK]", "a")
    ]


def test_pieces_equal_the_reference() -> None:
    rust = WordPiece(VOCAB, unk_token="[UNK]", max_input_chars_per_word=100)
    ours = WordpieceTokenizer(VOCAB)
    words = "unaffable abbbbb abbb playingx unx x ##ing unaffableplaying 日s ##a b abs unun"
    for word in words.split():
        assert ours.tokenize(word) == [token.value for token in rust.tokenize(word)]


def test_the_longest_candidate_is_looked_up_first() -> None:
    tried = WordpieceTokenizer(VOCAB).lookups("uns")
    assert [(each.piece, each.found) for each in tried] == [
        ("uns", False),
        ("un", True),
        ("##s", True),
    ]
    assert WordpieceTokenizer(VOCAB).lookups("a" * 101) == []
