// Reductions in a fixed order, so that equal runs give equal bits.

struct SumSquaresArgs {
    len: u32,
    x_offset: u32,
    x_stride: u32,
    out_offset: u32,
    out_stride: u32,
}

struct SumArgs {
    len: u32,
    x_offset: u32,
    x_stride: u32,
    out_offset: u32,
    out_stride: u32,
    divisor: f32,
}

@group(0) @binding(0) var<uniform> args: SumSquaresArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

var<workgroup> partial: array<f32, 64>;

// out[offset] = sum of x_i^2 over len values: thread t sums i = t, t + 64, …, then a tree. Overwrites.
@compute @workgroup_size(64)
fn sum_squares(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let base = group.z * args.x_stride + args.x_offset;
    var sum = 0.0;
    for (var i = thread; i < args.len; i += 64u) {
        let value = x[base + i];
        sum += value * value;
    }
    partial[thread] = sum;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half /= 2u) {
        if thread < half {
            partial[thread] += partial[thread + half];
        }
        workgroupBarrier();
    }
    if thread == 0u {
        out[group.z * args.out_stride + args.out_offset] = partial[0];
    }
}

@group(0) @binding(0) var<uniform> sum_args: SumArgs;

// out[offset] = the sum of x_i over len values / divisor, in the order of sum_squares. Overwrites.
@compute @workgroup_size(64)
fn sum(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let base = group.z * sum_args.x_stride + sum_args.x_offset;
    var total = 0.0;
    for (var i = thread; i < sum_args.len; i += 64u) {
        total += x[base + i];
    }
    partial[thread] = total;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half /= 2u) {
        if thread < half {
            partial[thread] += partial[thread + half];
        }
        workgroupBarrier();
    }
    if thread == 0u {
        out[group.z * sum_args.out_stride + sum_args.out_offset] = partial[0] / sum_args.divisor;
    }
}
