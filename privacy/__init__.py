"""Pure mathematics of local differential privacy: one mechanism, its estimator, its intervals.

Nothing here imports Django or any other part of Murmur; numpy and scipy are enough.
"""
