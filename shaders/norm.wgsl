// Root mean square normalisation (Zhang and Sennrich 2019). Activations are dense,
// [member][row][channel]; the gain lies in the parameter arena.

struct RmsnormForwardArgs {
    rows: u32,
    width: u32,
    gain_offset: u32,
    params_stride: u32,
    epsilon: f32,
}

struct RmsnormBackwardArgs {
    rows: u32,
    width: u32,
    gain_offset: u32,
    params_stride: u32,
}

struct RmsnormGainBackwardArgs {
    rows: u32,
    width: u32,
    gain_offset: u32,
    grads_stride: u32,
}

override ACCUMULATE: bool = false;

@group(0) @binding(0) var<uniform> forward: RmsnormForwardArgs;
@group(0) @binding(0) var<uniform> backward: RmsnormBackwardArgs;
@group(0) @binding(0) var<uniform> gain_backward: RmsnormGainBackwardArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> params: array<f32>;

@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<storage, read_write> inverse_rms_out: array<f32>;

// inverse_rms[row] = (mean of x[row, c]^2 over c + epsilon)^-1/2,
// out[row, c] = gain[c] inverse_rms[row] x[row, c]. One thread a row. Overwrites both.
@compute @workgroup_size(64)
fn rmsnorm_forward(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= forward.rows {
        return;
    }
    let row = id.z * forward.rows + id.x;
    let base = row * forward.width;
    var sum = 0.0;
    for (var c = 0u; c < forward.width; c++) {
        sum += x[base + c] * x[base + c];
    }
    let inverse = 1.0 / sqrt(sum / f32(forward.width) + forward.epsilon);
    let gain = id.z * forward.params_stride + forward.gain_offset;
    for (var c = 0u; c < forward.width; c++) {
        out[base + c] = params[gain + c] * (inverse * x[base + c]);
    }
    inverse_rms_out[row] = inverse;
}

@group(0) @binding(3) var<storage, read> inverse_rms: array<f32>;
@group(0) @binding(4) var<storage, read> d_out: array<f32>;
@group(0) @binding(5) var<storage, read_write> d_x: array<f32>;

// With r = inverse_rms[row]:
// d_x[row, c] = r gain[c] d_out[row, c] - r^3 x[row, c] mean over c' of (gain d_out x)[row, c']
// (+ d_x where ACCUMULATE: the residual path). One thread a row.
@compute @workgroup_size(64)
fn rmsnorm_backward(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= backward.rows {
        return;
    }
    let row = id.z * backward.rows + id.x;
    let base = row * backward.width;
    let gain = id.z * backward.params_stride + backward.gain_offset;
    var sum = 0.0;
    for (var c = 0u; c < backward.width; c++) {
        sum += params[gain + c] * d_out[base + c] * x[base + c];
    }
    let r = inverse_rms[row];
    let mean = sum / f32(backward.width) * r * r;
    for (var c = 0u; c < backward.width; c++) {
        let value = r * (params[gain + c] * d_out[base + c] - mean * x[base + c]);
        if ACCUMULATE {
            d_x[base + c] += value;
        } else {
            d_x[base + c] = value;
        }
    }
}

@group(0) @binding(2) var<storage, read> row_inverse_rms: array<f32>;
@group(0) @binding(3) var<storage, read> row_d_out: array<f32>;
@group(0) @binding(4) var<storage, read_write> grads: array<f32>;

// d_gain[c] += sum over rows, in order, of d_out[row, c] x[row, c] inverse_rms[row]. One thread a
// channel. Accumulates.
@compute @workgroup_size(64)
fn rmsnorm_gain_backward(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= gain_backward.width {
        return;
    }
    let first = id.z * gain_backward.rows;
    var sum = 0.0;
    for (var row = first; row < first + gain_backward.rows; row++) {
        let at = row * gain_backward.width + id.x;
        sum += row_d_out[at] * (x[at] * row_inverse_rms[row]);
    }
    grads[id.z * gain_backward.grads_stride + gain_backward.gain_offset + id.x] += sum;
}
