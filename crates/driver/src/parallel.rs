//! Parallel work on many items, with the results in the order of the items, whatever the number of threads. The
//! number of results that wait for earlier ones is bounded, so that memory does not grow with the number of items.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The stack size of a worker thread in bytes. Deeply nested inputs cause deep recursion, and a stack overflow cannot
/// be caught.
const STACK_SIZE: usize = 64 << 20;

/// The maximum number of items that a worker thread takes at a time. Several are taken together, because passing one
/// item between threads costs as much as the work on a small class.
const BATCH: usize = 64;

/// The size in bytes of the block that a worker thread allocates and frees so that its heap grows in advance.
const HEAP_STEP: usize = 4 << 20;

/// The maximum number of batches, per thread, that workers have taken and whose results the sink (the caller's
/// function for results) has not received yet.
const WINDOW_PER_THREAD: usize = 4;

/// The error for an item if the work on the item panicked. A panic is a bug of ajar, and does not affect other items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Panicked {
    /// The message of the panic.
    pub message: String,
}

/// The results of one batch of items, in the order of the items.
type Batch<T> = Vec<Result<T, Panicked>>;

/// The batches of items that workers have taken and whose results the sink (the caller's function for results) has
/// not received yet. The workers and the calling thread share this value.
struct Window<T> {
    /// The index of the next batch that a worker will take.
    next: usize,
    /// The index of the first batch whose results the sink has not received yet.
    first: usize,
    /// The results of the taken batches, beginning with the batch `first`; `None` for a batch on which a worker is
    /// still working.
    results: VecDeque<Option<Batch<T>>>,
    stop: bool,
}

struct Shared<T> {
    window: Mutex<Window<T>>,
    /// Signalled when a worker may take another batch, or when the workers must stop.
    room: Condvar,
    /// Signalled when the results of the first batch in the window are ready.
    ready: Condvar,
}

/// Calls `work` on each item in `threads` threads, and passes the results to `sink` in the order of the items, on the
/// calling thread. If `work` panics, the result is an error. Each thread has a state made by `state`, which is
/// replaced by a new one after a panic. Ends early if `sink` returns `Break`, and returns that value. Fails if a
/// thread cannot be started.
pub fn map_ordered<I, S, T, B>(
    items: &[I],
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &I) -> T + Sync,
    mut sink: impl FnMut(Result<T, Panicked>) -> ControlFlow<B>,
) -> std::io::Result<ControlFlow<B>>
where
    I: Sync,
    T: Send,
{
    let threads = threads.clamp(1, items.len().max(1));
    let shared = Shared {
        window: Mutex::new(Window { next: 0, first: 0, results: VecDeque::new(), stop: false }),
        room: Condvar::new(),
        ready: Condvar::new(),
    };
    let limit = threads * WINDOW_PER_THREAD;
    let batches: Vec<&[I]> = items.chunks((items.len() / (threads * 16)).clamp(1, BATCH)).collect();
    std::thread::scope(|scope| {
        // However this block ends, also by an error or by a panic of the sink, the workers must stop waiting.
        let _stopper = Stopper(&shared);
        for number in 0..threads {
            let run = || worker(&shared, &batches, limit, &state, &work);
            let name = format!("worker-{number}");
            std::thread::Builder::new().name(name).stack_size(STACK_SIZE).spawn_scoped(scope, run)?;
        }
        for _ in &batches {
            for result in shared.first_results() {
                let broke = sink(result);
                if broke.is_break() {
                    return Ok(broke);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Calls `work` on each item and passes the results to `sink`, like [`map_ordered`], but does both on the calling
/// thread.
pub fn map_here<I, T, B>(
    items: &[I],
    work: impl Fn(&I) -> T,
    mut sink: impl FnMut(Result<T, Panicked>) -> ControlFlow<B>,
) -> ControlFlow<B> {
    for item in items {
        let result = catch_unwind(AssertUnwindSafe(|| work(item)));
        sink(result.map_err(|payload| Panicked { message: message(&*payload) }))?;
    }
    ControlFlow::Continue(())
}

/// Runs `work` on a new thread with the stack size of a worker thread.
///
/// # Errors
/// Fails if the thread cannot be started.
pub fn spawn_worker<'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    work: impl FnOnce() + Send + 'scope,
) -> std::io::Result<()> {
    std::thread::Builder::new().name("work".to_owned()).stack_size(STACK_SIZE).spawn_scoped(scope, work)?;
    Ok(())
}

fn worker<I, S, T>(
    shared: &Shared<T>,
    batches: &[&[I]],
    limit: usize,
    make_state: &(impl Fn() -> S + Sync),
    work: &(impl Fn(&mut S, &I) -> T + Sync),
) {
    let mut state = None;
    while let Some((index, items)) = shared.take(limit).and_then(|index| Some((index, batches.get(index)?))) {
        let mut one = |item| {
            // A state that was in use during a panic is not used again.
            let result = catch_unwind(AssertUnwindSafe(|| work(state.get_or_insert_with(make_state), item)));
            if result.is_err() {
                state = None;
            }
            result.map_err(|payload| Panicked { message: message(&*payload) })
        };
        grow_in_big_steps();
        let results = items.iter().map(&mut one).collect();
        shared.put(index, results);
    }
}

/// Lets the heap of this thread grow in a few large steps instead of many small ones, by allocating and freeing a
/// large block. In glibc the heap of a thread other than the main thread grows by single pages, each with a system
/// call; without this function, reading a JDK takes twenty thousand such calls. The freed block stays in the heap,
/// and its pages are not touched before they are used.
fn grow_in_big_steps() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(HEAP_STEP)));
}

impl<T> Shared<T> {
    /// Locks the window. A poisoned lock is ignored: no thread panics while it changes the window, so the window is
    /// consistent.
    fn lock(&self) -> MutexGuard<'_, Window<T>> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next batch for a worker, and returns the index of the batch. Waits while the window has `limit`
    /// batches or more. Returns `None` if the workers must stop.
    fn take(&self, limit: usize) -> Option<usize> {
        let mut window = self.lock();
        while !window.stop && window.next - window.first >= limit {
            window = self.room.wait(window).unwrap_or_else(PoisonError::into_inner);
        }
        if window.stop {
            return None;
        }
        let index = window.next;
        window.next += 1;
        window.results.push_back(None);
        Some(index)
    }

    fn put(&self, index: usize, results: Batch<T>) {
        let mut window = self.lock();
        let place = index - window.first;
        if let Some(slot) = window.results.get_mut(place) {
            *slot = Some(results);
        }
        if place == 0 {
            self.ready.notify_one();
        }
    }

    /// Waits for the results of the first batch in the window, removes the batch from the window, and returns the
    /// results.
    fn first_results(&self) -> Batch<T> {
        let mut window = self.lock();
        loop {
            if let Some(results) = window.results.front_mut().and_then(Option::take) {
                window.results.pop_front();
                window.first += 1;
                self.room.notify_one();
                return results;
            }
            window = self.ready.wait(window).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

struct Stopper<'a, T>(&'a Shared<T>);

impl<T> Drop for Stopper<'_, T> {
    fn drop(&mut self) {
        self.0.lock().stop = true;
        self.0.room.notify_all();
    }
}

/// Returns the message of a panic, given its payload; a fixed text if the payload is not a string.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn run(n: usize, threads: usize, stop_at: usize) -> Vec<Result<usize, Panicked>> {
        let items: Vec<usize> = (0..n).collect();
        let mut results = Vec::new();
        let work = |count: &mut usize, &item: &usize| {
            *count += 1;
            // Later items often finish earlier.
            std::thread::yield_now();
            assert!(item % 100 != 42, "item {item}");
            item * 2
        };
        let sink = |it| {
            results.push(it);
            if results.len() == stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let end = map_ordered(&items, threads, || 0, work, sink).unwrap();
        assert_eq!(end.is_break(), stop_at <= n);
        results
    }

    #[test]
    fn order_and_panics_do_not_depend_on_the_number_of_threads() {
        let expected: Vec<_> =
            (0..500)
                .map(|it| {
                    if it % 100 == 42 { Err(Panicked { message: format!("item {it}") }) } else { Ok(it * 2) }
                })
                .collect();
        for threads in [0, 1, 2, 3, 8, 64] {
            assert_eq!(run(500, threads, usize::MAX), expected, "{threads} threads");
        }
        assert_eq!(run(0, 4, usize::MAX), []);
    }

    #[test]
    fn the_sink_stops_the_run() {
        for threads in [1, 4] {
            assert_eq!(run(100_000, threads, 7).len(), 7);
        }
    }

    #[test]
    fn the_window_is_bounded() {
        let (started, delivered) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let worst = AtomicUsize::new(0);
        let work = |(): &mut (), (): &()| {
            let ahead = started.fetch_add(1, Ordering::SeqCst) + 1 - delivered.load(Ordering::SeqCst);
            worst.fetch_max(ahead, Ordering::SeqCst);
        };
        let sink = |_| {
            std::thread::yield_now();
            delivered.fetch_add(1, Ordering::SeqCst);
            ControlFlow::<()>::Continue(())
        };
        let _ = map_ordered(&[(); 5000], 2, || (), work, sink).unwrap();
        // One more batch: the sink counts results after they have left the window.
        assert!(worst.into_inner() <= (2 * WINDOW_PER_THREAD + 1) * BATCH);
    }

    #[test]
    fn deep_recursion_has_room() {
        fn depth(n: u32) -> u32 {
            let pad = std::hint::black_box([n; 64]);
            if n == 0 { 0 } else { depth(n - 1) + pad[0] / pad[0] }
        }
        let mut result = None;
        let sink = |it| {
            result = Some(it);
            ControlFlow::<()>::Continue(())
        };
        let _ = map_ordered(&[40_000], 1, || (), |(), &it| depth(it), sink).unwrap();
        assert_eq!(result, Some(Ok(40_000)));
    }

    #[test]
    fn a_panic_of_the_sink_does_not_hang() {
        let items = [0; 1000];
        let run = || map_ordered(&items, 2, || (), |(), _| (), |_| -> ControlFlow<()> { panic!("sink") });
        assert!(catch_unwind(run).is_err());
    }
}
