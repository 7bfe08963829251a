import { parsePhoneNumberFromString } from 'libphonenumber-js';

/** A lead as the migration reads it. */
export interface SearchedLead {
  readonly id: string;
  readonly first_name: string;
  readonly last_name: string | null;
  readonly company: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly phone_compared: string | null;
}

const MOST_BYTES = 2_600;

/** What leads were searched by when the migration was written, which later versions may change. */
export function searchTextOfLead(lead: SearchedLead): string {
  const { first_name: first, last_name: last, company, email, phone } = lead;
  const names = last === null ? first : `${first} ${last} ${first}`;
  const texts = [phone, email, company, names].filter((text) => text !== null);
  const words = texts
    // eslint-disable-next-line no-control-regex
    .map((text) => foldCase(text).replaceAll(/[\x1e\x1f]/g, ' '))
    .join('\x1f');
  const separated = texts.filter((text) => /[0-9][^0-9]+[0-9]/.test(text)).map(digitsOf);
  const numbers = `\x1e${withoutParts([...numbersOf(lead), ...separated]).join('\x1f')}`;
  return cut(words, MOST_BYTES - numbers.length) + numbers;
}

function numbersOf({ phone, phone_compared: compared }: SearchedLead): string[] {
  if (phone === null) return [];
  const isForeign = compared?.startsWith('+') && !compared.startsWith('+1');
  const national = isForeign ? parsePhoneNumberFromString(compared ?? '')?.formatNational() : '';
  return [compared ?? '', digitsOf(national ?? ''), digitsOf(phone)];
}

function digitsOf(text: string): string {
  return text.replaceAll(/[^0-9]/g, '');
}

function withoutParts(numbers: readonly string[]): string[] {
  return numbers.filter((number, index) => {
    return !numbers.slice(0, index).some((earlier) => earlier.includes(number));
  });
}

function foldCase(text: string): string {
  const upper = text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
  return upper.replaceAll('İ', 'I').toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

function cut(text: string, mostBytes: number): string {
  if (text.length * 3 <= mostBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(mostBytes));
  return text.slice(0, read);
}
