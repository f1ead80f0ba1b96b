//! An index of the rows of an exception table that cover a range of instructions. It is used for each block, so it
//! must not scan all rows.

use super::Range;

/// The rows of an exception table, sorted by the start of their ranges, with a search tree over the ends of their
/// ranges.
#[derive(Default)]
pub(super) struct Rows {
    /// Pairs of a row's index in the exception table and the ordinal of the first instruction that the row covers,
    /// sorted by that ordinal.
    order: Vec<(u32, u32)>,
    /// The search tree. Node `i` holds the largest end among the rows below it; its children are `2i` and `2i + 1`,
    /// and the second half of the nodes are the rows themselves. The end of an empty or removed row is 0.
    ends: Vec<u32>,
}

impl Rows {
    pub(super) fn of(ranges: &[Range]) -> Self {
        if ranges.is_empty() {
            return Rows::default();
        }
        let mut order: Vec<(u32, u32)> = (0..).zip(ranges.iter().map(|it| it.start)).collect();
        order.sort_unstable_by_key(|it| (it.1, it.0));
        let size = order.len().next_power_of_two();
        let mut ends = vec![0; 2 * size];
        for (i, &(row, start)) in order.iter().enumerate() {
            let end = ranges[row as usize].end;
            ends[size + i] = if start < end { end } else { 0 };
        }
        for node in (1..size).rev() {
            ends[node] = ends[2 * node].max(ends[2 * node + 1]);
        }
        Rows { order, ends }
    }

    /// Searches the sorted order from position `from` on, and returns the position of the first row that covers an
    /// instruction in `first..end`; `None` if there is no such row.
    pub(super) fn next(&self, from: usize, first: u32, end: u32) -> Option<usize> {
        let size = self.ends.len() / 2;
        if from >= size {
            return None;
        }
        let mut node = size + from;
        while self.ends[node] <= first {
            // Go to the next subtree to the right; there is none after the last one.
            while node % 2 == 1 {
                node /= 2;
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < size {
            node *= 2;
            if self.ends[node] <= first {
                node += 1;
            }
        }
        let place = node - size;
        self.order.get(place).is_some_and(|it| it.1 < end).then_some(place)
    }

    /// Returns the index in the exception table of the row at position `place` of the sorted order.
    pub(super) fn row(&self, place: usize) -> usize {
        self.order[place].0 as usize
    }

    /// Removes the row at position `place` of the sorted order, so that [`Rows::next`] does not find it again.
    pub(super) fn remove(&mut self, place: usize) {
        let mut node = self.ends.len() / 2 + place;
        self.ends[node] = 0;
        while node > 1 {
            node /= 2;
            self.ends[node] = self.ends[2 * node].max(self.ends[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_found_are_those_that_cover() {
        let range = |start, end| Range { start, end, handler: 0, catch_type: None };
        let ranges = [range(4, 9), range(0, 2), range(7, 7), range(0, 20), range(8, 9), range(2, 1)];
        for first in 0..21 {
            for end in first + 1..22 {
                let covers = |it: &Range| it.start < end && first < it.end && it.start < it.end;
                let mut expected: Vec<usize> = (0..ranges.len()).filter(|&it| covers(&ranges[it])).collect();
                let mut rows = Rows::of(&ranges);
                let (mut found, mut from) = (Vec::new(), 0);
                while let Some(place) = rows.next(from, first, end) {
                    found.push(rows.row(place));
                    rows.remove(place);
                    from = place + 1;
                }
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{first}..{end}");
                assert_eq!(rows.next(0, first, end), None);
            }
        }
    }
}
