"""What is fitted to a model on many texts: mean activations, and affine maps to the last layer.

The means replace parts that are switched off ("mean" ablation); the maps are the affine lens. Both
come from one run over `fixed_texts()`. The maps are also fitted to copies in which many tokens are
replaced by [MASK], whose vectors a lens is asked about. The means leave out [MASK] and the added
special tokens: in trained models, single dimensions of these have values of hundreds ("massive
activations", Sun et al. 2024), and a mean with them is like no token at all.

They are stored beside the weights in `fitted.safetensors`, with the digest of the encoder. For any
other model they are fitted on first use and kept in memory for the last `_KEPT`, by that digest.
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
from typing import Annotated

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor
from torch.nn import functional as F

from bert_core.analysis.forward import Progress
from bert_core.analysis.head_statistics import Text, encoded, fixed_texts
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.compat import times_written
from bert_core.errors import CheckpointError, InputError
from bert_core.model.bert import BertModel, encoder_of
from bert_core.model.checks import known_types
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.model.sites import Site
from bert_core.small_files import read_small, replacing
from bert_core.text.batches import TextTokenizer
from bert_core.text.family import load_tokenizer

NAME = "fitted.safetensors"
SUBLAYERS = ("head", "attention", "feed_forward")
_DIGEST = "encoder_sha256"
_LARGEST = 256 * 1024 * 1024  # bytes; of BERT large, 51 million
_KEPT = 4
_COPIES = 4
_MASKED = 0.4
_RIDGE = 1e-2
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Means and maps of one encoder."""

    maps: Annotated[
        Tensor,
        "(L, D + 1, D); `[h_l, 1] @ maps[l]` estimates the last hidden state from that of layer l, "
        "the embeddings being layer 0",
    ]
    means: Annotated[dict[Site, Tensor], "(site, layer) -> (H * K,) or (D,)"]


_lock = threading.Lock()
_cache: OrderedDict[tuple[str, torch.device, torch.dtype], Fitted] = OrderedDict()
_tokenizers: "weakref.WeakKeyDictionary[BertModel, TextTokenizer]" = weakref.WeakKeyDictionary()


def fitted(
    model: BertPreTrainedModel,
    tokenizer: TextTokenizer | None = None,
    *,
    progress: Progress | None = None,
) -> Fitted:
    """Return the means and maps of a model: kept, read from its folder, or fitted now.

    Args:
        tokenizer: for fitting; None means the last one that was named for this model, or the one
            in the folder it was loaded from.

    Raises:
        InputError: they must be fitted, and there is no tokenizer.
    """
    # Kept tensors must be usable everywhere: those made in inference mode refuse gradients.
    with torch.inference_mode(False):
        with _lock:
            if tokenizer is not None:
                _tokenizers[model.encoder_model] = tokenizer
            key = (encoder_digest(model), model.device, model.dtype)
            found = _cache.get(key) or _read(model, key[0])
        if found is None:
            named = _tokenizers.get(model.encoder_model)
            found = fit(model, named or _tokenizer_of(model), progress=progress)
        with _lock:
            _cache[key] = found
            _cache.move_to_end(key)
            while len(_cache) > _KEPT:
                _cache.popitem(last=False)
    return found


@torch.no_grad()
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
        texts: texts, or pairs of texts as tuples; None means `fixed_texts()`.
    """
    encoder = encoder_of(model)
    size, layers = model.config.hidden_size, model.config.num_hidden_layers
    squares = torch.zeros(layers, size + 1, size + 1, dtype=torch.float64, device=model.device)
    products = squares[..., :-1].clone()
    sums: dict[Site, Tensor] = {}
    rows = _rows(model, tokenizer, fixed_texts() if texts is None else texts)
    tokens, done, averaged = sum(len(ids) for ids, _, _ in rows), 0, 0
    for _, group in groupby(rows, key=lambda row: len(row[0])):  # no padding
        ids, types, counted = (
            torch.tensor(each, device=model.device) for each in zip(*group, strict=True)
        )
        at: dict[Site, Tensor] = {}
        types = known_types(model.config, types)
        run = encoder.encode(ids, types, hidden_states=True, edit=at.setdefault)
        for site, activation in at.items():
            if site[0] in SUBLAYERS:
                sums[site] = sums.get(site, 0) + activation[counted].double().sum(0)
        *before, last = (state.flatten(0, 1).double() for state in run.hidden_states or ())
        for layer, states in enumerate(before):
            inputs = F.pad(states, (0, 1), value=1.0)  # (B * T, D + 1)
            squares[layer] += inputs.T @ inputs
            products[layer] += inputs.T @ last
        done += ids.numel()
        averaged += int(counted.sum())
        if progress is not None:
            progress(done, tokens)
    penalty = _RIDGE * tokens * torch.eye(size + 1).to(squares)
    penalty[-1, -1] = 0  # the constant
    maps = torch.cholesky_solve(products, torch.linalg.cholesky(squares + penalty))
    means = {site: (total / averaged).to(model.dtype) for site, total in sums.items()}
    return Fitted(maps.to(model.dtype), means)


def _rows(
    model: BertPreTrainedModel, tokenizer: TextTokenizer, texts: Sequence[Text]
) -> list[tuple[list[int], list[int], list[bool]]]:
    """Return ids, token types and what counts for the means; texts of equal length together."""
    chance = random.Random(_SEED)
    rows = []
    for text in texts:
        encoding = encoded(model, tokenizer, text)
        own = [not added for added in encoding.special_tokens_mask]
        rows.append((encoding.input_ids, encoding.token_type_ids, own))
        for _ in range(_COPIES - 1):
            ids = [
                tokenizer.mask_token_id if word and chance.random() < _MASKED else id_
                for id_, word in zip(encoding.input_ids, own, strict=True)
            ]
            rows.append((ids, encoding.token_type_ids, [False] * len(ids)))
    return sorted(rows, key=lambda row: len(row[0]))


_digests: "weakref.WeakKeyDictionary[BertModel, tuple[object, str]]" = weakref.WeakKeyDictionary()


def encoder_digest(model: BertPreTrainedModel) -> str:
    """Return the SHA-256 of the encoder without its pooler, as 64 hexadecimal digits.

    Hashing is repeated only if a parameter was replaced or changed in place since.
    """
    encoder = encoder_of(model)
    state = tuple((each.data_ptr(), times_written(each)) for each in encoder.parameters())
    known = _digests.get(encoder)
    if known is None or known[0] != state:
        digest = hashlib.sha256()
        for name, parameter in encoder.named_parameters():
            if not name.startswith("pooler."):  # some classes have none
                digest.update(name.encode())
                digest.update(parameter.detach().float().cpu().contiguous().numpy().data)
        known = _digests[encoder] = (state, digest.hexdigest())
    return known[1]


def _folder_of(model: BertPreTrainedModel) -> Path | None:
    """Return the folder a model was loaded from, if it still is one; never downloads."""
    source = model.load_report.source if model.load_report else ""
    if source in bundled_names():
        return bundled_folder(source)
    return Path(source) if source and Path(source).is_dir() else None


def _tokenizer_of(model: BertPreTrainedModel) -> TextTokenizer:
    if (folder := _folder_of(model)) is not None:
        return load_tokenizer(folder)
    raise InputError(
        "Means and maps must be fitted to this model, and the folder with its tokenizer is not "
        "known. Call fitted(model, tokenizer) once; the result is kept."
    )


def write_fitted(folder: str | os.PathLike[str]) -> Fitted:
    """Fit the model in a folder and write the result there; maps in half precision.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    place = Path(folder)
    model = BertModel.from_pretrained(place, add_pooling_layer=False)
    found = fit(model, load_tokenizer(place))
    digest = torch.tensor(list(bytes.fromhex(encoder_digest(model))), dtype=torch.uint8)
    means = {f"{site}.{layer}": mean for (site, layer), mean in found.means.items()}
    with replacing(place / NAME) as draft:
        draft.write_bytes(save({_DIGEST: digest, "maps": found.maps.half().contiguous(), **means}))
    return found


def _read(model: BertPreTrainedModel, digest: str) -> Fitted | None:
    """Read the means and maps from the model's folder; None if it has none of this encoder."""
    folder = _folder_of(model)
    if folder is None or not (folder / NAME).is_file():
        return None
    layers, size = model.config.num_hidden_layers, model.config.hidden_size
    sites = [(site, layer) for layer in range(layers) for site in SUBLAYERS]
    try:
        stored = load(read_small(folder / NAME, _LARGEST))
        if bytes(stored[_DIGEST].tolist()).hex() != digest:
            return None
        found = {name: each.to(model.device, model.dtype) for name, each in stored.items()}
        read = Fitted(found["maps"], {at: found[f"{at[0]}.{at[1]}"] for at in sites})
    except (SafetensorError, KeyError, TypeError, ValueError):
        read = None
    if read is None or read.maps.shape != (layers, size + 1, size):
        raise CheckpointError(
            f"{NAME} is damaged, or of a model of another size. Write it again with `write_fitted`."
        )
    return read
