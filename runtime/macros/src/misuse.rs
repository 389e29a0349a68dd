//! What a misused attribute leaves of its function, so that the compiler shows the misuse alone.
//!
//! Without the function a program would also have no `main`, whoever calls it would not find it,
//! and what it uses would look unused.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, ItemFn, Result, Token};

/// Both, or all that is wrong with either.
pub(crate) fn both<A, B>(one: Result<A>, other: Result<B>) -> Result<(A, B)> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
        (Err(mut error), Err(more)) => {
            error.combine(more);
            Err(error)
        }
    }
}

/// The error, and beside it `item` as far as the compiler takes it.
pub(crate) fn explain(error: &Error, item: TokenStream) -> TokenStream {
    let error = error.to_compile_error();
    match syn::parse2(item.clone()) {
        Ok(function) => {
            let function = stand_in(function);
            quote!(#error #function)
        }
        // It is no function: nothing is expected of it but that it is there.
        Err(_) => quote!(#error #item),
    }
}

/// A function of the same name that holds the body, where it is checked as ever and not called.
fn stand_in(mut function: ItemFn) -> TokenStream {
    let attributes = std::mem::take(&mut function.attrs);
    let attributes: Vec<_> = attributes.into_iter().filter(is_kept).collect();
    let visibility = std::mem::replace(&mut function.vis, syn::Visibility::Inherited);
    let name = function.sig.ident.clone();
    let outer = function.sig.clone();
    let signature = &mut function.sig;
    // A body that awaits is right only there, and none is wrong.
    signature
        .asyncness
        .get_or_insert_with(<Token![async]>::default);
    signature.constness = None;
    signature.abi = None;
    signature.variadic = None;
    // A `main` takes and returns nothing, and a test is called by nobody. Any other one may be.
    let (generics, inputs, output) = (&outer.generics, &outer.inputs, &outer.output);
    let clause = &generics.where_clause;
    let head = if name == "main" {
        quote!(fn main())
    } else {
        quote!(fn #name #generics (#inputs) #output #clause)
    };
    let end = (name != "main").then(|| quote!(::core::unreachable!()));
    quote! {
        #(#attributes)*
        #[allow(unused, dead_code, unreachable_code)]
        #visibility #head {
            #function
            #end
        }
    }
}

/// Attributes that say where the function is and what is allowed in it. The others may be what is
/// wrong.
fn is_kept(attribute: &Attribute) -> bool {
    let names = ["cfg", "cfg_attr", "allow", "doc"];
    names.iter().any(|name| attribute.path().is_ident(name))
}
