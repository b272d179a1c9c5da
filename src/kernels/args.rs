//! The uniform structs of the kernels, `#[repr(C)]`, as the WGSL declares them.
//!
//! Offsets and lengths count elements. `*_offset` is where the operand begins within a member's
//! part of the tensor, `*_stride` the length of that part (0 where all members share it). A test
//! holds every struct against naga's reflection of the WGSL.

use bytemuck::{Pod, Zeroable};

/// A field of a uniform struct: name, byte offset.
pub type Field = (&'static str, usize);

/// The layout of a uniform struct.
#[derive(Clone, Copy, Debug)]
pub struct ArgsInfo {
    pub name: &'static str,
    pub size: usize,
    pub fields: &'static [Field],
}

/// A uniform struct, and the kernel it belongs to.
pub trait Args: Pod {
    const INFO: ArgsInfo;
    const KERNEL: &'static str;
}

/// Declares a uniform struct with its reflection.
macro_rules! args {
    ($(#[$doc:meta])* $name:ident for $kernel:literal { $($field:ident: $ty:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
        pub struct $name { $(pub $field: $ty),+ }

        impl $name {
            pub const INFO: ArgsInfo = ArgsInfo {
                name: stringify!($name),
                size: size_of::<$name>(),
                fields: &[$((stringify!($field), std::mem::offset_of!($name, $field))),+],
            };
        }

        impl Args for $name {
            const INFO: ArgsInfo = $name::INFO;
            const KERNEL: &'static str = $kernel;
        }
    };
}

args! {
    /// How far each counter moves.
    CounterAdvanceArgs for "counter_advance" { step: u32, slot: u32 }
}
args! {
    /// `len` draws of `deviation * N(0, 1)`.
    GaussianFillArgs for "gaussian_fill" {
        offset: u32, stride: u32, len: u32, seed: u32, stream: u32, step: u32, deviation: f32,
    }
}
args! {
    /// `out[m, n] = alpha op(A)[m, k] op(B)[k, n]`.
    MatmulArgs for "matmul" {
        m: u32, n: u32, k: u32,
        a_offset: u32, a_stride: u32, b_offset: u32, b_stride: u32, out_offset: u32, out_stride: u32,
        alpha: f32,
    }
}
args! {
    /// `out = alpha x + beta y` over `len` values.
    AxpbyArgs for "axpby" {
        len: u32,
        x_offset: u32, x_stride: u32, y_offset: u32, y_stride: u32, out_offset: u32, out_stride: u32,
        alpha: f32, beta: f32,
    }
}
args! {
    /// The sum of `len` squares.
    SumSquaresArgs for "sum_squares" {
        len: u32, x_offset: u32, x_stride: u32, out_offset: u32, out_stride: u32,
    }
}
args! {
    /// `len` parameters a member; a row of the schedule has `row_len` values, this member's part of
    /// it begins at `member * row_member`.
    SgdUpdateArgs for "sgd_update" { len: u32, stride: u32, row_len: u32, row_member: u32 }
}
args! {
    /// The `d` diagonal entries of `U^T P V`.
    ModeProjectionArgs for "mode_projection" { d: u32, stride: u32, out_offset: u32, out_stride: u32 }
}
args! {
    /// `width` scalars into one of `slots` rows.
    LogRowArgs for "log_row" { width: u32, slots: u32 }
}
args! {
    /// The sum of `len` values over `divisor` (a factor such as 1/18 would be inexact in f32).
    SumArgs for "sum" {
        len: u32, x_offset: u32, x_stride: u32, out_offset: u32, out_stride: u32, divisor: f32,
    }
}
args! {
    /// `rows` of `width` channels, `time` rows a sequence; the two tables lie in the parameters.
    EmbeddingForwardArgs for "embedding_forward" {
        rows: u32, time: u32, width: u32,
        tokens_stride: u32, params_stride: u32, token_offset: u32, position_offset: u32,
    }
}
args! {
    /// As forward; `vocab` entries in the token table, the gradients of both tables accumulate.
    EmbeddingBackwardArgs for "embedding_backward" {
        rows: u32, time: u32, width: u32, vocab: u32,
        tokens_stride: u32, grads_stride: u32, token_offset: u32, position_offset: u32,
    }
}
args! {
    /// `rows` of `width` channels, the gain in the parameters.
    RmsnormForwardArgs for "rmsnorm_forward" {
        rows: u32, width: u32, gain_offset: u32, params_stride: u32, epsilon: f32,
    }
}
args! {
    /// The gradient of the input.
    RmsnormBackwardArgs for "rmsnorm_backward" {
        rows: u32, width: u32, gain_offset: u32, params_stride: u32,
    }
}
args! {
    /// The gradient of the gain, which accumulates.
    RmsnormGainBackwardArgs for "rmsnorm_gain_backward" {
        rows: u32, width: u32, gain_offset: u32, grads_stride: u32,
    }
}
args! {
    /// `batch` sequences of `time` positions, `heads * head_width` channels.
    AttentionForwardArgs for "attention_forward" { batch: u32, time: u32, heads: u32, head_width: u32 }
}
args! {
    /// The gradient of the scores.
    AttentionScoresBackwardArgs for "attention_scores_backward" {
        batch: u32, time: u32, heads: u32, head_width: u32,
    }
}
args! {
    /// The gradient of queries, keys and values.
    AttentionBackwardArgs for "attention_backward" { batch: u32, time: u32, heads: u32, head_width: u32 }
}
args! {
    /// `rows` of `width` channels, the bias in the parameters.
    BiasReluForwardArgs for "bias_relu_forward" { rows: u32, width: u32, bias_offset: u32, params_stride: u32 }
}
args! {
    /// The gradients of the input, and of the bias, which accumulates.
    BiasReluBackwardArgs for "bias_relu_backward" { rows: u32, width: u32, bias_offset: u32, grads_stride: u32 }
}
args! {
    /// `rows` of `classes` logits; `targets_stride` is 0 where all members share the targets.
    CrossEntropyForwardArgs for "cross_entropy_forward" { rows: u32, classes: u32, targets_stride: u32 }
}
args! {
    /// `len` parameters a member, the first `decayed_len` of them decayed. A row of the schedule has
    /// `row_len` values, this member's four begin at `member * row_member`: lr, lr times weight
    /// decay, and the two bias corrections `1 / (1 - beta^t)`. `clip` 0 means no clipping.
    AdamwUpdateArgs for "adamw_update" {
        len: u32, decayed_len: u32, stride: u32, row_len: u32, row_member: u32,
        norm_offset: u32, norm_stride: u32,
        beta1: f32, beta2: f32, epsilon: f32, clip: f32,
    }
}
