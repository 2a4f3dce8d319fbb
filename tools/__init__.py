"""Commands for those who work on the documents."""
