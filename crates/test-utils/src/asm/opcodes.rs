//! The assembler's own table of the 202 opcodes: number, mnemonic, operand layout, and change of the stack depth.
//!
//! The table is deliberately independent of the table in `classfile`, because the assembler is an oracle for the
//! decoder. See JVMS §6.5 and §7. Changes of the stack depth that depend on a descriptor (fields, calls,
//! `multianewarray`) are not in the table.

/// The layout of an instruction's operands in the class file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// No operands.
    Plain,
    /// A signed byte.
    Byte,
    /// A signed short.
    Short,
    /// A loadable constant.
    Const,
    /// A local variable; the instruction has a `wide` form.
    Local,
    /// A local variable and an increment; the instruction has a `wide` form.
    Iinc,
    /// A 16-bit branch offset.
    Jump,
    /// A 32-bit branch offset.
    WideJump,
    /// The operands of `tableswitch`.
    Table,
    /// The operands of `lookupswitch`.
    Lookup,
    /// A field reference.
    Field,
    /// A method reference.
    Method,
    /// An interface method reference, a count and a zero.
    Interface,
    /// An `invokedynamic` call site and two zeros.
    Dynamic,
    /// A class.
    Type,
    /// The number of a primitive type (`newarray`).
    Primitive,
    /// A class and a number of dimensions.
    MultiArray,
    /// The prefix `wide`, which cannot be written as an instruction of its own in assembler text.
    Prefix,
}

/// The properties of an opcode: one row of the opcode table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The mnemonic of JVMS §6.5.
    pub name: &'static str,
    /// The layout of the operands.
    pub shape: Shape,
    /// The change of the stack depth in slots, except for the part that depends on a descriptor.
    pub delta: i8,
}

/// The properties of `opcode`; `None` if `opcode` is not one of the 202 that class files may contain.
pub fn info(opcode: u8) -> Option<&'static OpInfo> {
    TABLE.get(usize::from(opcode))
}

/// The opcode with this mnemonic; `None` if no opcode has it.
pub fn by_name(name: &str) -> Option<u8> {
    TABLE.iter().position(|it| it.name == name).and_then(|it| u8::try_from(it).ok())
}

macro_rules! opcodes {
    ($($constant:ident = $number:literal $name:literal $shape:ident $delta:literal;)*) => {
        $(#[doc = concat!("`", $name, "`")] pub const $constant: u8 = $number;)*

        /// The opcode table, indexed by opcode.
        static TABLE: [OpInfo; 202] = [$(OpInfo { name: $name, shape: Shape::$shape, delta: $delta }),*];
    };
}

opcodes! {
    NOP = 0 "nop" Plain 0;
    ACONST_NULL = 1 "aconst_null" Plain 1;
    ICONST_M1 = 2 "iconst_m1" Plain 1;
    ICONST_0 = 3 "iconst_0" Plain 1;
    ICONST_1 = 4 "iconst_1" Plain 1;
    ICONST_2 = 5 "iconst_2" Plain 1;
    ICONST_3 = 6 "iconst_3" Plain 1;
    ICONST_4 = 7 "iconst_4" Plain 1;
    ICONST_5 = 8 "iconst_5" Plain 1;
    LCONST_0 = 9 "lconst_0" Plain 2;
    LCONST_1 = 10 "lconst_1" Plain 2;
    FCONST_0 = 11 "fconst_0" Plain 1;
    FCONST_1 = 12 "fconst_1" Plain 1;
    FCONST_2 = 13 "fconst_2" Plain 1;
    DCONST_0 = 14 "dconst_0" Plain 2;
    DCONST_1 = 15 "dconst_1" Plain 2;
    BIPUSH = 16 "bipush" Byte 1;
    SIPUSH = 17 "sipush" Short 1;
    LDC = 18 "ldc" Const 1;
    LDC_W = 19 "ldc_w" Const 1;
    LDC2_W = 20 "ldc2_w" Const 2;
    ILOAD = 21 "iload" Local 1;
    LLOAD = 22 "lload" Local 2;
    FLOAD = 23 "fload" Local 1;
    DLOAD = 24 "dload" Local 2;
    ALOAD = 25 "aload" Local 1;
    ILOAD_0 = 26 "iload_0" Plain 1;
    ILOAD_1 = 27 "iload_1" Plain 1;
    ILOAD_2 = 28 "iload_2" Plain 1;
    ILOAD_3 = 29 "iload_3" Plain 1;
    LLOAD_0 = 30 "lload_0" Plain 2;
    LLOAD_1 = 31 "lload_1" Plain 2;
    LLOAD_2 = 32 "lload_2" Plain 2;
    LLOAD_3 = 33 "lload_3" Plain 2;
    FLOAD_0 = 34 "fload_0" Plain 1;
    FLOAD_1 = 35 "fload_1" Plain 1;
    FLOAD_2 = 36 "fload_2" Plain 1;
    FLOAD_3 = 37 "fload_3" Plain 1;
    DLOAD_0 = 38 "dload_0" Plain 2;
    DLOAD_1 = 39 "dload_1" Plain 2;
    DLOAD_2 = 40 "dload_2" Plain 2;
    DLOAD_3 = 41 "dload_3" Plain 2;
    ALOAD_0 = 42 "aload_0" Plain 1;
    ALOAD_1 = 43 "aload_1" Plain 1;
    ALOAD_2 = 44 "aload_2" Plain 1;
    ALOAD_3 = 45 "aload_3" Plain 1;
    IALOAD = 46 "iaload" Plain -1;
    LALOAD = 47 "laload" Plain 0;
    FALOAD = 48 "faload" Plain -1;
    DALOAD = 49 "daload" Plain 0;
    AALOAD = 50 "aaload" Plain -1;
    BALOAD = 51 "baload" Plain -1;
    CALOAD = 52 "caload" Plain -1;
    SALOAD = 53 "saload" Plain -1;
    ISTORE = 54 "istore" Local -1;
    LSTORE = 55 "lstore" Local -2;
    FSTORE = 56 "fstore" Local -1;
    DSTORE = 57 "dstore" Local -2;
    ASTORE = 58 "astore" Local -1;
    ISTORE_0 = 59 "istore_0" Plain -1;
    ISTORE_1 = 60 "istore_1" Plain -1;
    ISTORE_2 = 61 "istore_2" Plain -1;
    ISTORE_3 = 62 "istore_3" Plain -1;
    LSTORE_0 = 63 "lstore_0" Plain -2;
    LSTORE_1 = 64 "lstore_1" Plain -2;
    LSTORE_2 = 65 "lstore_2" Plain -2;
    LSTORE_3 = 66 "lstore_3" Plain -2;
    FSTORE_0 = 67 "fstore_0" Plain -1;
    FSTORE_1 = 68 "fstore_1" Plain -1;
    FSTORE_2 = 69 "fstore_2" Plain -1;
    FSTORE_3 = 70 "fstore_3" Plain -1;
    DSTORE_0 = 71 "dstore_0" Plain -2;
    DSTORE_1 = 72 "dstore_1" Plain -2;
    DSTORE_2 = 73 "dstore_2" Plain -2;
    DSTORE_3 = 74 "dstore_3" Plain -2;
    ASTORE_0 = 75 "astore_0" Plain -1;
    ASTORE_1 = 76 "astore_1" Plain -1;
    ASTORE_2 = 77 "astore_2" Plain -1;
    ASTORE_3 = 78 "astore_3" Plain -1;
    IASTORE = 79 "iastore" Plain -3;
    LASTORE = 80 "lastore" Plain -4;
    FASTORE = 81 "fastore" Plain -3;
    DASTORE = 82 "dastore" Plain -4;
    AASTORE = 83 "aastore" Plain -3;
    BASTORE = 84 "bastore" Plain -3;
    CASTORE = 85 "castore" Plain -3;
    SASTORE = 86 "sastore" Plain -3;
    POP = 87 "pop" Plain -1;
    POP2 = 88 "pop2" Plain -2;
    DUP = 89 "dup" Plain 1;
    DUP_X1 = 90 "dup_x1" Plain 1;
    DUP_X2 = 91 "dup_x2" Plain 1;
    DUP2 = 92 "dup2" Plain 2;
    DUP2_X1 = 93 "dup2_x1" Plain 2;
    DUP2_X2 = 94 "dup2_x2" Plain 2;
    SWAP = 95 "swap" Plain 0;
    IADD = 96 "iadd" Plain -1;
    LADD = 97 "ladd" Plain -2;
    FADD = 98 "fadd" Plain -1;
    DADD = 99 "dadd" Plain -2;
    ISUB = 100 "isub" Plain -1;
    LSUB = 101 "lsub" Plain -2;
    FSUB = 102 "fsub" Plain -1;
    DSUB = 103 "dsub" Plain -2;
    IMUL = 104 "imul" Plain -1;
    LMUL = 105 "lmul" Plain -2;
    FMUL = 106 "fmul" Plain -1;
    DMUL = 107 "dmul" Plain -2;
    IDIV = 108 "idiv" Plain -1;
    LDIV = 109 "ldiv" Plain -2;
    FDIV = 110 "fdiv" Plain -1;
    DDIV = 111 "ddiv" Plain -2;
    IREM = 112 "irem" Plain -1;
    LREM = 113 "lrem" Plain -2;
    FREM = 114 "frem" Plain -1;
    DREM = 115 "drem" Plain -2;
    INEG = 116 "ineg" Plain 0;
    LNEG = 117 "lneg" Plain 0;
    FNEG = 118 "fneg" Plain 0;
    DNEG = 119 "dneg" Plain 0;
    ISHL = 120 "ishl" Plain -1;
    LSHL = 121 "lshl" Plain -1;
    ISHR = 122 "ishr" Plain -1;
    LSHR = 123 "lshr" Plain -1;
    IUSHR = 124 "iushr" Plain -1;
    LUSHR = 125 "lushr" Plain -1;
    IAND = 126 "iand" Plain -1;
    LAND = 127 "land" Plain -2;
    IOR = 128 "ior" Plain -1;
    LOR = 129 "lor" Plain -2;
    IXOR = 130 "ixor" Plain -1;
    LXOR = 131 "lxor" Plain -2;
    IINC = 132 "iinc" Iinc 0;
    I2L = 133 "i2l" Plain 1;
    I2F = 134 "i2f" Plain 0;
    I2D = 135 "i2d" Plain 1;
    L2I = 136 "l2i" Plain -1;
    L2F = 137 "l2f" Plain -1;
    L2D = 138 "l2d" Plain 0;
    F2I = 139 "f2i" Plain 0;
    F2L = 140 "f2l" Plain 1;
    F2D = 141 "f2d" Plain 1;
    D2I = 142 "d2i" Plain -1;
    D2L = 143 "d2l" Plain 0;
    D2F = 144 "d2f" Plain -1;
    I2B = 145 "i2b" Plain 0;
    I2C = 146 "i2c" Plain 0;
    I2S = 147 "i2s" Plain 0;
    LCMP = 148 "lcmp" Plain -3;
    FCMPL = 149 "fcmpl" Plain -1;
    FCMPG = 150 "fcmpg" Plain -1;
    DCMPL = 151 "dcmpl" Plain -3;
    DCMPG = 152 "dcmpg" Plain -3;
    IFEQ = 153 "ifeq" Jump -1;
    IFNE = 154 "ifne" Jump -1;
    IFLT = 155 "iflt" Jump -1;
    IFGE = 156 "ifge" Jump -1;
    IFGT = 157 "ifgt" Jump -1;
    IFLE = 158 "ifle" Jump -1;
    IF_ICMPEQ = 159 "if_icmpeq" Jump -2;
    IF_ICMPNE = 160 "if_icmpne" Jump -2;
    IF_ICMPLT = 161 "if_icmplt" Jump -2;
    IF_ICMPGE = 162 "if_icmpge" Jump -2;
    IF_ICMPGT = 163 "if_icmpgt" Jump -2;
    IF_ICMPLE = 164 "if_icmple" Jump -2;
    IF_ACMPEQ = 165 "if_acmpeq" Jump -2;
    IF_ACMPNE = 166 "if_acmpne" Jump -2;
    GOTO = 167 "goto" Jump 0;
    JSR = 168 "jsr" Jump 1;
    RET = 169 "ret" Local 0;
    TABLESWITCH = 170 "tableswitch" Table -1;
    LOOKUPSWITCH = 171 "lookupswitch" Lookup -1;
    IRETURN = 172 "ireturn" Plain -1;
    LRETURN = 173 "lreturn" Plain -2;
    FRETURN = 174 "freturn" Plain -1;
    DRETURN = 175 "dreturn" Plain -2;
    ARETURN = 176 "areturn" Plain -1;
    RETURN = 177 "return" Plain 0;
    GETSTATIC = 178 "getstatic" Field 0;
    PUTSTATIC = 179 "putstatic" Field 0;
    GETFIELD = 180 "getfield" Field 0;
    PUTFIELD = 181 "putfield" Field 0;
    INVOKEVIRTUAL = 182 "invokevirtual" Method 0;
    INVOKESPECIAL = 183 "invokespecial" Method 0;
    INVOKESTATIC = 184 "invokestatic" Method 0;
    INVOKEINTERFACE = 185 "invokeinterface" Interface 0;
    INVOKEDYNAMIC = 186 "invokedynamic" Dynamic 0;
    NEW = 187 "new" Type 1;
    NEWARRAY = 188 "newarray" Primitive 0;
    ANEWARRAY = 189 "anewarray" Type 0;
    ARRAYLENGTH = 190 "arraylength" Plain 0;
    ATHROW = 191 "athrow" Plain -1;
    CHECKCAST = 192 "checkcast" Type 0;
    INSTANCEOF = 193 "instanceof" Type 0;
    MONITORENTER = 194 "monitorenter" Plain -1;
    MONITOREXIT = 195 "monitorexit" Plain -1;
    WIDE = 196 "wide" Prefix 0;
    MULTIANEWARRAY = 197 "multianewarray" MultiArray 0;
    IFNULL = 198 "ifnull" Jump -1;
    IFNONNULL = 199 "ifnonnull" Jump -1;
    GOTO_W = 200 "goto_w" WideJump 0;
    JSR_W = 201 "jsr_w" WideJump 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_their_table_positions() {
        for (name, number) in [("ifnonnull", IFNONNULL), ("athrow", ATHROW), ("jsr_w", JSR_W), ("lcmp", LCMP)]
        {
            assert_eq!(by_name(name), Some(number), "{name}");
        }
        // A few values from JVMS §7.
        assert_eq!((IADD, GOTO, NEW, INVOKEDYNAMIC, JSR_W), (0x60, 0xa7, 0xbb, 0xba, 0xc9));
    }
}
