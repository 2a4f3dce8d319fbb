"""Long texts: their windows run one at a time, and only so many of them."""

from app.engine.compute.visitor import check_windows
from app.engine.models.engine import TOGETHER, Engine
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.reading.running import Progress, Runner


def window_runner(
    engine: Engine,
    cls: type[BertPreTrainedModel],
    progress: Progress | None = None,
    *,
    texts: int = 0,
) -> Runner:
    """Return what runs a class on the windows of a text; after each, others may take their turn.

    Of many `texts`, a few windows run together, and so many windows are computed in any case.

    Raises:
        InputError: there are more windows than the site computes; raised when they are known.
    """

    def report(done: int, total: int) -> None:
        check_windows(total, least=texts)
        if progress is not None:
            progress(done, total)

    return Runner(
        lambda inputs: engine.run(cls, inputs),
        engine.tokenizer,
        engine.max_length,
        together=TOGETHER if texts else 1,
        progress=report,
    )
