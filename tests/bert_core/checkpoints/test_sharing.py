"""Several classes on one encoder, whose classifier it is, and the survey that loads nothing."""

import pytest
import torch

from bert_core.checkpoints.loading import load_sharing
from bert_core.checkpoints.ownership import classifier_class
from bert_core.checkpoints.plan import survey
from bert_core.errors import CheckpointError, ConfigError, MissingFileError
from bert_core.model.bert import BertModel
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.kinds import KINDS

CLASSES = [kind.cls for kind in KINDS.values()]
IDS = torch.tensor([[1, 5, 98, 0, 3]])
TAGS = {0: "O", 1: "B-PER", 2: "I-PER"}


@pytest.fixture
def bundle(make_config, write_folder):
    """A root, a tagger that adds only its head, and an answerer that moved two tensors."""
    torch.manual_seed(0)
    root = BertForPreTraining(make_config()).eval()
    folder = write_folder(root.config, root.state_dict())
    (folder / "heads").mkdir()
    tagger = {"classifier.weight": torch.rand(3, 32), "classifier.bias": torch.rand(3)}
    config = make_config(id2label=TAGS)
    write_folder(config, tagger, name="model/heads/BertForTokenClassification")
    answerer = {
        "qa_outputs.weight": torch.rand(2, 32),
        "qa_outputs.bias": torch.rand(2),
        "bert.encoder.layer.1.attention.self.key.weight": torch.rand(32, 32),
        "bert.encoder.layer.0.output.dense.bias": torch.rand(32),
    }
    write_folder(make_config(), answerer, name="model/heads/BertForQuestionAnswering")
    return folder


def encoder(model):
    return dict(model.encoder_model.named_parameters())


@pytest.mark.parametrize("cls", CLASSES)
def test_a_shared_class_gives_the_numbers_of_one_loaded_alone_on_the_base_s_encoder(cls, bundle):
    base = BertForPreTraining.from_pretrained(bundle)
    before = {name: value.clone() for name, value in base.state_dict().items()}
    scores = base(IDS)[0]
    ours, alone = load_sharing(cls, base, bundle), cls.from_pretrained(bundle)
    assert ours.load_report.missing == alone.load_report.missing
    assert ours.load_report.unexpected == alone.load_report.unexpected
    assert not ours.training
    fresh, theirs = set(ours.load_report.missing), alone.state_dict()
    for name, value in ours.state_dict().items():
        assert torch.isfinite(value).all()
        assert name in fresh or torch.equal(value, theirs[name]), name
    theirs = encoder(base)
    own = {name for name, each in encoder(ours).items() if each is not theirs[name]}
    moved = {"encoder.layer.0.output.dense.bias", "encoder.layer.1.attention.self.key.weight"}
    assert own == (moved if cls is BertForQuestionAnswering else set())
    assert all(torch.equal(value, before[name]) for name, value in base.state_dict().items())
    assert torch.equal(base(IDS)[0], scores)


def fine_tuned(cls, make_config, write_folder, *, told=True, **changes):
    torch.manual_seed(1)
    model = cls(make_config(**changes)).eval()
    values = model.config.to_dict()
    if told:
        values["architectures"] = [cls.__name__]
    return model, write_folder(values, model.state_dict())


@pytest.mark.parametrize(
    ("cls", "changes"),
    [
        (BertForTokenClassification, {"id2label": TAGS}),
        (BertForSequenceClassification, {"id2label": {0: "bad", 1: "so-so", 2: "good"}}),
        (BertForSequenceClassification, {}),
        (BertForMultipleChoice, {}),
        (BertForQuestionAnswering, {}),
    ],
)
def test_a_fine_tuned_checkpoint_is_its_own_class_and_no_other(
    cls, changes, make_config, write_folder
):
    model, folder = fine_tuned(cls, make_config, write_folder, **changes)
    base = BertForPreTraining.from_pretrained(folder)
    for each in CLASSES:
        found = load_sharing(each, base, folder)
        heads = [n for n in found.load_report.missing if n.startswith(("classifier", "qa_"))]
        if each is cls:
            assert found.load_report.missing == ()
            assert found.config.id2label == model.config.id2label
            assert all(torch.equal(v, model.state_dict()[k]) for k, v in found.state_dict().items())
        elif hasattr(found, "classifier") or hasattr(found, "qa_outputs"):
            assert len(heads) == 2, each.__name__


POOLED = {"classifier.weight", "pooler.dense.weight"}


@pytest.mark.parametrize(
    ("changes", "names", "owner"),
    [
        ({"architectures": ["BertForTokenClassification"]}, POOLED, "BertForTokenClassification"),
        ({"architectures": ["BertForPreTraining"]}, POOLED, ""),
        ({"architectures": "BertForTokenClassification"}, POOLED, ""),
        ({"architectures": [7]}, POOLED, ""),
        ({"problem_type": "regression"}, POOLED, "BertForSequenceClassification"),
        ({"id2label": TAGS}, POOLED, "BertForTokenClassification"),
        ({"id2label": {0: "Other", 1: "per_b", 2: "per_i"}}, POOLED, "BertForTokenClassification"),
        ({"id2label": {0: "A-B", 1: "C-D"}}, POOLED, ""),
        ({"id2label": {0: "Group A", 1: "Group B"}}, POOLED, ""),
        ({"id2label": {0: "b-side", 1: "a-side"}}, POOLED, ""),
        ({}, {"classifier.weight"}, "BertForTokenClassification"),
        ({}, POOLED, ""),
        ({"architectures": ["BertForTokenClassification"]}, {"pooler.dense.weight"}, None),
    ],
)
def test_a_classifier_belongs_to_one_class_or_to_none(changes, names, owner, make_config):
    assert classifier_class(make_config(**changes), names) == owner


def test_the_survey_says_what_loading_would_report(bundle):
    found = survey(bundle, CLASSES)
    base = BertForPreTraining.from_pretrained(bundle)
    for cls in CLASSES:
        report = load_sharing(cls, base, bundle).load_report
        ours = found.classes[cls.__name__]
        assert ours.report.missing == report.missing
        assert ours.report.unexpected == report.unexpected
        assert ours.report.mismatched == ()
        loaded = load_sharing(cls, base, bundle)
        assert ours.parameters == sum(each.numel() for each in loaded.parameters())
    assert found.classes["BertForTokenClassification"].model.config.id2label == TAGS
    assert not found.classes["BertForTokenClassification"].own_encoder
    assert found.classes["BertForTokenClassification"].own == {
        "classifier.weight",
        "classifier.bias",
    }
    assert found.classes["BertForQuestionAnswering"].own_encoder
    assert found.classifier_of is None
    assert found.file_bytes == sum(
        path.stat().st_size for path in bundle.rglob("model.safetensors")
    )


def test_the_survey_refuses_what_is_no_model(tiny, write_folder):
    with pytest.raises(MissingFileError):
        survey(write_folder(tiny.config, name="bare"), [BertModel])
    with pytest.raises(ConfigError, match="gpt2"):
        survey(write_folder({**tiny.config.to_dict(), "model_type": "gpt2"}), [BertModel])
    taller = {**tiny.config.to_dict(), "num_hidden_layers": 5}
    with pytest.raises(CheckpointError, match="5 layers"):
        survey(write_folder(taller, tiny.state_dict(), name="taller"), [BertModel])
