"""Estimates with intervals for games that come in pairs.

What it is: means, shares, correlations and the regression of results on unit counts, written in NumPy alone and from the
formulas, so that the notebooks check what the program computes instead of repeating it. What it is not: a reader of
files or a maker of figures; those are in `fairyforge_notebook.py`.

The two games of a pair share their opening, so they are not independent: every interval here treats the pair as the one
experiment. All are 95 % intervals. No small-sample factor is applied, as in the program (docs/statistics.md), so
intervals from fewer than about twenty pairs are too narrow.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

NORMAL_97_5 = 1.959963984540054
FIRST_MOVE = "first move"
FEW_PAIRS = 20


class Estimate(NamedTuple):
    """A number, its 95 % interval (None where nothing can be said of it), and what it rests on."""

    value: float
    low: float | None
    high: float | None
    games: int
    pairs: int

    def text(self, scale=100.0, digits=1, unit=" %"):
        """In words: value, interval, games and pairs."""
        if self.games == 0:
            return "no games"
        interval = "no interval: the pairs do not vary"
        if self.low is not None:
            interval = f"95 %: {scale * self.low:.{digits}f} to {scale * self.high:.{digits}f}"
        few = ", few pairs" if self.pairs < FEW_PAIRS else ""
        return f"{scale * self.value:.{digits}f}{unit} ({interval}; {self.games} games, {self.pairs} pairs{few})"


def _by_cluster(values, clusters):
    """Sum and size of every cluster."""
    _, place = np.unique(np.asarray(clusters), return_inverse=True)
    return np.bincount(place, weights=np.asarray(values, dtype=float)), np.bincount(place)


def _without_variance(mean, games, pairs):
    """Where all pairs agree, chance is bounded only if the value is at an edge: then as for a share never seen in `pairs` tries."""
    bound = 1.0 - 0.025 ** (1.0 / pairs)
    if mean == 0.0:
        return Estimate(mean, 0.0, bound, games, pairs)
    if mean == 1.0:
        return Estimate(mean, 1.0 - bound, 1.0, games, pairs)
    return Estimate(mean, None, None, games, pairs)


def clustered_mean(values, clusters):
    """The mean of values from 0 to 1, its error from the sums of the clusters: the sandwich of a regression on a constant.

    >>> clustered_mean([1, 0, 1, 0, 1, 1, 0, 0], [0, 0, 1, 1, 2, 2, 3, 3]).text()
    '50.0 % (95 %: 15.4 to 84.6; 8 games, 4 pairs, few pairs)'
    >>> clustered_mean([0.5] * 60, range(60)).text()
    '50.0 % (no interval: the pairs do not vary; 60 games, 60 pairs)'
    >>> clustered_mean([0] * 60, range(60)).text()
    '0.0 % (95 %: 0.0 to 6.0; 60 games, 60 pairs)'
    """
    if len(values) == 0:
        return Estimate(float("nan"), None, None, 0, 0)
    sums, sizes = _by_cluster(values, clusters)
    games, pairs = int(sizes.sum()), len(sizes)
    mean = float(sums.sum() / games)
    error = float(np.sqrt(((sums - mean * sizes) ** 2).sum()) / games)
    if pairs < 2 or error < 1e-12:
        return _without_variance(mean, games, pairs)
    spread = NORMAL_97_5 * error
    return Estimate(mean, max(mean - spread, 0.0), min(mean + spread, 1.0), games, pairs)


def plain_mean(values):
    """The mean as if all games were independent, to compare with."""
    return clustered_mean(values, range(len(values)))


def bootstrap_mean(values, clusters, resamples=4000, seed=1):
    """The mean with the interval of the pair bootstrap: whole clusters drawn with replacement, 2.5 and 97.5 % of the means.

    >>> estimate = bootstrap_mean([1, 0, 1, 0, 1, 1, 0, 0] * 50, [n // 2 for n in range(400)])
    >>> round(estimate.low, 2), round(estimate.high, 2), estimate.pairs
    (0.45, 0.55, 200)
    """
    plain = clustered_mean(values, clusters)
    if plain.low is None or plain.value in (0.0, 1.0):
        return plain
    sums, sizes = _by_cluster(values, clusters)
    # Clusters that are alike are counted instead of drawn one by one.
    kinds, counts = np.unique(np.column_stack([sums, sizes]), axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(sums), counts / len(sums), size=resamples)
    means = (drawn @ kinds[:, 0]) / (drawn @ kinds[:, 1])
    low, high = np.quantile(means, [0.025, 0.975])
    return plain._replace(low=float(low), high=float(high))


def pair_correlation(first, second, resamples=4000, seed=1):
    """The correlation of the two games of a pair around their common mean, with the interval of the pair bootstrap.

    >>> pair_correlation([1, 0, 1, 0], [0, 1, 0, 1]).value
    -1.0
    >>> pair_correlation([1, 1], [1, 1]).low is None
    True
    """
    points = np.column_stack([first, second]).astype(float)
    pairs = len(points)
    if pairs < 2 or np.ptp(points) == 0:
        return Estimate(float("nan"), None, None, 2 * pairs, pairs)
    kinds, counts = np.unique(points, axis=0, return_counts=True)

    def correlation(weights):
        weights = weights / weights.sum(axis=-1, keepdims=True)
        centred = kinds - (weights @ kinds.mean(axis=1))[..., None, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            return (weights * centred.prod(axis=-1)).sum(axis=-1) / (weights * (centred**2).mean(axis=-1)).sum(axis=-1)

    drawn = np.random.default_rng(seed).multinomial(pairs, counts / pairs, size=resamples)
    low, high = np.nanquantile(correlation(drawn), [0.025, 0.975])
    return Estimate(float(correlation(counts)), float(low), float(high), 2 * pairs, pairs)


def sigmoid(x):
    """1/(1+e^(−x)), without overflow."""
    return np.exp(-np.logaddexp(0.0, -np.asarray(x, dtype=float)))


@dataclass
class Fit:
    """Results regressed on differences of unit counts."""

    names: list = field(default_factory=list)  # the terms with a coefficient, the first move before all
    coefficients: np.ndarray | None = None  # logits a unit
    clustered: np.ndarray | None = None  # covariance, the games of a pair taken together
    independent: np.ndarray | None = None  # covariance, every game by itself
    draw_width: float | None = None  # ν, where draws are modelled
    separated: dict = field(default_factory=dict)  # units whose owner always won or always lost: games left out
    mixed: dict = field(default_factory=dict)  # units without a coefficient: the terms they are made of
    games: int = 0
    pairs: int = 0
    failure: str | None = None

    def coefficient(self, name):
        """Logits a unit, or None."""
        return float(self.coefficients[self.names.index(name)]) if name in self.names else None

    def error(self, name, covariance="clustered"):
        """The standard error, or None."""
        if name not in self.names:
            return None
        place = self.names.index(name)
        # Where the pairs cancel exactly, rounding may leave a little less than nothing.
        return float(np.sqrt(max(getattr(self, covariance)[place, place], 0.0)))

    def pawn_clear(self, pawn):
        """Whether the pawn's own interval is above zero, without which nothing can be measured in pawns."""
        return pawn in self.names and self.coefficient(pawn) > NORMAL_97_5 * self.error(pawn)

    def in_pawns(self, name, pawn):
        """Value and Fieller's 95 % interval, the ratios that do not differ from the measured one at 5 %; None without a clear pawn.

        >>> covariance = np.array([[0.06**2, 0.4 * 0.05 * 0.06], [0.4 * 0.05 * 0.06, 0.05**2]])
        >>> fit = Fit(["pawn", "knight"], np.array([0.3, 0.9]), covariance)
        >>> value, low, high = fit.in_pawns("knight", "pawn")
        >>> errors = [np.sqrt(np.array([-r, 1]) @ covariance @ np.array([-r, 1])) for r in (low, high)]
        >>> [round(float((0.9 - r * 0.3) / error), 9) for r, error in zip((low, high), errors)]
        [1.959963985, -1.959963985]
        >>> Fit(["pawn", "knight"], np.array([0.1, 0.9]), covariance).in_pawns("knight", "pawn") is None
        True
        """
        blurred = any(term in (name, pawn) for terms in self.mixed.values() for term in terms)
        if name not in self.names or blurred or not self.pawn_clear(pawn):
            return None
        i, p = self.names.index(name), self.names.index(pawn)
        b, a, z2 = self.coefficients[i], self.coefficients[p], NORMAL_97_5**2
        # (b − r·a)² = z²·Var(b − r·a), a quadratic in r.
        v = self.clustered
        edges = np.roots([a * a - z2 * v[p, p], -2 * (a * b - z2 * v[i, p]), b * b - z2 * v[i, i]])
        low, high = sorted(float(edge) for edge in np.real(edges))
        return float(b / a), low, high


class _Unfit(Exception):
    """Why there is no fit."""


class _Separated(Exception):
    """The column that runs to infinity."""

    def __init__(self, column):
        super().__init__(column)
        self.column = column


def fit_results(differences, points, pairs, names):
    """The ordered logit P(win) = σ(η−ν), P(loss) = σ(−η−ν), η = b₀ + Σ bᵢxᵢ, errors clustered by pair.

    Without draws, or where one side never wins, ν has no maximum and the plain logistic regression of the points is fitted.
    A unit whose owner always won, or always lost, is taken out together with the games in which it differs.

    >>> games = [(1, 1.0)] * 30 + [(1, 0.0)] * 10 + [(-1, 0.0)] * 30 + [(-1, 1.0)] * 10
    >>> fit = fit_results([[x] for x, _ in games], [p for _, p in games], range(80), ["rook"])
    >>> round(fit.coefficient("rook"), 6) == round(float(np.log(3)), 6), fit.failure
    (True, None)
    >>> fit_results([[1], [1]], [1.0, 1.0], [0, 1], ["rook"]).failure
    'all 2 games ended the same way'
    """
    x, points, pairs = np.asarray(differences, dtype=float), np.asarray(points, dtype=float), np.asarray(pairs)
    names, fit = list(names), Fit()
    x = x.reshape(len(points), len(names))
    while True:
        fit.games, fit.pairs = len(points), len(np.unique(pairs))
        try:
            return _maximised(fit, x, points, pairs, names)
        except _Unfit as reason:
            fit.failure, fit.names = str(reason), []
            return fit
        except _Separated as separated:
            column = names.index(separated.column)
            kept = x[:, column] == 0
            fit.separated[names.pop(column)] = int((~kept).sum())
            x, points, pairs = np.delete(x[kept], column, axis=1), points[kept], pairs[kept]


def _maximised(fit, x, points, pairs, names):
    if len(points) == 0:
        raise _Unfit("no games are left")
    if np.ptp(points) == 0:
        raise _Unfit(f"all {len(points)} games ended the same way")
    drawn = points == 0.5
    with_draws = bool(drawn.any() and (points == 1).any() and (points == 0).any())
    full = np.column_stack([np.ones(len(points)), x])
    kept, fit.mixed = _independent_columns(full, [FIRST_MOVE, *names])
    fit.names = [[FIRST_MOVE, *names][column] for column in kept]
    full = full[:, kept]
    if fit.pairs <= len(kept) + with_draws:
        raise _Unfit(f"{fit.pairs} pairs are too few for {len(kept) + with_draws} terms")
    for column, name in enumerate(fit.names[1:], 1):
        owners = full[:, column] * (points - 0.5)
        differing = full[:, column] != 0
        if (owners[differing] > 0).all() or (owners[differing] < 0).all():
            raise _Separated(name)
    point, scores, information = _newton(full, points, with_draws, fit.names)
    inverse = _inverted(information, fit.names)
    fit.coefficients = point[: len(kept)]
    fit.draw_width = float(point[-1]) if with_draws else None
    fit.independent = inverse @ (scores.T @ scores) @ inverse
    _, place = np.unique(pairs, return_inverse=True)
    summed = np.zeros((place.max() + 1, scores.shape[1]))
    np.add.at(summed, place, scores)
    fit.clustered = inverse @ (summed.T @ summed) @ inverse
    return fit


def _independent_columns(full, names):
    """Columns kept, earlier before later, and of the others which kept ones they are made of."""
    kept, mixed = [], {}
    for column, name in enumerate(names):
        target = full[:, column]
        if not target.any():
            mixed[name] = []
            continue
        parts = np.zeros(len(kept))
        if kept:
            parts, *_ = np.linalg.lstsq(full[:, kept], target, rcond=None)
        if np.abs(full[:, kept] @ parts - target).max() > 1e-7:
            kept.append(column)
        else:
            mixed[name] = [names[other] for other, part in zip(kept, parts) if abs(part) > 1e-7]
    return kept, mixed


def _newton(full, points, with_draws, names):
    """The maximum of the likelihood, each game's gradient there, and the information."""
    point = np.zeros(full.shape[1] + with_draws)
    if with_draws:
        point[-1] = 2 * np.arctanh(np.clip((points == 0.5).mean(), 1e-3, 1 - 1e-3))
    typical = np.append(np.sqrt((full**2).sum(axis=0) / np.maximum((full != 0).sum(axis=0), 1)), [1.0] * with_draws)
    value, scores, information = _expanded(full, points, point, with_draws)
    for _ in range(100):
        covariance = _inverted(information, names)
        # A term of more than 20 log-odds with an error larger than itself is on its way to infinity.
        worst = int((np.abs(point) * typical).argmax())
        if abs(point[worst]) * typical[worst] >= 20 and np.sqrt(covariance[worst, worst]) >= abs(point[worst]):
            raise _separated(names, worst)
        step = covariance @ scores.sum(axis=0)
        length = 1.0
        while length > 1e-12:
            trial = point + length * step
            if not with_draws or trial[-1] > 0:
                there = _expanded(full, points, trial, with_draws)
                if there[0] >= value - 1e-12 * abs(value):
                    point, (value, scores, information) = trial, there
                    break
            length /= 2
        if (np.abs(step) * typical).max() < 1e-9:
            return point, scores, information
    raise _Unfit("the iteration does not converge")


def _inverted(information, names):
    """Columns are independent before weighting, so a singular information means that weights have vanished."""
    try:
        return np.linalg.inv(information)
    except np.linalg.LinAlgError:
        raise _separated(names, int(np.diag(information).argmin())) from None


def _separated(names, term):
    """A unit can be taken out; the first move and the draw term cannot."""
    if 0 < term < len(names):
        return _Separated(names[term])
    return _Unfit("the first move or the draws decide all games")


def _expanded(full, points, point, with_draws):
    """Log likelihood, gradients by game, and the negative second derivatives."""
    eta = full @ point[: full.shape[1]]
    if not with_draws:
        expected = sigmoid(eta)
        value = -(points * np.logaddexp(0, -eta) + (1 - points) * np.logaddexp(0, eta)).sum()
        weight = expected * (1 - expected)
        return value, full * (points - expected)[:, None], (full * weight[:, None]).T @ full
    nu = point[-1]
    win, loss = sigmoid(eta - nu), sigmoid(-eta - nu)
    # Slopes and bends of the two probabilities by their own argument; those of the draw follow from the sum being one.
    win_slope, loss_slope = win * (1 - win), loss * (1 - loss)
    win_bend, loss_bend = win_slope * (1 - 2 * win), loss_slope * (1 - 2 * loss)
    draw = -np.expm1(-2 * nu) * sigmoid(nu + eta) * sigmoid(nu - eta)
    chosen = [points == 1, points == 0]
    probability = np.select(chosen, [win, loss], draw)
    by_eta = np.select(chosen, [win_slope, -loss_slope], loss_slope - win_slope)
    by_nu = np.select(chosen, [-win_slope, -loss_slope], win_slope + loss_slope)
    eta_eta = np.select(chosen, [win_bend, loss_bend], -win_bend - loss_bend)
    eta_nu = np.select(chosen, [-win_bend, loss_bend], win_bend - loss_bend)
    nu_nu = np.select(chosen, [win_bend, loss_bend], -win_bend - loss_bend)
    by_eta, by_nu = by_eta / probability, by_nu / probability
    weights = by_eta**2 - eta_eta / probability, by_eta * by_nu - eta_nu / probability, by_nu**2 - nu_nu / probability
    scores = np.column_stack([full * by_eta[:, None], by_nu])
    information = np.empty((len(point), len(point)))
    information[:-1, :-1] = (full * weights[0][:, None]).T @ full
    information[:-1, -1] = information[-1, :-1] = full.T @ weights[1]
    information[-1, -1] = weights[2].sum()
    return float(np.log(probability).sum()), scores, information
