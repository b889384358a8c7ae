//! Enums: a word, or an object with a field that says which variant it is.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Fields, Result};

use crate::attributes::{self, Container};
use crate::structs;

/// The bodies of `read` and `write`.
pub(crate) fn expand(
    input: &DeriveInput,
    container: &Container,
    data: &DataEnum,
) -> Result<(TokenStream, TokenStream)> {
    if container.default {
        return Err(Error::new_spanned(input, "default is known for structs only"));
    }
    let mut words = Vec::new();
    let mut reads = Vec::new();
    let mut writes = TokenStream::new();
    for variant in &data.variants {
        attributes::none(&variant.attrs)?;
        let name = &variant.ident;
        let word = match container.rename_all {
            Some(case) => case.word(&name.to_string()),
            None => name.to_string(),
        };
        match &variant.fields {
            Fields::Unit => {
                reads.push(quote! { Self::#name });
                writes.extend(quote! { Self::#name => #word, });
            }
            Fields::Named(fields) if container.tag.is_some() => {
                let read = structs::read(fields, false)?;
                let write = structs::write(fields, |name| quote! { #name })?;
                let names = fields.named.iter().map(|field| &field.ident);
                reads.push(quote! { Self::#name { #read } });
                writes.extend(quote! { Self::#name { #(#names),* } => { #write #word } });
            }
            _ => {
                return Err(Error::new_spanned(
                    variant,
                    "a variant carries nothing, or named fields and the enum has a tag",
                ));
            }
        }
        words.push(word);
    }
    let Some((first, others)) = reads.split_first() else {
        return Err(Error::new_spanned(input, "a wire type has at least one variant"));
    };
    let numbers = 1_usize..;
    let which = match &container.tag {
        Some(tag) => quote! { place.child(#tag) },
        None => quote! { place },
    };
    let read = quote! {
        // What is not known has been noted, and the first stands in.
        match #which.word(&[#(#words),*]) {
            #(#numbers => #others,)*
            _ => #first,
        }
    };
    let write = match &container.tag {
        Some(tag) => quote! {
            let mut object = crate::json::Object::default();
            let word = match self { #writes };
            object.tag(#tag, word);
            object.done()
        },
        None => quote! { ::serde_json::Value::from(match self { #writes }) },
    };
    Ok((read, write))
}
