// Counters on the device, [member][step, row, slot, 0]: what lets one Recording be replayed.

struct CounterAdvanceArgs {
    step: u32,
    slot: u32,
}

@group(0) @binding(0) var<uniform> args: CounterAdvanceArgs;
@group(0) @binding(1) var<storage, read_write> counters: array<u32>;

// step += args.step; row += args.step; slot += args.slot. Accumulates.
@compute @workgroup_size(1)
fn counter_advance(@builtin(workgroup_id) group: vec3u) {
    let base = group.z * 4u;
    counters[base] += args.step;
    counters[base + 1u] += args.step;
    counters[base + 2u] += args.slot;
}
