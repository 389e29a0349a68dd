//! `#[corelane::test]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::{Error, ItemFn, LitInt, Path, Result};

use crate::options::{self, Once, setter};
use crate::{function, misuse};

const NAME: &str = "`#[corelane::test]`";
const OPTIONS: &str = "`shards`, `with`, `seeds`, `uring`, `epoll` and `sim`";

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let (options, function) = misuse::both(Options::parse(options), function::parse(NAME, item))?;
    check_attributes(&function)?;
    let (attributes, visibility) = (&function.attrs, &function.vis);
    let (name, output, block) = (&function.sig.ident, &function.sig.output, &function.block);
    let plan = options.plan();
    let run = quote_spanned! {function::output_span(&function)=>
        plan.run(#name)
    };
    Ok(quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        #visibility fn #name() {
            async fn #name() #output #block
            let plan = ::corelane::entry::TestPlan::new() #plan;
            #run
        }
    })
}

/// Refuses attributes that would mean something else than they seem to.
fn check_attributes(function: &ItemFn) -> Result<()> {
    for attribute in &function.attrs {
        let path = attribute.path();
        let message = if path.is_ident("should_panic") {
            "`#[should_panic]` would see the first driver alone: catch the panic in the test"
        } else if path.is_ident("test") {
            "`#[corelane::test]` makes the function a test by itself"
        } else {
            continue;
        };
        return Err(Error::new_spanned(attribute, message));
    }
    Ok(())
}

struct Options {
    shards: Once<LitInt>,
    with: Once<Path>,
    seeds: Once<LitInt>,
    uring: Once<TokenStream>,
    epoll: Once<TokenStream>,
    sim: Once<TokenStream>,
}

impl Options {
    fn parse(tokens: TokenStream) -> Result<Self> {
        let mut options = Self {
            shards: Once::new("shards"),
            with: Once::new("with"),
            seeds: Once::new("seeds"),
            uring: Once::new("uring"),
            epoll: Once::new("epoll"),
            sim: Once::new("sim"),
        };
        let mut seeds_at = None;
        let parser = syn::meta::parser(|meta| {
            if options.seeds.is(&meta) {
                seeds_at = Some(meta.path.clone());
            }
            options.set(&meta)
        });
        parser.parse2(tokens)?;
        match seeds_at {
            Some(at) if options.sim.get().is_none() => {
                Err(Error::new_spanned(at, "`seeds` goes with `sim`"))
            }
            _ => Ok(options),
        }
    }

    fn set(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        if self.shards.is(meta) {
            return self.shards.set(meta, options::shards);
        }
        if self.with.is(meta) {
            return self.with.set(meta, options::path);
        }
        if self.seeds.is(meta) {
            return self.seeds.set(meta, options::count);
        }
        for driver in [&mut self.uring, &mut self.epoll, &mut self.sim] {
            if driver.is(meta) {
                return driver.set(meta, |_| Ok(TokenStream::new()));
            }
        }
        Err(options::unknown(meta, OPTIONS))
    }

    /// The calls on the plan that the options stand for.
    fn plan(&self) -> TokenStream {
        let shards = setter(quote!(shards), self.shards.get());
        let with = setter(quote!(with), self.with.get());
        let uring = setter(quote!(uring), self.uring.get());
        let epoll = setter(quote!(epoll), self.epoll.get());
        let sim = setter(quote!(sim), self.sim.get());
        let seeds = setter(quote!(seeds), self.seeds.get());
        quote!(#shards #with #uring #epoll #sim #seeds)
    }
}
