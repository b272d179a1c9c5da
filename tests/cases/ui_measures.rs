//! What the window costs, and what it looks like: run by hand, with `--ignored --nocapture`.

use super::ui::{Fake, full_log, open, picture, small_spec};
use eframe::egui;
use egui_kittest::Harness;
use plateau::engine::driver::run_headless;
use plateau::engine::protocol::*;
use plateau::scenarios;
use plateau::spec::*;
use plateau::ui::{Opening, Window, style};
use std::ops::ControlFlow;
use std::rc::Rc;

/// Times a frame takes on this thread with the widest lab there is; run by hand.
#[test]
#[ignore = "measures"]
fn frames_of_the_widest_lab() {
    for (d, members, rows) in [(8, 1, 1_334), (8, 64, 1_334), (64, 1, 1_334), (64, 256, 700)] {
        let (mut wait, mut draw, mut tessellate) = frames(d, members, rows);
        for (name, times) in [("logic", &mut wait), ("ui", &mut draw), ("tessellation", &mut tessellate)] {
            times.sort_by(f64::total_cmp);
            let [median, high] = [times[times.len() / 2], times[times.len() * 99 / 100]];
            println!(
                "d={d} members={members} {name}: median {:.2} ms, p99 {:.2} ms",
                1e3 * median,
                1e3 * high
            );
        }
    }
}

/// Time that the theory takes, once, when a run starts or its learning rate changes; run by hand.
#[test]
#[ignore = "measures"]
fn theory_of_the_widest_lab() {
    for start in [Start::Aligned, Start::Identity, Start::Random] {
        let mut log = full_log(1);
        let header = log.header.as_mut().expect("a run");
        header.spec.ensemble.members = 256;
        let Model::Linear(linear) = &mut header.spec.model;
        linear.spectrum = plateau::ui::edit::geometric(4.0, 0.35, 64);
        (linear.tau, linear.start, header.spec.training.steps) = (8.0, start, 1_400);
        let clock = std::time::Instant::now();
        let overlay = (scenarios::ALL[0].overlay)(&log);
        println!("{start:?}: {:.1} ms, {} curves", 1e3 * clock.elapsed().as_secs_f64(), overlay.curves.len());
    }
}

/// Seconds of `logic`, `ui` and tessellation in each frame of a run whose rows come one a frame.
fn frames(d: usize, members: usize, rows: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut spec = small_spec(members as u32);
    let Model::Linear(linear) = &mut spec.model;
    linear.spectrum = plateau::ui::edit::geometric(4.0, 0.35, d);
    (linear.tau, spec.training.eta, spec.training.steps) = (8.0, 0.01, rows as u64);
    let mut header = full_log(1).header.expect("a run");
    header.spec = spec;
    header.metrics.iter_mut().for_each(|metric| metric.width = if metric.name == "sigma" { d } else { 1 });
    let (fake, harness) = open();
    let (ctx, mut window) = (harness.ctx.clone(), harness.into_state());
    fake.tell(Event::Started(Box::new(header.clone())));
    let (mut wait, mut draw, mut tessellate) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        let t = row as f64 * 0.01;
        let value = |member: usize, s: f64| {
            let late = 1.0 + member as f64 / members as f64 * 0.3;
            (s / (1.0 + (s / (-16.0_f64).exp() - 1.0) * (-4.0 * s * t / late).exp())) as f32
        };
        let mut values = Vec::with_capacity(members * (d + 1));
        let Model::Linear(linear) = &header.spec.model;
        for member in 0..members {
            for metric in &header.metrics {
                match metric.name.as_str() {
                    "sigma" => values.extend(linear.spectrum.iter().map(|s| value(member, *s))),
                    _ => values.push(30.0 * (-t as f32).exp()),
                }
            }
        }
        fake.tell(Event::Rows(Rows { steps: vec![row as u64], times: vec![t], values }));
        fake.tell(picture(row as u64, 0, d));
        let clock = std::time::Instant::now();
        window.logic(&ctx);
        wait.push(clock.elapsed().as_secs_f64());
        let size = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1920.0, 1080.0));
        let mut input = egui::RawInput { screen_rect: Some(size), ..Default::default() };
        input.events.push(egui::Event::PointerMoved(egui::pos2(900.0, 300.0)));
        let clock = std::time::Instant::now();
        let output = ctx.run_ui(input, |ui| window.ui(ui));
        draw.push(clock.elapsed().as_secs_f64());
        let clock = std::time::Instant::now();
        std::hint::black_box(ctx.tessellate(output.shapes, 1.0));
        tessellate.push(clock.elapsed().as_secs_f64());
    }
    (wait, draw, tessellate)
}

/// A picture of the window at `PICTURE`, to look at while working on it.
#[test]
#[ignore = "writes a picture"]
fn picture_of_the_window() {
    let mut log = full_log(1);
    let (fake, _) = open();
    drop(fake);
    let presets = (scenarios::ALL[0].presets)();
    if let Some(preset) = presets.first() {
        log = run_headless(&preset.spec, ExecutorChoice::Cpu, None, &mut |_| ControlFlow::Continue(()))
            .expect("runs");
    }
    let fake = Rc::new(Fake::default());
    let window = Window::new(Box::new(fake.clone()), on_cpu());
    let mut harness = Harness::builder()
        .with_size([1280.0, 720.0])
        .with_context_setup(style::set_up)
        .wgpu()
        .build_ui_state(
            |ui, window: &mut Window| {
                window.logic(ui.ctx());
                window.ui(ui);
            },
            window,
        );
    fake.replay(&log);
    harness.run();
    let image = harness.render().expect("an adapter");
    let path = std::env::var("PICTURE").unwrap_or_else(|_| "window.png".into());
    image.save(path).expect("written");
}

/// The usual opening, without a device.
fn on_cpu() -> Opening {
    Opening { executor: ExecutorChoice::Cpu, ..Opening::default() }
}
