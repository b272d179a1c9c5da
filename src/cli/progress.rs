//! Progress of a headless run on a terminal, with the time left; nothing in a pipe.

use super::{complain, interrupt};
use crate::engine::protocol::{Event, Level, Notice};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::ops::ControlFlow;

pub struct Progress {
    bar: ProgressBar,
    quiet: bool,
}

impl Progress {
    /// `label` stands before the bar.
    pub fn new(label: &str, quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target).with_prefix(label.to_owned());
        if let Ok(style) = ProgressStyle::with_template(
            "{prefix} {bar:30} {percent:>3}%  step {human_pos} of {human_len}  {per_sec}  {eta} left  {msg}",
        ) {
            bar.set_style(style);
        }
        Self { bar, quiet }
    }

    /// What a headless run's `watch` is: shows the event, and stops the run after Ctrl-C.
    pub fn watch(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::Started(header) | Event::Continued(header) => {
                self.bar.set_length(header.spec.training.steps);
                self.bar.set_message("");
            }
            Event::Rows(rows) => self.bar.set_position(rows.steps.last().copied().unwrap_or(0)),
            Event::Status(status) => self.bar.set_position(status.step),
            Event::Notice(notice) => self.notice(notice),
            Event::Progress(progress) => self.bar.set_message(progress.what.clone()),
            Event::Intervention(_)
            | Event::Picture(_)
            | Event::Checkpoint(_)
            | Event::Refused(_)
            | Event::Ended(_) => {}
        }
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn notice(&self, notice: &Notice) {
        let kind = match notice.level {
            Level::Info => return,
            Level::Warning => "warning",
            Level::Error => "error",
        };
        if !self.quiet || notice.level == Level::Error {
            self.bar.suspend(|| complain(&format!("{kind}: step {}: {}", notice.step, notice.text)));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
