// Optimizers: one dispatch over the whole parameter arena.

struct SgdUpdateArgs {
    len: u32,
    stride: u32,
    row_len: u32,
    row_member: u32,
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
