//! Pipelines, compiled once per (variant, flags) and kept.

use super::reflect::{self, Entry};
use crate::engine::executor::ExecutorError;
use crate::kernels::{Flags, Kernel, Variant};
use std::collections::HashMap;

/// A compiled variant and how to bind and dispatch it.
pub struct Pipeline {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
    pub tile: [u32; 2],
    pub args_size: u64,
}

struct Module {
    shader: reflect::Shader,
    module: wgpu::ShaderModule,
}

#[derive(Default)]
pub struct Pipelines {
    modules: HashMap<&'static str, Module>,
    pipelines: HashMap<(&'static str, Flags), Pipeline>,
}

impl Pipelines {
    /// The pipeline of a kernel's variant with these flags, compiled if it is new.
    pub fn get(
        &mut self,
        device: &wgpu::Device,
        kernel: &'static Kernel,
        variant: &'static Variant,
        flags: &Flags,
    ) -> Result<&Pipeline, ExecutorError> {
        let key = (variant.entry, flags.clone());
        if !self.pipelines.contains_key(&key) {
            let pipeline = self.compile(device, kernel, variant, flags).map_err(ExecutorError::Refused)?;
            self.pipelines.insert(key.clone(), pipeline);
        }
        Ok(&self.pipelines[&key])
    }

    fn compile(
        &mut self,
        device: &wgpu::Device,
        kernel: &'static Kernel,
        variant: &'static Variant,
        flags: &Flags,
    ) -> Result<Pipeline, String> {
        let Module { shader, module } = self.module(device, kernel)?;
        let entry = reflect::entry(shader, variant.entry)?;
        let layout = bind_group_layout(device, variant.entry, &entry);
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(variant.entry),
            bind_group_layouts: &[Some(&layout)],
            ..wgpu::PipelineLayoutDescriptor::default()
        });
        let constants: Vec<_> = flags.iter().map(|flag| (*flag, 1.0)).collect();
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(variant.entry),
            layout: Some(&pipeline_layout),
            module,
            entry_point: Some(variant.entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &constants,
                // Every kernel writes its workgroup memory before it reads it, and clearing it
                // costs seconds of compilation on some drivers.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        Ok(Pipeline { pipeline, layout, tile: variant.tile, args_size: entry.args_size as u64 })
    }

    fn module(&mut self, device: &wgpu::Device, kernel: &'static Kernel) -> Result<&Module, String> {
        if !self.modules.contains_key(kernel.file) {
            let shader = reflect::parse(reflect::source(kernel))?;
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(kernel.file),
                source: wgpu::ShaderSource::Wgsl(shader.source.as_str().into()),
            });
            self.modules.insert(kernel.file, Module { shader, module });
        }
        Ok(&self.modules[kernel.file])
    }
}

fn bind_group_layout(device: &wgpu::Device, label: &str, entry: &Entry) -> wgpu::BindGroupLayout {
    let buffer = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    };
    let mut entries = vec![buffer(0, wgpu::BufferBindingType::Uniform, true)];
    for (i, writes) in entry.writes.iter().enumerate() {
        entries.push(buffer(i as u32 + 1, wgpu::BufferBindingType::Storage { read_only: !writes }, false));
    }
    device
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries })
}
