//! The sessions of a report: one for each scope in which questions are asked.

use crate::open_report::OpenReport;
use nsq_engine::execute::{Limits, Session};
use nsq_engine::normalize::Scope;
use nsq_library::catalog::Catalog;
use nsq_value::error::Result;
use std::collections::BTreeSet;

/// The sessions of a report. Each lasts until the last of its announced questions was asked.
pub(super) struct Sessions<'q> {
    open: &'q OpenReport,
    scopes: Vec<InScope>,
}

/// The questions in one scope.
pub(super) struct InScope {
    scope: Scope,
    /// The relations that they read.
    roots: BTreeSet<String>,
    /// The number of questions that were announced and not asked yet.
    left: usize,
    /// `None`: not begun yet, or not needed any more.
    session: Option<Session>,
}

impl<'q> Sessions<'q> {
    pub(super) fn new(open: &'q OpenReport) -> Self {
        Self { open, scopes: Vec::new() }
    }

    /// Announces a question that reads these relations, so that its session has them from the start.
    pub(super) fn announce(&mut self, scope: &Scope, reads: &[String]) {
        self.foresee(scope, reads).left += 1;
    }

    /// The session of a scope will have these relations.
    pub(super) fn foresee(&mut self, scope: &Scope, reads: &[String]) -> &mut InScope {
        let place = self.place(scope);
        let within = &mut self.scopes[place];
        if reads.iter().any(|relation| !within.roots.contains(relation)) {
            within.roots.extend(reads.iter().cloned());
            within.session = None;
        }
        within
    }

    /// The session of a scope, with these relations. It begins with the first question.
    pub(super) fn session(
        &mut self,
        catalog: &Catalog,
        scope: &Scope,
        reads: &[String],
        limits: &Limits,
    ) -> Result<&Session> {
        let (open, within) = (self.open, self.foresee(scope, reads));
        let session = match within.session.take() {
            Some(session) => session,
            None => {
                let roots = within.roots.iter().map(String::as_str);
                open.begin(catalog, &within.scope, roots, limits)?.0
            }
        };
        Ok(within.session.insert(session))
    }

    /// Ends the session of a scope with its last question.
    pub(super) fn asked(&mut self, scope: &Scope) {
        let place = self.place(scope);
        let within = &mut self.scopes[place];
        within.left = within.left.saturating_sub(1);
        if within.left == 0 {
            within.session = None;
        }
    }

    fn place(&mut self, scope: &Scope) -> usize {
        if let Some(place) = self.scopes.iter().position(|within| within.scope == *scope) {
            return place;
        }
        let (scope, roots) = (scope.clone(), BTreeSet::new());
        self.scopes.push(InScope { scope, roots, left: 0, session: None });
        self.scopes.len() - 1
    }
}
