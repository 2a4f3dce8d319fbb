"""The temperature of a model's head, read from its configuration."""

from app.models import Engine
from app.results import Calibration
from bert_core.config import TEMPERATURES_FITTED_ON
from bert_core.model.bert import BertPreTrainedModel

_LONGEST = 200  # characters of that; a configuration is written by strangers


def calibration(engine: Engine, cls: type[BertPreTrainedModel], name: str = "") -> Calibration:
    """Return by what the logits of a class are divided before the softmax, and who says so.

    Args:
        engine: the model.
        cls: the class whose logits are shown.
        name: of the temperature, where the class has several (`BertConfig.temperature`).
    """
    config = engine.model(cls).config
    name = config.temperature_key(name or cls.__name__)
    told = config.extra.get(TEMPERATURES_FITTED_ON)
    fitted_on = told.get(name) if isinstance(told, dict) else None
    return Calibration(
        temperature=config.temperature(name),
        named=name in config.temperatures,
        fitted_on=fitted_on[:_LONGEST] if isinstance(fitted_on, str) else "",
    )
