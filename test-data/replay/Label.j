; A label that nobody defines: found only when the class is written.
.class public Label
.super java/lang/Object

.method public static m(I)V
    iload_0
    lookupswitch
        1 : Nowhere
        3 : Here
        default : Here
Here:
    return
.end method
