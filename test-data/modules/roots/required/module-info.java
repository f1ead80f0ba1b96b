module required {  }
