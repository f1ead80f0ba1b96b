; A string that the scanner refuses, after numbers at which it has to look twice.
.class public Escape
.super java/lang/Object
.field static wide J = 99999999999

.method public static n()V
    bipush 1000000
    ldc 1.5e400
    ldc "a\q"
    return
.end method
