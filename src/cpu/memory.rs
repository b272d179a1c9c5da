//! Where tensors live on the CPU, and what a twin's adapter sees of them.

use super::Scalar;
use crate::kernels::{Dispatch, Tensors};
use bytemuck::Pod;

/// The tensors of one member, or the shared ones; a tensor that lives elsewhere is empty here.
#[derive(Clone, Default)]
pub struct Memory<S> {
    pub floats: Vec<Vec<S>>,
    pub integers: Vec<Vec<u32>>,
}

impl<S: Scalar> Memory<S> {
    /// Zeroed memory for the shared tensors, or for those of one member.
    pub fn new(tensors: &Tensors, shared: bool) -> Self {
        let len = |integer: bool| {
            let here =
                move |tensor: &&crate::kernels::Tensor| tensor.shared == shared && tensor.integer == integer;
            tensors.list.iter().map(move |tensor| if here(&tensor) { tensor.len } else { 0 })
        };
        Self {
            floats: len(false).map(|len| vec![S::default(); len]).collect(),
            integers: len(true).map(|len| vec![0; len]).collect(),
        }
    }
}

/// One dispatch for one member: what an adapter takes its slices from.
///
/// Tensors that are written are taken out and put back, so that the others can be read meanwhile.
pub struct Call<'a, S> {
    pub dispatch: &'a Dispatch,
    pub member: usize,
    pub own: &'a mut Memory<S>,
    pub shared: &'a Memory<S>,
}

impl<S: Scalar> Call<'_, S> {
    /// The uniform struct.
    pub fn args<A: Pod>(&self) -> A {
        bytemuck::pod_read_unaligned(&self.dispatch.args)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.dispatch.flags.contains(&name)
    }

    fn at(&self, binding: usize) -> usize {
        self.dispatch.bindings[binding].0 as usize
    }

    /// This member's part of a float tensor, or all of a shared one.
    pub fn floats(&self, binding: usize) -> &[S] {
        let at = self.at(binding);
        let own = &self.own.floats[at];
        if own.is_empty() { &self.shared.floats[at] } else { own }
    }

    pub fn integers(&self, binding: usize) -> &[u32] {
        let at = self.at(binding);
        let own = &self.own.integers[at];
        if own.is_empty() { &self.shared.integers[at] } else { own }
    }

    /// Takes a float tensor out, to be written; `put_floats` puts it back.
    pub fn take_floats(&mut self, binding: usize) -> Vec<S> {
        let at = self.at(binding);
        std::mem::take(&mut self.own.floats[at])
    }

    pub fn put_floats(&mut self, binding: usize, values: Vec<S>) {
        let at = self.at(binding);
        self.own.floats[at] = values;
    }

    pub fn integers_mut(&mut self, binding: usize) -> &mut [u32] {
        let at = self.at(binding);
        &mut self.own.integers[at]
    }
}
