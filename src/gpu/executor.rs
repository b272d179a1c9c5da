//! The GPU executor: replays Recordings as dispatches of one compute pass.

use super::device::{self, Opened};
use super::pipelines::Pipelines;
use super::readback::Ring;
use crate::engine::executor::{Executor, ExecutorError, Finished};
use crate::engine::protocol::ExecutorInfo;
use crate::kernels::{Batch, KERNELS, Op, Recording, Tensors, Words};
use std::collections::HashMap;

pub struct GpuExecutor {
    opened: Opened,
    pipelines: Pipelines,
    tensors: Tensors,
    buffers: Vec<wgpu::Buffer>,
    /// What was prepared for each Recording, by its id.
    prepared: HashMap<u64, Vec<Prepared>>,
    ring: Ring,
}

/// One dispatch, ready to be encoded.
struct Prepared {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    /// Offset of its uniform struct in the Recording's uniform buffer.
    offset: u32,
    groups: [u32; 3],
}

impl GpuExecutor {
    /// Opens an adapter whose name, backend or driver contains `wanted` (the best one by default),
    /// with limits that hold a tensor of `largest` bytes. Blocks; not for a browser.
    pub fn open(wanted: Option<&str>, largest: u64) -> Result<Self, ExecutorError> {
        pollster::block_on(Self::open_async(wanted, largest))
    }

    pub async fn open_async(wanted: Option<&str>, largest: u64) -> Result<Self, ExecutorError> {
        Ok(Self {
            opened: device::open(wanted, largest).await?,
            pipelines: Pipelines::default(),
            tensors: Tensors::default(),
            buffers: Vec::new(),
            prepared: HashMap::new(),
            ring: Ring::default(),
        })
    }

    fn software(&self) -> bool {
        self.opened.description.software
    }

    fn prepare(&mut self, recording: &Recording) -> Result<(), ExecutorError> {
        if self.prepared.contains_key(&recording.id) {
            return Ok(());
        }
        let device = &self.opened.device;
        let alignment = device.limits().min_uniform_buffer_offset_alignment as usize;
        let mut uniforms = Vec::new();
        let mut offsets = Vec::new();
        for Op::Dispatch(dispatch) in &recording.ops {
            offsets.push(uniforms.len() as u32);
            uniforms.extend_from_slice(&dispatch.args);
            uniforms.resize(uniforms.len().next_multiple_of(alignment), 0);
        }
        let uniform_buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(recording.label),
            size: uniforms.len().max(alignment) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.opened.queue.write_buffer(&uniform_buffer, 0, &uniforms);
        let mut prepared = Vec::new();
        for (Op::Dispatch(dispatch), offset) in recording.ops.iter().zip(offsets) {
            let variant = dispatch.kernel.variant(self.opened.description.software);
            let pipeline = self.pipelines.get(device, dispatch.kernel, variant, &dispatch.flags)?;
            let uniform = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &uniform_buffer,
                offset: 0,
                size: std::num::NonZeroU64::new(pipeline.args_size),
            });
            let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: uniform }];
            for (i, tensor) in dispatch.bindings.iter().enumerate() {
                let resource = self.buffers[tensor.0 as usize].as_entire_binding();
                entries.push(wgpu::BindGroupEntry { binding: i as u32 + 1, resource });
            }
            let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(variant.entry),
                layout: &pipeline.layout,
                entries: &entries,
            });
            let [x, y] = [0, 1].map(|i| dispatch.items[i].div_ceil(pipeline.tile[i]));
            let groups = [x, y, self.tensors.members];
            prepared.push(Prepared { pipeline: pipeline.pipeline.clone(), bindings, offset, groups });
        }
        self.prepared.insert(recording.id, prepared);
        self.opened.troubles.check()
    }

    fn encode(&self, batch: &Batch, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for (recording, repeats) in &batch.runs {
            let prepared = &self.prepared[&recording.id];
            for _ in 0..*repeats {
                for dispatch in prepared {
                    pass.set_pipeline(&dispatch.pipeline);
                    pass.set_bind_group(0, &dispatch.bindings, &[dispatch.offset]);
                    let [x, y, z] = dispatch.groups;
                    pass.dispatch_workgroups(x, y, z);
                }
            }
        }
    }
}

impl Executor for GpuExecutor {
    fn info(&self) -> ExecutorInfo {
        let description = &self.opened.description;
        let choices = KERNELS.iter().filter(|kernel| kernel.variants.len() > 1);
        ExecutorInfo {
            kind: "gpu".into(),
            device: description.name.clone(),
            backend: description.backend.clone(),
            software: self.software(),
            variants: choices.map(|k| format!("{}={}", k.name, k.variant(self.software()).entry)).collect(),
            reason: String::new(),
        }
    }

    fn load(&mut self, tensors: &Tensors) -> Result<(), ExecutorError> {
        self.tensors = tensors.clone();
        self.prepared.clear();
        self.ring.clear();
        self.buffers.clear();
        for tensor in &tensors.list {
            let members = if tensor.shared { 1 } else { u64::from(tensors.members) };
            self.buffers.push(self.opened.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(tensor.name),
                size: (tensor.len as u64 * members * 4).max(4),
                usage: wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::COPY_SRC
                    | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }));
        }
        self.opened.troubles.check()
    }

    fn submit(&mut self, batch: Batch) -> Result<(), ExecutorError> {
        self.opened.troubles.check()?;
        for (recording, _) in &batch.runs {
            self.prepare(recording)?;
        }
        for (tensor, words) in &batch.uploads {
            let bytes: &[u8] = match words {
                Words::Floats(values) => bytemuck::cast_slice(values),
                Words::Integers(values) => bytemuck::cast_slice(values),
            };
            self.opened.queue.write_buffer(&self.buffers[tensor.0 as usize], 0, bytes);
        }
        let Opened { device, queue, troubles, .. } = &self.opened;
        let mut encoder =
            device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("batch") });
        self.encode(&batch, &mut encoder);
        let staged = self.ring.stage(device, &mut encoder, &self.tensors, &self.buffers, &batch.readbacks);
        let submission = queue.submit([encoder.finish()]);
        self.ring.submitted(queue, submission, staged);
        troubles.check()
    }

    fn poll(&mut self, wait: bool) -> Result<Vec<Finished>, ExecutorError> {
        let Opened { device, troubles, .. } = &self.opened;
        let kind = match (wait, self.ring.oldest()) {
            (true, Some(submission)) => {
                wgpu::PollType::Wait { submission_index: Some(submission), timeout: None }
            }
            _ => wgpu::PollType::Poll,
        };
        if let Err(error) = device.poll(kind) {
            troubles.check()?;
            return Err(ExecutorError::Lost(error.to_string()));
        }
        troubles.check()?;
        self.ring.collect().map_err(ExecutorError::Lost)
    }

    fn lose(&mut self) {
        self.opened.device.destroy();
        self.opened.troubles.lost("destroyed on request".into());
    }
}
