//! Where a part of the cluster listens, and who can connect.

use nsq::{Error, Result};
use std::net::IpAddr;

/// Where to listen.
#[derive(Debug, clap::Args)]
pub(crate) struct Listen {
    /// Address or network interface to listen on, such as 10.0.0.7 or ib0.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: String,
    /// Allow an address that other machines can connect to. Whoever can connect can ask about the reports.
    ///
    /// Ballista neither authenticates nor encrypts: the network must be one that only the job's users reach.
    #[arg(long)]
    insecure: bool,
}

impl Listen {
    /// The address to listen on.
    ///
    /// # Errors
    ///
    /// Other machines could connect, and that was not allowed.
    pub(crate) fn address(&self) -> Result<String> {
        let address = of_interface(&self.bind).unwrap_or_else(|| self.bind.clone());
        if self.insecure || is_local(&address) {
            return Ok(address);
        }
        Err(Error::usage(
            format!(
                "whoever can connect to {address} could ask about the reports: there is no password and no TLS"
            ),
            "add --insecure if only people whom you trust reach this network; or use 127.0.0.1 and an SSH tunnel",
        ))
    }
}

/// Whether only programs on this machine can connect to the address.
fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The address of a network interface, IPv4 first.
fn of_interface(name: &str) -> Option<String> {
    let interfaces = if_addrs::get_if_addrs().ok()?;
    let own =
        interfaces.iter().filter(|interface| interface.name == name).map(|interface| interface.ip());
    own.min_by_key(IpAddr::is_ipv6).map(|address| address.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(bind: &str, insecure: bool) -> Result<String> {
        Listen { bind: bind.to_owned(), insecure }.address()
    }

    #[test]
    fn other_machines_connect_only_if_that_is_allowed() {
        for local in ["127.0.0.1", "localhost", "::1"] {
            assert_eq!(at(local, false).unwrap(), local);
        }
        for open in ["0.0.0.0", "10.0.0.7", "::", "node0"] {
            assert!(at(open, false).unwrap_err().to_string().contains("no password"), "{open}");
            assert_eq!(at(open, true).unwrap(), open);
        }
    }

    #[test]
    fn an_interface_has_its_address() {
        let loopback = if_addrs::get_if_addrs().unwrap().into_iter().find(|one| one.is_loopback());
        let Some(loopback) = loopback else { return eprintln!("skipped: no loopback interface") };
        assert!(is_local(&at(&loopback.name, false).unwrap()));
    }
}
