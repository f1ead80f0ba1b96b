; An instruction without its argument: jasmin says so and leaves the method as it is.
.class public Broken
.super java/lang/Object

.method public static twice()V
    .limit stack 1
    iload
    goto Nowhere
    return
.end method
