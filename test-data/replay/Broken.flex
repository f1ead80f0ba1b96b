/* Ranges, repetitions and a context that cannot be. */
%%
%class Broken
%8bit
%char
%debug
%standalone
%%
[b-a]{3,1} / x*  { }
!(x|y)           { }
$
