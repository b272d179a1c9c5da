#!/usr/bin/env python3
"""Trains deep linear nets in numpy float64 and writes linear.json, for tests/cases/theory.rs.

Independent of the program: own draws, own loops, the gradient of L = ||W1 ... WN - A||_F^2 as
written. Run `pip install numpy`, then `python assets/golden/linear.py` in this folder's repository.
"""

import json
import pathlib

import numpy as np


def orthogonal(rng, d):
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return q * np.sign(np.diag(r))


def product(layers):
    out = layers[0]
    for layer in layers[1:]:
        out = out @ layer
    return out


def gradients(layers, a):
    """dL/dW_i = 2 (W_1..W_{i-1})^T (P - A) (W_{i+1}..W_N)^T."""
    error = 2.0 * (product(layers) - a)
    out = []
    for i in range(len(layers)):
        left = product(layers[:i]) if i else np.eye(len(a))
        right = product(layers[i + 1 :]) if i + 1 < len(layers) else np.eye(len(a))
        out.append(left.T @ error @ right.T)
    return out


def start(kind, rng, u, v, tau, depth, imbalance):
    d, scale = len(u), np.exp(-tau)
    if kind == "identity":
        return [scale * np.eye(d) for _ in range(depth)]
    if kind == "random":
        return [scale * rng.standard_normal((d, d)) for _ in range(depth)]
    if depth == 1:
        return [scale * u @ v.T]
    layers = [scale * np.eye(d) for _ in range(depth)]
    layers[0] = imbalance * scale * u
    layers[-1] = scale / imbalance * v.T
    return layers


def case(name, seed, s, tau, etas, steps, kind="aligned", depth=2, imbalance=1.0, det=0):
    """`etas`: [(from_step, eta), ...]. Logs 21 steps, and the step each mode crosses half."""
    rng = np.random.default_rng(seed)
    s = np.array(s, dtype=float)
    d = len(s)
    u, v = orthogonal(rng, d), orthogonal(rng, d)
    if det and np.sign(np.linalg.det(u) * np.linalg.det(v)) != det:
        v[:, -1] *= -1
    a = (u * s) @ v.T
    layers = start(kind, rng, u, v, tau, depth, imbalance)
    first = [layer.copy() for layer in layers]
    log = {int(k) for k in np.linspace(0, steps, 21).round()}
    at, sigmas, losses, half, before = [], [], [], [None] * d, None
    for k in range(steps + 1):
        p = product(layers)
        sigma = np.einsum("ai,ab,bi->i", u, p, v)
        if before is not None:
            for i in range(d):
                if half[i] is None and before[i] < s[i] / 2 <= sigma[i]:
                    part = (s[i] / 2 - before[i]) / (sigma[i] - before[i])
                    if 0 < before[i] and sigma[i] < s[i]:
                        low, high = (np.log(x / (s[i] - x)) for x in (before[i], sigma[i]))
                        part = -low / (high - low)
                    half[i] = k - 1 + float(part)
        before = sigma
        if k in log:
            at.append(k)
            sigmas.append(sigma.tolist())
            losses.append(float(((p - a) ** 2).sum()))
        eta = [e for from_step, e in etas if from_step <= k][-1]
        layers = [w - eta * g for w, g in zip(layers, gradients(layers, a))]
    return {
        "name": name,
        "kind": kind,
        "depth": depth,
        "tau": tau,
        "imbalance": imbalance,
        "spectrum": s.tolist(),
        "etas": etas,
        "u": u.ravel().tolist(),
        "v": v.ravel().tolist(),
        "start": [layer.ravel().tolist() for layer in first],
        "steps": at,
        "sigma": sigmas,
        "loss": losses,
        "half": half,
    }


def main():
    eight = [4.0, 2.8, 2.0, 1.4, 1.0, 0.7, 0.5, 0.35]
    four = [2.0, 1.2, 0.7, 0.4]
    eta = [[0, 0.01]]
    cases = [
        case("aligned", 1, eight, 8.0, eta, 1334),
        case("rank two", 2, [2.0, 1.2, 0.0, 0.0], 8.0, eta, 600),
        case("changing eta", 3, four, 8.0, [[0, 0.01], [150, 0.03], [260, 0.005], [400, 0.02]], 900),
        case("identity, det > 0", 4, eight, 8.0, eta, 1800, kind="identity", det=1),
        case("identity, det < 0", 5, eight, 8.0, eta, 1800, kind="identity", det=-1),
        case("random", 6, eight, 8.0, eta, 1800, kind="random"),
        case("unbalanced", 7, four, 8.0, eta, 900, imbalance=54.6),
        case("unbalanced, small eta", 8, four, 6.0, [[0, 0.0005]], 8000, imbalance=400.0),
        case("one layer", 9, four, 3.0, [[0, 0.01], [60, 0.04]], 200, depth=1),
        case("one layer, random", 10, four, 1.0, [[0, 0.02]], 200, kind="random", depth=1),
        case("three layers", 11, four, 2.5, eta, 2000, depth=3),
        case("three layers, small eta", 12, four, 2.0, [[0, 0.0005]], 24000, depth=3),
        case("small eta", 13, four, 5.0, [[0, 0.0005]], 14000),
        case("two-cycle", 14, [1.0, 0.6, 0.35, 0.2], 4.0, [[0, 0.55]], 200),
    ]
    out = {"numpy": np.__version__, "cases": cases}
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(out, separators=(",", ":")) + "\n")
    print(path.name, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
