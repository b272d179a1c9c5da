//! `metrics.csv`: the rows of a RunLog in tidy form, `step,time,member,metric,index,value`.
//!
//! One line a value, in the order row, member, metric, index; numbers are the shortest text that
//! reads back to the same bits (float32 for values, float64 for times). A NaN keeps its sign, so
//! both that arithmetic produces survive; other NaN payloads do not. The reader takes this order
//! and no other, which is how it notices a line that is missing.

use crate::engine::admit::MAX_HISTORY;
use crate::names::shown;
use crate::runlog::RunLog;
use ::csv::{ReaderBuilder, StringRecord, Writer};
use std::io::{self, Read, Write};

/// The header line.
pub const COLUMNS: [&str; 6] = ["step", "time", "member", "metric", "index", "value"];

/// Longest line read, in bytes; one of ours has about sixty.
const MAX_LINE: usize = 4_096;

/// Writes every row of the log.
///
/// # Errors
/// Whatever the stream says.
pub fn write(log: &RunLog, out: impl Write) -> io::Result<()> {
    let mut writer = Writer::from_writer(out);
    writer.write_record(COLUMNS)?;
    for (row, (step, time)) in log.steps.iter().zip(&log.times).enumerate() {
        let (step, time) = (step.to_string(), format!("{time:?}"));
        for member in 0..log.members() {
            let name = member.to_string();
            for metric in &log.metrics {
                for index in 0..metric.info.width {
                    let value = number(metric.at(row, member, index));
                    let index = index.to_string();
                    writer.write_record([&step, &time, &name, &metric.info.name, &index, &value])?;
                }
            }
        }
    }
    writer.flush()
}

/// Shortest text that reads back to the same float.
fn number(value: f32) -> String {
    if value.is_nan() && value.is_sign_negative() { "-NaN".to_owned() } else { format!("{value:?}") }
}

/// Fills `steps`, `times` and the metrics' values of a log whose header is known, taking at most
/// `rows` rows.
///
/// # Errors
/// One line: `line 17: ...`.
pub fn read(log: &mut RunLog, rows: usize, input: impl Read) -> Result<(), String> {
    let per_row = log.metrics.iter().map(|metric| metric.info.width).sum::<usize>() * log.members();
    if rows.checked_mul(per_row * 4).is_none_or(|bytes| bytes as u64 > MAX_HISTORY) {
        return Err(format!("{rows} rows of {per_row} values are more than a run may have"));
    }
    let mut reader = ReaderBuilder::new().has_headers(false).from_reader(LineLimit { inner: input, run: 0 });
    let mut lines = Lines { record: StringRecord::new(), line: 0, reader: &mut reader };
    match lines.next()? {
        Some(header) if header.iter().eq(COLUMNS) => {}
        _ => return Err(format!("line 1: the header is not `{}`", COLUMNS.join(","))),
    }
    for row in 0..rows {
        read_row(log, row, &mut lines)?;
    }
    match lines.next()? {
        None => Ok(()),
        Some(_) => Err(format!("line {}: more than the {rows} rows that run.json tells of", lines.line)),
    }
}

/// Reads the lines of one row: every member, metric and index.
fn read_row<R: Read>(log: &mut RunLog, row: usize, lines: &mut Lines<'_, R>) -> Result<(), String> {
    for member in 0..log.members() {
        for slot in 0..log.metrics.len() {
            for index in 0..log.metrics[slot].info.width {
                let expected = (member, log.metrics[slot].info.name.as_str(), index);
                let (step, time, value) = lines.value(expected)?;
                match (log.steps.get(row), log.times.get(row)) {
                    (Some(s), Some(t)) if *s == step && t.to_bits() == time.to_bits() => {}
                    (Some(s), Some(t)) => {
                        return Err(format!(
                            "line {}: step {step} at time {time} within the row of step {s} at time {t}",
                            lines.line
                        ));
                    }
                    _ => begin_row(log, step, time, lines.line)?,
                }
                log.metrics[slot].values.push(value);
            }
        }
    }
    Ok(())
}

fn begin_row(log: &mut RunLog, step: u64, time: f64, line: u64) -> Result<(), String> {
    if let Some(last) = log.steps.last().filter(|last| **last >= step) {
        return Err(format!("line {line}: step {step} after step {last}, steps must rise"));
    }
    if !time.is_finite() {
        return Err(format!("line {line}: time {time} is not finite"));
    }
    log.steps.push(step);
    log.times.push(time);
    Ok(())
}

/// The lines of the file, with the number of the last one read.
struct Lines<'a, R: Read> {
    reader: &'a mut ::csv::Reader<LineLimit<R>>,
    record: StringRecord,
    line: u64,
}

impl<R: Read> Lines<'_, R> {
    fn next(&mut self) -> Result<Option<&StringRecord>, String> {
        let line = self.reader.position().line();
        match self.reader.read_record(&mut self.record) {
            Ok(true) => {
                self.line = self.record.position().map_or(line, ::csv::Position::line);
                Ok(Some(&self.record))
            }
            Ok(false) => {
                self.line = line;
                Ok(None)
            }
            Err(error) => Err(format!("line {line}: {}", reason(&error))),
        }
    }

    /// Step, time and value of the next line, which must be of this member, metric and index.
    fn value(&mut self, (member, metric, index): (usize, &str, usize)) -> Result<(u64, f64, f32), String> {
        let wanted = format!("member {member}, metric {metric}, index {index}");
        if self.next()?.is_none() {
            return Err(format!("line {}: the file ends where {wanted} should follow", self.line));
        }
        let field = |column: usize| self.record.get(column).unwrap_or_default();
        if field(3) != metric || !same(field(2), member) || !same(field(4), index) {
            let found = format!("member {}, metric {}, index {}", field(2), field(3), field(4));
            return Err(format!("line {}: {wanted} should stand here, not {}", self.line, shown(&found)));
        }
        Ok((self.parse(0)?, self.parse(1)?, self.parse(5)?))
    }

    fn parse<T: std::str::FromStr>(&self, column: usize) -> Result<T, String> {
        let text = self.record.get(column).unwrap_or_default();
        text.parse()
            .map_err(|_| format!("line {}: {} `{}` is not a number", self.line, COLUMNS[column], shown(text)))
    }
}

fn same(text: &str, number: usize) -> bool {
    text.parse() == Ok(number)
}

fn reason(error: &::csv::Error) -> String {
    match error.kind() {
        ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields where {expected_len} belong")
        }
        ::csv::ErrorKind::Utf8 { .. } => "not UTF-8 text".to_owned(),
        ::csv::ErrorKind::Io(error) => error.to_string(),
        _ => super::toml::one_line(&error.to_string()),
    }
}

/// A stream that refuses lines too long to be ours, so that a file without line ends cannot fill
/// the memory.
struct LineLimit<R> {
    inner: R,
    run: usize,
}

impl<R: Read> Read for LineLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        for piece in buffer[..read].split_inclusive(|byte| *byte == b'\n') {
            self.run += piece.len();
            if self.run > MAX_LINE {
                return Err(io::Error::other(format!("longer than {MAX_LINE} bytes")));
            }
            if piece.ends_with(b"\n") {
                self.run = 0;
            }
        }
        Ok(read)
    }
}
