/* JFlex 1.7 falls over a macro with a class after %7bit. */
%%
%class Seven
%7bit
d = [0-9]
%%
{d}  { }
