//! Structs: objects with a field for each field.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, Fields, FieldsNamed, LitStr, Result, Type};

use crate::attributes::{Container, Field};

/// The bodies of `read` and `write`.
pub(crate) fn expand(
    input: &DeriveInput,
    container: &Container,
    fields: &Fields,
) -> Result<(TokenStream, TokenStream)> {
    let Fields::Named(fields) = fields else {
        return Err(Error::new_spanned(input, "a wire type has named fields"));
    };
    if container.tag.is_some() || container.rename_all.is_some() {
        return Err(Error::new_spanned(
            input,
            "tag and rename_all are known for enums only",
        ));
    }
    let read = read(fields, container.default)?;
    let default = container
        .default
        .then(|| quote! { let default = <Self as ::core::default::Default>::default(); });
    let write = write(fields, |name| quote! { &self.#name })?;
    Ok((
        quote! { #default Self { #read } },
        quote! {
            let mut object = crate::json::Object::default();
            #write
            object.done()
        },
    ))
}

/// The fields, each with what is read for it. Absent ones have their values in `default`, if there is one.
pub(crate) fn read(fields: &FieldsNamed, has_default: bool) -> Result<TokenStream> {
    let mut all = TokenStream::new();
    for field in &fields.named {
        let said = Field::read(&field.attrs)?;
        let ident = &field.ident;
        let name = name(field, &said);
        let value = if said.flatten {
            quote! { crate::json::Json::read(place) }
        } else if has_default {
            quote! { place.field_or(#name, default.#ident) }
        } else if said.default && !is_option(&field.ty) {
            quote! { place.field_or(#name, ::core::default::Default::default()) }
        } else {
            quote! { place.field(#name) }
        };
        all.extend(quote! { #ident: #value, });
    }
    Ok(all)
}

/// Sets every field that is not left out. `reference` says where a field is.
pub(crate) fn write(
    fields: &FieldsNamed,
    reference: impl Fn(&Option<syn::Ident>) -> TokenStream,
) -> Result<TokenStream> {
    let mut all = TokenStream::new();
    for field in &fields.named {
        let said = Field::read(&field.attrs)?;
        let name = name(field, &said);
        let value = reference(&field.ident);
        let set = if said.flatten {
            quote! { object.join(crate::json::Json::write(#value)); }
        } else {
            quote! { object.set(#name, #value); }
        };
        all.extend(match said.skip_if {
            Some(test) => quote! { if !#test(#value) { #set } },
            None => set,
        });
    }
    Ok(all)
}

fn name(field: &syn::Field, said: &Field) -> LitStr {
    said.rename.clone().unwrap_or_else(|| {
        let ident = field.ident.as_ref();
        LitStr::new(
            &ident.map(ToString::to_string).unwrap_or_default(),
            ident.map_or_else(proc_macro2::Span::call_site, syn::Ident::span),
        )
    })
}

/// An absent option is none anyway.
fn is_option(kind: &Type) -> bool {
    matches!(kind, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}
