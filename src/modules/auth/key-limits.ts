import type { Settings } from '../../platform/config/settings.js';
import { validationError } from '../../platform/errors/api-error.js';
import type { ApiKeyDto } from './key.dto.js';

/** The settings of each limit of a key: its default, and the largest one that a key can have of its own. */
const LIMITS = {
  reads_per_minute: { fallback: 'readsPerMinute', max: 'keyMaxReadsPerMinute' },
  writes_per_minute: { fallback: 'writesPerMinute', max: 'keyMaxWritesPerMinute' },
} as const;

const NAMES = ['reads_per_minute', 'writes_per_minute'] as const;

/** The limits that a key has of its own. Null stands for that of the settings. */
export type OwnLimits = Readonly<Pick<ApiKeyDto, (typeof NAMES)[number]>>;

/** Limits of a request. One that is left out is not changed or, of a new key, is null. */
export type WantedLimits = Partial<OwnLimits>;

/**
 * @param maker the limits of the key that makes or changes another one; none for callers that are trusted
 * @throws ApiError `validation_error` for a limit that is larger than that of the settings or of the maker
 */
export function assertWithin(settings: Settings, wanted: WantedLimits, maker?: OwnLimits): void {
  const problems = NAMES.flatMap((field) => {
    const max = settings[LIMITS[field].max];
    const ofMaker = maker ? effective(settings, maker, field) : max;
    const value = wanted[field] ?? 1;
    if (value <= Math.min(max, ofMaker)) return [];
    const isOfMaker = ofMaker < max ? ', the limit of the key of the request' : '';
    return [{ field, message: `must be at most ${Math.min(max, ofMaker)}${isOfMaker}` }];
  });
  if (problems.length > 0) throw validationError(problems);
}

/** The limits of a key that another one makes: those that are not wanted are the maker's, but at most the default. */
export function inherited(settings: Settings, wanted: WantedLimits, maker: OwnLimits): OwnLimits {
  const limitOf = (field: keyof OwnLimits) => {
    const ofMaker = maker[field] && Math.min(maker[field], settings[LIMITS[field].fallback]);
    return wanted[field] ?? ofMaker;
  };
  return {
    reads_per_minute: limitOf('reads_per_minute'),
    writes_per_minute: limitOf('writes_per_minute'),
  };
}

/** The limits that a key must get so that it has at most those of another one; undefined if it has them already. */
export function lowered(
  settings: Settings,
  key: OwnLimits,
  other: OwnLimits,
): WantedLimits | undefined {
  const above = NAMES.filter(
    (field) => effective(settings, key, field) > effective(settings, other, field),
  );
  if (above.length === 0) return undefined;
  return Object.fromEntries(above.map((field) => [field, effective(settings, other, field)]));
}

function effective(settings: Settings, limits: OwnLimits, field: keyof OwnLimits): number {
  return limits[field] ?? settings[LIMITS[field].fallback];
}
