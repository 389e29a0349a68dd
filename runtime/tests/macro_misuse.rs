//! Misused attributes: the compiler says what is wrong, where, and nothing else.
//!
//! What it says stands beside each program in `misuse`; `TRYBUILD=overwrite` writes it anew.

// proves: RT-24
#[test]
fn misuse_is_the_only_error() {
    trybuild::TestCases::new().compile_fail("tests/misuse/*.rs");
}
