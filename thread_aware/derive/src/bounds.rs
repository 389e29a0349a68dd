//! Which bounds an implementation for a generic item needs.
//!
//! A parameter inside of a relocated field is bounded itself. Bounding the field's type instead
//! would be exact, but two types that hold one another would then need each other's bound, for
//! ever. Where no such circle is possible the type is bounded.

use std::collections::HashSet;

use proc_macro2::Span;
use quote::{ToTokens, quote_spanned};
use syn::{
    GenericArgument, Generics, Ident, PathArguments, PathSegment, Type, TypePath, WherePredicate,
    parse_quote,
};

use crate::plan::Plan;

/// Types that hold what they are generic over without relocating it, by the name of the last
/// segment, with how many type arguments they have at least. `std::sync::Arc` has one.
const OPAQUE: [(&str, usize); 3] = [("PhantomData", 1), ("Unaware", 1), ("Arc", 2)];

/// The generics of the item with the bounds of the implementation in its `where` clause.
pub(crate) fn with_bounds(plan: &Plan) -> Generics {
    let mut generics = plan.generics.clone();
    let parameters: HashSet<_> = generics.type_params().map(|p| p.ident.clone()).collect();
    if parameters.is_empty() {
        return generics;
    }
    let mut found = Found {
        parameters: &parameters,
        seen: HashSet::new(),
        bounded: Vec::new(),
    };
    for ty in plan.relocated() {
        found.visit(ty);
    }
    let bounded = found.bounded;
    let (root, site) = (&plan.root, Span::mixed_site());
    let clause = generics.make_where_clause();
    for ty in bounded {
        let predicate = quote_spanned!(site=> #ty: #root::ThreadAware);
        clause.predicates.push(parse_quote!(#predicate));
    }
    if plan.skips() {
        let predicate = quote_spanned!(site=> Self: ::core::marker::Send);
        let predicate: WherePredicate = parse_quote!(#predicate);
        clause.predicates.push(predicate);
    }
    generics
}

/// The types to bound, in the order in which they are met.
struct Found<'a> {
    parameters: &'a HashSet<Ident>,
    seen: HashSet<String>,
    bounded: Vec<Type>,
}

impl Found<'_> {
    fn bound(&mut self, ty: &Type) {
        if self.seen.insert(ty.to_token_stream().to_string()) {
            self.bounded.push(ty.clone());
        }
    }

    /// Finds what to bound so that `ty` can be relocated.
    fn visit(&mut self, ty: &Type) {
        match ty {
            Type::Array(array) => self.visit(&array.elem),
            Type::Group(group) => self.visit(&group.elem),
            Type::Paren(paren) => self.visit(&paren.elem),
            Type::Slice(slice) => self.visit(&slice.elem),
            Type::Tuple(tuple) => tuple.elems.iter().for_each(|ty| self.visit(ty)),
            // Nobody sees into a macro.
            Type::Macro(_) => self.bound(ty),
            Type::Path(path) => self.visit_path(ty, path),
            // Code and trait objects do not hold what their types name; pointers and references
            // are never thread-aware, which the compiler says of the field.
            _ => {}
        }
    }

    fn visit_path(&mut self, ty: &Type, path: &TypePath) {
        let is_projection = path.qself.is_some() || self.starts_with_parameter(path);
        if is_projection || path.path.segments.last().is_some_and(is_opaque) {
            if self.mentions(ty) {
                self.bound(ty);
            }
            return;
        }
        if path
            .path
            .get_ident()
            .is_some_and(|ident| self.parameters.contains(ident))
        {
            self.bound(ty);
            return;
        }
        for argument in path.path.segments.iter().flat_map(type_arguments) {
            self.visit(argument);
        }
    }

    /// Whether the path is like `T::Item`.
    fn starts_with_parameter(&self, path: &TypePath) -> bool {
        path.path.segments.len() > 1 && self.begins_generic(path)
    }

    /// Whether the first name of the path stands for something that depends on a parameter.
    fn begins_generic(&self, path: &TypePath) -> bool {
        let first = path.path.segments.first().map(|segment| &segment.ident);
        first.is_some_and(|ident| self.parameters.contains(ident) || ident == "Self")
    }

    /// Whether `ty` depends on a type parameter in a way that matters to auto traits.
    fn mentions(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(array) => self.mentions(&array.elem),
            Type::Group(group) => self.mentions(&group.elem),
            Type::Paren(paren) => self.mentions(&paren.elem),
            Type::Slice(slice) => self.mentions(&slice.elem),
            Type::Ptr(pointer) => self.mentions(&pointer.elem),
            Type::Reference(reference) => self.mentions(&reference.elem),
            Type::Tuple(tuple) => tuple.elems.iter().any(|ty| self.mentions(ty)),
            Type::Path(path) => {
                let qualified = path.qself.as_ref().is_some_and(|q| self.mentions(&q.ty));
                let mut arguments = path.path.segments.iter().flat_map(type_arguments);
                qualified || self.begins_generic(path) || arguments.any(|ty| self.mentions(ty))
            }
            Type::Macro(_) => true,
            _ => false,
        }
    }
}

fn is_opaque(segment: &PathSegment) -> bool {
    let arguments = type_arguments(segment).count();
    OPAQUE
        .iter()
        .any(|(name, least)| segment.ident == name && arguments >= *least)
}

fn type_arguments(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    };
    arguments
        .into_iter()
        .flatten()
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
}
