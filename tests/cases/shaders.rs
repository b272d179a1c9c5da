//! Every shader without a device: validation, layouts, translation, documentation.

use naga::back::{hlsl, msl, pipeline_constants::process_overrides, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use plateau::gpu::reflect;
use plateau::kernels::{KERNELS, Kernel, Variant};
use std::borrow::Cow;
use std::io::Write as _;
use std::process::{Command, Stdio};

fn variants() -> impl Iterator<Item = (&'static Kernel, &'static Variant)> {
    KERNELS.iter().flat_map(|kernel| kernel.variants.iter().map(move |variant| (kernel, variant)))
}

/// Every subset of a kernel's flags.
fn flag_sets(kernel: &Kernel) -> impl Iterator<Item = Vec<&'static str>> {
    let flags = kernel.flags;
    (0..1u32 << flags.len()).map(move |set| {
        flags.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, f)| *f).collect()
    })
}

#[test]
fn names_run_through() {
    for (kernel, variant) in variants() {
        let fits = variant.entry == kernel.name || variant.entry.starts_with(&format!("{}_", kernel.name));
        assert!(fits, "{} is no variant of {}", variant.entry, kernel.name);
        let stem: String = kernel.args.name.trim_end_matches("Args").to_owned();
        assert_eq!(stem.to_lowercase(), kernel.name.replace('_', ""), "uniform struct of {}", kernel.name);
    }
    let mut names: Vec<_> = KERNELS.iter().map(|kernel| kernel.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), KERNELS.len(), "a name occurs twice");
}

#[test]
fn every_entry_point_has_a_row() {
    for kernel in KERNELS {
        let shader = reflect::parse(reflect::source(kernel)).unwrap();
        for entry in &shader.module.entry_points {
            assert!(variants().any(|(_, v)| v.entry == entry.name), "{} has no row", entry.name);
        }
    }
}

#[test]
fn layouts_agree_with_the_structs() {
    for (kernel, variant) in variants() {
        let shader =
            reflect::parse(reflect::source(kernel)).unwrap_or_else(|e| panic!("{}: {e}", kernel.name));
        let entry = reflect::entry(&shader, variant.entry).unwrap();
        assert_eq!(entry.args_name, kernel.args.name);
        let ours: Vec<_> = kernel.args.fields.iter().map(|(name, at)| ((*name).to_owned(), *at)).collect();
        assert_eq!(entry.fields, ours, "{}", kernel.args.name);
        assert_eq!(entry.args_size, kernel.args.size, "{}", kernel.args.name);
        assert!(entry.writes.len() <= 8, "{} binds more than 8 buffers", variant.entry);
        assert!(entry.writes.contains(&true), "{} writes nothing", variant.entry);
        let invocations: u32 = entry.workgroup_size.iter().product();
        assert!(invocations <= 256 && entry.workgroup_size[2] == 1, "workgroup of {}", variant.entry);
    }
}

#[test]
fn a_wrong_layout_is_seen() {
    let source = "struct A { x: u32, y: vec2f } @group(0) @binding(0) var<uniform> a: A;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn f() { out[0] = a.y.x; }";
    let entry = reflect::entry(&reflect::parse(source.to_owned()).unwrap(), "f").unwrap();
    assert_eq!(entry.fields, [("x".to_owned(), 0), ("y".to_owned(), 8)], "vec2f is aligned to 8");
    let gap = source.replace("@binding(1)", "@binding(2)");
    assert!(reflect::entry(&reflect::parse(gap).unwrap(), "f").is_err(), "a gap in the bindings is refused");
}

#[test]
fn every_entry_point_is_documented() {
    for (kernel, variant) in variants() {
        let at = kernel.source.find(&format!("fn {}(", variant.entry)).unwrap();
        let before: Vec<_> = kernel.source[..at].trim_end().lines().rev().skip(1).collect();
        assert!(before[0].starts_with("//"), "{} has no comment above it", variant.entry);
    }
}

/// The module with its overrides set, validated with the fewest capabilities.
fn specialise(kernel: &Kernel, flags: &[&str]) -> (naga::Module, ModuleInfo) {
    let shader = reflect::parse(reflect::source(kernel)).unwrap();
    let constants = flags.iter().map(|flag| ((*flag).to_owned(), 1.0)).collect();
    let (module, _) = process_overrides(&shader.module, &shader.info, None, &constants).unwrap();
    let module = match module {
        Cow::Owned(module) => module,
        Cow::Borrowed(module) => module.clone(),
    };
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).unwrap();
    (module, info)
}

#[test]
fn every_kernel_translates_everywhere() {
    let mut checked = 0;
    for kernel in KERNELS {
        for flags in flag_sets(kernel) {
            let (module, info) = specialise(kernel, &flags);
            let words = spv::write_vec(&module, &info, &spv::Options::default(), None).unwrap();
            checked += usize::from(spirv_val(bytemuck::cast_slice(&words), kernel.name));
            msl::write_string(&module, &info, &msl_options(), &msl::PipelineOptions::default()).unwrap();
            let mut text = String::new();
            let options = hlsl::Options { fake_missing_bindings: true, ..hlsl::Options::default() };
            let pipeline = hlsl::PipelineOptions::default();
            hlsl::Writer::new(&mut text, &options, &pipeline).write(&module, &info, None).unwrap();
            assert!(text.contains("numthreads"), "{}", kernel.name);
        }
    }
    if checked == 0 {
        assert!(std::env::var_os("CI").is_none(), "spirv-val is missing: run ./setup.sh");
        eprintln!("skipped: no spirv-val");
    }
}

fn msl_options() -> msl::Options {
    msl::Options { fake_missing_bindings: true, ..msl::Options::default() }
}

/// Whether the validator is there; panics with its words where it refuses the module.
fn spirv_val(bytes: &[u8], name: &str) -> bool {
    let spawned = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.1", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let Ok(mut child) = spawned else { return false };
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    true
}
