"""Distillation: a small model learns to answer as a larger one does.

Hinton, Vinyals and Dean 2015 train with the teacher's probabilities, softened by a temperature;
Sanh et al. 2019 (DistilBERT) start the student with every second layer of the teacher.
"""

import copy

import torch
from torch import Tensor
from torch.nn import functional as F

from bert_core.errors import InputError, count
from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining.losses import PretrainingBatch, PretrainingLoss, joint_loss


def soft_loss(scores: Tensor, wanted: Tensor, temperature: float = 1.0) -> Tensor:
    """Return how far a student's scores (N, V) are from those `wanted` by its teacher, a scalar.

    That is T² · KL(softmax(wanted / T) ‖ softmax(scores / T)), the mean over rows. The factor T²
    keeps the size of its gradients, which 1 / T² scales (Hinton et al. 2015, section 2). A larger
    T tells more of the answers that the teacher finds improbable.

    Raises:
        InputError: `temperature` is not above 0.

    >>> scores = torch.tensor([[1.0, 2.0]])
    >>> round(soft_loss(scores, torch.tensor([[2.0, 1.0]])).item(), 4), soft_loss(scores, scores)
    (0.4621, tensor(0.))
    """
    if not temperature > 0.0:
        raise InputError(f"temperature is {temperature}; give a number above 0.")
    log_found = F.log_softmax(scores / temperature, dim=-1)
    log_wanted = F.log_softmax(wanted / temperature, dim=-1)
    distance = F.kl_div(log_found, log_wanted, reduction="batchmean", log_target=True)
    return distance * temperature**2


def distilled_loss(
    student: BertForPreTraining,
    teacher: BertForPreTraining,
    batch: PretrainingBatch,
    *,
    temperature: float = 1.0,
    soft: float = 0.9,
) -> PretrainingLoss:
    """Return the loss of a student whose teacher reads the same batch.

    Hidden words count (1 - soft) times their loss and soft times `soft_loss`; next sentences are
    learned without the teacher, which has the same vocabulary and gets no gradients.

    Raises:
        InputError: a value is out of its range, or the vocabularies have different sizes.
    """
    sizes = student.config.vocab_size, teacher.config.vocab_size
    if sizes[0] != sizes[1]:
        raise InputError(
            f"The student has {sizes[0]:,} pieces, the teacher's {sizes[1]:,}; expected the same."
        )
    if not 0.0 <= soft <= 1.0:
        raise InputError(f"soft is {soft}; give a share from 0 to 1.")
    alone = joint_loss(student, batch)
    with torch.no_grad():
        wanted = joint_loss(teacher, batch).scores
    if alone.scores is None or wanted is None:
        return alone
    taught = soft_loss(alone.scores, wanted, temperature)
    mixed = (1.0 - soft) * alone.masked_lm + soft * taught
    return PretrainingLoss(mixed, alone.next_sentence, alone.scores)


def every_second_layer(teacher: BertForPreTraining) -> BertForPreTraining:
    """Return a copy of a model with its layers 0, 2, 4, …, from which a student can start.

    Raises:
        InputError: the teacher has an odd number of layers.
    """
    layers = teacher.config.num_hidden_layers
    if layers % 2:
        raise InputError(
            f"The teacher has {count(layers, 'layer')}; expected an even number, as a student has "
            "half of them."
        )
    config = teacher.config.without_temperatures()  # a copy
    config.num_hidden_layers = layers // 2
    if pruned := config.extra.get("pruned_heads"):
        config.extra["pruned_heads"] = {
            str(int(layer) // 2): heads for layer, heads in pruned.items() if int(layer) % 2 == 0
        }
    student = copy.deepcopy(teacher)
    student.set_config(config)
    encoder = student.bert.encoder
    encoder.layer = encoder.layer[::2]
    return student
