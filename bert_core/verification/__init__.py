"""Compare a model with what was stored beside it when it was written.

`write_verification` puts two files into a model's folder, `verification.json` and
`verification.safetensors`; `verify` compares. `python -m bert_core verify NAME_OR_FOLDER` prints
what comes out.
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
