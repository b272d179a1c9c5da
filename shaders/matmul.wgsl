// out = alpha op(A) op(B) (+ out), op the identity or the transpose, all row-major.
//
// A is [m, k] ([k, m] where TRANSPOSE_A), B is [k, n] ([n, k] where TRANSPOSE_B), out is [m, n].

struct MatmulArgs {
    m: u32,
    n: u32,
    k: u32,
    a_offset: u32,
    a_stride: u32,
    b_offset: u32,
    b_stride: u32,
    out_offset: u32,
    out_stride: u32,
    alpha: f32,
}

override TRANSPOSE_A: bool = false;
override TRANSPOSE_B: bool = false;
override ACCUMULATE: bool = false;

@group(0) @binding(0) var<uniform> args: MatmulArgs;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

fn write_out(member: u32, row: u32, column: u32, sum: f32) {
    if row < args.m && column < args.n {
        let at = member * args.out_stride + args.out_offset + row * args.n + column;
        if ACCUMULATE {
            out[at] += args.alpha * sum;
        } else {
            out[at] = args.alpha * sum;
        }
    }
}

// For software adapters: 4 x 4 outputs a thread in registers, no workgroup memory and no barrier,
// since there a barrier costs more than a load. Rows and columns past the edge are clamped: they
// read valid memory and are not written.
@compute @workgroup_size(4, 4)
fn matmul_registers(@builtin(global_invocation_id) id: vec3u) {
    let row = id.y * 4u;
    let column = id.x * 4u;
    if row >= args.m || column >= args.n {
        return;
    }
    let rows = min(vec4u(row) + vec4u(0u, 1u, 2u, 3u), vec4u(args.m - 1u));
    let columns = min(vec4u(column) + vec4u(0u, 1u, 2u, 3u), vec4u(args.n - 1u));
    // Element (i, l) of op(A) is at i * step.x + l * step.y, likewise (l, j) of op(B).
    let a_step = select(vec2u(args.k, 1u), vec2u(1u, args.m), TRANSPOSE_A);
    let b_step = select(vec2u(args.n, 1u), vec2u(1u, args.k), TRANSPOSE_B);
    var a_at = vec4u(id.z * args.a_stride + args.a_offset) + rows * a_step.x;
    var b_at = vec4u(id.z * args.b_stride + args.b_offset) + columns * b_step.y;
    var s0 = vec4f(0.0);
    var s1 = vec4f(0.0);
    var s2 = vec4f(0.0);
    var s3 = vec4f(0.0);
    for (var l = 0u; l < args.k; l++) {
        let x = vec4f(b[b_at.x], b[b_at.y], b[b_at.z], b[b_at.w]);
        s0 += a[a_at.x] * x;
        s1 += a[a_at.y] * x;
        s2 += a[a_at.z] * x;
        s3 += a[a_at.w] * x;
        a_at += vec4u(a_step.y);
        b_at += vec4u(b_step.x);
    }
    for (var j = 0u; j < 4u; j++) {
        write_out(id.z, row, column + j, s0[j]);
        write_out(id.z, row + 1u, column + j, s1[j]);
        write_out(id.z, row + 2u, column + j, s2[j]);
        write_out(id.z, row + 3u, column + j, s3[j]);
    }
}

const TILE: u32 = 16u;
var<workgroup> a_tile: array<f32, 256>;
var<workgroup> b_tile: array<f32, 256>;

// For GPUs: 16 x 16 tiles of A and B in workgroup memory, one output a thread.
@compute @workgroup_size(16, 16)
fn matmul_tiled(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let row = group.y * TILE + local.y;
    let column = group.x * TILE + local.x;
    let a_base = group.z * args.a_stride + args.a_offset;
    let b_base = group.z * args.b_stride + args.b_offset;
    let a_step = select(vec2u(args.k, 1u), vec2u(1u, args.m), TRANSPOSE_A);
    let b_step = select(vec2u(args.n, 1u), vec2u(1u, args.k), TRANSPOSE_B);
    let at = local.y * TILE + local.x;
    var sum = 0.0;
    for (var start = 0u; start < args.k; start += TILE) {
        let a_column = start + local.x;
        let b_row = start + local.y;
        var a_value = 0.0;
        if row < args.m && a_column < args.k {
            a_value = a[a_base + row * a_step.x + a_column * a_step.y];
        }
        var b_value = 0.0;
        if b_row < args.k && column < args.n {
            b_value = b[b_base + b_row * b_step.x + column * b_step.y];
        }
        a_tile[at] = a_value;
        b_tile[at] = b_value;
        workgroupBarrier();
        for (var l = 0u; l < TILE; l++) {
            sum += a_tile[local.y * TILE + l] * b_tile[l * TILE + local.x];
        }
        workgroupBarrier();
    }
    write_out(group.z, row, column, sum);
}
