//! Readbacks: a ring of staging buffers, mapped when the device is done with them.

use crate::engine::executor::Finished;
use crate::kernels::{Readback, Tensors, Words};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A submitted batch whose readbacks are on their way.
struct Pending {
    submission: wgpu::SubmissionIndex,
    done: Arc<AtomicBool>,
    staging: Option<wgpu::Buffer>,
    /// Elements of each readback, and whether they are integers.
    parts: Vec<(u64, bool)>,
}

#[derive(Default)]
pub struct Ring {
    pending: VecDeque<Pending>,
    free: Vec<wgpu::Buffer>,
}

/// The copies of one batch, encoded and not yet submitted.
pub struct Staged {
    staging: Option<wgpu::Buffer>,
    parts: Vec<(u64, bool)>,
}

fn bytes(readback: &Readback) -> u64 {
    u64::from(readback.range.1 - readback.range.0) * u64::from(readback.members.1 - readback.members.0) * 4
}

impl Ring {
    /// Encodes the copies into a staging buffer of the ring.
    pub fn stage(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        tensors: &Tensors,
        buffers: &[wgpu::Buffer],
        readbacks: &[Readback],
    ) -> Staged {
        let size: u64 = readbacks.iter().map(bytes).sum();
        if size == 0 {
            return Staged { staging: None, parts: Vec::new() };
        }
        let staging = self.take(device, size);
        let mut to = 0;
        for readback in readbacks {
            to = copy(encoder, tensors, buffers, readback, &staging, to);
        }
        let parts = readbacks.iter().map(|r| (bytes(r) / 4, tensors.get(r.tensor).integer)).collect();
        Staged { staging: Some(staging), parts }
    }

    /// The smallest free buffer that is large enough, or a new one.
    fn take(&mut self, device: &wgpu::Device, size: u64) -> wgpu::Buffer {
        let fits = self.free.iter().enumerate().filter(|(_, buffer)| buffer.size() >= size);
        if let Some((at, _)) = fits.min_by_key(|(_, buffer)| buffer.size()) {
            return self.free.swap_remove(at);
        }
        // One that was too small would never be used again once runs have grown.
        self.free.pop();
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("staging"),
            size: size.next_power_of_two(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    /// To be called right after the batch's commands were submitted.
    pub fn submitted(&mut self, queue: &wgpu::Queue, submission: wgpu::SubmissionIndex, staged: Staged) {
        let done = Arc::new(AtomicBool::new(false));
        let flag = done.clone();
        match &staged.staging {
            // A failed mapping comes with a lost device or an error, which are reported as such.
            Some(buffer) => {
                buffer.map_async(wgpu::MapMode::Read, .., move |_| flag.store(true, Ordering::Release));
            }
            None => queue.on_submitted_work_done(move || flag.store(true, Ordering::Release)),
        }
        self.pending.push_back(Pending { submission, done, staging: staged.staging, parts: staged.parts });
    }

    /// The oldest submission still on its way.
    pub fn oldest(&self) -> Option<wgpu::SubmissionIndex> {
        self.pending.front().map(|pending| pending.submission.clone())
    }

    /// Takes what is finished, in order; an error says what could not be mapped.
    pub fn collect(&mut self) -> Result<Vec<Finished>, String> {
        let mut finished = Vec::new();
        while self.pending.front().is_some_and(|pending| pending.done.load(Ordering::Acquire)) {
            let Some(pending) = self.pending.pop_front() else { break };
            let mut readbacks = Vec::new();
            if let Some(staging) = pending.staging {
                readbacks = read(&staging, &pending.parts)?;
                staging.unmap();
                self.free.push(staging);
            }
            finished.push(Finished { readbacks });
        }
        Ok(finished)
    }

    /// Forgets everything on its way.
    pub fn clear(&mut self) {
        self.pending.clear();
    }
}

/// One copy where the members' parts lie side by side, else one a member.
fn copy(
    encoder: &mut wgpu::CommandEncoder,
    tensors: &Tensors,
    buffers: &[wgpu::Buffer],
    readback: &Readback,
    staging: &wgpu::Buffer,
    mut to: u64,
) -> u64 {
    let len = tensors.get(readback.tensor).len as u64;
    let buffer = &buffers[readback.tensor.0 as usize];
    let (from, until) = (u64::from(readback.range.0), u64::from(readback.range.1));
    let members = u64::from(readback.members.0)..u64::from(readback.members.1);
    let whole = until - from == len;
    let step = if whole { (members.end - members.start).max(1) } else { 1 };
    for member in members.step_by(step as usize) {
        let size = (until - from) * step * 4;
        encoder.copy_buffer_to_buffer(buffer, (member * len + from) * 4, staging, to, size);
        to += size;
    }
    to
}

fn read(staging: &wgpu::Buffer, parts: &[(u64, bool)]) -> Result<Vec<Words>, String> {
    let view = staging.get_mapped_range(..).map_err(|error| error.to_string())?;
    let mut at = 0;
    let words = parts.iter().map(|&(elements, integer)| {
        let bytes = &view[at..at + elements as usize * 4];
        at += bytes.len();
        match integer {
            true => Words::Integers(bytemuck::pod_collect_to_vec(bytes)),
            false => Words::Floats(bytemuck::pod_collect_to_vec(bytes)),
        }
    });
    Ok(words.collect())
}
