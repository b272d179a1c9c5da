//! Every user action, once: menus, buttons, keys and tests send the same values.

use crate::engine::protocol::ExecutorChoice;
use crate::spec::Spec;
use eframe::egui;
use eframe::egui::{Key, KeyboardShortcut, Modifiers};
use std::path::PathBuf;
use std::sync::Arc;

/// What a user can ask of the window.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    PlayPause,
    Step,
    Reset,
    Slower,
    Faster,
    FullSpeed,
    NormalSpeed,
    Undo,
    Redo,
    NextPreset,
    PreviousPreset,
    Presentation,
    Theme,
    Controls,
    Basis,
    Axis,
    NextMember,
    PreviousMember,
    FitViews,
    UseAuto,
    UseGpu,
    UseCpu,
    LoseDevice,
    Notices,
    Keys,
    Export,
    BackToLive,
    Quit,
    /// A preset of the scenario, by position.
    Choose(usize),
    /// Restart with this Spec.
    Restart(Box<Spec>),
    /// The learning rate, acting at once.
    Eta(f64),
    /// Speed as a multiple of the normal one.
    Speed(f64),
    /// The member whose picture is shown.
    Member(u32),
    /// Open what is there: a run folder or a file.
    Open(PathBuf),
    /// Open a file of this name with these bytes.
    OpenBytes(String, Arc<[u8]>),
}

/// The menu that lists an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    Run,
    View,
    Engine,
    Help,
}

impl Menu {
    pub const ALL: [Self; 4] = [Self::Run, Self::View, Self::Engine, Self::Help];

    pub fn title(self) -> &'static str {
        match self {
            Self::Run => "Run",
            Self::View => "View",
            Self::Engine => "Engine",
            Self::Help => "Help",
        }
    }
}

const NONE: Modifiers = Modifiers::NONE;
const CTRL: Modifiers = Modifiers::COMMAND;
const ALT: Modifiers = Modifiers::ALT;

impl Action {
    /// The actions without a value, in the order menus and the list of keys show them.
    pub const ALL: [Self; 28] = [
        Self::PlayPause,
        Self::Step,
        Self::Reset,
        Self::Slower,
        Self::Faster,
        Self::NormalSpeed,
        Self::FullSpeed,
        Self::Undo,
        Self::Redo,
        Self::NextPreset,
        Self::PreviousPreset,
        Self::Export,
        Self::BackToLive,
        Self::Quit,
        Self::Presentation,
        Self::Theme,
        Self::Controls,
        Self::Basis,
        Self::Axis,
        Self::NextMember,
        Self::PreviousMember,
        Self::FitViews,
        Self::UseAuto,
        Self::UseGpu,
        Self::UseCpu,
        Self::LoseDevice,
        Self::Notices,
        Self::Keys,
    ];

    /// Those of ALL that there are here: a page is closed by its browser.
    pub fn here() -> impl Iterator<Item = &'static Self> {
        Self::ALL.iter().filter(|action| !(cfg!(target_arch = "wasm32") && **action == Self::Quit))
    }

    pub fn menu(&self) -> Menu {
        match self {
            Self::Presentation
            | Self::Theme
            | Self::Controls
            | Self::Basis
            | Self::Axis
            | Self::NextMember
            | Self::PreviousMember
            | Self::FitViews
            | Self::Member(_) => Menu::View,
            Self::UseAuto | Self::UseGpu | Self::UseCpu | Self::LoseDevice => Menu::Engine,
            Self::Keys | Self::Notices => Menu::Help,
            _ => Menu::Run,
        }
    }

    pub fn label(&self) -> &'static str {
        match self {
            Self::PlayPause => "Play or pause",
            Self::Step => "Single step",
            Self::Reset => "Reset",
            Self::Slower => "Slower",
            Self::Faster => "Faster",
            Self::FullSpeed => "As fast as it goes",
            Self::NormalSpeed => "Normal speed",
            Self::Undo => "Undo",
            Self::Redo => "Redo",
            Self::NextPreset => "Next preset",
            Self::PreviousPreset => "Previous preset",
            Self::Presentation => "Presentation mode",
            Self::Theme => "Light or dark",
            Self::Controls => "Show or hide controls",
            Self::Basis => "Heat map basis",
            Self::Axis => "Time or steps",
            Self::NextMember => "Next member",
            Self::PreviousMember => "Previous member",
            Self::FitViews => "Fit views",
            Self::UseAuto => "Executor: auto",
            Self::UseGpu => "Executor: gpu",
            Self::UseCpu => "Executor: cpu",
            Self::LoseDevice => "Lose the device",
            Self::Notices => "Notices",
            Self::Keys => "Keys",
            Self::Export => "Export the run",
            Self::BackToLive => "Back to the live run",
            Self::Quit => "Quit",
            Self::Choose(_) => "Choose a preset",
            Self::Restart(_) => "Restart with a change",
            Self::Eta(_) => "Learning rate",
            Self::Speed(_) => "Speed",
            Self::Member(_) => "Member",
            Self::Open(_) | Self::OpenBytes(..) => "Open a run or a Spec",
        }
    }

    pub fn tooltip(&self) -> &'static str {
        match self {
            Self::PlayPause => "Train, or hold the run where it is",
            Self::Step => "Exactly one optimizer step, then pause",
            Self::Reset => "Begin this run again at step 0",
            Self::Slower => "Half the steps a second",
            Self::Faster => "Twice the steps a second",
            Self::FullSpeed => "No limit on the steps a second",
            Self::NormalSpeed => "A whole run in about twelve seconds",
            Self::Undo => "Take the last change of the run back",
            Self::Redo => "Make the change again that was taken back",
            Self::NextPreset => "The next preset of the gallery",
            Self::PreviousPreset => "The preset before this one",
            Self::Presentation => "Large letters and thick lines, for a lecture hall",
            Self::Theme => "Change between the light and the dark theme",
            Self::Controls => "Make room for the plots, or bring the controls back",
            Self::Basis => "Heat maps in the singular basis of the task, or as the matrices are",
            Self::Axis => "Plot against the time t (sum of the learning rates) or against steps",
            Self::NextMember => "Show the matrices of the next member",
            Self::PreviousMember => "Show the matrices of the member before",
            Self::FitViews => "Undo zooming and moving in the plots",
            Self::UseAuto => "Run on whichever executor a short measurement finds faster; restarts",
            Self::UseGpu => "Run the shaders on the graphics adapter; restarts",
            Self::UseCpu => "Run the shaders' twins on the processor; restarts",
            Self::LoseDevice => "Destroy the engine's device on purpose: training should survive it",
            Self::Notices => "Everything the engine had to say",
            Self::Keys => "All keys",
            Self::Export if cfg!(target_arch = "wasm32") => {
                "Download run.json, metrics.csv and figures as a zip"
            }
            Self::Export => "Write run.json, metrics.csv and figures into a new folder here",
            Self::BackToLive => "Leave the opened run",
            Self::Quit => "Close the window",
            Self::Choose(_) => "Restart with this preset; undo brings the run back",
            Self::Restart(_) => "Restart with the changed settings; undo brings them back",
            Self::Eta(_) => "Acts at once, from the next step on",
            Self::Speed(_) => "Steps a second, as a multiple of a run in twelve seconds",
            Self::Member(_) => "The member whose matrices are shown",
            Self::Open(_) | Self::OpenBytes(..) => {
                "Drop a run folder, a zip of one or a Spec onto the window; undo takes a Spec back"
            }
        }
    }

    pub fn shortcut(&self) -> Option<KeyboardShortcut> {
        let (modifiers, key) = match self {
            Self::PlayPause => (NONE, Key::Space),
            Self::Step => (NONE, Key::Period),
            Self::Reset => (NONE, Key::R),
            Self::Slower => (NONE, Key::Minus),
            Self::Faster => (NONE, Key::Plus),
            Self::FullSpeed => (NONE, Key::M),
            Self::NormalSpeed => (NONE, Key::Num0),
            Self::Undo => (CTRL, Key::Z),
            Self::Redo => (CTRL | Modifiers::SHIFT, Key::Z),
            Self::NextPreset => (NONE, Key::N),
            Self::PreviousPreset => (NONE, Key::P),
            Self::Presentation => (NONE, Key::F),
            Self::Theme => (NONE, Key::T),
            Self::Controls => (NONE, Key::C),
            Self::Basis => (NONE, Key::B),
            Self::Axis => (NONE, Key::X),
            Self::NextMember => (NONE, Key::CloseBracket),
            Self::PreviousMember => (NONE, Key::OpenBracket),
            Self::FitViews => (NONE, Key::V),
            Self::UseAuto => (ALT, Key::Num1),
            Self::UseGpu => (ALT, Key::Num2),
            Self::UseCpu => (ALT, Key::Num3),
            Self::LoseDevice => (CTRL | Modifiers::SHIFT, Key::L),
            Self::Notices => (NONE, Key::L),
            Self::Keys => (NONE, Key::Questionmark),
            Self::Export => (CTRL, Key::E),
            Self::BackToLive => (NONE, Key::Escape),
            Self::Quit => (CTRL, Key::Q),
            _ => return None,
        };
        Some(KeyboardShortcut::new(modifiers, key))
    }

    /// The executor an action asks for.
    pub fn executor(&self) -> Option<ExecutorChoice> {
        match self {
            Self::UseAuto => Some(ExecutorChoice::Auto),
            Self::UseGpu => Some(ExecutorChoice::Gpu),
            Self::UseCpu => Some(ExecutorChoice::Cpu),
            _ => None,
        }
    }

    /// Tooltip with the key, for buttons.
    pub fn hint(&self, ctx: &egui::Context) -> String {
        match self.shortcut() {
            Some(shortcut) => format!("{} ({})", self.tooltip(), key_text(ctx, &shortcut)),
            None => self.tooltip().to_owned(),
        }
    }
}

/// A shortcut as people read it: `?`, `Space`, `Ctrl+Z`.
pub fn key_text(ctx: &egui::Context, shortcut: &KeyboardShortcut) -> String {
    let symbol = match shortcut.logical_key {
        Key::Questionmark => Some("?"),
        Key::OpenBracket => Some("["),
        Key::CloseBracket => Some("]"),
        Key::Plus => Some("+"),
        Key::Minus => Some("-"),
        Key::Period => Some("."),
        _ => None,
    };
    match symbol {
        Some(symbol) if shortcut.modifiers == NONE => symbol.to_owned(),
        _ => ctx.format_shortcut(shortcut),
    }
}

/// The actions whose keys were pressed since the last frame; the presses are used up. Keys typed
/// into a text field stay there.
pub fn pressed(ctx: &egui::Context) -> Vec<Action> {
    if ctx.text_edit_focused() {
        return Vec::new();
    }
    let mut keyed: Vec<(Action, KeyboardShortcut)> =
        Action::here().filter_map(|action| Some((action.clone(), action.shortcut()?))).collect();
    // A pattern without Shift also matches with it, so the longer ones are asked first.
    keyed.sort_by_key(|(_, shortcut)| !shortcut.modifiers.shift);
    ctx.input_mut(|input| {
        keyed.into_iter().filter(|(_, key)| input.consume_shortcut(key)).map(|(action, _)| action).collect()
    })
}
