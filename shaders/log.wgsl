// The log: rows of measurements, [member][slot][width], copied out at the end of a submit.

struct LogRowArgs {
    width: u32,
    slots: u32,
}

@group(0) @binding(0) var<uniform> args: LogRowArgs;
@group(0) @binding(1) var<storage, read> scalars: array<f32>;
@group(0) @binding(2) var<storage, read> counters: array<u32>;
@group(0) @binding(3) var<storage, read_write> log_rows: array<f32>;

// log_rows[slot] = scalars, the slot taken from the counters. Overwrites.
@compute @workgroup_size(64)
fn log_row(@builtin(global_invocation_id) id: vec3u) {
    let slot = counters[id.z * 4u + 2u];
    if id.x >= args.width || slot >= args.slots {
        return;
    }
    log_rows[(id.z * args.slots + slot) * args.width + id.x] = scalars[id.z * args.width + id.x];
}
