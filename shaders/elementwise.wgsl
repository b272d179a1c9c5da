// Elementwise operations.

struct AxpbyArgs {
    len: u32,
    x_offset: u32,
    x_stride: u32,
    y_offset: u32,
    y_stride: u32,
    out_offset: u32,
    out_stride: u32,
    alpha: f32,
    beta: f32,
}

override ACCUMULATE: bool = false;

@group(0) @binding(0) var<uniform> args: AxpbyArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

// out = alpha x + beta y (+ out where ACCUMULATE), over len values.
@compute @workgroup_size(64)
fn axpby(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= args.len {
        return;
    }
    let value = args.alpha * x[id.z * args.x_stride + args.x_offset + id.x]
        + args.beta * y[id.z * args.y_stride + args.y_offset + id.x];
    let at = id.z * args.out_stride + args.out_offset + id.x;
    if ACCUMULATE {
        out[at] += value;
    } else {
        out[at] = value;
    }
}
