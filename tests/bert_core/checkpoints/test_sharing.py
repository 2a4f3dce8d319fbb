"""Several classes on one encoder, whose classifier it is, and the survey that loads nothing."""

import json

import pytest
import torch
from torch import nn

from bert_core.checkpoints.loading import load_pretrained, load_sharing
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
CLASSIFIER = ("classifier.weight", "classifier.bias")
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


def test_half_precision_weights_are_shared_as_what_they_were_loaded_as(bundle):
    half = BertForPreTraining.from_pretrained(bundle, dtype="float16")
    model = load_sharing(BertForTokenClassification, half, bundle)
    assert {each.dtype for each in model.parameters()} == {torch.float16}


# -- checkpoints that were fine-tuned themselves ------------------------------------------------


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


def by_from_pretrained(cls, folder):
    return cls.from_pretrained(folder).load_report.missing


def by_sharing(cls, folder):
    base = BertForPreTraining.from_pretrained(folder)
    return load_sharing(cls, base, folder).load_report.missing


def by_survey(cls, folder):
    return survey(folder, [cls]).classes[cls.__name__].report.missing


HEADS = [BertForSequenceClassification, BertForTokenClassification, BertForMultipleChoice]


@pytest.mark.parametrize("missing_of", [by_from_pretrained, by_sharing, by_survey])
@pytest.mark.parametrize("owner", HEADS)
def test_every_path_leaves_the_classifier_to_the_class_it_belongs_to(
    owner, missing_of, make_config, write_folder
):
    # One label, so that names and shapes of all three heads agree.
    model = owner(make_config(num_labels=1))
    values = {**model.config.to_dict(), "architectures": [owner.__name__]}
    folder = write_folder(values, model.state_dict())
    for cls in HEADS:
        missing = [name for name in missing_of(cls, folder) if name.startswith("classifier.")]
        wanted = [] if cls is owner else [*CLASSIFIER]
        assert missing == wanted, cls.__name__


def test_a_class_of_one_s_own_is_judged_by_the_class_it_derives_from(make_config, tmp_path):
    class Tagger(BertForTokenClassification):
        pass

    Tagger(make_config(), 3).save_pretrained(tmp_path / "own")
    assert Tagger.from_pretrained(tmp_path / "own").load_report.missing == ()
    BertForSequenceClassification(make_config(), 3).save_pretrained(tmp_path / "texts")
    missing = Tagger.from_pretrained(tmp_path / "texts").load_report.missing
    assert missing == ("classifier.weight", "classifier.bias")


def test_a_caller_who_names_the_class_may_know_what_an_old_checkpoint_does_not_say(
    make_config, write_folder
):
    model = BertForSequenceClassification(make_config(), 3)
    folder = write_folder(make_config(num_labels=3), model.state_dict())
    for cls in (BertForSequenceClassification, BertForTokenClassification):
        assert by_from_pretrained(cls, folder) == ()
        assert by_sharing(cls, folder) == by_survey(cls, folder) != ()


def test_weights_that_a_caller_gives_are_of_the_class_that_the_caller_names(make_config, tmp_path):
    BertForSequenceClassification(make_config(), 3).save_pretrained(tmp_path)
    state = BertForTokenClassification(make_config(), 3).state_dict()
    tagger = BertForTokenClassification.from_pretrained(tmp_path, state_dict=state)
    assert tagger.load_report.missing == ()
    assert torch.equal(tagger.classifier.weight, state["classifier.weight"])


def test_labels_are_counted_where_the_config_does_not_say_how_many(make_config, write_folder):
    model, folder = fine_tuned(BertForTokenClassification, make_config, write_folder, num_labels=7)
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del values["num_labels"]
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    base = BertForPreTraining.from_pretrained(folder)
    found = load_sharing(BertForTokenClassification, base, folder)
    assert found.num_labels == found.config.num_labels == 7
    assert torch.equal(found.classifier.weight, model.classifier.weight)


def test_labels_that_contradict_the_head_are_refused_with_both_shapes(make_config, write_folder):
    _, folder = fine_tuned(BertForTokenClassification, make_config, write_folder, id2label=TAGS)
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    values["id2label"] = {"0": "O", "1": "B-PER"}
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    base = BertForPreTraining.from_pretrained(folder)
    with pytest.raises(CheckpointError, match=r"\(3, 32\).*\(2, 32\)"):
        load_sharing(BertForTokenClassification, base, folder)
    found = survey(folder, [BertForTokenClassification]).classes["BertForTokenClassification"]
    assert found.report.mismatched == ("classifier.weight", "classifier.bias")


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


# -- the survey -----------------------------------------------------------------------------------


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


def test_the_survey_counts_shards_and_pickles_and_takes_no_values(tiny, make_peer, write_folder):
    peer = make_peer("BertModel", tiny.config)
    folder = write_folder(tiny.config, name="shards")
    peer.save_pretrained(folder, max_shard_size="20KB")
    shards = [*folder.glob("*.safetensors"), folder / "model.safetensors.index.json"]
    found = survey(folder, [BertModel])
    assert found.file_bytes == sum(path.stat().st_size for path in shards)
    plan = found.classes["BertModel"]
    assert (plan.report.missing, plan.refusal) == ((), "")
    assert all(each.tensor.is_meta for each in plan.stored.values())
    folder = write_folder(tiny.config, tiny.state_dict(), name="pickle", pickle=True)
    assert survey(folder, [BertModel]).classes["BertModel"].report.missing == ()
    assert survey(folder, []).file_bytes == (folder / "pytorch_model.bin").stat().st_size


def test_the_survey_refuses_what_is_no_model(tiny, write_folder):
    with pytest.raises(MissingFileError):
        survey(write_folder(tiny.config, name="bare"), [BertModel])
    with pytest.raises(ConfigError, match="gpt2"):
        survey(write_folder({**tiny.config.to_dict(), "model_type": "gpt2"}), [BertModel])
    taller = {**tiny.config.to_dict(), "num_hidden_layers": 5}
    with pytest.raises(CheckpointError, match="5 layers"):
        survey(write_folder(taller, tiny.state_dict(), name="taller"), [BertModel])


# -- any module -----------------------------------------------------------------------------------


class LastStep(nn.Module):
    """A module that knows nothing of this package's models: a pooler, and a head of its own."""

    def __init__(self, config):
        super().__init__()
        self.config, self.load_report = config, None
        self.pooler = nn.ModuleDict({"dense": nn.Linear(config.hidden_size, config.hidden_size)})
        self.scorer = nn.Linear(config.hidden_size, 1)

    def tied_keys(self):
        return ()

    def tie_weights(self):
        pass

    def init_bert_weights(self, module):
        nn.init.constant_(module.weight, 0.5)


def test_any_module_with_a_config_and_tied_parameters_is_filled(tiny, write_folder):
    folder = write_folder(tiny.config, tiny.state_dict())
    found = load_pretrained(LastStep, folder)
    assert torch.equal(found.pooler["dense"].weight, tiny.pooler.dense.weight)
    assert found.load_report.missing == ("scorer.weight", "scorer.bias")
    assert found.scorer.weight.eq(0.5).all() and not found.training
    base = BertModel.from_pretrained(folder)
    shared = load_sharing(LastStep, base, folder)
    assert shared.pooler["dense"].weight is base.pooler.dense.weight
    assert (
        survey(folder, [LastStep]).classes["LastStep"].report.missing == found.load_report.missing
    )
