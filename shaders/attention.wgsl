// Causal multi-head attention (Vaswani et al. 2017), one thread a (sequence, head, position).
//
// qkv is [member][row][3][head][head_width], row = sequence * time + t; weights and d_scores are
// [member][sequence][head][time t][time s]; out and d_out are [member][row][head][head_width].

struct AttentionForwardArgs {
    batch: u32,
    time: u32,
    heads: u32,
    head_width: u32,
}

struct AttentionScoresBackwardArgs {
    batch: u32,
    time: u32,
    heads: u32,
    head_width: u32,
}

struct AttentionBackwardArgs {
    batch: u32,
    time: u32,
    heads: u32,
    head_width: u32,
}

@group(0) @binding(0) var<uniform> forward: AttentionForwardArgs;
@group(0) @binding(0) var<uniform> scores_backward: AttentionScoresBackwardArgs;
@group(0) @binding(0) var<uniform> backward: AttentionBackwardArgs;
@group(0) @binding(1) var<storage, read> qkv: array<f32>;

// Where one thread works: offsets of its first elements, and the steps between rows.
struct Place {
    inside: bool,
    t: u32,
    // Row of the [time, time] matrices that belongs to (sequence, head, t).
    matrix_row: u32,
    // q of (sequence, t = 0, head) in qkv; k is `width` further on, v `2 width`.
    qkv: u32,
    qkv_step: u32,
    // (sequence, t = 0, head) in out.
    out: u32,
    width: u32,
}

fn place(id: vec3u, batch: u32, time: u32, heads: u32, head_width: u32) -> Place {
    let count = batch * heads * time;
    let head = (id.x / time) % heads;
    let row = (id.z * batch + id.x / (time * heads)) * time;
    let width = heads * head_width;
    let matrix_row = (id.z * count + id.x) * time;
    let channel = head * head_width;
    return Place(
        id.x < count, id.x % time, matrix_row, row * 3u * width + channel, 3u * width, row * width + channel, width
    );
}

@group(0) @binding(2) var<storage, read_write> weights_out: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

// weights[t, s] = softmax over s <= t of q_t . k_s / sqrt(head_width), 0 for s > t;
// out_t = sum over s of weights[t, s] v_s. Overwrites both.
@compute @workgroup_size(64)
fn attention_forward(@builtin(global_invocation_id) id: vec3u) {
    let hd = forward.head_width;
    let at = place(id, forward.batch, forward.time, forward.heads, hd);
    if !at.inside {
        return;
    }
    let scale = 1.0 / sqrt(f32(hd));
    let q = at.qkv + at.t * at.qkv_step;
    var largest = 0.0;
    for (var s = 0u; s <= at.t; s++) {
        let k = at.qkv + s * at.qkv_step + at.width;
        var score = 0.0;
        for (var c = 0u; c < hd; c++) {
            score += qkv[q + c] * qkv[k + c];
        }
        score *= scale;
        weights_out[at.matrix_row + s] = score;
        largest = select(max(largest, score), score, s == 0u);
    }
    var sum = 0.0;
    for (var s = 0u; s <= at.t; s++) {
        let e = exp(weights_out[at.matrix_row + s] - largest);
        weights_out[at.matrix_row + s] = e;
        sum += e;
    }
    for (var s = 0u; s < forward.time; s++) {
        let weight = weights_out[at.matrix_row + s] / sum;
        weights_out[at.matrix_row + s] = select(0.0, weight, s <= at.t);
    }
    for (var c = 0u; c < hd; c++) {
        var value = 0.0;
        for (var s = 0u; s <= at.t; s++) {
            value += weights_out[at.matrix_row + s] * qkv[at.qkv + s * at.qkv_step + 2u * at.width + c];
        }
        out[at.out + at.t * at.width + c] = value;
    }
}

@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read> d_out: array<f32>;
@group(0) @binding(4) var<storage, read_write> d_scores_out: array<f32>;

// With dw[s] = d_out_t . v_s: d_scores[t, s] = weights[t, s] (dw[s] - sum of weights[t, s'] dw[s'])
// / sqrt(head_width), the gradient of q_t . k_s; 0 for s > t. Overwrites.
@compute @workgroup_size(64)
fn attention_scores_backward(@builtin(global_invocation_id) id: vec3u) {
    let hd = scores_backward.head_width;
    let at = place(id, scores_backward.batch, scores_backward.time, scores_backward.heads, hd);
    if !at.inside {
        return;
    }
    let scale = 1.0 / sqrt(f32(hd));
    let d = at.out + at.t * at.width;
    var sum = 0.0;
    for (var s = 0u; s <= at.t; s++) {
        let v = at.qkv + s * at.qkv_step + 2u * at.width;
        var d_weight = 0.0;
        for (var c = 0u; c < hd; c++) {
            d_weight += d_out[d + c] * qkv[v + c];
        }
        d_scores_out[at.matrix_row + s] = d_weight;
        sum += weights[at.matrix_row + s] * d_weight;
    }
    for (var s = 0u; s < scores_backward.time; s++) {
        let value = scale * weights[at.matrix_row + s] * (d_scores_out[at.matrix_row + s] - sum);
        d_scores_out[at.matrix_row + s] = select(0.0, value, s <= at.t);
    }
}

@group(0) @binding(3) var<storage, read> d_scores: array<f32>;
@group(0) @binding(4) var<storage, read> d_mixed: array<f32>;
@group(0) @binding(5) var<storage, read_write> d_qkv: array<f32>;

// dq_t = sum over s <= t of d_scores[t, s] k_s; dk_t = sum over s >= t of d_scores[s, t] q_s;
// dv_t = sum over s >= t of weights[s, t] d_out_s. Sums in the order of s. Overwrites.
@compute @workgroup_size(64)
fn attention_backward(@builtin(global_invocation_id) id: vec3u) {
    let hd = backward.head_width;
    let time = backward.time;
    let at = place(id, backward.batch, time, backward.heads, hd);
    if !at.inside {
        return;
    }
    // Element (0, t) of this (sequence, head)'s matrices.
    let column = at.matrix_row - at.t * time + at.t;
    let mine = at.qkv + at.t * at.qkv_step;
    for (var c = 0u; c < hd; c++) {
        var dq = 0.0;
        for (var s = 0u; s <= at.t; s++) {
            dq += d_scores[at.matrix_row + s] * qkv[at.qkv + s * at.qkv_step + at.width + c];
        }
        var dk = 0.0;
        var dv = 0.0;
        for (var s = at.t; s < time; s++) {
            dk += d_scores[column + s * time] * qkv[at.qkv + s * at.qkv_step + c];
            dv += weights[column + s * time] * d_mixed[at.out + s * at.width + c];
        }
        d_qkv[mine + c] = dq;
        d_qkv[mine + at.width + c] = dk;
        d_qkv[mine + 2u * at.width + c] = dv;
    }
}
