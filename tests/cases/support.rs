//! What several tests share: the one device, and runs with tolerances.

use plateau::engine::executor::{Executor, Finished};
use plateau::gpu::GpuExecutor;
use plateau::kernels::{Batch, Readback, Recording, TensorId, Tensors, Words};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The shared device; `None` says "skipped" where there is no adapter and none is required.
pub fn gpu() -> Option<MutexGuard<'static, GpuExecutor>> {
    static GPU: OnceLock<Option<Mutex<GpuExecutor>>> = OnceLock::new();
    let opened = GPU.get_or_init(|| GpuExecutor::open(None, 1 << 27).map(Mutex::new).ok());
    match opened {
        Some(gpu) => Some(gpu.lock().unwrap_or_else(PoisonError::into_inner)),
        None if std::env::var_os("REQUIRE_GPU").is_some_and(|value| value == "1") => {
            panic!("no adapter, and REQUIRE_GPU=1 asks for one")
        }
        None => {
            eprintln!("skipped: no adapter");
            None
        }
    }
}

/// Whether tests may run on the gpu at all (and the same message where not).
pub fn has_gpu() -> bool {
    gpu().is_some()
}

/// Loads tensors, uploads, runs a Recording once, reads tensors back.
pub fn run_once(
    executor: &mut dyn Executor,
    tensors: &Tensors,
    uploads: &[(TensorId, Words)],
    recording: &Arc<Recording>,
    outputs: &[TensorId],
) -> Vec<Words> {
    executor.load(tensors).expect("tensors fit");
    let whole = |&tensor: &TensorId| Readback {
        tensor,
        members: (0, tensors.members),
        range: (0, tensors.get(tensor).len as u32),
    };
    let batch = Batch {
        uploads: uploads.to_vec(),
        runs: vec![(recording.clone(), 1)],
        readbacks: outputs.iter().map(whole).collect(),
    };
    executor.submit(batch).expect("the batch is accepted");
    loop {
        if let Some(Finished { readbacks }) = executor.poll(true).expect("the batch runs").pop() {
            return readbacks;
        }
    }
}

pub fn floats(words: &Words) -> &[f32] {
    match words {
        Words::Floats(values) => values,
        Words::Integers(_) => panic!("integers where floats were expected"),
    }
}
