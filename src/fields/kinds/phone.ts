const SEPARATOR = String.raw`[ +\-.()/#;,xX]|[eE][xX][tT]=?`;

/**
 * A phone number with at least 3 digits, as people write it or by RFC 3966 (`;ext=`), with or without an
 * extension.
 */
export const PHONE = new RegExp(String.raw`^(?:(?:${SEPARATOR})*\d){3}(?:${SEPARATOR}|\d)*$`);

/** Description of the characters that `PHONE` accepts. */
export const PHONE_CHARACTERS = 'digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `ext.`)';
