//! Columns of a list: which of them there is room for, and how wide each is.

use std::collections::BTreeSet;

use ratatui::layout::Rect;

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wish {
    /// Its least width.
    pub(super) width: u16,
    /// The lower, the sooner it is shown; 0 always is.
    pub(super) rank: u8,
    /// The width that it would like to have, and how soon it gets it; what is left in the end is shared as well.
    pub(super) grows: Option<(u16, u8)>,
}

/// The places of columns with one blank between them; those for which there is no room have no width.
pub(super) fn places(wishes: &[Wish], row: Rect) -> Vec<Rect> {
    let mut widths: Vec<u16> = wishes.iter().map(|wish| if wish.rank == 0 { wish.width } else { 0 }).collect();
    let ranks = wishes.iter().flat_map(|wish| [wish.rank, wish.grows.map_or(0, |(_, rank)| rank)]);
    let ranks: BTreeSet<u8> = ranks.filter(|rank| *rank > 0).collect();
    let used = |widths: &[u16]| widths.iter().filter(|width| **width > 0).map(|width| width + 1).sum::<u16>();
    for rank in ranks {
        for (at, wish) in wishes.iter().enumerate() {
            let room = (row.width + 1).saturating_sub(used(&widths));
            let Some(width) = widths.get_mut(at) else { continue };
            if *width == 0 && wish.rank == rank && wish.width < room {
                *width = wish.width;
            } else if let Some((wanted, _)) = wish.grows.filter(|(_, at)| *at == rank && *width > 0) {
                *width = (*width).max(wanted.min(*width + room));
            }
        }
    }
    let spare = (row.width + 1).saturating_sub(used(&widths));
    let grown = |(wish, width): &(&Wish, &u16)| wish.grows.is_some() && **width > 0;
    let growing = u16::try_from(wishes.iter().zip(&widths).filter(grown).count()).unwrap_or(1);
    let share = spare.checked_div(growing).unwrap_or(0);
    let mut x = row.x;
    let place = |(wish, width): (&Wish, &u16)| {
        let width = if grown(&(wish, width)) { width + share } else { *width };
        let width = width.min(row.right().saturating_sub(x));
        let place = Rect { x, width, ..row };
        if width > 0 {
            x += width + 1;
        }
        place
    };
    wishes.iter().zip(&widths).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_most_is_shown_and_the_name_takes_the_rest() {
        let wish = |width, rank| Wish { width, rank, grows: None };
        let name = Wish { width: 10, rank: 0, grows: Some((16, 2)) };
        let wishes = [wish(4, 0), name, wish(6, 3), wish(5, 1)];
        let widths = |width| -> Vec<u16> {
            places(&wishes, Rect::new(3, 0, width, 1)).iter().map(|place| place.width).collect()
        };
        assert_eq!(widths(15), [4, 10, 0, 0]);
        assert_eq!(widths(22), [4, 11, 0, 5]);
        assert_eq!(widths(29), [4, 18, 0, 5], "the name is whole before the next column comes");
        assert_eq!(widths(40), [4, 22, 6, 5]);
        assert_eq!(widths(8), [4, 3, 0, 0], "never beyond the edge");
        assert_eq!(places(&wishes, Rect::new(3, 0, 40, 1))[1].x, 8);
    }
}
