import type { Type } from '@nestjs/common';
// An export would make this file superfluous: https://github.com/typestack/class-transformer/issues/815
// @ts-expect-error The storage is not exported, so this file has no types.
import * as internals from 'class-transformer/cjs/storage.js';

interface TypeStorage {
  findTypeMetadata(dto: Type<object>, name: string): { typeFunction(): Type<object> } | undefined;
}

const { defaultMetadataStorage } = internals as { defaultMetadataStorage: TypeStorage };

/** Returns the class that `@Type()` declares for a property of a DTO. */
export function declaredTypeOf(dto: Type<object>, name: string): Type<object> | undefined {
  return defaultMetadataStorage.findTypeMetadata(dto, name)?.typeFunction();
}
