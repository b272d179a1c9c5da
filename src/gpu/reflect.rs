//! What the WGSL itself says of an entry point: bindings, workgroup size, uniform layout.

use crate::kernels::{COMMON, Kernel};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, Module, StorageAccess, TypeInner};

/// A shader file, parsed and validated with the fewest capabilities.
pub struct Shader {
    pub source: String,
    pub module: Module,
    pub info: naga::valid::ModuleInfo,
}

/// An entry point as reflected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub workgroup_size: [u32; 3],
    /// Storage bindings 1, 2, …: whether each is written.
    pub writes: Vec<bool>,
    /// Fields of the uniform struct at binding 0: name, byte offset.
    pub fields: Vec<(String, usize)>,
    pub args_name: String,
    pub args_size: usize,
}

/// A kernel's shader file with `common.wgsl` in front.
pub fn source(kernel: &Kernel) -> String {
    format!("{COMMON}\n{}", kernel.source)
}

/// Parses and validates a source; the error names the line.
pub fn parse(source: String) -> Result<Shader, String> {
    let module = naga::front::wgsl::parse_str(&source).map_err(|error| error.emit_to_string(&source))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|error| error.emit_to_string(&source))?;
    Ok(Shader { source, module, info })
}

/// Reflects one entry point.
pub fn entry(shader: &Shader, name: &str) -> Result<Entry, String> {
    let module = &shader.module;
    let at = module.entry_points.iter().position(|entry| entry.name == name);
    let at = at.ok_or_else(|| format!("no entry point {name}"))?;
    let uses = shader.info.get_entry_point(at);
    let mut storage = Vec::new();
    let mut uniform = None;
    for (handle, variable) in module.global_variables.iter() {
        let Some(binding) = variable.binding.filter(|_| !uses[handle].is_empty()) else { continue };
        match variable.space {
            AddressSpace::Uniform if binding.binding == 0 => uniform = Some(variable.ty),
            AddressSpace::Storage { access } => {
                storage.push((binding.binding, access.contains(StorageAccess::STORE)));
            }
            space => return Err(format!("{name}: a binding in {space:?}")),
        }
    }
    storage.sort_unstable();
    if storage.iter().enumerate().any(|(i, (binding, _))| *binding != i as u32 + 1) {
        return Err(format!("{name}: storage bindings must be 1, 2, … and all used; found {storage:?}"));
    }
    let uniform = uniform.ok_or_else(|| format!("{name}: no uniform struct at binding 0"))?;
    let ty = &module.types[uniform];
    let TypeInner::Struct { members, span } = &ty.inner else {
        return Err(format!("{name}: the uniform is not a struct"));
    };
    let field =
        |member: &naga::StructMember| (member.name.clone().unwrap_or_default(), member.offset as usize);
    Ok(Entry {
        workgroup_size: module.entry_points[at].workgroup_size,
        writes: storage.iter().map(|(_, writes)| *writes).collect(),
        fields: members.iter().map(field).collect(),
        args_name: ty.name.clone().unwrap_or_default(),
        args_size: *span as usize,
    })
}
