"""What is measured while a model trains; to be called in inference mode."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from app.features.lab.result import Floats, Guess
from app.features.lab.result_corpus import MASK, Corpus, Phenomenon, Probe
from bert_core import BertForPreTraining, BertTokenizer
from bert_core.pretraining import PretrainingBatches, joint_loss
from bert_core.text.batches import padded

_BEST = 3  # fillings shown for a gap
_ATTENDED = 16  # most pieces of the sentence whose attention is shown
_ROWS = 240  # most held-out sentences for the loss


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Sentences with one gap each, as tensors; a gap has a mask for each piece of its answer.

    Attributes:
        input_ids: (N, T).
        attention_mask: (N, T).
        positions: (N, K), padded with zeros.
        answers: (N, K), padded with -1.
    """

    input_ids: Tensor
    attention_mask: Tensor
    positions: Tensor
    answers: Tensor

    @classmethod
    def of(cls, tokenizer: BertTokenizer, probes: Sequence[Probe], length: int) -> "_Gaps":
        """Encode probes, leaving out those that are too long or whose answer is unknown."""
        rows: list[list[int]] = []
        answers: list[list[int]] = []
        for probe in probes:
            wanted = tokenizer.encode_ids([probe.answer], add_special_tokens=False)[0]
            masks = " ".join([MASK] * len(wanted))
            row = tokenizer.encode_ids([probe.text.replace(MASK, masks)])[0]
            if len(row) <= length and wanted and tokenizer.unk_token_id not in wanted:
                rows.append(row)
                answers.append(wanted)
        ids = padded(rows, tokenizer.pad_token_id)
        mask = tokenizer.mask_token_id
        places = [[at for at, id_ in enumerate(row) if id_ == mask] for row in rows]
        return cls(
            ids, padded([[1] * len(row) for row in rows], 0), padded(places, 0), padded(answers, -1)
        )

    def scores(self, model: BertForPreTraining) -> Tensor:
        """Score the vocabulary at every gap: (N, K, V)."""
        return model.scores_at(self.input_ids, self.positions, attention_mask=self.attention_mask)


class Measuring:
    """Everything that is measured on one corpus.

    Args:
        tokenizer: of the run.
        corpus: of the run.
        length: longest row of the model.

    Attributes:
        phenomena: those of the corpus that have any probe the vocabulary can spell.
        watched: the gaps that are shown.
        shown: the words whose vectors are shown.
        attended: pieces of the sentence whose attention is shown.
    """

    def __init__(self, tokenizer: BertTokenizer, corpus: Corpus, length: int) -> None:
        self._tokenizer = tokenizer
        made = [(each, _Gaps.of(tokenizer, each.probes, length)) for each in corpus.phenomena]
        self._gaps = [gaps for _, gaps in made if len(gaps.input_ids)]
        self.phenomena: tuple[Phenomenon, ...] = tuple(
            each for each, gaps in made if len(gaps.input_ids)
        )
        self.watched = corpus.watched
        self._watched = [_Gaps.of(tokenizer, [probe], length) for probe in corpus.watched]
        text = corpus.watched[min(1, len(corpus.watched) - 1)].sentence
        encoding = tokenizer.encode(text, max_length=_ATTENDED)
        self.attended: tuple[str, ...] = tuple(encoding.tokens)
        self._sentence = torch.tensor([encoding.input_ids])
        words = tokenizer.encode_ids(list(corpus.words), add_special_tokens=False)
        known = [
            (word, ids)
            for word, ids in zip(corpus.words, words, strict=True)
            if ids and tokenizer.unk_token_id not in ids
        ]
        self.shown: tuple[str, ...] = tuple(word for word, _ in known)
        self._words = [torch.tensor(ids) for _, ids in known]
        held_out = tokenizer.encode_ids(list(corpus.held_out), add_special_tokens=False)
        kept = [[each] for each in held_out if each]
        self._held_out = PretrainingBatches(
            kept,
            tokenizer.vocab,
            batch_size=min(_ROWS, len(kept)),
            length=length,
            next_sentence=False,
        )(0)[0]

    def accuracy(self, model: BertForPreTraining) -> tuple[float, ...]:
        """Return the share of gaps whose best filling is right, for each phenomenon."""
        found = []
        for gaps in self._gaps:
            right = (gaps.scores(model).argmax(-1) == gaps.answers) | (gaps.answers < 0)
            found.append(float(right.all(1).float().mean()))
        return tuple(found)

    def held_out(self, model: BertForPreTraining) -> float:
        """Return the loss of hidden words in held-out sentences."""
        return float(joint_loss(model, self._held_out).masked_lm)

    def guesses(self, model: BertForPreTraining) -> tuple[Guess, ...]:
        """Return the best fillings of each watched gap."""
        return tuple(
            best_fillings(gaps.scores(model)[0], self._tokenizer) if len(gaps.input_ids) else ()
            for gaps in self._watched
        )

    def attention(
        self, model: BertForPreTraining
    ) -> "np.ndarray[tuple[int, ...], np.dtype[np.float16]]":
        """Return the attention of all heads on one sentence, (L, H, T, T)."""
        outputs = model.run(self._sentence, hidden_states=False, logits=False)
        assert outputs.attentions is not None
        return torch.stack([layer[0] for layer in outputs.attentions]).half().numpy()

    def vectors(self, model: BertForPreTraining) -> Floats:
        """Return the word vectors of the shown words, (n, D)."""
        table = model.bert.embeddings.word_embeddings.weight
        rows = [table[ids].mean(0) for ids in self._words]
        found: Floats = torch.stack(rows).numpy() if rows else np.zeros((0, 2), np.float32)
        return found


def best_fillings(scores: Tensor, tokenizer: BertTokenizer, best: int = _BEST) -> Guess:
    """Return the most probable fillings of one gap.

    Args:
        scores: (K, V), of the masks of the gap; with several masks, each is filled on its own.
        tokenizer: of the model.
        best: number of fillings.
    """
    probabilities, ids = scores.softmax(-1).topk(min(best, scores.shape[-1]))
    rows = zip(ids.T.tolist(), probabilities.prod(0).tolist(), strict=True)
    return tuple((tokenizer.decode(row, skip_special_tokens=False), share) for row, share in rows)


def two_axes(vectors: Floats, before: Floats | None) -> Floats:
    """Project vectors on their two main axes, turned to be as near as possible to a picture before.

    Principal axes have no sign and may swap places; without turning, the picture would flip from
    one moment to the next. The turn is the orthogonal Procrustes solution.

    Args:
        vectors: (n, D).
        before: (n, 2), or None.
    """
    centred = vectors - vectors.mean(0) if len(vectors) else vectors
    flat: Floats = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    if before is not None and flat.shape == before.shape and len(flat):
        left, _, right = np.linalg.svd(flat.T @ before)
        flat = flat @ (left @ right)
    return flat.astype(np.float32)
