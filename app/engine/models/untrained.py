"""Twins of the bundled models that have learned nothing: the same sizes, random weights."""

from pathlib import Path

import torch

from app.engine.models.papers import Papers
from bert_core.checkpoints.fillable import LoadReport, M, without_memory
from bert_core.checkpoints.loading import share_parameters
from bert_core.checkpoints.plan import open_folder
from bert_core.model.heads import BertForPreTraining
from bert_core.model.pretrained import BertPreTrainedModel

_SEED = 0  # the same weights in every process
NO_PAPERS = Papers("", 0, (), None, verifiable=False, problems=())


def random_base(trained: BertPreTrainedModel) -> BertForPreTraining:
    """Return an encoder with the heads of pretraining, as it is before training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)
        made = BertForPreTraining(trained.config.without_temperatures())
    return made.to(trained.device).eval()


def random_head(cls: type[M], base: BertPreTrainedModel, folder: Path) -> M:
    """Build a class on a random base, with random values where the base has none.

    The folder of the trained model says how many labels the class has, and their names.
    """
    config = open_folder(folder, values=False).plan(cls).model.config
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)
        with without_memory():
            model = cls(config.without_temperatures())
        share_parameters(model, base)
    model.load_report = LoadReport()  # nothing is missing: all of it is meant to be random
    return model.eval()
