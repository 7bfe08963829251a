import type { components } from './openapi.js';

type Schemas = components['schemas'];

/** Whether a record has a value. */
interface Emptiness {
  readonly is_empty?: boolean | undefined;
}

/** Operators of values that are compared. `null` is no value, as with `is_empty: true`. */
interface Compared<Value> extends Emptiness {
  readonly eq?: Value | null | undefined;
  readonly ne?: Value | null | undefined;
  readonly in?: readonly Value[] | undefined;
  readonly not_in?: readonly Value[] | undefined;
}

/** Operators of numbers and times. */
interface Ordered<Value> extends Compared<Value> {
  readonly gt?: Value | undefined;
  readonly gte?: Value | undefined;
  readonly lt?: Value | undefined;
  readonly lte?: Value | undefined;
}

/** Operators of texts that are also found by a part of them. */
interface Searched extends Compared<string> {
  readonly contains?: string | undefined;
  readonly starts_with?: string | undefined;
}

/** Operators of sets of values, such as tags. */
interface OfSet extends Emptiness {
  readonly has?: string | undefined;
  readonly has_any?: readonly string[] | undefined;
  readonly has_none?: readonly string[] | undefined;
}

type Scalar = string | number | boolean;

/** A value of a custom field, or operators. Which ones the field takes, its definition decides on the server. */
export type CustomFieldCondition =
  | Scalar
  | null
  | (Compared<Scalar> & Omit<Ordered<string | number>, keyof Compared<unknown>> & OfSet);

/** The names of fields that are times. */
export type TimeName = `${string}_${'at' | 'date' | 'time'}`;

/** Fields that take `contains` and `starts_with`, by the kind of record. */
export interface SearchableFields {
  lead: 'first_name' | 'last_name' | 'company' | 'email' | 'phone' | 'city' | 'zip';
  appointment: 'type' | 'location';
  task: 'title';
}

type OperatorsOf<Name, Value, Searchable> = [Value] extends [Scalar]
  ? Name extends Searchable
    ? Searched
    : [Value] extends [number]
      ? Ordered<Value>
      : Name extends TimeName
        ? Ordered<Value>
        : Compared<Value>
  : [Value] extends [readonly string[]]
    ? OfSet
    : Emptiness;

type ConditionOf<Name, Value, Searchable> =
  OperatorsOf<Name, Value, Searchable> | ([Value] extends [Scalar] ? Value | null : never);

/** A condition for each field of a record. */
type Conditions<Fields, Searchable> = {
  readonly [Name in keyof Fields]?:
    ConditionOf<Name, NonNullable<Fields[Name]>, Searchable> | undefined;
};

/** Filters of which all, any or none must match. */
interface Joins<Filter> {
  readonly and?: readonly Filter[] | undefined;
  readonly or?: readonly Filter[] | undefined;
  readonly not?: Filter | undefined;
}

/** Whether some or none of the related records match. */
interface Many<Filter> {
  readonly some?: Filter | undefined;
  readonly none?: Filter | undefined;
}

type LeadConditions = Conditions<Schemas['Lead'], SearchableFields['lead']> &
  Readonly<Record<`custom_fields.${string}`, CustomFieldCondition | undefined>>;
type AppointmentConditions = Conditions<Schemas['Appointment'], SearchableFields['appointment']>;
type TaskConditions = Conditions<Schemas['Task'], SearchableFields['task']>;

/** A filter of leads inside of that of other records, which has no relations. */
export interface RelatedLeadFilter extends LeadConditions, Joins<RelatedLeadFilter> {}
/** A filter of appointments inside of that of leads. */
export interface RelatedAppointmentFilter
  extends AppointmentConditions, Joins<RelatedAppointmentFilter> {}
/** A filter of tasks inside of that of leads. */
export interface RelatedTaskFilter extends TaskConditions, Joins<RelatedTaskFilter> {}

/** Selects leads. */
export interface LeadFilter extends LeadConditions, Joins<LeadFilter> {
  readonly appointments?: Many<RelatedAppointmentFilter> | undefined;
  readonly tasks?: Many<RelatedTaskFilter> | undefined;
}

/** Selects appointments. */
export interface AppointmentFilter extends AppointmentConditions, Joins<AppointmentFilter> {
  readonly lead?: RelatedLeadFilter | undefined;
}

/** Selects tasks. */
export interface TaskFilter extends TaskConditions, Joins<TaskFilter> {
  readonly lead?: RelatedLeadFilter | undefined;
}
