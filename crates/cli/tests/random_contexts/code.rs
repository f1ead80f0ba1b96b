//! Random Java expressions and statements.

use std::collections::BTreeMap;

use test_utils::rng::Rng;

use crate::words::{Helper, Scope, Source, Taste, Thrown, Ty};

/// The generator of one program. Code uses only what is declared before it, so that it calls itself in no other way than
/// where the generator limits the depth.
pub(crate) struct Maker<'a> {
    pub(crate) rng: &'a mut Rng,
    pub(crate) taste: Taste,
    /// The declarations of the members of `Main` so far.
    pub(crate) members: String,
    pub(crate) thrown: Vec<Thrown>,
    pub(crate) sources: Vec<Source>,
    pub(crate) helpers: Vec<Helper>,
    /// The methods of `Main` that the present entry method calls.
    pub(crate) called: Vec<String>,
    pub(crate) n: usize,
    pub(crate) shapes: BTreeMap<&'static str, usize>,
}

impl Maker<'_> {
    /// Returns a name that nothing else has.
    pub(crate) fn name(&mut self, letter: &str) -> String {
        self.n += 1;
        format!("{letter}{}", self.n)
    }

    /// Counts a construct.
    pub(crate) fn shape(&mut self, what: &'static str) {
        *self.shapes.entry(what).or_default() += 1;
    }

    /// A condition that the number with which an entry method is called decides.
    pub(crate) fn bit(&mut self) -> String {
        format!("b({})", self.rng.below(32))
    }

    /// Whether to make a construct that leads to calls on unknown objects.
    pub(crate) fn is_wild(&mut self) -> bool {
        self.rng.chance(self.taste.wild)
    }

    /// A type of values.
    pub(crate) fn any_type(&mut self) -> Ty {
        *self.rng.pick(&self.taste.types).unwrap()
    }

    fn rare(&mut self) -> String {
        if self.rng.chance(50) { format!("{} && {}", self.bit(), self.bit()) } else { self.bit() }
    }

    /// An expression that creates an object of a new exception class.
    pub(crate) fn exception(&mut self, scope: &Scope, unchecked: bool, runtime: bool) -> String {
        let number = self.exception_class(unchecked, runtime);
        self.new_exception(scope, number)
    }

    pub(crate) fn new_exception(&mut self, scope: &Scope, number: usize) -> String {
        let it = self.thrown[number].clone();
        let argument = it.takes.map_or(String::new(), |ty| self.value(scope, ty, 1));
        format!("new {}({argument})", it.name)
    }

    /// A statement that throws on some paths.
    pub(crate) fn throw(&mut self, scope: &Scope) -> String {
        let condition = self.rare();
        let unchecked = !scope.checked;
        let e = match self.rng.below(10) {
            0 if self.taste.odd => {
                self.shape("parameter that is thrown");
                let it = self.value(scope, Ty::Err, 1);
                return format!("if ({condition}) throw {it};\n");
            }
            1 if unchecked && self.taste.odd => {
                self.shape("sneaky throw");
                let it = self.exception(scope, false, false);
                format!("Main.<RuntimeException>sneak({it})")
            }
            2 => {
                self.shape("exception in a variable");
                let (it, name) = (self.exception(scope, unchecked, false), self.name("v"));
                let class = it[4..].split('(').next().unwrap().to_owned();
                return format!("if ({condition}) {{ {class} {name} = {it}; throw {name}; }}\n");
            }
            _ => self.exception(scope, unchecked, false),
        };
        format!("if ({condition}) throw {e};\n")
    }

    fn variable(&mut self, scope: &Scope, ty: Ty) -> Option<String> {
        let fitting: Vec<&str> =
            scope.vars.iter().filter(|it| ty.accepts(it.ty)).map(|it| it.name.as_str()).collect();
        self.rng.pick(&fitting).map(|it| (*it).to_owned())
    }

    /// An expression of this type.
    pub(crate) fn value(&mut self, scope: &Scope, ty: Ty, depth: usize) -> String {
        if self.rng.chance(45)
            && let Some(it) = self.variable(scope, ty)
        {
            return it;
        }
        if depth > 0 {
            match self.rng.below(16) {
                0 => {
                    self.shape("null");
                    return format!("(({}) null)", ty.java());
                }
                1 if self.is_wild() => {
                    self.shape("ternary");
                    let (a, b) = (self.value(scope, ty, depth - 1), self.value(scope, ty, depth - 1));
                    return format!("({} ? {a} : {b})", self.bit());
                }
                2 if self.is_wild() => {
                    self.shape("generic identity");
                    let it = self.value(scope, ty, depth - 1);
                    return format!("Main.<{}>id({it})", ty.java());
                }
                3 => {
                    self.shape("cast");
                    let it = self.value(scope, ty, depth - 1);
                    return format!("(({}) (Object) {it})", ty.java());
                }
                4 if scope.checked && self.is_wild() => {
                    if let Some(it) = self.call(scope, Some(ty), depth - 1) {
                        self.shape("returned value");
                        return it;
                    }
                }
                5 if ty == Ty::Act && self.is_wild() => {
                    self.shape("default method");
                    let (a, b) = (self.value(scope, ty, depth - 1), self.value(scope, ty, depth - 1));
                    return format!("{a}.then({b})");
                }
                _ => {}
            }
        }
        if depth > 0 && self.rng.chance(50) {
            let fitting: Vec<Source> =
                self.sources.iter().filter(|it| it.types.iter().any(|it| ty.accepts(*it))).cloned().collect();
            if let Some(it) = self.rng.pick(&fitting).cloned() {
                return self.made(scope, &it, depth - 1);
            }
        }
        self.own_value(scope, ty, depth)
    }

    /// The expression of a source.
    pub(crate) fn made(&mut self, scope: &Scope, it: &Source, depth: usize) -> String {
        let Some(takes) = &it.takes else { return it.text.clone() };
        self.shape("object that the caller creates");
        let arguments = self.arguments(scope, takes, depth);
        format!("new {}({arguments})", it.text)
    }

    pub(crate) fn arguments(&mut self, scope: &Scope, takes: &[Ty], depth: usize) -> String {
        let all: Vec<String> = takes.iter().map(|it| self.value(scope, *it, depth)).collect();
        all.join(", ")
    }

    /// An expression of this type that needs no class of the program.
    fn own_value(&mut self, scope: &Scope, ty: Ty, depth: usize) -> String {
        let simple = |maker: &mut Self| maker.rng.below(90).to_string();
        match ty {
            Ty::Str => format!("\"s{}\"", simple(self)),
            Ty::Boxed => format!("Integer.valueOf({})", simple(self)),
            Ty::Chars => self.value(scope, Ty::Str, depth),
            Ty::Obj => {
                let types = self.taste.types.clone();
                let ty = *self.rng.pick(&types).unwrap();
                if ty == Ty::Obj || depth == 0 {
                    "new Object()".to_owned()
                } else {
                    self.value(scope, ty, depth - 1)
                }
            }
            Ty::Err => self.exception(scope, true, true),
            Ty::Thr => self.exception(scope, false, false),
            Ty::Lst => {
                self.shape("generic container");
                let n = self.rng.below(3);
                let all: Vec<String> = (0..=n).map(|_| self.value(scope, Ty::Act, depth.min(1))).collect();
                let adds: String = all.iter().map(|it| format!(".add({it})")).collect();
                format!("new Lst<Act>(){adds}")
            }
            Ty::Act | Ty::Run | Ty::Sup | Ty::Fun | Ty::Cmp | Ty::Res | Ty::Tmp | Ty::Shape => {
                self.function(scope, ty, depth)
            }
        }
    }

    /// A lambda, method reference or anonymous class.
    fn function(&mut self, scope: &Scope, ty: Ty, depth: usize) -> String {
        if depth > 0
            && self.rng.chance(30)
            && let Some(it) = self.reference(scope, ty)
        {
            return it;
        }
        let parameter = self.name("p");
        let (name, parameters, result, checked) = match ty {
            Ty::Run => ("void run", String::new(), "", false),
            Ty::Sup => ("Object get", String::new(), "Object", false),
            Ty::Fun => ("Object apply", format!("Object {parameter}"), "Object", false),
            Ty::Cmp => ("int compareTo", format!("Object {parameter}"), "int", false),
            Ty::Res => ("void close", String::new(), "", true),
            Ty::Tmp => ("void step", format!("int {parameter}"), "", true),
            _ => ("void act", format!("int {parameter}"), "", true),
        };
        let mut inner = scope.inner(if parameters.starts_with("int") { &parameter } else { "" }, checked);
        if !self.is_wild() {
            inner.vars.clear();
        }
        if parameters.starts_with("Object") {
            inner.add(&parameter, Ty::Obj, true);
        }
        if !inner.vars.is_empty() {
            self.shape("captures");
        }
        let mut body = if depth > 0 { self.block(&mut inner, 1, depth - 1) } else { self.throw(&inner) };
        match result {
            "Object" => body += &format!("return {};\n", self.value(&inner, Ty::Obj, 0)),
            "int" => body += "return 0;\n",
            _ => {}
        }
        if ty == Ty::Res {
            body = self.quiet(&body);
        }
        let is_lambda = !matches!(ty, Ty::Tmp | Ty::Shape) && self.rng.chance(65);
        if is_lambda {
            self.shape("lambda");
            let names = parameters.split(' ').nth(1).unwrap_or("");
            return format!("(({}) ({names}) -> {{\n{body}}})", ty.java());
        }
        self.shape("anonymous class");
        let throws = if checked { "throws Throwable " } else { "" };
        let throws = if ty == Ty::Res { "throws Exception " } else { throws };
        // No anonymous class can implement a sealed interface.
        if ty == Ty::Shape {
            return "new Square(null)".to_owned();
        }
        format!("new {}() {{ public {name}({parameters}) {throws}{{\n{body}}} }}", ty.java())
    }

    fn reference(&mut self, scope: &Scope, ty: Ty) -> Option<String> {
        let (kind, it) = match (ty, self.rng.below(4)) {
            (Ty::Act, 0) => {
                let fitting: Vec<String> = self
                    .helpers
                    .iter()
                    .filter(|it| it.on.is_none() && it.takes == [None] && it.varargs.is_none())
                    .map(|it| it.name.clone())
                    .collect();
                ("static method reference", format!("Main::{}", self.rng.pick(&fitting)?))
            }
            (Ty::Act, 1) if scope.this => ("reference to a method of this", "this::again".to_owned()),
            (Ty::Act, _) => ("bound method reference", format!("{}::act", self.value(scope, Ty::Act, 0))),
            (Ty::Run, _) => ("bound method reference", format!("{}::run", self.value(scope, Ty::Run, 0))),
            (Ty::Fun, 0) => ("unbound method reference", "Object::toString".to_owned()),
            (Ty::Fun | Ty::Sup, _) => {
                let takes: &[Ty] = if ty == Ty::Fun { &[Ty::Obj] } else { &[] };
                let classes = self.sources.iter().filter(|it| it.takes.as_deref() == Some(takes));
                let thrown = self.thrown.iter().filter(|it| it.takes.as_slice() == takes);
                let all: Vec<String> =
                    classes.map(|it| it.text.clone()).chain(thrown.map(|it| it.name.clone())).collect();
                ("constructor reference", format!("{}::new", self.rng.pick(&all)?))
            }
            (Ty::Cmp, _) => {
                ("bound method reference", format!("{}::compareTo", self.value(scope, Ty::Cmp, 0)))
            }
            _ => return None,
        };
        self.shape(kind);
        Some(format!("(({}) {it})", ty.java()))
    }

    /// A call of a helper, which returns `ty` if given.
    pub(crate) fn call(&mut self, scope: &Scope, ty: Option<Ty>, depth: usize) -> Option<String> {
        let fits = |it: &&Helper| ty.is_none_or(|ty| it.returns.is_some_and(|it| ty.accepts(it)));
        let fitting: Vec<Helper> = self.helpers.iter().filter(fits).cloned().collect();
        let it = self.rng.pick(&fitting)?.clone();
        let mut arguments: Vec<String> = Vec::new();
        for ty in &it.takes {
            arguments.push(match ty {
                Some(ty) => self.value(scope, *ty, depth),
                None => scope.depth.clone(),
            });
        }
        if let Some(ty) = it.varargs {
            self.shape("variable arguments");
            let n = self.rng.below(3);
            arguments.extend((0..n).map(|_| self.value(scope, ty, depth)));
        }
        self.called.push(it.name.clone());
        Some(match &it.on {
            None => format!("Main.{}({})", it.name, arguments.join(", ")),
            Some((class, takes)) => {
                let own = self.arguments(scope, takes, depth.min(1));
                format!("new {class}({own}).{}({})", it.name, arguments.join(", "))
            }
        })
    }

    /// A statement that uses a value of this type.
    fn usage(&mut self, scope: &Scope, ty: Ty, depth: usize) -> String {
        let it = self.value(scope, ty, depth);
        self.usage_of(scope, ty, &it, depth)
    }

    /// A statement that uses the value of an expression.
    pub(crate) fn usage_of(&mut self, scope: &Scope, ty: Ty, it: &str, depth: usize) -> String {
        let d = scope.depth.clone();
        match ty {
            Ty::Act => match self.rng.below(5) {
                0 if self.is_wild() => {
                    let other = self.value(scope, ty, 0);
                    format!("{it}.then({other}).act({d});\n")
                }
                1 => format!("go({it}, {d});\n"),
                2 => format!("{it}.checked({d});\n"),
                _ => format!("{it}.act({d});\n"),
            },
            Ty::Run => match self.rng.below(3) {
                0 => format!("start({it});\n"),
                _ => format!("{it}.run();\n"),
            },
            Ty::Sup => {
                let name = self.name("v");
                format!("Object {name} = {it}.get();\nif ({name} != null) {name}.hashCode();\n")
            }
            Ty::Fun => {
                let argument = self.value(scope, Ty::Obj, 0);
                format!("{it}.apply({argument});\n")
            }
            Ty::Obj => match self.rng.below(8) {
                0 | 1 => format!("{it}.toString();\n"),
                2 => format!("{it}.hashCode();\n"),
                3 => format!("last = \"c\" + {it};\n"),
                4 => format!("last = String.valueOf({it});\n"),
                5 => format!("show({it});\n"),
                6 if scope.checked && self.is_wild() => {
                    self.shape("instanceof");
                    let (all, name) = (self.name("v"), self.name("v"));
                    format!(
                        "Object {all} = {it};\nif ({all} instanceof Act {name} && more()) {name}.act({d});\n"
                    )
                }
                _ => format!("{it}.equals(\"x\");\n"),
            },
            Ty::Str => format!("{it}.length();\n"),
            Ty::Chars => match self.rng.below(3) {
                0 => format!("{it}.charAt(0);\n"),
                1 => format!("{it}.toString();\n"),
                _ => format!("{it}.length();\n"),
            },
            Ty::Cmp => {
                let argument = self.value(scope, Ty::Str, 0);
                format!("{it}.compareTo({argument});\n")
            }
            Ty::Boxed => format!("if ({it} > 3) last = {it}.toString();\n"),
            Ty::Err | Ty::Thr => self.raise(scope, it, ty),
            Ty::Tmp => format!("{it}.run({d});\n"),
            Ty::Shape => match self.rng.below(2) {
                0 => format!("{it}.act({d});\n"),
                _ => format!("last = {it}.describe();\n"),
            },
            Ty::Lst => match self.rng.below(4) {
                0 => {
                    self.shape("iterator");
                    let name = self.name("v");
                    format!("for (Act {name} : {it}) {name}.act({d});\n")
                }
                1 => format!("{it}.first().act({d});\n"),
                2 => {
                    let name = self.name("p");
                    format!("{it}.each({name} -> {name}.act({d}));\n")
                }
                _ => {
                    self.shape("bridge");
                    format!("{it}.map(new Wrapping()).first().act({d});\n")
                }
            },
            Ty::Res => {
                self.shape("try with resources");
                let name = self.name("v");
                let mut inner = scope.clone();
                let body = self.block(&mut inner, 1, depth.saturating_sub(1));
                format!("try (AutoCloseable {name} = {it}) {{\n{body}}}\n")
            }
        }
    }

    fn raise(&mut self, scope: &Scope, it: &str, ty: Ty) -> String {
        let condition = self.rare();
        self.shape("thrown by a method that gets it");
        match (self.rng.below(6), ty, scope.checked) {
            (0, Ty::Err, _) => format!("if ({condition}) raise({it});\n"),
            (1, _, true) => format!("if ({condition}) rethrow({it});\n"),
            (2, _, true) => format!("if ({condition}) raiseAny({it});\n"),
            (3, _, _) => format!("last = {it}.getMessage();\n"),
            (4, _, _) => format!("last = {it}.toString();\n"),
            _ => format!("if ({condition}) throw Main.<RuntimeException>sneak({it});\n"),
        }
    }

    /// Several statements.
    pub(crate) fn block(&mut self, scope: &mut Scope, n: u32, depth: usize) -> String {
        let n = 1 + self.rng.below(n + 1);
        (0..n).map(|_| self.statement(scope, depth)).collect()
    }

    fn ty(&mut self, scope: &Scope) -> Ty {
        let own: Vec<Ty> = scope.vars.iter().map(|it| it.ty).collect();
        let all = if scope.checked { &self.taste.types } else { &self.taste.quiet };
        let own: Vec<Ty> = own.into_iter().filter(|it| all.contains(it)).collect();
        let other = *self.rng.pick(all).unwrap();
        match self.rng.pick(&own) {
            Some(it) if self.rng.chance(60) => *it,
            _ => other,
        }
    }

    /// A statement. What it declares is added to `scope`.
    pub(crate) fn statement(&mut self, scope: &mut Scope, depth: usize) -> String {
        let changed: Vec<_> = scope.vars.iter().filter(|it| !it.is_final).cloned().collect();
        if self.rng.chance(15)
            && let Some(var) = self.rng.pick(&changed).cloned()
        {
            self.shape("assigned again");
            let it = self.value(scope, var.ty, depth);
            let condition = if self.rng.chance(50) { format!("if ({}) ", self.bit()) } else { String::new() };
            let after = self.usage_of(scope, var.ty, &var.name, 0);
            return format!("{condition}{} = {it};\n{after}", var.name);
        }
        let ty = self.ty(scope);
        let small = depth == 0;
        match self.rng.below(22) {
            0..=2 => self.throw(scope),
            3..=7 => self.usage(scope, ty, depth),
            8 | 9 => {
                let (it, name) = (self.value(scope, ty, depth), self.name("v"));
                let java = ty.java();
                scope.add(&name, ty, true);
                let after = self.usage(scope, ty, 0);
                format!("{java} {name} = {it};\n{after}")
            }
            10 | 11 if self.rng.chance(15 + self.taste.wild) => self.several_definitions(scope, ty, depth),
            12 | 13 if !small => self.attempt(scope, depth),
            14 if !small => {
                self.shape("slots of disjoint scopes");
                let other = self.ty(scope);
                let (a, b) = (self.name("v"), self.name("v"));
                let (mut first, mut second) = (scope.clone(), scope.clone());
                let x = self.value(scope, ty, depth - 1);
                first.add(&a, ty, true);
                let x_used = self.usage(&first, ty, 0);
                let y = self.value(scope, other, depth - 1);
                second.add(&b, other, true);
                let y_used = self.usage(&second, other, 0);
                let wide = if self.rng.chance(50) {
                    self.shape("slots of wide variables");
                    let w = self.name("v");
                    format!("long {w} = x; last = {w};\n")
                } else {
                    String::new()
                };
                format!(
                    "{{ {} {a} = {x};\n{x_used}}}\n{{ {wide}{} {b} = {y};\n{y_used}}}\n",
                    ty.java(),
                    other.java()
                )
            }
            15 if scope.checked && !small => {
                self.shape("monitor");
                let lock = self.value(scope, Ty::Obj, 0);
                let mut inner = scope.clone();
                let body = self.block(&mut inner, 1, depth - 1);
                format!("synchronized (lock({lock})) {{\n{body}}}\n")
            }
            16..=21 if scope.checked => {
                self.call(scope, None, depth).map_or_else(|| self.throw(scope), |it| it + ";\n")
            }
            _ => self.usage(scope, ty, depth),
        }
    }

    /// A variable that has several definitions, in branches or around a loop.
    fn several_definitions(&mut self, scope: &mut Scope, ty: Ty, depth: usize) -> String {
        let java = ty.java();
        let (a, b) = (self.name("v"), self.name("v"));
        let x = self.value(scope, ty, depth);
        let y = self.value(scope, ty, depth);
        let bit = self.bit();
        match self.rng.below(3) {
            0 => {
                self.shape("loop that exchanges variables");
                let mut inner = scope.clone();
                inner.add(&a, ty, false);
                inner.add(&b, ty, false);
                let body = self.usage(&inner, ty, 0);
                let (i, t) = (self.name("i"), self.name("v"));
                format!(
                    "{java} {a} = {x}, {b} = {y};\nfor (int {i} = 0; {i} < 2; {i}++) {{\n{body}{java} {t} = {a}; {a} = {b}; {b} = {t};\n}}\n"
                )
            }
            1 => {
                self.shape("definitions in branches");
                scope.add(&a, ty, true);
                let after = self.usage(scope, ty, 0);
                format!("{java} {a};\nif ({bit}) {a} = {x}; else {a} = {y};\n{after}")
            }
            _ => {
                self.shape("variable assigned again");
                scope.add(&a, ty, false);
                let after = self.usage(scope, ty, 0);
                format!("{java} {a} = {x};\nif ({bit}) {a} = {y};\n{after}")
            }
        }
    }

    /// A `try` statement.
    fn attempt(&mut self, scope: &Scope, depth: usize) -> String {
        let before = self.thrown.len();
        let mut inner = scope.clone();
        let body = self.block(&mut inner, 2, depth - 1);
        let fresh: Vec<usize> =
            (before..self.thrown.len()).filter(|it| scope.checked || self.thrown[*it].is_unchecked).collect();
        let e = self.name("e");
        let mut handler = scope.clone();
        let general: &[&str] = if scope.checked {
            &["Throwable", "Exception", "RuntimeException", "Error"]
        } else {
            &["RuntimeException", "Error"]
        };
        let (caught, ty) = match self.rng.pick(&fresh) {
            Some(it) if self.rng.chance(60) => {
                let it = &self.thrown[*it];
                (it.name.clone(), if it.is_runtime { Ty::Err } else { Ty::Thr })
            }
            _ => {
                let it = *self.rng.pick(general).unwrap();
                (it.to_owned(), if it == "RuntimeException" { Ty::Err } else { Ty::Thr })
            }
        };
        handler.add(&e, ty, true);
        let may = if scope.checked { "may();\n" } else { "" };
        let tried = format!("try {{\n{may}{body}}}");
        match self.rng.below(6) {
            0 => {
                self.shape("rethrowing handler");
                let inside = self.block(&mut handler, 1, 0);
                format!("{tried} catch ({caught} {e}) {{\n{inside}throw {e};\n}}\n")
            }
            1 => {
                self.shape("finally");
                let mut after = scope.clone();
                let after = self.block(&mut after, 1, 0);
                format!("{tried} finally {{\n{after}}}\n")
            }
            2 => {
                self.shape("wrapping handler");
                let number = self.wrapper();
                let class = self.thrown[number].name.clone();
                format!("{tried} catch ({caught} {e}) {{\nthrow new {class}({e});\n}}\n")
            }
            3 => {
                self.shape("handler that throws on some paths");
                let bit = self.bit();
                format!("{tried} catch ({caught} {e}) {{\nif ({bit}) throw {e};\n}}\n")
            }
            4 if fresh.len() > 1 => {
                let (a, b) = (fresh[0], fresh[fresh.len() - 1]);
                if self.thrown[b].above.contains(&a) {
                    return format!("{tried} catch ({caught} {e}) {{ last = \"\"; }}\n");
                }
                self.shape("handler of two classes");
                let (a, b) = (self.thrown[a].name.clone(), self.thrown[b].name.clone());
                let bit = self.bit();
                format!("{tried} catch ({a} | {b} {e}) {{\nif ({bit}) throw {e};\n}}\n")
            }
            _ => {
                self.shape("swallowing handler");
                let inside = self.block(&mut handler, 1, 0);
                format!("{tried} catch ({caught} {e}) {{\n{inside}}}\n")
            }
        }
    }

    /// A body whose checked exceptions are wrapped, or thrown without declaration.
    pub(crate) fn quiet(&mut self, body: &str) -> String {
        let tried = format!("try {{\nmay();\n{body}}}");
        if self.taste.odd && self.is_wild() {
            return format!("{tried} catch (Throwable t) {{ throw Main.<RuntimeException>sneak(t); }}\n");
        }
        let number = self.wrapper();
        let class = &self.thrown[number].name;
        format!(
            "{tried} catch (RuntimeException | Error t) {{ throw t; }} catch (Throwable t) {{ throw new {class}(t); }}\n"
        )
    }
}
