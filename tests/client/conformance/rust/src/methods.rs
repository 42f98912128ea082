//! Makes a call, and writes its result as the cases do.

use attend::{Client, Error};
use serde_json::{json, Value};
use std::time::Duration;

use crate::request as of;

/// What a call is made with beside its request.
fn options(call: &Value) -> (Option<Duration>, Vec<(String, String)>) {
    let mut metadata = Vec::new();
    if let Some(given) = call["metadata"].as_object() {
        metadata.extend(
            given
                .iter()
                .map(|(key, value)| (key.clone(), of::text(value))),
        );
    }
    if let Some(parent) = call.get("traceparent") {
        metadata.push(("traceparent".into(), of::text(parent)));
    }
    (
        call["timeout"].as_f64().map(Duration::from_secs_f64),
        metadata,
    )
}

macro_rules! with_options {
    ($made:expr, $call:expr) => {{
        let (timeout, metadata) = options($call);
        let mut made = $made;
        if let Some(timeout) = timeout {
            made = made.timeout(timeout);
        }
        for (key, value) in metadata {
            made = made.metadata(key, value);
        }
        made
    }};
}

/// The results of inputs, or the first error and the texts of those that are good.
pub type Outcome = Result<Value, (Error, Vec<Value>)>;

fn all<T>(found: Result<Vec<T>, Error>, read: impl Fn(T) -> Value) -> Outcome {
    match found {
        Ok(values) => Ok(values.into_iter().map(read).collect()),
        Err(error) => Err((error, Vec::new())),
    }
}

pub async fn generate(client: &Client, call: &Value) -> Outcome {
    let request = &call["request"];
    let made = client.generate(of::inputs(request));
    let made = with_options!(made.with(|to| of::set_generate(request, to)), call);
    let each = made.each().await.map_err(|error| (error, Vec::new()))?;
    let (mut good, mut bad) = (Vec::new(), None);
    for result in each {
        match result {
            Ok(result) => good.push(result.choices.into_iter().map(|c| c.text).collect()),
            Err(error) => bad = bad.or(Some(error)),
        }
    }
    match bad {
        Some(error) => Err((
            error,
            good.iter().map(|texts: &Value| texts[0].clone()).collect(),
        )),
        None => Ok(Value::Array(good)),
    }
}

/// The parts of a stream, until as many have come as the case wants.
pub async fn stream(client: &Client, call: &Value, parts: &mut Vec<String>) -> Outcome {
    let request = &call["request"];
    let mut stream = if call["method"] == "stream" {
        let made = client.stream(of::inputs(request).remove(0));
        with_options!(made.with(|to| of::set_generate(request, to)), call).start()
    } else {
        let made = client.translate_stream(of::texts(request, "documents").remove(0));
        with_options!(made.with(|to| of::set_translate(request, to)), call).start()
    };
    while let Some(part) = stream.next().await {
        parts.push(part.map_err(|error| (error, Vec::new()))?);
        if let (Some(last_words), 1) = (call.get("atFirstPart"), parts.len()) {
            // It fails: the server dies of it.
            let _ = client.generate([of::text(last_words)]).await;
        }
        if call["stopAfter"] == parts.len() {
            break;
        }
    }
    Ok(json!(parts))
}

pub async fn other(client: &Client, call: &Value) -> Outcome {
    let request = &call["request"];
    let inputs = || of::inputs(request);
    match call["method"].as_str().unwrap() {
        "translate" => {
            let made = client.translate(of::texts(request, "documents"));
            all(
                made.with(|to| of::set_translate(request, to)).await,
                |found| json!(found.text),
            )
        }
        "score" => {
            let pair = |pair: &Value| (of::input(&pair["source"]), of::input(&pair["target"]));
            let pairs = of::list(request, "pairs").iter().map(pair);
            all(client.score(pairs).await, |found| json!(found.log_prob))
        }
        "embed" => {
            let made = client.embed(inputs());
            let normalized = request["normalize"].as_bool();
            all(made.with(|to| to.normalize = normalized).await, |row| {
                json!(row)
            })
        }
        "embedTokens" => all(client.embed_tokens(inputs()).await, |rows| json!(rows)),
        "fillMask" => {
            let made = client.fill_mask(inputs());
            let made = made.with(|to| {
                of::model(request, &mut to.model);
                to.top_k = request["topK"].as_i64().unwrap_or_default() as i32;
            });
            all(made.await, |found| json!(found.text))
        }
        "rerank" => {
            let made = client.rerank(of::text(&request["query"]), of::texts(request, "documents"));
            let made = made.with(|to| of::model(request, &mut to.model));
            all(made.await, |found| json!([found.index, found.score]))
        }
        "tokenize" => all(
            client.tokenize(of::texts(request, "texts")).await,
            |found| json!(found.ids),
        ),
        "detokenize" => {
            let sequences = of::list(request, "sequences").iter().map(of::ids);
            let made = client.detokenize(sequences);
            let made = made.with(|to| to.set_side(of::side(request)));
            all(made.await, |text| json!(text))
        }
        "models" => all(client.models().await, |found| json!(found.name)),
        "model" => {
            let found = client.model(of::text(&call["name"])).await;
            found
                .map(|found| json!(found.family))
                .map_err(|error| (error, Vec::new()))
        }
        "classify" => classify(client, request).await,
        _ => admin(client, call).await,
    }
}

async fn admin(client: &Client, call: &Value) -> Outcome {
    let name = || of::text(&call["name"]);
    let nothing = |()| Value::Null;
    let made = match call["method"].as_str().unwrap() {
        "loadModel" => client
            .load_model(name())
            .await
            .map(|found| json!(found.family)),
        "unloadModel" => client.unload_model(name()).await.map(nothing),
        "setAlias" => {
            let targets = call["targets"].as_object().unwrap();
            let target = |(model, weight): (&String, &Value)| {
                (model.clone(), weight.as_i64().unwrap() as i32)
            };
            client
                .set_alias(name(), targets.iter().map(target))
                .await
                .map(nothing)
        }
        _ => profile(client, call).await,
    };
    made.map_err(|error| (error, Vec::new()))
}

async fn profile(client: &Client, call: &Value) -> Result<Value, Error> {
    let seconds = Duration::from_secs_f64(call["seconds"].as_f64().unwrap());
    let trace: Value = serde_json::from_slice(&client.profile(seconds).await?).unwrap();
    Ok(trace
        .as_object()
        .unwrap()
        .keys()
        .map(|key| json!(key))
        .collect())
}

async fn classify(client: &Client, request: &Value) -> Outcome {
    let made = client.classify(of::inputs(request));
    let found = made.with(|to| of::model(request, &mut to.model)).await;
    all(found, |found| {
        let of_tokens = found.tokens.iter().map(|found| {
            let (token, best) = (found.token.clone().unwrap(), &found.labels[0]);
            json!([token.piece, token.begin, token.end, best.label, best.score])
        });
        let of_text = found
            .labels
            .iter()
            .map(|found| json!([found.label, found.score]));
        of_tokens.chain(of_text).collect()
    })
}
