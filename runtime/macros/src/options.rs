//! The options of both attributes.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::{Error, LitInt, LitStr, Path, Result};

/// Shards a runtime at most, as the builder checks it too.
const SHARDS_MAX: u64 = 4096;

/// An option that may be given once.
pub(crate) struct Once<T> {
    name: &'static str,
    value: Option<T>,
}

impl<T> Once<T> {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, value: None }
    }

    /// Whether `meta` is this option.
    pub(crate) fn is(&self, meta: &ParseNestedMeta<'_>) -> bool {
        meta.path.is_ident(self.name)
    }

    /// Takes the value that `read` finds behind the name.
    pub(crate) fn set(
        &mut self,
        meta: &ParseNestedMeta<'_>,
        read: impl FnOnce(&ParseNestedMeta<'_>) -> Result<T>,
    ) -> Result<()> {
        if self.value.is_some() {
            return Err(meta.error(format!("`{}` is given twice", self.name)));
        }
        self.value = Some(read(meta)?);
        Ok(())
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }
}

/// `name = N`, from 1 to the shards of a runtime.
pub(crate) fn shards(meta: &ParseNestedMeta<'_>) -> Result<LitInt> {
    number(meta, SHARDS_MAX)
}

/// `name = N`, from 1.
pub(crate) fn count(meta: &ParseNestedMeta<'_>) -> Result<LitInt> {
    number(meta, u64::MAX)
}

fn number(meta: &ParseNestedMeta<'_>, max: u64) -> Result<LitInt> {
    let wanted = if max == u64::MAX {
        "this is a number from 1".to_owned()
    } else {
        format!("this is a number from 1 to {max}")
    };
    let value = meta.value()?;
    let literal: LitInt = value
        .parse()
        .map_err(|error| Error::new(error.span(), &wanted))?;
    let number: u64 = literal
        .base10_parse()
        .map_err(|_| Error::new(literal.span(), &wanted))?;
    if (1..=max).contains(&number) && literal.suffix().is_empty() {
        Ok(literal)
    } else {
        Err(Error::new(literal.span(), wanted))
    }
}

/// `name = path`.
pub(crate) fn path(meta: &ParseNestedMeta<'_>) -> Result<Path> {
    meta.value()?
        .parse()
        .map_err(|error| Error::new(error.span(), "this is the path of a function"))
}

/// `name = "choice"`, each choice with the expression that it stands for.
pub(crate) fn choice(
    meta: &ParseNestedMeta<'_>,
    choices: &[(&str, TokenStream)],
) -> Result<TokenStream> {
    let names: Vec<_> = choices
        .iter()
        .map(|(name, _)| format!("{name:?}"))
        .collect();
    let wanted = format!("this is one of {}", names.join(", "));
    let literal: LitStr = meta
        .value()?
        .parse()
        .map_err(|error| Error::new(error.span(), &wanted))?;
    let chosen = literal.value();
    choices
        .iter()
        .find(|(name, _)| *name == chosen)
        .map(|(_, expression)| expression.clone())
        .ok_or_else(|| Error::new(literal.span(), wanted))
}

/// What to say to an option that the attribute does not have.
pub(crate) fn unknown(meta: &ParseNestedMeta<'_>, known: &str) -> Error {
    let name = meta.path.to_token_stream().to_string();
    meta.error(format!("there is no option `{name}`; there are {known}"))
}

/// `.name(value)`, if there is a value.
pub(crate) fn setter(name: TokenStream, value: Option<&impl ToTokens>) -> TokenStream {
    value.map_or_else(TokenStream::new, |value| quote!(.#name(#value)))
}
