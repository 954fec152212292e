"""Mathematics of local and central differential privacy: mechanism, estimators, intervals, noise.

Nothing here imports Django or any other part of Murmur; only numpy and scipy are needed.
"""
