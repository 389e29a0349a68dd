//! Misused attributes: the compiler says what is wrong, where, and nothing else.
//!
//! What it says stands beside each program in `misuse`; `TRYBUILD=overwrite` writes it anew.

// proves: RT-24
#[test]
fn misuse_is_the_only_error() {
    if std::env::var_os("RUSTC_BOOTSTRAP").is_some() {
        // It then joins the spans of several words, which a stable compiler points at one by one.
        eprintln!("what a compiler with unstable features says is not looked at");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/misuse/*.rs");
}
