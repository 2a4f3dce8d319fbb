"""Text to an Encoding: normalisation, WordPiece, and a trace of every step.

Read `normalizer`, `wordpiece`, `packed`, `words`, `encoding`, then `tokenizer`; `trace` shows the
same steps one by one. `stored` and `tokenizer_json` read a tokenizer's files. The tokenizers of
other families than BERT's are `family`, `family_files`, `sentencepiece_file`, `listed_encoding` and
`replay`. This package must not import `bert_core.model`.
"""
