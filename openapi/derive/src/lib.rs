//! Derives `toolgate_api::json::Json`: how a wire type is read and written where every byte of code is loaded.
//!
//! The types say in attributes of serde what their JSON looks like. This reads the same attributes, so that there is one
//! truth, and refuses to compile those it does not know. It is for the crate `toolgate-api` alone: what it writes names
//! that crate's own module.

mod attributes;
mod enums;
mod structs;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Result};

use attributes::Container;

/// Derives `Json` for a struct with named fields, or for an enum of words, tagged or not.
#[proc_macro_derive(Json, attributes(serde))]
pub fn derive_json(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "wire types are not generic"));
    }
    let container = Container::read(&input.attrs)?;
    let (read, write) = match &input.data {
        Data::Struct(data) => structs::expand(input, &container, &data.fields)?,
        Data::Enum(data) => enums::expand(input, &container, data)?,
        Data::Union(_) => return Err(Error::new_spanned(input, "a union is no wire type")),
    };
    let name = &input.ident;
    Ok(quote! {
        impl crate::json::Json for #name {
            fn read(place: &crate::json::Place<'_>) -> Self {
                #read
            }

            fn write(&self) -> ::serde_json::Value {
                #write
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(source: &str) -> String {
        let input = syn::parse_str(source).expect("it is a type");
        expand(&input).expect_err("it is refused").to_string()
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for (source, told) in [
            ("struct A<T> { a: T }", "not generic"),
            ("struct A(u8);", "named fields"),
            ("union A { a: u8 }", "union"),
            ("#[serde(rename_all = \"camelCase\")] enum A { B }", "camelCase"),
            (
                "#[serde(rename_all = \"snake_case\")] struct A { a: u8 }",
                "rename_all",
            ),
            ("#[serde(tag = \"kind\")] struct A { a: u8 }", "tag"),
            ("#[serde(default)] enum A { B }", "default"),
            ("#[serde(untagged)] enum A { B }", "untagged"),
            ("enum A {}", "variant"),
            ("enum A { B(u8) }", "tag"),
            ("enum A { B { c: u8 } }", "tag"),
            ("#[serde(tag = \"kind\")] enum A { B(u8) }", "named fields"),
            ("enum A { #[serde(rename = \"b\")] B }", "rename"),
            ("struct A { #[serde(default = \"one\")] a: u8 }", "default"),
            ("struct A { #[serde(alias = \"b\")] a: u8 }", "alias"),
            (
                "struct A { #[serde(deserialize_with = \"other\")] a: u8 }",
                "other",
            ),
        ] {
            let refusal = refusal(source);
            assert!(refusal.contains(told), "{source}: {refusal}");
        }
    }

    #[test]
    fn what_is_known_is_accepted() {
        for source in [
            "#[serde(deny_unknown_fields, default)] struct A { #[serde(rename = \"type\")] a: u8, #[serde(flatten)] b: B }",
            "struct A { #[serde(default, deserialize_with = \"x::object\", skip_serializing_if = \"Option::is_none\")] a: Option<B> }",
            "#[serde(rename_all = \"kebab-case\")] enum A { B, C }",
            "#[serde(tag = \"kind\", rename_all = \"snake_case\")] enum A { B, C { d: u8 } }",
        ] {
            let input = syn::parse_str(source).expect("it is a type");
            assert!(expand(&input).is_ok(), "{source}");
        }
    }
}
