"""Scheduling of all computation: turns, threads per pass, device, and shared results."""
