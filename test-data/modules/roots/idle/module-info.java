module idle {  }
