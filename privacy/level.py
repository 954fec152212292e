"""The confidence level of intervals, and the significance and normal quantile that follow from it.

Modules write `scipy.optimize.…` and `scipy.stats.…` in full, so that SciPy loads these
packages only when they are first used. Loading them takes longer than loading most of the other
packages together.
"""

from scipy.special import ndtri

LEVEL = 0.95
SIGNIFICANCE = round(1 - LEVEL, 12)
Z_95 = float(ndtri((1 + LEVEL) / 2))
