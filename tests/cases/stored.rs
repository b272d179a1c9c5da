//! A stored session: what is stored comes back, what does not fit is left out and said, and no
//! bytes from outside do harm.

use super::draw::Draw;
use super::export::spec;
use super::memory::peak;
use plateau::engine::driver::run_headless;
use plateau::engine::protocol::*;
use plateau::export::stored::*;
use plateau::kernels::Words;
use plateau::models;
use plateau::runlog::RunLog;
use plateau::spec::*;
use std::ops::ControlFlow;

const MIB: usize = 1 << 20;

fn view() -> View {
    View {
        theme: Theme::Dark,
        large: true,
        controls: false,
        steps: true,
        plain: true,
        member: 1,
        speed: Some(0.5),
    }
}

/// A run of 57 of its steps, as one that was left.
fn unfinished() -> RunLog {
    let mut spec = spec(2, 3);
    (spec.training.steps, spec.measure.every) = (57, 5);
    let mut log =
        run_headless(&spec, ExecutorChoice::Cpu, None, &mut |_| ControlFlow::Continue(())).expect("runs");
    if let Some(header) = &mut log.header {
        header.spec.training.steps = 100;
    }
    // Row 57 is one of the shorter run only.
    log.steps.pop();
    log.times.pop();
    for metric in &mut log.metrics {
        metric.values.truncate(log.steps.len() * metric.members * metric.info.width);
    }
    log.interventions.push(Intervention { step: 20, change: Change::Eta(0.03) });
    log.notices.push(Notice { level: Level::Info, step: 3, text: "a word".into() });
    log
}

fn spec_of(log: &RunLog) -> Spec {
    log.header.as_ref().expect("a run").spec.clone()
}

fn state(spec: &Spec, step: u64) -> Checkpoint {
    let floats = |len: &usize| Words::Floats((0..*len).map(|i| i as f32 / 7.0).collect());
    Checkpoint { step, time: 0.1, tensors: models::state(spec).iter().map(floats).collect() }
}

fn stored(log: &RunLog, checkpoint: Option<&Checkpoint>) -> (Vec<u8>, LeftOut) {
    let spec = spec_of(log);
    let keep = Keep { spec: &spec, executor: ExecutorChoice::Cpu, view: view(), log: Some(log), checkpoint };
    write(&keep).expect("written")
}

fn small() -> Vec<u8> {
    let log = unfinished();
    stored(&log, Some(&state(&spec_of(&log), 55))).0
}

#[test]
fn a_session_comes_back() {
    let log = unfinished();
    let checkpoint = state(&spec_of(&log), 55);
    for checkpoint in [None, Some(&checkpoint), Some(&Checkpoint::default())] {
        let (bytes, left_out) = stored(&log, checkpoint);
        let back = read(&bytes).expect("our own bytes");
        assert_eq!((left_out, back.left_out), (LeftOut::Nothing, LeftOut::Nothing));
        assert_eq!((&back.spec, back.executor, &back.view), (&spec_of(&log), ExecutorChoice::Cpu, &view()));
        let (read, state) = back.run.expect("a run");
        assert_eq!((read, state.as_ref()), (log.clone(), checkpoint));
    }
    let spec = spec(1, 2);
    let keep =
        Keep { spec: &spec, executor: ExecutorChoice::Auto, view: view(), log: None, checkpoint: None };
    let (bytes, left_out) = write(&keep).expect("written");
    assert_eq!((left_out, read(&bytes).expect("our own bytes").run), (LeftOut::Nothing, None));
    assert!(bytes.len() < 1_000, "{}", bytes.len());
}

/// A run of `rows` rows with the shapes of its Spec and values that are not.
fn wide(members: u32, rows: usize) -> RunLog {
    let mut log = unfinished();
    let mut wide = spec(members, 64);
    let Model::Linear(linear) = &mut wide.model;
    linear.depth = 4;
    let header = log.header.as_mut().expect("a run");
    (header.metrics, header.spec) = (models::metrics(&wide), wide);
    log.steps = (0..rows as u64).map(|row| 10 * row).collect();
    log.times = vec![0.5; rows];
    let members = members as usize;
    let metric = |info: &MetricInfo| plateau::runlog::Metric {
        info: info.clone(),
        members,
        values: vec![f32::NAN; rows * members * info.width],
    };
    log.metrics = header.metrics.iter().map(metric).collect();
    log
}

#[test]
fn what_does_not_fit_is_left_out() {
    let log = wide(512, 20);
    let checkpoint = state(&spec_of(&log), 100);
    let (bytes, left_out) = stored(&log, Some(&checkpoint));
    let back = read(&bytes).expect("our own bytes");
    assert_eq!((left_out, back.left_out), (LeftOut::Checkpoint, LeftOut::Checkpoint));
    assert!(back.run.is_some_and(|(read, state)| read.same_run(&log) && state.is_none()));

    let log = wide(512, 101);
    let (bytes, left_out) = stored(&log, Some(&checkpoint));
    assert!(bytes.len() > 12 * MIB && bytes.len() < MAX_BYTES, "{}", bytes.len());
    assert_eq!(left_out, LeftOut::Checkpoint);

    let log = wide(1_600, 101);
    let ((bytes, left_out), used) = peak(|| stored(&log, None));
    let back = read(&bytes).expect("our own bytes");
    assert_eq!((left_out, back.left_out, back.run), (LeftOut::Run, LeftOut::Run, None));
    assert!(bytes.len() < 4_000 && used < MIB, "{} bytes, {used} used", bytes.len());

    let mut chatty = unfinished();
    chatty.notices = vec![chatty.notices[0].clone(); 100_000];
    assert_eq!(stored(&chatty, None).1, LeftOut::Run);
}

/// FNV-1a over all that follows, put in its place again.
fn seal(bytes: &mut [u8]) {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
    let sum = bytes[20..].iter().fold(0xCBF2_9CE4_8422_2325, step);
    bytes[12..20].copy_from_slice(&sum.to_le_bytes());
}

/// The complaint, on one line.
fn complaint(bytes: &[u8]) -> String {
    let said = read(bytes).expect_err("damaged").to_string();
    assert!(!said.contains('\n') && said.chars().count() < 500, "{said}");
    said
}

#[test]
fn damaged_and_foreign_and_too_large_are_told_apart() {
    let good = small();
    let mut foreign = good.clone();
    foreign[8] = 9;
    assert_eq!(read(&foreign), Err(StoredError::Version(9)));
    let large = vec![0; MAX_BYTES + 1];
    assert_eq!(read(&large), Err(StoredError::TooLarge(MAX_BYTES + 1)));
    assert!(complaint(b"").contains("ends too early"));
    assert!(complaint(b"{\"format\": \"plateau run 1\"}").contains("does not begin as one"));
    let mut flipped = good.clone();
    flipped[100] ^= 4;
    assert!(complaint(&flipped).contains("checksum"));
    let mut more = good.clone();
    more.push(0);
    seal(&mut more);
    assert!(complaint(&more).contains("bytes after its end"));
    assert!(complaint(&good[..good.len() - 1]).contains("checksum"));
}

#[test]
fn everything_is_held_against_the_spec() {
    let good = unfinished();
    let checked = |change: &dyn Fn(&mut RunLog, &mut Checkpoint), expected: &str| {
        let (mut log, mut checkpoint) = (good.clone(), state(&spec_of(&good), 55));
        change(&mut log, &mut checkpoint);
        let said = complaint(&stored(&log, Some(&checkpoint)).0);
        assert!(said.contains(expected), "`{said}` does not say `{expected}`");
    };
    let header = |log: &mut RunLog, change: &dyn Fn(&mut Header)| change(log.header.as_mut().expect("a run"));
    checked(&|log, _| header(log, &|header| header.spec.training.eta = f64::NAN), "training.eta: NaN");
    checked(&|log, _| header(log, &|header| header.spec.ensemble.members = u32::MAX), "ensemble.members");
    checked(&|log, _| header(log, &|header| header.spec.scenario = "dyck".into()), "nearest: saxe");
    checked(&|log, _| header(log, &|header| header.metrics[1].width = 4), "metrics: not those");
    checked(&|log, _| header(log, &|header| header.metrics[1].name = "loss".into()), "comes twice");
    checked(&|log, _| header(log, &|header| header.metrics.clear()), "metrics: 0 of them");
    checked(&|log, _| log.interventions[0].change = Change::Eta(-1.0), "interventions[0]: training.eta");
    checked(&|log, _| log.steps[3] += 1, "row 3 is of step 16");
    checked(&|log, _| log.times[3] = f64::INFINITY, "row 3 is of step 15 and time inf");
    checked(&|log, _| log.times.truncate(11), "12 steps and 11 times");
    checked(&|log, _| log.metrics[0].values.truncate(23), "too few values of sigma");
    checked(&|log, _| log.metrics[1].values.push(0.0), "1 values too many");
    let gone = "does not belong to this run";
    checked(&|_, state| state.step = 101, gone);
    checked(&|_, state| state.step = 0, gone);
    checked(&|_, state| state.time = f64::NAN, gone);
    checked(&|_, state| state.tensors.clear(), gone);
    checked(&|_, state| state.tensors.push(Words::Floats(Vec::new())), gone);
    checked(&|_, state| state.tensors[0] = Words::Floats(vec![0.0; 7]), gone);
    checked(&|_, state| state.tensors[0] = Words::Integers(vec![0; state.tensors[0].len()]), gone);
    checked(&|_, state| state.step = 60, "of step 60, where rows are missing");
}

#[test]
fn every_truncation_is_refused() {
    let good = small();
    for len in 0..good.len() {
        let mut short = good[..len].to_vec();
        assert!(read(&short).is_err(), "{len}");
        // The same from somebody who knows the checksum.
        if len >= 20 {
            seal(&mut short);
            assert!(matches!(read(&short), Err(StoredError::Corrupt(_))), "{len}");
        }
    }
}

#[test]
fn ten_thousand_flipped_bytes_do_no_harm() {
    let (good, mut draw) = (small(), Draw::new(5));
    let mut read_anyway = 0;
    for _ in 0..10_000 {
        let mut bytes = good.clone();
        for _ in 0..=draw.below(3) {
            let at = draw.below(bytes.len());
            // Markers of MessagePack that promise much: bytes, text, lists and maps with 32-bit lengths.
            let any = draw.below(256) as u8;
            bytes[at] = *draw.pick(&[0xC6, 0xDB, 0xDD, 0xDF, 0xFF, 0xC0, any]);
        }
        if bytes != good {
            assert!(read(&bytes).is_err(), "a changed byte passes the checksum");
        }
        seal(&mut bytes);
        let (result, used) = peak(|| read(&bytes));
        assert!(used < 4 * MIB, "{used} bytes in use for {}", bytes.len());
        read_anyway += usize::from(result.is_ok());
    }
    assert!(read_anyway < 9_000, "{read_anyway}: the flips change nothing");
}

/// A session of these sections.
fn of_sections(sections: [&[u8]; 4]) -> Vec<u8> {
    let mut bytes = small()[..20].to_vec();
    for section in sections {
        bytes.extend((section.len() as u32).to_le_bytes());
        bytes.extend(section);
    }
    seal(&mut bytes);
    bytes
}

/// The sections of a good session.
fn sections(bytes: &[u8]) -> Vec<&[u8]> {
    let mut rest = &bytes[20..];
    let mut found = Vec::new();
    while let Some((len, after)) = rest.split_first_chunk() {
        let (section, after) = after.split_at(u32::from_le_bytes(*len) as usize);
        found.push(section);
        rest = after;
    }
    found
}

#[test]
fn lengths_that_lie_reserve_little() {
    let good = small();
    let [settings, facts, rows, _] = sections(&good)[..] else { panic!("four sections") };
    let text = |text: &str| [&[0xA0 | text.len() as u8][..], text.as_bytes()].concat();
    let promise = |marker: u8| vec![marker, 0xFF, 0xFF, 0xFF, 0xFF];
    let cases = [
        [settings.to_vec(), [vec![0x81], text("notices"), promise(0xDD)].concat(), Vec::new(), Vec::new()],
        [
            settings.to_vec(),
            [vec![0x81], text("interventions"), promise(0xDD)].concat(),
            Vec::new(),
            Vec::new(),
        ],
        [settings.to_vec(), promise(0xDF), Vec::new(), Vec::new()],
        [settings.to_vec(), facts.to_vec(), [vec![0x81], text("values"), promise(0xC6)].concat(), Vec::new()],
        [settings.to_vec(), facts.to_vec(), [vec![0x81], text("steps"), promise(0xDD)].concat(), Vec::new()],
        [
            settings.to_vec(),
            facts.to_vec(),
            rows.to_vec(),
            [vec![0x81], text("tensors"), promise(0xDD)].concat(),
        ],
        [
            [vec![0x81], text("spec"), vec![0x81], text("scenario"), promise(0xDB)].concat(),
            Vec::new(),
            Vec::new(),
            Vec::new(),
        ],
        [vec![0x91; 60_000], Vec::new(), Vec::new(), Vec::new()],
        [[vec![0x81], text("x"), vec![0x91; 60_000]].concat(), Vec::new(), Vec::new(), Vec::new()],
    ];
    for (i, case) in cases.iter().enumerate() {
        let bytes = of_sections([&case[0], &case[1], &case[2], &case[3]]);
        let (result, used) = peak(|| read(&bytes).map(|_| ()));
        assert!(matches!(result, Err(StoredError::Corrupt(_))), "case {i}");
        assert!(used < 3 * MIB, "case {i}: {used} bytes in use");
    }
    // What is really there, in the place where it costs most: in a tagged model, which serde buffers.
    let mut buffered =
        [vec![0x81], text("header"), vec![0x81], text("spec"), vec![0x81], text("model")].concat();
    buffered.extend([vec![0x81], text("x"), vec![0xDD, 0, 0x1F, 0, 0], vec![0xC0; 0x1F_0000]].concat());
    let bytes = of_sections([settings, &buffered, &[], &[]]);
    let (result, used) = peak(|| read(&bytes).map(|_| ()));
    assert!(result.is_err() && used < 160 * MIB, "{used} bytes in use");
    let bytes = of_sections([&buffered, &[], &[], &[]]);
    assert!(complaint(&bytes).contains("a section of"));
}
