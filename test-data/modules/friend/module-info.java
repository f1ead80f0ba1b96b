module friend {
    requires mod;
}
