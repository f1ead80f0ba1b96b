module opens { opens po; }
