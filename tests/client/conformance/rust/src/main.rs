//! Runs cases by the Rust crate. Each line that comes in is a case, each line that
//! goes out its outcome; see ../README.md.

mod methods;
mod request;

use std::collections::HashSet;
use std::env;
use std::io;
use std::time::{Duration, Instant};

use attend::{Client, Code, Error, Retry, Tls};
use serde_json::{json, Value};

fn seconds(value: &Value) -> Option<Duration> {
    value.as_f64().map(Duration::from_secs_f64)
}

fn client_of(case: &Value) -> Result<Client, Error> {
    let given = &case["client"];
    let text = |key: &str| given[key].as_str().unwrap_or_default();
    let mut builder = Client::builder(case["target"].as_str().unwrap_or_default())
        .model(text("model"))
        .token(text("token"))
        .health_checks(given["healthChecks"].as_bool().unwrap_or(true))
        .retry(Retry {
            max_attempts: given["maxAttempts"].as_u64().unwrap_or(4) as usize,
            ..Retry::default()
        });
    if let Some(timeout) = seconds(&given["timeout"]) {
        builder = builder.timeout(timeout);
    }
    if let Some(tls) = given.get("tls") {
        let path = |key: &str| tls[key].as_str().map(Into::into);
        builder = builder.tls(Tls {
            ca: path("ca"),
            cert: path("cert"),
            key: path("key"),
            server_name: tls["serverName"].as_str().map(Into::into),
        });
    }
    builder.build()
}

async fn call_once(client: &Client, call: &Value, parts: &mut Vec<String>) -> methods::Outcome {
    match call["method"].as_str().unwrap() {
        "generate" => methods::generate(client, call).await,
        "stream" | "translateStream" => methods::stream(client, call, parts).await,
        _ => methods::other(client, call).await,
    }
}

/// As the cases spell them.
fn name_of(code: Code) -> &'static str {
    match code {
        Code::Cancelled => "CANCELLED",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::NotFound => "NOT_FOUND",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::Unavailable => "UNAVAILABLE",
        Code::Internal => "INTERNAL",
        _ => "another code",
    }
}

/// `kept`: the client of cases with `keep`.
async fn run(case: &Value, kept: &mut Option<Client>) -> Value {
    let keep = case["keep"] == true;
    let known = if keep { kept.take() } else { None };
    let client = match known.map_or_else(|| client_of(case), Ok) {
        Ok(client) => client,
        Err(error) => return json!({"refused": error.to_string()}),
    };
    let call = &case["call"];
    // Until so many servers have answered.
    let mut seen = HashSet::new();
    while (seen.len() as u64) < call["warm"].as_u64().unwrap_or(0) {
        let found = client.generate(["a"]).await.expect("a server answers");
        seen.insert(found[0].choices[0].text.clone());
    }
    let mut outcome = json!({"values": []});
    let mut parts = Vec::new();
    let begin = Instant::now();
    for _ in 0..call["times"].as_u64().unwrap_or(1) {
        let made = call_once(&client, call, &mut parts);
        let made = match seconds(&call["cancelAfter"]) {
            Some(after) => tokio::time::timeout(after, made).await,
            None => Ok(made.await),
        };
        match made {
            Ok(Ok(value)) => outcome["values"].as_array_mut().unwrap().push(value),
            Ok(Err((error, others))) => {
                outcome["code"] = name_of(error.code()).into();
                outcome["message"] = error.message().into();
                outcome["retryAfter"] = json!(error.retry_after().map(|d| d.as_secs_f64()));
                outcome["input"] = json!(error.input());
                outcome["others"] = Value::Array(others);
                if !parts.is_empty() {
                    outcome["value"] = json!(parts);
                }
                break;
            }
            // Its future was dropped.
            Err(_) => outcome["code"] = "CANCELLED".into(),
        }
    }
    outcome["seconds"] = begin.elapsed().as_secs_f64().into();
    if keep {
        *kept = Some(client);
    }
    outcome
}

fn main() {
    // Of its own thread, which also ends calls after the last case.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let mut kept = None;
    for line in io::stdin().lines() {
        let case: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let environment = case["environment"].as_object().unwrap();
        for (key, value) in environment {
            env::set_var(key, value.as_str().unwrap());
        }
        println!("{}", runtime.block_on(run(&case, &mut kept)));
        for key in environment.keys() {
            env::remove_var(key);
        }
    }
}
