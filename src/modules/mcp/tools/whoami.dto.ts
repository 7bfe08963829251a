import { KeyInfoDto } from '../../auth/me.dto.js';
import { MAX_INTEGER } from '../../../platform/config/setting.js';
import { Nested } from '../../../platform/fields/nested.js';
import { DateTime, Integer } from '../../../platform/fields/kinds/kinds.js';

class WindowDto {
  @Integer({ min: 1, max: MAX_INTEGER, required: true }) limit: number;
  @Integer({ min: 0, max: MAX_INTEGER, required: true }) remaining: number;
  @DateTime({ required: true }) resets_at: Date;
}

class WindowsDto {
  @Nested(WindowDto, { required: true }) reads: WindowDto;
  @Nested(WindowDto, { required: true }) writes: WindowDto;
}

/** The properties of a key and the state of its rate limits. */
export class WhoamiDto extends KeyInfoDto {
  @Nested(WindowsDto, { required: true }) limits: WindowsDto;
}
