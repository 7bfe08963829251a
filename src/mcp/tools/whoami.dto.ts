import { KeyFactsDto } from '../../auth/me.dto.js';
import { Nested } from '../../fields/output-kinds.js';
import { DateTime, Integer } from '../../fields/kinds.js';

class WindowDto {
  @Integer({ min: 1, max: 1_000_000_000, required: true }) limit: number;
  @Integer({ min: 0, max: 1_000_000_000, required: true }) remaining: number;
  @DateTime({ required: true }) resets_at: Date;
}

class WindowsDto {
  @Nested(WindowDto) reads: WindowDto;
  @Nested(WindowDto) writes: WindowDto;
}

/** What a key is and may do, and how often in the current windows. */
export class WhoamiDto extends KeyFactsDto {
  @Nested(WindowsDto) limits: WindowsDto;
}
