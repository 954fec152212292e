"""What benchmarks run on: Murmur's own processes, and surveys full of reports."""
