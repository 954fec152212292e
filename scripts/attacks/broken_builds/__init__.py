"""Builds that are broken on purpose, to show that the storm's checker finds faults."""
