const SURROGATE = /[\ud800-\udfff]/;
const SURROGATE_PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;

/** The length in Unicode code points, which is how every limit of the API counts. */
export function codePointLength(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  return text.length - (text.match(SURROGATE_PAIR)?.length ?? 0);
}

/** Whether the text can be stored and returned as it is: no lone surrogates and no `\u0000`. */
export function isWellFormedText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
