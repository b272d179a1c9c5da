//! Files made from a RunLog: one file per format.
