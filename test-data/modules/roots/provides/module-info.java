module provides { opens pv; provides Runnable with pv.X; }
