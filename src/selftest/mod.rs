//! The self-test: every kernel on a small case against its twin, before a device is trusted.
//!
//! Drivers and browsers have returned wrong numbers for right shaders. `case` makes the cases,
//! `compare` has the tolerance; the tests of the kernels use both, on more and larger shapes.

pub mod case;
pub mod compare;
#[cfg(test)]
pub mod liar;
mod transformer;

use crate::engine::executor::{Executor, ExecutorError, Finished};
use crate::kernels::{Kernel, Tensors};
use case::{Case, case};
use compare::Expected;
use std::collections::VecDeque;

/// Of each kernel's cases. With these two every override is on in one and off in the other, what
/// members may share is shared in one, and no pipeline is made that a run would not need. That they
/// see what they should is tested by mutations.
const SEEDS: [u64; 2] = [10, 21];
/// More than one, so that a wrong member axis is seen.
const MEMBERS: u32 = 3;
/// Cases on their way at once: in a browser an answer takes milliseconds, whatever it is.
const IN_FLIGHT: usize = 8;

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
/// `progress` is told how many of how many cases are begun, and the kernel of the next. `pause` is
/// called while a device works, and may give up by an error; a browser needs it to give its event
/// loop a turn.
///
/// # Errors
/// The device refuses a kernel, is lost or out of memory, or `pause` gave up.
pub async fn run(
    executor: &mut dyn Executor,
    kernels: impl IntoIterator<Item = &'static Kernel>,
    mut pause: impl AsyncFnMut() -> Result<(), ExecutorError>,
    mut progress: impl FnMut(usize, usize, &'static str),
) -> Result<Vec<Wrong>, ExecutorError> {
    let cases =
        |kernel| SEEDS.into_iter().filter_map(move |seed| Some((kernel, case(kernel, seed, MEMBERS)?)));
    let cases: Vec<(&Kernel, Case)> = kernels.into_iter().flat_map(cases).collect();
    let mut tensors = Tensors::new(MEMBERS);
    tensors.list = cases.iter().flat_map(|(_, case)| case.tensors.list.clone()).collect();
    executor.load(&tensors)?;
    let mut test = Test::default();
    let mut base = 0;
    for (done, (kernel, case)) in cases.iter().enumerate() {
        progress(done, cases.len(), kernel.name);
        executor.submit(case.batch(base)).map_err(|error| testing(kernel, error))?;
        base += case.tensors.list.len() as u32;
        test.waiting.push_back((kernel, case, Expected::of(case)?));
        test.settle(executor, IN_FLIGHT, &mut pause).await?;
    }
    test.settle(executor, 0, &mut pause).await?;
    Ok(test.wrong)
}

/// A test under way.
#[derive(Default)]
struct Test<'a> {
    /// Cases on their way, oldest first.
    waiting: VecDeque<(&'static Kernel, &'a Case, Expected)>,
    wrong: Vec<Wrong>,
}

impl Test<'_> {
    /// Judges what comes back until at most `left` cases are on their way.
    async fn settle(
        &mut self,
        executor: &mut dyn Executor,
        left: usize,
        pause: &mut impl AsyncFnMut() -> Result<(), ExecutorError>,
    ) -> Result<(), ExecutorError> {
        while let Some((oldest, ..)) = self.waiting.front().filter(|_| self.waiting.len() > left) {
            let finished = executor.poll(true).map_err(|error| testing(oldest, error))?;
            if finished.is_empty() {
                pause().await?;
            }
            finished.into_iter().for_each(|finished| self.judge(&finished));
        }
        Ok(())
    }

    /// Compares what came back for the oldest case; a kernel is accused once.
    fn judge(&mut self, finished: &Finished) {
        let Some((Kernel { name, .. }, case, expected)) = self.waiting.pop_front() else { return };
        let found = expected.against(case, &finished.readbacks);
        if found.times > 1.0 && self.wrong.last().is_none_or(|last| last.kernel != *name) {
            self.wrong.push(Wrong { kernel: name, what: found.what });
        }
    }
}

/// A refusal with the kernel under test. A browser tells of it late: it can be one of the next.
fn testing(kernel: &Kernel, error: ExecutorError) -> ExecutorError {
    match error {
        ExecutorError::Refused(why) => ExecutorError::Refused(format!("testing {}: {why}", kernel.name)),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::liar::Liar;
    use super::*;
    use crate::cpu::CpuExecutor;
    use crate::kernels::{KERNELS, Op, Words, find};

    fn wrong(executor: &mut dyn Executor) -> Result<Vec<Wrong>, ExecutorError> {
        pollster::block_on(run(executor, KERNELS, async || Ok(()), |_, _, _| ()))
    }

    #[test]
    fn a_right_executor_passes_and_progress_is_told() {
        let mut told = Vec::new();
        let progress = |done, of, name| told.push((done, of, name));
        let mut twins = CpuExecutor::<f32>::new();
        let run = run(&mut twins, KERNELS, async || Ok(()), progress);
        assert_eq!(pollster::block_on(run), Ok(Vec::new()));
        let names = KERNELS.iter().flat_map(|kernel| [kernel.name; 2]).enumerate();
        let names = names.map(|(done, name)| (done, 2 * KERNELS.len(), name));
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
    fn every_override_is_on_in_one_case_and_off_in_the_other() {
        for kernel in KERNELS {
            let flags = SEEDS.map(|seed| {
                let Op::Dispatch(dispatch) = &case(kernel, seed, MEMBERS).unwrap().recording.ops[0];
                dispatch.flags.clone()
            });
            for flag in kernel.flags {
                assert!(flags[0].contains(flag) != flags[1].contains(flag), "{flag} of {}", kernel.name);
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
    fn what_a_device_cannot_do_is_an_error() {
        let end = |error| wrong(&mut Liar::new("sum", Err(error))).unwrap_err();
        assert_eq!(end(ExecutorError::Refused("no".into())).to_string(), "testing sum: no");
        assert_eq!(end(ExecutorError::Lost("gone".into())).to_string(), "the device was lost: gone");
    }

    #[test]
    fn a_pause_may_give_up() {
        let silent = ExecutorError::Lost("no answer".into());
        let mut silence = Liar::new("", Ok(0.0));
        let run = run(&mut silence, KERNELS, async || Err(silent.clone()), |_, _, _| ());
        assert_eq!(pollster::block_on(run), Err(silent.clone()));
    }
}
