//! Evaluate a formula: a few instructions on a stack of fixed size, no recursion, no allocation.

use std::cmp::Ordering;

/// Numbers that an evaluation may hold at once.
pub(super) const STACK: usize = 64;
/// Different quantities that a formula may use.
pub(super) const MOST_FACTS: usize = 32;

/// A quantity that is found once per row, and only if it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// The target; of classes, the index of the class.
    Observed(usize),
    /// The predictive mean.
    Mean(usize),
    /// The predictive standard deviation.
    Sd(usize),
    /// The predictive median.
    Median(usize),
    /// Log density of all targets.
    LogDensity,
    /// Index of the most probable class.
    MostProbable,
    /// The action: a number, or the index of a symbol.
    Action,
    /// Whether the target is censored: 1 or 0.
    Censored,
    /// A function of all rows.
    Aggregate(usize),
}

/// Where a formula finds its quantities.
pub(crate) trait Facts {
    /// A quantity; NaN if it does not exist.
    fn fact(&self, fact: Fact) -> f64;
    /// A quantile of a target; there is none without a prediction.
    fn quantile(&self, _target: usize, _probability: f64) -> f64 {
        f64::NAN
    }
    /// The distribution function of a target, likewise.
    fn cdf(&self, _target: usize, _value: f64) -> f64 {
        f64::NAN
    }
    /// The probability of a class, likewise; 0 if there is none of that index.
    fn probability(&self, _class: usize) -> f64 {
        f64::NAN
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum One {
    Negate,
    Not,
    Abs,
    Sqrt,
    Exp,
    Log,
    Floor,
    Ceil,
    Round,
    Sign,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Two {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Minimum,
    Maximum,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    Constant(f64),
    Load(usize),
    One(One),
    Two(Two),
    Quantile(usize),
    Cdf(usize),
    Probability,
    /// The index of a class becomes the number that is its label.
    LabelNumber,
    /// Goes on with what follows, or so many instructions further if the condition is 0, or as many
    /// as the second says if it is not a number.
    If {
        otherwise: usize,
        end: usize,
    },
    Jump(usize),
}

/// A formula, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) facts: Vec<Fact>,
    /// The number that the label of every symbol is; NaN if it is none.
    pub(super) label_numbers: Vec<f64>,
}

impl Program {
    pub(super) fn run(&self, facts: &dyn Facts) -> f64 {
        let mut stack = [0.0_f64; STACK];
        let mut height = 0;
        let mut cache = [0.0_f64; MOST_FACTS];
        let mut known = 0_u32;
        let mut at = 0;
        // The compiler has counted what every instruction takes and leaves.
        while let Some(op) = self.ops.get(at) {
            at += 1;
            match *op {
                Op::Constant(value) => {
                    stack[height] = value;
                    height += 1;
                }
                Op::Load(slot) => {
                    if known & (1 << slot) == 0 {
                        cache[slot] = facts.fact(self.facts[slot]);
                        known |= 1 << slot;
                    }
                    stack[height] = cache[slot];
                    height += 1;
                }
                Op::One(one) => stack[height - 1] = one.of(stack[height - 1]),
                Op::Two(two) => {
                    height -= 1;
                    stack[height - 1] = two.of(stack[height - 1], stack[height]);
                }
                Op::Quantile(target) => {
                    stack[height - 1] = facts.quantile(target, stack[height - 1]);
                }
                Op::Cdf(target) => stack[height - 1] = facts.cdf(target, stack[height - 1]),
                Op::Probability => {
                    stack[height - 1] = facts.probability(stack[height - 1] as usize);
                }
                Op::LabelNumber => {
                    let label = self.label_numbers.get(stack[height - 1] as usize);
                    stack[height - 1] = label.copied().unwrap_or(f64::NAN);
                }
                Op::If { otherwise, end } => {
                    let condition = stack[height - 1];
                    if condition.is_nan() {
                        // Stays, as the result.
                        at += end;
                    } else {
                        height -= 1;
                        at += if condition.abs() > 0.0 { 0 } else { otherwise };
                    }
                }
                Op::Jump(by) => at += by,
            }
        }
        stack[0]
    }
}

impl One {
    fn of(self, x: f64) -> f64 {
        match self {
            One::Negate => -x,
            One::Not => truth(x.abs() <= 0.0, x, x),
            One::Abs => x.abs(),
            One::Sqrt => x.sqrt(),
            One::Exp => x.exp(),
            One::Log => x.ln(),
            One::Floor => x.floor(),
            One::Ceil => x.ceil(),
            One::Round => x.round(),
            One::Sign if x.abs() > 0.0 => x.signum(),
            // 0 for 0, and what is not a number stays.
            One::Sign => x,
        }
    }
}

impl Two {
    fn of(self, a: f64, b: f64) -> f64 {
        let is = |x: f64| x.abs() > 0.0;
        match self {
            Two::Add => a + b,
            Two::Subtract => a - b,
            Two::Multiply => a * b,
            Two::Divide => a / b,
            Two::Power => a.powf(b),
            // `f64::min` would lose what is not a number.
            Two::Minimum => truth(false, a, b) + if a < b { a } else { b },
            Two::Maximum => truth(false, a, b) + if a > b { a } else { b },
            Two::Less => truth(a < b, a, b),
            Two::LessEqual => truth(a <= b, a, b),
            Two::Greater => truth(a > b, a, b),
            Two::GreaterEqual => truth(a >= b, a, b),
            Two::Equal => truth(a.partial_cmp(&b) == Some(Ordering::Equal), a, b),
            Two::NotEqual => truth(a.partial_cmp(&b) != Some(Ordering::Equal), a, b),
            Two::And => truth(is(a) && is(b), a, b),
            Two::Or => truth(is(a) || is(b), a, b),
        }
    }
}

/// 1 or 0; NaN if either side is not a number, so that nothing undefined decides a question.
fn truth(holds: bool, a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { f64::from(u8::from(holds)) }
}
