/* Macros that need each other, and a state that is not declared. */
%%
%class State
%state A, A
a = {b}
b = x{a}?
%%
<A> {a} | "x"  { }
<B> {a}        { }
