//! Bars of a row of values, as high as there is room.

use crate::dash::sign::Glyphs;

const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const ASCII: [&str; 9] = [" ", ".", ".", ":", ":", "+", "+", "#", "#"];

/// The values as bars of so many columns and lines, the highest line first. None is a gap; what is above nothing always
/// shows.
pub(super) fn bars(values: &[Option<f64>], width: usize, height: usize, letters: Glyphs) -> Vec<String> {
    let columns = spread(values, width);
    let most = columns.iter().flatten().copied().fold(0.0, f64::max);
    let set = if letters == Glyphs::Ascii { ASCII } else { EIGHTHS };
    let levels = height * 8;
    let level = |value: &Option<f64>| value.map_or(0, |value| eighths(value, most, levels));
    let line = |row: usize| {
        let below = (height - 1 - row) * 8;
        let letter = |value: &Option<f64>| set.get(level(value).saturating_sub(below).min(8)).copied().unwrap_or(" ");
        columns.iter().map(letter).collect::<String>()
    };
    (0..height).map(line).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "lines of a terminal"
)]
fn eighths(value: f64, most: f64, levels: usize) -> usize {
    if value <= 0.0 || most <= 0.0 {
        return 0;
    }
    ((value / most * levels as f64).round() as usize).clamp(1, levels)
}

/// One value a column: of several that share one the highest, so that no peak is lost.
fn spread(values: &[Option<f64>], width: usize) -> Vec<Option<f64>> {
    let count = values.len();
    if count == 0 || width == 0 {
        return vec![None; width];
    }
    let of = |column: usize| {
        let from = column * count / width;
        let to = ((column + 1) * count / width).max(from + 1);
        values.get(from..to.min(count)).into_iter().flatten().flatten().copied().reduce(f64::max)
    };
    (0..width).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_each_peak_and_leave_gaps() {
        let values = [Some(0.0), Some(1.0), None, Some(8.0)];
        assert_eq!(bars(&values, 4, 1, Glyphs::Unicode), [" ▁ █"]);
        assert_eq!(bars(&values, 2, 1, Glyphs::Unicode), ["▁█"], "the highest of two");
        assert_eq!(bars(&values, 8, 1, Glyphs::Ascii), ["  ..  ##"]);
        assert_eq!(bars(&values, 4, 2, Glyphs::Unicode), ["   █", " ▂ █"]);
        assert_eq!(bars(&[], 3, 1, Glyphs::Unicode), ["   "]);
        assert_eq!(bars(&[Some(0.0); 3], 3, 1, Glyphs::Unicode), ["   "]);
    }
}
