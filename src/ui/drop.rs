//! Files dropped on the window: what hovers is told, what is dropped is opened.

use super::action::Action;
use super::window::Window;
use crate::engine::protocol::Level;
use eframe::egui;
use eframe::egui::{Align2, Area, Frame, Id, Order, RichText};

/// Files that a page has read: the browser hands them over when it has them.
#[cfg(target_arch = "wasm32")]
pub(super) type Arrived = std::rc::Rc<std::cell::RefCell<Vec<(String, Result<Vec<u8>, String>)>>>;

impl Window {
    /// Opens what was dropped since the last frame.
    pub(super) fn take_drops(&mut self, ctx: &egui::Context) {
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        match &dropped[..] {
            [] => {}
            [file] => self.open_dropped(file, ctx),
            [..] => {
                let text = format!("{} files dropped, nothing opened: one at a time", dropped.len());
                self.say(Level::Error, text);
            }
        }
        #[cfg(target_arch = "wasm32")]
        self.take_arrived(ctx);
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn open_dropped(&mut self, file: &egui::DroppedFileHandle, ctx: &egui::Context) {
        self.perform(&Action::Open(file.path().to_owned()), ctx);
    }

    /// Has the browser read the file; it takes part in the frame in which it has arrived.
    #[cfg(target_arch = "wasm32")]
    fn open_dropped(&mut self, file: &egui::DroppedFileHandle, ctx: &egui::Context) {
        let name = file.path().display().to_string();
        let size = file.web_file().map_or(0.0, |file| file.size());
        if size > crate::export::open::MAX_BYTES as f64 {
            return self.say(Level::Error, format!("{name}: larger than any file of ours"));
        }
        let (file, arrived, ctx) = (file.clone(), self.arrived.clone(), ctx.clone());
        wasm_bindgen_futures::spawn_local(async move {
            let bytes = file.bytes_async().await;
            arrived.borrow_mut().push((name, bytes));
            ctx.request_repaint();
        });
    }

    #[cfg(target_arch = "wasm32")]
    fn take_arrived(&mut self, ctx: &egui::Context) {
        for (name, bytes) in self.arrived.take() {
            match bytes {
                Ok(bytes) => self.perform(&Action::OpenBytes(name, bytes.into()), ctx),
                Err(error) => self.say(Level::Error, format!("{name}: {error}")),
            }
        }
    }
}

/// While a file hovers over the window: that it may be dropped.
pub fn show(ctx: &egui::Context) {
    if ctx.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    Area::new(Id::unique("drop")).order(Order::Foreground).anchor(Align2::CENTER_CENTER, [0.0, 0.0]).show(
        ctx,
        |ui| {
            Frame::popup(ui.style()).inner_margin(24).show(ui, |ui| {
                ui.label(RichText::new("Drop to open").size(26.0).strong());
                ui.label("a run (its folder, or a zip of it) or a Spec (TOML)");
            });
        },
    );
}
