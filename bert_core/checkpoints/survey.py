"""What a folder holds for each class of model, found out without loading it."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bert_core.checkpoints.formats.weights import has_weights, open_weights, weight_files
from bert_core.checkpoints.keys import Found, by_bare_name, has_encoder
from bert_core.checkpoints.loading import head_folder
from bert_core.checkpoints.matching import check_layers, check_memory, match
from bert_core.checkpoints.ownership import classifier_class, without_foreign_head
from bert_core.checkpoints.report import LoadReport
from bert_core.checkpoints.settings import read_config
from bert_core.checkpoints.sharing import with_counted_labels
from bert_core.checkpoints.skeleton import without_memory
from bert_core.config import BertConfig

if TYPE_CHECKING:
    from bert_core.model.bert import BertPreTrainedModel


@dataclass(frozen=True, slots=True)
class ClassSurvey:
    """What a folder holds for one class.

    Attributes:
        report: what loading the class would report; `mismatched` is filled in, where loading
            would refuse.
        config: the configuration the class would have.
        own_encoder: encoder tensors that this class has for itself; () where it reads with the
            encoder of the root.
        parameters: numbers of the whole model, tied ones counted once.
    """

    report: LoadReport
    config: BertConfig
    own_encoder: tuple[str, ...]
    parameters: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What a folder holds.

    Attributes:
        config: the root's configuration.
        classes: class name -> what there is for it.
        has_classifier: whether the root holds a `classifier`.
        classifier_of: the class that it belongs to; None where nothing tells.
        file_bytes: size of all weight files, those of heads included.
    """

    config: BertConfig
    classes: Mapping[str, ClassSurvey]
    has_classifier: bool
    classifier_of: str | None
    file_bytes: int


def survey(folder: Path, classes: Iterable[type["BertPreTrainedModel"]]) -> Survey:
    """Compare the names and shapes in a folder with what each class needs; nothing is loaded.

    Args:
        folder: a local folder.
        classes: the classes to ask for.

    Raises:
        BertError: the folder is no model at all, or its files are damaged. A head that cannot
            be loaded is reported in `ClassSurvey.report` instead.
    """
    config = read_config(folder, {})
    with ExitStack() as stack:
        root, _ = by_bare_name(stack.enter_context(open_weights(folder)))
        check_layers(config.num_hidden_layers, root, folder.name)
        found = {cls.__name__: _survey_class(cls, folder, config, root) for cls in classes}
    heads = folder / "heads"
    folders = [folder, *sorted(heads.iterdir())] if heads.is_dir() else [folder]
    files = [path for each in folders if each.is_dir() for path in weight_files(each)]
    return Survey(
        config=config,
        classes=found,
        has_classifier="classifier.weight" in root,
        classifier_of=classifier_class(config, root),
        file_bytes=sum(path.stat().st_size for path in files),
    )


def _survey_class(
    cls: type["BertPreTrainedModel"], folder: Path, config: BertConfig, root: dict[str, Found]
) -> ClassSurvey:
    """Put root and head of one class together as loading does, and compare."""
    head = head_folder(folder, cls)
    root = without_foreign_head(cls, config, root)
    with ExitStack() as stack:
        own: dict[str, Found] = {}
        if head is not None and has_weights(head):
            own, _ = by_bare_name(stack.enter_context(open_weights(head)))
        found = root | own
        ours = with_counted_labels(read_config(head, {}) if head else config, found)
        with without_memory():
            model = cls(ours)
        plan = match(model, found, ignore_mismatched_sizes=True)
        check_memory(model, plan)
    own_encoder = tuple(found[name].file_name for name in own if has_encoder([name]))
    report = LoadReport(plan.missing, plan.unexpected, plan.mismatched, folder.name)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return ClassSurvey(report, ours, own_encoder, parameters)
