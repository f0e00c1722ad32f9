"""
How long does a network of links stay connected?
================================================

How does the distribution of a link's life change the time at which a cube of 256 nodes falls apart? All curves come
from one file, because the order of failures does not depend on the distribution.
"""

import math

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

import fastcube as fc

# %%
# One file of orders of failures
# ------------------------------

results = fc.run("survival-curve", network="hypercube", failing="links", n=8, failed=range(1025), trials=10_000)

# %%
# Several distributions of one life
# ---------------------------------
# The mean life is 1 in each. Below shape 1 a link fails most often when it is new, but above 1 when it is old.

times = np.linspace(0, 2, 41)
for shape in (0.7, 1, 2):
    distribution = stats.weibull_min(shape, scale=1 / math.gamma(1 + 1 / shape))
    life = fc.lifetime(results, distribution)
    print(f"shape {shape}: mean {life.mean.value:.3f}, 10% fall apart until {life.quantile(0.1).value:.3f}")
    estimates = [life.survival(t) for t in times]
    plt.plot(times, [e.value for e in estimates], label=f"shape {shape}")
    plt.fill_between(times, [e.low for e in estimates], [e.high for e in estimates], alpha=0.3)
plt.xlabel("time in mean lives of a link")
plt.ylabel("P(no disconnection until then)")
plt.legend()
plt.show()
