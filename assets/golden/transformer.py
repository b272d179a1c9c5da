"""Golden values of a small causal transformer and its AdamW steps, from PyTorch.

    python transformer.py            # needs torch and numpy; writes transformer.json beside itself

Written with PyTorch's own operators and autograd, so that nothing here is derived the way the
kernels are. Every number that enters (parameters, rates, betas) is exact in float32, so float32 and
float64 start from the same point. Decay acts on the matrices and the head, not on embeddings,
gains and biases. Each of the two members has its own start, rate and batches.
"""

import json
import math
import platform
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

V, T, B, D, LAYERS, HEADS, FF = 11, 6, 3, 8, 2, 2, 16
RATES = [np.float32(5e-3), np.float32(2e-2)]
SCALES = [1.0, 0.25]  # of the start: one member's gradient is clipped, the other's is not
BETAS = (float(np.float32(0.9)), float(np.float32(0.99)))
EPS, NORM_EPS, CLIP, DECAY = 1e-8, 1e-6, 1.0, 0.1
STEPS = 3


def shapes():
    """(name, shape, decayed, std, mean): decayed tensors first, as the parameter table has them."""
    depth = math.sqrt(2 * LAYERS)
    out = []
    for i in range(LAYERS):
        out += [
            (f"qkv_{i}", (D, 3 * D), True, D**-0.5, 0),
            (f"attention_out_{i}", (D, D), True, D**-0.5 / depth, 0),
            (f"up_{i}", (D, FF), True, D**-0.5, 0),
            (f"down_{i}", (FF, D), True, FF**-0.5 / depth, 0),
        ]
    out.append(("head", (D, V), True, D**-0.5, 0))
    # Gains and biases are moved off their start, so that no gradient is trivial.
    for i in range(LAYERS):
        out += [
            (f"attention_gain_{i}", (D,), False, 0.1, 1),
            (f"feed_forward_gain_{i}", (D,), False, 0.1, 1),
            (f"up_bias_{i}", (FF,), False, 0.1, 0),
        ]
    out.append(("final_gain", (D,), False, 0.1, 1))
    out += [("token_embedding", (V, D), False, 0.5, 0), ("position_embedding", (T, D), False, 0.5, 0)]
    return out


def logits(p, tokens):
    h = p["token_embedding"][tokens] + p["position_embedding"]
    for i in range(LAYERS):
        x = F.rms_norm(h, (D,), p[f"attention_gain_{i}"], NORM_EPS)
        q, k, v = (x @ p[f"qkv_{i}"]).view(B, T, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        h = h + mixed.transpose(1, 2).reshape(B, T, D) @ p[f"attention_out_{i}"]
        x = F.rms_norm(h, (D,), p[f"feed_forward_gain_{i}"], NORM_EPS)
        h = h + torch.relu(x @ p[f"up_{i}"] + p[f"up_bias_{i}"]) @ p[f"down_{i}"]
    return F.rms_norm(h, (D,), p["final_gain"], NORM_EPS) @ p["head"]


def numbers(tensor):
    """Shortest decimals that give the value back in its own precision."""
    array = tensor.detach().numpy().ravel()
    return [float(str(x)) for x in array]


def train(start, rate, tokens, dtype):
    p = {name: torch.tensor(value, dtype=dtype, requires_grad=True) for name, value in start.items()}
    decayed = {name for name, _, decays, _, _ in shapes() if decays}
    groups = [
        dict(params=[t for n, t in p.items() if n in decayed], weight_decay=DECAY),
        dict(params=[t for n, t in p.items() if n not in decayed], weight_decay=0.0),
    ]
    optimizer = torch.optim.AdamW(groups, lr=float(rate), betas=BETAS, eps=EPS)
    record = {"losses": [], "norms": []}
    for step in range(STEPS):
        batch = torch.tensor(tokens[step])
        optimizer.zero_grad()
        out = logits(p, batch[:, :-1])
        loss = F.cross_entropy(out.reshape(-1, V), batch[:, 1:].reshape(-1))
        loss.backward()
        record["losses"].append(float(str(loss.detach().numpy())))
        if step == 0:
            record["logits"] = numbers(out)
            record["gradients"] = {name: numbers(t.grad) for name, t in p.items()}
        norm = torch.nn.utils.clip_grad_norm_(list(p.values()), CLIP)
        record["norms"].append(float(str(norm.numpy())))
        optimizer.step()
        if step + 1 in (1, STEPS):
            record[f"after_{step + 1}"] = {name: numbers(t) for name, t in p.items()}
    return record


def member(index):
    rng = np.random.default_rng(1000 + index)
    start = {}
    for name, shape, _, std, mean in shapes():
        std = std * SCALES[index] if mean == 0 else std
        start[name] = (mean + std * rng.standard_normal(shape)).astype(np.float32)
    tokens = rng.integers(0, V, (STEPS, B, T + 1)).tolist()
    return {
        "rate": float(str(RATES[index])),
        "start": {name: [float(str(x)) for x in value.ravel()] for name, value in start.items()},
        "tokens": tokens,
        "float64": train(start, RATES[index], tokens, torch.float64),
        "float32": train(start, RATES[index], tokens, torch.float32),
    }


def main():
    torch.set_num_threads(1)
    golden = {
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__.split("+")[0],
            "numpy": np.__version__,
        },
        "config": dict(
            vocab=V, time=T, batch=B, width=D, layers=LAYERS, heads=HEADS, hidden=FF,
            decay=DECAY, clip=CLIP, steps=STEPS,
        ),
        "members": [member(0), member(1)],
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    for m in golden["members"]:
        print(m["float64"]["losses"], m["float64"]["norms"], m["float32"]["losses"])


main()
