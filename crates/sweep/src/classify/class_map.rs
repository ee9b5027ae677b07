//! Ordered rules that map names to classes.

use super::collective::{Activity, activity};
use regex::bytes::{RegexBuilder, RegexSet, RegexSetBuilder};
use std::fmt;

/// The class of a name that no rule matches.
pub const OTHERS: &str = "others";

/// Most bytes that the compiled rules of one map may take together.
const COMPILED_LIMIT: usize = 64 << 20;
/// Bytes for the cache of DFA states. If it is too small, long names match many times slower.
const STATES_LIMIT: usize = 32 << 20;

/// What a rule matches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// A regular expression that matches anywhere in the name, case-sensitive. In one that is ASCII, so are `\w`, `\d`,
    /// `\s` and `\b`.
    Match(String),
    /// A text that occurs anywhere in the name, case-insensitive.
    Substring(String),
    /// The operation's [`activity`].
    Activity(Activity),
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Match(text) | Self::Substring(text) => f.write_str(text),
            Self::Activity(activity) => write!(f, "activity: {}", activity.as_str()),
        }
    }
}

/// A pattern, and the class of the names that match it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The class.
    pub class: String,
    /// The pattern.
    pub pattern: Pattern,
}

/// A rule that does not compile, or rules that are too large together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRule {
    /// Index of the rule, from 0; `None` if each rule compiles but all together are too large.
    pub index: Option<usize>,
    /// The reason.
    pub reason: String,
}

/// Compiled rules.
#[derive(Debug, Clone)]
pub struct ClassMap {
    rules: Vec<Rule>,
    /// Patterns of the regular expressions and substrings.
    texts: RegexSet,
    /// The index in `rules` of each pattern of `texts`.
    text_rules: Vec<usize>,
    /// Rules that match an activity, with their index in `rules`.
    activity_rules: Vec<(usize, Activity)>,
}

/// The classification of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified<'m> {
    /// The class of the first rule that matches; [`OTHERS`] if no rule matches.
    pub class: &'m str,
    /// The first rule that matches, if any.
    pub rule: Option<&'m Rule>,
    /// Later rules that also match and have a different class: the first rule of each class, in order.
    pub also: Vec<&'m Rule>,
}

impl ClassMap {
    /// Compiles rules. The error names the first rule that does not compile.
    pub fn compile(rules: Vec<Rule>) -> Result<Self, BrokenRule> {
        let (mut sources, mut text_rules, mut activity_rules) = (Vec::new(), Vec::new(), Vec::new());
        for (index, rule) in rules.iter().enumerate() {
            match &rule.pattern {
                Pattern::Activity(activity) => {
                    activity_rules.push((index, *activity));
                    continue;
                }
                Pattern::Match(text) => sources.push(in_ascii(text.clone())),
                Pattern::Substring(text) => {
                    sources.push(in_ascii(format!("(?i){}", regex::escape(text))));
                }
            }
            text_rules.push(index);
        }
        let texts = RegexSetBuilder::new(&sources)
            .size_limit(COMPILED_LIMIT)
            .dfa_size_limit(STATES_LIMIT)
            .build()
            .map_err(|error| broken_rule(&sources, &text_rules, &error))?;
        Ok(Self { rules, texts, text_rules, activity_rules })
    }

    /// Classifies the name of a kernel, copy or fill.
    pub fn classify(&self, name: &str) -> Classified<'_> {
        let mut hits: Vec<usize> =
            self.texts.matches(name.as_bytes()).into_iter().map(|text| self.text_rules[text]).collect();
        if !self.activity_rules.is_empty() {
            let is = activity(name);
            hits.extend(self.activity_rules.iter().filter(|(_, of)| *of == is).map(|(index, _)| index));
            hits.sort_unstable();
        }
        let mut hits = hits.into_iter().map(|index| &self.rules[index]);
        let rule = hits.next();
        let class = rule.map_or(OTHERS, |rule| rule.class.as_str());
        let mut also: Vec<&Rule> = Vec::new();
        for hit in hits {
            if hit.class != class && also.iter().all(|other| other.class != hit.class) {
                also.push(hit);
            }
        }
        Classified { class, rule, also }
    }
}

/// The pattern without the many ranges of Unicode's classes, which take most of the time to compile it.
fn in_ascii(pattern: String) -> String {
    if pattern.is_ascii() { format!("(?-u){pattern}") } else { pattern }
}

/// Finds the rule that caused a compile error, if one rule alone did.
fn broken_rule(sources: &[String], text_rules: &[usize], error: &regex::Error) -> BrokenRule {
    let build = |place: usize, limit| RegexBuilder::new(&sources[place]).size_limit(limit).build().err();
    let place = match error {
        // Syntax is checked before the size.
        regex::Error::Syntax(_) => {
            (0..sources.len()).find(|&place| matches!(build(place, 0), Some(regex::Error::Syntax(_))))
        }
        _ => too_large(sources.len(), |place, limit| build(place, limit).is_some()),
    };
    let broken = place.and_then(|place| Some((text_rules[place], build(place, COMPILED_LIMIT)?)));
    // The last line of a syntax error is the message; the lines above it point at the position.
    let reason = |error: &regex::Error| {
        let text = error.to_string();
        text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
    };
    match broken {
        Some((index, error)) => BrokenRule { index: Some(index), reason: reason(&error) },
        None => BrokenRule { index: None, reason: reason(error) },
    }
}

/// The only rule that is larger than [`COMPILED_LIMIT`]. `is_larger` tells whether a rule is larger than a limit, and
/// takes time up to this limit: to ask it for each rule and the limit of all would take minutes.
fn too_large(rules: usize, is_larger: impl Fn(usize, usize) -> bool) -> Option<usize> {
    /// Each takes as long as compiling all rules. A map in which they find nothing has many large rules.
    const ROUNDS: usize = 3;
    let mut large: Vec<usize> = (0..rules).collect();
    for _ in 0..ROUNDS {
        let share = COMPILED_LIMIT / large.len().max(1);
        large.retain(|&rule| is_larger(rule, share));
        if share == COMPILED_LIMIT {
            return large.pop();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(class: &str, pattern: Pattern) -> Rule {
        Rule { class: class.to_owned(), pattern }
    }

    fn regexes(rules: &[(&str, &str)]) -> ClassMap {
        let rules = rules.iter().map(|(text, class)| rule(class, Pattern::Match((*text).to_owned())));
        ClassMap::compile(rules.collect()).unwrap()
    }

    fn substrings(rules: &[(&str, &str)]) -> ClassMap {
        let rules =
            rules.iter().map(|(text, class)| rule(class, Pattern::Substring((*text).to_owned())));
        ClassMap::compile(rules.collect()).unwrap()
    }

    #[test]
    fn the_first_match_decides_and_later_classes_are_listed() {
        // seeds.md §4, defect 6: sglang's llama map puts `gemm` before the grouped GEMMs.
        let map = regexes(&[
            ("gemm|nvjet", "gemm"),
            ("group_gemm_starts", "moe_gemm"),
            ("starts", "gemm"),
            ("get_.*", "x"),
        ]);
        let found = map.classify("get_group_gemm_starts<int>");
        assert_eq!(found.class, "gemm");
        assert_eq!(found.rule.unwrap().pattern.to_string(), "gemm|nvjet");
        assert_eq!(
            found.also.iter().map(|rule| rule.class.as_str()).collect::<Vec<_>>(),
            ["moe_gemm", "x"]
        );
        let turned = regexes(&[("group_gemm_starts", "moe_gemm"), ("gemm|nvjet", "gemm")]);
        assert_eq!(turned.classify("get_group_gemm_starts<int>").class, "moe_gemm");
    }

    #[test]
    fn a_regex_is_case_sensitive_and_not_anchored() {
        // seeds.md §4, defect 6: `Norm|_norm_` misses `rmsnorm`, `SoftMax` misses `softmax`.
        let map =
            regexes(&[("Norm|_norm_", "norm"), ("SoftMax", "softmax"), ("(?i)SOFTMAX", "any_softmax")]);
        assert_eq!(map.classify("void rmsnorm<float>()").class, OTHERS);
        assert_eq!(map.classify("void at::LayerNormForward<float>()").class, "norm");
        assert_eq!(map.classify("cunn_SoftMaxForward").class, "softmax");
        assert_eq!(map.classify("softmax_warp_forward").class, "any_softmax");
    }

    #[test]
    fn a_substring_is_case_insensitive_and_literal() {
        // seeds.md §2, golden micro-case: first key in map order wins.
        let map = substrings(&[("gemm", "gemm"), ("softmax", "softmax")]);
        assert_eq!(map.classify("My_GEMM_softmax").class, "gemm");
        assert_eq!(map.classify("other").class, OTHERS);
        assert_eq!(map.classify("other").rule, None);
        // seeds.md §1, item 5: both keys match, order decides.
        let map = substrings(&[("cast_transpose", "cast"), ("transpose_kernel", "transpose")]);
        let found = map.classify("void te::cast_transpose_kernel<float>()");
        assert_eq!((found.class, found.also.len()), ("cast", 1));
        let map = substrings(&[("f(x)", "call"), ("a.c", "dot")]);
        assert_eq!(map.classify("F(X)").class, "call");
        assert_eq!(map.classify("abc").class, OTHERS);
        // Every name contains the empty text.
        assert_eq!(substrings(&[("", "all")]).classify("x").class, "all");
    }

    #[test]
    fn the_micro_case_of_gputrc2graph_is_classified() {
        // seeds.md §4, step 4: without a last rule `.*`, a name can match no rule.
        let map = regexes(&[
            ("gemm", "gemm"),
            ("ncclDevKernel", "nccl"),
            ("flash", "attn"),
            ("CUDA mem", "memops"),
        ]);
        for (name, class) in [
            ("gemm", "gemm"),
            ("ncclDevKernel_AllReduce", "nccl"),
            ("flash", "attn"),
            ("A", OTHERS),
            ("[CUDA memcpy Host-to-Device]", "memops"),
        ] {
            assert_eq!(map.classify(name).class, class);
        }
    }

    #[test]
    fn an_activity_rule_keeps_its_place_in_the_order() {
        let map = ClassMap::compile(vec![
            rule("mine", Pattern::Match("AllGather".to_owned())),
            rule("communication", Pattern::Activity(Activity::Communication)),
            rule("nccl", Pattern::Substring("NCCL".to_owned())),
        ])
        .unwrap();
        assert_eq!(map.classify("ncclDevKernel_AllGather_RING_LL(x)").class, "mine");
        let found = map.classify("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
        assert_eq!(found.rule.unwrap().pattern.to_string(), "activity: communication");
        assert_eq!((found.class, found.also[0].class.as_str()), ("communication", "nccl"));
        assert_eq!(map.classify("f<ncclDevKernel_AllReduce>(x)").class, "nccl");
    }

    #[test]
    fn a_broken_rule_is_named() {
        let rules = ["gemm", "a(b", "x"].map(|text| rule("c", Pattern::Match(text.to_owned())));
        let broken = ClassMap::compile(rules.to_vec()).unwrap_err();
        assert_eq!((broken.index, broken.reason.as_str()), (Some(1), "unclosed group"));
        let huge = rule("c", Pattern::Match("(\\w{1000}){1000}".to_owned()));
        let broken = ClassMap::compile(vec![huge]).unwrap_err();
        assert_eq!(broken.index, Some(0));
        // Each rule compiles alone; only the set is too large.
        let error = RegexSetBuilder::new(["a", "b"]).size_limit(1).build().unwrap_err();
        let broken = broken_rule(&["a".to_owned(), "b".to_owned()], &[0, 1], &error);
        assert_eq!(broken.index, None, "{}", broken.reason);
        assert!(ClassMap::compile(Vec::new()).unwrap().classify("x").rule.is_none());
    }

    #[test]
    fn a_rule_that_is_too_large_is_found_without_compiling_all() {
        let find = |sizes: &[usize]| {
            let work = std::cell::Cell::new(0);
            let found = too_large(sizes.len(), |rule, limit| {
                work.set(work.get() + sizes[rule].min(limit));
                sizes[rule] > limit
            });
            assert!(work.get() <= 3 * COMPILED_LIMIT, "{}", work.get());
            found
        };
        let (small, large, huge) = (100, 10 << 20, 100 << 20);
        assert_eq!(find(&[small; 2_000]), None);
        assert_eq!(find(&[large; 2_000]), None);
        assert_eq!(find(&[small, small, huge, small]), Some(2));
        assert_eq!(find(&[large, large, small, small, small, huge, small, small]), Some(5));
        assert_eq!(find(&[huge]), Some(0));
    }
}
