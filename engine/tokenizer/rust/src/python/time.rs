//! Local time in words.

use crate::style::{error, Result};

/// datetime.strftime() of local time.
pub fn strftime(format: &str, unix_micros: i64) -> Result<String> {
    let format = format.replace("%f", &format!("{:06}", unix_micros.rem_euclid(1_000_000)));
    // Never empty, so that no text is told from one that is too long.
    let format = std::ffi::CString::new(format + " ").map_err(|e| error(e.to_string()))?;
    let seconds: libc::time_t = unix_micros.div_euclid(1_000_000);
    let mut out = vec![0u8; 4096];
    let size = unsafe {
        let mut parts: libc::tm = std::mem::zeroed();
        if libc::localtime_r(&seconds, &mut parts).is_null() {
            return Err(error("strftime_now: no such time"));
        }
        libc::strftime(out.as_mut_ptr().cast(), out.len(), format.as_ptr(), &parts)
    };
    if size == 0 {
        return Err(error("strftime_now: more than 4096 bytes"));
    }
    out.truncate(size - 1);
    String::from_utf8(out).map_err(|e| error(e.to_string()))
}
