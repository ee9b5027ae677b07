//! Finds the function's own name within a demangled or mangled kernel name.

/// A function name without return type, template arguments and parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionName<'a> {
    /// Enclosing namespaces and classes, outermost first. Anonymous ones are left out.
    pub scopes: Vec<&'a str>,
    /// The name of the function itself.
    pub own: &'a str,
}

impl<'a> FunctionName<'a> {
    /// Parses a kernel's name. A name that cannot be parsed is taken whole as the function's own name.
    pub fn of(name: &'a str) -> Self {
        mangled(name).unwrap_or_else(|| demangled(name))
    }

    /// Whether the function is in a namespace or class of this name, at any depth.
    pub fn is_in(&self, scope: &str) -> bool {
        self.scopes.contains(&scope)
    }
}

/// Parses an Itanium-mangled name such as `_ZN5outer5innerI…`: identifiers, each after its length.
fn mangled(name: &str) -> Option<FunctionName<'_>> {
    let symbol = name.strip_prefix("_Z")?;
    let (mut rest, is_nested) = match symbol.strip_prefix('N') {
        Some(rest) => (rest.trim_start_matches(['r', 'V', 'K']), true),
        None => (symbol.strip_prefix('L').unwrap_or(symbol), false),
    };
    let mut parts = Vec::new();
    loop {
        rest = rest.strip_prefix('L').unwrap_or(rest);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Ok(length) = rest[..digits].parse::<usize>() else { break };
        let part = rest[digits..].get(..length)?;
        parts.push(part);
        rest = &rest[digits + length..];
        if !is_nested {
            break;
        }
        if rest.starts_with('I') {
            // Template arguments of the function or of an enclosing class. Finding their end would need
            // a full demangler, so a kernel in a class template gets the name of the class.
            break;
        }
    }
    let own = parts.pop()?;
    parts.retain(|part| !part.starts_with("_GLOBAL__N_"));
    Some(FunctionName { scopes: parts, own })
}

fn demangled(name: &str) -> FunctionName<'_> {
    let bytes = name.as_bytes();
    let mut scopes: Vec<&str> = Vec::new();
    let mut current: Option<(usize, usize)> = None;
    let mut open = OpenBrackets::default();
    // `is_whole`: the current identifier has ended. `is_other_word`: a blank or similar follows it, so
    // the next identifier starts a new word and not another scope.
    let (mut is_whole, mut is_other_word) = (false, false);
    for (at, &byte) in bytes.iter().enumerate() {
        if let Some(innermost) = open.innermost() {
            match byte {
                b'<' | b'(' | b'[' | b'{'
                    if innermost != b'(' || byte != b'<' || opens_template(bytes, at) =>
                {
                    open.push(byte)
                }
                b'>' if innermost == b'<' && bytes[at - 1] != b'-' => open.close(b'<'),
                b')' => open.close(b'('),
                b']' => open.close(b'['),
                b'}' => open.close(b'{'),
                _ => {}
            }
            continue;
        }
        match byte {
            b'(' if current.is_some_and(|(start, end)| &name[start..end] != "decltype")
                && !name[at..].starts_with("(anonymous") =>
            {
                break;
            }
            b'<' | b'(' | b'[' | b'{' => {
                open.push(byte);
                is_whole = true;
            }
            b':' => is_whole = true,
            byte if byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b'$' | b'~' | b'@' | b'.' | b'!' | b'#')
                || byte >= 0x80 =>
            {
                match &mut current {
                    Some((_, end)) if !is_whole => *end = at + 1,
                    _ => {
                        match current {
                            _ if is_other_word => scopes.clear(),
                            Some((start, end)) => scopes.push(&name[start..end]),
                            None => {}
                        }
                        current = Some((at, at + 1));
                    }
                }
                (is_whole, is_other_word) = (false, false);
            }
            _ => (is_whole, is_other_word) = (true, current.is_some()),
        }
    }
    match current {
        Some((start, end)) => FunctionName { scopes, own: &name[start..end] },
        None => FunctionName { scopes, own: name },
    }
}

/// Open brackets, outermost first.
#[derive(Default)]
struct OpenBrackets {
    brackets: Vec<u8>,
    /// Number of open `(`, `[` and `{`. Where the count is 0, `close` need not search, so hostile names
    /// stay fast.
    counts: [usize; 3],
}

impl OpenBrackets {
    fn innermost(&self) -> Option<u8> {
        self.brackets.last().copied()
    }

    fn count(&mut self, bracket: u8) -> Option<&mut usize> {
        let kind = [b'(', b'[', b'{'].iter().position(|&kind| kind == bracket)?;
        self.counts.get_mut(kind)
    }

    fn push(&mut self, bracket: u8) {
        self.brackets.push(bracket);
        if let Some(count) = self.count(bracket) {
            *count += 1;
        }
    }

    /// Closes the innermost open bracket of this kind and all brackets within it, if there is one.
    fn close(&mut self, bracket: u8) {
        if self.count(bracket).is_some_and(|count| *count == 0) {
            return;
        }
        while let Some(inner) = self.brackets.pop() {
            if let Some(count) = self.count(inner) {
                *count -= 1;
            }
            if inner == bracket {
                return;
            }
        }
    }
}

/// `<` directly after an identifier opens template arguments; elsewhere it is a comparison.
fn opens_template(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(name: &str) -> String {
        let function = FunctionName::of(name);
        function.scopes.iter().chain([&function.own]).copied().collect::<Vec<_>>().join("|")
    }

    #[test]
    fn hostile_names_are_parsed_in_linear_time() {
        // A search through all open brackets for each closing bracket would take minutes.
        let name = "(".repeat(500_000) + &"]".repeat(500_000);
        assert_eq!(FunctionName::of(&name).own, name);
        let name = "f".to_owned() + &"[(".repeat(250_000) + &"]".repeat(250_000) + "::g";
        assert_eq!(parts(&name), "f|g");
    }

    #[test]
    fn the_function_and_its_scopes_are_found() {
        let cases = [
            ("gemm", "gemm"),
            ("saxpy(double *, double *, int)", "saxpy"),
            (
                "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float>>(T3)",
                "at|native|reduce_kernel",
            ),
            (
                "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>(float*)",
                "at|native|CatArrayBatchedCopy",
            ),
            ("void at::native::<unnamed>::layer_norm<float>(int, T2)", "at|native|layer_norm"),
            (
                "<unnamed>::nvfuser_pointwise_f0(<unnamed>::Tensor<float, (int)2>)",
                "nvfuser_pointwise_f0",
            ),
            ("void (anonymous namespace)::softmax_warp<float, 1>(float*)", "softmax_warp"),
            (
                "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, true>(Params<int>)",
                "internal|gemvx|kernel",
            ),
            ("unsigned int my::f<(5 > 3), (a < 4)>(int)", "my|f"),
            ("std::vector<int> *make<ncclFoo_x>(ncclComm*)", "make"),
            ("void Outer<int>::inner<float>::run(int)", "Outer|inner|run"),
            ("void cub::K<decltype(nullptr)>(long) [clone .x]", "cub|K"),
            ("void kernel [with T = ncclDevKernel_AllReduce]", "kernel"),
            ("_Z4gemmIfEvPKT_S2_PS0_i", "gemm"),
            ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bLi256EEEvPT0_", "aiter|add_rmsnorm_quant_kernel"),
            ("_ZN2at6native12_GLOBAL__N_14fillIfEEvPT_", "at|native|fill"),
            ("_Zbroken", "_Zbroken"),
            ("_ZN99short", "_ZN99short"),
            ("", ""),
            ("(((", "((("),
            ("<<<>>>", "<<<>>>"),
            ("größe<int>(x)", "größe"),
        ];
        for (name, expected) in cases {
            assert_eq!(parts(name), expected, "{name}");
        }
    }
}
