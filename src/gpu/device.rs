//! Adapters and devices: which there are, which to take, and what becomes of one.

use crate::engine::executor::ExecutorError;
use std::sync::{Arc, Mutex, PoisonError};

/// An adapter as listed for the user.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AdapterDescription {
    pub name: String,
    pub backend: String,
    /// Shaders run on the processor.
    pub software: bool,
    pub driver: String,
}

impl AdapterDescription {
    /// What an adapter is found by; all of it finds this one.
    pub fn text(&self) -> String {
        format!("{} {} {}", self.name, self.backend, self.driver)
    }
}

/// What has gone wrong on a device since it was last asked.
#[derive(Clone, Default)]
pub struct Troubles(Arc<Mutex<TroublesInner>>);

#[derive(Default)]
struct TroublesInner {
    lost: Option<String>,
    error: Option<ExecutorError>,
}

impl Troubles {
    fn with<T>(&self, change: impl FnOnce(&mut TroublesInner) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn lost(&self, why: String) {
        self.with(|inner| inner.lost.get_or_insert(why).clone());
    }

    fn error(&self, error: ExecutorError) {
        self.with(|inner| inner.error.get_or_insert(error).clone());
    }

    /// A lost device stays lost; any other error is told once.
    pub fn check(&self) -> Result<(), ExecutorError> {
        self.with(|inner| match (&inner.lost, inner.error.take()) {
            (Some(why), _) => Err(ExecutorError::Lost(why.clone())),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(()),
        })
    }
}

/// An open device of the engine's own.
pub struct Opened {
    pub description: AdapterDescription,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub troubles: Troubles,
}

fn instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle())
}

fn describe(info: &wgpu::AdapterInfo) -> AdapterDescription {
    AdapterDescription {
        name: info.name.clone(),
        backend: format!("{:?}", info.backend),
        software: info.device_type == wgpu::DeviceType::Cpu,
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
    }
}

/// Best first: real GPUs before software, native interfaces before OpenGL.
fn rank(info: &wgpu::AdapterInfo) -> (bool, u8) {
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    (info.backend == wgpu::Backend::Gl, kind)
}

async fn ranked() -> Vec<wgpu::Adapter> {
    let mut adapters = instance().enumerate_adapters(wgpu::Backends::all()).await;
    // Compute needs storage buffers, which old OpenGL does not have.
    adapters.retain(|adapter| adapter.limits().max_storage_buffers_per_shader_stage >= 8);
    adapters.sort_by_key(|adapter| rank(&adapter.get_info()));
    adapters
}

/// Every adapter that can compute, best first.
pub fn adapters() -> Vec<AdapterDescription> {
    pollster::block_on(ranked()).iter().map(|adapter| describe(&adapter.get_info())).collect()
}

/// Opens the best adapter whose name, backend or driver contains `wanted`, with limits that hold a
/// tensor of `largest` bytes.
pub async fn open(wanted: Option<&str>, largest: u64) -> Result<Opened, ExecutorError> {
    let adapters = ranked().await;
    let named = |adapter: &&wgpu::Adapter| {
        let text = describe(&adapter.get_info()).text().to_lowercase();
        wanted.is_none_or(|wanted| text.contains(&wanted.to_lowercase()))
    };
    let adapter = adapters.iter().find(named).ok_or_else(|| not_found(wanted, &adapters))?;
    let required_limits = limits(&adapter.limits(), largest)?;
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("engine"),
        required_limits,
        ..wgpu::DeviceDescriptor::default()
    };
    let (device, queue) = adapter
        .request_device(&descriptor)
        .await
        .map_err(|error| ExecutorError::Refused(error.to_string()))?;
    let troubles = Troubles::default();
    watch(&device, &troubles);
    Ok(Opened { description: describe(&adapter.get_info()), device, queue, troubles })
}

fn not_found(wanted: Option<&str>, adapters: &[wgpu::Adapter]) -> ExecutorError {
    let names: Vec<_> = adapters.iter().map(|adapter| adapter.get_info().name).collect();
    ExecutorError::Refused(match (wanted, names.is_empty()) {
        (_, true) if cfg!(target_arch = "wasm32") => "this browser offers no WebGPU adapter".into(),
        (_, true) => "no adapter that can compute; use the cpu executor".into(),
        (Some(wanted), false) => format!("no adapter matches {wanted:?}; there are: {}", names.join(", ")),
        (None, false) => "no adapter".into(),
    })
}

/// The portable limits, with larger buffers only where the plan needs them.
fn limits(offered: &wgpu::Limits, largest: u64) -> Result<wgpu::Limits, ExecutorError> {
    let mut limits = wgpu::Limits::downlevel_defaults();
    limits.max_storage_buffers_per_shader_stage = 8;
    limits.max_buffer_size = limits.max_buffer_size.max(largest);
    let binding = limits.max_storage_buffer_binding_size.max(largest);
    if binding > offered.max_storage_buffer_binding_size || largest > offered.max_buffer_size {
        return Err(ExecutorError::Memory(format!(
            "a tensor of {largest} bytes, where this adapter binds at most {} at once",
            offered.max_storage_buffer_binding_size
        )));
    }
    limits.max_storage_buffer_binding_size = binding;
    Ok(limits)
}

/// Errors and loss are noted, never a panic.
fn watch(device: &wgpu::Device, troubles: &Troubles) {
    let lost = troubles.clone();
    device.set_device_lost_callback(move |reason, message| {
        lost.lost(format!("{reason:?} {message}").trim().to_owned())
    });
    let errors = troubles.clone();
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        let text = error.to_string().lines().collect::<Vec<_>>().join(" ");
        errors.error(match error {
            wgpu::Error::OutOfMemory { .. } => ExecutorError::Memory(text),
            _ => ExecutorError::Refused(text),
        });
    }));
}
