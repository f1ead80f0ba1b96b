//! The methods that a crate defines, and the calls of these methods: a small type inference over the syntax trees. A
//! receiver has a known type if it is `self`, a parameter or variable with a type or a constructor, a field of one of
//! these, or the result of another known call. A call on any other receiver is resolved only if exactly one method
//! has the name: one definition in the crate, none in the rooms below, none in the standard library.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Expr, FnArg, GenericArgument, ImplItem, Item, Member, Pat, PathArguments, ReturnType, Token, TraitItem,
    Type,
};

use super::source::RustFile;

/// The names of methods of the standard library that this code base calls on receivers whose type is unknown to the
/// checks.
const STANDARD: &str = "abs all and and_then any append arg args as_bytes as_deref as_deref_mut as_mut as_ref as_slice as_str \
    as_str_mut binary_search binary_search_by binary_search_by_key borrow borrow_mut bytes capacity ceil chain char_indices \
    chars checked_add checked_sub chunks clamp clear clone clone_from cloned cmp collect concat contains contains_key copied \
    copy_from_slice count current_dir cycle dedup dedup_by_key drain entry enumerate env eq err expect extend extend_from_slice fetch_add \
    fill filter filter_map find find_map first first_mut flat_map flatten flush fmt fold for_each from from_fn fuse \
    get get_mut get_or_insert_with get_or_init hash id index insert inspect into into_boxed_slice into_inner into_iter \
    into_keys into_values into_vec is_empty is_err is_file is_none is_none_or is_ok is_some is_some_and iter iter_mut join \
    keys kind last last_mut leading_zeros len lines load lock map map_err map_or map_or_else map_while matches max max_by \
    max_by_key min min_by min_by_key name ne next next_back not nth parent ok ok_or ok_or_else or or_default or_else or_insert \
    or_insert_with output parse partial_cmp partition partition_point path peek peekable pop pop_front position power push \
    push_back push_front push_str range read recv reduce remove repeat replace reserve resize retain rev reverse rfind \
    rotate_left rposition rsplit rsplit_once saturating_add saturating_sub send set shrink_to_fit skip skip_while spawn status stderr stdin stdout sort \
    sort_by sort_by_key sort_unstable sort_unstable_by sort_unstable_by_key splice split split_at split_first split_last \
    split_off split_once starts_with ends_with exists extension file_name components step_by store strip_prefix strip_suffix sum swap swap_remove take \
    take_while then then_some to_owned to_string to_vec total_cmp trim trim_end trim_start truncate try_from try_into \
    unwrap unwrap_or unwrap_or_default unwrap_or_else unzip update upgrade values values_mut windows with with_capacity \
    wrapping_add wrapping_sub write write_all write_fmt write_str zip";

/// The path of a module from the root of its crate; empty for the root.
pub(super) type Module = Vec<String>;

/// A method or associated function that the crate defines.
#[derive(Debug, Clone)]
pub(super) struct Method {
    /// The type or trait to which the method belongs.
    pub(super) owner: String,
    pub(super) name: String,
    pub(super) module: Module,
    pub(super) file: String,
    pub(super) line: usize,
    /// Whether the method only reads or writes a field (one expression without calls), or is a constructor, which
    /// returns a new value of the type `owner`.
    pub(super) accessor: bool,
    /// Whether a trait of the crate declares the method.
    of_trait: bool,
    result: Option<String>,
}

/// A call of a method: the called method, and the module and line that contain the call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) method: &'a Method,
    pub(super) module: Module,
    pub(super) line: usize,
}

/// The methods and fields of one crate.
#[derive(Default)]
pub(super) struct Methods {
    all: Vec<Method>,
    /// For each type, the types of its fields by the names of the fields.
    fields: BTreeMap<String, BTreeMap<String, String>>,
    /// For each name of a type or trait, the modules that define an item of this name, each with its file.
    types: BTreeMap<String, BTreeMap<Module, String>>,
    aliases: BTreeMap<String, String>,
    /// The names of methods that implement a trait of another crate. Also all names in macros, because macros may
    /// define methods.
    implemented: BTreeSet<String>,
}

impl Methods {
    /// Collects the methods and fields in the product code of one crate, given all its files.
    pub(super) fn read(files: &[&RustFile]) -> Methods {
        let mut methods = Methods::default();
        let items: Vec<(&RustFile, Module, &Item)> = files
            .iter()
            .flat_map(|file| file.live_items().into_iter().map(move |(module, item)| (*file, module, item)))
            .collect();
        for (file, module, item) in &items {
            methods.types_of(file, module, item);
        }
        let names: BTreeMap<&str, FileNames> =
            files.iter().map(|it| (it.path.as_str(), methods.names_of(it))).collect();
        for (file, module, item) in items {
            let names = &names[file.path.as_str()];
            methods.fields_of(item, names);
            methods.methods_of(file, &module, item, names);
        }
        methods
    }

    /// Returns the inherent methods of the crate's types.
    pub(super) fn inherent(&self) -> impl Iterator<Item = &Method> {
        self.all.iter().filter(|it| !it.of_trait)
    }

    /// Returns the names of all methods that the crate defines.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.all.iter().map(|it| it.name.clone()).chain(self.implemented.iter().cloned()).collect()
    }

    fn types_of(&mut self, file: &RustFile, module: &Module, item: &Item) {
        let name = match item {
            Item::Struct(it) => &it.ident,
            Item::Enum(it) => &it.ident,
            Item::Trait(it) => &it.ident,
            Item::Type(it) => {
                if let Some(target) = type_name(&it.ty, None) {
                    self.aliases.insert(it.ident.to_string(), target);
                }
                return;
            }
            _ => return,
        };
        self.types.entry(name.to_string()).or_default().insert(module.clone(), file.path.clone());
    }

    fn fields_of(&mut self, item: &Item, names: &FileNames) {
        if let Item::Struct(it) = item {
            let fields = it.fields.iter().enumerate().filter_map(|(at, field)| {
                let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
                Some((name, names.of(type_name(&field.ty, None)?)))
            });
            self.fields.insert(names.of(it.ident.to_string()), fields.collect());
        }
    }

    /// Returns the name in this table for each name by which the file refers to a type, if the two names differ
    /// ([`FileNames`]).
    fn names_of(&self, file: &RustFile) -> FileNames {
        let mut names = FileNames::default();
        let imports = imports(file);
        for (name, module) in &imports {
            if module.is_none() {
                names.0.insert(name.clone(), format!("::{name}"));
            }
        }
        for (name, homes) in self.types.iter().filter(|it| it.1.len() > 1) {
            let own = homes.iter().find(|it| *it.1 == file.path).map(|it| it.0);
            let imported = || homes.get_key_value(imports.get(name)?.as_ref()?).map(|it| it.0);
            if imports.get(name) != Some(&None) {
                let home = own.or_else(imported).map_or("?".to_string(), |it| it.join("::"));
                names.0.insert(name.clone(), format!("{home}::{name}"));
            }
        }
        names
    }

    fn methods_of(&mut self, file: &RustFile, module: &Module, item: &Item, names: &FileNames) {
        let method = |owner: &str, signature: &syn::Signature, block: Option<&syn::Block>, of_trait| Method {
            owner: owner.to_string(),
            name: signature.ident.to_string(),
            module: module.clone(),
            file: file.path.clone(),
            line: signature.fn_token.span.start().line,
            accessor: block.is_some_and(is_accessor) || makes_its_type(owner, signature),
            of_trait,
            result: match &signature.output {
                ReturnType::Type(_, ty) => type_name(ty, Some(owner)).map(|it| names.of(it)),
                ReturnType::Default => None,
            },
        };
        match item {
            Item::Impl(it) => {
                let Some(owner) = type_name(&it.self_ty, None).map(|it| names.of(it)) else { return };
                for item in &it.items {
                    if let ImplItem::Macro(it) = item {
                        self.names_in(it.mac.tokens.clone());
                    }
                }
                let functions = live_functions(it);
                match &it.trait_ {
                    None => {
                        self.all.extend(functions.map(|it| method(&owner, &it.sig, Some(&it.block), false)))
                    }
                    Some((path, _)) => {
                        let name = path.segments.last().map(|it| it.ident.to_string()).unwrap_or_default();
                        if !self.types.contains_key(&name) {
                            self.implemented.extend(functions.map(|it| it.sig.ident.to_string()));
                        }
                    }
                }
            }
            Item::Macro(it) => self.names_in(it.mac.tokens.clone()),
            Item::Trait(it) => {
                let owner = names.of(it.ident.to_string());
                for item in &it.items {
                    if let TraitItem::Fn(item) = item {
                        self.all.push(method(&owner, &item.sig, item.default.as_ref(), true));
                    }
                }
            }
            _ => {}
        }
    }

    fn names_in(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(it) => _ = self.implemented.insert(it.to_string()),
                TokenTree::Group(it) => self.names_in(it.stream()),
                _ => {}
            }
        }
    }

    /// Returns the method `name` of the type `ty`; `None` if the crate defines no such method.
    fn of_type(&self, ty: &str, name: &str) -> Option<&Method> {
        let ty = self.aliases.get(ty).map_or(ty, String::as_str);
        self.all.iter().find(|it| it.owner == ty && it.name == name)
    }

    /// Returns the only method that a call of `name` on a receiver of unknown type can mean; `None` if there are
    /// several candidates or none. With `of_traits`, only methods of traits are considered. `others` are the names of
    /// methods that the rooms below define: a call of such a name may mean one of those, so the result is `None`.
    fn only(&self, name: &str, of_traits: bool, others: &BTreeSet<String>) -> Option<&Method> {
        let ambiguous = self.implemented.contains(name) || others.contains(name) || is_standard(name);
        let mut found = self.all.iter().filter(|it| it.name == name);
        match (found.next(), found.next()) {
            (Some(method), None) if !ambiguous && (method.of_trait || !of_traits) => Some(method),
            _ => None,
        }
    }

    /// Returns the calls of methods of this crate in the product code of a file. `others` are the names of methods
    /// that the rooms below define; a call of such a name on a receiver of unknown type is omitted.
    pub(super) fn calls(&self, file: &RustFile, others: &BTreeSet<String>) -> Vec<Call<'_>> {
        let mut found = Vec::new();
        let names = self.names_of(file);
        for (module, item) in file.live_items() {
            let (names, scope) = (&names, Scope::default());
            let mut calls = Calls { methods: self, others, names, scope, module, found: Vec::new() };
            calls.visit_item(item);
            found.append(&mut calls.found);
        }
        found
    }
}

/// Maps the name that a file uses for a type to the name in [`Methods`]: `Name` if the crate defines one type of this
/// name, `module::Name` if it defines several, `::Name` for a type of another crate.
#[derive(Default)]
struct FileNames(BTreeMap<String, String>);

impl FileNames {
    fn of(&self, name: String) -> String {
        self.0.get(&name).cloned().unwrap_or(name)
    }
}

/// Returns the names that a file imports, each with the module of this crate that defines it; `None` for a name of
/// another crate.
fn imports(file: &RustFile) -> BTreeMap<String, Option<Module>> {
    fn leaves(tree: &syn::UseTree, path: &[String], found: &mut Vec<(String, Vec<String>)>) {
        match tree {
            syn::UseTree::Path(it) => leaves(&it.tree, &[path, &[it.ident.to_string()]].concat(), found),
            syn::UseTree::Name(it) => found.push((it.ident.to_string(), path.to_vec())),
            syn::UseTree::Rename(it) => found.push((it.rename.to_string(), path.to_vec())),
            syn::UseTree::Glob(_) => {}
            syn::UseTree::Group(it) => it.items.iter().for_each(|it| leaves(it, path, found)),
        }
    }
    let is_child =
        |name: &str| file.ast.items.iter().any(|it| matches!(it, Item::Mod(it) if it.ident == name));
    let mut found = BTreeMap::new();
    for (module, item) in file.live_items() {
        let Item::Use(it) = item else { continue };
        let mut all = Vec::new();
        leaves(&it.tree, &[], &mut all);
        for (name, path) in all {
            let mut at = match path.first().map(String::as_str) {
                Some("crate") => Some(Vec::new()),
                Some("self" | "super") => Some(module.clone()),
                Some(child) if is_child(child) => Some(module.clone()),
                _ => None,
            };
            if let Some(at) = &mut at {
                for segment in path.iter().filter(|it| !matches!(it.as_str(), "crate" | "self")) {
                    if segment == "super" {
                        at.pop();
                    } else {
                        at.push(segment.clone());
                    }
                }
            }
            found.insert(name, at);
        }
    }
    found
}

fn is_standard(name: &str) -> bool {
    STANDARD.split_whitespace().any(|it| it == name)
}

/// Returns whether a function of the type `owner` has no receiver and returns a value of that type.
fn makes_its_type(owner: &str, signature: &syn::Signature) -> bool {
    let returns = match &signature.output {
        ReturnType::Type(_, ty) => type_name(ty, Some(owner)),
        ReturnType::Default => None,
    };
    signature.receiver().is_none() && returns.as_deref() == Some(owner)
}

/// Returns whether a function body is a single expression or statement that contains no call.
fn is_accessor(block: &syn::Block) -> bool {
    struct HasCall(bool);
    impl<'ast> Visit<'ast> for HasCall {
        fn visit_expr(&mut self, it: &'ast Expr) {
            self.0 |= matches!(it, Expr::Call(_) | Expr::MethodCall(_) | Expr::Macro(_));
            visit::visit_expr(self, it);
        }
    }
    let mut has_call = HasCall(false);
    has_call.visit_block(block);
    block.stmts.len() == 1 && !has_call.0
}

/// Returns the functions of an `impl` block that are compiled outside tests.
pub(super) fn live_functions(it: &syn::ItemImpl) -> impl Iterator<Item = &syn::ImplItemFn> {
    it.items.iter().filter_map(|it| match it {
        ImplItem::Fn(it) if !super::source::is_test(&it.attrs) => Some(it),
        _ => None,
    })
}

/// Returns the simple name of a type: `Foo` for `&mut a::Foo<T>`, `Box<Foo>` and `dyn Foo`. `Self` yields `owner`.
pub(super) fn type_name(ty: &Type, owner: Option<&str>) -> Option<String> {
    match ty {
        Type::Reference(it) => type_name(&it.elem, owner),
        Type::Paren(it) => type_name(&it.elem, owner),
        Type::Group(it) => type_name(&it.elem, owner),
        Type::ImplTrait(it) => bound_name(&it.bounds),
        Type::TraitObject(it) => bound_name(&it.bounds),
        Type::Path(it) => {
            let last = it.path.segments.last()?;
            let name = last.ident.to_string();
            match &last.arguments {
                PathArguments::AngleBracketed(arguments)
                    if matches!(name.as_str(), "Box" | "Rc" | "Arc" | "Cow") =>
                {
                    arguments.args.iter().find_map(|it| match it {
                        GenericArgument::Type(it) => type_name(it, owner),
                        _ => None,
                    })
                }
                _ if name == "Self" => owner.map(str::to_string),
                _ => Some(name),
            }
        }
        _ => None,
    }
}

fn bound_name(bounds: &Punctuated<syn::TypeParamBound, Token![+]>) -> Option<String> {
    bounds.iter().find_map(|it| match it {
        syn::TypeParamBound::Trait(it) => it.path.segments.last().map(|it| it.ident.to_string()),
        _ => None,
    })
}

/// The types of variables and of `self` inside one function, as far as they are known.
#[derive(Default)]
struct Scope {
    self_type: Option<String>,
    /// The types of the variables; `None` for an unknown type, which hides an outer variable of the same name.
    variables: BTreeMap<String, Option<String>>,
    generics: BTreeSet<String>,
}

struct Calls<'a, 'b> {
    methods: &'a Methods,
    others: &'b BTreeSet<String>,
    names: &'b FileNames,
    scope: Scope,
    module: Module,
    found: Vec<Call<'a>>,
}

impl<'a> Calls<'a, '_> {
    fn note(&mut self, method: Option<&'a Method>, line: usize) {
        if let Some(method) = method {
            self.found.push(Call { method, module: self.module.clone(), line });
        }
    }

    /// Returns the method that a call of `name` on a receiver of this type means; `None` if this is unknown or the
    /// method is not of this crate. `receiver` is `None` for an unknown type.
    fn method(&self, receiver: Option<&str>, name: &str) -> Option<&'a Method> {
        match receiver.filter(|it| !self.scope.generics.contains(*it)) {
            None => self.methods.only(name, false, self.others),
            Some(ty) => {
                let own = self.methods.of_type(ty, name);
                // The type may be of another crate; then only a trait of this crate can define the method.
                own.or_else(|| self.methods.only(name, true, self.others))
            }
        }
    }

    fn type_of(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Path(it) if it.path.segments.len() == 1 => {
                let name = it.path.segments[0].ident.to_string();
                if name == "self" {
                    self.scope.self_type.clone()
                } else {
                    self.scope.variables.get(&name)?.clone()
                }
            }
            Expr::Field(it) => {
                let name = match &it.member {
                    Member::Named(it) => it.to_string(),
                    Member::Unnamed(it) => it.index.to_string(),
                };
                self.methods.fields.get(&self.type_of(&it.base)?)?.get(&name).cloned()
            }
            Expr::Reference(it) => self.type_of(&it.expr),
            Expr::Paren(it) => self.type_of(&it.expr),
            Expr::Group(it) => self.type_of(&it.expr),
            Expr::Unary(it) if matches!(it.op, syn::UnOp::Deref(_)) => self.type_of(&it.expr),
            Expr::Struct(it) => self.named(&it.path.segments.last()?.ident.to_string()),
            Expr::MethodCall(it) => {
                let name = it.method.to_string();
                let receiver = self.type_of(&it.receiver);
                if matches!(name.as_str(), "as_ref" | "as_mut" | "clone" | "borrow") {
                    return receiver;
                }
                self.method(receiver.as_deref(), &name)?.result.clone()
            }
            Expr::Call(it) => match &*it.func {
                Expr::Path(it) => match self.associated(&it.path) {
                    Some(method) => method.result.clone(),
                    None => self.constructed(&it.path),
                },
                _ => None,
            },
            _ => None,
        }
    }

    fn named(&self, name: &str) -> Option<String> {
        if name == "Self" {
            return self.scope.self_type.clone();
        }
        Some(self.names.of(name.to_string()))
    }

    /// Returns the type that a call `Type(…)` constructs; `None` if this crate does not define the type.
    fn constructed(&self, path: &syn::Path) -> Option<String> {
        let name = self.named(&path.segments.last()?.ident.to_string())?;
        let is_ours = !name.starts_with("::") && self.methods.types.contains_key(name.rsplit("::").next()?);
        is_ours.then_some(name)
    }

    /// Returns the method that the path `Type::name` means; `None` if this crate does not define the method.
    fn associated(&self, path: &syn::Path) -> Option<&'a Method> {
        let mut segments = path.segments.iter().rev();
        let name = segments.next()?.ident.to_string();
        let ty = self.named(&segments.next()?.ident.to_string())?;
        self.methods.of_type(&ty, &name)
    }

    fn in_function(&mut self, signature: &syn::Signature, visit: impl FnOnce(&mut Self)) {
        let variables = std::mem::take(&mut self.scope.variables);
        let generics = self.scope.generics.clone();
        self.generics(&signature.generics);
        for input in &signature.inputs {
            if let FnArg::Typed(it) = input {
                self.bind_typed(&it.pat, &it.ty);
            }
        }
        visit(self);
        self.scope.variables = variables;
        self.scope.generics = generics;
    }

    fn generics(&mut self, generics: &syn::Generics) {
        self.scope.generics.extend(generics.type_params().map(|it| it.ident.to_string()));
    }

    fn bind_typed(&mut self, pat: &Pat, ty: &Type) {
        let ty = type_name(ty, self.scope.self_type.as_deref());
        self.bind(pat, ty.map(|it| self.names.of(it)));
    }

    fn bind(&mut self, pat: &Pat, ty: Option<String>) {
        match pat {
            Pat::Ident(it) => {
                self.scope.variables.insert(it.ident.to_string(), ty);
            }
            Pat::Type(it) => self.bind_typed(&it.pat, &it.ty),
            Pat::Reference(it) => self.bind(&it.pat, ty),
            _ => self.visit_pat(pat),
        }
    }
}

impl<'ast> Visit<'ast> for Calls<'_, '_> {
    fn visit_item_impl(&mut self, it: &'ast syn::ItemImpl) {
        self.scope.self_type = type_name(&it.self_ty, None).map(|it| self.names.of(it));
        self.generics(&it.generics);
        live_functions(it).for_each(|it| self.visit_impl_item_fn(it));
        self.scope = Scope::default();
    }

    fn visit_item_trait(&mut self, it: &'ast syn::ItemTrait) {
        self.scope.self_type = Some(self.names.of(it.ident.to_string()));
        self.generics(&it.generics);
        visit::visit_item_trait(self, it);
        self.scope = Scope::default();
    }

    fn visit_item_fn(&mut self, it: &'ast syn::ItemFn) {
        self.in_function(&it.sig, |calls| visit::visit_block(calls, &it.block));
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        self.in_function(&it.sig, |calls| visit::visit_block(calls, &it.block));
    }

    fn visit_trait_item_fn(&mut self, it: &'ast syn::TraitItemFn) {
        if let Some(block) = &it.default {
            self.in_function(&it.sig, |calls| visit::visit_block(calls, block));
        }
    }

    fn visit_local(&mut self, it: &'ast syn::Local) {
        let ty = it.init.as_ref().and_then(|it| {
            visit::visit_local_init(self, it);
            self.type_of(&it.expr)
        });
        self.bind(&it.pat, ty);
    }

    fn visit_pat_ident(&mut self, it: &'ast syn::PatIdent) {
        self.scope.variables.insert(it.ident.to_string(), None);
    }

    fn visit_expr_closure(&mut self, it: &'ast syn::ExprClosure) {
        let variables = self.scope.variables.clone();
        for pat in &it.inputs {
            self.bind(pat, None);
        }
        self.visit_expr(&it.body);
        self.scope.variables = variables;
    }

    fn visit_arm(&mut self, it: &'ast syn::Arm) {
        let variables = self.scope.variables.clone();
        visit::visit_arm(self, it);
        self.scope.variables = variables;
    }

    fn visit_expr_method_call(&mut self, it: &'ast syn::ExprMethodCall) {
        let receiver = self.type_of(&it.receiver);
        let method = self.method(receiver.as_deref(), &it.method.to_string());
        self.note(method, it.method.span().start().line);
        visit::visit_expr_method_call(self, it);
    }

    fn visit_expr_path(&mut self, it: &'ast syn::ExprPath) {
        if let Some(last) = it.path.segments.last() {
            self.note(self.associated(&it.path), last.ident.span().start().line);
        }
        visit::visit_expr_path(self, it);
    }

    /// Visits the arguments of a macro if all of them are expressions; otherwise only the first argument, if that is
    /// an expression.
    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        let all = it.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok();
        let first = || {
            it.parse_body_with(|input: syn::parse::ParseStream<'_>| {
                let first = input.parse::<Expr>()?;
                input.parse::<TokenStream>()?;
                Ok(first)
            })
        };
        match all {
            Some(all) => all.iter().for_each(|it| self.visit_expr(it)),
            None => first().iter().for_each(|it| self.visit_expr(it)),
        }
    }
}
