// Activation functions with their bias. Activations are dense, [member][row][channel].

struct BiasReluForwardArgs {
    rows: u32,
    width: u32,
    bias_offset: u32,
    params_stride: u32,
}

struct BiasReluBackwardArgs {
    rows: u32,
    width: u32,
    bias_offset: u32,
    grads_stride: u32,
}

@group(0) @binding(0) var<uniform> forward: BiasReluForwardArgs;
@group(0) @binding(0) var<uniform> backward: BiasReluBackwardArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> params: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

// out[row, c] = max(x[row, c] + bias[c], 0). Overwrites.
@compute @workgroup_size(64)
fn bias_relu_forward(@builtin(global_invocation_id) id: vec3u) {
    let len = forward.rows * forward.width;
    if id.x >= len {
        return;
    }
    let bias = params[id.z * forward.params_stride + forward.bias_offset + id.x % forward.width];
    out[id.z * len + id.x] = max(x[id.z * len + id.x] + bias, 0.0);
}

@group(0) @binding(1) var<storage, read> activated: array<f32>;
@group(0) @binding(2) var<storage, read> d_out: array<f32>;
@group(0) @binding(3) var<storage, read_write> d_x: array<f32>;
@group(0) @binding(4) var<storage, read_write> grads: array<f32>;

// d_x[row, c] = d_out[row, c] where out[row, c] > 0, else 0 (overwrites);
// d_bias[c] += sum over rows, in order, of d_x[row, c] (accumulates). One thread a channel.
@compute @workgroup_size(64)
fn bias_relu_backward(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= backward.width {
        return;
    }
    var at = id.z * backward.rows * backward.width + id.x;
    var sum = 0.0;
    for (var row = 0u; row < backward.rows; row++) {
        let value = select(0.0, d_out[at], activated[at] > 0.0);
        d_x[at] = value;
        sum += value;
        at += backward.width;
    }
    grads[id.z * backward.grads_stride + backward.bias_offset + id.x] += sum;
}
