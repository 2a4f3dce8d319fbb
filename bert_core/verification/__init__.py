"""Verifying a model against reference values stored in its folder.

`write_verification` writes the reference values to `verification.json` and
`verification.safetensors`; `verify` compares the model with them. On the command line:
`python -m bert_core verify NAME_OR_FOLDER`.
"""

from bert_core.verification.comparing import verify, write_verification
from bert_core.verification.report import FileCheck, OutputCheck, TextCheck, VerificationReport

__all__ = [
    "FileCheck",
    "OutputCheck",
    "TextCheck",
    "VerificationReport",
    "verify",
    "write_verification",
]
