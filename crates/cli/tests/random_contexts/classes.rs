//! Random classes of a program, and the program around them.

use std::collections::BTreeMap;

use test_utils::rng::Rng;

use crate::code::Maker;
use crate::words::{Helper, Program, QUIET, Scope, Source, Taste, Thrown, Ty};

/// The members that each program has.
const PRELUDE: &str = include_str!("prelude.java");

/// Makes a program.
pub(crate) fn program(package: String, rng: &mut Rng, size: u32) -> Program {
    let taste = Taste::new(rng);
    let mut maker = Maker {
        rng,
        taste,
        members: String::new(),
        thrown: Vec::new(),
        sources: Vec::new(),
        helpers: Vec::new(),
        called: Vec::new(),
        n: 0,
        shapes: BTreeMap::new(),
    };
    maker.fixed();
    for _ in 0..size {
        maker.declaration();
    }
    let mut entries = Vec::new();
    let mut cases = String::new();
    for number in 0..8 {
        maker.called.clear();
        let scope = &mut Scope::new("2", true);
        let body = match maker.rng.below(3) {
            0 => maker.block(scope, 1, 3),
            n => (0..n).filter_map(|_| Some(maker.call(scope, None, 2)? + ";\n")).collect(),
        };
        maker.members += &format!("static void e{number}() throws Throwable {{\n{body}}}\n");
        cases += &format!("case {number}: e{number}(); break;\n");
        entries.push(std::mem::take(&mut maker.called));
    }
    let source = format!(
        "package {package};\nimport java.util.Iterator;\nimport java.util.function.*;\n@SuppressWarnings(\"all\")\npublic class Main {{\n{PRELUDE}{}public static final ajarrun.Entry ENTRY = (entry, x) -> {{\nbegin(x);\nswitch (entry) {{\n{cases}}}\n}};\n}}\n",
        maker.members
    );
    Program { package, source, entries, shapes: maker.shapes }
}

impl Maker<'_> {
    /// The declarations of the prelude.
    fn fixed(&mut self) {
        let source = |types: &[Ty], text: &str, takes: &[Ty]| Source {
            types: types.to_vec(),
            text: text.to_owned(),
            takes: Some(takes.to_vec()),
        };
        let all = [
            source(&[Ty::Shape], "Square", &[Ty::Act]),
            source(&[Ty::Shape], "Circle", &[Ty::Obj]),
            source(&[Ty::Lst], "Lst<Act>", &[]),
            source(&[Ty::Obj], "Object", &[]),
            source(&[Ty::Sup], "Opt<Object>", &[Ty::Obj]),
        ];
        let is_wanted = |it: &Ty| self.taste.types.contains(it);
        let wanted =
            all.into_iter().filter(|it| it.types.iter().chain(it.takes.iter().flatten()).all(is_wanted));
        self.sources.extend(wanted.collect::<Vec<_>>());
    }

    fn declaration(&mut self) {
        match self.rng.below(18) {
            0 | 1 => self.act_class(),
            2 if self.is_wild() || self.rng.chance(30) => self.decorator(),
            3 if self.taste.types.contains(&Ty::Tmp) => self.template(),
            4 if self.is_wild() || self.rng.chance(30) => self.builder(),
            5 => self.enumeration(),
            6 => self.record(),
            7 | 8 => self.object_class(),
            9..=11 => self.service(),
            _ => self.helper(),
        }
    }

    /// Declares an exception class and returns its number.
    pub(crate) fn exception_class(&mut self, unchecked: bool, runtime: bool) -> usize {
        let name = self.name("E");
        let fits = |it: &Thrown| (!unchecked || it.is_unchecked) && (!runtime || it.is_runtime);
        let above: Vec<usize> = (0..self.thrown.len())
            .filter(|it| fits(&self.thrown[*it]) && self.thrown[*it].takes.is_none())
            .collect();
        let up = if self.rng.chance(25) { self.rng.pick(&above).copied() } else { None };
        let mut it = match up {
            Some(up) => {
                let above = self.thrown[up].above.iter().copied().chain([up]).collect();
                Thrown { above, ..self.thrown[up].clone() }
            }
            None => {
                let n = if runtime { 0 } else { self.rng.below(if unchecked { 4 } else { 7 }) };
                Thrown {
                    name: String::new(),
                    is_unchecked: n < 4,
                    is_runtime: n < 3,
                    above: Vec::new(),
                    takes: None,
                }
            }
        };
        let parent = match up {
            Some(up) => self.thrown[up].name.clone(),
            None if it.is_runtime => "RuntimeException".to_owned(),
            None if it.is_unchecked => "Error".to_owned(),
            None => "Exception".to_owned(),
        };
        let mut body = String::new();
        if up.is_none() && self.taste.odd {
            match self.rng.below(10) {
                0 => {
                    self.shape("exception with a message of an object");
                    it.takes = Some(Ty::Obj);
                    body = format!("{name}(Object o) {{ super(String.valueOf(o)); }}\n");
                }
                1 => {
                    self.shape("exception with a cause");
                    it.takes = Some(Ty::Thr);
                    body = format!("{name}(Throwable t) {{ super(t); }}\n");
                }
                _ => {}
            }
        }
        it.name = name.clone();
        // The class counts as declared before its code is made, because that code may declare exceptions below it.
        let number = self.thrown.len();
        self.thrown.push(it);
        if self.taste.odd && self.rng.chance(8) {
            self.shape("exception that overrides a method of Throwable");
            let scope = Scope::new("0", false);
            let code = self.throw_other(&scope, number);
            body += match self.rng.below(3) {
                0 => "public String getMessage() {\n",
                1 => "public String toString() {\n",
                _ => "public synchronized Throwable fillInStackTrace() {\n",
            };
            let is_fill = body.ends_with("fillInStackTrace() {\n");
            body += &format!("{code}return {};\n}}\n", if is_fill { "this" } else { "\"\"" });
        }
        self.members += &format!("static class {name} extends {parent} {{\n{body}}}\n");
        number
    }

    /// A statement that throws an exception of a class that is declared for it and does nothing else.
    fn throw_other(&mut self, scope: &Scope, not: usize) -> String {
        let plain = (0..self.thrown.len()).filter(|it| {
            *it != not && self.thrown[*it].takes.is_none() && self.thrown[*it].is_unchecked && *it < not
        });
        let plain: Vec<usize> = plain.collect();
        let Some(it) = self.rng.pick(&plain).copied() else { return String::new() };
        let (e, bit) = (self.new_exception(scope, it), self.bit());
        format!("if ({bit}) throw {e};\n")
    }

    /// Declares an unchecked exception class with a cause.
    pub(crate) fn wrapper(&mut self) -> usize {
        let name = self.name("E");
        let is_runtime = self.rng.chance(70);
        let parent = if is_runtime { "RuntimeException" } else { "Error" };
        let calls = ["last = t;", "super(t);", "initCause(t);", "addSuppressed(t);"];
        let call = calls[if self.taste.odd { self.rng.below(4) as usize } else { 0 }];
        self.members +=
            &format!("static class {name} extends {parent} {{ {name}(Throwable t) {{ {call} }} }}\n");
        let takes = Some(Ty::Thr);
        self.thrown.push(Thrown { name, is_unchecked: true, is_runtime, above: Vec::new(), takes });
        self.thrown.len() - 1
    }

    /// Random fields: declarations, types, and the scope of methods.
    fn fields(&mut self, most: u32) -> Vec<(String, Ty)> {
        let n = if self.rng.chance(10 + self.taste.wild) { self.rng.below(most + 1) } else { 0 };
        (0..n).map(|_| (self.name("f"), self.any_type())).collect()
    }

    fn scope_of(fields: &[(String, Ty)], depth: &str, checked: bool) -> Scope {
        let mut scope = Scope::new(depth, checked);
        for (name, ty) in fields {
            scope.add(name, *ty, true);
        }
        scope
    }

    /// Declarations of the fields and of a constructor that stores its parameters in them.
    fn constructor(&mut self, class: &str, fields: &[(String, Ty)]) -> String {
        let mut text: String = fields.iter().map(|(name, ty)| format!("{} {name};\n", ty.java())).collect();
        let parameters: Vec<String> =
            fields.iter().map(|(name, ty)| format!("{} x{name}", ty.java())).collect();
        let stores: String = fields.iter().map(|(name, _)| format!("{name} = x{name};\n")).collect();
        let scope = Self::scope_of(fields, "0", false);
        let mut rest = if self.rng.chance(25) { self.throw(&scope) } else { String::new() };
        for (name, ty) in fields.iter().filter(|it| QUIET.contains(&it.1)) {
            if self.rng.chance(30) {
                self.shape("constructor that calls methods of its parameters");
                rest += &self.usage_of(&scope, *ty, &format!("x{name}"), 0);
            }
        }
        text += &format!("{class}({}) {{\n{stores}{rest}}}\n", parameters.join(", "));
        text
    }

    fn types(fields: &[(String, Ty)]) -> Vec<Ty> {
        fields.iter().map(|it| it.1).collect()
    }

    fn act_body(&mut self, fields: &[(String, Ty)], depth: usize) -> String {
        let parameter = self.name("d");
        let mut scope = Self::scope_of(fields, &parameter, true);
        scope.this = true;
        let body = self.block(&mut scope, 2, depth);
        format!("public void act(int {parameter}) throws Throwable {{\n{body}}}\n")
    }

    fn act_class(&mut self) {
        let class = self.name("C");
        let fields = self.fields(2);
        let is_final = self.rng.chance(40);
        let mut text = self.constructor(&class, &fields);
        text += &self.act_body(&fields, 2);
        if self.rng.chance(30) {
            text += &self.object_methods(&fields);
        }
        let word = if is_final { "final " } else { "" };
        self.members += &format!("static {word}class {class} implements Act {{\n{text}}}\n");
        self.sources.push(Source {
            types: vec![Ty::Act],
            text: class.clone(),
            takes: Some(Self::types(&fields)),
        });
        if !is_final && self.rng.chance(50) {
            self.shape("super call");
            let sub = self.name("C");
            let parameter = self.name("d");
            let mut scope = Scope::new(&parameter, true);
            scope.this = true;
            let (before, after) = (self.throw(&scope), self.block(&mut scope, 1, 1));
            let own = Self::types(&fields);
            let parameters: Vec<String> =
                own.iter().enumerate().map(|(i, ty)| format!("{} x{i}", ty.java())).collect();
            let names: Vec<String> = (0..own.len()).map(|i| format!("x{i}")).collect();
            self.members += &format!(
                "static class {sub} extends {class} {{\n{sub}({}) {{ super({}); }}\npublic void act(int {parameter}) throws Throwable {{\n{before}super.act({parameter});\n{after}}}\n}}\n",
                parameters.join(", "),
                names.join(", ")
            );
            self.sources.push(Source { types: vec![Ty::Act], text: sub, takes: Some(own) });
        }
    }

    fn decorator(&mut self) {
        self.shape("decorator");
        let class = self.name("D");
        let ty = *self.rng.pick(&[Ty::Act, Ty::Act, Ty::Run, Ty::Sup, Ty::Chars]).unwrap();
        let inner = self.name("f");
        let fields = [(inner.clone(), ty)];
        let constructor = self.constructor(&class, &fields);
        let scope = Self::scope_of(&fields, "1", ty == Ty::Act);
        let before = self.throw(&scope);
        let guard = |call: &str, maker: &mut Self| match maker.rng.below(3) {
            0 => {
                let (e, bit) = (maker.name("e"), maker.bit());
                format!("try {{ {call}; }} catch (RuntimeException {e}) {{ if ({bit}) throw {e}; }}\n")
            }
            1 => {
                let after = maker.throw(&scope);
                format!("try {{ {call}; }} finally {{\n{after}}}\n")
            }
            _ => format!("{call};\n"),
        };
        let text = match ty {
            Ty::Act => {
                let call = guard(&format!("{inner}.act(d)"), self);
                format!("public void act(int d) throws Throwable {{\n{before}{call}}}\n")
            }
            Ty::Run => {
                let call = guard(&format!("{inner}.run()"), self);
                format!("public void run() {{\n{before}{call}}}\n")
            }
            Ty::Sup => format!("public Object get() {{\n{before}return {inner}.get();\n}}\n"),
            _ => format!(
                "public int length() {{\n{before}return {inner}.length();\n}}\npublic char charAt(int i) {{ return {inner}.charAt(i); }}\npublic CharSequence subSequence(int a, int b) {{ return this; }}\npublic String toString() {{ return {inner}.toString(); }}\n"
            ),
        };
        self.members += &format!("static class {class} implements {} {{\n{constructor}{text}}}\n", ty.java());
        self.sources.push(Source { types: vec![ty], text: class, takes: Some(vec![ty]) });
    }

    fn template(&mut self) {
        self.shape("constructor that calls an overridable method");
        let class = self.name("T");
        let fields = self.fields(1);
        let parameter = self.name("d");
        let mut scope = Self::scope_of(&fields, &parameter, true);
        scope.this = true;
        let step = self.block(&mut scope, 1, 1);
        let init = self.throw(&Self::scope_of(&fields, "0", false));
        let constructor = self.constructor(&class, &fields);
        self.members += &format!(
            "static class {class} extends Template {{\n{constructor}void init() {{\n{init}}}\nvoid step(int {parameter}) throws Throwable {{\n{step}}}\n}}\n"
        );
        let takes = Some(Self::types(&fields));
        self.sources.push(Source { types: vec![Ty::Tmp], text: class, takes });
    }

    fn builder(&mut self) {
        self.shape("builder");
        let class = self.name("B");
        let ty = *self.rng.pick(&[Ty::Act, Ty::Run, Ty::Obj, Ty::Err]).unwrap();
        let java = ty.java();
        let check = self.throw(&Scope::new("0", false));
        let mut scope = Scope::new("d", true);
        scope.add("part", ty, true);
        scope.add("other", Ty::Obj, true);
        let act = self.block(&mut scope, 1, 1);
        self.members += &format!(
            "static class {class} implements Act {{\n{java} part; Object other;\n{class} with({java} it) {{ part = it; return this; }}\n{class} also(Object it) {{\n{check}other = it; return this;\n}}\nAct build() {{ return new {class}().with(part).also(other); }}\npublic void act(int d) throws Throwable {{\n{act}}}\n}}\n"
        );
        let scope = Scope::new("1", false);
        let (part, other) = (self.value(&scope, ty, 1), self.value(&scope, Ty::Obj, 1));
        let end = if self.rng.chance(50) { ".build()" } else { "" };
        self.sources.push(Source {
            types: vec![Ty::Act],
            text: format!("new {class}().with({part}).also({other}){end}"),
            takes: None,
        });
    }

    fn enumeration(&mut self) {
        self.shape("enum with bodies");
        let class = self.name("N");
        let a = self.act_body(&[], 1);
        let b = self.act_body(&[], 1);
        let c = if self.rng.chance(50) { format!(" {{\n{b}}}") } else { String::new() };
        self.members += &format!("enum {class} implements Act {{\nX, Y{c};\n{a}}}\n");
        for it in ["X", "Y"] {
            self.sources.push(Source { types: vec![Ty::Act], text: format!("{class}.{it}"), takes: None });
        }
    }

    fn record(&mut self) {
        self.shape("record");
        let class = self.name("R");
        let fields = self.fields(2);
        let parameters: Vec<String> =
            fields.iter().map(|(name, ty)| format!("{} {name}", ty.java())).collect();
        let act = self.act_body(&fields, 1);
        let compact = if self.rng.chance(30) {
            let it = self.throw(&Self::scope_of(&fields, "0", false));
            format!("{class} {{\n{it}}}\n")
        } else {
            String::new()
        };
        self.members +=
            &format!("record {class}({}) implements Act {{\n{compact}{act}}}\n", parameters.join(", "));
        let takes = Some(Self::types(&fields));
        self.sources.push(Source { types: vec![Ty::Act], text: class, takes });
    }

    /// Overrides of methods of `Object`.
    fn object_methods(&mut self, fields: &[(String, Ty)]) -> String {
        self.shape("overrides of methods of Object");
        let mut text = String::new();
        for (head, result) in [
            ("public String toString()", "\"t\""),
            ("public int hashCode()", "1"),
            ("public boolean equals(Object o)", "true"),
        ] {
            if self.rng.chance(60) {
                let mut scope = Self::scope_of(fields, "0", false);
                let body = self.block(&mut scope, 1, 1);
                text += &format!("{head} {{\n{body}return {result};\n}}\n");
            }
        }
        text
    }

    fn object_class(&mut self) {
        let class = self.name("O");
        let fields = self.fields(1);
        let mut text = self.constructor(&class, &fields);
        text += &self.object_methods(&fields);
        let (name, types) = match self.rng.below(4) {
            0 => {
                let mut scope = Self::scope_of(&fields, "0", false);
                let body = self.block(&mut scope, 1, 1);
                text += &format!("public int compareTo(Object o) {{\n{body}return 0;\n}}\n");
                (" implements Comparable<Object>", vec![Ty::Cmp])
            }
            1 => {
                let scope = Self::scope_of(&fields, "0", false);
                let body = self.throw(&scope);
                text += &format!(
                    "public int length() {{\n{body}return 1;\n}}\npublic char charAt(int i) {{ return 'c'; }}\npublic CharSequence subSequence(int a, int b) {{ return this; }}\n"
                );
                (" implements CharSequence", vec![Ty::Chars])
            }
            2 => {
                let mut scope = Self::scope_of(&fields, "0", true);
                let body = self.block(&mut scope, 1, 1);
                let body = self.quiet(&body);
                text += &format!("public void close() {{\n{body}}}\n");
                (" implements AutoCloseable", vec![Ty::Res])
            }
            _ => ("", vec![Ty::Obj]),
        };
        self.members += &format!("static class {class}{name} {{\n{text}}}\n");
        self.sources.push(Source { types, text: class, takes: Some(Self::types(&fields)) });
    }

    /// The parameters of a method: their declarations and types, and the scope of the body.
    fn parameters(&mut self, scope: &mut Scope) -> (Vec<String>, Vec<Option<Ty>>) {
        let (mut texts, mut types) = (Vec::new(), Vec::new());
        let n = 1 + self.rng.below(5);
        for _ in 0..n {
            let name = self.name("a");
            if self.rng.chance(20) {
                let wide = self.rng.chance(50);
                texts.push(format!("{} {name}", if wide { "long" } else { "int" }));
                types.push(None);
                continue;
            }
            let ty = self.any_type();
            scope.add(&name, ty, self.rng.chance(70));
            texts.push(format!("{} {name}", ty.java()));
            types.push(Some(ty));
        }
        (texts, types)
    }

    fn helper(&mut self) {
        let name = self.name("h");
        let mut scope = Scope::new("d", true);
        if self.rng.chance(10) {
            self.shape("method for references");
            let body = self.block(&mut scope, 1, 1);
            self.members += &format!("static void {name}(int d) throws Throwable {{\n{body}}}\n");
            let takes = vec![None];
            self.helpers.push(Helper { name, on: None, takes, varargs: None, returns: None });
            return;
        }
        let (mut texts, mut takes) = self.parameters(&mut scope);
        if takes.len() > 2 {
            self.shape("more than two parameters");
        }
        texts.push("int d".to_owned());
        takes.push(None);
        let varargs = self.rng.chance(12).then(|| *self.rng.pick(&[Ty::Act, Ty::Obj, Ty::Run]).unwrap());
        let mut body = String::new();
        if let Some(ty) = varargs {
            texts.push(format!("{}... as", ty.java()));
            let it = match ty {
                Ty::Act => "it.act(d)",
                Ty::Obj => "show(it)",
                _ => "it.run()",
            };
            body += &format!("for ({} it : as) {it};\n", ty.java());
            if self.rng.chance(50) {
                let name = self.name("v");
                body += &format!("{} {name} = as[0];\n", ty.java());
                scope.add(&name, ty, true);
            }
        }
        body += &self.block(&mut scope, 2, 2);
        if self.rng.chance(35) {
            self.shape("recursion with exchanged parameters");
            let mut arguments = Vec::new();
            for ty in &takes[..takes.len() - 1] {
                arguments.push(match ty {
                    Some(ty) => {
                        let own: Vec<&String> =
                            scope.vars.iter().filter(|it| it.ty == *ty).map(|it| &it.name).collect();
                        (*self.rng.pick(&own).unwrap()).clone()
                    }
                    None => "d".to_owned(),
                });
            }
            arguments.push("d - 1".to_owned());
            body += &format!("if (d > 0) {name}({});\n", arguments.join(", "));
            body += &self.throw(&scope);
        }
        let returns = self.rng.chance(30).then(|| self.any_type());
        // The depth limits the recursion, so the caller does not use the result.
        let returns = returns.filter(|_| !body.contains(&format!("{name}(")));
        let result = returns.map_or(String::new(), |ty| format!("return {};\n", self.value(&scope, ty, 1)));
        self.members += &format!(
            "static {} {name}({}) throws Throwable {{\n{body}{result}}}\n",
            returns.map_or("void", Ty::java),
            texts.join(", ")
        );
        self.helpers.push(Helper { name, on: None, takes, varargs, returns });
    }

    /// A class with a method that uses its parameters and fields, and a subclass that overrides it.
    fn service(&mut self) {
        self.shape("instance method");
        let (class, name) = (self.name("S"), self.name("h"));
        let fields = self.fields(1);
        let mut scope = Self::scope_of(&fields, "d", true);
        let (mut texts, mut takes) = self.parameters(&mut scope);
        texts.push("int d".to_owned());
        takes.push(None);
        let constructor = self.constructor(&class, &fields);
        let body = self.block(&mut scope, 2, 2);
        let word = *self.rng.pick(&["", "final ", "private ", ""]).unwrap();
        self.members += &format!(
            "static class {class} {{\n{constructor}{word}void {name}({}) throws Throwable {{\n{body}}}\n}}\n",
            texts.join(", ")
        );
        let on = Some((class.clone(), Self::types(&fields)));
        self.helpers.push(Helper {
            name: name.clone(),
            on,
            takes: takes.clone(),
            varargs: None,
            returns: None,
        });
        if word.is_empty() && self.rng.chance(60) {
            self.shape("override that calls super");
            let sub = self.name("S");
            let mut scope = Scope::new("d", true);
            let names: Vec<&str> = texts.iter().map(|it| it.rsplit(' ').next().unwrap()).collect();
            for (it, ty) in names.iter().zip(&takes) {
                if let Some(ty) = ty {
                    scope.add(it, *ty, true);
                }
            }
            let body = self.block(&mut scope, 1, 1);
            let own = Self::types(&fields);
            let parameters: Vec<String> =
                own.iter().enumerate().map(|(i, ty)| format!("{} x{i}", ty.java())).collect();
            let passed: Vec<String> = (0..own.len()).map(|i| format!("x{i}")).collect();
            self.members += &format!(
                "static class {sub} extends {class} {{\n{sub}({}) {{ super({}); }}\nvoid {name}({}) throws Throwable {{\n{body}super.{name}({});\n}}\n}}\n",
                parameters.join(", "),
                passed.join(", "),
                texts.join(", "),
                names.join(", ")
            );
            self.helpers.push(Helper { name, on: Some((sub, own)), takes, varargs: None, returns: None });
        }
    }
}
