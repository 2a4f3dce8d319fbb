"""A small training that `torchrun` can start: FOLDER, the last STEP, the step that is BROKEN."""

import sys
from pathlib import Path

import torch

from bert_core.config import BertConfig
from bert_core.finetuning import Budget, Loss, NotFiniteError, Trainer, TrainerSettings
from bert_core.model.heads import BertForSequenceClassification

PARTS = 3  # an odd number: one process has more of them


def part(step: int, number: int) -> dict[str, torch.Tensor]:
    """Return some rows, in which the label follows from the first word."""
    torch.manual_seed(100 * step + number)
    ids = torch.randint(5, 60, (4 + number, 7))
    return {"input_ids": ids, "labels": (ids[:, 0] > 32).long(), "number": torch.tensor(number)}


def run(folder: Path, steps: int, broken: int) -> None:
    """Begin or resume the training; at one step, one loss is not finite."""
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size_or_config_json_file=60, hidden_size=32, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=64, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    settings = TrainerSettings(Budget(steps=50), learning_rate=2e-3, warmup_steps=5)

    def loss(model: BertForSequenceClassification, batch: dict[str, torch.Tensor]) -> Loss:
        found = model(batch["input_ids"], labels=batch["labels"])
        number = int(batch["number"])
        if trainer.steps_done == broken and number == PARTS - 1:
            found = found * float("nan")
        return Loss(found, {f"part {number}": found.detach()})

    trainer = Trainer(
        BertForSequenceClassification(config),
        lambda step, _: [part(step, number) for number in range(PARTS)],
        settings,
        loss=loss,
        log=folder / "log.jsonl",
    )
    if (folder / "state.pt").is_file():
        trainer.resume(folder / "state.pt")
    while trainer.steps_done < steps:
        try:
            trainer.step()
        except NotFiniteError:
            trainer.skip()
    if trainer.processes.first:
        trainer.save(folder / "state.pt")
        torch.save(trainer.model.state_dict(), folder / "weights.pt")
    trainer.processes.close()


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
