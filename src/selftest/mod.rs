//! The self-test: every kernel on a small case against its twin, before a device is trusted.
//!
//! Drivers and browsers have returned wrong numbers for right shaders. `case` makes the cases,
//! `compare` has the tolerance; the tests of the kernels use both, on more and larger shapes.

pub mod case;
pub mod compare;
mod transformer;

use crate::engine::executor::{Executor, ExecutorError};
use crate::kernels::Kernel;
use case::{Case, case};
use compare::Expected;

/// Of each kernel's cases. With these two every override is on in one and off in the other, and
/// what members may share is shared in one; that they see what they should is tested by mutations.
const SEEDS: [u64; 2] = [0, 7];
/// More than one, so that a wrong member axis is seen.
const MEMBERS: u32 = 3;

/// A kernel that computes wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kernel}: {what}")]
pub struct Wrong {
    pub kernel: &'static str,
    /// One sentence with the figures.
    pub what: String,
}

/// Runs two small cases of each kernel and says which are wrong; replaces what the executor had
/// loaded.
///
/// One case at a time: what is refused or wrong then has a name, and the pipelines, whose making
/// takes nearly all of the time, are made one after another anyway. `progress` is told how many of
/// how many kernels are done, and the name of the next. `pause` is called while a device works, and
/// may give up by an error; a browser needs it to give its event loop a turn.
///
/// # Errors
/// The device is lost or out of memory, or `pause` gave up. A kernel it refuses is wrong.
pub async fn run(
    executor: &mut dyn Executor,
    kernels: impl ExactSizeIterator<Item = &'static Kernel>,
    mut pause: impl AsyncFnMut() -> Result<(), ExecutorError>,
    mut progress: impl FnMut(usize, usize, &'static str),
) -> Result<Vec<Wrong>, ExecutorError> {
    let of = kernels.len();
    let mut wrong = Vec::new();
    for (done, kernel) in kernels.enumerate() {
        progress(done, of, kernel.name);
        for case in SEEDS.into_iter().filter_map(|seed| case(kernel, seed, MEMBERS)) {
            if let Err(what) = test(executor, &case, &mut pause).await? {
                wrong.push(Wrong { kernel: kernel.name, what });
                break;
            }
        }
    }
    Ok(wrong)
}

/// Runs one case; the inner error says what is wrong.
async fn test(
    executor: &mut dyn Executor,
    case: &Case,
    pause: &mut impl AsyncFnMut() -> Result<(), ExecutorError>,
) -> Result<Result<(), String>, ExecutorError> {
    let submitted = executor.load(&case.tensors).and_then(|()| executor.submit(case.batch()));
    // While the device works.
    let expected = Expected::of(case)?;
    let mut polled = submitted.and_then(|()| executor.poll(true));
    loop {
        match polled.map(|mut finished| finished.pop()) {
            Ok(Some(finished)) => {
                let found = expected.against(case, &finished.readbacks);
                return Ok(if found.times > 1.0 { Err(found.what) } else { Ok(()) });
            }
            Ok(None) => pause().await?,
            Err(ExecutorError::Refused(why)) => return Ok(Err(format!("the device refuses it: {why}"))),
            Err(error) => return Err(error),
        }
        polled = executor.poll(true);
    }
}
