//! Class maps as in the tools before nsq: the first key that the name contains, case-insensitive.

use nsq_sweep::classify::{OTHERS, Pattern, Rule};
use nsq_value::error::{Error, Result};

/// Part of the names of communication kernels, and their class. It comes before every key.
const NCCL: &str = "nccl";

/// Ordered rules: part of a kernel's name → class, all in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeedMap {
    rules: Vec<(String, String)>,
}

impl SeedMap {
    /// Checks and builds a map under the seed's rules: no class is named `others`, and no key is part of
    /// another. Keys that differ only in case are one rule, with the first key's place and the last
    /// key's class.
    pub fn strict(map: &[(String, String)]) -> Result<Self> {
        let mut rules: Vec<(String, String)> = Vec::new();
        for (key, class) in map {
            let (key, class) = (key.to_lowercase(), class.to_lowercase());
            if class == OTHERS {
                return Err(Error::usage(
                    format!("key '{key}' has the reserved class '{OTHERS}'"),
                    "remove the key or choose another class; kernels that match no key are in 'others'",
                ));
            }
            match rules.iter_mut().find(|(known, _)| *known == key) {
                Some((_, known)) => *known = class,
                None => rules.push((key, class)),
            }
        }
        for (place, (key, _)) in rules.iter().enumerate() {
            let other = rules[place + 1..]
                .iter()
                .find(|(other, _)| other.contains(key.as_str()) || key.contains(other.as_str()));
            if let Some((other, _)) = other {
                let (inner, outer) =
                    if other.contains(key.as_str()) { (key, other) } else { (other, key) };
                return Err(Error::usage(
                    format!(
                        "key '{inner}' is part of key '{outer}', which --strict and --seed-compat do not allow"
                    ),
                    "remove one of the keys, or leave out --strict and --seed-compat: then the first matching key applies",
                ));
            }
        }
        Ok(Self { rules })
    }

    /// The rules: that for NCCL, then those of the keys.
    pub fn rules(&self) -> Vec<Rule> {
        let nccl = (NCCL.to_owned(), NCCL.to_owned());
        let all = std::iter::once(&nccl).chain(&self.rules);
        let rule = |(key, class): &(String, String)| Rule {
            class: class.clone(),
            pattern: Pattern::Substring(key.clone()),
        };
        all.map(rule).collect()
    }

    /// All classes but `nccl`, each once: `others`, then the classes of the keys in order.
    pub fn classes(&self) -> Vec<&str> {
        let mut classes = vec![OTHERS];
        for (_, class) in &self.rules {
            if class != NCCL && !classes.contains(&class.as_str()) {
                classes.push(class);
            }
        }
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsq_sweep::classify::ClassMap;

    fn map(rules: &[(&str, &str)]) -> Result<SeedMap> {
        let rules: Vec<(String, String)> =
            rules.iter().map(|(key, class)| ((*key).to_owned(), (*class).to_owned())).collect();
        SeedMap::strict(&rules)
    }

    #[test]
    fn nccl_comes_first_then_the_first_key() {
        let map = map(&[("GEMM", "GEMM"), ("softmax", "Softmax"), ("reduce", "reduce")]).unwrap();
        let rules = ClassMap::compile(map.rules()).unwrap();
        for (name, class) in [
            ("My_Gemm_softmax", "gemm"),
            ("ncclKernel_Reduce", "nccl"),
            ("f(NcclThing, gemm)", "nccl"),
            ("other", "others"),
        ] {
            assert_eq!(rules.classify(name).class, class);
        }
        assert_eq!(map.classes(), ["others", "gemm", "softmax", "reduce"]);
    }

    #[test]
    fn a_key_within_another_is_refused_but_a_duplicate_key_is_not() {
        let error = map(&[("a_gemm", "x"), ("gemm", "y")]).unwrap_err().to_string();
        assert!(error.contains("key 'gemm' is part of key 'a_gemm'"), "{error}");
        assert!(map(&[("", "x"), ("gemm", "y")]).is_err(), "an empty key is part of every other");
        let all = ClassMap::compile(map(&[("", "x")]).unwrap().rules()).unwrap();
        assert_eq!(all.classify("anything").class, "x");
        let duplicates = map(&[("Softmax", "a"), ("gelu", "b"), ("softmax", "C")]).unwrap();
        assert_eq!(duplicates.classes(), ["others", "c", "b"]);
        assert!(map(&[("a", "Others")]).is_err());
        assert!(map(&[("cast_transpose", "x"), ("transpose_kernel", "x")]).is_ok());
    }
}
