const SEPARATOR = String.raw`[ +\-.()/#;,xX]|[eE][xX][tT]=?`;

/**
 * A phone number as people write it, or as RFC 3966 does (`;ext=`), with or without an extension: at
 * least 3 digits.
 */
export const PHONE = new RegExp(String.raw`^(?:(?:${SEPARATOR})*\d){3}(?:${SEPARATOR}|\d)*$`);

/** The characters that `PHONE` accepts, for people. */
export const PHONE_CHARACTERS = 'digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `ext.`)';
