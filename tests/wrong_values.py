"""Values that no interface for programs takes, and a part of what it says of each."""

WRONG = [
    ("fill_mask", {"text": ""}, "The text is empty."),
    ("fill_mask", {"text": 3}, "text: found a whole number; expected a text."),
    ("fill_mask", {"text": None}, "text: found nothing"),
    ("fill_mask", {"text": {"a": [["b"]]}}, "text: found an object"),
    ("fill_mask", {"text": "cat [MASK]", "top_k": "many"}, "top_k: found a text"),
    ("fill_mask", {"text": "cat [MASK]", "top_k": 1e9}, "top_k: found 1000000000"),
    ("fill_mask", {"text": "cat [MASK]", "top_k": True}, "top_k: found true or false"),
    ("fill_mask", {"text": "cat", "model": "../../etc"}, "model: found '../../etc'; expected one"),
    ("fill_mask", {"text": "cat", "model": ["x"]}, "model: found "),
    ("ner", {"text": "cat", "aggregation": "sum"}, "aggregation: found 'sum'; expected "),
    ("multiple_choice", {"context": "cat", "choices": 3}, "choices: found "),
    ("multiple_choice", {"context": "cat", "choices": [["a"], 2]}, "choices: found "),
    ("attention", {"text": "the cat", "layer": 99, "head": 0}, "99"),
]
