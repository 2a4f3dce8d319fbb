"""What is fitted to a model on many texts: mean activations, and affine maps to the last layer.

The means replace parts that are switched off ("mean" ablation); the maps are the affine lens. Both
come from one run over `fixed_texts()`. The maps are also fitted to copies in which many tokens are
replaced by [MASK], whose vectors a lens is asked about. The means leave out [MASK] and the added
special tokens: in trained models, single dimensions of these have values of hundreds ("massive
activations", Sun et al. 2024), and a mean with them is like no token at all.

They are stored beside the weights in `fitted.safetensors`, with the digest of the encoder they
belong to. For any other model they are fitted on first use and kept in memory for the last `_KEPT`
models, by the same digest and the entries of the tokenizer.
"""

import hashlib
import os
import random
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import torch
from torch import Tensor

from bert_core.analysis.forward import Progress, Site, embed, run_layers, word_vectors
from bert_core.analysis.head_statistics import Text, fixed_texts
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.checkpoints.formats.safetensors_file import open_safetensors, write_safetensors
from bert_core.compat import times_written
from bert_core.errors import CheckpointError, InputError
from bert_core.model.bert import BertModel
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.small_files import replacing
from bert_core.text.batches import TextTokenizer
from bert_core.text.family import load_tokenizer

NAME = "fitted.safetensors"
SUBLAYERS = ("head", "attention", "feed_forward")
_DIGEST = "encoder_sha256"
_KEPT = 4
_COPIES = 4
_MASKED = 0.4
_RIDGE = 1e-2
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Means and maps of one encoder.

    Attributes:
        maps: (L, D + 1, D); `[h_l, 1] @ maps[l]` estimates the last hidden state from that of
            layer l, the embeddings being layer 0.
        means: (site, layer) -> mean activation (H * K,) or (D,), at the sites `SUBLAYERS`.
    """

    maps: Tensor
    means: dict[Site, Tensor]


_lock = threading.Lock()
_cache: OrderedDict[tuple[str, torch.device, torch.dtype, str], Fitted] = OrderedDict()


def fitted(
    model: BertPreTrainedModel,
    tokenizer: TextTokenizer | None = None,
    *,
    progress: Progress | None = None,
) -> Fitted:
    """Return the means and maps of a model: kept, read from its folder, or fitted now.

    Args:
        model: any of the eight classes.
        tokenizer: for fitting; None means what is kept with any, or else the one in the folder the
            model was loaded from.
        progress: called while fitting.

    Raises:
        InputError: they must be fitted, and there is no tokenizer.
    """
    digest = encoder_digest(model)
    key = (digest, model.device, model.dtype, _entries_digest(tokenizer))
    # Kept tensors must be usable everywhere: those made in inference mode refuse gradients.
    with _lock, torch.inference_mode(False):
        if tokenizer is None:
            key = next((kept for kept in reversed(_cache) if kept[:3] == key[:3]), key)
        found = _cache.pop(key, None) or _read(model, digest)
        if found is None:
            found = fit(model, tokenizer or _tokenizer_of(model), progress=progress)
        _cache[key] = found
        while len(_cache) > _KEPT:
            _cache.popitem(last=False)
    return found


def fit(
    model: BertPreTrainedModel,
    tokenizer: TextTokenizer,
    texts: Sequence[Text] | None = None,
    *,
    progress: Progress | None = None,
) -> Fitted:
    """Fit the means and maps of a model; the maps are least squares with a small ridge.

    A cheap form of the tuned lens of Belrose et al. 2023, "Eliciting Latent Predictions from
    Transformers with the Tuned Lens", whose maps are trained on the divergence of the predictions.

    Args:
        model: any of the eight classes.
        tokenizer: the model's tokenizer.
        texts: texts, or pairs of texts as tuples; None means `fixed_texts()`.
        progress: called with the tokens done and their number.
    """
    sums = _Sums(model)
    rows = _rows(model, tokenizer, fixed_texts() if texts is None else texts)
    done = 0
    with torch.no_grad():
        for length, group in groupby(rows, key=lambda row: len(row[0])):  # no padding
            ids, types, counted = (torch.tensor(each) for each in zip(*group, strict=True))
            sums.add(*(each.to(model.device) for each in (ids, types, counted)))
            done += len(ids) * length
            if progress is not None:
                progress(done, sum(len(row[0]) for row in rows))
    return sums.fitted()


def _rows(
    model: BertPreTrainedModel, tokenizer: TextTokenizer, texts: Sequence[Text]
) -> list[tuple[list[int], list[int], list[bool]]]:
    """Return ids, token types and what counts for the means; texts of equal length together."""
    chance = random.Random(_SEED)
    rows = []
    for text in texts:
        first, second = (text, None) if isinstance(text, str) else text
        encoding = tokenizer.encode(first, second, max_length=model.config.max_length)
        types = [min(each, model.config.type_vocab_size - 1) for each in encoding.token_type_ids]
        rows.append(
            (encoding.input_ids, types, [not added for added in encoding.special_tokens_mask])
        )
        for _ in range(_COPIES - 1):
            ids = [
                tokenizer.mask_token_id if not added and chance.random() < _MASKED else id_
                for id_, added in zip(encoding.input_ids, encoding.special_tokens_mask, strict=True)
            ]
            rows.append((ids, types, [False] * len(ids)))
    return sorted(rows, key=lambda row: len(row[0]))


class _Sums:
    """Sums over tokens, in double precision, from which means and maps are computed."""

    def __init__(self, model: BertPreTrainedModel) -> None:
        self._model = model
        self._rows, self._tokens = 0, 0  # of the maps, of the means
        self._sums: dict[Site, Tensor] = {}
        size, layers = model.config.hidden_size + 1, model.config.num_hidden_layers
        self._squares = torch.zeros(layers, size, size, dtype=torch.float64, device=model.device)
        self._products = self._squares[..., :-1].clone()

    def add(self, ids: Tensor, types: Tensor, counted: Tensor) -> None:
        """Add texts (B, T); the tokens `counted` (B, T) enter the means."""

        def summed(site: Site, activation: Tensor) -> Tensor:
            if site[0] in SUBLAYERS:
                self._sums[site] = self._sums.get(site, 0) + activation[counted].double().sum(0)
            return activation

        hidden = embed(self._model, word_vectors(self._model, ids), ids, types)
        found = run_layers(self._model, hidden, hidden_states=True, edit=summed)
        *before, last = [state.flatten(0, 1).double() for state in found.hidden_states or ()]
        for layer, states in enumerate(before):
            inputs = torch.cat([states, states.new_ones(len(states), 1)], dim=1)  # (B * T, D + 1)
            self._squares[layer] += inputs.T @ inputs
            self._products[layer] += inputs.T @ last
        self._rows += ids.numel()
        self._tokens += int(counted.sum())

    def fitted(self) -> Fitted:
        """Solve for the maps, one layer at a time."""
        penalty = _RIDGE * self._rows * torch.eye(self._squares.shape[-1]).to(self._squares)
        penalty[-1, -1] = 0  # the constant
        factors = torch.linalg.cholesky(self._squares + penalty)
        maps = torch.cholesky_solve(self._products, factors)
        kind = self._model.dtype
        means = {site: (total / self._tokens).to(kind) for site, total in self._sums.items()}
        return Fitted(maps.to(kind), means)


# -- which model ----------------------------------------------------------------------------------


_digests: "weakref.WeakKeyDictionary[BertModel, tuple[object, str]]" = weakref.WeakKeyDictionary()


def encoder_digest(model: BertPreTrainedModel) -> str:
    """Return the SHA-256 of the encoder without its pooler, as 64 hexadecimal digits.

    Hashing is repeated only if a parameter was replaced or changed in place since.
    """
    encoder = model.encoder_model
    state = tuple((each.data_ptr(), times_written(each)) for each in encoder.parameters())
    known = _digests.get(encoder)
    if known is not None and known[0] == state:
        return known[1]
    digest = hashlib.sha256()
    for name, parameter in encoder.named_parameters():
        if name.startswith("pooler."):
            continue  # some classes have none
        digest.update(name.encode())
        digest.update(parameter.detach().float().cpu().contiguous().numpy().data)
    _digests[encoder] = (state, digest.hexdigest())
    return digest.hexdigest()


def _entries_digest(tokenizer: TextTokenizer | None) -> str:
    entries = "" if tokenizer is None else "\0".join(tokenizer.vocab)
    return hashlib.sha256(entries.encode(errors="surrogatepass")).hexdigest()


def _folder_of(model: BertPreTrainedModel) -> Path | None:
    """Return the folder a model was loaded from, if it still is one; never downloads."""
    source = model.load_report.source if model.load_report else ""
    if source in bundled_names():
        return bundled_folder(source)
    return Path(source) if source and Path(source).is_dir() else None


def _tokenizer_of(model: BertPreTrainedModel) -> TextTokenizer:
    folder = _folder_of(model)
    if folder is None:
        raise InputError(
            "Means and maps must be fitted to this model, and the folder with its tokenizer is "
            "not known. Call fitted(model, tokenizer) once; the result is kept."
        )
    return load_tokenizer(folder)


# -- the file -------------------------------------------------------------------------------------


def write_fitted(folder: str | os.PathLike[str]) -> Fitted:
    """Fit the model in a folder and write the result there; maps in half precision.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    place = Path(folder)
    model = BertModel.from_pretrained(place, add_pooling_layer=False)
    found = fit(model, load_tokenizer(place))
    tensors = {
        _DIGEST: torch.frombuffer(bytearray.fromhex(encoder_digest(model)), dtype=torch.uint8),
        "maps": found.maps.half(),
        **{f"{site}.{layer}": mean for (site, layer), mean in found.means.items()},
    }
    with replacing(place / NAME) as draft:
        write_safetensors(draft, tensors)
    return found


def _read(model: BertPreTrainedModel, digest: str) -> Fitted | None:
    """Read the means and maps from the model's folder; None if it has none for this encoder.

    Raises:
        CheckpointError: the file is damaged.
    """
    folder = _folder_of(model)
    if folder is None or not (folder / NAME).is_file():
        return None
    config = model.config
    layers, size = config.num_hidden_layers, config.hidden_size
    like = next(model.parameters())
    maps = like.new_empty(layers, size + 1, size)
    means = {
        (site, layer): like.new_empty(
            block.attention.output.dense.in_features if site == "head" else size
        )
        for layer, block in enumerate(model.encoder_model.encoder.blocks())
        for site in SUBLAYERS
    }
    wanted = {"maps": maps, **{f"{site}.{layer}": mean for (site, layer), mean in means.items()}}
    tensors = open_safetensors(folder / NAME)
    stored = tensors.pop(_DIGEST, torch.empty(0))
    if stored.shape == (32,) and bytes(stored.tolist()).hex() != digest:
        return None
    if {name: each.shape for name, each in tensors.items()} != {
        name: each.shape for name, each in wanted.items()
    }:
        raise CheckpointError(
            f"{NAME} does not contain the means and maps of a model of this size. Write it "
            "again with `write_fitted`."
        )
    for name, each in wanted.items():
        each.copy_(tensors[name])
    return Fitted(maps, means)
