use crate::Error;

/// Where servers are: HOST:PORT. DNS may name several.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// The addresses of a target, which has commas between them.
pub(crate) fn addresses(target: &str) -> Result<Vec<Address>, Error> {
    target.split(',').map(|each| address(each.trim())).collect()
}

fn address(text: &str) -> Result<Address, Error> {
    let wrong = || Error::invalid(format!("address '{text}' must be HOST:PORT"));
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let inner = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let host = inner.unwrap_or(host);
    let strange = |letter: char| "[]/@?#".contains(letter) || letter.is_whitespace();
    if host.is_empty() || host.contains(strange) {
        return Err(wrong());
    }
    Ok(Address { host: host.to_owned(), port: port.parse().map_err(|_| wrong())? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_brackets() {
        let found = addresses(" a:1, [::1]:2").unwrap();
        assert_eq!(found[0].host, "a");
        assert_eq!((found[1].host.as_str(), found[1].port), ("::1", 2));
        for bad in ["", "a", "a:1,b", "a:1,:2", "a:", "a:70000", "http://a:1"] {
            let error = addresses(bad).unwrap_err();
            assert!(error.message().ends_with("must be HOST:PORT"), "{bad}");
        }
    }
}
