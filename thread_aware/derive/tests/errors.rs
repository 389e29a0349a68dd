//! Misuse is an error of the compiler that says what is wrong, at the place where it is.

#[test]
fn misuse_is_explained() {
    trybuild::TestCases::new().compile_fail("tests/errors/*.rs");
}
