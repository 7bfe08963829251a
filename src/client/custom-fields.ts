import { Collection } from './resource.js';
import type {
  CreateOptions,
  CustomField,
  CustomFieldCreate,
  CustomFieldQuery,
  CustomFieldUpdate,
  Deleted,
  WriteOptions,
} from './types.js';

interface Types {
  Record: CustomField;
  Item: CustomField;
  Query: CustomFieldQuery;
  Removed: Deleted;
}

/** Definitions of custom fields of leads. With `dry_run`, a change is only checked. */
export class CustomFields extends Collection<Types> {
  async create(fields: CustomFieldCreate, options?: CreateOptions): Promise<CustomField> {
    return this.transport.one(this.postOf('', fields, options), options);
  }

  async update(
    id: string,
    fields: CustomFieldUpdate,
    options: WriteOptions = {},
  ): Promise<CustomField> {
    return this.transport.one(this.putOf(id, fields, options), options);
  }

  /** Deletes a definition. The values of leads stay. */
  delete(id: string, options?: WriteOptions): Promise<Deleted> {
    return this.remove(id, options, { id, deleted: true });
  }
}
