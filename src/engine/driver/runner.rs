//! The Runner: turns commands and time into steps of a Session, and recovers it.
//!
//! One `tick` does a little work and says how long it may rest; the desktop thread, the headless
//! loop and the page's worker are loops around it. What waits for a device is `async`, since a
//! browser answers only when its event loop has its turn; on the desktop nothing ever pends.

use super::clock::Stopwatch;
use super::pool::{self, Equipped, Pool};
use crate::engine::admit::{admit, admit_change};
use crate::engine::executor::ExecutorError;
use crate::engine::protocol::{Command, Event, ExecutorChoice, Level, Notice, Resume, State, Status, Watch};
use crate::engine::session::{Advance, Session};
use crate::spec::Spec;
use std::collections::VecDeque;

/// What a tick leaves to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rest {
    /// More can be done at once.
    None,
    /// Nothing to do for so many seconds.
    Seconds(f64),
    /// Nothing to do until a command comes.
    Idle,
}

/// A paced run submits at most so often, in seconds: about a display frame.
const PACE: f64 = 0.012;
/// Status is told so often, in seconds.
const STATUS: f64 = 0.1;
/// Recoveries of one run before it is given up.
const RECOVERIES: u32 = 5;

/// How fast a run may go.
struct Pace {
    clock: Stopwatch,
    /// Steps a second at most.
    speed: Option<f64>,
    /// Seconds a submit should take.
    target: f64,
}

/// Where events go, as they come about.
pub type Tell = Box<dyn FnMut(Event)>;

/// What a home of the Runner asks of it.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Seconds a submit should take; short where a screen shares the GPU.
    pub submit: f64,
    /// Trust no adapter untested, and do without one.
    pub in_browser: bool,
    /// Tell checkpoints, for a front end that may outlive the engine.
    pub checkpoints: bool,
}

pub struct Runner {
    pool: Pool,
    run: Option<Run>,
    tell: Tell,
    manner: Manner,
    speed: Option<f64>,
    /// What the front end looks at: kept from run to run.
    watch: Option<Watch>,
    quit: bool,
    clock: Stopwatch,
}

/// The run in hand.
struct Run {
    session: Session,
    equipped: Equipped,
    adapter: Option<String>,
    state: State,
    /// Steps still to do before a pause, when stepping singly.
    stepping: Option<u64>,
    /// Steps a paced run may do by now.
    allowance: f64,
    last_tick: f64,
    /// Batches on their way: steps, time of submission.
    submitted: VecDeque<(u64, f64)>,
    last_finish: f64,
    /// Steps a second of the last batches, undisturbed by pace.
    rate: f64,
    status: Status,
    last_status: f64,
    recoveries: u32,
}

impl Runner {
    pub fn new(manner: Manner, tell: Tell) -> Self {
        Self {
            pool: Pool::new(manner.in_browser),
            run: None,
            tell,
            manner,
            speed: None,
            watch: None,
            quit: false,
            clock: Stopwatch::start(),
        }
    }

    pub fn quitting(&self) -> bool {
        self.quit
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub fn state(&self) -> State {
        self.run.as_ref().map_or(State::Preparing, |run| run.state)
    }

    pub async fn command(&mut self, command: Command) {
        match (command, &mut self.run) {
            (Command::Start { spec, executor, adapter, playing, resume }, _) => {
                if let Err(refusal) = self.start(&spec, executor, adapter, playing, resume).await {
                    (self.tell)(Event::Refused(refusal));
                }
            }
            (Command::Quit, _) => self.quit = true,
            (Command::Speed(speed), _) => self.speed = speed,
            (Command::Play, Some(run)) if run.state == State::Paused => run.state = State::Playing,
            (Command::Pause, Some(run)) if run.state == State::Playing => run.state = State::Paused,
            (Command::Step(steps), Some(run)) if matches!(run.state, State::Playing | State::Paused) => {
                run.state = State::Playing;
                run.stepping = Some(steps);
            }
            (Command::Change(change), Some(run)) => match admit_change(change) {
                Ok(()) => run.session.change(change),
                Err(refusal) => (self.tell)(Event::Refused(refusal.to_string())),
            },
            (Command::LoseDevice, Some(run)) => run.session.executor().lose(),
            (Command::Watch(watch), _) => {
                self.watch = watch;
                self.refresh().await;
            }
            _ => {}
        }
    }

    /// Asks for the watched picture at once, so that a run that stands still shows it too.
    async fn refresh(&mut self) {
        let Some(run) = &mut self.run else { return };
        run.session.watch(self.watch.clone());
        match run.session.refresh_picture() {
            Ok(true) => run.submitted.push_back((0, self.clock.seconds())),
            Ok(false) => {}
            Err(error) => self.recover(&error).await,
        }
    }

    /// Starts a run; the one before goes on where this one is refused.
    async fn start(
        &mut self,
        spec: &Spec,
        choice: ExecutorChoice,
        adapter: Option<String>,
        playing: bool,
        resume: Option<Box<Resume>>,
    ) -> Result<(), String> {
        let memory = admit(spec).map_err(|refusal| refusal.to_string())?;
        let mut session = Session::new(spec, pool::cpu());
        if let Some(resume) = &resume {
            session.admit_resume(resume)?;
        }
        if self.run.as_ref().is_some_and(|run| run.adapter == adapter) {
            self.retire();
        }
        let equipped = self.pool.equip(&mut session, choice, adapter.as_deref(), &mut self.tell).await;
        let equipped = equipped.map_err(|error| error.to_string())?;
        let resumed = resume.is_some();
        if let Some(resume) = resume {
            session.go_on(*resume);
        }
        self.retire();
        session.watch(self.watch.clone());
        session.tell_checkpoints(self.manner.checkpoints);
        let mut header = session.header(memory);
        header.executor.reason.clone_from(&equipped.reason);
        let header = Box::new(header);
        (self.tell)(if resumed { Event::Continued(header) } else { Event::Started(header) });
        if let Some(text) = equipped.warning.clone() {
            (self.tell)(Event::Notice(Notice { level: Level::Warning, step: session.step(), text }));
        }
        let state = if playing { State::Playing } else { State::Paused };
        let mut run = Run::new(session, equipped, adapter, state, self.clock.seconds());
        // Row 0 is there from the start, playing or not.
        let first = run.session.advance(0);
        run.submitted.push_back((0, self.clock.seconds()));
        self.run = Some(run);
        if let Err(error) = first {
            self.recover(&error).await;
        }
        Ok(())
    }

    /// Ends the run and keeps its device.
    fn retire(&mut self) {
        let Some(mut run) = self.run.take() else { return };
        if run.equipped.kind == ExecutorChoice::Gpu {
            let largest = run.session.largest_tensor();
            let executor = run.session.restart(pool::cpu());
            self.pool.keep(run.adapter, largest, executor);
        }
    }

    /// Does a little work.
    pub async fn tick(&mut self, wait: bool) -> Rest {
        let Some(run) = &mut self.run else { return Rest::Idle };
        let pace = Pace { clock: self.clock, speed: self.speed, target: self.manner.submit };
        match run.tick(&pace, wait, &mut self.tell) {
            Ok(rest) => {
                run.tell_status(self.clock.seconds(), &mut self.tell);
                rest
            }
            Err(error) => {
                self.recover(&error).await;
                Rest::None
            }
        }
    }

    /// After a lost device: a new one, from the last checkpoint. Anything else ends the run.
    async fn recover(&mut self, error: &ExecutorError) {
        let Some(run) = &mut self.run else { return };
        run.recoveries += 1;
        let at = run.session.step();
        let tell = &mut self.tell;
        let mut notice = |level, text| tell(Event::Notice(Notice { level, step: at, text }));
        if !matches!(error, ExecutorError::Lost(_)) || run.recoveries > RECOVERIES {
            run.state = State::Failed;
            notice(Level::Error, format!("the run has stopped at step {at}: {error}"));
            run.tell_status(self.clock.seconds(), tell);
            return;
        }
        notice(Level::Warning, error.to_string());
        let largest = run.session.largest_tensor();
        let made = match run.equipped.kind {
            ExecutorChoice::Gpu => self.pool.open(run.adapter.as_deref(), largest).await,
            _ => Ok(pool::cpu()),
        };
        let executor = made.unwrap_or_else(|error| {
            notice(Level::Warning, format!("no new device ({error}): going on with the cpu executor"));
            run.equipped.kind = ExecutorChoice::Cpu;
            pool::cpu()
        });
        let step = run.session.resume(executor);
        run.submitted.clear();
        notice(Level::Info, format!("resumed from the checkpoint at step {step}"));
    }
}

impl Run {
    fn new(session: Session, equipped: Equipped, adapter: Option<String>, state: State, now: f64) -> Self {
        Self {
            session,
            equipped,
            adapter,
            state,
            stepping: None,
            allowance: 0.0,
            last_tick: now,
            submitted: VecDeque::new(),
            last_finish: now,
            rate: 0.0,
            status: Status::default(),
            last_status: now,
            recoveries: 0,
        }
    }

    fn tick(&mut self, pace: &Pace, wait: bool, tell: &mut Tell) -> Result<Rest, ExecutorError> {
        let mut rest = Rest::Idle;
        if self.state == State::Playing {
            rest = self.play(pace)?;
        }
        self.session.poll(wait && rest != Rest::None)?.into_iter().for_each(tell);
        self.finished(pace.clock.seconds());
        if self.session.in_flight() > 0 && rest != Rest::None {
            rest = Rest::Seconds(0.001);
        }
        Ok(rest)
    }

    /// Submits what pace, single steps and the size of a submit allow.
    fn play(&mut self, pace: &Pace) -> Result<Rest, ExecutorError> {
        let now = pace.clock.seconds();
        let elapsed = now - std::mem::replace(&mut self.last_tick, now);
        let mut steps = self.submit_size(pace.target);
        let repeat = self.session.to_repeat();
        if let Some(stepping) = self.stepping {
            steps = steps.min(stepping);
        } else if repeat > 0 {
            // Nobody waits for what was seen before.
            steps = steps.min(repeat);
        } else if let Some(speed) = pace.speed {
            // A run held up does not catch up by more than a quarter of a second.
            self.allowance = (self.allowance + elapsed * speed).min((speed * 0.25).max(1.0));
            let due = (speed * PACE).max(1.0);
            if self.allowance < due {
                return Ok(Rest::Seconds(((due - self.allowance) / speed).min(PACE)));
            }
            steps = steps.min(self.allowance as u64);
        }
        match self.session.advance(steps)? {
            Advance::Submitted(steps) => {
                self.allowance = (self.allowance - steps as f64).max(0.0);
                self.submitted.push_back((steps, now));
                self.count_down(steps);
                Ok(Rest::None)
            }
            Advance::Waiting => Ok(Rest::Seconds(0.001)),
            Advance::Done => {
                self.state = State::Done;
                Ok(Rest::Idle)
            }
        }
    }

    fn count_down(&mut self, steps: u64) {
        if let Some(stepping) = self.stepping {
            let left = stepping.saturating_sub(steps);
            self.stepping = (left > 0).then_some(left);
            if left == 0 {
                self.state = State::Paused;
            }
        }
    }

    /// Steps for which a submit takes about `target` seconds, by the measured rate.
    fn submit_size(&self, target: f64) -> u64 {
        if self.rate == 0.0 { 1 } else { (self.rate * target).max(1.0) as u64 }
    }

    /// Measures the batches that have come back by `now`.
    fn finished(&mut self, now: f64) {
        let (mut steps, mut since) = (0, now);
        while self.submitted.len() > self.session.in_flight() {
            let Some((batch, at)) = self.submitted.pop_front() else { break };
            steps += batch;
            since = since.min(at.max(self.last_finish));
        }
        if since < now {
            self.last_finish = now;
        }
        if steps > 0 {
            let seconds = (now - since).max(1e-6);
            self.rate = steps as f64 / seconds;
            self.status.submit_steps = steps;
            self.status.submit_seconds = seconds;
        }
    }

    /// Tells where the run is: at every change of state, else now and then while it plays.
    fn tell_status(&mut self, now: f64, tell: &mut Tell) {
        let elapsed = now - self.last_status;
        let changed = self.state != self.status.state;
        if !changed && (elapsed < STATUS || self.state != State::Playing) {
            return;
        }
        let step = self.session.step();
        if elapsed > 0.0 {
            self.status.steps_per_second = step.saturating_sub(self.status.step) as f64 / elapsed;
        }
        self.last_status = now;
        self.status.state = self.state;
        self.status.step = step;
        tell(Event::Status(self.status.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenarios;
    use crate::selftest::liar::Liar;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// The warning belongs to the run: it comes after what begins the run's record.
    #[test]
    fn a_run_kept_from_a_device_says_so() {
        let told = Rc::new(RefCell::new(Vec::new()));
        let events = told.clone();
        let manner = Manner { submit: 0.01, in_browser: true, checkpoints: false };
        let mut runner = Runner::new(manner, Box::new(move |event| events.borrow_mut().push(event)));
        runner.pool.keep(None, u64::MAX, Box::new(Liar::new("axpby", Ok(f32::NAN))));
        for executor in [ExecutorChoice::Gpu, ExecutorChoice::Auto] {
            let spec = Box::new((scenarios::ALL[0].presets)().remove(0).spec);
            let start = Command::Start { spec, executor, adapter: None, playing: false, resume: None };
            pollster::block_on(runner.command(start));
            let events = told.take();
            let told = events.iter().filter(|event| !matches!(event, Event::Progress(_)));
            let [Event::Started(header), Event::Notice(notice)] = told.collect::<Vec<_>>()[..] else {
                panic!("{events:?}")
            };
            assert_eq!(header.executor.kind, "cpu");
            assert_eq!(header.executor.reason, "the device failed its self-test");
            assert!(notice.level == Level::Warning && notice.text.contains("axpby: `out`"), "{notice:?}");
        }
    }
}
