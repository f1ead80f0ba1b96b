//! The shapes of code that the rules about calls distinguish, and the number of times that a program has each shape.

use super::{Body, CallKind, FunctionCode, Method, Structure, TypeKind, Visible};

type Count = fn(&Structure) -> usize;

/// The name of each shape of code that the rules about calls distinguish, with the function that counts how often a
/// program contains the shape.
const SHAPES: [(&str, Count); 54] = [
    // Interfaces.
    ("default method", |it| it.count_methods(|at, m| it.is_interface(at) && m.is_default())),
    ("abstract method of an interface", |it| it.count_methods(|at, m| it.is_interface(at) && m.is_abstract)),
    ("static method of an interface", |it| it.count_methods(|at, m| it.is_interface(at) && m.is_static)),
    ("private method of an interface", |it| it.count_methods(|at, m| it.is_interface(at) && m.is_private())),
    ("private method of an interface, called", |it| {
        it.count_methods(|at, m| {
            it.is_interface(at) && m.body == Body::OnThis('h') && it.method(at, 'h').is_some()
        })
    }),
    ("static method of an interface, called", |it| {
        it.count_bodies(
            |_, body| matches!(body, Body::Static(of) if it.is_interface(of) && it.method(of, 's').is_some()),
        )
    }),
    ("default method that calls a method on this", |it| {
        it.count_methods(|at, m| it.is_interface(at) && m.is_default() && matches!(m.body, Body::OnThis(_)))
    }),
    ("default method of a superinterface, called as `I.super.m()`", |it| {
        it.count_methods(|at, m| {
            let is_default =
                |of| it.is_interface(of) && it.method(of, m.name).is_some_and(Method::is_default);
            matches!(m.body, Body::Super(of) if is_default(of)) && !m.is_private() && at > 0
        })
    }),
    ("default method inherited by a class whose superclass has the method's interface", |it| {
        it.count_new_defaults()
    }),
    ("default method inherited through an abstract class", |it| it.count_far_defaults()),
    ("default method that overrides a default method", |it| {
        it.count_methods(|at, m| {
            let above = |of: &usize| it.method(*of, m.name).is_some_and(Method::is_default);
            it.is_interface(at) && m.is_default() && it.above(at).iter().skip(1).any(above)
        })
    }),
    ("abstract method that overrides a default method", |it| {
        it.count_methods(|at, m| {
            let above = |of: &usize| it.method(*of, m.name).is_some_and(Method::is_default);
            m.is_abstract && it.above(at).iter().skip(1).any(above)
        })
    }),
    ("conflict of default methods", |it| it.count_selections(|candidates| n_defaults(candidates) > 1)),
    ("one default method among abstract methods of the superinterfaces", |it| {
        it.count_selections(|candidates| n_defaults(candidates) == 1 && candidates.len() > 1)
    }),
    ("only abstract methods in the superinterfaces", |it| {
        it.count_selections(|candidates| n_defaults(candidates) == 0 && !candidates.is_empty())
    }),
    ("method of a class that takes precedence over a default method", |it| {
        it.count_methods(|at, m| {
            let is_default =
                |of: &usize| it.is_interface(*of) && it.method(*of, m.name).is_some_and(Method::is_default);
            !it.is_interface(at) && it.above(at).iter().any(is_default)
        })
    }),
    // Nests.
    ("member of a nest", |it| it.count_types(|at| it.types[at].host.is_some_and(|it| it.1))),
    ("member of a nest that its host does not list", |it| {
        it.count_types(|at| it.types[at].host.is_some_and(|it| !it.1))
    }),
    ("private method of a nestmate, called", |it| it.count_private(|same, of_nest| !same && of_nest)),
    ("private method of a class of another nest, called", |it| {
        it.count_private(|same, of_nest| !same && !of_nest)
    }),
    ("private method of the class itself, called", |it| it.count_private(|same, _| same)),
    // Packages.
    ("type of package access", |it| it.count_types(|at| !it.types[at].is_public)),
    ("method of package access", |it| it.count_methods(|_, m| m.visible == Visible::Package)),
    ("protected method", |it| it.count_methods(|_, m| m.visible == Visible::Protected)),
    ("method of package access, declared again in another package", |it| it.count_hidden(false)),
    ("method of package access, overridden", |it| it.count_hidden(true)),
    ("protected method of another package, called by a subclass", |it| {
        it.count_calls(|at, kind| it.is_protected_call(at, kind, true))
    }),
    ("protected method of another package, called by a class that is not a subclass", |it| {
        it.count_calls(|at, kind| it.is_protected_call(at, kind, false))
    }),
    // Sealed types and records.
    ("sealed class", |it| it.count_types(|at| it.types[at].is_sealed && !it.is_interface(at))),
    ("sealed interface", |it| it.count_types(|at| it.types[at].is_sealed && it.is_interface(at))),
    ("record", |it| it.count_types(|at| it.types[at].kind == TypeKind::Record)),
    ("record with an interface", |it| {
        it.count_types(|at| it.types[at].kind == TypeKind::Record && !it.types[at].interfaces.is_empty())
    }),
    // Initialisers.
    ("initialiser of a class", |it| {
        it.count_types(|at| it.types[at].has_initializer && !it.is_interface(at))
    }),
    ("initialiser of an interface that has instance methods with code", |it| {
        it.count_interface_initializers(true)
    }),
    ("initialiser of an interface that has no instance methods with code", |it| {
        it.count_interface_initializers(false)
    }),
    ("class whose superclass has an initialiser", |it| {
        it.count_types(|at| it.types[at].parent.is_some_and(|it_| it.types[it_].has_initializer))
    }),
    // Ghosts.
    ("ghost", |it| it.count_methods(|_, m| m.ghost.is_some())),
    ("ghost that promises never to throw a certain exception", |it| {
        it.count_methods(|_, m| m.ghost.as_ref().is_some_and(|it| !it.is_empty()))
    }),
    // Classes.
    ("abstract class", |it| it.count_types(|at| it.types[at].is_abstract)),
    ("method of the superclass, called as `super.m()`", |it| {
        it.count_methods(|_, m| matches!(m.body, Body::Super(of) if !it.is_interface(of) && it.method(of, m.name).is_some()))
    }),
    ("call of a method on this in a constructor", |it| {
        it.count_types(|at| matches!(it.types[at].constructor, Some(Body::OnThis(_))))
    }),
    ("constructor of a class whose superclass calls a method on this in its constructor", |it| {
        let calls = |at: usize| matches!(it.types[at].constructor, Some(Body::OnThis(_)));
        it.count_types(|at| it.types[at].constructor.is_some() && it.types[at].parent.is_some_and(calls))
    }),
    ("constructor that stores another object to local 0 and calls a method on it", |it| {
        it.count_types(|at| matches!(it.types[at].constructor, Some(Body::OnReplaced(..))))
    }),
    ("method that stores another object to local 0 and calls a method on it", |it| {
        it.count_methods(|_, m| matches!(m.body, Body::OnReplaced(..)))
    }),
    // Function objects.
    ("lambda", |it| it.count_functions(|it| matches!(it, FunctionCode::Lambda(_)))),
    ("reference to a method", |it| it.count_functions(|it| matches!(it, FunctionCode::Bound(..)))),
    ("reference to a constructor", |it| it.count_functions(|it| matches!(it, FunctionCode::New(_)))),
    ("function object of an interface with a default method", |it| {
        let has_default = |of: usize| {
            let mut methods = it.above(of).into_iter().flat_map(|at| &it.types[at].methods);
            methods.any(Method::is_default)
        };
        it.functions.iter().filter(|it| has_default(it.interface)).count()
    }),
    // Exceptions.
    ("exception whose superclass is an exception of the program", |it| {
        it.exceptions.iter().filter(|it| it.parent.is_ok()).count()
    }),
    ("checked exception", |it| {
        it.exceptions.iter().filter(|it| matches!(it.parent, Err("java/lang/Exception"))).count()
    }),
    ("exception thrown by a call that also throws its subclasses", |it| {
        it.count_calls(|_, kind| matches!(kind, CallKind::Raise(of) if it.exceptions.iter().any(|it| it.parent == Ok(of))))
    }),
    ("row whose handler does not rethrow the exception", |it| {
        it.calls.iter().filter(|it| matches!(it.catches, Some((_, false)))).count()
    }),
    ("row whose handler rethrows the exception", |it| {
        it.calls.iter().filter(|it| matches!(it.catches, Some((_, true)))).count()
    }),
    ("row that catches a subclass of the thrown class", |it| {
        let is_below = |a: usize, b: usize| a != b && it.is_exception_below(a, b);
        let matches = |call: &&super::Call| matches!((call.kind, call.catches), (CallKind::Raise(of), Some((caught, _))) if is_below(caught, of));
        it.calls.iter().filter(matches).count()
    }),
];

fn n_defaults(candidates: &[&Method]) -> usize {
    candidates.iter().filter(|it| it.is_default()).count()
}

impl Method {
    fn is_private(&self) -> bool {
        self.visible == Visible::Private
    }

    /// Whether the method is a default method, provided that it belongs to an interface: it is neither static,
    /// abstract nor private.
    fn is_default(&self) -> bool {
        !self.is_static && !self.is_abstract && !self.is_private()
    }
}

impl Structure {
    /// The name of each shape of code, with the number of its occurrences in the program.
    pub fn shapes(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        SHAPES.iter().map(|(name, count)| (*name, count(self)))
    }

    fn count_types(&self, is: impl Fn(usize) -> bool) -> usize {
        (0..self.types.len()).filter(|it| is(*it)).count()
    }

    fn count_methods(&self, is: impl Fn(usize, &Method) -> bool) -> usize {
        let of = |at: usize| self.types[at].methods.iter().filter(|it| is(at, it)).count();
        (0..self.types.len()).map(of).sum()
    }

    /// Counts the method bodies for which `is` holds, and the elements of [`Structure::calls`] that do the same as
    /// such a body. `is` gets the index of the type that contains the body or call.
    fn count_bodies(&self, is: impl Fn(usize, Body) -> bool) -> usize {
        let calls = self.count_calls(|at, kind| match kind {
            CallKind::Static(of) => is(at, Body::Static(of)),
            CallKind::Private(of) => is(at, Body::Private(of)),
            _ => false,
        });
        self.count_methods(|at, m| is(at, m.body)) + calls
    }

    /// Counts the calls for which `is` holds. `is` gets the index of the type that contains the call, or `usize::MAX`
    /// if a separate class contains it, and the kind of the call.
    fn count_calls(&self, is: impl Fn(usize, CallKind) -> bool) -> usize {
        self.calls.iter().filter(|it| is(it.at.unwrap_or(usize::MAX), it.kind)).count()
    }

    fn count_functions(&self, is: impl Fn(FunctionCode) -> bool) -> usize {
        self.functions.iter().filter(|it| is(it.code)).count()
    }

    fn count_interface_initializers(&self, with_code: bool) -> usize {
        let below = |at: usize| !self.concrete_below(at).is_empty();
        self.count_types(|at| {
            let it = &self.types[at];
            self.is_interface(at) && it.has_initializer && it.has_instance_code() == with_code && below(at)
        })
    }

    /// Counts the calls of existing private methods for which `is` holds. `is` gets two flags: whether the caller
    /// calls a method of its own class, and whether the called class is in the same nest as the caller.
    fn count_private(&self, is: impl Fn(bool, bool) -> bool) -> usize {
        let nest = |at: usize| match self.types.get(at).and_then(|it| it.host) {
            Some((host, true)) => host,
            _ => at,
        };
        self.count_bodies(|at, body| {
            matches!(body, Body::Private(of) if self.method(of, 'h').is_some() && is(at == of, nest(at) == nest(of)))
        })
    }

    /// Counts the methods named `n` for which a superclass has a method of the same name with package access. Only
    /// superclasses in the same package count if `same_package`, only those in other packages otherwise.
    fn count_hidden(&self, same_package: bool) -> usize {
        self.count_methods(|at, m| {
            let hides = |above: &usize| {
                let is_same = self.types[*above].package == self.types[at].package;
                let of = self.method(*above, m.name);
                of.is_some_and(|it| it.visible == Visible::Package) && is_same == same_package
            };
            m.name == 'n' && self.above(at).iter().skip(1).any(hides)
        })
    }

    fn is_protected_call(&self, at: usize, kind: CallKind, from_subclass: bool) -> bool {
        let CallKind::Virtual(named, name) = kind else { return false };
        let declares = |it: &usize| self.method(*it, name).is_some();
        let Some(owner) = self.above(named).into_iter().find(declares) else { return false };
        let is_protected = self.method(owner, name).is_some_and(|it| it.visible == Visible::Protected);
        let Some(from) = self.types.get(at) else { return false };
        let is_below = self.above(at).contains(&owner);
        is_protected && from.package != self.types[owner].package && is_below == from_subclass
    }

    /// The maximally specific methods of this name among the superinterfaces of a type (JVMS §5.4.3.3).
    pub(super) fn candidates(&self, at: usize, name: char) -> Vec<&Method> {
        let declares = |it: &usize| self.is_interface(*it) && self.method(*it, name).is_some();
        let all: Vec<usize> = self.above(at).into_iter().filter(declares).collect();
        let is_most = |it: &usize| all.iter().all(|other| other == it || !self.above(*other).contains(it));
        all.iter().copied().filter(is_most).filter_map(|it| self.method(it, name)).collect()
    }

    /// Whether the class or one of its superclasses declares the method.
    pub(super) fn has_in_classes(&self, at: usize, name: char) -> bool {
        self.method(at, name).is_some()
            || self.types[at].parent.is_some_and(|it| self.has_in_classes(it, name))
    }

    /// Whether a class inherits several maximally specific default methods of this name, and declares none itself.
    pub(super) fn is_conflict(&self, at: usize, name: char) -> bool {
        self.method(at, name).is_none() && n_defaults(&self.candidates(at, name)) > 1
    }

    /// Counts the pairs of a concrete class and a name (`m` or `k`) for which neither the class nor a superclass
    /// declares the method, and `is` holds for the maximally specific methods of this name in the superinterfaces.
    fn count_selections(&self, is: impl Fn(&[&Method]) -> bool) -> usize {
        let selects = |at: usize, name| {
            self.is_concrete(at) && !self.has_in_classes(at, name) && is(&self.candidates(at, name))
        };
        ['m', 'k'].into_iter().map(|name| self.count_types(|at| selects(at, name))).sum()
    }

    /// Counts the classes `C` declared as in `C extends B implements I`, `B implements J`, `I extends J`, where a
    /// default method of `I` overrides a method of `J`.
    fn count_new_defaults(&self) -> usize {
        let is_one = |at: usize, name: char| {
            let Some(parent) = self.types[at].parent else { return false };
            let old = self.above(parent);
            let named = |of: &usize| old.contains(of) && self.method(*of, name).is_some();
            let new = self.above(at).into_iter().filter(|it| self.is_interface(*it) && !old.contains(it));
            let mut defaults = new.filter(|it| {
                self.method(*it, name).is_some_and(Method::is_default) && self.above(*it).iter().any(named)
            });
            !self.has_in_classes(at, name) && defaults.next().is_some()
        };
        ['m', 'k'].into_iter().map(|name| self.count_types(|at| is_one(at, name))).sum()
    }

    fn count_far_defaults(&self) -> usize {
        let is_one = |at: usize, name: char| {
            let far = self.types[at].parent.filter(|it| self.types[*it].is_abstract);
            let farther = far.and_then(|it| self.types[it].parent);
            let inherits = |it: usize| n_defaults(&self.candidates(it, name)) == 1;
            self.is_concrete(at) && !self.has_in_classes(at, name) && farther.is_some_and(inherits)
        };
        ['m', 'k'].into_iter().map(|name| self.count_types(|at| is_one(at, name))).sum()
    }
}
