//! What the page around the program does for it: `plateauHost` of `web/boot.js`.

use js_sys::{Error, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen]
extern "C" {
    /// The first frame is there: the loading screen goes.
    #[wasm_bindgen(js_namespace = plateauHost)]
    pub fn ready();
    /// Nothing can be shown any more; the page says why, and what to do.
    #[wasm_bindgen(js_namespace = plateauHost)]
    pub fn failed(kind: &str, report: &str);
    /// How far the start has come, between 0 and 1.
    #[wasm_bindgen(js_namespace = plateauHost)]
    pub fn progress(words: &str, part: f64);
    #[wasm_bindgen(js_namespace = plateauHost, js_name = download, catch)]
    fn download_bytes(name: &str, mime: &str, bytes: &[u8]) -> Result<(), JsValue>;
    #[wasm_bindgen(js_namespace = plateauHost, js_name = load, catch)]
    async fn load_array(key: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(js_namespace = plateauHost, js_name = save, catch)]
    async fn save_array(key: &str, bytes: Uint8Array) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(js_namespace = plateauHost, js_name = remove, catch)]
    async fn remove_key(key: &str) -> Result<JsValue, JsValue>;
}

/// Hands a file to the browser, which keeps it where downloads go. The script copies the bytes: they
/// are there only during the call.
///
/// # Errors
/// One sentence, where the browser refuses.
pub fn download(name: &str, mime: &str, bytes: &[u8]) -> Result<(), String> {
    download_bytes(name, mime, bytes).map_err(|error| sentence(&error))
}

/// What is stored under a key.
///
/// # Errors
/// One sentence, where the browser refuses.
pub async fn load(key: &str) -> Result<Option<Vec<u8>>, String> {
    let found = load_array(key).await.map_err(|error| sentence(&error))?;
    Ok(found.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec))
}

/// Stores bytes under a key.
///
/// # Errors
/// One sentence, where the browser refuses.
pub async fn save(key: &str, bytes: &[u8]) -> Result<(), String> {
    save_array(key, Uint8Array::from(bytes)).await.map(drop).map_err(|error| sentence(&error))
}

/// Forgets what is stored under a key.
///
/// # Errors
/// One sentence, where the browser refuses.
pub async fn remove(key: &str) -> Result<(), String> {
    remove_key(key).await.map(drop).map_err(|error| sentence(&error))
}

/// The page's errors have messages that can be shown.
fn sentence(error: &JsValue) -> String {
    error.dyn_ref::<Error>().map_or_else(|| format!("{error:?}"), |error| error.message().into())
}
