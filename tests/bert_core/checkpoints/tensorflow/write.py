"""Writes the checkpoints beside this file with TensorFlow itself.

They were written by TensorFlow 2.21.0 (`pip install tensorflow-cpu==2.21.0` in an environment of
its own, then `python write.py`). The tests need neither it nor this script.

Every folder has the files as `tf.compat.v1.train.Saver` leaves them and, in `expected.npz`, the
same values under the names and in the layout of published PyTorch checkpoints. Which variable is
which parameter is written down here by hand, one line each: it is no copy of what is tested.
"""

import json
import os
import shutil
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
# All sizes differ, so a transposed or swapped axis cannot pass.
WORDS, HIDDEN, INNER, PLACES, LAYERS, HEADS = 37, 16, 19, 11, 2, 4
CONFIG = {
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": HIDDEN,
    "initializer_range": 0.02,
    "intermediate_size": INNER,
    "max_position_embeddings": PLACES,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "type_vocab_size": 2,
    "vocab_size": WORDS,
}
# (variable, parameter, shape of the variable); `.T` behind a parameter: transposed in PyTorch.
EMBEDDINGS = [
    ("embeddings/word_embeddings", "embeddings.word_embeddings.weight", (WORDS, HIDDEN)),
    ("embeddings/position_embeddings", "embeddings.position_embeddings.weight", (PLACES, HIDDEN)),
    ("embeddings/token_type_embeddings", "embeddings.token_type_embeddings.weight", (2, HIDDEN)),
    ("embeddings/LayerNorm/gamma", "embeddings.LayerNorm.weight", (HIDDEN,)),
    ("embeddings/LayerNorm/beta", "embeddings.LayerNorm.bias", (HIDDEN,)),
]
LAYER = [
    ("attention/self/query/kernel", "attention.self.query.weight.T", (HIDDEN, HIDDEN)),
    ("attention/self/query/bias", "attention.self.query.bias", (HIDDEN,)),
    ("attention/self/key/kernel", "attention.self.key.weight.T", (HIDDEN, HIDDEN)),
    ("attention/self/key/bias", "attention.self.key.bias", (HIDDEN,)),
    ("attention/self/value/kernel", "attention.self.value.weight.T", (HIDDEN, HIDDEN)),
    ("attention/self/value/bias", "attention.self.value.bias", (HIDDEN,)),
    ("attention/output/dense/kernel", "attention.output.dense.weight.T", (HIDDEN, HIDDEN)),
    ("attention/output/dense/bias", "attention.output.dense.bias", (HIDDEN,)),
    ("attention/output/LayerNorm/gamma", "attention.output.LayerNorm.weight", (HIDDEN,)),
    ("attention/output/LayerNorm/beta", "attention.output.LayerNorm.bias", (HIDDEN,)),
    ("intermediate/dense/kernel", "intermediate.dense.weight.T", (HIDDEN, INNER)),
    ("intermediate/dense/bias", "intermediate.dense.bias", (INNER,)),
    ("output/dense/kernel", "output.dense.weight.T", (INNER, HIDDEN)),
    ("output/dense/bias", "output.dense.bias", (HIDDEN,)),
    ("output/LayerNorm/gamma", "output.LayerNorm.weight", (HIDDEN,)),
    ("output/LayerNorm/beta", "output.LayerNorm.bias", (HIDDEN,)),
]
POOLER = [
    ("pooler/dense/kernel", "pooler.dense.weight.T", (HIDDEN, HIDDEN)),
    ("pooler/dense/bias", "pooler.dense.bias", (HIDDEN,)),
]
MASKED_WORDS = "cls/predictions/transform/"
PRETRAINING = [
    (f"{MASKED_WORDS}dense/kernel", "cls.predictions.transform.dense.weight.T", (HIDDEN, HIDDEN)),
    (f"{MASKED_WORDS}dense/bias", "cls.predictions.transform.dense.bias", (HIDDEN,)),
    (f"{MASKED_WORDS}LayerNorm/gamma", "cls.predictions.transform.LayerNorm.weight", (HIDDEN,)),
    (f"{MASKED_WORDS}LayerNorm/beta", "cls.predictions.transform.LayerNorm.bias", (HIDDEN,)),
    ("cls/predictions/output_bias", "cls.predictions.bias", (WORDS,)),
    ("cls/seq_relationship/output_weights", "cls.seq_relationship.weight", (2, HIDDEN)),
    ("cls/seq_relationship/output_bias", "cls.seq_relationship.bias", (2,)),
]
CLASSIFIER = [
    ("output_weights", "classifier.weight", (3, HIDDEN)),
    ("output_bias", "classifier.bias", (3,)),
]
QUESTIONS = [
    ("cls/squad/output_weights", "qa_outputs.weight", (2, HIDDEN)),
    ("cls/squad/output_bias", "qa_outputs.bias", (2,)),
]


def encoder():
    """All variables of `BertModel`."""
    yield from ((f"bert/{a}", f"bert.{b}", shape) for a, b, shape in EMBEDDINGS)
    for layer in range(LAYERS):
        for variable, parameter, shape in LAYER:
            yield (
                f"bert/encoder/layer_{layer}/{variable}",
                f"bert.encoder.layer.{layer}.{parameter}",
                shape,
            )
    yield from ((f"bert/{a}", f"bert.{b}", shape) for a, b, shape in POOLER)


def draw(rows, seed):
    """Variable -> values, small multiples of 1/128 so that the expected file packs well."""
    chance = np.random.default_rng(seed)
    return {
        variable: (chance.integers(-99, 100, shape) / 128).astype(np.float32)
        for variable, _, shape in rows
    }


def as_published(rows, values):
    return {
        name.removesuffix(".T"): values[variable].T if name.endswith(".T") else values[variable]
        for variable, name, _ in rows
    }


def begin(folder):
    place = HERE / folder
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return place


def keep_expected(place, arrays, config=True):
    arrays = {name: np.array(array, order="C") for name, array in sorted(arrays.items())}
    np.savez_compressed(place / "expected.npz", **arrays)
    if config:
        (place / "bert_config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")


def save(place, name, values, *, step=None, partitioner=None, devices=1):
    """Write one checkpoint in the way of the original release's programs."""
    import tensorflow as tf

    def first(value):
        return lambda *_, **__: tf.constant(value)

    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v1.set_random_seed(1)
        for index, (variable, value) in enumerate(values.items()):
            scope, _, leaf = variable.rpartition("/")
            split = partitioner if leaf == "word_embeddings" else None
            with (
                tf.device(f"/cpu:{index % devices}"),
                v1.variable_scope(scope, partitioner=split, use_resource=False),
            ):
                v1.get_variable(
                    leaf,
                    np.shape(value),
                    tf.as_dtype(np.asarray(value).dtype),
                    initializer=first(value) if split is None else None,
                )
        settings = v1.ConfigProto(device_count={"CPU": devices}, allow_soft_placement=False)
        with v1.Session(config=settings) as session:
            session.run(v1.global_variables_initializer())
            saver = v1.train.Saver(sharded=devices > 1, save_relative_paths=True)
            saver.save(session, str(place / name), global_step=step, write_meta_graph=False)


def with_optimizer(values, step):
    """What AdamWeightDecayOptimizer leaves beside the weights (here of two variables only)."""
    some = ("bert/pooler/dense/kernel", "bert/pooler/dense/bias")
    slots = {f"{name}/{slot}": values[name] / 8 for name in some for slot in ("adam_m", "adam_v")}
    return values | slots | {"global_step": np.int64(step)}


def write_pretraining():
    rows = [*encoder(), *PRETRAINING]
    place, values = begin("pretraining"), draw(rows, 1)
    save(place, "bert_model.ckpt", values)
    (place / "checkpoint").unlink()  # the published archives have none
    keep_expected(place, as_published(rows, values))


def write_classifier():
    """Two steps of a fine-tuning run; `checkpoint` names the later one."""
    rows = [*encoder(), *CLASSIFIER]
    place = begin("classifier")
    for step in (7, 12):
        values = draw(rows, step)
        save(place, "model.ckpt", with_optimizer(values, step), step=step)
    keep_expected(place, as_published(rows, values))


def write_questions():
    rows = [*encoder(), *QUESTIONS]
    place, values = begin("questions"), draw(rows, 3)
    save(place, "model.ckpt", values, devices=2)
    (place / "checkpoint").unlink()
    keep_expected(place, as_published(rows, values))


def write_partitioned():
    import tensorflow as tf

    rows = EMBEDDINGS[:1]
    place, values = begin("partitioned"), draw(rows, 4)
    splitter = tf.compat.v1.fixed_size_partitioner(2)
    save(place, "model.ckpt", {f"bert/{k}": v for k, v in values.items()}, partitioner=splitter)
    (place / "checkpoint").unlink()


def write_types():
    """One small tensor of each kind; bfloat16 is kept as the upper half of float32."""
    import tensorflow as tf

    place = begin("types")
    kinds = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")
    numbers = np.array([[0, 1, 2], [3, 4, 100]])
    values = {f"kind/{kind}": numbers.astype(kind) for kind in kinds}
    values["kind/nothing"] = np.zeros((0, 3), np.float32)
    values["kind/scalar"] = np.float32(2.5)
    short = (np.arange(6).reshape(2, 3) / 4).astype(np.float32)
    texts = np.array([b"a text", b""])
    tf.raw_ops.SaveV2(
        prefix=str(place / "model.ckpt"),
        tensor_names=[*values, "kind/bfloat16", "kind/text"],
        shape_and_slices=[""] * (len(values) + 2),
        tensors=[*map(tf.constant, values.values()), tf.cast(short, tf.bfloat16), texts],
    )
    keep_expected(place, values | {"kind/bfloat16": short}, config=False)


def write_objects():
    """A checkpoint of TensorFlow 2, which names its variables after Python objects."""
    import tensorflow as tf

    place = begin("objects")
    root = tf.train.Checkpoint(dense=tf.Variable(np.ones((2, 3), np.float32)))
    root.write(str(place / "model.ckpt"))


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    write_pretraining()
    write_classifier()
    write_questions()
    write_partitioned()
    write_types()
    write_objects()
