//! The self-test: every kernel on a small case against its twin, before a device is trusted.
//!
//! Drivers and browsers have returned wrong numbers for right shaders. `case` makes the cases,
//! `compare` has the tolerance; the tests of the kernels use both, on more and larger shapes.

pub mod case;
pub mod compare;
#[cfg(test)]
pub mod liar;
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

#[cfg(test)]
mod tests {
    use super::liar::Liar;
    use super::*;
    use crate::cpu::CpuExecutor;
    use crate::kernels::{KERNELS, Words, find};

    fn wrong(executor: &mut dyn Executor) -> Result<Vec<Wrong>, ExecutorError> {
        pollster::block_on(run(executor, KERNELS.iter(), async || Ok(()), |_, _, _| ()))
    }

    #[test]
    fn a_right_executor_passes_and_progress_is_told() {
        let mut told = Vec::new();
        let progress = |done, of, name| told.push((done, of, name));
        let mut twins = CpuExecutor::<f32>::new();
        let run = run(&mut twins, KERNELS.iter(), async || Ok(()), progress);
        assert_eq!(pollster::block_on(run), Ok(Vec::new()));
        let names = KERNELS.iter().enumerate().map(|(i, kernel)| (i, KERNELS.len(), kernel.name));
        assert_eq!(told, names.collect::<Vec<_>>());
    }

    /// Whichever kernel it is, and whatever it gives.
    #[test]
    fn a_lie_is_caught_and_named() {
        for kernel in KERNELS {
            for lie in [7.5, 1e30, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let wrong = wrong(&mut Liar::new(kernel.name, Ok(lie))).unwrap();
                let [Wrong { kernel: name, what }] = &wrong[..] else { panic!("{}: {wrong:?}", kernel.name) };
                assert_eq!(*name, kernel.name);
                let figure =
                    if *name == "counter_advance" { "is 6 at 0".into() } else { format!("is {lie:?} at 0") };
                assert!(what.contains(&figure) && what.contains("its twin gives "), "{what}");
            }
        }
    }

    #[test]
    fn a_small_error_is_caught() {
        let case = case(find("matmul").unwrap(), SEEDS[0], MEMBERS).unwrap();
        let expected = Expected::of(&case).unwrap();
        let mut ours = expected.exact.clone();
        assert_eq!(expected.against(&case, &ours).times, 0.0);
        let Words::Floats(values) = &mut ours[0] else { panic!("floats") };
        values[5] += 1e-3;
        let found = expected.against(&case, &ours);
        assert!(found.times > 10.0 && found.what.contains("at 5"), "{found:?}");
    }

    #[test]
    fn what_does_not_come_back_is_wrong() {
        let case = case(find("axpby").unwrap(), SEEDS[0], MEMBERS).unwrap();
        let expected = Expected::of(&case).unwrap();
        for ours in [vec![], vec![Words::Floats(vec![0.5])], vec![Words::Integers(vec![1])]] {
            let found = expected.against(&case, &ours);
            assert!(found.times > 1.0 && found.what == "`out` does not come back whole", "{found:?}");
        }
    }

    #[test]
    fn a_refused_kernel_is_wrong_and_a_lost_device_an_error() {
        let refused = wrong(&mut Liar::new("sum", Err(ExecutorError::Refused("no".into())))).unwrap();
        assert_eq!(
            refused.iter().map(Wrong::to_string).collect::<Vec<_>>(),
            ["sum: the device refuses it: no"]
        );
        let lost = ExecutorError::Lost("gone".into());
        assert_eq!(wrong(&mut Liar::new("sum", Err(lost.clone()))), Err(lost));
    }

    #[test]
    fn a_pause_may_give_up() {
        let silent = ExecutorError::Lost("no answer".into());
        let mut silence = Liar::new("", Ok(0.0));
        let run = run(&mut silence, KERNELS.iter(), async || Err(silent.clone()), |_, _, _| ());
        assert_eq!(pollster::block_on(run), Err(silent.clone()));
    }
}
