import { texts } from '../texts.js';
import { type Conversion, InvalidInput } from './kinds.js';

/** Numbers of minutes, such as `1440, 60`. Nothing is null, and `-` no reminder at all. */
export const MINUTES: Conversion = {
  toRaw: (value) => {
    if (!Array.isArray(value)) return '';
    return value.length === 0 ? NONE : value.join(', ');
  },
  toValue: (raw) => {
    const text = (raw as string).trim();
    if (text === '') return null;
    if (text === NONE) return [];
    const parts = text.split(/[\s,;]+/);
    if (!parts.every((part) => /^\d+$/.test(part))) throw new InvalidInput(texts.form.minutesHint);
    return parts.map(Number);
  },
};

const NONE = '-';
