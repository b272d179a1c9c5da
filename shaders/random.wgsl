// Draws that are a function of (seed, stream, step; member id, index).

struct GaussianFillArgs {
    offset: u32,
    stride: u32,
    len: u32,
    seed: u32,
    stream: u32,
    step: u32,
    deviation: f32,
}

@group(0) @binding(0) var<uniform> args: GaussianFillArgs;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

// out[i] = deviation * N(0, 1) for i < len, key (seed, stream, step), counter (member id, i). Overwrites.
@compute @workgroup_size(64)
fn gaussian_fill(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= args.len {
        return;
    }
    let key = stream_key(args.seed, args.stream, args.step);
    let bits = threefry(key, vec2u(ids[id.z], id.x));
    out[id.z * args.stride + args.offset + id.x] = args.deviation * gaussian(bits);
}
