/* Words and numbers, with a state for comments. */
%%
%class Words
%8bit
%line
%type String
%state COMMENT
digit = [0-9]
letter = [a-c]
%%
<YYINITIAL> {
  {letter}({letter}|{digit})*  { return yytext(); }
  {digit}+ / "."               { return "number"; }
  "/*"                         { yybegin(COMMENT); }
  [^]                          { }
}
<COMMENT> {
  "*/"                         { yybegin(YYINITIAL); }
  ~"*"                         { }
}
<<EOF>>                        { return null; }
