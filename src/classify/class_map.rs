//! Ordered rules from names to classes.

use super::collective::{Activity, activity};
use regex::{RegexBuilder, RegexSet, RegexSetBuilder};
use std::fmt;

/// The class of what no rule takes.
pub const OTHERS: &str = "others";

/// Memory that the rules of a map may take when compiled, together.
const COMPILED_LIMIT: usize = 64 << 20;
/// Memory for the states met while matching: too little, and long names are matched many times slower.
const STATES_LIMIT: usize = 32 << 20;

/// What a rule looks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// A regular expression, anywhere in the name; case counts.
    Match(String),
    /// A text, anywhere in the name; case does not count.
    Substring(String),
    /// What the grammar says that the operation is busy with.
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

/// A rule: what it looks for, and the class of what has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The class.
    pub class: String,
    /// What is looked for.
    pub pattern: Pattern,
}

/// A rule that cannot be used, or rules that cannot be together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRule {
    /// Its place among the rules, from 0; none where they are too large only together.
    pub index: Option<usize>,
    /// Why.
    pub reason: String,
}

/// Rules that are ready to be held against names.
#[derive(Debug, Clone)]
pub struct ClassMap {
    rules: Vec<Rule>,
    /// Patterns of the rules that have text, and where those rules stand.
    texts: RegexSet,
    of_text: Vec<usize>,
    /// Rules that go by activity.
    by_activity: Vec<(usize, Activity)>,
}

/// What a map says of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified<'m> {
    /// The class: that of the first rule that matches, else [`OTHERS`].
    pub class: &'m str,
    /// The rule that decided; `None` if no rule matches.
    pub rule: Option<&'m Rule>,
    /// Later rules that match too and have another class, in order; of each class the first.
    pub also: Vec<&'m Rule>,
}

impl ClassMap {
    /// Compiles rules; the error is the first that cannot be used.
    pub fn compile(rules: Vec<Rule>) -> Result<Self, BrokenRule> {
        let (mut sources, mut of_text, mut by_activity) = (Vec::new(), Vec::new(), Vec::new());
        for (index, rule) in rules.iter().enumerate() {
            match &rule.pattern {
                Pattern::Activity(activity) => {
                    by_activity.push((index, *activity));
                    continue;
                }
                Pattern::Match(text) => sources.push(text.clone()),
                Pattern::Substring(text) => sources.push(format!("(?i){}", regex::escape(text))),
            }
            of_text.push(index);
        }
        let texts = RegexSetBuilder::new(&sources)
            .size_limit(COMPILED_LIMIT)
            .dfa_size_limit(STATES_LIMIT)
            .build()
            .map_err(|error| culprit(&sources, &of_text, &error))?;
        Ok(Self { rules, texts, of_text, by_activity })
    }

    /// What the rules say of the name of a kernel, copy or fill.
    pub fn classify(&self, name: &str) -> Classified<'_> {
        let mut hits: Vec<usize> =
            self.texts.matches(name).into_iter().map(|text| self.of_text[text]).collect();
        if !self.by_activity.is_empty() {
            let is = activity(name);
            hits.extend(self.by_activity.iter().filter(|(_, of)| *of == is).map(|(index, _)| index));
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

/// The rule that keeps a set from being compiled.
fn culprit(sources: &[String], of_text: &[usize], error: &regex::Error) -> BrokenRule {
    let build = |source: &String| RegexBuilder::new(source).size_limit(COMPILED_LIMIT).build();
    let broken =
        sources.iter().zip(of_text).find_map(|(source, &index)| Some((index, build(source).err()?)));
    // The last line of a syntax error says what is wrong; those above it draw the place.
    let reason = |error: &regex::Error| {
        let text = error.to_string();
        text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
    };
    match broken {
        Some((index, error)) => BrokenRule { index: Some(index), reason: reason(&error) },
        None => BrokenRule { index: None, reason: reason(error) },
    }
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
    fn the_first_rule_that_hits_decides_and_the_others_are_told() {
        // seeds.md §4, defect 6: sglang's llama looks for `gemm` before the grouped ones.
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
    fn a_regex_minds_case_and_is_not_anchored() {
        // seeds.md §4, defect 6: `Norm|_norm_` misses `rmsnorm`, `SoftMax` misses `softmax`.
        let map =
            regexes(&[("Norm|_norm_", "norm"), ("SoftMax", "softmax"), ("(?i)SOFTMAX", "any_softmax")]);
        assert_eq!(map.classify("void rmsnorm<float>()").class, OTHERS);
        assert_eq!(map.classify("void at::LayerNormForward<float>()").class, "norm");
        assert_eq!(map.classify("cunn_SoftMaxForward").class, "softmax");
        assert_eq!(map.classify("softmax_warp_forward").class, "any_softmax");
    }

    #[test]
    fn a_substring_minds_no_case_and_means_what_it_says() {
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
        // An empty text is in every name.
        assert_eq!(substrings(&[("", "all")]).classify("x").class, "all");
    }

    #[test]
    fn the_micro_case_of_the_third_seed_is_classified() {
        // seeds.md §4, step 4: no hit without `.*`.
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
    fn a_rule_may_go_by_activity_in_its_place() {
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
        // Each by itself has room.
        let error = RegexSetBuilder::new(["a", "b"]).size_limit(1).build().unwrap_err();
        let broken = culprit(&["a".to_owned(), "b".to_owned()], &[0, 1], &error);
        assert_eq!(broken.index, None, "{}", broken.reason);
        assert!(ClassMap::compile(Vec::new()).unwrap().classify("x").rule.is_none());
    }
}
