//! Pure functions on arrays: fits, confidence intervals, turning points, decimation for plots. Imports nothing of ours.
