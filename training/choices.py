"""What can be chosen by name on the command line; nothing here waits for PyTorch."""

PRETRAIN, LONG, TASKS = "pretrain", "long", "tasks"
"""The stages."""

TYPES = ("bfloat16", "float16")
"""Types of numbers whose cost can be measured."""
