//! Streamable HTTP, for clients that do not start the server themselves. Each request shows the token.

use crate::connections::{Connections, Limits, Place};
use crate::server::Server;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Most bytes of the head of a request.
const MOST_HEAD: usize = 64 << 10;
/// Most bytes of the body of a request.
const MOST_BODY: usize = 1 << 20;
/// Time to wait if no more connections can be opened.
const PAUSE: Duration = Duration::from_millis(100);
/// Fewest bytes of a token: 128 bits in hexadecimal digits.
const SHORTEST_TOKEN: usize = 32;
/// Most bytes of the file of a token.
const LONGEST_FILE: u64 = 64 << 10;

/// Parses `PORT`, which is on the loopback interface, or `ADDRESS:PORT`.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok((IpAddr::V4(Ipv4Addr::LOCALHOST), port).into());
    }
    text.parse().map_err(|_| "expected PORT or ADDRESS:PORT, such as 8765 or 127.0.0.1:8765".to_owned())
}

/// Reads the token from the first line of a file that only its owner can read.
pub(crate) fn token(path: &Path) -> Result<String, String> {
    let failed = |e: io::Error| format!("{}: {e}", path.display());
    let file = File::open(path).map_err(failed)?;
    check_private(&file, path)?;
    let mut text = String::new();
    file.take(LONGEST_FILE).read_to_string(&mut text).map_err(failed)?;
    let token = text.lines().next().unwrap_or_default().trim().to_owned();
    let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
    match token.len() >= SHORTEST_TOKEN && is_plain {
        true => Ok(token),
        false => Err(format!(
            "{}: the first line is no token of {SHORTEST_TOKEN} or more visible ASCII characters\n  \
             help: write one with `(umask 077; openssl rand -hex 32 > FILE)`",
            path.display()
        )),
    }
}

/// Refuses a token that other users of the machine can read, as ssh refuses such a private key.
#[cfg(unix)]
fn check_private(file: &File, path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let path = path.display();
    let mode = file.metadata().map_err(|e| format!("{path}: {e}"))?.permissions().mode() & 0o777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(format!(
            "{path}: other users can access the token: the permissions are {mode:04o}\n  help: chmod 600 {path}"
        )),
    }
}

#[cfg(not(unix))]
fn check_private(_: &File, _: &Path) -> Result<(), String> {
    Ok(())
}

/// Serves until the process ends. Requests are independent of each other: the server keeps no sessions.
pub(crate) async fn serve(server: Server, address: SocketAddr, token: String) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    eprintln!("nsq-mcp: listening on http://{}/ for requests with the token", listener.local_addr()?);
    answer_all(&listener, server, &token, Limits::default()).await
}

/// Answers the requests of a listener.
async fn answer_all(
    listener: &TcpListener,
    server: Server,
    token: &str,
    limits: Limits,
) -> io::Result<()> {
    // A page in a browser must not ask, not even on the user's own machine.
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .enforce_origin_validation();
    config.max_request_body_bytes = MOST_BODY;
    if !listener.local_addr()?.ip().is_loopback() {
        // Other machines know this one by names that it does not know.
        config = config.disable_allowed_hosts();
    }
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let (token, connections): (Arc<str>, _) = (token.into(), Connections::new(limits));
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // The process may open no more files: a stranger gives one back.
            connections.end_a_stranger();
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let (service, token) = (service.clone(), Arc::clone(&token));
        let place = Arc::new(connections.admit(peer.ip()));
        tokio::spawn(async move {
            let ask = service_fn(|request| {
                let (place, service, token) = (Arc::clone(&place), service.clone(), Arc::clone(&token));
                async move { Ok::<_, Infallible>(answer(request, &place, &service, &token).await) }
            });
            let mut builder = hyper::server::conn::http1::Builder::new();
            // The place has the limits, of which this would be another.
            builder.header_read_timeout(None).max_buf_size(MOST_HEAD);
            tokio::select! {
                // A connection that breaks concerns its client alone.
                _ = builder.serve_connection(TokioIo::new(stream), ask) => {}
                () = place.over() => {}
            }
        });
    }
}

/// Answers a request, if it shows the token and arrives in time.
async fn answer(
    request: Request<Incoming>,
    place: &Place,
    service: &Service,
    token: &str,
) -> Response<Body> {
    if !has_token(request.headers(), token) {
        let text = "this server needs the header Authorization: Bearer TOKEN";
        let mut response = last(StatusCode::UNAUTHORIZED, text);
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    }
    if !place.begin() {
        return last(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many requests are being answered: ask again later",
        );
    }
    let (head, body) = request.into_parts();
    let whole = tokio::time::timeout(place.limits().body, Limited::new(body, MOST_BODY).collect()).await;
    let response = match whole {
        Ok(Ok(body)) => {
            place.ask();
            service.handle(Request::from_parts(head, Full::new(body.to_bytes()))).await
        }
        Ok(Err(_)) => last(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the body of the request is broken, or has more than 1 MiB",
        ),
        Err(_) => last(StatusCode::REQUEST_TIMEOUT, "the body of the request took too long"),
    };
    place.rest();
    response
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

type Service = StreamableHttpService<Server, LocalSessionManager>;
type Body = http_body_util::combinators::BoxBody<Bytes, Infallible>;

/// An error that ends the connection: the rest of the request is not waited for.
fn last(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::new(format!("error: {text}\n")));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{reports::Reports, roots::Roots, tools::Tools};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::time::{Instant, timeout};

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";
    const LIMITS: Limits = Limits {
        strangers: 8,
        known: 4,
        head: Duration::from_millis(600),
        body: Duration::from_millis(600),
        idle: Duration::from_millis(1200),
    };
    /// Longer than any limit, and shorter than a test should take.
    const SOON: Duration = Duration::from_secs(5);

    /// Runs a test against a server on the loopback interface.
    fn serving<T: Future<Output = ()>>(test: impl FnOnce(SocketAddr) -> T) {
        let folder = tempfile::tempdir().unwrap();
        let tools = Tools {
            library: nsq::library().unwrap(),
            reports: Reports::new(Roots::open(&[folder.path().to_owned()]).unwrap()),
            bytes: 16_000,
            timeout: SOON,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(async move { answer_all(&listener, Server::new(tools), TOKEN, LIMITS).await });
            test(address).await;
        });
    }

    const ASK: &str =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_reports"}}"#;

    /// A head that announces a body.
    fn head(address: SocketAddr, token: &str) -> String {
        format!(
            "POST / HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             MCP-Protocol-Version: 2025-06-18\r\nContent-Length: {}\r\n\r\n",
            ASK.len()
        )
    }

    async fn connected(address: SocketAddr, sent: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        stream
    }

    /// The status of the next answer; 0 if the connection ends without one.
    async fn status(stream: &mut TcpStream) -> u16 {
        let mut bytes = [0; 4096];
        let read = timeout(SOON, stream.read(&mut bytes)).await.expect("the server does not answer");
        let text = String::from_utf8_lossy(&bytes[..read.unwrap_or(0)]).into_owned();
        text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    /// Asks with the token. The answer must come soon, whatever others do.
    async fn assert_answers(address: SocketAddr) -> TcpStream {
        let started = Instant::now();
        let mut stream = connected(address, &(head(address, TOKEN) + ASK)).await;
        assert_eq!(status(&mut stream).await, 200);
        assert!(started.elapsed() < LIMITS.head / 2, "{:?}", started.elapsed());
        stream
    }

    #[test]
    fn strangers_do_not_delay_a_client_and_end() {
        serving(|address| async move {
            let mut silent = Vec::new();
            for sent in ["", "POST / HT", "POST / HTTP/1.1\r\nHost: a\r\n"].repeat(10) {
                silent.push(connected(address, sent).await);
                assert_answers(address).await;
            }
            let mut wrong = connected(address, &head(address, &TOKEN.replace('0', "1"))).await;
            assert_eq!(status(&mut wrong).await, 401);
            // A connection that was refused does not stay, although its body is missing.
            assert_eq!(status(&mut wrong).await, 0);
            for mut stream in silent {
                assert_eq!(status(&mut stream).await, 0);
            }
            assert_answers(address).await;
        });
    }

    #[test]
    fn unfinished_bodies_end_and_idle_connections_give_way() {
        serving(|address| async move {
            let mut unfinished = Vec::new();
            for _ in 0..LIMITS.known {
                // The server asks for the body once it knows the client: in this order.
                let expecting =
                    head(address, TOKEN).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");
                let mut stream = connected(address, &expecting).await;
                assert_eq!(status(&mut stream).await, 100);
                stream.write_all(b"{").await.unwrap();
                unfinished.push(stream);
            }
            tokio::time::sleep(LIMITS.body / 4).await;
            drop(assert_answers(address).await);
            let mut statuses = Vec::new();
            for stream in &mut unfinished {
                statuses.push(status(stream).await);
            }
            assert_eq!(statuses, [0, 408, 408, 408], "the oldest has given way");
            // More clients than places, each of which keeps its connection.
            let mut idle = Vec::new();
            for _ in 0..3 * LIMITS.known {
                idle.push(assert_answers(address).await);
            }
            let mut last = idle.pop().unwrap();
            last.write_all((head(address, TOKEN) + ASK).as_bytes()).await.unwrap();
            assert_eq!(status(&mut last).await, 200, "a connection is kept");
            let started = Instant::now();
            for mut stream in idle {
                assert_eq!(status(&mut stream).await, 0);
            }
            last.write_all(b"POST / HTTP/1.1\r\n").await.unwrap();
            assert_eq!(status(&mut last).await, 0);
            assert!(started.elapsed() > LIMITS.idle / 2);
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_token_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), TOKEN).unwrap();
        for mode in [0o644, 0o640, 0o604, 0o660, 0o666] {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            let refused = token(file.path()).unwrap_err();
            assert!(
                refused.contains(&format!("help: chmod 600 {}", file.path().display())),
                "{refused}"
            );
            assert!(!refused.contains(TOKEN));
        }
        for mode in [0o600, 0o400] {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(token(file.path()).unwrap(), TOKEN);
        }
    }

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
