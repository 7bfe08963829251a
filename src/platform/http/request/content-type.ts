const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = new RegExp(
  `;[ \\t]*(?:(?<name>${TOKEN})=(?:(?<token>${TOKEN})|"(?<quoted>(?:[^"\\\\]|\\\\.)*)"))?[ \\t]*`,
  'y',
);
/** Longer than any header of a client. */
const MAX_LENGTH = 1_024;

/** `utf8` is not a registered name, but many clients send it. */
const UTF8 = /^utf-?8$/i;
/** Whether a `Content-Type` header is a form that can contain files. */
export function isMultipartForm(header: string | undefined): boolean {
  return header !== undefined && MULTIPART_TYPE.test(header);
}

const MULTIPART_TYPE = /^[ \t]*multipart\/form-data[ \t]*(;|$)/i;
const JSON_TYPE = /^[ \t]*application\/json[ \t]*/i;

/** Whether a `Content-Type` header is `application/json` without a charset or with UTF-8. */
export function isJsonContentType(header: string | undefined): boolean {
  if (header === undefined || header.length > MAX_LENGTH) return false;
  const type = JSON_TYPE.exec(header);
  if (!type) return false;
  let end = type[0].length;
  while (end < header.length) {
    PARAMETER.lastIndex = end;
    const parameter = PARAMETER.exec(header);
    if (!parameter?.groups) return false;
    const { name, token, quoted } = parameter.groups;
    const value = token ?? quoted?.replace(/\\(.)/g, '$1');
    if (name?.toLowerCase() === 'charset' && !UTF8.test(value ?? '')) return false;
    end = PARAMETER.lastIndex;
  }
  return true;
}
