//! A total order of components, in which a new component can be inserted between any two.

use crate::components::ComponentId;

const NONE: ComponentId = ComponentId::NONE;

/// The upper bound of the labels of components. It is so low that the sum of two labels fits into 64 bits.
const TOP: u64 = 1 << 62;

/// A total order of components: a list of the components with increasing labels, so that two components are compared
/// by their labels. This is the simpler data structure of Bender, Cole, Demaine, Farach-Colton, Zito, "Two simplified
/// algorithms for maintaining order in a list" (2002). If no label is free between two neighbours in the list, the
/// smallest range of labels around them that is not too full is relabelled evenly.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    links: Vec<Link>,
    first: Option<ComponentId>,
    last: Option<ComponentId>,
    version: u64,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    label: u64,
    before: ComponentId,
    after: ComponentId,
}

impl Order {
    /// Returns an order that contains the components with the numbers below `n`, in ascending order of these numbers.
    pub(super) fn new(n: usize) -> Self {
        let gap = TOP / (n as u64 + 1);
        let near = |i: usize, ok: bool| if ok { ComponentId::from_index(i) } else { NONE };
        let link = |i: usize| Link {
            label: (i as u64 + 1) * gap,
            before: near(i.wrapping_sub(1), i > 0),
            after: near(i + 1, i + 1 < n),
        };
        Order {
            links: (0..n).map(link).collect(),
            first: (n > 0).then_some(ComponentId(0)),
            last: n.checked_sub(1).map(ComponentId::from_index),
            version: 0,
        }
    }

    /// Reserves memory for `n` further components.
    pub(super) fn reserve(&mut self, n: usize) {
        self.links.reserve(n);
    }

    /// Returns whether the component `a` comes before `b` in the order.
    pub(super) fn is_before(&self, a: ComponentId, b: ComponentId) -> bool {
        self.label(a) < self.label(b)
    }

    /// Returns the version of the order: a number that changes whenever labels may have changed.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Returns the label of a component. Labels increase along the order. The labels of all components stay the same
    /// while [`Order::version`] returns the same number.
    pub(super) fn label(&self, id: ComponentId) -> u64 {
        self.links[id.index()].label
    }

    /// Returns the first component of the order; `None` if the order has no components.
    pub(super) fn first(&self) -> Option<ComponentId> {
        self.first
    }

    /// Returns the component directly after `id` in the order; `None` if `id` is the last component.
    pub(super) fn after(&self, id: ComponentId) -> Option<ComponentId> {
        some(self.links[id.index()].after)
    }

    /// Inserts a new component directly before `at` in the order. Returns the new component, which gets the lowest
    /// unused number.
    pub(super) fn put_before(&mut self, at: ComponentId) -> ComponentId {
        let new = self.fresh();
        self.link(self.links[at.index()].before, new, at);
        new
    }

    /// Inserts a new component directly after `at` in the order. Returns the new component, which gets the lowest
    /// unused number.
    pub(super) fn put_after(&mut self, at: ComponentId) -> ComponentId {
        let new = self.fresh();
        self.link(at, new, self.links[at.index()].after);
        new
    }

    /// Inserts a new component at the end of the order. Returns the new component, which gets the lowest unused
    /// number.
    pub(super) fn put_last(&mut self) -> ComponentId {
        let new = self.fresh();
        self.link(self.last.unwrap_or(NONE), new, NONE);
        new
    }

    fn fresh(&mut self) -> ComponentId {
        self.links.push(Link { label: 0, before: NONE, after: NONE });
        ComponentId::from_index(self.links.len() - 1)
    }

    fn link(&mut self, before: ComponentId, new: ComponentId, after: ComponentId) {
        match some(before) {
            Some(it) => self.links[it.index()].after = new,
            None => self.first = Some(new),
        }
        match some(after) {
            Some(it) => self.links[it.index()].before = new,
            None => self.last = Some(new),
        }
        let bottom = some(before).map_or(0, |it| self.label(it));
        let top = some(after).map_or(TOP, |it| self.label(it));
        self.version += 1;
        self.links[new.index()] = Link { label: bottom + (top - bottom) / 2, before, after };
        if self.label(new) == bottom {
            self.spread(new);
        }
    }

    /// Changes the labels around a component, so that they are evenly distributed over a range around the component's
    /// label. The range is the smallest range of 2^i labels of which less than the fraction (2/3)^i is in use.
    fn spread(&mut self, at: ComponentId) {
        let label = self.label(at);
        let (mut low, mut high, mut n) = (at, at, 1_u64);
        let mut room = 1.0_f64;
        for bits in 1..=62 {
            room *= 4.0 / 3.0;
            let bottom = label >> bits << bits;
            let size = 1_u64 << bits;
            while let Some(it) = some(self.links[low.index()].before).filter(|&it| self.label(it) >= bottom) {
                (low, n) = (it, n + 1);
            }
            while let Some(it) =
                some(self.links[high.index()].after).filter(|&it| self.label(it) - bottom < size)
            {
                (high, n) = (it, n + 1);
            }
            if (n as f64) < room && size / (n + 1) > 1 {
                let gap = size / (n + 1);
                let mut it = low;
                for i in 1..=n {
                    self.links[it.index()].label = bottom + i * gap;
                    it = self.links[it.index()].after;
                }
                return;
            }
        }
    }
}

fn some(id: ComponentId) -> Option<ComponentId> {
    (id != NONE).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(order: &Order) -> Vec<u32> {
        std::iter::successors(order.first(), |&it| order.after(it)).map(|it| it.0).collect()
    }

    #[test]
    fn labels_rise_along_the_list() {
        let mut order = Order::new(3);
        let mut expected = vec![0, 1, 2];
        let mut state = 1_u64;
        for i in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Insert mostly beside the same component, where labels run out soonest.
            let at = if i % 10 < 8 { 1 } else { (state >> 33) as u32 % expected.len() as u32 };
            let position = expected.iter().position(|&it| it == at).unwrap_or(0);
            if state >> 63 == 0 {
                expected.insert(position, order.put_before(ComponentId(at)).0);
            } else {
                expected.insert(position + 1, order.put_after(ComponentId(at)).0);
            }
        }
        assert_eq!(listed(&order), expected);
        assert!(expected.windows(2).all(|it| order.is_before(ComponentId(it[0]), ComponentId(it[1]))));
    }

    #[test]
    fn components_can_be_added_to_an_empty_order() {
        let mut order = Order::new(0);
        let a = order.put_last();
        let b = order.put_last();
        assert_eq!(listed(&order), [a.0, b.0]);
        assert!(order.is_before(a, b));
    }
}
