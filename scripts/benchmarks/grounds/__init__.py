"""Environments for benchmarks: Murmur's own processes, and surveys full of reports."""
