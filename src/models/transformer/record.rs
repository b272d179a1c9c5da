//! The Recordings of a transformer: forward, gradients, and a whole optimizer step.

use super::{LayerTensors, NormTensors, ROW_WIDTH, Transformer, scalar};
use crate::kernels::args::*;
use crate::kernels::{Recording, TensorId};

/// Added to the mean square of a row before its root is taken.
const NORM_EPSILON: f32 = 1e-6;

/// A matrix operand: its tensor, and its first element within a member's part.
type Operand = (TensorId, u32);

impl Transformer {
    /// Logits, the loss of each row, and the mean loss.
    pub fn forward(&self) -> Recording {
        let mut recording = Recording::new("forward");
        self.record_forward(&mut recording);
        recording
    }

    /// Forward, then the gradient of the mean loss, added to what is in `grads`, and its squared norm.
    pub fn gradients(&self) -> Recording {
        let mut recording = Recording::new("gradients");
        self.record_gradients(&mut recording);
        recording
    }

    /// One step of AdamW on the current batch, its row of the schedule taken from the counters.
    pub fn step(&self) -> Recording {
        let mut recording = Recording::new("step");
        self.record_gradients(&mut recording);
        self.record_update(&mut recording);
        recording.dispatch(CounterAdvanceArgs { step: 1, slot: 0 }, &[], &[self.counters], [1, 1]);
        recording
    }

    fn record_gradients(&self, r: &mut Recording) {
        self.record_forward(r);
        self.record_backward(r);
        let args = SumSquaresArgs {
            len: self.table.len() as u32,
            x_offset: 0,
            x_stride: self.tensors.stride(self.grads),
            out_offset: scalar::SQUARED_NORM,
            out_stride: self.tensors.stride(self.scalars),
        };
        r.dispatch(args, &[], &[self.grads, self.scalars], [1, 1]);
    }

    /// The residual stream before layer `i`.
    fn stream(&self, i: usize) -> TensorId {
        if i == 0 { self.embedded } else { self.layers[i - 1].stream }
    }

    fn record_forward(&self, r: &mut Recording) {
        let c = &self.config;
        let embedding = EmbeddingForwardArgs {
            rows: c.rows(),
            time: c.time,
            width: c.width,
            tokens_stride: self.tensors.stride(self.tokens),
            params_stride: self.tensors.stride(self.params),
            token_offset: self.offsets.token_embedding,
            position_offset: self.offsets.position_embedding,
        };
        r.dispatch(embedding, &[], &[self.tokens, self.params, self.embedded], [c.rows() * c.width, 1]);
        for i in 0..self.layers.len() {
            self.record_attention(r, i);
            self.record_feed_forward(r, i);
        }
        self.record_norm(r, self.stream(self.layers.len()), self.offsets.final_gain, self.last);
        let head = (self.params, self.offsets.head);
        self.record_matmul(
            r,
            [c.rows(), c.vocab, c.width],
            (self.last.normed, 0),
            head,
            (self.logits, 0),
            &[],
        );
        self.record_loss(r);
    }

    fn record_attention(&self, r: &mut Recording, i: usize) {
        let c = &self.config;
        let (layer, at) = (&self.layers[i], &self.offsets.layers[i]);
        self.record_norm(r, self.stream(i), at.attention_gain, layer.attention);
        let size = [c.rows(), 3 * c.width, c.width];
        self.record_matmul(r, size, (layer.attention.normed, 0), (self.params, at.qkv), (layer.qkv, 0), &[]);
        let args = AttentionForwardArgs {
            batch: c.batch,
            time: c.time,
            heads: c.heads,
            head_width: self.head_width(),
        };
        r.dispatch(args, &[], &[layer.qkv, layer.weights, layer.mixed], [c.rows() * c.heads, 1]);
        let branch = (self.scratch.branch, 0);
        let size = [c.rows(), c.width, c.width];
        self.record_matmul(r, size, (layer.mixed, 0), (self.params, at.attention_out), branch, &[]);
        self.record_residual(r, self.stream(i), layer.middle);
    }

    fn record_feed_forward(&self, r: &mut Recording, i: usize) {
        let c = &self.config;
        let (layer, at) = (&self.layers[i], &self.offsets.layers[i]);
        let before_relu = self.scratch.before_relu;
        self.record_norm(r, layer.middle, at.feed_forward_gain, layer.feed_forward);
        let size = [c.rows(), c.hidden, c.width];
        self.record_matmul(
            r,
            size,
            (layer.feed_forward.normed, 0),
            (self.params, at.up),
            (before_relu, 0),
            &[],
        );
        let relu = BiasReluForwardArgs {
            rows: c.rows(),
            width: c.hidden,
            bias_offset: at.up_bias,
            params_stride: self.tensors.stride(self.params),
        };
        r.dispatch(relu, &[], &[before_relu, self.params, layer.hidden], [c.rows() * c.hidden, 1]);
        let branch = (self.scratch.branch, 0);
        let size = [c.rows(), c.width, c.hidden];
        self.record_matmul(r, size, (layer.hidden, 0), (self.params, at.down), branch, &[]);
        self.record_residual(r, layer.middle, layer.stream);
    }

    /// `out = x + branch`.
    fn record_residual(&self, r: &mut Recording, x: TensorId, out: TensorId) {
        let len = self.config.rows() * self.config.width;
        let args = AxpbyArgs {
            len,
            x_stride: len,
            y_stride: len,
            out_stride: len,
            alpha: 1.0,
            beta: 1.0,
            ..AxpbyArgs::default()
        };
        r.dispatch(args, &[], &[x, self.scratch.branch, out], [len, 1]);
    }

    fn record_norm(&self, r: &mut Recording, x: TensorId, gain_offset: u32, out: NormTensors) {
        let args = RmsnormForwardArgs {
            rows: self.config.rows(),
            width: self.config.width,
            gain_offset,
            params_stride: self.tensors.stride(self.params),
            epsilon: NORM_EPSILON,
        };
        let bindings = [x, self.params, out.normed, out.inverse_rms];
        r.dispatch(args, &[], &bindings, [self.config.rows(), 1]);
    }

    fn record_loss(&self, r: &mut Recording) {
        let rows = self.config.rows();
        let args = CrossEntropyForwardArgs {
            rows,
            classes: self.config.vocab,
            targets_stride: self.tensors.stride(self.targets),
        };
        let bindings = [self.logits, self.targets, self.losses, self.scratch.d_logits];
        r.dispatch(args, &[], &bindings, [rows, 1]);
        let mean = SumArgs {
            len: rows,
            x_offset: 0,
            x_stride: rows,
            out_offset: scalar::LOSS,
            out_stride: self.tensors.stride(self.scalars),
            divisor: rows as f32,
        };
        r.dispatch(mean, &[], &[self.losses, self.scalars], [1, 1]);
    }

    fn record_backward(&self, r: &mut Recording) {
        let c = &self.config;
        let (s, at) = (&self.scratch, &self.offsets);
        self.record_matrix_backward(r, [c.width, c.vocab], self.last.normed, at.head, s.d_logits, s.d_normed);
        self.record_norm_backward(r, self.stream(self.layers.len()), at.final_gain, self.last, &[]);
        for i in (0..self.layers.len()).rev() {
            self.record_feed_forward_backward(r, i);
            self.record_attention_backward(r, i);
        }
        let embedding = EmbeddingBackwardArgs {
            rows: c.rows(),
            time: c.time,
            width: c.width,
            vocab: c.vocab,
            tokens_stride: self.tensors.stride(self.tokens),
            grads_stride: self.tensors.stride(self.grads),
            token_offset: at.token_embedding,
            position_offset: at.position_embedding,
        };
        r.dispatch(embedding, &[], &[self.tokens, s.d_stream, self.grads], [(c.vocab + c.time) * c.width, 1]);
    }

    fn record_feed_forward_backward(&self, r: &mut Recording, i: usize) {
        let c = &self.config;
        let (s, layer, at) = (&self.scratch, &self.layers[i], &self.offsets.layers[i]);
        self.record_matrix_backward(r, [c.hidden, c.width], layer.hidden, at.down, s.d_stream, s.d_hidden);
        let relu = BiasReluBackwardArgs {
            rows: c.rows(),
            width: c.hidden,
            bias_offset: at.up_bias,
            grads_stride: self.tensors.stride(self.grads),
        };
        r.dispatch(relu, &[], &[layer.hidden, s.d_hidden, s.d_before_relu, self.grads], [c.hidden, 1]);
        let normed = layer.feed_forward.normed;
        self.record_matrix_backward(r, [c.width, c.hidden], normed, at.up, s.d_before_relu, s.d_normed);
        let residual = &["ACCUMULATE"];
        self.record_norm_backward(r, layer.middle, at.feed_forward_gain, layer.feed_forward, residual);
    }

    fn record_attention_backward(&self, r: &mut Recording, i: usize) {
        let c = &self.config;
        let (s, layer, at) = (&self.scratch, &self.layers[i], &self.offsets.layers[i]);
        let size = [c.width, c.width];
        self.record_matrix_backward(r, size, layer.mixed, at.attention_out, s.d_stream, s.d_mixed);
        self.record_heads_backward(r, layer);
        let size = [c.width, 3 * c.width];
        self.record_matrix_backward(r, size, layer.attention.normed, at.qkv, s.d_qkv, s.d_normed);
        let residual = &["ACCUMULATE"];
        self.record_norm_backward(r, self.stream(i), at.attention_gain, layer.attention, residual);
    }

    /// From the gradient of the mixed values to that of queries, keys and values.
    fn record_heads_backward(&self, r: &mut Recording, layer: &LayerTensors) {
        let (c, s) = (&self.config, &self.scratch);
        let (batch, time, heads, head_width) = (c.batch, c.time, c.heads, self.head_width());
        let items = [c.rows() * heads, 1];
        let scores = AttentionScoresBackwardArgs { batch, time, heads, head_width };
        r.dispatch(scores, &[], &[layer.qkv, layer.weights, s.d_mixed, s.d_scores], items);
        let args = AttentionBackwardArgs { batch, time, heads, head_width };
        let bindings = [layer.qkv, layer.weights, s.d_scores, s.d_mixed, s.d_qkv];
        r.dispatch(args, &[], &bindings, items);
    }

    /// Backward of `out = x W`, W `[inputs, outputs]` at `offset`: `dW += x^T d_out`, `d_x = d_out W^T`.
    fn record_matrix_backward(
        &self,
        r: &mut Recording,
        [inputs, outputs]: [u32; 2],
        x: TensorId,
        offset: u32,
        d_out: TensorId,
        d_x: TensorId,
    ) {
        let rows = self.config.rows();
        let flags = &["TRANSPOSE_A", "ACCUMULATE"];
        self.record_matmul(r, [inputs, outputs, rows], (x, 0), (d_out, 0), (self.grads, offset), flags);
        let flags = &["TRANSPOSE_B"];
        self.record_matmul(r, [rows, inputs, outputs], (d_out, 0), (self.params, offset), (d_x, 0), flags);
    }

    /// From `d_normed` to the gradient of the gain and to `d_stream`.
    fn record_norm_backward(
        &self,
        r: &mut Recording,
        x: TensorId,
        gain_offset: u32,
        norm: NormTensors,
        flags: &[&'static str],
    ) {
        let (rows, width) = (self.config.rows(), self.config.width);
        let grads_stride = self.tensors.stride(self.grads);
        let gain = RmsnormGainBackwardArgs { rows, width, gain_offset, grads_stride };
        r.dispatch(gain, &[], &[x, norm.inverse_rms, self.scratch.d_normed, self.grads], [width, 1]);
        let params_stride = self.tensors.stride(self.params);
        let args = RmsnormBackwardArgs { rows, width, gain_offset, params_stride };
        let bindings = [x, self.params, norm.inverse_rms, self.scratch.d_normed, self.scratch.d_stream];
        r.dispatch(args, flags, &bindings, [rows, 1]);
    }

    fn record_update(&self, r: &mut Recording) {
        let len = self.table.len() as u32;
        let args = AdamwUpdateArgs {
            len,
            decayed_len: self.table.decayed_len() as u32,
            stride: self.tensors.stride(self.params),
            row_len: self.config.members * ROW_WIDTH,
            row_member: ROW_WIDTH,
            norm_offset: scalar::SQUARED_NORM,
            norm_stride: self.tensors.stride(self.scalars),
            beta1: self.config.beta1,
            beta2: self.config.beta2,
            epsilon: self.config.epsilon,
            clip: self.config.clip,
        };
        let arenas = [self.params, self.grads, self.first_moment, self.second_moment];
        let bindings = [[self.rows, self.counters, self.scalars].as_slice(), &arenas].concat();
        r.dispatch(args, &[], &bindings, [len, 1]);
    }

    fn head_width(&self) -> u32 {
        self.config.width / self.config.heads
    }

    /// `out[m, n] = op(A)[m, k] op(B)[k, n]`, size `[m, n, k]`.
    fn record_matmul(
        &self,
        r: &mut Recording,
        [m, n, k]: [u32; 3],
        a: Operand,
        b: Operand,
        out: Operand,
        flags: &[&'static str],
    ) {
        let stride = |operand: Operand| self.tensors.stride(operand.0);
        let args = MatmulArgs {
            m,
            n,
            k,
            a_offset: a.1,
            a_stride: stride(a),
            b_offset: b.1,
            b_stride: stride(b),
            out_offset: out.1,
            out_stride: stride(out),
            alpha: 1.0,
        };
        r.dispatch(args, flags, &[a.0, b.0, out.0], [n, m]);
    }
}
