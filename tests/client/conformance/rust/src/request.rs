//! Requests of the cases, which are JSON of attend.v1.

use attend::v1::{
    DocumentFormat, GenerateRequest, GenerationParams, GlossaryTerm, Input, Side, TranslateRequest,
};
use serde_json::Value;

/// A part of a request, which must be there.
pub fn list<'a>(request: &'a Value, key: &str) -> &'a Vec<Value> {
    request[key]
        .as_array()
        .unwrap_or_else(|| panic!("no {key} in {request}"))
}

pub fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
        .to_owned()
}

pub fn texts(request: &Value, key: &str) -> Vec<String> {
    list(request, key).iter().map(text).collect()
}

pub fn ids(value: &Value) -> Vec<i32> {
    let number = |id: &Value| id.as_i64().unwrap() as i32;
    list(value, "ids").iter().map(number).collect()
}

pub fn input(value: &Value) -> Input {
    if let Some(tokens) = value.get("tokens") {
        return attend::tokens(ids(tokens));
    }
    if let Some(chat) = value.get("chat") {
        let message = |m: &Value| attend::message(text(&m["role"]), text(&m["content"]));
        return attend::chat(
            list(chat, "messages")
                .iter()
                .map(message)
                .collect::<Vec<_>>(),
        );
    }
    match value.get("pair") {
        Some(second) => attend::pair(text(&value["text"]), text(second)),
        None => text(&value["text"]).into(),
    }
}

pub fn inputs(request: &Value) -> Vec<Input> {
    list(request, "inputs").iter().map(input).collect()
}

/// The model of a request that names one.
pub fn model(request: &Value, model: &mut String) {
    if let Some(name) = request.get("model") {
        *model = text(name);
    }
}

pub fn set_generate(request: &Value, to: &mut GenerateRequest) {
    model(request, &mut to.model);
    to.params = request.get("params").map(params);
}

fn params(given: &Value) -> GenerationParams {
    let mut params = GenerationParams::default();
    for (key, value) in given.as_object().unwrap() {
        match key.as_str() {
            "numBeams" => params.num_beams = Some(value.as_i64().unwrap() as i32),
            "numReturnSequences" => {
                params.num_return_sequences = Some(value.as_i64().unwrap() as i32);
            }
            "maxNewTokens" => params.max_new_tokens = Some(value.as_i64().unwrap() as i32),
            "minNewTokens" => params.min_new_tokens = Some(value.as_i64().unwrap() as i32),
            "doSample" => params.do_sample = value.as_bool(),
            "temperature" => params.temperature = Some(value.as_f64().unwrap() as f32),
            _ => panic!("this driver does not know {key}"),
        }
    }
    params
}

pub fn set_translate(request: &Value, to: &mut TranslateRequest) {
    model(request, &mut to.model);
    if let Some(format) = request.get("format") {
        to.set_format(DocumentFormat::from_str_name(&text(format)).unwrap());
    }
    if request.get("glossary").is_some() {
        to.glossary = list(request, "glossary").iter().map(term).collect();
    }
}

fn term(value: &Value) -> GlossaryTerm {
    GlossaryTerm {
        source: text(&value["source"]),
        target: text(&value["target"]),
        ..GlossaryTerm::default()
    }
}

pub fn side(request: &Value) -> Side {
    let given = request.get("side").map(text).unwrap_or_default();
    Side::from_str_name(&given).unwrap_or_default()
}
