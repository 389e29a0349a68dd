//! `#[corelane::main]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::Parser;
use syn::{Error, Result};

use crate::options::{self, Once, setter};
use crate::{function, misuse};

const NAME: &str = "`#[corelane::main]`";
const OPTIONS: &str = "`shards`, `idle` and `driver`";

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let (settings, function) = misuse::both(settings(options), function::parse(NAME, item))?;
    let (attributes, visibility) = (&function.attrs, &function.vis);
    let (name, output, block) = (&function.sig.ident, &function.sig.output, &function.block);
    if name != "main" {
        let message = format!("{NAME} stands on the program's `main`");
        return Err(Error::new(name.span(), message));
    }
    let run = quote_spanned! {function::output_span(&function)=>
        ::corelane::entry::program(builder, main)
    };
    Ok(quote! {
        #(#attributes)*
        #visibility fn main() -> ::std::process::ExitCode {
            async fn main() #output #block
            let builder = ::corelane::Runtime::builder() #settings;
            #run
        }
    })
}

/// The calls on the builder that the options stand for.
fn settings(options: TokenStream) -> Result<TokenStream> {
    let mut shards = Once::new("shards");
    let mut idle = Once::new("idle");
    let mut driver = Once::new("driver");
    let parser = syn::meta::parser(|meta| {
        if shards.is(&meta) {
            shards.set(&meta, options::shards)
        } else if idle.is(&meta) {
            idle.set(&meta, |meta| options::choice(meta, &idle_policies()))
        } else if driver.is(&meta) {
            driver.set(&meta, |meta| options::choice(meta, &drivers()))
        } else {
            Err(options::unknown(&meta, OPTIONS))
        }
    });
    parser.parse2(options)?;
    let shards = setter(quote!(shards), shards.get());
    let idle = setter(quote!(idle), idle.get());
    let driver = setter(quote!(driver), driver.get());
    Ok(quote!(#shards #idle #driver))
}

fn idle_policies() -> [(&'static str, TokenStream); 3] {
    let policy = quote!(::corelane::IdlePolicy);
    [
        ("park", quote!(#policy::Park)),
        ("spin", quote!(#policy::Spin)),
        (
            "spin-then-park",
            quote!(#policy::SpinThenPark(#policy::SPIN_DEFAULT)),
        ),
    ]
}

fn drivers() -> [(&'static str, TokenStream); 3] {
    [
        ("auto", quote!(::corelane::Driver::Auto)),
        ("uring", quote!(::corelane::Driver::Uring)),
        ("epoll", quote!(::corelane::Driver::Epoll)),
    ]
}
