//! A run in a few lines of text.

use crate::export::bands::{self, QUANTILES};
use crate::runlog::{Metric, RunLog};
use crate::scenarios;

/// Values of a metric shown at most.
const SHOWN: usize = 8;

/// What was run, by whom, and where it ended.
pub fn lines(log: &RunLog) -> Vec<String> {
    let Some(header) = &log.header else { return vec!["no run".to_owned()] };
    let spec = &header.spec;
    let title = scenarios::find(&spec.scenario).map_or("", |scenario| scenario.title);
    let members = spec.ensemble.members;
    let mut lines = vec![
        format!("{}  {title}", spec.scenario),
        format!(
            "  executor  {} ({}) {}",
            header.executor.kind, header.executor.device, header.executor.backend
        )
        .trim_end()
        .to_owned(),
        format!(
            "  steps     {} of {}, {members} seed{} from {}",
            log.last_step(),
            spec.training.steps,
            if members == 1 { "" } else { "s" },
            spec.seed
        ),
    ];
    lines.extend(log.metrics.iter().flat_map(|metric| metric_lines(metric, log)));
    for intervention in &log.interventions {
        lines.push(format!("  step {}: {:?}", intervention.step, intervention.change));
    }
    lines.extend(log.notices.iter().map(|notice| format!("  step {}: {}", notice.step, notice.text)));
    lines
}

/// First and last value of each index: median over members, and the band where there are several.
fn metric_lines(metric: &Metric, log: &RunLog) -> Vec<String> {
    let width = metric.info.width;
    (0..width.min(SHOWN))
        .filter_map(|index| {
            let first = end_of(metric, index, log, 0)?;
            let last = end_of(metric, index, log, log.steps.len() - 1)?;
            let name =
                if width == 1 { metric.info.name.clone() } else { format!("{}[{index}]", metric.info.name) };
            Some(format!("  {name:<9} {first} -> {last}"))
        })
        .chain((width > SHOWN).then(|| format!("  ... {} more", width - SHOWN)))
        .collect()
}

/// The values of one row as text; `None` where the log has no rows.
fn end_of(metric: &Metric, index: usize, log: &RunLog, row: usize) -> Option<String> {
    let steps = log.steps.get(row..=row)?;
    let values = metric.across(row, index).collect();
    let one = Metric { info: metric.info.clone(), members: metric.members, values };
    // The row alone, as a metric of width 1.
    let one = Metric { info: crate::engine::protocol::MetricInfo { width: 1, ..one.info }, ..one };
    let band = bands::band(&one, 0, steps, 1);
    let Some((_, median)) = band.line.first() else { return Some("not finite".to_owned()) };
    Some(match band.range.first() {
        Some((_, low, high)) if figures(*low) == figures(*high) => figures(*median),
        None => figures(*median),
        Some((_, low, high)) => {
            let [from, to] = QUANTILES.map(|q| (100.0 * q).round());
            format!("{} [{from}-{to}%: {}, {}]", figures(*median), figures(*low), figures(*high))
        }
    })
}

/// Four significant digits.
pub fn figures(value: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) {
        let digits = (3 - value.abs().max(1e-300).log10().floor() as i32).clamp(0, 6) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.3e}")
    }
}
