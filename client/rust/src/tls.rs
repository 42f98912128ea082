use std::fs;
use std::path::{Path, PathBuf};

use tonic::transport::{Certificate, ClientTlsConfig, Identity};

use crate::Error;

/// How servers and the client prove who they are. Files are PEM.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tls {
    /// File of the servers' CAs. None: those of the system.
    pub ca: Option<PathBuf>,
    /// File of the client's own certificate.
    pub cert: Option<PathBuf>,
    /// File of its key.
    pub key: Option<PathBuf>,
    /// The name in servers' certificates. None: the (first) host.
    pub server_name: Option<String>,
}

impl Tls {
    pub(crate) fn config(&self, host: &str) -> Result<ClientTlsConfig, Error> {
        let name = self.server_name.as_deref().unwrap_or(host);
        let config = ClientTlsConfig::new().domain_name(name);
        let config = match &self.ca {
            Some(file) => config.ca_certificate(Certificate::from_pem(pem(file, "CERTIFICATE")?)),
            None => config.with_native_roots(),
        };
        match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => Ok(config
                .identity(Identity::from_pem(pem(cert, "CERTIFICATE")?, pem(key, "PRIVATE KEY")?))),
            (None, None) => Ok(config),
            _ => Err(Error::invalid("cert and key must be given together")),
        }
    }
}

/// The text of a file that has such a thing.
fn pem(file: &Path, what: &str) -> Result<String, Error> {
    let path = file.display();
    let text =
        fs::read_to_string(file).map_err(|error| Error::invalid(format!("{path}: {error}")))?;
    if !text.contains(&format!("{what}-----")) {
        let what = what.to_lowercase();
        return Err(Error::invalid(format!("{path}: has no {what} in PEM")));
    }
    Ok(text)
}
