//! The C functions of hf_chat.h, which says what they do.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::io::{self, Write};

use minijinja::{Environment, Error, ErrorKind, Value};
use tokenizers::tokenizer::Result;

use crate::rewrite::rewrite;
use crate::{guard, python, quiet_panics, HfText, TextSink};

const NAME: &str = "template";
/// Instructions of one rendering: a conversation of a thousand turns takes about
/// a million.
const MAX_STEPS: u64 = 5_000_000;
const MAX_OUTPUT: usize = 16 << 20;
/// Macros in macros. Templates that walk a JSON schema nest about ten.
const MAX_DEPTH: usize = 200;

/// What only fails.
type Raise = std::result::Result<Value, Error>;

pub struct Chat(Environment<'static>);

/// The environment that transformers renders chat templates in.
fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_trim_blocks(true);
    env.set_lstrip_blocks(true);
    env.set_fuel(Some(MAX_STEPS));
    env.set_recursion_limit(MAX_DEPTH);
    env.add_function("raise_exception", |message: String| -> Raise {
        Err(Error::new(
            ErrorKind::InvalidOperation,
            Raised::mark(&message),
        ))
    });
    python::install(&mut env);
    env
}

/// What raise_exception() says, told apart from other errors.
struct Raised;

impl Raised {
    const MARK: &'static str = "\0raised ";

    fn mark(message: &str) -> String {
        format!("{}{message}", Raised::MARK)
    }
}

/// In the template's own lines, from the innermost error outwards.
fn explain(error: &Error) -> String {
    let line = match error.line() {
        Some(line) => format!("line {line}: "),
        None => String::new(),
    };
    match (error.kind(), error.detail()) {
        (_, Some(detail)) if detail.starts_with(Raised::MARK) => {
            format!("{line}{}", &detail[Raised::MARK.len()..])
        }
        (ErrorKind::OutOfFuel, _) => {
            format!("{line}rendering takes more than {MAX_STEPS} steps")
        }
        (ErrorKind::WriteFailure, _) => {
            format!("{line}rendering gives more than {MAX_OUTPUT} bytes")
        }
        (kind, Some(detail)) => format!("{line}{kind}: {detail}"),
        (kind, None) => format!("{line}{kind}"),
    }
}

/// Bytes up to a limit.
struct Output(Vec<u8>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT {
            return Err(io::Error::other("too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Chat {
    fn load(source: &str) -> Result<Chat> {
        let mut env = environment();
        env.add_template_owned(NAME, rewrite(source))
            .map_err(|e| explain(&e))?;
        Ok(Chat(env))
    }

    fn render(&self, variables: &str, unix_micros: i64) -> Result<Vec<u8>> {
        let mut variables: BTreeMap<String, Value> = serde_json::from_str(variables)?;
        let now = move |format: &str| python::strftime(format, unix_micros);
        // Jinja's view of the template's blocks, which chat templates have none of.
        variables.insert(
            "self".to_string(),
            Value::from(BTreeMap::<String, Value>::new()),
        );
        variables.insert("strftime_now".to_string(), Value::from_function(now));
        let mut output = Output(Vec::new());
        self.0
            .get_template(NAME)
            .and_then(|template| {
                template
                    .render_captured_to(Value::from(variables), &mut output)
                    .map(drop)
            })
            .map_err(|e| explain(&e))?;
        Ok(output.0)
    }
}

#[no_mangle]
pub unsafe extern "C" fn hf_chat_load(
    template: HfText,
    error: TextSink,
    context: *mut c_void,
) -> *mut Chat {
    quiet_panics();
    let loaded = guard(error, context, || {
        let source = template.text()?;
        Chat::load(source)
    });
    loaded.map_or(std::ptr::null_mut(), |chat| Box::into_raw(Box::new(chat)))
}

#[no_mangle]
pub unsafe extern "C" fn hf_chat_free(chat: *mut Chat) {
    drop(Box::from_raw(chat));
}

#[no_mangle]
pub unsafe extern "C" fn hf_chat_render(
    chat: *const Chat,
    variables: HfText,
    unix_micros: i64,
    text: TextSink,
    error: TextSink,
    context: *mut c_void,
) -> bool {
    let rendered = guard(error, context, || {
        let variables = variables.text()?;
        let chat = &*chat;
        let bytes = chat.render(variables, unix_micros)?;
        text(context, HfText::of(std::str::from_utf8(&bytes)?));
        Ok(())
    });
    rendered.is_some()
}
