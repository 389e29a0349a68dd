//! What `#[thread_aware(…)]` says, on an item and on a field.

use syn::{Attribute, Error, Path, Result, Token, meta::ParseNestedMeta};

const NAME: &str = "thread_aware";

/// The path given as `crate = path` on an item.
pub(crate) fn crate_path(attributes: &[Attribute]) -> Result<Option<Path>> {
    let mut path = None;
    each_option(attributes, |meta| {
        if meta.path.is_ident("skip") {
            return Err(meta.error("`skip` belongs on a field"));
        }
        if !meta.path.is_ident("crate") {
            return Err(meta.error("unknown option; an item takes `crate = path`"));
        }
        if path.is_some() {
            return Err(meta.error("`crate` is given twice"));
        }
        path = Some(meta.value()?.call(Path::parse_mod_style)?);
        Ok(())
    })?;
    Ok(path)
}

/// Whether a field says `skip`.
pub(crate) fn is_skipped(attributes: &[Attribute]) -> Result<bool> {
    let mut skipped = false;
    each_option(attributes, |meta| {
        if meta.path.is_ident("crate") {
            return Err(meta.error("`crate = path` belongs on the item"));
        }
        if !meta.path.is_ident("skip") {
            return Err(meta.error("unknown option; a field takes `skip`"));
        }
        if !(meta.input.is_empty() || meta.input.peek(Token![,])) {
            return Err(meta.error("`skip` takes no value"));
        }
        if skipped {
            return Err(meta.error("`skip` is given twice"));
        }
        skipped = true;
        Ok(())
    })?;
    Ok(skipped)
}

/// Refuses the attribute where nothing can be said with it.
pub(crate) fn refuse(attributes: &[Attribute]) -> Result<()> {
    match ours(attributes).next() {
        Some(attribute) => Err(Error::new_spanned(
            attribute,
            "a variant takes no `thread_aware` attribute; its fields do",
        )),
        None => Ok(()),
    }
}

fn ours(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident(NAME))
}

/// Calls `read` with every option of every attribute of ours, and refuses one that holds none.
fn each_option(
    attributes: &[Attribute],
    mut read: impl FnMut(&ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    for attribute in ours(attributes) {
        let mut options = 0;
        attribute.parse_nested_meta(|meta| {
            options += 1;
            read(&meta)
        })?;
        if options == 0 {
            return Err(Error::new_spanned(attribute, "an option is missing"));
        }
    }
    Ok(())
}
