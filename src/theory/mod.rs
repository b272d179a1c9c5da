//! Closed forms to draw over measurements and to check against. Imports nothing of ours.
