//! The function under an attribute: an async one without arguments or generics.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, ItemFn, Result, ReturnType};

/// Reads the function and says all that is wrong with it for `attribute`.
pub(crate) fn parse(attribute: &str, function: TokenStream) -> Result<ItemFn> {
    let function: ItemFn = syn::parse2(function)
        .map_err(|error| Error::new(error.span(), format!("{attribute} stands on an async fn")))?;
    let signature = &function.sig;
    let mut faults = Faults::default();
    if signature.asyncness.is_none() {
        faults.add(
            signature.fn_token.span(),
            format!("{attribute} needs an `async fn`"),
        );
    }
    if !signature.inputs.is_empty() {
        faults.add(
            signature.inputs.span(),
            format!("a function under {attribute} takes no arguments"),
        );
    }
    if let Some(variadic) = &signature.variadic {
        faults.add(
            variadic.span(),
            format!("a function under {attribute} takes no arguments"),
        );
    }
    let generics = &signature.generics;
    if !generics.params.is_empty() {
        faults.add(
            generics.params.span(),
            format!("a function under {attribute} has no generics"),
        );
    }
    if let Some(clause) = &generics.where_clause {
        faults.add(
            clause.span(),
            format!("a function under {attribute} has no where clause"),
        );
    }
    for (words, what) in [
        (signature.constness.to_token_stream(), "const"),
        (signature.safety.to_token_stream(), "unsafe or safe"),
        (signature.abi.to_token_stream(), "extern"),
    ] {
        if !words.is_empty() {
            faults.add(
                words.span(),
                format!("a function under {attribute} is not {what}"),
            );
        }
    }
    faults.check()?;
    Ok(function)
}

/// Where the return type stands, for errors about it.
pub(crate) fn output_span(function: &ItemFn) -> Span {
    match &function.sig.output {
        ReturnType::Default => function.sig.ident.span(),
        ReturnType::Type(_, output) => output.span(),
    }
}

/// All that is wrong, so that the compiler shows it at once.
#[derive(Default)]
struct Faults(Option<Error>);

impl Faults {
    fn add(&mut self, span: Span, message: String) {
        let fault = Error::new(span, message);
        match &mut self.0 {
            None => self.0 = Some(fault),
            Some(faults) => faults.combine(fault),
        }
    }

    fn check(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
