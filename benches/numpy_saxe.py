"""The Saxe lab in numpy: the same arithmetic in float32, members batched; prints JSON lines.

Two forms, the faster of which is the peer: fresh arrays (as one writes it) and arrays kept
(out=). Usage: numpy_saxe.py [seconds]; versions are printed with every line.
"""

import json
import sys
import time

import numpy as np

D = 16
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
REPEATS = 5


def setup(members):
    rng = np.random.default_rng(1)
    shape = (members, D, D) if members > 1 else (D, D)
    u = np.linalg.qr(rng.normal(size=shape))[0]
    v = np.linalg.qr(rng.normal(size=shape))[0]
    s = 4 * 0.85 ** np.arange(D)
    vt = np.swapaxes(v, -1, -2)
    scale = np.exp(-8.0)
    as32 = lambda x: np.ascontiguousarray(x, dtype=np.float32)
    return as32(u * scale), as32(vt * scale), as32((u * s) @ vt)


def fresh(state, steps):
    w1, w2, a = state
    rate = np.float32(0.02)
    for _ in range(steps):
        error = w1 @ w2 - a
        g1 = error @ np.swapaxes(w2, -1, -2)
        g2 = np.swapaxes(w1, -1, -2) @ error
        w1 = w1 - rate * g1
        w2 = w2 - rate * g2
    return w1, w2, a


def kept(state, steps):
    w1, w2, a = state
    w1, w2 = w1.copy(), w2.copy()
    error, g1, g2 = (np.empty_like(a) for _ in range(3))
    w1t, w2t = np.swapaxes(w1, -1, -2), np.swapaxes(w2, -1, -2)
    rate = np.float32(0.02)
    for _ in range(steps):
        np.matmul(w1, w2, out=error)
        np.subtract(error, a, out=error)
        np.matmul(error, w2t, out=g1)
        np.matmul(w1t, error, out=g2)
        np.multiply(g1, rate, out=g1)
        np.multiply(g2, rate, out=g2)
        np.subtract(w1, g1, out=w1)
        np.subtract(w2, g2, out=w2)
    return w1, w2, a


def rate(step, members):
    state = setup(members)
    chunk = 1
    while True:
        start = time.perf_counter()
        step(state, chunk)
        if time.perf_counter() - start > 0.1:
            break
        chunk *= 2
    rates = []
    for _ in range(REPEATS):
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < SECONDS:
            state = step(state, chunk)
            done += chunk
        rates.append(done / (time.perf_counter() - start))
    return sorted(rates)


for members in (1, 64, 1024):
    for name, step in (("numpy, fresh arrays", fresh), ("numpy, kept arrays", kept)):
        rates = rate(step, members)
        print(json.dumps({
            "what": name, "members": members, "steps_per_second": round(rates[len(rates) // 2], 1),
            "low": round(rates[0], 1), "high": round(rates[-1], 1), "numpy": np.__version__,
        }), flush=True)
