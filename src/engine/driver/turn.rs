//! The event loop's turn: what a browser has done since is only told when control goes back to it.

/// Gives the event loop one turn; nothing on the desktop, where waiting blocks.
#[cfg(not(target_arch = "wasm32"))]
pub async fn turn() {}

#[cfg(target_arch = "wasm32")]
pub use page::{Bell, turn};

#[cfg(target_arch = "wasm32")]
mod page {
    use js_sys::{Function, Promise};
    use std::cell::RefCell;
    use std::rc::Rc;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::MessageChannel;

    thread_local! {
        static CHANNEL: Option<MessageChannel> = MessageChannel::new().ok();
    }

    /// Gives the event loop one turn. By a message to ourselves: timers wait 4 ms at least.
    pub async fn turn() {
        let promise = Promise::new(&mut |resolve, _| {
            CHANNEL.with(|channel| match channel {
                Some(channel) => {
                    channel.port1().set_onmessage(Some(&resolve));
                    // A port of our own takes a message of nothing.
                    let _ = channel.port2().post_message(&JsValue::NULL);
                }
                None => after(&resolve, 0.0),
            });
        });
        // The promise has no way to fail.
        let _ = JsFuture::from(promise).await;
    }

    /// Calls a function after so many milliseconds; page and worker both have the global timer.
    fn after(function: &Function, milliseconds: f64) {
        let global = js_sys::global();
        if let Ok(timer) = js_sys::Reflect::get(&global, &"setTimeout".into())
            && let Some(timer) = timer.dyn_ref::<Function>()
        {
            // A timer that cannot be set leaves the bell to the next message.
            let _ = timer.call2(&global, function, &milliseconds.into());
        }
    }

    /// Wakes a loop that rests.
    #[derive(Clone, Default)]
    pub struct Bell(Rc<RefCell<Option<Function>>>);

    impl Bell {
        pub fn ring(&self) {
            if let Some(resolve) = self.0.borrow_mut().take() {
                // Resolving a promise calls nothing of ours at once.
                let _ = resolve.call0(&JsValue::NULL);
            }
        }

        /// Rests until the bell rings, at most so many seconds where they are given.
        pub async fn rest(&self, seconds: Option<f64>) {
            let promise = Promise::new(&mut |resolve, _| {
                if let Some(seconds) = seconds {
                    after(&resolve, 1e3 * seconds);
                }
                *self.0.borrow_mut() = Some(resolve);
            });
            let _ = JsFuture::from(promise).await;
        }
    }
}
