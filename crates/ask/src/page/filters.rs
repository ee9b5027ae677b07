//! The filters of templates: numbers with their units, and names.

use super::bounds::at_most;
use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error as Fault, ErrorKind, State};
use nsq_sweep::classify::{FunctionName, simple_name};
use nsq_value::shell;
use nsq_value::table::{Column, Type, Unit, Value as Cell, humanize};

/// Marks an error about an infinite number, which a division by 0 gives.
pub(super) const NOT_FINITE: &str = "is not finite";

/// Shown for a null name.
const NO_NAME: &str = "(no name)";

/// Maximum number of characters of a name in a sentence. Tables have the full name.
const NAME_CHARS: usize = 100;

/// The filters of templates: name and description.
pub const FILTERS: [(&str, &str); 21] = [
    ("time", "Formats nanoseconds with a suitable unit: 54.82 ms."),
    ("pct", "Formats a percentage: 76.0 %."),
    ("points", "Formats a difference of percentages with its sign: +9.0 points."),
    ("count", "Formats an integer with commas, and other numbers with two decimals."),
    ("number", "Formats a number with two decimals; number(3) uses three."),
    ("flop", "Formats floating-point operations: 1.61 GFLOP."),
    ("flop_rate", "Formats a rate given in GFLOP/s: 8.05 TFLOP/s."),
    ("bytes", "Formats a size with a suitable unit: 25.48 GB."),
    ("bytes_per_s", "Formats a bandwidth with a suitable unit: 27.66 GB/s."),
    ("quoted", "Quotes a word of a command for the shell, if it must be."),
    ("seconds", "Formats nanoseconds as seconds with six decimals, without a unit."),
    ("width", "The share of a whole in percent, for the width of a bar: width(whole)."),
    ("log10", "The decimal logarithm of a number above 0, for an axis."),
    ("ticks", "Round times from 0 to a longest one, for an axis."),
    ("round_time", "Formats a round time without trailing zeros: 200 ms."),
    ("pieces", "Splits a name where a line may break."),
    ("shorten", "Cuts the middle out of a long name: shorten(150) keeps 150 characters."),
    ("list_of", "The items of a parameter of type list."),
    (
        "name",
        "Quotes the name of a range, kernel or file safely, and shortens a long name to 100 characters, or as many as you say: name(56).",
    ),
    ("whole", "Quotes a name safely, without shortening it."),
    (
        "kernel",
        "Quotes a kernel's short name, with what a PyTorch template computes in parentheses; kernel(names) uses the full name if another of these names has the same short name, kernel(none, 56) shortens a long one to 56 characters, and kernel(names, 56) to the part that differs.",
    ),
];

/// Adds the filters. `visible` makes text from a report safe to print.
pub(super) fn add(environment: &mut Environment<'static>, visible: fn(&str) -> String) {
    environment.add_filter("time", |value: Value| Ok::<_, Fault>(unit(number(&value)?, Unit::Ns)));
    environment.add_filter("pct", |value: Value| Ok::<_, Fault>(percent(number(&value)?)));
    environment
        .add_filter("points", |value: Value| Ok::<_, Fault>(format!("{:+.1} points", number(&value)?)));
    environment.add_filter("count", |value: Value| {
        let real = number(&value)?;
        let column = Column { unit: Some(Unit::Count), ..Column::untyped("") };
        Ok::<_, Fault>(match value.as_i64() {
            Some(int) => humanize(&Cell::Int(int), &column),
            None if real.fract() == 0.0 && real.abs() < 1e15 => {
                humanize(&Cell::Int(real as i64), &column)
            }
            None => format!("{real:.2}"),
        })
    });
    environment.add_filter("number", |value: Value, decimals: Option<usize>| {
        Ok::<_, Fault>(format!("{:.*}", at_most(decimals.unwrap_or(2))?, number(&value)?))
    });
    environment.add_filter("flop", |value: Value| Ok::<_, Fault>(scaled(number(&value)?, "FLOP")));
    environment
        .add_filter("flop_rate", |value: Value| Ok::<_, Fault>(scaled(1e9 * number(&value)?, "FLOP/s")));
    environment.add_filter("bytes", |value: Value| Ok::<_, Fault>(unit(number(&value)?, Unit::Bytes)));
    environment.add_filter("bytes_per_s", |value: Value| {
        Ok::<_, Fault>(unit(number(&value)?, Unit::BytesPerS))
    });
    environment.add_filter("list_of", |value: Value| {
        let items: Vec<String> = serde_json::from_str(value.as_str().unwrap_or_default())
            .map_err(|_| Fault::new(ErrorKind::InvalidOperation, format!("'{value}' is not a list")))?;
        Ok::<_, Fault>(Value::from(items.into_iter().map(Value::from).collect::<Vec<_>>()))
    });
    environment.add_filter("name", move |state: &State, value: Value, width: Option<usize>| {
        let quote = |name: &str| quoted(&shortened(&visible(name), width.unwrap_or(NAME_CHARS)));
        laid_out(state, if value.is_none() { NO_NAME.to_owned() } else { quote(&value.to_string()) })
    });
    environment.add_filter("whole", move |state: &State, value: Value| {
        let quote = |name: &str| quoted(&visible(name));
        laid_out(state, if value.is_none() { NO_NAME.to_owned() } else { quote(&value.to_string()) })
    });
    let kernel_name =
        move |state: &State, value: Value, among: Option<Vec<String>>, width: Option<usize>| {
            if value.is_none() {
                return laid_out(state, NO_NAME.to_owned());
            }
            let most = width.unwrap_or(NAME_CHARS);
            let short = |name: &str| shortened(&visible(&kernel(name)), most);
            let name = value.to_string();
            let own = short(&name);
            let others = among.iter().flatten().filter(|other| **other != name);
            let alike: Vec<String> =
                others.filter(|other| short(other) == own).map(|other| visible(other)).collect();
            laid_out(
                state,
                quoted(&match (alike.as_slice(), width) {
                    ([], _) => own,
                    (_, None) => visible(&name),
                    (alike, Some(width)) => where_it_differs(&visible(&name), alike, width),
                }),
            )
        };
    environment.add_filter("quoted", |word: String| shell::quoted(&word));
    environment.add_filter("kernel", kernel_name);
}

/// The value as a finite number.
pub(super) fn number(value: &Value) -> Result<f64, Fault> {
    let refuse = || {
        let what = if value.is_none() { "null".to_owned() } else { format!("'{value}'") };
        Fault::new(ErrorKind::InvalidOperation, format!("{what} is not a number"))
    };
    match value.kind() {
        ValueKind::Number => {
            let real = f64::try_from(value.clone()).map_err(|_| refuse())?;
            match real.is_finite() {
                true => Ok(real),
                false => Err(Fault::new(ErrorKind::InvalidOperation, format!("'{value}' {NOT_FINITE}"))),
            }
        }
        _ => Err(refuse()),
    }
}

/// Text that is already safe to print. Only HTML is still to be escaped.
pub(super) fn laid_out(state: &State, text: String) -> Value {
    match state.auto_escape() {
        AutoEscape::None => Value::from_safe_string(text),
        _ => Value::from(text),
    }
}

pub(super) fn unit(number: f64, unit: Unit) -> String {
    let column = Column { kind: Type::Duration, unit: Some(unit), ..Column::untyped("") };
    let value = if number.fract() == 0.0 { Cell::Int(number as i64) } else { Cell::Real(number) };
    humanize(&value, &column)
}

/// Formats a percentage. Only exact values show as 0 % or 100 %.
fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.05 {
        "< 0.1 %".to_owned()
    } else if (99.95..100.0).contains(&share) {
        "> 99.9 %".to_owned()
    } else {
        format!("{share:.1} %")
    }
}

fn scaled(number: f64, unit: &str) -> String {
    const STEPS: [(f64, &str); 5] = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let step = STEPS.iter().find(|(factor, _)| number.abs() >= factor * 0.999_995);
    match step {
        Some((factor, prefix)) => format!("{:.2} {prefix}{unit}", number / factor),
        None => format!("{number:.0} {unit}"),
    }
}

/// Puts a name in backquotes, and replaces backquotes inside it.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

/// Shortens a long name in its middle.
pub(super) fn shortened(name: &str, width: usize) -> String {
    let count = name.chars().count();
    if count <= width {
        return name.to_owned();
    }
    let tail = width / 3;
    let head: String = name.chars().take(width.saturating_sub(tail + 1)).collect();
    let tail: String = name.chars().skip(count - tail).collect();
    format!("{head}…{tail}")
}

/// Shortens a long name to its function and the part from which it differs from other names.
fn where_it_differs(name: &str, others: &[String], width: usize) -> String {
    let own = FunctionName::of(name).own;
    let name = name.find(own).map_or(name, |at| &name[at..]);
    let chars: Vec<char> = name.chars().collect();
    let common = |other: &String| {
        let other = other.find(own).map_or(other.as_str(), |at| &other[at..]);
        chars.iter().zip(other.chars()).take_while(|(a, b)| **a == *b).count()
    };
    let (head, common) = (width / 3, others.iter().map(common).max().unwrap_or(0));
    // Some of what is before says what differs.
    let from = common.saturating_sub(width / 6);
    if chars.len() <= width || from <= head {
        return shortened_at_the_end(&chars, width);
    }
    let head: String = chars[..head].iter().collect();
    format!("{head}…{}", shortened_at_the_end(&chars[from..], width - head.chars().count() - 1))
}

fn shortened_at_the_end(chars: &[char], width: usize) -> String {
    match chars.len() <= width {
        true => chars.iter().collect(),
        false => chars[..width.saturating_sub(1)].iter().chain(&['…']).collect(),
    }
}

/// `void at::native::elementwise_kernel<…MulFunctor<float>…>(…)` → `elementwise_kernel (MulFunctor)`.
///
/// The short name of a kernel: its function, and up to two words of its template arguments that tell
/// what it computes.
fn kernel(name: &str) -> String {
    let own = FunctionName::of(name).own;
    // The functor says all.
    if own.contains("_parallel_launch_") {
        return simple_name(name).to_owned();
    }
    let end = name.find(own).map_or(name.len(), |at| at + own.len());
    let says = |word: &&str| {
        const ENDS: [&str; 6] =
            ["Functor", "_kernel_cuda", "_kernel_impl", "Ops", "_functor", "_cuda_out"];
        let is_wrapper = word.starts_with("gpu_kernel_impl");
        !is_wrapper && ENDS.iter().any(|end| word.contains(end)) || word.starts_with("cutlass_")
    };
    let mut words: Vec<&str> = Vec::new();
    for word in name[end..].split(|c: char| !c.is_alphanumeric() && c != '_').filter(says) {
        if !words.contains(&word) && words.len() < 2 {
            words.push(word);
        }
    }
    // The functions of CUTLASS say nothing without the type that they run.
    if words.is_empty() && matches!(own, "Kernel" | "Kernel2" | "device_kernel") {
        let is_type = |word: &&str| word.len() > 3 && word.starts_with(|c: char| c.is_ascii_uppercase());
        words.extend(name[end..].split(|c: char| !c.is_alphanumeric() && c != '_').find(is_type));
    }
    match words.as_slice() {
        [] => own.to_owned(),
        words => format!("{own} ({})", words.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_named_by_what_they_compute() {
        for (full, short) in [
            ("ampere_sgemm_128x32_tn", "ampere_sgemm_128x32_tn"),
            (
                "void at::native::vectorized_elementwise_kernel<(int)4, at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float>>>(int, T2)",
                "vectorized_elementwise_kernel (BinaryFunctor MulFunctor)",
            ),
            (
                "void at::native::elementwise_kernel<(int)128, void at::native::gpu_kernel_impl_nocast<at::native::<unnamed>::where_kernel_impl(at::TensorIterator &)::[lambda() (instance 1)]>(int)>",
                "elementwise_kernel (where_kernel_impl)",
            ),
            (
                "void at::native::<unnamed>::CatArrayBatchedCopy<at::native::<unnamed>::OpaqueType<4>>(T1 *)",
                "CatArrayBatchedCopy",
            ),
            (
                "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128>(T1::Params)",
                "Kernel2 (cutlass_80_tensorop_s1688gemm_128x128)",
            ),
            (
                "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::Mainloop<(int)2>>>>(T1::Params)",
                "device_kernel (FlashAttnFwdSm90)",
            ),
            (
                "void Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<md::ForceFunctor<4>, int> >(int)",
                "ForceFunctor",
            ),
            ("heat(float *)", "heat"),
        ] {
            assert_eq!(kernel(full), short);
        }
    }

    #[test]
    fn names_that_are_alike_are_cut_where_they_differ() {
        let name = |size: u32| {
            format!(
                "void at::native::vectorized_elementwise_kernel<at::native::CUDAFunctor_add<float>, std::array<char *, \
                 (unsigned long)3>, (int){size}>(int, T2, T3)"
            )
        };
        let [four, eight] = [name(4), name(8)];
        let short = where_it_differs(&four, std::slice::from_ref(&eight), 56);
        assert_eq!(short, "vectorized_element…3>, (int)4>(int, T2, T3)");
        assert_ne!(short, where_it_differs(&eight, &[four], 56));
        assert_eq!(where_it_differs("f(int)", &["f(float)".to_owned()], 56), "f(int)");
        assert!(where_it_differs(&"ab".repeat(40), &["ab".repeat(41)], 20).chars().count() <= 20);
    }
}
