import { Uuid } from './kinds/kinds.js';

/** The input that selects one record. */
export class IdDto {
  @Uuid({ required: true, description: 'Id of the record.' }) id: string;
}
