//! Strongly connected components of a graph that is given by a successor function: Tarjan, "Depth-first search and
//! linear graph algorithms" (1972), without recursion.

const NONE: u32 = u32::MAX;

/// The number of a strongly connected component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ComponentId(pub(crate) u32);

impl ComponentId {
    /// The value that stands for "no component", for example as the component of a node that no search has reached.
    pub(crate) const NONE: ComponentId = ComponentId(NONE);

    /// Returns the component's number, for use as an index.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the component with the number `index`, which must fit into 32 bits.
    #[inline]
    pub(crate) fn from_index(index: usize) -> Self {
        debug_assert!(u32::try_from(index).is_ok(), "the component number {index} does not fit into 32 bits");
        ComponentId(index as u32)
    }
}

/// Computes the strongly connected components of a graph with `n` nodes: returns the component of each node and the
/// number of components. A component has a larger number than the components that it reaches.
///
/// `successor` gets a node and a cursor, which is 0 in the first call for this node. It advances the cursor and
/// returns the next successor of the node, or `None` if there are no more. Searches begin at the `roots`, in the
/// given order; a node that no root reaches gets [`ComponentId::NONE`]. `step` is called before each call of
/// `successor`; if it returns an error, the computation stops with this error.
pub(crate) fn components<E>(
    n: usize,
    roots: impl IntoIterator<Item = u32>,
    mut successor: impl FnMut(u32, &mut u32) -> Option<u32>,
    mut step: impl FnMut() -> Result<(), E>,
) -> Result<(Vec<ComponentId>, usize), E> {
    let mut index = vec![NONE; n];
    let mut low = vec![0; n];
    let mut component = vec![ComponentId::NONE; n];
    let (mut stack, mut calls): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
    let (mut next, mut count) = (0, 0);
    for root in roots {
        if index[root as usize] != NONE {
            continue;
        }
        calls.push((root, 0));
        while let Some(&mut (node, ref mut cursor)) = calls.last_mut() {
            step()?;
            let v = node as usize;
            if index[v] == NONE {
                (index[v], low[v]) = (next, next);
                next += 1;
                stack.push(node);
            }
            if let Some(to) = successor(node, cursor) {
                let w = to as usize;
                if index[w] == NONE {
                    calls.push((to, 0));
                } else if component[w] == ComponentId::NONE {
                    low[v] = low[v].min(index[w]);
                }
                continue;
            }
            if low[v] == index[v] {
                while let Some(it) = stack.pop() {
                    component[it as usize] = ComponentId::from_index(count);
                    if it == node {
                        break;
                    }
                }
                count += 1;
            }
            calls.pop();
            if let Some(&(parent, _)) = calls.last() {
                low[parent as usize] = low[parent as usize].min(low[v]);
            }
        }
    }
    Ok((component, count))
}

/// Returns the nodes that `roots` reach, in depth-first postorder: a node comes after all nodes that it reaches,
/// unless the two reach each other. `successor` gets a node and a cursor, which is zero in the first call for this
/// node. It advances the cursor and returns the next successor of the node, or `None` if there are no more. `step` is
/// called before each call of `successor`; if it returns an error, the search stops with this error.
pub(crate) fn postorder<E>(
    n: usize,
    roots: impl IntoIterator<Item = u32>,
    mut successor: impl FnMut(u32, &mut u32) -> Option<u32>,
    mut step: impl FnMut() -> Result<(), E>,
) -> Result<Vec<u32>, E> {
    let mut seen = vec![false; n];
    let (mut order, mut calls) = (Vec::with_capacity(n), Vec::new());
    for root in roots {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        calls.push((root, 0));
        while let Some(&mut (node, ref mut cursor)) = calls.last_mut() {
            step()?;
            match successor(node, cursor) {
                Some(to) if std::mem::replace(&mut seen[to as usize], true) => {}
                Some(to) => calls.push((to, 0)),
                None => {
                    order.push(node);
                    calls.pop();
                }
            }
        }
    }
    Ok(order)
}
