"""Scheduling of all computation: fair turns, threads per pass, device, shared results, limits."""
