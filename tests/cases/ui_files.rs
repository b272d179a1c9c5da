//! What the window keeps and opens: a stored session, and files dropped on it.

use super::ui::{Fake, Shown, full_log, show, small_spec};
use eframe::egui::{self, Key, Modifiers};
use egui_kittest::kittest::Queryable;
use plateau::engine::protocol::*;
use plateau::export::{folder, stored, toml, zip};
use plateau::kernels::Words;
use plateau::models;
use plateau::spec::Spec;
use plateau::ui::action::Action;
use plateau::ui::{Opening, Window};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

fn open(opening: Opening) -> (Rc<Fake>, Shown) {
    let fake = Rc::new(Fake::default());
    let harness = show(Window::new(Box::new(fake.clone()), opening), [1280.0, 720.0]);
    (fake, harness)
}

fn perform(harness: &mut Shown, action: &Action) {
    let ctx = harness.ctx.clone();
    harness.state_mut().perform(action, &ctx);
}

/// The Spec started last, and where it goes on.
fn started(fake: &Fake) -> Option<(Spec, Option<Resume>)> {
    let mut starts = fake.taken().into_iter().filter_map(|command| match command {
        Command::Start { spec, resume, .. } => Some((*spec, resume.map(|resume| *resume))),
        _ => None,
    });
    starts.next_back()
}

fn store(harness: &Shown) -> stored::Stored {
    let (bytes, left_out) = stored::write(&harness.state().keep(&harness.ctx)).expect("written");
    assert_eq!(left_out, stored::LeftOut::Nothing);
    stored::read(&bytes).expect("our own bytes")
}

#[test]
fn a_stored_window_goes_on() {
    let log = full_log(2);
    let spec = log.header.as_ref().expect("a run").spec.clone();
    let (fake, mut harness) = open(Opening::default());
    harness.run();
    perform(&mut harness, &Action::Restart(Box::new(spec.clone())));
    assert!(store(&harness).run.is_none(), "nothing has come yet of what was started");
    fake.replay(&log);
    let state = models::state(&spec).iter().map(|len| Words::Floats(vec![0.5; *len])).collect();
    let checkpoint = Checkpoint { step: 100, time: 2.0, tensors: state };
    fake.tell(Event::Checkpoint(checkpoint.clone()));
    for action in [Action::Axis, Action::Basis, Action::Theme, Action::Slower, Action::NextMember] {
        harness.run();
        perform(&mut harness, &action);
    }
    harness.run();
    let (before, settings) = (store(&harness), harness.state().settings().clone());
    assert_eq!(before.spec, spec);

    let (fake, mut harness) = open(Opening::from(before.clone()));
    let ctx = harness.ctx.clone();
    harness.state_mut().look_like(&before.view, &ctx);
    harness.run();
    let (resumed, resume) = started(&fake).expect("it goes on");
    let resume = resume.expect("from the checkpoint");
    assert_eq!((resumed, resume.checkpoint, resume.told), (spec, checkpoint, Some(260)));
    fake.tell(Event::Continued(Box::new(log.header.clone().expect("a run"))));
    harness.run();
    assert!(harness.state().log().same_run(&log));
    assert_eq!(*harness.state().settings(), settings);
    let after = store(&harness);
    assert_eq!(after, before);
    assert_ne!(after.view, store(&open(Opening::default()).1).view);
}

/// A file as the window's system hands it over.
#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("the window reads with its own limits".to_owned())
    }
}

fn drop_files(harness: &mut Shown, paths: &[PathBuf]) {
    let handle = |path: &PathBuf| -> egui::DroppedFileHandle { Arc::new(Dropped(path.clone())) };
    harness.input_mut().dropped_files = paths.iter().map(handle).collect();
    harness.run();
}

fn last_notice(harness: &Shown) -> (Level, String) {
    let notice = harness.state().notices().last().expect("something was said");
    (notice.level, notice.text.clone())
}

#[test]
fn a_spec_dropped_is_started_and_undone() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let file = place.path().join("mine.toml");
    fs::write(&file, toml::write(&small_spec(2)).expect("fits")).expect("written");
    let (fake, mut harness) = open(Opening::default());
    harness.run();
    let before = harness.state().settings().clone();
    fake.taken();
    drop_files(&mut harness, std::slice::from_ref(&file));
    assert_eq!(started(&fake), Some((small_spec(2), None)));
    assert!(last_notice(&harness).1.contains("mine.toml"));
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    harness.run();
    assert_eq!(started(&fake), Some((before.spec.clone(), None)));
    assert_eq!(*harness.state().settings(), before);
    // The page hands over bytes; a preset's Spec is known as the preset.
    let preset = plateau::scenarios::ALL[0].preset(Some("identity")).expect("there");
    let bytes = toml::write(&preset).expect("fits").into_bytes();
    perform(&mut harness, &Action::OpenBytes("identity.toml".into(), bytes.into()));
    assert_eq!(started(&fake), Some((preset, None)));
    assert_eq!(harness.state().settings().preset, Some(1));
}

#[test]
fn a_run_dropped_is_shown_whatever_it_lies_in() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let log = full_log(2);
    let claim = folder::RunFolder::claim(&place.path().join("run"));
    let kept = claim.and_then(|claim| claim.keep(&log)).expect("kept");
    let packed = zip::write(&log).expect("packed");
    fs::write(place.path().join("run.zip"), &packed).expect("written");
    let (_fake, mut harness) = open(Opening::default());
    harness.run();
    for path in [kept.clone(), kept.join("run.json"), place.path().join("run.zip")] {
        drop_files(&mut harness, &[path]);
        assert!(harness.state().log().same_run(&log));
        harness.key_press(Key::Escape);
        harness.run();
        assert!(harness.state().log().steps.is_empty());
    }
    perform(&mut harness, &Action::OpenBytes("run.zip".into(), packed.into()));
    harness.run();
    harness.get_by_label("opened run.zip");
    assert!(harness.state().log().same_run(&log));
}

#[test]
fn a_wrong_file_is_a_notice_and_changes_nothing() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = place.path().join(name);
        fs::write(&path, bytes).expect("written");
        path
    };
    let wrong = [
        (write("picture.png", b"\x89PNG\r\n"), "neither a run nor a Spec"),
        (write("notes.txt", b"a letter"), "no Spec: line 1"),
        (write("cut.zip", b"PK\x03\x04abc"), "a zip without an end"),
        (write("none.json", b"{}"), "missing field"),
        (place.path().to_owned(), "run.json: "),
        (place.path().join("gone"), "No such file"),
    ];
    let (fake, mut harness) = open(Opening::default());
    harness.run();
    let before = harness.state().settings().clone();
    fake.taken();
    for (path, expected) in &wrong {
        drop_files(&mut harness, std::slice::from_ref(path));
        let (level, said) = last_notice(&harness);
        assert!(level == Level::Error && said.contains(expected) && !said.contains('\n'), "{said}");
    }
    drop_files(&mut harness, &[wrong[0].0.clone(), wrong[1].0.clone()]);
    assert!(last_notice(&harness).1.contains("2 files dropped"));
    assert_eq!(harness.state().notices().len(), wrong.len() + 1);
    assert!(fake.taken().is_empty());
    assert_eq!(*harness.state().settings(), before);
}

#[test]
fn a_file_that_hovers_is_told_what_to_do() {
    let (_fake, mut harness) = open(Opening::default());
    harness.run();
    assert!(harness.query_by_label("Drop to open").is_none());
    harness.input_mut().hovered_files = vec![egui::HoveredFile::default()];
    // It does not come to rest while something hovers.
    harness.run_steps(3);
    harness.get_by_label("Drop to open");
    harness.input_mut().hovered_files.clear();
    harness.run_steps(3);
    assert!(harness.query_by_label("Drop to open").is_none());
}
