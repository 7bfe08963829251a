import { TextDecoder } from 'node:util';

export const ENCODINGS = ['utf-8', 'utf-16', 'windows-1252'] as const;
export type TextEncoding = (typeof ENCODINGS)[number];

/** How the text of a file is encoded. */
export interface TextShape {
  readonly encoding: TextEncoding;
  /** Whether it begins with a byte order mark. */
  readonly hasMark: boolean;
}

export const UTF8: TextShape = { encoding: 'utf-8', hasMark: false };

const MARK = '\ufeff';

/** What encodes a character of Windows-1252 that is not at its place in Latin-1. */
const WINDOWS_1252: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 256 }, (_, byte): [string, number] => {
    // Without `stream`, some versions of Node.js decode Latin-1.
    const decoder = new TextDecoder('windows-1252');
    return [decoder.decode(Uint8Array.of(byte), { stream: true }), byte];
  }).filter(([character, byte]) => character.charCodeAt(0) !== byte),
);

const QUESTION_MARK = 63;

/** @returns a function that encodes the parts of a text, in their order */
export function encoderOf({ encoding, hasMark }: TextShape): (text: string) => Buffer {
  let isStart = true;
  return (text) => {
    const mark = isStart && hasMark && encoding !== 'windows-1252' ? MARK : '';
    isStart = false;
    if (encoding === 'windows-1252') return windows1252(text);
    return Buffer.from(mark + text, encoding === 'utf-16' ? 'utf16le' : 'utf8');
  };
}

/** Characters that the encoding does not have become question marks. */
function windows1252(text: string): Buffer {
  const bytes = text.replaceAll(BEYOND_LATIN_1, (character) =>
    String.fromCharCode(WINDOWS_1252.get(character) ?? QUESTION_MARK),
  );
  return Buffer.from(bytes, 'latin1');
}

const BEYOND_LATIN_1 = /[^\0-\xff]/gu;

/** The charset of a content type. */
export function charsetOf({ encoding }: TextShape): string {
  return encoding === 'utf-16' ? 'utf-16le' : encoding;
}
