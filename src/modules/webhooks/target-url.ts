/** Pattern of the start of the URL of a receiver, for JSON Schema, which has no flag for upper case. */
export const URL_START = '^[Hh][Tt][Tt][Pp][Ss]?://';

const HAS_URL_START = new RegExp(URL_START);

/** Characters that the URL parser would remove. */
const REMOVED = /[\t\n\r]/;

/** Whether a string is the URL of a receiver: absolute, with http or https, without user and password. */
export function isTargetUrl(text: string): boolean {
  if (!HAS_URL_START.test(text) || REMOVED.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
