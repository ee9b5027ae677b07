//! Pairs the kernel names of two reports.

use crate::classify::FunctionName;
use std::collections::{BTreeMap, BTreeSet};

/// How two names were paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// The names are equal.
    Exact,
    /// The names are equal except for numbers.
    Numbers,
    /// The function names are equal except for numbers; template arguments or parameters differ.
    Function,
    /// The other side has no matching name.
    None,
}

impl Match {
    /// The name in machine formats.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Numbers => "numbers",
            Self::Function => "function",
            Self::None => "none",
        }
    }
}

/// Names that are compared with each other: one per side, or several that fold to the same text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameGroup {
    /// Names in A, sorted; empty if only B has the kernel.
    pub a: Vec<String>,
    /// Names in B.
    pub b: Vec<String>,
    /// How the names were paired.
    pub matched: Match,
}

impl NameGroup {
    /// A side has more than one name, so it is unknown which name became which.
    pub fn is_ambiguous(&self) -> bool {
        self.a.len() > 1 || self.b.len() > 1
    }
}

/// Reduces a name to the part that is compared.
type Fold = fn(&str) -> String;

/// Pairs equal names first, then the remaining names by their folded text.
pub fn pair_names(a: &BTreeSet<String>, b: &BTreeSet<String>) -> Vec<NameGroup> {
    let both = a.intersection(b);
    let mut groups: Vec<NameGroup> = both
        .map(|name| NameGroup { a: vec![name.clone()], b: vec![name.clone()], matched: Match::Exact })
        .collect();
    let mut left: Vec<&String> = a.difference(b).collect();
    let mut right: Vec<&String> = b.difference(a).collect();
    let folds: [(Match, Fold); 2] = [(Match::Numbers, without_numbers), (Match::Function, function)];
    for (matched, fold) in folds {
        let mut folded: BTreeMap<String, NameGroup> = BTreeMap::new();
        let empty = || NameGroup { a: Vec::new(), b: Vec::new(), matched };
        for name in &left {
            folded.entry(fold(name)).or_insert_with(empty).a.push((*name).clone());
        }
        for name in &right {
            folded.entry(fold(name)).or_insert_with(empty).b.push((*name).clone());
        }
        let (found, alone): (Vec<NameGroup>, Vec<NameGroup>) =
            folded.into_values().partition(|group| !group.a.is_empty() && !group.b.is_empty());
        let alone: BTreeSet<String> =
            alone.into_iter().flat_map(|group| [group.a, group.b].concat()).collect();
        left.retain(|name| alone.contains(*name));
        right.retain(|name| alone.contains(*name));
        groups.extend(found);
    }
    let one_sided = |a: Option<&String>, b: Option<&String>| NameGroup {
        a: a.into_iter().cloned().collect(),
        b: b.into_iter().cloned().collect(),
        matched: Match::None,
    };
    groups.extend(left.into_iter().map(|name| one_sided(Some(name), None)));
    groups.extend(right.into_iter().map(|name| one_sided(None, Some(name))));
    groups
}

/// Replaces every number with `*`: tile sizes, architectures, counters of generated kernels.
fn without_numbers(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    let mut in_number = false;
    for c in name.chars() {
        if !c.is_ascii_digit() {
            folded.push(c);
        } else if !in_number {
            folded.push('*');
        }
        in_number = c.is_ascii_digit();
    }
    folded
}

/// The qualified function name, without return type, template arguments, parameters and numbers.
fn function(name: &str) -> String {
    let function = FunctionName::of(name);
    let parts: Vec<&str> = function.scopes.iter().chain([&function.own]).copied().collect();
    without_numbers(&parts.join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paired(a: &[&str], b: &[&str]) -> Vec<String> {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let show = |group: &NameGroup| {
            format!("{} = {} ({})", group.a.join(" + "), group.b.join(" + "), group.matched.as_str())
        };
        pair_names(&set(a), &set(b)).iter().map(show).collect()
    }

    #[test]
    fn equal_names_are_paired_before_folding() {
        assert_eq!(
            paired(&["gemm_64", "gemm_128"], &["gemm_64", "gemm_256"]),
            ["gemm_64 = gemm_64 (exact)", "gemm_128 = gemm_256 (numbers)"]
        );
    }

    #[test]
    fn numbers_are_folded_before_template_arguments() {
        assert_eq!(
            paired(
                &["void at::f<float>(int)", "triton_poi_fused_add_0", "void k<(int)4>(T1)"],
                &["void at::f<double>(int)", "triton_poi_fused_add_3", "void k<(int)8>(T1)"],
            ),
            [
                "triton_poi_fused_add_0 = triton_poi_fused_add_3 (numbers)",
                "void k<(int)4>(T1) = void k<(int)8>(T1) (numbers)",
                "void at::f<float>(int) = void at::f<double>(int) (function)"
            ]
        );
    }

    #[test]
    fn names_that_fold_alike_form_one_group() {
        assert_eq!(
            paired(&["k<a>(x)", "k<b>(x)", "old(x)"], &["k<c>(x)", "new(x)"]),
            ["k<a>(x) + k<b>(x) = k<c>(x) (function)", "old(x) =  (none)", " = new(x) (none)"]
        );
        assert_eq!(paired(&[""], &[]), [" =  (none)"]);
    }
}
