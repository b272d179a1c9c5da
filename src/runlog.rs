//! The RunLog: a fold of Events, and the only thing that plots, checks and exports read.
//!
//! A run made headless opens in the window; a run made in the window exports the same files.
//! Pictures are not folded in: the front end keeps the latest.

use crate::engine::protocol::{Event, Header, Intervention, MetricInfo, Notice, Rows, State, Status};
use crate::packed;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunLog {
    pub header: Option<Header>,
    /// Step of each row, rising.
    pub steps: Vec<u64>,
    /// `sum of eta` at each row.
    #[serde(with = "packed")]
    pub times: Vec<f64>,
    /// One per metric of the header.
    pub metrics: Vec<Metric>,
    pub interventions: Vec<Intervention>,
    pub notices: Vec<Notice>,
    /// Wall-clock facts, outside what is compared.
    pub status: Status,
}

/// Values of one metric, `[row][member][index]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    pub info: MetricInfo,
    pub members: usize,
    #[serde(with = "packed")]
    pub values: Vec<f32>,
}

impl Metric {
    pub fn at(&self, row: usize, member: usize, index: usize) -> f32 {
        self.values[(row * self.members + member) * self.info.width + index]
    }

    /// The values of one member and index over all rows.
    pub fn series(&self, member: usize, index: usize) -> impl Iterator<Item = f32> + '_ {
        let row_len = self.members * self.info.width;
        self.values.iter().skip(member * self.info.width + index).step_by(row_len.max(1)).copied()
    }

    /// The values of all members in one row, for one index.
    pub fn across(&self, row: usize, index: usize) -> impl Iterator<Item = f32> + '_ {
        (0..self.members).map(move |member| self.at(row, member, index))
    }
}

impl RunLog {
    /// Folds one event in. A `Started` begins anew, a `Continued` does not; a refusal only adds a notice.
    pub fn fold(&mut self, event: &Event) {
        match event {
            Event::Started(header) => *self = Self::new(header),
            Event::Continued(header) => self.header = Some((**header).clone()),
            Event::Rows(rows) => self.push(rows),
            Event::Intervention(intervention) => self.interventions.push(*intervention),
            Event::Status(status) => self.status = status.clone(),
            Event::Notice(notice) => self.notices.push(notice.clone()),
            Event::Refused(text) => self.notices.push(Notice {
                level: crate::engine::protocol::Level::Error,
                step: self.status.step,
                text: text.clone(),
            }),
            Event::Picture(_) | Event::Checkpoint(_) | Event::Progress(_) | Event::Ended(_) => {}
        }
    }

    fn new(header: &Header) -> Self {
        let members = header.spec.ensemble.members as usize;
        let metrics = header
            .metrics
            .iter()
            .map(|info| Metric { info: info.clone(), members, values: Vec::new() })
            .collect();
        let status = Status { state: State::Preparing, ..Status::default() };
        Self { header: Some(header.clone()), metrics, status, ..Self::default() }
    }

    fn push(&mut self, rows: &Rows) {
        let members = self.members();
        let width: usize = self.metrics.iter().map(|metric| metric.info.width).sum();
        for (row, values) in rows.values.chunks_exact((members * width).max(1)).enumerate() {
            self.steps.push(rows.steps[row]);
            self.times.push(rows.times[row]);
            for member in values.chunks_exact(width) {
                let mut start = 0;
                for metric in &mut self.metrics {
                    let end = start + metric.info.width;
                    metric.values.extend_from_slice(&member[start..end]);
                    start = end;
                }
            }
        }
    }

    pub fn members(&self) -> usize {
        self.header.as_ref().map_or(0, |header| header.spec.ensemble.members as usize)
    }

    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.info.name == name)
    }

    /// The last logged step.
    pub fn last_step(&self) -> u64 {
        self.steps.last().copied().unwrap_or(0)
    }

    /// Learning rate in force from each step on: the Spec's, then every change.
    pub fn eta_history(&self) -> Vec<(u64, f64)> {
        let Some(header) = &self.header else { return Vec::new() };
        let mut history = vec![(0, header.spec.training.eta)];
        for intervention in &self.interventions {
            let crate::engine::protocol::Change::Eta(eta) = intervention.change;
            history.push((intervention.step, eta));
        }
        history
    }

    /// Whether anything but wall-clock facts differs.
    pub fn same_run(&self, other: &Self) -> bool {
        self.steps == other.steps
            && self.interventions == other.interventions
            && self.times == other.times
            && self.metrics.len() == other.metrics.len()
            && self.metrics.iter().zip(&other.metrics).all(|(a, b)| {
                a.info == b.info
                    && a.values.iter().map(|v| v.to_bits()).eq(b.values.iter().map(|v| v.to_bits()))
            })
    }
}
