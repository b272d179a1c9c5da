//! `plateau`: the window, or with a subcommand the terminal. See `plateau --help`.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    plateau::cli::main()
}

/// The page starts from the library.
#[cfg(target_arch = "wasm32")]
fn main() {}
