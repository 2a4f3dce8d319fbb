"""Text to an Encoding: BERT's tokenizer, and those of its relatives.

Read `tokenizer`, which is BERT's from top to bottom, then `characters` and `encoding`. Beside it:
`batches` (several texts, tensors), `bert_options` (constructor, files, many texts), `trace`,
`added` (tokens that are found first) and `borders` (words and characters as a reader sees them).
`stored` reads the files of every tokenizer, by way of `tokenizer_class`, `first_files`,
`tokenizer_json` and `added_files`. The tokenizers of other families are `family`,
`sentencepiece_file` and `replay`. This package must not import `bert_core.model`.
"""
