"""All exceptions of the package, with the built-in type each one also inherits from.

    BertError
    ├── InputError       ValueError         an unusable argument, tensor or text
    ├── ConfigError      ValueError         a configuration that no model can be built from
    ├── CheckpointError                     a damaged or hostile file, or one that does not fit
    │   └── MissingFileError  FileNotFoundError  a file or folder that does not exist
    └── DownloadError    OSError            a failed download
        └── DownloadCancelled                 a download cancelled by the caller

Every message says what was found, what was expected and what to do.
"""


def count(number: int, name: str, names: str = "") -> str:
    """Print a number of things; `names` is the plural where that is not `name` with an s.

    >>> count(1, "piece"), count(1200, "piece"), count(2, "entity", "entities")
    ('1 piece', '1,200 pieces', '2 entities')
    """
    return f"{number:,} {name if number == 1 else names or f'{name}s'}"


class BertError(Exception):
    """Base class of every exception this package raises deliberately."""


class InputError(BertError, ValueError):
    """An argument, a tensor or a text cannot be used as given."""


class ConfigError(BertError, ValueError):
    """A configuration contradicts itself or asks for something that is not implemented."""


class CheckpointError(BertError):
    """A checkpoint, vocabulary or archive is damaged, hostile, or does not fit the model."""


class MissingFileError(CheckpointError, FileNotFoundError):
    """A named file or folder does not exist."""

    def __str__(self) -> str:
        # FileNotFoundError formats (errno, text) pairs; here the message is one sentence.
        return str(self.args[0]) if self.args else ""


class DownloadError(BertError, OSError):
    """A download failed; no partial file is left."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class DownloadCancelled(DownloadError):
    """The caller cancelled a download; no partial file is left."""
