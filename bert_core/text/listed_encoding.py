"""`ListedEncoding`: an `Encoding` of a tokenizer that puts other tokens around its texts than BERT.

RoBERTa writes `<s> A </s></s> B </s>` where BERT writes `[CLS] A [SEP] B [SEP]`. A template says
where the texts go; every list of an encoding is the template with the texts' own values filled in.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from bert_core.text.byte_level import SPACE, as_text
from bert_core.text.encoding import Encoding, special_id
from bert_core.text.packed import Span

Value = TypeVar("Value")


class Slot(NamedTuple):
    """One place of a template: an added token, or a whole text.

    Attributes:
        token_id: the added token; -1 for a text.
        text: 0 for the first text, 1 for the second; None for an added token.
        token_type: the token type of all its tokens.
    """

    token_id: int
    text: int | None
    token_type: int


class Part(NamedTuple):
    """One text and its tokens, without added ones.

    Attributes:
        text: as typed.
        ids: its N ids.
        offsets: N (start, end) in the text.
        words: N indices of words.
    """

    text: str
    ids: list[int]
    offsets: list[Span]
    words: list[int]

    def between(self, start: int, stop: int) -> "Part":
        """Return the text with tokens `start` to `stop` (exclusive) alone."""
        return Part(
            self.text, self.ids[start:stop], self.offsets[start:stop], self.words[start:stop]
        )


class Entries(NamedTuple):
    """What an encoding needs from its vocabulary.

    Attributes:
        pieces: id -> token.
        specials: special token -> id.
        bytewise: whether each letter of a token encodes a byte.
    """

    pieces: Sequence[str] | dict[int, str]
    specials: dict[str, int]
    bytewise: bool = False


class ListedEncoding(Encoding):
    """One or two tokenized texts in a template of added tokens; see `Encoding`."""

    _template: Sequence[Slot]
    _parts: tuple[Part, ...]
    _entries: Entries

    def __init__(
        self,
        template: Sequence[Slot],
        parts: tuple[Part, ...],
        entries: Entries,
        truncated: int = 0,
    ) -> None:
        fields = self.__dict__
        fields["_template"] = template
        fields["_parts"] = parts
        fields["_entries"] = entries
        fields["truncated"] = truncated

    @property
    def text(self) -> str:
        """The original text."""
        return self._parts[0].text

    @property
    def text_pair(self) -> str | None:
        """The original second text, or None."""
        return self._parts[1].text if len(self._parts) > 1 else None

    @property
    def input_ids(self) -> list[int]:
        """T vocabulary ids."""
        if self._input_ids is None:
            ids = self._filled(lambda slot: slot.token_id, [part.ids for part in self._parts])
            self.__dict__["_input_ids"] = ids
            return ids
        return self._input_ids

    @property
    def tokens(self) -> list[str]:
        """T tokens as strings: the entries of the vocabulary."""
        if self._tokens is None:
            tokens = [self._entries.pieces[number] for number in self.input_ids]
            self.__dict__["_tokens"] = tokens
            return tokens
        return self._tokens

    @property
    def pieces(self) -> list[str]:
        """T tokens as people read them: bytes as letters, a space as "▁"."""
        return [as_text(token) for token in self.tokens] if self._entries.bytewise else self.tokens

    @property
    def offsets(self) -> list[Span]:
        """T pairs (start, end) in the text or in `text_pair`; (0, 0) for added tokens.

        The pieces of one character share its span. A piece that is only the mark of a space has an
        empty span. Where normalisation puts characters together, spans may overlap.
        """
        if self._offsets is None:
            offsets = self._filled(lambda _: (0, 0), [part.offsets for part in self._parts])
            self.__dict__["_offsets"] = offsets
            return offsets
        return self._offsets

    @property
    def spans(self) -> list[Span]:
        """T pairs as in `Encoding.spans`; that of the mark of a space is empty."""
        rows = zip(self.pieces, super().spans, strict=True)
        return [(start, start) if piece == SPACE else (start, end) for piece, (start, end) in rows]

    @property
    def word_ids(self) -> list[int | None]:
        """T word indices, counted from 0 in each text; None for added tokens."""
        return self._filled(lambda _: None, [[*part.words] for part in self._parts])

    @property
    def sequence_ids(self) -> list[int | None]:
        """T times 0 (text) or 1 (pair); None for added tokens."""
        return self._each(lambda slot: slot.text)

    @property
    def token_type_ids(self) -> list[int]:
        """T segment ids, as the model's configuration and its tokenizer say."""
        return self._each(lambda slot: slot.token_type)

    @property
    def special_tokens_mask(self) -> list[int]:
        """T flags: 1 for tokens added by the tokenizer, else 0."""
        return self._each(lambda slot: int(slot.text is None))

    def special_id(self, token: str) -> int:
        """Return the id of one of the vocabulary's special tokens, such as "<mask>".

        Raises:
            InputError: the vocabulary has no such special token.
        """
        return special_id(self._entries.specials, token)

    def __reduce__(self) -> tuple[Any, ...]:
        used = dict(zip(self.input_ids, self.tokens, strict=True))
        entries = self._entries._replace(pieces=used)
        fields = self._template, self._parts, entries, self.truncated
        return ListedEncoding, fields

    def _each(self, value: Callable[[Slot], Value]) -> list[Value]:
        """Return one value of each slot, repeated for each token of a text."""
        texts = {slot.text: slot for slot in self._template if slot.text is not None}
        own = [[value(texts[n])] * len(part.ids) for n, part in enumerate(self._parts)]
        return self._filled(value, own)

    def _filled(self, added: Callable[[Slot], Value], texts: Sequence[list[Value]]) -> list[Value]:
        """Return the template's values, with those of the texts in their places."""
        values: list[Value] = []
        for slot in self._template:
            values += [added(slot)] if slot.text is None else texts[slot.text]
        return values
