import { Uuid } from './kinds.js';

/** The input that names one record. */
export class IdDto {
  @Uuid({ required: true, description: 'Id of the record.' }) id: string;
}
