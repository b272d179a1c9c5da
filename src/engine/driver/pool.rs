//! The device kept between runs, and the choice between executors.
//!
//! Opening a device and compiling its pipelines takes longer than many a run, so the last one is
//! kept. `auto` takes whichever executor a short measurement of this very run finds faster.

use super::clock::Stopwatch;
use super::runner::Tell;
use super::turn::turn;
use crate::cpu::CpuExecutor;
use crate::engine::executor::{Executor, ExecutorError};
use crate::engine::protocol::{Event, ExecutorChoice, Progress};
use crate::engine::session::{Advance, Session};
use crate::gpu::GpuExecutor;
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
    /// Test each adapter's kernels before it is trusted.
    self_test: bool,
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
}

pub fn cpu() -> Box<dyn Executor> {
    Box::new(CpuExecutor::<f32>::new())
}

impl Pool {
    pub fn new(self_test: bool) -> Self {
        Self { self_test, ..Self::default() }
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

    /// The kept device where it is the one asked for and large enough, or a new one.
    async fn gpu(&mut self, adapter: Option<&str>, largest: u64) -> Result<Box<dyn Executor>, ExecutorError> {
        match self.kept.take() {
            Some(device) if device.adapter.as_deref() == adapter && device.largest >= largest => {
                Ok(device.executor)
            }
            _ => self.open(adapter, largest).await,
        }
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
            ExecutorChoice::Cpu => Ok(Equipped { kind: choice, reason }),
            ExecutorChoice::Gpu => {
                let gpu = self.gpu(adapter, session.largest_tensor()).await?;
                session.restart(gpu);
                Ok(Equipped { kind: choice, reason })
            }
            ExecutorChoice::Auto => {
                let equipped = self.measure(session, adapter, tell).await?;
                self.measured.insert(key, (equipped.kind, equipped.reason.clone()));
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
        let mut progress = |done: usize| {
            let what = ["opening the device", "measuring the processor", "measuring the device"][done];
            tell(Event::Progress(Progress { what: what.into(), done, of: 3 }));
        };
        progress(0);
        let gpu = match self.gpu(adapter, largest).await {
            Ok(gpu) => gpu,
            // An adapter that was asked for by name must be there.
            Err(error) if adapter.is_some() => return Err(error),
            Err(error) => {
                return Ok(Equipped { kind: ExecutorChoice::Cpu, reason: format!("no GPU: {error}") });
            }
        };
        progress(1);
        let cpu_rate = trial(session).await?;
        progress(2);
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
        Ok(Equipped { kind, reason: format!("measured {cpu_rate:.0} steps/s on the cpu, {found}") })
    }
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
            return Err(ExecutorError::Refused(format!("no answer within {SILENT_SECONDS} s")));
        }
    }
}
