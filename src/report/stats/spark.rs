//! Small graphs in a line: a mark for each part of a span.

/// What the marks are made of, the lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// Blocks of eight heights.
    Blocks,
    /// For terminals that have no others.
    Ascii,
}

impl Marks {
    const fn all(self) -> [char; 8] {
        match self {
            Self::Blocks => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            Self::Ascii => ['_', '.', ':', '-', '=', '+', '*', '#'],
        }
    }
}

/// The values from 0 up to the given height; what is higher counts as that. A part of which nothing is known is blank.
pub(super) fn spark(values: &[Option<f64>], height: f64, marks: Marks) -> String {
    let all = marks.all();
    let mark = |value: f64| {
        let share = if height > 0.0 { (value / height).clamp(0.0, 1.0) } else { 0.0 };
        // Only nothing at all lies on the ground.
        let at = (share * 7.0).ceil() as usize;
        all.get(at).copied().unwrap_or(' ')
    };
    values.iter().map(|value| value.filter(|value| !value.is_nan()).map_or(' ', mark)).collect()
}

/// The same, up to the largest of them.
pub(super) fn spark_to_largest(values: &[Option<f64>], marks: Marks) -> String {
    let largest = values.iter().flatten().copied().fold(0.0, f64::max);
    spark(values, largest, marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_as_high_as_its_value() {
        let values = [Some(0.0), Some(0.001), Some(0.5), Some(1.0), None, Some(9.0), Some(f64::NAN)];
        assert_eq!(spark(&values, 1.0, Marks::Blocks), "▁▂▅█ █ ");
        assert_eq!(spark(&values, 1.0, Marks::Ascii), "_.=# # ");
        assert_eq!(spark_to_largest(&[Some(2.0), Some(4.0), None], Marks::Blocks), "▅█ ");
        assert_eq!(spark_to_largest(&[Some(0.0), None], Marks::Blocks), "▁ ", "nothing is no peak");
    }
}
