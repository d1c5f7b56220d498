"""How well parameters are known after a fit: covariance, intervals, and whether what is left looks like noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from .losses import LOSSES

_LAGS = 10  # and no more than a fifth of the samples: G. M. Ljung, G. E. P. Box take 10 to 20 of hundreds


def covariance(J: np.ndarray, r: np.ndarray, loss: str = "linear", f_scale: float = 1.0, absolute: bool = False
               ) -> np.ndarray:
    """Covariance of the parameters, (parameters, parameters).

    ``s^2 (J^T J)^-1``, with ``s^2`` the sum of squares over the degrees of freedom, or one where the weights are
    known to be ``1 / sigma^2`` (`absolute`). Of a robust loss, ``K^2 [sum psi^2 / (n - p)] / [mean psi']^2
    (J^T J)^-1`` with ``K = 1 + p/n var(psi') / mean(psi')^2``: P. J. Huber, Robust Statistics (1981), section 7.6.

    Parameters
    ----------
    J : (samples, parameters) array
    r : (samples,) array
        Weighted residuals.
    """
    n, p = J.shape
    if n < p:
        return np.full((p, p), np.nan)
    _, R = np.linalg.qr(J)
    inverse = np.linalg.inv(R)
    _, first, second = LOSSES[loss]((r / f_scale) ** 2)
    psi, slope = first * r, first + 2 * (r / f_scale) ** 2 * second
    if loss == "linear":
        s2 = 1.0 if absolute else float(r @ r) / (n - p) if n > p else np.nan
    else:
        correction = 1 + p / n * float(slope.var()) / float(slope.mean()) ** 2
        s2 = correction**2 * float(psi @ psi) / (n - p) / float(slope.mean()) ** 2 if n > p else np.nan
    return s2 * (inverse @ inverse.T)


@dataclass(frozen=True)
class Whiteness:
    """Whether a sequence of residuals is white.

    Attributes
    ----------
    lags : int
    statistic : float
        ``Q = n (n + 2) sum_k rho_k^2 / (n - k)``.
    p_value : float
        That white residuals would have such a statistic or a larger one; nan for too few, or none that are not zero.
    """

    lags: int
    statistic: float
    p_value: float


def ljung_box(residuals: np.ndarray, lags: int | None = None) -> Whiteness:
    """The test of G. M. Ljung, G. E. P. Box, On a measure of lack of fit in time series models, Biometrika 65(2), 1978.

    Parameters
    ----------
    residuals : (n,) array
        In the order of time.
    lags : int, optional
        By default ten, and no more than a fifth of n.
    """
    n = len(residuals)
    lags = min(_LAGS, n // 5) if lags is None else lags
    centred = residuals - residuals.mean()
    power = float(centred @ centred)
    if lags < 1 or power <= 0:
        return Whiteness(lags, np.nan, np.nan)
    rho = np.array([centred[k:] @ centred[:-k] for k in range(1, lags + 1)]) / power
    Q = n * (n + 2) * float(np.sum(rho**2 / (n - np.arange(1, lags + 1))))
    return Whiteness(lags, Q, float(chi2.sf(Q, lags)))
