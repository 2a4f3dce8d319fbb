"""The same computation in Python, with `bert_core` alone."""

from app.data.columns import GOLD, KINDS
from app.features.data.result import DataResult

_SHOWN = 3  # rows
_PAIRS = """inputs = tokenizer(
    {texts}, padding=True, truncation=True, max_length=model.config.max_length, return_tensors="pt"
)
with torch.inference_mode():
    logits = model(**inputs)  # (rows, labels){about}
shares = torch.softmax(logits / model.config.temperature("{head}"), dim=-1)
for row, share in zip(rows, shares.tolist()):
    print(row, max(range(len(share)), key=share.__getitem__), max(share))
"""
_EACH = {
    "ner": """from bert_core.reading.entities import find_entities
for text, *_ in rows:
    print(text, find_entities(model, tokenizer, text))
""",
    "qa": """from bert_core.reading.passage import answer_question
for question, passage in rows:
    found = answer_question(model, tokenizer, passage, question)
    print(question, found.text if found.answered() else "no answer")
""",
    "fill_mask": """for text, *_ in rows:
    inputs = tokenizer([text], return_tensors="pt")
    with torch.inference_mode():
        scores = model(**inputs)[0, inputs["input_ids"][0] == tokenizer.mask_token_id]
    shares = torch.softmax(scores / model.config.temperature("BertForMaskedLM"), dim=-1)
    for share, id_ in zip(*(each.tolist() for each in shares.max(dim=-1))):
        print(text, tokenizer.ids_to_tokens[id_], share)
""",
    "multiple_choice": """for context, *choices in rows:
    inputs = tokenizer(
        [context] * len(choices), choices, padding=True, truncation=True,
        max_length=model.config.max_length, return_tensors="pt",
    )
    with torch.inference_mode():
        logits = model(**{name: each[None] for name, each in inputs.items()})[0]
    print(context, choices[int(logits.argmax())])
""",
}


def snippet(result: DataResult, model: str) -> str:
    """Write the same computation in Python, for the first rows."""
    head = KINDS[result.task].head
    rows = "".join(f"    {row.texts!r},\n" for row in result.rows[:_SHOWN])
    parts = [part for part in result.columns if part != GOLD]
    both = "[second for _, second in rows]"
    texts = (
        f"[first for first, _ in rows], {both}" if len(parts) > 1 else "[row[0] for row in rows]"
    )
    about = "; label 0: the second sentence follows" if result.task == "next_sentence" else ""
    code = _EACH.get(result.task) or _PAIRS.format(texts=texts, head=head, about=about)
    return f"""import torch
from bert_core import {head}, load_tokenizer

name = {model!r}
tokenizer = load_tokenizer(name)
model = {head}.from_pretrained(name).eval()
rows = [  # {", ".join(parts)}; of a file: csv.DictReader
{rows}]
{code}"""
