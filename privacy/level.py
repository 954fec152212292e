"""The level of intervals, the significance of tests and the normal quantile that follow from it.

Modules write `scipy.optimize.…` and `scipy.stats.…` in full: SciPy loads these packages when they
are first used. Loading them takes longer than loading most other packages together.
"""

from scipy.special import ndtri

LEVEL = 0.95
SIGNIFICANCE = round(1 - LEVEL, 12)
Z_95 = float(ndtri((1 + LEVEL) / 2))
