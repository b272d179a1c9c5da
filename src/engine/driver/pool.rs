//! The device kept between runs, and the choice between executors.
//!
//! Opening a device and compiling its pipelines takes longer than many a run, so the last one is
//! kept. `auto` takes whichever executor a short measurement of this very run finds faster.

use super::clock::Stopwatch;
use crate::cpu::CpuExecutor;
use crate::engine::executor::{Executor, ExecutorError};
use crate::engine::protocol::ExecutorChoice;
use crate::engine::session::{Advance, Session};
use crate::gpu::GpuExecutor;
use std::collections::HashMap;

/// A measurement ends once a batch took this long.
const TRIAL_SECONDS: f64 = 0.02;
/// A contender whose first step, pipelines included, takes this long has lost to one that is fast.
const HOPELESS_SECONDS: f64 = 2.0;

/// What decides which executor is faster: dispatches a step, members, largest tensor; adapter.
type Key = ((usize, u32, u64), Option<String>);

#[derive(Default)]
pub struct Pool {
    kept: Option<Device>,
    measured: HashMap<Key, (ExecutorChoice, String)>,
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
    /// Keeps a device for the next run.
    pub fn keep(&mut self, adapter: Option<String>, largest: u64, executor: Box<dyn Executor>) {
        self.kept = Some(Device { adapter, largest, executor });
    }

    /// A new device, after one was lost.
    pub fn open(&self, adapter: Option<&str>, largest: u64) -> Result<Box<dyn Executor>, ExecutorError> {
        Ok(Box::new(GpuExecutor::open(adapter, largest)?))
    }

    /// The kept device where it is the one asked for and large enough, or a new one.
    fn gpu(&mut self, adapter: Option<&str>, largest: u64) -> Result<Box<dyn Executor>, ExecutorError> {
        match self.kept.take() {
            Some(device) if device.adapter.as_deref() == adapter && device.largest >= largest => {
                Ok(device.executor)
            }
            _ => self.open(adapter, largest),
        }
    }

    /// Puts an executor into a session that has the cpu's.
    pub fn equip(
        &mut self,
        session: &mut Session,
        choice: ExecutorChoice,
        adapter: Option<&str>,
    ) -> Result<Equipped, ExecutorError> {
        let key = (session.shape(), adapter.map(str::to_owned));
        let known = (choice == ExecutorChoice::Auto).then(|| self.measured.get(&key).cloned()).flatten();
        let (choice, reason) = known.unwrap_or((choice, "as asked".into()));
        match choice {
            ExecutorChoice::Cpu => Ok(Equipped { kind: choice, reason }),
            ExecutorChoice::Gpu => {
                let gpu = self.gpu(adapter, session.largest_tensor())?;
                session.restart(gpu);
                Ok(Equipped { kind: choice, reason })
            }
            ExecutorChoice::Auto => {
                let equipped = self.measure(session, adapter)?;
                self.measured.insert(key, (equipped.kind, equipped.reason.clone()));
                Ok(equipped)
            }
        }
    }

    /// Runs a few steps on both and leaves the faster one in the session, rewound.
    fn measure(&mut self, session: &mut Session, adapter: Option<&str>) -> Result<Equipped, ExecutorError> {
        let largest = session.largest_tensor();
        let gpu = match self.gpu(adapter, largest) {
            Ok(gpu) => gpu,
            // An adapter that was asked for by name must be there.
            Err(error) if adapter.is_some() => return Err(error),
            Err(error) => {
                return Ok(Equipped { kind: ExecutorChoice::Cpu, reason: format!("no GPU: {error}") });
            }
        };
        let cpu_rate = trial(session)?;
        let cpu = session.restart(gpu);
        let gpu_rate = trial(session);
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
fn trial(session: &mut Session) -> Result<f64, ExecutorError> {
    session.rewind();
    let watch = Stopwatch::start();
    run(session, 1)?;
    let first = watch.seconds();
    if first > HOPELESS_SECONDS {
        session.rewind();
        return Ok(1.0 / first);
    }
    let mut steps = 1;
    loop {
        let watch = Stopwatch::start();
        let done = run(session, steps)?;
        let seconds = watch.seconds();
        if seconds >= TRIAL_SECONDS || done < steps {
            session.rewind();
            return Ok(done.max(1) as f64 / seconds.max(1e-9));
        }
        steps *= 2;
    }
}

/// Runs so many steps to their end; fewer where the run ends before.
fn run(session: &mut Session, steps: u64) -> Result<u64, ExecutorError> {
    let mut done = 0;
    while done < steps {
        match session.advance(steps - done)? {
            Advance::Submitted(submitted) => done += submitted,
            Advance::Waiting => drop(session.poll(true)?),
            Advance::Done => break,
        }
    }
    while session.in_flight() > 0 {
        session.poll(true)?;
    }
    Ok(done)
}
