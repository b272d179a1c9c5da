//! The window without a display: every action, every view over every kind of log, and a monkey.

use eframe::egui::{self, Key, Modifiers, Theme};
use egui_kittest::{Harness, kittest::Queryable};
use plateau::engine::driver::{Engine, run_headless};
use plateau::engine::protocol::*;
use plateau::runlog::RunLog;
use plateau::scenarios;
use plateau::spec::*;
use plateau::ui::action::Action;
use plateau::ui::link::EngineLink;
use plateau::ui::{Opening, Window, style};
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::rc::Rc;

/// An engine that keeps what it is sent and tells what a test gives it.
#[derive(Default)]
pub struct Fake {
    sent: RefCell<Vec<Command>>,
    waiting: RefCell<Vec<Event>>,
}

impl EngineLink for Fake {
    fn send(&self, command: Command) {
        self.sent.borrow_mut().push(command);
    }

    fn events(&self) -> Vec<Event> {
        self.waiting.borrow_mut().drain(..).collect()
    }
}

impl Fake {
    pub fn tell(&self, event: Event) {
        self.waiting.borrow_mut().push(event);
    }

    /// What was sent since the last time.
    pub fn taken(&self) -> Vec<Command> {
        self.sent.borrow_mut().drain(..).collect()
    }

    /// The events that rebuild a log.
    pub fn replay(&self, log: &RunLog) {
        let header = log.header.clone().expect("a run");
        let members = log.members();
        self.tell(Event::Started(Box::new(header)));
        let mut rows = Rows { steps: log.steps.clone(), times: log.times.clone(), values: Vec::new() };
        for row in 0..log.steps.len() {
            for member in 0..members {
                for metric in &log.metrics {
                    rows.values.extend((0..metric.info.width).map(|index| metric.at(row, member, index)));
                }
            }
        }
        self.tell(Event::Rows(rows));
        self.tell(Event::Status(log.status.clone()));
    }
}

pub type Shown = Harness<'static, Window>;

fn open_sized(size: [f32; 2]) -> (Rc<Fake>, Shown) {
    let fake = Rc::new(Fake::default());
    let window = Window::new(Box::new(fake.clone()), on_cpu());
    (fake, show(window, size))
}

pub fn show(window: Window, size: [f32; 2]) -> Shown {
    Harness::builder().with_size(size).with_max_steps(60).with_context_setup(style::set_up).build_ui_state(
        |ui, window: &mut Window| {
            window.logic(ui.ctx());
            window.ui(ui);
        },
        window,
    )
}

pub fn open() -> (Rc<Fake>, Shown) {
    open_sized([1280.0, 720.0])
}

pub fn small_spec(members: u32) -> Spec {
    let linear = Linear {
        spectrum: vec![3.0, 2.0, 1.0],
        depth: 2,
        start: Start::Aligned,
        tau: 4.0,
        imbalance: 1.0,
        basis: Basis::Random,
        det: Det::Any,
    };
    Spec {
        scenario: "saxe".into(),
        seed: 3,
        ensemble: Ensemble { members },
        training: Training { eta: 0.02, steps: 260 },
        measure: Measure { every: 1 },
        model: Model::Linear(linear),
    }
}

pub fn full_log(members: u32) -> RunLog {
    run_headless(&small_spec(members), ExecutorChoice::Cpu, None, &mut |_| ControlFlow::Continue(()))
        .expect("runs")
}

fn cut(log: &RunLog, rows: usize) -> RunLog {
    let mut cut = log.clone();
    cut.steps.truncate(rows);
    cut.times.truncate(rows);
    for metric in &mut cut.metrics {
        metric.values.truncate(rows * metric.members * metric.info.width);
    }
    cut
}

pub fn picture(step: u64, member: u32, d: usize) -> Event {
    let values = (0..d * d).map(|i| (i as f32 - 3.0) / d as f32).collect();
    let watch = Watch { what: "product".into(), member };
    Event::Picture(Picture { watch, step, shape: vec![d, d], values })
}

fn perform(harness: &mut Shown, action: &Action) {
    let ctx = harness.ctx.clone();
    harness.state_mut().perform(action, &ctx);
}

#[test]
fn every_action_has_label_tooltip_and_a_key_of_its_own() {
    let mut keys = HashSet::new();
    let mut labels = HashSet::new();
    for action in Action::ALL {
        assert!(!action.label().is_empty() && action.tooltip().len() > 5, "{action:?}");
        assert!(labels.insert(action.label()), "{action:?} shares its label");
        let key = action.shortcut().unwrap_or_else(|| panic!("{action:?} has no key"));
        assert!(keys.insert(format!("{key:?}")), "{action:?} shares its key");
    }
}

#[test]
fn the_window_starts_its_lab_playing() {
    let (fake, _harness) = open();
    let started =
        fake.taken().into_iter().any(|command| matches!(command, Command::Start { playing: true, .. }));
    assert!(started);
}

#[test]
fn every_log_renders() {
    let full = full_log(1);
    let mut broken = full.clone();
    for metric in &mut broken.metrics {
        let count = metric.values.len();
        metric.values[count / 3] = f32::NAN;
        metric.values[count / 2] = f32::INFINITY;
        metric.values[count - 1] = f32::NEG_INFINITY;
    }
    let mut gone = full.clone();
    gone.metrics.iter_mut().for_each(|metric| metric.values.fill(f32::NAN));
    for log in [cut(&full, 0), cut(&full, 1), full, broken, gone, full_log(5)] {
        for size in [[1280.0, 720.0], [1920.0, 1080.0], [720.0, 480.0]] {
            let (fake, mut harness) = open_sized(size);
            harness.run();
            fake.replay(&log);
            fake.tell(picture(7, 0, 3));
            harness.run();
            perform(&mut harness, &Action::Axis);
            perform(&mut harness, &Action::Basis);
            harness.run();
            perform(&mut harness, &Action::Presentation);
            harness.run();
        }
    }
}

#[test]
fn what_is_not_finite_is_named() {
    let mut log = full_log(1);
    let values = &mut log.metrics[1].values;
    let at = values.len() - 2;
    values[at] = f32::NAN;
    let name = log.metrics[1].info.name.clone();
    let (fake, mut harness) = open();
    fake.replay(&log);
    harness.run();
    harness.get_by_label_contains(&format!("{name} not finite from step"));
}

#[test]
fn the_button_and_the_key_send_the_same() {
    let (fake, mut harness) = open();
    let mut log = full_log(1);
    log.status.state = State::Playing;
    fake.replay(&log);
    harness.run();
    fake.taken();
    harness.get_by_label_contains("Pause").click();
    harness.run();
    assert_eq!(fake.taken(), [Command::Pause]);
    harness.key_press(Key::Space);
    harness.run();
    assert_eq!(fake.taken(), [Command::Pause]);
    log.status.state = State::Paused;
    fake.tell(Event::Status(log.status.clone()));
    harness.run();
    harness.key_press(Key::Space);
    harness.run();
    assert_eq!(fake.taken(), [Command::Play]);
    harness.key_press(Key::Period);
    harness.run();
    assert_eq!(fake.taken(), [Command::Step(1)]);
}

#[test]
fn a_change_of_eta_acts_at_once_and_undo_restores_it() {
    let (fake, mut harness) = open();
    let mut log = full_log(1);
    log.status.state = State::Playing;
    fake.replay(&log);
    harness.run();
    fake.taken();
    let before = harness.state().settings().clone();
    perform(&mut harness, &Action::Eta(0.004));
    assert_eq!(fake.taken(), [Command::Change(Change::Eta(0.004))]);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    harness.run();
    assert_eq!(fake.taken(), [Command::Change(Change::Eta(before.spec.training.eta))]);
    assert_eq!(*harness.state().settings(), before);
    harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    harness.run();
    assert_eq!(fake.taken(), [Command::Change(Change::Eta(0.004))]);
}

#[test]
fn other_changes_restart_and_undo_brings_the_old_run_back() {
    let (fake, mut harness) = open();
    harness.run();
    let before = harness.state().settings().clone();
    fake.taken();
    perform(&mut harness, &Action::Restart(Box::new(small_spec(2))));
    let started = |commands: Vec<Command>| {
        commands.into_iter().find_map(|command| match command {
            Command::Start { spec, .. } => Some(*spec),
            _ => None,
        })
    };
    assert_eq!(started(fake.taken()), Some(small_spec(2)));
    perform(&mut harness, &Action::Undo);
    assert_eq!(started(fake.taken()).as_ref(), Some(&before.spec));
    assert_eq!(*harness.state().settings(), before);
}

#[test]
fn what_cannot_run_is_refused_in_one_line_and_changes_nothing() {
    let (fake, mut harness) = open();
    harness.run();
    let before = harness.state().settings().clone();
    fake.taken();
    let mut hostile = small_spec(1);
    hostile.training.steps = u64::MAX;
    perform(&mut harness, &Action::Restart(Box::new(hostile)));
    perform(&mut harness, &Action::Eta(f64::NAN));
    assert!(fake.taken().is_empty());
    assert_eq!(*harness.state().settings(), before);
    assert_eq!(harness.state().notices().len(), 2);
    perform(&mut harness, &Action::Open("/nowhere/at/all".into()));
    assert!(harness.state().notices()[2].text.contains("/nowhere/at/all"));
    harness.run();
}

#[test]
fn the_question_mark_shows_all_keys() {
    let (_fake, mut harness) = open();
    harness.run();
    harness.key_press(Key::Questionmark);
    harness.run();
    for action in Action::ALL {
        assert!(harness.query_all_by_label(action.label()).count() > 0, "{action:?} is not in the list");
    }
}

#[test]
fn nothing_is_drawn_while_nothing_happens() {
    let (fake, mut harness) = open();
    let log = full_log(1);
    fake.replay(&log);
    harness.run();
    harness.step();
    let delay = harness.output().viewport_output.values().map(|viewport| viewport.repaint_delay).min();
    assert!(delay.is_some_and(|delay| delay.as_secs() > 60), "repaints by itself: {delay:?}");
}

#[test]
fn every_preset_renders_in_both_themes() {
    for preset in (scenarios::ALL[0].presets)() {
        let mut spec = preset.spec.clone();
        spec.training.steps = spec.training.steps.min(300);
        let watch = &mut |_: &Event| ControlFlow::Continue(());
        let log = run_headless(&spec, ExecutorChoice::Cpu, None, watch).expect(preset.id);
        let Model::Linear(linear) = &spec.model;
        for theme in [Theme::Light, Theme::Dark] {
            let (fake, mut harness) = open();
            harness.ctx.set_theme(theme);
            fake.replay(&log);
            fake.tell(picture(1, 0, linear.spectrum.len()));
            harness.run();
        }
    }
}

/// Steps the window, with an engine on its thread, until something holds or half a minute is over.
fn until(harness: &mut Shown, what: &str, holds: impl Fn(&Window) -> bool) {
    for _ in 0..3_000 {
        harness.step();
        if holds(harness.state()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{what}: {:?}, {:?}", harness.state().log().status, harness.state().notices());
}

#[test]
fn with_a_real_engine_it_trains_pauses_changes_and_ends() {
    let engine = Rc::new(Engine::spawn(|| {}));
    let mut harness = show(Window::new(Box::new(engine), on_cpu()), [1280.0, 720.0]);
    until(&mut harness, "rows", |window| window.log().steps.len() > 2);
    perform(&mut harness, &Action::Eta(0.02));
    until(&mut harness, "the change", |window| !window.log().interventions.is_empty());
    perform(&mut harness, &Action::Undo);
    until(&mut harness, "the change back", |window| window.log().interventions.len() == 2);
    assert_eq!(window_eta(&harness), 0.01);
    perform(&mut harness, &Action::PlayPause);
    until(&mut harness, "a pause", |window| window.log().status.state == State::Paused);
    perform(&mut harness, &Action::FullSpeed);
    perform(&mut harness, &Action::PlayPause);
    until(&mut harness, "the end", |window| window.log().status.state == State::Done);
    perform(&mut harness, &Action::NextPreset);
    until(&mut harness, "the next preset's end", |window| {
        window.log().status.state == State::Done && window.log().interventions.is_empty()
    });
    assert!(harness.state().notices().is_empty(), "{:?}", harness.state().notices());
}

/// The learning rate in force at the end of the log.
fn window_eta(harness: &Shown) -> f64 {
    harness.state().log().eta_history().last().expect("a run").1
}

/// A few hundred random actions and clicks, from a fixed seed, over a real engine's log.
#[test]
fn a_monkey_does_not_break_it() {
    let (fake, mut harness) = open();
    let log = full_log(3);
    fake.replay(&log);
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut draw = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for _ in 0..400 {
        match draw(8) {
            0..=2 => {
                let action = Action::ALL[draw(Action::ALL.len() as u64) as usize].clone();
                // Writing files is for another test, leaving for none.
                if !matches!(action, Action::Export | Action::Quit) {
                    perform(&mut harness, &action);
                }
            }
            3 => perform(&mut harness, &Action::Eta(10f64.powi(draw(8) as i32 - 5))),
            4 => {
                fake.replay(&cut(&log, draw(200) as usize));
                fake.tell(picture(draw(300), draw(3) as u32, 1 + draw(4) as usize));
            }
            5 => {
                let state = [State::Playing, State::Paused, State::Done, State::Failed][draw(4) as usize];
                fake.tell(Event::Status(Status { state, step: draw(300), ..Status::default() }));
            }
            _ => {
                let at = egui::pos2(draw(1280) as f32, draw(720) as f32);
                harness.drag_at(at);
                harness.step();
                harness.drop_at(at + egui::vec2(draw(40) as f32 - 20.0, draw(40) as f32 - 20.0));
            }
        }
        harness.step();
    }
}

/// The usual opening, without a device.
fn on_cpu() -> Opening {
    Opening { executor: ExecutorChoice::Cpu, ..Opening::default() }
}
