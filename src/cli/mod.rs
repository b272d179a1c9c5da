//! The terminal: list, adapters, run, check, bench, open; without a subcommand, the window.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done, and every
//! claim asked for holds; 1 a claim does not hold or is not resolved, or an adapter computes wrong;
//! 2 bad use, or something that could not be done, said in one line; 130 stopped by Ctrl-C, with what
//! there is kept.

mod adapters;
mod bench;
mod check;
mod choose;
mod interrupt;
mod list;
mod open;
mod progress;
mod run;
mod summary;
mod window;

use crate::engine::protocol::ExecutorChoice;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// A lab for what training does while the loss stands still. Without a command it opens its window.
#[derive(Parser)]
#[command(name = "plateau", version, max_term_width = 100, after_help = CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// No progress and no remarks, only results and errors
    #[arg(short, long, global = true)]
    quiet: bool,
}

const CODES: &str = "Exit codes: 0 done, all claims hold; 1 a claim does not hold or is not resolved, or \
an adapter computes wrong; \
2 bad use or not possible, said in one line; 130 stopped by Ctrl-C, what there is was kept.";

#[derive(Subcommand)]
enum Command {
    /// The scenarios, their claims and their presets
    List,
    /// The graphics adapters of this machine
    #[command(after_help = CODES)]
    Adapters(AdaptersArguments),
    /// Run a scenario or a Spec to its end
    #[command(after_help = CODES)]
    Run(RunArguments),
    /// Say whether claims hold, and how that was measured
    #[command(after_help = CODES)]
    Check(CheckArguments),
    /// Measure the steps a second of both executors
    Bench(BenchArguments),
    /// Open a run, a Spec or a link: in the window, or in words where there is no display
    Open(OpenArguments),
}

#[derive(Args)]
struct AdaptersArguments {
    /// Run every kernel on each and say whether it computes what the processor does
    #[arg(long)]
    check: bool,
}

#[derive(Args)]
struct RunArguments {
    /// A scenario (see `plateau list`) or a Spec file, SPEC.toml
    #[arg(value_name = "SCENARIO|SPEC.toml")]
    what: String,
    /// A preset of the scenario instead of its first
    #[arg(long, value_name = "ID")]
    preset: Option<String>,
    /// Change a field of the Spec, as in training.eta=0.02 or model.spectrum=[3,1]; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    #[command(flatten)]
    executor: ExecutorArguments,
    /// Seeds, trained side by side as members of one ensemble
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// New folder for run.json, metrics.csv, spec.toml, figure.svg and figure.png
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Args)]
struct ExecutorArguments {
    /// Who computes: shaders, the processor, or whichever a short measurement finds faster
    #[arg(long, value_enum, default_value_t = Executor::Auto)]
    executor: Executor,
    /// The graphics adapter whose name contains this text (see `plateau adapters`)
    #[arg(long, value_name = "TEXT")]
    adapter: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Executor {
    Auto,
    Gpu,
    Cpu,
}

impl From<Executor> for ExecutorChoice {
    fn from(executor: Executor) -> Self {
        match executor {
            Executor::Auto => Self::Auto,
            Executor::Gpu => Self::Gpu,
            Executor::Cpu => Self::Cpu,
        }
    }
}

#[derive(Args)]
struct CheckArguments {
    /// Claims, as `plateau list` names them, or `all`
    #[arg(value_name = "CLAIM|all", required = true)]
    claims: Vec<String>,
    /// Fewer seeds and shorter runs: a look rather than a verdict to rely on
    #[arg(long)]
    quick: bool,
    /// Seeds for each measurement [default: 16, with --quick 4]
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// One JSON array on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    executor: ExecutorArguments,
}

#[derive(Args)]
struct BenchArguments {
    /// Time for each measurement, in seconds
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    seconds: f64,
    #[command(flatten)]
    executor: ExecutorArguments,
}

#[derive(Args)]
struct OpenArguments {
    /// A run folder, a zip of one, a Spec file, or a link: the page's address or what follows its `#`
    #[arg(value_name = "DIR|FILE|LINK")]
    what: PathBuf,
    /// Print it even where there is a display: a run's summary, else the Spec
    #[arg(long)]
    summary: bool,
}

/// How a command ended, short of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    DoesNotHold,
    Interrupted,
}

/// A command's end; the error is the line to print.
type Ending = Result<Outcome, String>;

/// The program.
pub fn main() -> ExitCode {
    hush_wayland();
    log_to_stderr();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if !error.use_stderr() => {
            // Help and version were asked for. A closed pipe is no error of ours.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => return fail(&usage_line(&error)),
    };
    let ending = dispatch(arguments);
    if ending.is_ok() && UNSAID.load(Ordering::Relaxed) {
        return fail("standard output cannot be written: what was to be said is lost");
    }
    match ending {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::DoesNotHold) => ExitCode::from(1),
        Ok(Outcome::Interrupted) => ExitCode::from(130),
        Err(line) => fail(&line),
    }
}

fn dispatch(arguments: Arguments) -> Ending {
    let quiet = arguments.quiet;
    match arguments.command {
        None => window::open(window::First::Lab),
        Some(Command::List) => list::list(),
        Some(Command::Adapters(arguments)) => adapters::adapters(&arguments),
        Some(Command::Run(arguments)) => run::run(&arguments, quiet),
        Some(Command::Check(arguments)) => check::check(&arguments, quiet),
        Some(Command::Bench(arguments)) => bench::bench(&arguments, quiet),
        Some(Command::Open(arguments)) => open::open(&arguments),
    }
}

/// Prints one line and gives the code of bad use.
fn fail(line: &str) -> ExitCode {
    complain(&format!("plateau: {}", line.replace('\n', " ")));
    ExitCode::from(2)
}

/// Prints to standard error. Where nobody reads it there is nobody left to tell: a run goes on.
fn complain(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{}", clean(line));
}

/// The text without what would command a terminal: names and notices can come from a file.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

/// The first paragraph of clap's message, on one line.
fn usage_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let said = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .collect::<Vec<_>>()
        .join("; ");
    format!("{}; see plateau --help", said.strip_prefix("error: ").unwrap_or(&said).replace(":;", ":"))
}

/// Whether something said to standard output was lost, other than to a reader who had seen enough.
static UNSAID: AtomicBool = AtomicBool::new(false);

/// Prints to standard output. A reader who has seen enough (`plateau list | head -1`) is no error;
/// a full disk is, and `main` ends with it.
fn say(line: &str) {
    use std::io::{ErrorKind, Write};
    match writeln!(std::io::stdout(), "{}", clean(line)) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => UNSAID.store(true, Ordering::Relaxed),
        _ => {}
    }
}

/// libwayland, which graphics drivers load even where nothing is shown, prints a line of its own
/// when this variable is missing, as it is on servers and in containers.
fn hush_wayland() {
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: the program's first act: no other thread exists that could read the environment.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", std::env::temp_dir()) };
    }
}

/// Silent unless PLATEAU_LOG asks for more (`PLATEAU_LOG=plateau=debug`).
fn log_to_stderr() {
    let Ok(wanted) = std::env::var("PLATEAU_LOG") else { return };
    let filter = tracing_subscriber::EnvFilter::new(wanted);
    // Fails only if a subscriber is set already.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}
