//! The seed's way to classify: the first key that the name contains, whatever its case.

use crate::error::{Error, Result};

/// The class of communication, which no key can take a kernel from.
pub(super) const NCCL: &str = "nccl";
/// The class of what no key is in.
pub(super) const OTHERS: &str = "others";

/// Part of a kernel's name → class, in order, all in small letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeedMap {
    rules: Vec<(String, String)>,
}

impl SeedMap {
    /// Takes a map with the seed's rules: of keys that differ by case alone the first has the place
    /// and the last the class; no class is called `others`, and no key is part of another.
    pub fn strict(map: &[(String, String)]) -> Result<Self> {
        let mut rules: Vec<(String, String)> = Vec::new();
        for (key, class) in map {
            let (key, class) = (key.to_lowercase(), class.to_lowercase());
            if class == OTHERS {
                return Err(Error::usage(
                    format!("the key `{key}` has the class `{OTHERS}`, which is what no key is in"),
                    "leave the key out, or name another class",
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
                        "the key `{inner}` is part of the key `{outer}`, which the seed's rules forbid"
                    ),
                    "leave one of them out, or ask without --strict and --seed-compat: then the first key wins",
                ));
            }
        }
        Ok(Self { rules })
    }

    /// The class of a kernel.
    pub fn class_of(&self, kernel: &str) -> &str {
        let name = kernel.to_lowercase();
        if name.contains(NCCL) {
            return NCCL;
        }
        self.rules.iter().find(|(key, _)| name.contains(key.as_str())).map_or(OTHERS, |(_, class)| class)
    }

    /// Every class but that of communication, each once: `others`, then those of the keys in order.
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

    fn map(rules: &[(&str, &str)]) -> Result<SeedMap> {
        let rules: Vec<(String, String)> =
            rules.iter().map(|(key, class)| ((*key).to_owned(), (*class).to_owned())).collect();
        SeedMap::strict(&rules)
    }

    #[test]
    fn nccl_comes_first_then_the_first_key() {
        let map = map(&[("GEMM", "GEMM"), ("softmax", "Softmax"), ("reduce", "reduce")]).unwrap();
        assert_eq!(map.class_of("My_Gemm_softmax"), "gemm");
        assert_eq!(map.class_of("ncclKernel_Reduce"), "nccl");
        assert_eq!(map.class_of("f(NcclThing, gemm)"), "nccl");
        assert_eq!(map.class_of("other"), "others");
        assert_eq!(map.classes(), ["others", "gemm", "softmax", "reduce"]);
    }

    #[test]
    fn keys_within_keys_are_refused_and_twins_are_not() {
        let told = map(&[("a_gemm", "x"), ("gemm", "y")]).unwrap_err().to_string();
        assert!(told.contains("`gemm` is part of the key `a_gemm`"), "{told}");
        assert!(map(&[("", "x"), ("gemm", "y")]).is_err(), "an empty key is part of every other");
        assert_eq!(map(&[("", "x")]).unwrap().class_of("anything"), "x");
        let twins = map(&[("Softmax", "a"), ("gelu", "b"), ("softmax", "C")]).unwrap();
        assert_eq!(twins.classes(), ["others", "c", "b"]);
        assert!(map(&[("a", "Others")]).is_err());
        assert!(map(&[("cast_transpose", "x"), ("transpose_kernel", "x")]).is_ok());
    }
}
