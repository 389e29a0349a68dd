//! What is to be implemented: the item without all that does not matter.

use syn::{
    Data, DeriveInput, Error, Fields, Generics, Ident, Index, Member, Path, Result, Type,
    parse_quote,
};

use crate::options;

/// A struct or an enum, ready to be written out.
pub(crate) struct Plan {
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    /// Where the trait's crate is.
    pub(crate) root: Path,
    /// One shape for a struct, one a variant for an enum.
    pub(crate) shapes: Vec<Shape>,
}

/// The fields of a struct or of one variant.
pub(crate) struct Shape {
    /// The variant, if it is one.
    pub(crate) variant: Option<Ident>,
    pub(crate) fields: Vec<Field>,
}

/// One field.
pub(crate) struct Field {
    pub(crate) member: Member,
    pub(crate) ty: Type,
    pub(crate) is_skipped: bool,
}

impl Plan {
    /// Reads the item. All errors in its attributes are reported at once.
    pub(crate) fn of(input: DeriveInput) -> Result<Self> {
        let mut errors = Errors::default();
        let root = errors.keep(options::crate_path(&input.attrs)).flatten();
        let shapes = match input.data {
            Data::Struct(data) => vec![shape(None, data.fields, &mut errors)],
            Data::Enum(data) => {
                let variant = |variant: syn::Variant| {
                    errors.keep(options::refuse(&variant.attrs));
                    shape(Some(variant.ident), variant.fields, &mut errors)
                };
                data.variants.into_iter().map(variant).collect()
            }
            Data::Union(data) => {
                errors.keep::<()>(Err(Error::new(
                    data.union_token.span,
                    "a union does not know which of its fields it holds; `ThreadAware` is derived \
                     for structs and enums",
                )));
                Vec::new()
            }
        };
        errors.into_result()?;
        Ok(Self {
            name: input.ident,
            generics: input.generics,
            root: root.unwrap_or_else(|| parse_quote!(::thread_aware)),
            shapes,
        })
    }

    /// Whether some field is left as it is.
    pub(crate) fn skips(&self) -> bool {
        let mut fields = self.shapes.iter().flat_map(|shape| &shape.fields);
        fields.any(|field| field.is_skipped)
    }

    /// The types of the fields that are relocated.
    pub(crate) fn relocated(&self) -> impl Iterator<Item = &Type> {
        let fields = self.shapes.iter().flat_map(|shape| &shape.fields);
        fields
            .filter(|field| !field.is_skipped)
            .map(|field| &field.ty)
    }
}

fn shape(variant: Option<Ident>, fields: Fields, errors: &mut Errors) -> Shape {
    let field = |(index, field): (usize, syn::Field)| Field {
        member: field
            .ident
            .map_or_else(|| Member::Unnamed(Index::from(index)), Member::Named),
        is_skipped: errors
            .keep(options::is_skipped(&field.attrs))
            .unwrap_or_default(),
        ty: field.ty,
    };
    Shape {
        variant,
        fields: fields.into_iter().enumerate().map(field).collect(),
    }
}

/// Errors seen so far, as one.
#[derive(Default)]
struct Errors(Option<Error>);

impl Errors {
    fn keep<T>(&mut self, result: Result<T>) -> Option<T> {
        let error = match result {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
        None
    }

    fn into_result(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
