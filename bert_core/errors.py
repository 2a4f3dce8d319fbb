"""The one exception tree of the package.

    BertError
    ├── InputError       ValueError         an argument or a text that cannot be used
    ├── ConfigError      ValueError         a configuration that no model can be built from
    ├── CheckpointError                     a file that is damaged, hostile or does not fit
    │   └── MissingFileError  FileNotFoundError  a file or folder that is not there
    └── DownloadError    OSError            a network source that did not deliver
        └── DownloadCancelled                 the caller called it off

Every message says what was found, what was expected and what to do. The built-in types stay
catchable where Python users expect them.
"""


class BertError(Exception):
    """Base of everything this package raises on purpose."""


class InputError(BertError, ValueError):
    """An argument, a tensor or a text cannot be used as given."""


class ConfigError(BertError, ValueError):
    """A configuration contradicts itself or asks for something that is not implemented."""


class CheckpointError(BertError):
    """A checkpoint, vocabulary or archive is damaged, hostile, or does not fit the model."""


class MissingFileError(CheckpointError, FileNotFoundError):
    """A named file or folder does not exist."""

    def __str__(self) -> str:
        # FileNotFoundError would format (errno, text) pairs; ours is always one sentence.
        return str(self.args[0]) if self.args else ""


class DownloadError(BertError, OSError):
    """A download failed; nothing half-written was left behind."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class DownloadCancelled(DownloadError):
    """The caller called a download off; nothing half-written was left behind."""
