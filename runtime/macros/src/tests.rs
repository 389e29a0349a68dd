//! Misuse: what the compiler says, and which words it points at.

use proc_macro2::TokenStream;

use crate::{program, testing};

type Expand = fn(TokenStream, TokenStream) -> syn::Result<TokenStream>;

/// The errors of an attribute with these options on this item: each with the text it points at.
fn errors(expand: Expand, options: &str, item: &str) -> Vec<(String, String)> {
    let [options, item] = [options, item].map(|text| text.parse().expect("tokens"));
    match expand(options, item) {
        Ok(expanded) => panic!("no error, but {expanded}"),
        Err(errors) => errors
            .into_iter()
            .map(|error| {
                let text = error.span().source_text().unwrap_or_default();
                (text, error.to_string())
            })
            .collect(),
    }
}

#[track_caller]
fn refused(expand: Expand, options: &str, item: &str, at: &str, message: &str) {
    let errors = errors(expand, options, item);
    assert!(
        errors
            .iter()
            .any(|(text, said)| text == at && said.contains(message)),
        "wanted {message:?} at {at:?}, not {errors:?}"
    );
}

const ATTRIBUTES: [Expand; 2] = [program::expand, testing::expand];

// proves: RT-24
#[test]
fn function_that_does_not_fit_is_refused_at_its_fault() {
    for expand in ATTRIBUTES {
        let refuse = |item, at, message| refused(expand, "", item, at, message);
        refuse("fn main() {}", "fn", "needs an `async fn`");
        refuse(
            "async fn main(a: u8, b: u8) {}",
            "a: u8, b: u8",
            "takes no arguments",
        );
        refuse("async fn main<T, 'a>() {}", "T, 'a", "has no generics");
        refuse(
            "async fn main() where u8: Copy {}",
            "where u8: Copy",
            "has no where clause",
        );
        refuse("const async fn main() {}", "const", "is not const");
        refuse("async unsafe fn main() {}", "unsafe", "is not unsafe");
        refuse(
            "async extern \"C\" fn main() {}",
            "extern \"C\"",
            "is not extern",
        );
        refuse("struct Main;", "struct", "stands on an async fn");
    }
}

#[test]
fn every_fault_is_shown_at_once() {
    for expand in ATTRIBUTES {
        let errors = errors(expand, "", "unsafe fn main<T>(t: T) {}");
        let at: Vec<_> = errors.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(at, ["fn", "t: T", "T", "unsafe"]);
    }
}

// proves: RT-24
#[test]
fn option_that_does_not_fit_is_refused_at_its_fault() {
    const MAIN: &str = "async fn main() {}";
    for expand in ATTRIBUTES {
        let refuse = |options, at, message| refused(expand, options, MAIN, at, message);
        refuse("threads = 2", "threads", "no option `threads`");
        refuse("shards = 0", "0", "a number from 1 to 4096");
        refuse("shards = 4097", "4097", "a number from 1 to 4096");
        refuse("shards = 2usize", "2usize", "a number from 1 to 4096");
        refuse("shards = \"2\"", "\"2\"", "a number from 1 to 4096");
        refuse("shards = two", "two", "a number from 1 to 4096");
        refuse("shards = 1, shards = 1", "shards", "given twice");
    }
    let main = |options, at, message| refused(program::expand, options, MAIN, at, message);
    main("idle = \"sleep\"", "\"sleep\"", "one of \"park\", \"spin\"");
    main("idle = Park", "Park", "one of \"park\"");
    main("driver = \"sim\"", "\"sim\"", "one of \"auto\", \"uring\"");
    main("seeds = 1", "seeds", "no option `seeds`");
    let test = |options, at, message| refused(testing::expand, options, MAIN, at, message);
    test("seeds = 3", "seeds", "goes with `sim`");
    test("seeds = 3, epoll", "seeds", "goes with `sim`");
    test("sim, seeds = 0", "0", "a number from 1");
    test("sim, sim", "sim", "given twice");
    test("with = 3", "3", "the path of a function");
    test("idle = \"park\"", "idle", "no option `idle`");
}

#[test]
fn main_is_the_programs_main() {
    let other = "async fn start() {}";
    refused(program::expand, "", other, "start", "the program's `main`");
}

#[test]
fn test_refuses_attributes_that_would_mislead() {
    let panics = "#[should_panic(expected = \"x\")] async fn fails() {}";
    let at = "#[should_panic(expected = \"x\")]";
    refused(testing::expand, "", panics, at, "the first driver alone");
    let twice = "#[test] async fn works() {}";
    refused(testing::expand, "", twice, "#[test]", "a test by itself");
}

#[test]
fn options_become_calls() {
    let [options, item] = [
        "shards = 3, idle = \"spin\", driver = \"epoll\"",
        "async fn main() {}",
    ]
    .map(|text| text.parse().expect("tokens"));
    let expanded = program::expand(options, item)
        .expect("it is right")
        .to_string();
    for call in [
        ". shards (3)",
        ". idle (:: corelane :: IdlePolicy :: Spin)",
        ". driver (:: corelane :: Driver :: Epoll)",
    ] {
        assert!(expanded.contains(call), "no {call:?} in {expanded}");
    }
}
