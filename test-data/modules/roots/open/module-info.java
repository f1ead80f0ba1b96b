open module open {  }
