//! Streamable HTTP, for clients that do not start the server themselves. Each request shows the token.

use crate::server::Server;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Most connections at the same time; others wait.
const MOST_CONNECTIONS: usize = 64;
/// Most bytes of a request.
const MOST_BODY: usize = 1 << 20;
/// Longest time in which a client sends the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Time to wait if no more connections can be opened.
const PAUSE: Duration = Duration::from_millis(100);
/// Fewest bytes of a token: 128 bits in hexadecimal digits.
const SHORTEST_TOKEN: usize = 32;

/// Parses `PORT`, which is on the loopback interface, or `ADDRESS:PORT`.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok((IpAddr::V4(Ipv4Addr::LOCALHOST), port).into());
    }
    text.parse().map_err(|_| "expected PORT or ADDRESS:PORT, such as 8765 or 127.0.0.1:8765".to_owned())
}

/// Reads the token from the first line of a file.
pub(crate) fn token(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let token = text.lines().next().unwrap_or_default().trim().to_owned();
    let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
    match token.len() >= SHORTEST_TOKEN && is_plain {
        true => Ok(token),
        false => Err(format!(
            "{}: the first line is no token of {SHORTEST_TOKEN} or more visible ASCII characters\n  \
             help: write one with `openssl rand -hex 32 > FILE`",
            path.display()
        )),
    }
}

/// Serves until the process ends. Requests are independent of each other: the server keeps no sessions.
pub(crate) async fn serve(server: Server, address: SocketAddr, token: String) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    eprintln!("nsq-mcp: listening on http://{address}/ for requests with the token");
    // A page in a browser must not ask, not even on the user's own machine.
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .enforce_origin_validation();
    config.max_request_body_bytes = MOST_BODY;
    if !address.ip().is_loopback() {
        // Other machines know this one by names that it does not know.
        config = config.disable_allowed_hosts();
    }
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let (token, connections): (Arc<str>, _) = (token.into(), Arc::new(Semaphore::new(MOST_CONNECTIONS)));
    loop {
        let place = Arc::clone(&connections).acquire_owned().await.map_err(io::Error::other)?;
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let (service, token) = (service.clone(), Arc::clone(&token));
        tokio::spawn(async move {
            let answer = service_fn(|request: Request<Incoming>| {
                let (service, is_allowed) = (service.clone(), has_token(request.headers(), &token));
                async move {
                    Ok::<_, Infallible>(match is_allowed {
                        true => service.handle(request).await,
                        false => refused(),
                    })
                }
            });
            let mut builder = hyper::server::conn::http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
            // A connection that breaks concerns its client alone.
            let _ = builder.serve_connection(TokioIo::new(stream), answer).await;
            drop(place);
        });
    }
}

/// Whether a request has the header `Authorization: Bearer TOKEN`.
fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default();
    let given = given.split_at_checked(7).filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"Bearer "));
    let Some((_, given)) = given else { return false };
    // The time must not tell how many characters are right.
    let differing = given.iter().zip(token.as_bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differing == 0
}

type Body = http_body_util::combinators::BoxBody<hyper::body::Bytes, Infallible>;

fn refused() -> Response<Body> {
    let text = "error: this server needs the header Authorization: Bearer TOKEN\n";
    let mut response = Response::new(Body::new(text.to_owned()));
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    headers.insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
    headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("text/plain"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_on_the_loopback_interface() {
        assert_eq!(address("8765").unwrap().to_string(), "127.0.0.1:8765");
        assert_eq!(address("0.0.0.0:1").unwrap().to_string(), "0.0.0.0:1");
        assert_eq!(address("[::1]:1").unwrap().to_string(), "[::1]:1");
        for wrong in ["", "host:1", "127.0.0.1", "99999"] {
            address(wrong).unwrap_err();
        }
    }

    #[test]
    fn only_the_whole_token_is_allowed() {
        let is_allowed = |value: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert(AUTHORIZATION, value.parse().unwrap());
            }
            has_token(&headers, "abcdef")
        };
        assert!(is_allowed(Some("Bearer abcdef")) && is_allowed(Some("bearer abcdef")));
        for wrong in [
            "Bearer ",
            "Bearer",
            "Bearer abcde",
            "Bearer abcdeff",
            "Bearer abcdeg",
            "Basic abcdef",
            "abcdef",
        ] {
            assert!(!is_allowed(Some(wrong)), "{wrong}");
        }
        assert!(!is_allowed(None));
    }

    #[test]
    fn short_tokens_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            token(file.path())
        };
        let long = "0123456789abcdef0123456789abcdef";
        assert_eq!(read(&format!("{long}\nsecond line\n")).unwrap(), long);
        for wrong in ["", "\n", "short\n", "0123456789abcdef 0123456789abcdef"] {
            assert!(read(wrong).unwrap_err().contains("help: "), "{wrong}");
        }
    }
}
