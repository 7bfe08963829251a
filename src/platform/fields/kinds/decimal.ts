import { type Declaration, declareField } from '../field.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { rule } from './rules.js';
import { trimText } from './text.js';

/** A number with more significant digits may have lost some when the JSON was parsed. */
const MAX_NUMBER_DIGITS = 15;

const MAX_PRECISION = 50;

export interface DecimalOptions extends Declaration<string> {
  /** Number of digits, before and after the decimal point. */
  readonly precision: number;
  /** Number of digits after the decimal point. */
  readonly scale: number;
  readonly min?: number;
  readonly max?: number;
}

/**
 * An exact decimal number, such as an amount of money, for a column `numeric(precision, scale)`. Its value
 * is a string with `scale` digits after the decimal point, such as `12.50`. Inputs can also be numbers.
 * @throws Error if precision and scale do not fit together
 */
export function Decimal({ precision, scale, min, max, ...declaration }: DecimalOptions) {
  const integers = precision - scale;
  if (scale < 1 || integers < 1 || precision > MAX_PRECISION) {
    throw new Error(
      `@Decimal() needs a scale of at least 1, and a precision greater than the scale and at most ${MAX_PRECISION}`,
    );
  }
  const canonical = new RegExp(String.raw`^-?\d{1,${integers}}\.\d{${scale}}$`);
  const least = min === undefined ? undefined : unitsOf(min.toFixed(scale));
  const most = max === undefined ? undefined : unitsOf(max.toFixed(scale));
  const isDecimal = (value: unknown) => {
    if (typeof value !== 'string' || !canonical.test(value)) return false;
    const units = unitsOf(value);
    return (least === undefined || units >= least) && (most === undefined || units <= most);
  };
  const limit = 10 ** integers;
  const bounds: JsonSchema = {
    ...(min === undefined ? { exclusiveMinimum: -limit } : { minimum: min }),
    ...(max === undefined ? { exclusiveMaximum: limit } : { maximum: max }),
  };
  const range = [
    min !== undefined && ` of at least ${min}`,
    min !== undefined && max !== undefined && ' and',
    max !== undefined && ` at most ${max}`,
  ].filter(Boolean);
  const message = `must be a decimal number${range.join('')} with at most ${integers} digits before and ${scale} after the point; write more than ${MAX_NUMBER_DIGITS} digits as a string`;
  const column = { precision, scale, ...declaration.column };
  return declareField(
    { ...declaration, column },
    {
      schema: { type: 'string', format: 'decimal', pattern: canonical.source },
      inputSchema: {
        type: ['string', 'number'],
        format: 'decimal',
        pattern: String.raw`^-?\d{1,${integers}}(\.\d{1,${scale}})?$`,
        ...bounds,
      },
      rules: [rule('isDecimal', isDecimal, message)],
      normalize: (value) => normalizeDecimal(value, scale),
    },
  );
}

const DECIMAL = /^(-?)0*(\d+?)(?:\.(\d+?)0*)?$/;

/** Limits the time that the pattern takes. */
const MAX_LENGTH = 100;

/** Returns the number as PostgreSQL writes it, or the value itself if it is not a decimal number. */
function normalizeDecimal(value: unknown, scale: number): unknown {
  const text = typeof value === 'number' ? textOf(value) : value;
  if (typeof text !== 'string') return value;
  const trimmed = trimText(text);
  if (trimmed === '') return null;
  if (trimmed.length > MAX_LENGTH) return value;
  const [, sign = '', integer = '', fraction = ''] = DECIMAL.exec(trimmed) ?? [];
  if (integer === '' || fraction.length > scale) return value;
  const isZero = /^0*$/.test(integer + fraction);
  return `${isZero ? '' : sign}${integer}.${fraction.padEnd(scale, '0')}`;
}

/** @returns undefined for a number that may have lost digits */
function textOf(value: number): string | undefined {
  const text = String(value);
  const digits = text.replace(/^-?0*\.?0*/, '').replace('.', '');
  return digits.length <= MAX_NUMBER_DIGITS ? text : undefined;
}

/** The number in units of its last decimal place. */
function unitsOf(canonical: string): bigint {
  return BigInt(canonical.replace('.', ''));
}
