//! Chooses a random program, and random changes of it.

use crate::rng::Rng;

use super::{
    Body, Call, CallKind, Exception, FunctionCode, FunctionObject, Method, Structure, Type, TypeKind, Visible,
};

const N_EXCEPTIONS: usize = 10;
const PLATFORM: [&str; 4] =
    ["java/lang/RuntimeException", "java/lang/Exception", "java/lang/Error", "java/lang/Throwable"];

impl Structure {
    /// Generates the program of this seed. Every JVM since Java 17 can load the program.
    pub fn new(seed: u64) -> Structure {
        let mut rng = Rng::new(seed);
        let root = format!("g/x{seed:x}");
        let empty = || (Vec::new(), Vec::new());
        let ((exceptions, functions), types) = (empty(), Vec::new());
        let mut it = Structure { root, types, exceptions, functions, calls: Vec::new() };
        for i in 0..N_EXCEPTIONS {
            let earlier = rng.below(i as u32 + 3) as usize;
            let parent = if earlier < i { Ok(earlier) } else { Err(rng.one(PLATFORM)) };
            it.exceptions.push(Exception { parent });
        }
        for _ in 0..rng.range(2, 5) {
            it.add_type(&mut rng, TypeKind::Interface);
        }
        for _ in 0..rng.range(3, 7) {
            it.add_type(&mut rng, TypeKind::Class);
        }
        if rng.chance(30) {
            it.add_type(&mut rng, TypeKind::Record);
        }
        for i in 0..it.types.len() {
            it.types[i].is_sealed = it.may_seal(i) && rng.chance(25);
        }
        (0..it.types.len()).for_each(|i| it.nest(&mut rng, i));
        (0..it.types.len()).for_each(|i| it.write(&mut rng, i));
        for _ in 0..rng.range(0, 2) {
            let function = it.function(&mut rng);
            it.functions.extend(function);
        }
        for _ in 0..8 {
            let call = it.call(&mut rng);
            it.calls.push(call);
        }
        let call = it.protected_call(&mut rng).unwrap_or_else(|| it.call(&mut rng));
        it.calls.push(call);
        it
    }

    /// Makes one or two changes to a type or a call. A JVM need not be able to load the changed program.
    pub fn change(&mut self, rng: &mut Rng) {
        let at = rng.below(self.types.len() as u32) as usize;
        match rng.below(12) {
            0 => self.types[at].is_public ^= true,
            1 => self.types[at].is_abstract ^= true,
            2 => self.types[at].is_sealed ^= true,
            3 => self.types[at].has_initializer ^= true,
            4 if self.types[at].host.is_some() => self.types[at].host = None,
            4 => self.nest(rng, at),
            5 => {
                self.types[at].interfaces = self.some_interfaces(rng, at, None);
                if self.types[at].kind == TypeKind::Class && rng.chance(30) {
                    self.types[at].parent = self.some_parent(rng, at, None);
                }
            }
            6 => {
                let method = rng.below(self.types[at].methods.len() as u32) as usize;
                if method < self.types[at].methods.len() {
                    self.types[at].methods.remove(method);
                }
            }
            7 => {
                let call = rng.below(self.calls.len() as u32) as usize;
                let to = self.call(rng);
                // Calls keep their places, so that no class is removed.
                let at = self.calls[call].at;
                self.calls[call] = Call { at, ..to };
                if at.is_ok() {
                    self.calls[call].catches = None;
                }
            }
            8 => {
                let method = rng.below(self.types[at].methods.len() as u32) as usize;
                let visible = rng.one([Visible::Public, Visible::Protected, Visible::Package]);
                let it = self.types[at].methods.get_mut(method).filter(|it| it.name == 'n');
                it.into_iter().for_each(|it| it.visible = visible);
            }
            9 => {
                let to = rng.below(N_EXCEPTIONS as u32) as usize;
                let from = rng.below(to.max(1) as u32) as usize;
                self.exceptions[to].parent = if from < to { Ok(from) } else { Err(rng.one(PLATFORM)) };
            }
            _ => self.write(rng, at),
        }
    }

    fn add_type(&mut self, rng: &mut Rng, kind: TypeKind) {
        let at = self.types.len();
        let package = rng.one(['p', 'q']);
        let version = match kind {
            TypeKind::Interface => rng.one([52, 55, 61]),
            TypeKind::Class => rng.one([49, 52, 55, 61, 61]),
            TypeKind::Record => 61,
        };
        self.types.push(Type {
            kind,
            package,
            is_public: rng.chance(85),
            is_abstract: kind == TypeKind::Class && rng.chance(35),
            version,
            parent: None,
            interfaces: Vec::new(),
            is_sealed: false,
            host: None,
            has_initializer: rng.chance(40),
            methods: Vec::new(),
            constructor: None,
        });
        self.types[at].interfaces = self.some_interfaces(rng, at, Some(package));
        if kind == TypeKind::Class {
            self.types[at].parent = self.some_parent(rng, at, Some(package));
        }
    }

    /// Whether a class of this package may access the type; always true if `package` is `None`.
    fn is_accessible(&self, it: usize, package: Option<char>) -> bool {
        package.is_none_or(|package| self.types[it].is_public || self.types[it].package == package)
    }

    fn some_interfaces(&self, rng: &mut Rng, at: usize, package: Option<char>) -> Vec<usize> {
        let fits = |it: &usize| self.is_interface(*it) && self.is_accessible(*it, package);
        let percent = if self.is_interface(at) { 45 } else { 30 };
        let mut acc: Vec<usize> = (0..at).filter(fits).filter(|_| rng.chance(percent)).collect();
        if rng.chance(50) {
            acc.reverse();
        }
        acc
    }

    fn some_parent(&self, rng: &mut Rng, at: usize, package: Option<char>) -> Option<usize> {
        let fits = |it: &usize| self.types[*it].kind == TypeKind::Class && self.is_accessible(*it, package);
        let parents: Vec<usize> = (0..at).filter(fits).collect();
        rng.pick(&parents).copied().filter(|_| rng.chance(80))
    }

    /// Whether the type can be sealed. HotSpot requires that a permitted subclass in another package is public.
    fn may_seal(&self, at: usize) -> bool {
        let it = &self.types[at];
        let fits = |&child: &usize| self.types[child].is_public || self.types[child].package == it.package;
        let children = self.children(at);
        it.version == 61 && !children.is_empty() && children.iter().all(fits)
    }

    /// Gives the type a nest host: another type of the same package that has no nest host itself.
    fn nest(&mut self, rng: &mut Rng, at: usize) {
        let is_host = |it: usize| self.types.iter().any(|other| other.host.is_some_and(|host| host.0 == it));
        let fits = |it: &usize| {
            let ty = &self.types[*it];
            *it != at && ty.host.is_none() && ty.version >= 55 && ty.package == self.types[at].package
        };
        let hosts: Vec<usize> = (0..self.types.len()).filter(fits).collect();
        if self.types[at].version >= 55 && !is_host(at) && rng.chance(50) {
            self.types[at].host = rng.pick(&hosts).map(|&it| (it, rng.chance(85)));
        }
    }

    /// Chooses the methods of a type. Their bodies may refer to all types of the program.
    fn write(&mut self, rng: &mut Rng, at: usize) {
        let mut methods = Vec::new();
        for name in ['m', 'k', 'n', 'h', 's'] {
            methods.extend(self.some_method(rng, at, name));
        }
        self.types[at].methods = methods;
        let has_any = self.types[at].kind == TypeKind::Class;
        let body = rng.one(['m', 'k']);
        let replaced = self.some_below(rng, at).map_or(Body::Nothing, |it| Body::OnReplaced(it, body));
        let body = rng.one([Body::OnThis(body), Body::OnThis('n'), replaced, Body::Nothing]);
        self.types[at].constructor = has_any.then_some(body);
    }

    fn some_method(&self, rng: &mut Rng, at: usize, name: char) -> Option<Method> {
        let ty = &self.types[at];
        let is_interface = self.is_interface(at);
        let percent = match name {
            'n' if is_interface => 0,
            'm' | 'k' if is_interface => 60,
            'm' | 'k' => 30,
            'n' => 65,
            _ => 50,
        };
        if !rng.chance(percent) {
            return None;
        }
        let visible = match name {
            'n' => {
                use Visible::{Package, Protected, Public};
                rng.one([Public, Protected, Protected, Package, Package])
            }
            'h' => Visible::Private,
            _ => Visible::Public,
        };
        let is_abstract =
            matches!(name, 'm' | 'k' | 'n') && (is_interface || ty.is_abstract) && rng.chance(40);
        let mut body = self.some_body(rng, at, name);
        if is_abstract {
            body = Body::Nothing;
        }
        let never = rng.below(self.exceptions.len() as u32) as usize;
        let is_ghost = !is_abstract
            && rng.chance(4)
            && !matches!(body, Body::Throw(it) if self.is_exception_below(it, never));
        let ghost = is_ghost.then(|| if rng.chance(50) { vec![never] } else { Vec::new() });
        Some(Method { name, visible, is_static: name == 's', is_abstract, ghost, body })
    }

    /// Chooses the body of the method `name`. The body calls only the method of the same name in a supertype, or a
    /// method whose name comes later in the order `m`, `k`, `n`, `h`, `s`; so each call terminates.
    fn some_body(&self, rng: &mut Rng, at: usize, name: char) -> Body {
        let throw = Body::Throw(rng.below(self.exceptions.len() as u32) as usize);
        if matches!(name, 'h' | 's') {
            return if rng.chance(90) { throw } else { Body::Nothing };
        }
        let later = match name {
            'm' => rng.one(['k', 'n']),
            _ => 'n',
        };
        let later = if rng.chance(40) { 'h' } else { later };
        match rng.below(20) {
            0..8 => throw,
            8 | 9 if rng.chance(50) => Body::Nothing,
            10..13 => {
                let supers: Vec<usize> = self.supers(at).collect();
                // Before version 52, `invokespecial` cannot name an interface method.
                let may_name = |it: &usize| !self.is_interface(*it) || self.types[at].version >= 52;
                rng.pick(&supers).copied().filter(may_name).map_or(throw, Body::Super)
            }
            13 | 14 if name != 'n' && !(later == 'n' && self.is_interface(at)) => Body::OnThis(later),
            15 if name == 'm' => {
                let it = self.some_below(rng, at);
                it.map_or(throw, |it| Body::OnReplaced(it, 'k'))
            }
            16 | 17 => {
                let all: Vec<usize> = (0..self.types.len()).filter(|it| self.is_concrete(*it)).collect();
                // Mostly choose a type of the same nest.
                let nest = |it: usize| self.types[it].host.map_or(it, |host| host.0);
                let near: Vec<usize> = all.iter().copied().filter(|it| nest(*it) == nest(at)).collect();
                let from = if near.is_empty() || rng.chance(15) { &all } else { &near };
                rng.pick(from).map_or(throw, |&it| Body::Private(it))
            }
            18 | 19 => {
                let of = rng.below(self.types.len() as u32) as usize;
                if self.may_call_static(at, of) { Body::Static(of) } else { throw }
            }
            _ => throw,
        }
    }

    /// Whether the type `at` may call a static method of the type `of`. Before version 52, `of` must not be an
    /// interface.
    fn may_call_static(&self, at: usize, of: usize) -> bool {
        self.types[at].version >= 52 || !self.is_interface(of)
    }

    fn some_below(&self, rng: &mut Rng, at: usize) -> Option<usize> {
        rng.pick(&self.concrete_below(at)).copied()
    }

    fn function(&self, rng: &mut Rng) -> Option<FunctionObject> {
        let interfaces: Vec<usize> = (0..self.types.len()).filter(|it| self.is_interface(*it)).collect();
        let &interface = rng.pick(&interfaces)?;
        // Known to be wrong: ajar claims that a function object whose interface has conflicting defaults selects one
        // of them.
        let has_conflict = ['m', 'k'].iter().any(|name| self.is_conflict(interface, *name));
        if self.types[interface].is_sealed || has_conflict {
            return None;
        }
        let concrete: Vec<usize> = (0..self.types.len()).filter(|it| self.is_concrete(*it)).collect();
        let lambda = FunctionCode::Lambda(rng.below(self.exceptions.len() as u32) as usize);
        let package = Some(self.types[interface].package);
        let object = rng.pick(&concrete).copied().filter(|&it| self.is_accessible(it, package));
        let code = match (rng.below(4), object) {
            (2, Some(it)) if self.above(it).iter().all(|it| self.is_accessible(*it, package)) => {
                let is_public = |it: &&Method| it.visible == Visible::Public && !it.is_static;
                let methods = self.above(it).into_iter().flat_map(|it| &self.types[it].methods);
                let mut names: Vec<char> = methods.filter(is_public).map(|it| it.name).collect();
                // `LambdaMetafactory` rejects a method that is one of several candidates, or whose class its caller
                // may not access.
                names.retain(|name| self.has_in_classes(it, *name) || self.candidates(it, *name).len() == 1);
                rng.pick(&names).map_or(lambda, |&name| FunctionCode::Bound(it, name))
            }
            (3, Some(it)) => FunctionCode::New(it),
            _ => lambda,
        };
        Some(FunctionObject { interface, name: rng.one(['m', 'k']), code })
    }

    fn call(&self, rng: &mut Rng) -> Call {
        let n = self.types.len() as u32;
        let at = if rng.chance(50) { Ok(rng.below(n) as usize) } else { Err(rng.one(['p', 'q'])) };
        let mut named = rng.below(n) as usize;
        if let Ok(at) = at
            && rng.chance(40)
        {
            named = at;
        }
        // The verifier allows protected access only on objects of the accessing class.
        if let Ok(at) = at
            && !self.is_interface(named)
            && self.above(at).contains(&named)
        {
            named = at;
        }
        let concrete: Vec<usize> = (0..self.types.len()).filter(|it| self.is_concrete(*it)).collect();
        let some = rng.pick(&concrete).copied();
        let name = if self.is_interface(named) { rng.one(['m', 'k']) } else { rng.one(['m', 'k', 'n', 'n']) };
        let mut caught = rng.below(self.exceptions.len() as u32) as usize;
        let kind = match (rng.below(16), some) {
            (0 | 1, _) if at.is_err() || at.is_ok_and(|at| self.may_call_static(at, named)) => {
                CallKind::Static(named)
            }
            (2, Some(it)) => CallKind::New(it, false),
            (3 | 4, Some(it)) => CallKind::New(it, self.types[it].constructor.is_some()),
            (5 | 6, Some(it)) => CallKind::Private(it),
            (7 | 8, _) => {
                // Throw a class above or below the caught one.
                let near =
                    |it: &usize| self.is_exception_below(*it, caught) || self.is_exception_below(caught, *it);
                let all: Vec<usize> = (0..self.exceptions.len()).filter(near).collect();
                let thrown = rng.pick(&all).copied().unwrap_or(caught);
                CallKind::Raise(thrown)
            }
            _ => CallKind::Virtual(named, name),
        };
        if !matches!(kind, CallKind::Raise(_)) {
            caught = rng.below(self.exceptions.len() as u32) as usize;
        }
        // Methods with handlers are in a class version that cannot name static interface methods.
        let may_catch = at.is_err() && !matches!(kind, CallKind::Static(of) if self.is_interface(of));
        let catches = (may_catch && rng.chance(45)).then(|| (caught, rng.chance(50)));
        Call { at, kind, catches }
    }

    /// Chooses a call of a protected method that a class of another package declares, from a subclass of that class
    /// or from another class; `None` if there is no such method.
    fn protected_call(&self, rng: &mut Rng) -> Option<Call> {
        let is_other = |named: usize| {
            let declares = |it: &usize| self.method(*it, 'n').is_some();
            let owner = self.above(named).into_iter().find(declares)?;
            let is_protected = self.method(owner, 'n').is_some_and(|it| it.visible == Visible::Protected);
            (is_protected && self.types[owner].package != self.types[named].package).then_some((named, owner))
        };
        let all: Vec<(usize, usize)> = (0..self.types.len()).filter_map(is_other).collect();
        let &(named, _) = rng.pick(&all)?;
        let kind = CallKind::Virtual(named, 'n');
        let strangers: Vec<usize> = (0..self.types.len())
            .filter(|&it| {
                self.types[it].package == self.types[named].package && !self.above(it).contains(&named)
            })
            .filter(|&it| !self.above(named).contains(&it))
            .collect();
        let stranger = rng.pick(&strangers).copied().filter(|_| rng.chance(50));
        Some(Call { at: Ok(stranger.unwrap_or(named)), kind, catches: None })
    }
}
