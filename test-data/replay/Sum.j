; Sums the numbers below its argument, and catches what a wrong one throws.
.source Sum.j
.class public Sum
.super java/lang/Object

.field private static final LIMIT I = 10

.method public <init>()V
    aload_0
    invokenonvirtual java/lang/Object/<init>()V
    return
.end method

.method public static sum(I)I
    .limit stack 2
    .limit locals 3
    iconst_0
    istore_1
Loop:
    iload_0
    ifle Done
    iload_1
    iload_0
    iadd
    istore_1
    iinc 0 -1
    goto Loop
Done:
    iload_1
    ireturn
.end method

.method public static main([Ljava/lang/String;)V
    .limit stack 3
    .limit locals 2
    .var 0 is args [Ljava/lang/String; from From to To
From:
    getstatic java/lang/System/out Ljava/io/PrintStream;
    aload_0
    iconst_0
    aaload
    invokestatic java/lang/Integer/parseInt(Ljava/lang/String;)I
    invokestatic Sum/sum(I)I
    invokevirtual java/io/PrintStream/println(I)V
To:
    return
Wrong:
    pop
    iconst_2
    tableswitch 1
        One
        Two
        default : Other
One:
    return
Two:
    ldc "two\t\u0032"
    pop
Other:
    ldc2_w 2.5
    pop2
    return
    .catch java/lang/RuntimeException from From to To using Wrong
.end method
