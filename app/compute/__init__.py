"""The one door to arithmetic: whose turn it is, on how many threads, and on which device."""
