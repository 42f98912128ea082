//! Makes messages and stubs of the API.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protos = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    let files =
        ["attend/v1/attend.proto", "attend/v1/status_details.proto", "grpc/health/v1/health.proto"];
    tonic_prost_build::configure()
        .build_server(false)
        .compile_protos(&files.map(|file| protos.join(file)), &[protos])?;
    Ok(())
}
