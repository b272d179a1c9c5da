//! stub
#[test] fn a(){}
