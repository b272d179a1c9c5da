// Put in front of every shader file: random numbers and index helpers. The only sharing rule.
//
// A buffer is [member][offset]; `address(offset, stride)` is where this member's part begins
// (stride 0: all members share it). The member is the z index of the workgroup.

// Threefry-2x32-20 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
fn threefry(key: vec2u, counter: vec2u) -> vec2u {
    let keys = vec3u(key, 0x1BD11BDAu ^ key.x ^ key.y);
    var x = counter + key;
    for (var group = 0u; group < 5u; group++) {
        // Rotations 13 15 26 6 in even groups of four rounds, 17 29 16 24 in odd ones.
        let odd = (group & 1u) == 1u;
        let rotations = select(vec4u(13u, 15u, 26u, 6u), vec4u(17u, 29u, 16u, 24u), odd);
        for (var round = 0u; round < 4u; round++) {
            let r = rotations[round];
            x.x += x.y;
            x.y = (x.y << r) | (x.y >> (32u - r));
            x.y ^= x.x;
        }
        let next = group + 1u;
        x += vec2u(keys[next % 3u], keys[(next + 1u) % 3u] + next);
    }
    return x;
}

// The key of one stream of draws at one step of a run.
fn stream_key(seed: u32, stream: u32, step: u32) -> vec2u {
    return threefry(vec2u(seed, stream), vec2u(step, 0u));
}

// A number in the open interval (0, 1) from the top 24 bits.
fn open_unit(bits: u32) -> f32 {
    return (f32(bits >> 8u) + 0.5) * 5.9604644775390625e-8;
}

// One standard Gaussian from two words (Box and Muller 1958); finite for every input.
fn gaussian(bits: vec2u) -> f32 {
    return sqrt(-2.0 * log(open_unit(bits.x))) * cos(6.283185307179586 * open_unit(bits.y));
}
