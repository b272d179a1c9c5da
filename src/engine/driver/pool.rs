//! The device kept between runs, and the choice between executors.
//!
//! Opening a device and compiling its pipelines takes longer than many a run, so the last one is
//! kept. `auto` takes whichever executor a short measurement of this very run finds faster. An adapter
//! that computes wrong is not used again, whatever was asked for.

use super::clock::Stopwatch;
use super::runner::Tell;
use super::turn::turn;
use crate::cpu::CpuExecutor;
use crate::engine::executor::{Executor, ExecutorError};
use crate::engine::protocol::{Event, ExecutorChoice, Progress};
use crate::engine::session::{Advance, Session};
use crate::gpu::GpuExecutor;
use crate::kernels::KERNELS;
use crate::selftest::{self, Wrong};
use std::collections::HashMap;

/// A measurement ends once a batch took this long.
const TRIAL_SECONDS: f64 = 0.02;
/// A contender whose first step, pipelines included, takes this long has lost to one that is fast.
const HOPELESS_SECONDS: f64 = 2.0;

/// A device that has not done a few steps by then is not waited for.
const SILENT_SECONDS: f64 = 60.0;

/// What decides which executor is faster: dispatches a step, members, largest tensor; adapter.
type Key = ((usize, u32, u64), Option<String>);

#[derive(Default)]
pub struct Pool {
    kept: Option<Device>,
    measured: HashMap<Key, (ExecutorChoice, String)>,
    /// A browser stands between us and the adapters: each is tested before it is trusted, and there
    /// may be none.
    in_browser: bool,
    /// The adapters tested, and what each computes wrong, if anything.
    tested: HashMap<Option<String>, Option<String>>,
}

/// A device and what it was opened for.
struct Device {
    adapter: Option<String>,
    largest: u64,
    executor: Box<dyn Executor>,
}

/// The executor in a session, and why.
#[derive(Clone, Debug)]
pub struct Equipped {
    pub kind: ExecutorChoice,
    pub reason: String,
    /// What the user should know of it.
    pub warning: Option<String>,
}

impl Equipped {
    fn new(kind: ExecutorChoice, reason: String) -> Self {
        Self { kind, reason, warning: None }
    }

    /// The twins, in place of a device that computes wrong.
    fn instead(wrong: String) -> Self {
        let reason = "the device failed its self-test".into();
        Self { warning: Some(wrong), ..Self::new(ExecutorChoice::Cpu, reason) }
    }

    /// The twins, where there is no device.
    fn without(error: &ExecutorError) -> Self {
        let warning = format!("{error}: the shaders' twins train on the processor");
        Self { warning: Some(warning), ..Self::new(ExecutorChoice::Cpu, format!("no GPU: {error}")) }
    }
}

pub fn cpu() -> Box<dyn Executor> {
    Box::new(CpuExecutor::<f32>::new())
}

impl Pool {
    pub fn new(in_browser: bool) -> Self {
        Self { in_browser, ..Self::default() }
    }

    /// Keeps a device for the next run.
    pub fn keep(&mut self, adapter: Option<String>, largest: u64, executor: Box<dyn Executor>) {
        self.kept = Some(Device { adapter, largest, executor });
    }

    /// A new device, after one was lost.
    pub async fn open(
        &self,
        adapter: Option<&str>,
        largest: u64,
    ) -> Result<Box<dyn Executor>, ExecutorError> {
        Ok(Box::new(GpuExecutor::open_async(adapter, largest).await?))
    }

    /// The kept device where it is the one asked for and large enough, or a new one. The inner error
    /// says what its adapter computes wrong.
    async fn gpu(
        &mut self,
        adapter: Option<&str>,
        largest: u64,
        tell: &mut Tell,
    ) -> Result<Result<Box<dyn Executor>, String>, ExecutorError> {
        let key = adapter.map(str::to_owned);
        let known = self.tested.get(&key).cloned();
        if let Some(Some(wrong)) = known {
            return Ok(Err(wrong));
        }
        let mut executor = match self.kept.take() {
            Some(device) if device.adapter.as_deref() == adapter && device.largest >= largest => {
                device.executor
            }
            _ => self.open(adapter, largest).await?,
        };
        if self.in_browser && known.is_none() {
            let wrong = self_test(executor.as_mut(), tell).await?;
            self.tested.insert(key, wrong.clone());
            return Ok(wrong.map_or(Ok(executor), Err));
        }
        Ok(Ok(executor))
    }

    /// Puts an executor into a session that has the cpu's.
    pub async fn equip(
        &mut self,
        session: &mut Session,
        choice: ExecutorChoice,
        adapter: Option<&str>,
        tell: &mut Tell,
    ) -> Result<Equipped, ExecutorError> {
        let key = (session.shape(), adapter.map(str::to_owned));
        let known = (choice == ExecutorChoice::Auto).then(|| self.measured.get(&key).cloned()).flatten();
        let (choice, reason) = known.unwrap_or((choice, "as asked".into()));
        match choice {
            ExecutorChoice::Cpu => Ok(Equipped::new(choice, reason)),
            ExecutorChoice::Gpu => match self.gpu(adapter, session.largest_tensor(), tell).await {
                Ok(Ok(gpu)) => {
                    session.restart(gpu);
                    Ok(Equipped::new(choice, reason))
                }
                Ok(Err(wrong)) => Ok(Equipped::instead(wrong)),
                // A link made where there was a device also opens where there is none.
                Err(error) if self.in_browser => Ok(Equipped::without(&error)),
                Err(error) => Err(error),
            },
            ExecutorChoice::Auto => {
                let equipped = self.measure(session, adapter, tell).await?;
                // A warning is told with every run it concerns.
                if equipped.warning.is_none() {
                    self.measured.insert(key, (equipped.kind, equipped.reason.clone()));
                }
                Ok(equipped)
            }
        }
    }

    /// Runs a few steps on both and leaves the faster one in the session, rewound.
    async fn measure(
        &mut self,
        session: &mut Session,
        adapter: Option<&str>,
        tell: &mut Tell,
    ) -> Result<Equipped, ExecutorError> {
        let largest = session.largest_tensor();
        progress(tell, "opening the device", 0, 3);
        let gpu = match self.gpu(adapter, largest, tell).await {
            Ok(Ok(gpu)) => gpu,
            Ok(Err(wrong)) => return Ok(Equipped::instead(wrong)),
            // An adapter that was asked for by name must be there.
            Err(error) if adapter.is_some() => return Err(error),
            Err(error) => return Ok(Equipped::without(&error)),
        };
        progress(tell, "measuring the processor", 1, 3);
        let cpu_rate = trial(session).await?;
        progress(tell, "measuring the device", 2, 3);
        let cpu = session.restart(gpu);
        let gpu_rate = trial(session).await;
        session.rewind();
        let kind = match gpu_rate {
            Ok(rate) if rate >= cpu_rate => ExecutorChoice::Gpu,
            _ => ExecutorChoice::Cpu,
        };
        if kind == ExecutorChoice::Cpu {
            let gpu = session.restart(cpu);
            if gpu_rate.is_ok() {
                self.keep(adapter.map(str::to_owned), largest, gpu);
            }
        }
        let found = match gpu_rate {
            Ok(rate) => format!("{rate:.0} steps/s on the gpu"),
            Err(error) => format!("the gpu failed ({error})"),
        };
        Ok(Equipped::new(kind, format!("measured {cpu_rate:.0} steps/s on the cpu, {found}")))
    }
}

fn progress(tell: &mut Tell, what: &str, done: usize, of: usize) {
    tell(Event::Progress(Progress { what: what.into(), done, of }));
}

/// What is wrong with a device, if anything, in one line.
async fn self_test(executor: &mut dyn Executor, tell: &mut Tell) -> Result<Option<String>, ExecutorError> {
    let watch = Stopwatch::start();
    let pause = async || {
        turn().await;
        if watch.seconds() > SILENT_SECONDS { Err(ExecutorError::Lost(silence())) } else { Ok(()) }
    };
    let progress = |done, of, kernel| progress(tell, &format!("testing the device: {kernel}"), done, of);
    let wrong = match selftest::run(executor, KERNELS, pause, progress).await {
        Ok(wrong) => wrong,
        Err(ExecutorError::Refused(why)) => {
            return Ok(Some(format!("the device cannot do all we need, the processor runs instead: {why}")));
        }
        Err(error) => return Err(error),
    };
    Ok(wrong.first().map(|first| {
        let others: Vec<_> = wrong[1..].iter().map(|Wrong { kernel, .. }| *kernel).collect();
        let others =
            if others.is_empty() { String::new() } else { format!("; so are {}", others.join(", ")) };
        format!("the device computes wrong, the processor runs instead. {first}{others}")
    }))
}

fn silence() -> String {
    format!("no answer within {SILENT_SECONDS} s")
}

/// Steps a second of the executor in a session, after one step to warm up.
async fn trial(session: &mut Session) -> Result<f64, ExecutorError> {
    session.rewind();
    let watch = Stopwatch::start();
    run(session, 1).await?;
    let first = watch.seconds();
    if first > HOPELESS_SECONDS {
        session.rewind();
        return Ok(1.0 / first);
    }
    let mut steps = 1;
    loop {
        let watch = Stopwatch::start();
        let done = run(session, steps).await?;
        let seconds = watch.seconds();
        if seconds >= TRIAL_SECONDS || done < steps {
            session.rewind();
            return Ok(done.max(1) as f64 / seconds.max(1e-9));
        }
        steps *= 2;
    }
}

/// Runs so many steps to their end; fewer where the run ends before.
async fn run(session: &mut Session, steps: u64) -> Result<u64, ExecutorError> {
    let watch = Stopwatch::start();
    let mut done = 0;
    loop {
        match if done < steps { session.advance(steps - done)? } else { Advance::Done } {
            Advance::Submitted(submitted) => done += submitted,
            Advance::Done if session.in_flight() == 0 => return Ok(done),
            Advance::Waiting | Advance::Done => {
                session.poll(true)?;
                turn().await;
            }
        }
        if watch.seconds() > SILENT_SECONDS {
            return Err(ExecutorError::Refused(silence()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenarios;
    use crate::selftest::liar::Liar;
    use std::cell::RefCell;
    use std::rc::Rc;

    const ANY: u64 = u64::MAX;
    const CASES: usize = 2 * KERNELS.len();

    /// Equips a session from a pool, and what was told meanwhile.
    fn equip(
        pool: &mut Pool,
        choice: ExecutorChoice,
        adapter: Option<&str>,
    ) -> (Equipped, String, Vec<Progress>) {
        let spec = (scenarios::ALL[0].presets)().remove(0).spec;
        let mut session = Session::new(&spec, cpu());
        let told = Rc::new(RefCell::new(Vec::new()));
        let events = told.clone();
        let mut tell: Tell = Box::new(move |event| match event {
            Event::Progress(progress) => events.borrow_mut().push(progress),
            other => panic!("{other:?}"),
        });
        let equipped = pollster::block_on(pool.equip(&mut session, choice, adapter, &mut tell)).unwrap();
        (equipped, session.executor().info().kind, told.take())
    }

    fn tests(told: &[Progress]) -> usize {
        told.iter().filter(|progress| progress.what.starts_with("testing the device: ")).count()
    }

    #[test]
    fn a_device_that_lies_is_not_used() {
        for choice in [ExecutorChoice::Gpu, ExecutorChoice::Auto] {
            let mut pool = Pool::new(true);
            pool.keep(None, ANY, Box::new(Liar::new("matmul", Ok(f32::NAN))));
            let (equipped, kind, told) = equip(&mut pool, choice, None);
            let warning = equipped.warning.clone().unwrap();
            assert!(warning.contains("matmul: `out` of member 0 is NaN at 0"), "{warning}");
            assert_eq!((equipped.kind, &kind[..], tests(&told)), (ExecutorChoice::Cpu, "cpu", CASES));
            // Neither is it later, with the same warning and no second test.
            for choice in [ExecutorChoice::Gpu, ExecutorChoice::Auto] {
                let (later, kind, told) = equip(&mut pool, choice, None);
                assert_eq!((later.warning, &kind[..], tests(&told)), (equipped.warning.clone(), "cpu", 0));
            }
        }
    }

    #[test]
    fn a_right_device_is_tested_once_for_each_adapter() {
        let mut pool = Pool::new(true);
        for (adapter, expected) in [(None, CASES), (None, 0), (Some("other"), CASES)] {
            pool.keep(adapter.map(str::to_owned), ANY, Box::new(Liar::new("none", Ok(0.0))));
            let (equipped, kind, told) = equip(&mut pool, ExecutorChoice::Gpu, adapter);
            assert_eq!((equipped.warning, &kind[..], tests(&told)), (None, "gpu", expected));
        }
    }

    #[test]
    fn nothing_is_tested_unless_asked_for() {
        let mut pool = Pool::new(false);
        pool.keep(None, ANY, Box::new(Liar::new("matmul", Ok(f32::NAN))));
        let (equipped, kind, told) = equip(&mut pool, ExecutorChoice::Gpu, None);
        assert_eq!((equipped.warning, &kind[..], told), (None, "gpu", Vec::new()));
    }

    #[test]
    fn a_device_that_refuses_a_kernel_is_not_used() {
        let mut pool = Pool::new(true);
        pool.keep(None, ANY, Box::new(Liar::new("sum", Err(ExecutorError::Refused("no barrier".into())))));
        let (equipped, kind, _) = equip(&mut pool, ExecutorChoice::Gpu, None);
        let warning = equipped.warning.unwrap();
        assert!(warning.ends_with(": testing sum: no barrier") && kind == "cpu", "{warning}");
    }

    #[test]
    fn a_device_lost_in_its_test_is_no_device() {
        let mut pool = Pool::new(true);
        pool.keep(None, ANY, Box::new(Liar::new("sum", Err(ExecutorError::Lost("gone".into())))));
        let (equipped, kind, _) = equip(&mut pool, ExecutorChoice::Auto, None);
        assert_eq!((&equipped.reason[..], &kind[..]), ("no GPU: the device was lost: gone", "cpu"));
    }
}
