//! The derive macro of `corelane-thread-aware`; use it as `thread_aware::ThreadAware`.
//!
//! It reads the input into a plan, chooses the bounds and writes the implementation.
#![forbid(unsafe_code)]

mod bounds;
mod expand;
mod options;
mod plan;

use proc_macro::TokenStream;

/// Implements `ThreadAware` for a struct or an enum by relocating each of its fields once, in the
/// order in which they are declared.
///
/// ```
/// use thread_aware::{ThreadAware, affinity::pinned_affinities};
///
/// #[derive(ThreadAware)]
/// struct Session<T> {
///     names: Vec<String>,
///     cache: T,
///     #[thread_aware(skip)]
///     socket: std::sync::Arc<str>,
/// }
///
/// let cores = pinned_affinities(&[2]);
/// let mut session = Session { names: vec![], cache: Some(1), socket: "s".into() };
/// session.relocate(Some(cores[0]), cores[1]);
/// ```
///
/// # Attributes
///
/// - `#[thread_aware(skip)]` on a field leaves it as it is. Its type need not be thread-aware.
/// - `#[thread_aware(crate = path)]` on the item says where the crate is, for whoever depends on it
///   under another name or re-exports it. By default it is `::thread_aware`.
///
/// Anything else, anything given twice, and a union are errors of the compiler.
///
/// # Bounds
///
/// A type parameter gets the bound `ThreadAware` when a relocated field holds it, be it inside of
/// other types. It gets none for being in a skipped field, behind a function pointer or in a trait
/// object. What holds a parameter without relocating it is bounded itself instead
/// (`PhantomData<T>: ThreadAware`, and likewise `Unaware<T>`, `Arc<T, S>` and `T::Item`), since
/// that needs less of `T`. Where a field is skipped in a generic type, the implementation also
/// demands `Self: Send`, as the trait does.
///
/// The bound is on the parameter and not on the field's type, because types that refer to one
/// another could not be derived otherwise. A field whose type needs more of a parameter needs that
/// bound on the item.
#[proc_macro_derive(ThreadAware, attributes(thread_aware))]
pub fn thread_aware(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    plan::Plan::of(input)
        .map_or_else(syn::Error::into_compile_error, |plan| expand::expand(&plan))
        .into()
}
