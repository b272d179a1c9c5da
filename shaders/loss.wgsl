// Losses over classes. Dense, [member][row][class].

struct CrossEntropyForwardArgs {
    rows: u32,
    classes: u32,
    targets_stride: u32,
}

@group(0) @binding(0) var<uniform> args: CrossEntropyForwardArgs;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
@group(0) @binding(3) var<storage, read_write> losses: array<f32>;
@group(0) @binding(4) var<storage, read_write> d_logits: array<f32>;

// losses[row] = log sum over c of exp(logits[row, c]) - logits[row, targets[row]], in nats;
// d_logits[row, c] = (softmax(logits[row])[c] - [c = targets[row]]) / rows, the gradient of the mean
// loss. One thread a row. Overwrites both.
@compute @workgroup_size(64)
fn cross_entropy_forward(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= args.rows {
        return;
    }
    let row = id.z * args.rows + id.x;
    let base = row * args.classes;
    var largest = logits[base];
    for (var c = 1u; c < args.classes; c++) {
        largest = max(largest, logits[base + c]);
    }
    var sum = 0.0;
    for (var c = 0u; c < args.classes; c++) {
        sum += exp(logits[base + c] - largest);
    }
    let wanted = targets[id.z * args.targets_stride + id.x];
    losses[row] = log(sum) - (logits[base + wanted] - largest);
    for (var c = 0u; c < args.classes; c++) {
        let hit = select(0.0, 1.0, c == wanted);
        d_logits[base + c] = (exp(logits[base + c] - largest) / sum - hit) / f32(args.rows);
    }
}
