//! The GPU executor; the only place that names wgpu.
//!
//! `reflect` reads bindings and workgroup sizes from the WGSL, so that they are never listed by
//! hand; `device` picks an adapter and opens it; `pipelines` keeps what was compiled; `executor`
//! replays Recordings; `readback` is the ring of staging buffers.

mod device;
pub mod executor;
mod pipelines;
mod readback;
pub mod reflect;

pub use device::{AdapterDescription, adapters};
pub use executor::GpuExecutor;

/// Prepares the process for software adapters; to be called before any thread starts.
///
/// Mesa's software Vulkan uses 256-bit vectors unless told otherwise; with 512-bit ones, where the
/// processor has them, matrix products take half the time and pipelines compile faster.
pub fn prepare_process() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && std::env::var_os("LP_NATIVE_VECTOR_WIDTH").is_none() {
        // SAFETY: called first thing in `main`, while this is the only thread.
        unsafe { std::env::set_var("LP_NATIVE_VECTOR_WIDTH", "512") };
    }
}
