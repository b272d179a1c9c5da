//! The kernels: one row each in `KERNELS`, with its uniform struct and its CPU twin.
//!
//! One name runs through: WGSL entry point = twin = row = pipeline label = stem of the uniform
//! struct. Where a kernel has variants (register or workgroup tilings), the entry points are
//! `<name>_<variant>` under one row and one twin.

pub mod args;
pub mod recording;

use crate::cpu::{self, Call};
use args::*;
pub use recording::{
    Batch, Dispatch, Flags, Op, Readback, Recording, Role, Tensor, TensorId, Tensors, Words,
};

/// The twin of one kernel, in every scalar it is run in.
#[derive(Clone, Copy)]
pub struct Twin {
    pub f32: fn(&mut Call<'_, f32>),
    pub f64: fn(&mut Call<'_, f64>),
}

/// A WGSL entry point of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    pub entry: &'static str,
    /// Output items one workgroup covers in x and y.
    pub tile: [u32; 2],
    /// Made for adapters that run shaders on the processor.
    pub software: bool,
}

/// One row: everything there is to know of a kernel outside its WGSL.
pub struct Kernel {
    pub name: &'static str,
    /// Its shader file, as source.
    pub file: &'static str,
    pub source: &'static str,
    pub args: ArgsInfo,
    /// Boolean overrides it understands.
    pub flags: &'static [&'static str],
    /// One, or one for GPUs and one for software adapters.
    pub variants: &'static [Variant],
    pub twin: Twin,
}

impl Kernel {
    /// The variant to use on an adapter.
    pub fn variant(&self, software: bool) -> &'static Variant {
        self.variants.iter().find(|v| v.software == software).unwrap_or(&self.variants[0])
    }
}

/// The source put in front of every shader file.
pub const COMMON: &str = include_str!("../../shaders/common.wgsl");

/// A row whose entry point is the kernel's name.
macro_rules! row {
    ($name:ident, $args:ty, $file:literal, $flags:expr, $tile:expr) => {
        row!($name, $args, $file, $flags; Variant { entry: stringify!($name), tile: $tile, software: false })
    };
    ($name:ident, $args:ty, $file:literal, $flags:expr; $($variant:expr),+) => {
        Kernel {
            name: stringify!($name),
            file: $file,
            source: include_str!(concat!("../../shaders/", $file, ".wgsl")),
            args: <$args>::INFO,
            flags: $flags,
            variants: &[$($variant),+],
            twin: Twin { f32: cpu::$name::<f32>, f64: cpu::$name::<f64> },
        }
    };
}

/// Every kernel.
pub const KERNELS: &[Kernel] = &[
    row!(counter_advance, CounterAdvanceArgs, "counter", &[], [1, 1]),
    row!(gaussian_fill, GaussianFillArgs, "random", &[], [64, 1]),
    row!(matmul, MatmulArgs, "matmul", &["TRANSPOSE_A", "TRANSPOSE_B", "ACCUMULATE"];
        Variant { entry: "matmul_tiled", tile: [16, 16], software: false },
        Variant { entry: "matmul_registers", tile: [16, 16], software: true }),
    row!(axpby, AxpbyArgs, "elementwise", &["ACCUMULATE"], [64, 1]),
    row!(sum_squares, SumSquaresArgs, "reduce", &[], [u32::MAX, 1]),
    row!(sgd_update, SgdUpdateArgs, "optimizer", &[], [64, 1]),
    row!(mode_projection, ModeProjectionArgs, "linear", &[], [64, 1]),
    row!(log_row, LogRowArgs, "log", &[], [64, 1]),
    row!(sum, SumArgs, "reduce", &[], [u32::MAX, 1]),
    row!(embedding_forward, EmbeddingForwardArgs, "embedding", &[], [64, 1]),
    row!(embedding_backward, EmbeddingBackwardArgs, "embedding", &[], [64, 1]),
    row!(rmsnorm_forward, RmsnormForwardArgs, "norm", &[], [64, 1]),
    row!(rmsnorm_backward, RmsnormBackwardArgs, "norm", &["ACCUMULATE"], [64, 1]),
    row!(rmsnorm_gain_backward, RmsnormGainBackwardArgs, "norm", &[], [64, 1]),
    row!(attention_forward, AttentionForwardArgs, "attention", &[], [64, 1]),
    row!(attention_scores_backward, AttentionScoresBackwardArgs, "attention", &[], [64, 1]),
    row!(attention_backward, AttentionBackwardArgs, "attention", &[], [64, 1]),
    row!(bias_relu_forward, BiasReluForwardArgs, "activation", &[], [64, 1]),
    row!(bias_relu_backward, BiasReluBackwardArgs, "activation", &[], [64, 1]),
    row!(cross_entropy_forward, CrossEntropyForwardArgs, "loss", &[], [64, 1]),
    row!(adamw_update, AdamwUpdateArgs, "optimizer", &[], [64, 1]),
];

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}
