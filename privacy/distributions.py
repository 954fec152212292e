"""The normal quantile of 95 % intervals.

Modules write `scipy.optimize.…` and `scipy.stats.…` in full: SciPy loads these packages when they
are first used. Loading them takes longer than loading most other packages together.
"""

Z_95 = 1.959963984540054  # the standard normal quantile at .975
