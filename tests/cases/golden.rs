//! The golden transformer: what PyTorch gave, and the same model with the same start as a Recording.

use plateau::kernels::{TensorId, Words};
use plateau::models::transformer::{Config, Transformer};
use serde_json::Value;
use std::sync::OnceLock;

/// The values that `assets/golden/transformer.py` wrote.
pub fn golden() -> &'static Value {
    static GOLDEN: OnceLock<Value> = OnceLock::new();
    GOLDEN.get_or_init(|| serde_json::from_str(include_str!("../../assets/golden/transformer.json")).unwrap())
}

pub fn size(name: &str) -> u32 {
    golden()["config"][name].as_u64().unwrap() as u32
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// The transformer of the golden values, with so many members.
pub fn net(members: u32) -> Transformer {
    Transformer::new(Config {
        members,
        vocab: size("vocab"),
        time: size("time"),
        width: size("width"),
        layers: size("layers"),
        heads: size("heads"),
        hidden: size("hidden"),
        batch: size("batch"),
        beta1: 0.9,
        beta2: 0.99,
        epsilon: 1e-8,
        clip: golden()["config"]["clip"].as_f64().unwrap() as f32,
        schedule_rows: size("steps"),
    })
}

/// One member's part of an arena, filled tensor by tensor.
pub fn arena(net: &Transformer, tensors: &Value) -> Vec<f64> {
    let mut arena = vec![0.0; net.tensors.get(net.params).len];
    for param in &net.table.params {
        let values = numbers(&tensors[&param.name]);
        assert_eq!(values.len(), param.len(), "{}", param.name);
        arena[param.offset as usize..][..param.len()].copy_from_slice(&values);
    }
    arena
}

/// The schedule at full precision, `[step][member][4]`; golden rates are exact in f32.
pub fn schedule(net: &Transformer, members: &[usize]) -> Vec<f64> {
    let decay = golden()["config"]["decay"].as_f64().unwrap();
    let rate = |&member: &usize| golden()["members"][member]["rate"].as_f64().unwrap() as f32;
    let rows = (0..net.config.schedule_rows).flat_map(|step| {
        members.iter().map(move |member| net.config.schedule_row(f64::from(rate(member)), decay, step))
    });
    rows.flatten().collect()
}

/// Tokens and targets of one step.
pub fn batch(net: &Transformer, members: &[usize], step: usize) -> Vec<(TensorId, Words)> {
    let column = |from: usize| {
        let sequences = members.iter().flat_map(|&member| {
            golden()["members"][member]["tokens"][step].as_array().unwrap().iter().map(numbers)
        });
        let time = net.config.time as usize;
        Words::Integers(
            sequences.flat_map(|s| s[from..][..time].to_vec()).map(|token| token as u32).collect(),
        )
    };
    vec![(net.tokens, column(0)), (net.targets, column(1))]
}
