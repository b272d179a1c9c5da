//! What the window keeps and opens: a stored session, and files dropped on it.

use super::ui::{Fake, Shown, full_log, show};
use plateau::engine::protocol::*;
use plateau::export::stored;
use plateau::kernels::Words;
use plateau::models;
use plateau::spec::Spec;
use plateau::ui::action::Action;
use plateau::ui::{Opening, Window};
use std::rc::Rc;

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
    let starts = fake.taken().into_iter().filter_map(|command| match command {
        Command::Start { spec, resume, .. } => Some((*spec, resume.map(|resume| *resume))),
        _ => None,
    });
    starts.last()
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
