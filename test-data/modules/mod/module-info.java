module mod {
    exports out;
    exports fr to friend;
}
