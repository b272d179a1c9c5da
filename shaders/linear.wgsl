// What is particular to linear networks: the projection onto the modes of the task.

struct ModeProjectionArgs {
    d: u32,
    stride: u32,
    out_offset: u32,
    out_stride: u32,
}

@group(0) @binding(0) var<uniform> args: ModeProjectionArgs;
@group(0) @binding(1) var<storage, read> product: array<f32>;
@group(0) @binding(2) var<storage, read> u: array<f32>;
@group(0) @binding(3) var<storage, read> v: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

// out[i] = (U^T P V)_ii = sum_ab U_ai P_ab V_bi, i < d: how much of mode i of the task the network
// has learned (Saxe et al. 2014). All [d, d]; P has its own member stride. Overwrites.
@compute @workgroup_size(64)
fn mode_projection(@builtin(global_invocation_id) id: vec3u) {
    let d = args.d;
    if id.x >= d {
        return;
    }
    let base = id.z * args.stride;
    let task = id.z * d * d;
    var sum = 0.0;
    for (var row = 0u; row < d; row++) {
        var inner = 0.0;
        for (var column = 0u; column < d; column++) {
            inner += product[base + row * d + column] * v[task + column * d + id.x];
        }
        sum += u[task + row * d + id.x] * inner;
    }
    out[id.z * args.out_stride + args.out_offset + id.x] = sum;
}
