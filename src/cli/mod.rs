//! The terminal: list, adapters, run, check, bench, open.
