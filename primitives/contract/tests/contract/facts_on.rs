//! How facts become tests.

/// Runs each fact on each of the hosts before the semicolon, in a module a host:
/// `epoll::name_of_the_fact`.
///
/// A fact that proves a guarantee is written as the test that it is, so that its mark stands above
/// one; others are a list.
macro_rules! facts_on {
    ($([$module:ident : $host:expr])+; $(#[test] fn $facts:ident :: $fact:ident;)+) => {
        facts_on!($([$module : $host])+; $($facts :: $fact),+);
    };
    ($([$module:ident : $host:expr])+; $($facts:ident :: $fact:ident),+ $(,)?) => {
        facts_on!(@each [$($facts :: $fact),+] $([$module : $host])+);
    };
    (@each $facts:tt $([$module:ident : $host:expr])+) => {
        $(facts_on!(@host $module $host, $facts);)+
    };
    (@host $module:ident $host:expr, [$($facts:ident :: $fact:ident),+]) => {
        mod $module {
            $(
                #[test]
                fn $fact() {
                    crate::bounded::run($host, super::$facts::$fact);
                }
            )+
        }
    };
}
