"""One text on its way through the whole model."""

from typing import Annotated

from app.features.xray.result import XrayResult
from app.fields import Field
from app.models import Engine


def xray(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3)],
    *,
    text_pair: Annotated[str, Field("Second text (optional)", lines=3)] = "",
) -> XrayResult:
    """Follow one text through the model, to the answer that is asked for.

    Args:
        engine: the model.
        text: the text.
        text_pair: a second text; "" for none.
    """
    return XrayResult(tuple(engine.tokenizer.encode(text, text_pair or None).tokens))
