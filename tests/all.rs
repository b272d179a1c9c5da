//! stub
#[test]
fn a() {}
