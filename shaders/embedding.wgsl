// Token and position embeddings. Activations are dense, [member][row][channel]; row = sequence * time + t.

struct EmbeddingForwardArgs {
    rows: u32,
    time: u32,
    width: u32,
    tokens_stride: u32,
    params_stride: u32,
    token_offset: u32,
    position_offset: u32,
}

struct EmbeddingBackwardArgs {
    rows: u32,
    time: u32,
    width: u32,
    vocab: u32,
    tokens_stride: u32,
    grads_stride: u32,
    token_offset: u32,
    position_offset: u32,
}

@group(0) @binding(0) var<uniform> forward: EmbeddingForwardArgs;
@group(0) @binding(0) var<uniform> backward: EmbeddingBackwardArgs;
@group(0) @binding(1) var<storage, read> tokens: array<u32>;
@group(0) @binding(2) var<storage, read> params: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<storage, read> d_out: array<f32>;
@group(0) @binding(3) var<storage, read_write> grads: array<f32>;

// out[row, c] = token_table[tokens[row], c] + position_table[t, c]. Overwrites.
@compute @workgroup_size(64)
fn embedding_forward(@builtin(global_invocation_id) id: vec3u) {
    let len = forward.rows * forward.width;
    if id.x >= len {
        return;
    }
    let row = id.x / forward.width;
    let channel = id.x % forward.width;
    let token = tokens[id.z * forward.tokens_stride + row];
    let base = id.z * forward.params_stride + channel;
    out[id.z * len + id.x] = params[base + forward.token_offset + token * forward.width]
        + params[base + forward.position_offset + (row % forward.time) * forward.width];
}

// d_token_table[v, c] += sum of d_out[row, c] over the rows whose token is v;
// d_position_table[t, c] += sum of d_out[row, c] over the rows at t. Rows in order, one thread an
// entry (the token table's first, then the position table's). Accumulates.
@compute @workgroup_size(64)
fn embedding_backward(@builtin(global_invocation_id) id: vec3u) {
    let entry = id.x / backward.width;
    let channel = id.x % backward.width;
    if entry >= backward.vocab + backward.time {
        return;
    }
    let base = id.z * backward.rows * backward.width + channel;
    let words = id.z * backward.tokens_stride;
    var sum = 0.0;
    var at = id.z * backward.grads_stride + channel;
    if entry < backward.vocab {
        at += backward.token_offset + entry * backward.width;
        for (var row = 0u; row < backward.rows; row++) {
            if tokens[words + row] == entry {
                sum += d_out[base + row * backward.width];
            }
        }
    } else {
        let position = entry - backward.vocab;
        at += backward.position_offset + position * backward.width;
        for (var row = position; row < backward.rows; row += backward.time) {
            sum += d_out[base + row * backward.width];
        }
    }
    grads[at] += sum;
}
