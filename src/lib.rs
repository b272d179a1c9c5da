//! Plateau: a lab for what training does while the loss stands still.
//!
//! # One way through the house
//!
//! ```text
//! Spec ──► Session ──► Recording ──► Executor (gpu | cpu) ──► Event ──► RunLog ──► plots, checks, exports
//!  ▲                                                                      │
//!  └──────────────────────────────── Command ◄────────────────────────────┘
//! ```
//!
//! A [`spec::Spec`] says everything about a run. A [`models::Program`] is what the Spec's model means:
//! tensors, and [`kernels::Recording`]s of one step, one row of measurements, one picture. An
//! [`engine::session::Session`] cuts the run into [`kernels::Batch`]es, and an
//! [`engine::executor::Executor`] replays them: `gpu` through WGSL, `cpu` through the kernels' twins.
//! What comes back are [`engine::protocol::Event`]s; [`runlog::RunLog`] folds them, and everything
//! that plots, checks or exports reads that and nothing else.
//!
//! # Code map
//!
//! In the order of the flow: [`spec`] plain data · [`scenarios`] one file per claim or lesson ·
//! [`models`] what a Spec means as tensors and Recordings · [`kernels`] the table of kernels and the
//! Recording · [`cpu`] twins and their executor · [`gpu`] the wgpu executor · [`selftest`] every kernel
//! on a small case against its twin · [`engine`] admission, session, protocol, and the driver with its
//! clocks and threads · [`runlog`] · [`theory`] closed forms ·
//! [`analysis`] pure functions on arrays · [`export`] one file per format · [`cli`] · [`ui`].
//! WGSL is in `shaders/`, one op family per file with `common.wgsl` in front.
//!
//! # Invariants, each kept by `tests/cases/tidy.rs`
//!
//! wgpu is named only in `gpu` (and where eframe needs its own); egui only in `ui`; `engine` names no
//! scenario; `theory` and `analysis` import nothing of ours; clocks and threads are only in
//! `engine::driver` (rayon in `cpu`).
//!
//! # The chain of trust
//!
//! Finite differences (f64) → twins → shaders on random shapes, with a planted mutation per kernel;
//! closed forms, and runs of an independent program (`assets/golden`), → linear networks; PyTorch →
//! one AdamW step of a small transformer on both executors.
//!
//! # Decisions
//!
//! - **The member axis is outermost everywhere**, in the log too (`[member][slot][metric]`): the cpu
//!   executor then gives every member one block of memory of its own, and a readback of the used slots
//!   is one copy a member. Counters are `[member]` as well, so that no kernel writes what members share.
//! - **A submit may hold several events**: rows of the log become replays between the steps of one
//!   submit, at slots counted on the device; only a checkpoint or a full log ends it. A submit per
//!   row would cost more than the steps between rows.
//! - **A row of the schedule is the learning rate**, uploaded once a submit from f64, shared by all
//!   members until a Spec varies it by member.
//! - **The cpu executor runs a batch inside `submit`.** It is called on the engine's thread (or the
//!   page's worker), and the driver keeps batches to a few milliseconds by measured time.
//! - **A resumed run repeats the steps since its checkpoint** and drops the rows it has already told:
//!   equal bits make that invisible.
//! - **`auto` measures the run itself**, a few steps on both executors, and says both figures; on a
//!   software adapter, and for small ensembles on most GPUs, the twins win.

pub mod analysis;
#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
pub mod cpu;
pub mod engine;
pub mod export;
pub mod gpu;
pub mod kernels;
pub mod models;
pub mod names;
pub mod packed;
pub mod runlog;
pub mod scenarios;
pub mod selftest;
pub mod spec;
pub mod theory;
#[cfg(feature = "ui")]
pub mod ui;
