//! Writes the implementation.
//!
//! Every name is an absolute path, or a variable with this macro's own hygiene and a name that no
//! constant at the item has, so that nothing in scope there can stand in its way.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Ident, spanned::Spanned};

use crate::{
    bounds::with_bounds,
    plan::{Plan, Shape},
};

pub(crate) fn expand(plan: &Plan) -> TokenStream {
    let site = Span::mixed_site();
    let (name, root) = (&plan.name, &plan.root);
    let generics = with_bounds(plan);
    let (parameters, arguments, clause) = generics.split_for_impl();
    let (source, destination) = (named("__source"), named("__destination"));
    let body = body(plan, &source, &destination);
    quote_spanned! {site=>
        #[automatically_derived]
        #[allow(deprecated)] // a field may be
        impl #parameters #root::ThreadAware for #name #arguments #clause {
            #[inline]
            fn relocate(
                &mut self,
                #source: ::core::option::Option<#root::affinity::Affinity>,
                #destination: #root::affinity::Affinity,
            ) {
                #body
            }
        }
    }
}

fn named(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

fn body(plan: &Plan, source: &Ident, destination: &Ident) -> TokenStream {
    let site = Span::mixed_site();
    if plan.relocated().next().is_none() {
        return quote_spanned!(site=> let _ = (#source, #destination););
    }
    let arms = plan.shapes.iter().map(|shape| {
        let (pattern, calls) = arm(shape, plan, source, destination);
        quote_spanned!(site=> #pattern => { #calls })
    });
    quote_spanned!(site=> match self { #(#arms)* })
}

/// The pattern of a shape, and the calls for its fields in their order.
fn arm(
    shape: &Shape,
    plan: &Plan,
    source: &Ident,
    destination: &Ident,
) -> (TokenStream, TokenStream) {
    let (site, root) = (Span::mixed_site(), &plan.root);
    let (mut bindings, mut calls) = (TokenStream::new(), TokenStream::new());
    for (index, field) in shape.fields.iter().enumerate() {
        if field.is_skipped {
            continue;
        }
        // At the field's type, so that an error about it is shown there.
        let at = field.ty.span().resolved_at(site);
        let binding = format_ident!("__field_{index}", span = at);
        let member = &field.member;
        bindings.extend(quote_spanned!(site=> #member: #binding,));
        calls.extend(quote_spanned! {at=>
            #root::ThreadAware::relocate(#binding, #source, #destination);
        });
    }
    let variant = shape.variant.iter();
    (
        quote_spanned!(site=> Self #(:: #variant)* { #bindings .. }),
        calls,
    )
}
