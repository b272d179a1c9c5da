//! The parameter table: where each tensor lies in the arenas, and how it starts.

use super::Config;

/// One parameter tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: String,
    /// Row-major; a matrix is `[in, out]`.
    pub shape: Vec<usize>,
    /// Its first element within a member's part of an arena.
    pub offset: u32,
    /// Under decoupled weight decay: matrices and head; not embeddings, gains and biases.
    pub decayed: bool,
    /// It starts as `init_mean + init_std N(0, 1)`.
    pub init_mean: f64,
    pub init_std: f64,
}

impl Param {
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// All parameters, those under decay first, so that decay is one length.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub params: Vec<Param>,
}

/// Where the tensors of one layer lie.
#[derive(Clone, Copy, Debug)]
pub struct LayerOffsets {
    /// `[width, 3 * width]`: queries, keys, values.
    pub qkv: u32,
    pub attention_out: u32,
    pub up: u32,
    pub down: u32,
    pub attention_gain: u32,
    pub feed_forward_gain: u32,
    pub up_bias: u32,
}

/// Where everything lies.
#[derive(Clone, Debug)]
pub struct Offsets {
    pub layers: Vec<LayerOffsets>,
    pub head: u32,
    pub final_gain: u32,
    pub token_embedding: u32,
    pub position_embedding: u32,
}

impl Table {
    /// Standard deviations as in preset P1: embeddings .5, matrices `1 / sqrt(fan_in)`, the two that
    /// write into the residual stream also `/ sqrt(2 layers)`.
    pub fn new(config: &Config) -> (Self, Offsets) {
        let (width, hidden) = (config.width as usize, config.hidden as usize);
        let [vocab, time] = [config.vocab as usize, config.time as usize];
        let residual = 1.0 / f64::from(2 * config.layers).sqrt();
        let fan = |fan_in: usize| 1.0 / (fan_in as f64).sqrt();
        let mut table = Self::default();
        let mut layers = Vec::new();
        for i in 0..config.layers {
            layers.push(LayerOffsets {
                qkv: table.matrix(format!("qkv_{i}"), [width, 3 * width], fan(width)),
                attention_out: table.matrix(
                    format!("attention_out_{i}"),
                    [width, width],
                    residual * fan(width),
                ),
                up: table.matrix(format!("up_{i}"), [width, hidden], fan(width)),
                down: table.matrix(format!("down_{i}"), [hidden, width], residual * fan(hidden)),
                attention_gain: 0,
                feed_forward_gain: 0,
                up_bias: 0,
            });
        }
        let head = table.matrix("head".into(), [width, vocab], fan(width));
        for (i, layer) in layers.iter_mut().enumerate() {
            layer.attention_gain = table.vector(format!("attention_gain_{i}"), width, 1.0);
            layer.feed_forward_gain = table.vector(format!("feed_forward_gain_{i}"), width, 1.0);
            layer.up_bias = table.vector(format!("up_bias_{i}"), hidden, 0.0);
        }
        let final_gain = table.vector("final_gain".into(), width, 1.0);
        let mut embedding =
            |name: &str, entries| table.push(name.into(), vec![entries, width], false, (0.0, 0.5));
        let token_embedding = embedding("token_embedding", vocab);
        let position_embedding = embedding("position_embedding", time);
        (table, Offsets { layers, head, final_gain, token_embedding, position_embedding })
    }

    fn matrix(&mut self, name: String, shape: [usize; 2], std: f64) -> u32 {
        self.push(name, shape.to_vec(), true, (0.0, std))
    }

    fn vector(&mut self, name: String, len: usize, mean: f64) -> u32 {
        self.push(name, vec![len], false, (mean, 0.0))
    }

    fn push(&mut self, name: String, shape: Vec<usize>, decayed: bool, init: (f64, f64)) -> u32 {
        let offset = self.len() as u32;
        let (init_mean, init_std) = init;
        self.params.push(Param { name, shape, offset, decayed, init_mean, init_std });
        offset
    }

    /// Parameters of one member.
    pub fn len(&self) -> usize {
        self.params.last().map_or(0, |last| last.offset as usize + last.len())
    }

    pub fn is_empty(&self) -> bool {
        self.params.is_empty()
    }

    /// How many of them, from the first on, are under weight decay.
    pub fn decayed_len(&self) -> usize {
        self.params.iter().filter(|param| param.decayed).map(Param::len).sum()
    }
}
