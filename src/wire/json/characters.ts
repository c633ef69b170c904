/** Codes of the characters that JSON is made of (RFC 8259, section 2). */
export const SPACE = 32;
export const QUOTE = 34;
export const COMMA = 44;
export const SLASH = 47;
export const OPEN_ARRAY = 91;
export const BACKSLASH = 92;
export const CLOSE_ARRAY = 93;
export const LOWER_U = 117;
export const OPEN_OBJECT = 123;
export const CLOSE_OBJECT = 125;
