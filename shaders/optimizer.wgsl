// Optimizers: one dispatch over the whole parameter arena.

struct SgdUpdateArgs {
    len: u32,
    stride: u32,
    row_len: u32,
    row_member: u32,
}

struct AdamwUpdateArgs {
    len: u32,
    decayed_len: u32,
    stride: u32,
    row_len: u32,
    row_member: u32,
    norm_offset: u32,
    norm_stride: u32,
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    clip: f32,
}

@group(0) @binding(0) var<uniform> args: SgdUpdateArgs;
@group(0) @binding(1) var<storage, read> rows: array<f32>;
@group(0) @binding(2) var<storage, read> counters: array<u32>;
@group(0) @binding(3) var<storage, read_write> params: array<f32>;
@group(0) @binding(4) var<storage, read_write> grads: array<f32>;

// params -= lr grads, then grads = 0 for the next step to accumulate into; lr is column 0 of this
// step's row ([row][member] of row_member values, or [row] where row_member is 0).
@compute @workgroup_size(64)
fn sgd_update(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= args.len {
        return;
    }
    let lr = rows[counters[id.z * 4u + 1u] * args.row_len + id.z * args.row_member];
    let at = id.z * args.stride + id.x;
    params[at] -= lr * grads[at];
    grads[at] = 0.0;
}

@group(0) @binding(0) var<uniform> adamw: AdamwUpdateArgs;
@group(0) @binding(3) var<storage, read> squared_norm: array<f32>;
@group(0) @binding(4) var<storage, read_write> weights: array<f32>;
@group(0) @binding(5) var<storage, read_write> gradients: array<f32>;
@group(0) @binding(6) var<storage, read_write> first_moment: array<f32>;
@group(0) @binding(7) var<storage, read_write> second_moment: array<f32>;

// AdamW (Loshchilov and Hutter 2019) after clipping by the global norm; this step's row is
// (lr, lr * weight decay, 1 / (1 - beta1^t), 1 / (1 - beta2^t)), in the columns from `row_member`
// times the member on:
// g = grad min(1, clip / (|grad| + 1e-6)) (no clipping where clip is 0);
// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
// param -= decay param (the first decayed_len only) + lr (m c1) / (sqrt(v c2) + epsilon);
// then grad = 0 for the next step to accumulate into.
@compute @workgroup_size(64)
fn adamw_update(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= adamw.len {
        return;
    }
    let row = counters[id.z * 4u + 1u] * adamw.row_len + id.z * adamw.row_member;
    let at = id.z * adamw.stride + id.x;
    var scale = 1.0;
    if adamw.clip > 0.0 {
        let norm = sqrt(squared_norm[id.z * adamw.norm_stride + adamw.norm_offset]);
        scale = min(1.0, adamw.clip / (norm + 1e-6));
    }
    let g = gradients[at] * scale;
    let m = adamw.beta1 * first_moment[at] + (1.0 - adamw.beta1) * g;
    let v = adamw.beta2 * second_moment[at] + (1.0 - adamw.beta2) * g * g;
    let decay = select(0.0, rows[row + 1u], id.x < adamw.decayed_len);
    let kept = weights[at] - decay * weights[at];
    weights[at] = kept - rows[row] * (m * rows[row + 2u]) / (sqrt(v * rows[row + 3u]) + adamw.epsilon);
    first_moment[at] = m;
    second_moment[at] = v;
    gradients[at] = 0.0;
}
