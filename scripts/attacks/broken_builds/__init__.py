"""Broken builds: what a storm's checker must catch, or it would catch nothing."""
