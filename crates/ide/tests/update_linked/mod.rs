//! Changes of what the JVM loads, initialises and accepts.

use ide::{WholeOptions, WorldKind};
use test_utils::rng::Rng;
use test_utils::tier;

use crate::update_programs::kept::in_world;
use crate::{Editor, assembled};

/// Classes of which some change what the JVM loads, initialises or accepts, in their versions. The code that is affected
/// names them directly, or by way of classes between.
const LINKED: [&[&str]; 12] = [
    &[
        ".class public super p/A\n.method public m()V\n return\n.end\n",
        ".class public super p/A\n.method public final m()V\n return\n.end\n",
    ],
    &[".class public super p/B\n.super p/A\n"],
    &[
        ".class public super p/C\n.super p/B\n.method public <init>()V\n return\n.end\n\
          .method public m()V\n return\n.end\n.method public static s()V\n return\n.end\n",
        ".class public super p/C\n.super p/B\n.method public <init>()V\n return\n.end\n\
          .method public static s()V\n return\n.end\n",
    ],
    &[".class public super p/Use\n\
       .method public static make()V\n new p/C\n dup\n invokespecial p/C.<init>()V\n pop\n return\n.end\n\
       .method public static call()V\n invokestatic p/C.s()V\n return\n.end\n\
       .method public static test(Ljava/lang/Object;)I\n aload_0\n instanceof p/C\n ireturn\n.end\n"],
    &[
        ".class public super q/X\n.super java/lang/RuntimeException\n",
        ".class super q/X\n.super java/lang/RuntimeException\n",
    ],
    &[".class public super p/Row\n.method public static f()V\n .catch q/X from A to B using C\n\
       A: invokestatic p/Boom.boom()I\n pop\n B: return\n C: pop\n return\n.end\n"],
    &[
        ".class public super p/Boom\n.method public static boom()I\n new java/lang/IllegalStateException\n\
          athrow\n.end\n",
        ".class public super p/Boom\n.method public static boom()I\n iconst_1\n ireturn\n.end\n",
    ],
    &[
        ".class public interface abstract p/I\n.version 52.0\n.method public abstract f()V\n.end\n\
          .method public d()V\n return\n.end\n.method static <clinit>()V\n invokestatic p/Boom.boom()I\n pop\n return\n.end\n",
        ".class public interface abstract p/I\n.version 52.0\n.method public abstract f()V\n.end\n\
          .method static <clinit>()V\n invokestatic p/Boom.boom()I\n pop\n return\n.end\n",
        ".class public interface abstract p/I\n.version 52.0\n.method public abstract f()V\n.end\n\
          .method public d()V\n return\n.end\n",
    ],
    &[".class public interface abstract p/K\n.version 52.0\n.implements p/I\n"],
    &[
        ".class public super p/R\n.implements p/I\n.method public <init>()V\n return\n.end\n\
          .method public f()V\n return\n.end\n",
        ".class public super p/R\n.method public <init>()V\n return\n.end\n.method public f()V\n return\n.end\n",
    ],
    &[
        ".class public super p/Rec\n.method public static r()V\n new p/R\n dup\n invokespecial p/R.<init>()V\n\
       invokeinterface p/I.f()V\n return\n.end\n",
    ],
    &[
        ".class public super p/Own\n.field static n I\n.method static <clinit>()V\n invokestatic p/Boom.boom()I\n\
       putstatic p/Own.n I\n return\n.end\n.method public own()V\n getstatic p/Own.n I\n pop\n return\n.end\n",
    ],
];

/// The class whose code makes a function object of `p/K`.
fn lambda() -> String {
    const BOOTSTRAP: &str = "java/lang/invoke/LambdaMetafactory.metafactory(Ljava/lang/invoke/MethodHandles$Lookup;\
        Ljava/lang/String;Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;\
        Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;";
    format!(
        ".class public super p/Lam\n.version 52.0\n\
         .bootstrap b0 invokestatic {BOOTSTRAP} methodtype ()V handle invokestatic p/Lam.l()V methodtype ()V\n\
         .method public static k()Lp/K;\n invokedynamic b0 f()Lp/K;\n areturn\n.end\n\
         .method public static l()V\n return\n.end\n"
    )
}

#[test]
fn changes_of_what_the_jvm_loads_and_initialises_are_taken_in() {
    let lambda = lambda();
    for (seed, options) in (0..tier::rounds(8, 40)).flat_map(|seed| {
        let link_errors = seed % 2 == 1;
        [WorldKind::Open, WorldKind::Closed].map(|it| (seed, WholeOptions { link_errors, ..in_world(it) }))
    }) {
        let mut rng = Rng::new(seed + 1);
        let mut chosen = [0; LINKED.len()];
        let texts = |chosen: &[usize]| -> Vec<Vec<u8>> {
            let mut all: Vec<&str> = LINKED.iter().zip(chosen).map(|(it, &version)| it[version]).collect();
            all.push(&lambda);
            assembled(&all)
        };
        let mut editor = Editor::new(texts(&chosen), options);
        for step in 0..20 {
            let at = rng.below(LINKED.len() as u32) as usize;
            chosen[at] = rng.below(LINKED[at].len() as u32) as usize;
            let mut present: Vec<usize> = (0..=LINKED.len()).collect();
            if rng.chance(25) {
                present.remove(rng.below(LINKED.len() as u32) as usize);
            }
            editor.go(texts(&chosen), present, &format!("{options:?}, seed {seed}, step {step}"));
        }
    }
}

/// A cycle of superclasses cannot be patched into a hierarchy: the partial update is undone, and the hierarchy is
/// rebuilt.
#[test]
fn cycles_of_superclasses_are_added_and_removed() {
    let with = |of_a: &str, of_b: &str| {
        let class = |name: &str, above: &str, body: &str| {
            let above = if above.is_empty() { String::new() } else { format!(".super {above}\n") };
            format!(".class public super p/{name}\n{above}{body}")
        };
        let v = ".method public v()V\n aconst_null\n athrow\n.end\n";
        let caller = ".method public static m()V\n aconst_null\n invokevirtual p/A.v()V\n return\n.end\n";
        let texts = [
            class("A", of_a, v),
            class("B", of_b, ""),
            class("C", "p/B", ".method public v()V\n return\n.end\n"),
            class("D", "p/C", ""),
            class("Caller", "", caller),
        ];
        assembled(&texts.each_ref().map(String::as_str))
    };
    for world in [WorldKind::Open, WorldKind::Closed] {
        let mut editor = Editor::new(with("", "p/A"), in_world(world));
        let present = editor.present.clone();
        let edits =
            [("p/D", "p/A"), ("", "p/A"), ("p/B", "p/A"), ("", ""), ("", "p/A"), ("p/D", ""), ("", "p/A")];
        for (n, (of_a, of_b)) in edits.into_iter().enumerate() {
            editor.go(with(of_a, of_b), present.clone(), &format!("{world:?}, edit {n}"));
        }
    }
}
