// Made from the OpenAPI document by `npm run client:types`: all schemas, and of the operations only the query
// parameters. Do not edit.

export interface components {
    schemas: {
        /**
         * @description The codes that Latitude and its extensions declare.
         * @enum {string}
         */
        ErrorCode: "bad_request" | "validation_error" | "no_session" | "unauthorized" | "insufficient_scope" | "origin_not_allowed" | "session_mismatch" | "not_found" | "lead_not_found" | "duplicate" | "idempotency_key_in_use" | "too_many_keys" | "first_key_exists" | "key_not_manageable" | "definition_conflicts" | "too_many_custom_fields" | "merged" | "resource_inactive" | "slot_taken" | "too_many_holds" | "webhook_disabled" | "too_many_webhooks" | "cursor_expired" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "filter_too_broad" | "idempotency_key_reused" | "calendar_too_large" | "compliance_blocked" | "outside_hours" | "rate_limit_exceeded" | "query_failed" | "create_failed" | "internal_error" | "overloaded" | "too_many_sessions";
        Error: {
            error: {
                /** @description Stable identifier of the error, for programs. A deployment can have further codes, such as `conflict`. */
                code: components["schemas"]["ErrorCode"] | string;
                /** @description Text for people. It may change and must not be parsed. */
                message: string;
                /** @description Whether to retry the same request, with growing, jittered delays. */
                retryable: boolean;
                /** @description The `X-Request-Id` of the response. */
                request_id: string;
                /** @description The fields at fault, at most 100, on `validation_error`, `duplicate`, `slot_taken`, `definition_conflicts` and `lead_not_found`, and on `not_found` for a merged lead. */
                details?: {
                    /** @description The field or parameter; `body` or `query` for a problem of the whole. */
                    field: string;
                    /** @description What is wrong with it. */
                    message: string;
                    /**
                     * Format: uuid
                     * @description On `duplicate` and `slot_taken`: the id of the other record, if the key may read it.
                     */
                    existing_id?: string;
                    /** @description On `definition_conflicts`: how many leads do not fit. */
                    count?: number;
                    /** @description On `definition_conflicts`: up to ten of these leads. */
                    lead_ids?: string[];
                    /** @description On `slot_taken`: the next free times of this length, at most three. */
                    free?: {
                        /** Format: date-time */
                        start_time: string;
                        /** Format: date-time */
                        end_time: string;
                        /** Format: uuid */
                        resource_id: string;
                    }[];
                    /**
                     * Format: uuid
                     * @description On `not_found` and `lead_not_found`: the lead that has taken in this one, if the key may read leads.
                     */
                    merged_into?: string;
                }[];
            };
        };
        CursorMeta: {
            /**
             * @description Value of `after` for the next page.
             * @example 019ad2c1-7c4e-71a3-8000-000000000000
             */
            next: string;
            /**
             * @description Whether there is another page now.
             * @example false
             */
            has_more: boolean;
        };
        PageMeta: {
            /** @description Number of this page. */
            page: number;
            /** @description Records per page. */
            limit: number;
            /** @description Exact number of records in the list. */
            total: number;
            /** @description Number of pages in the list. */
            total_pages: number;
        };
        LeadImport: {
            /**
             * Format: uuid
             * @description Identifier of the import.
             * @example 01a1fbe0-7c15-7e42-b6a1-95d3f08c4e10
             */
            id: string;
            /**
             * @description Its state.
             * @example running
             * @enum {string}
             */
            status: "pending" | "running" | "completed" | "cancelled" | "failed";
            /**
             * @description Format of the file.
             * @example csv
             * @enum {string}
             */
            format: "csv" | "ndjson";
            /**
             * @description What a line may do.
             * @example create_or_update
             * @enum {string}
             */
            mode: "create_or_update" | "update_only" | "create_only";
            /**
             * @description Fields that find the lead of a line.
             * @example [
             *       "email"
             *     ]
             */
            match_on: ("id" | "email" | "phone" | "external_id")[];
            /**
             * @description Whether nothing is written.
             * @example false
             */
            dry_run: boolean;
            /**
             * @description Columns that are not imported.
             * @example []
             */
            ignored_columns: string[];
            /**
             * @description Size of the file.
             * @example 48213
             */
            bytes: number;
            /**
             * @description Records of the file.
             * @example 1000
             */
            lines: number;
            /**
             * @description Records that were carried out or rejected.
             * @example 400
             */
            processed: number;
            /**
             * @description Leads that were created.
             * @example 390
             */
            created: number;
            /**
             * @description Leads that were updated.
             * @example 6
             */
            updated: number;
            /**
             * @description Records whose lead had all values already.
             * @example 0
             */
            unchanged: number;
            /**
             * @description Records that were rejected.
             * @example 4
             */
            rejected: number;
            /**
             * @description Why it ended before its last line.
             * @example The key that started the import was revoked, has expired, or lacks a scope.
             */
            error: string | null;
            /**
             * Format: date-time
             * @description When it began.
             * @example 2026-01-05T16:20:01.000Z
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description When it ended.
             * @example 2026-01-05T16:20:31.000Z
             */
            ended_at: string | null;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
        };
        LeadListItem: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description Given name.
             * @example Grace
             */
            first_name: string;
            /**
             * @description Family name.
             * @example Hopper
             */
            last_name: string | null;
            /**
             * @description Phone number with an optional extension, such as x12. Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`), in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
             * @example +1 415 555 0132
             */
            phone: string | null;
            /**
             * @description E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
             * @example grace.hopper@example.com
             */
            email: string | null;
            /**
             * @description Free text; lists filter by its exact value.
             * @example new
             */
            status: string | null;
            /**
             * @description How likely the lead is to buy.
             * @example warm
             * @enum {string|null}
             */
            temperature: "cold" | "warm" | "hot" | null;
            /**
             * @description Computed from the other fields on every write; higher is more promising.
             * @example 80
             */
            lead_score: number;
            /**
             * @description Company.
             * @example Harbor Roofing
             */
            company: string | null;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
        };
        DeletedLead: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description Given name.
             * @example Grace
             */
            first_name: string;
            /**
             * @description Family name.
             * @example Hopper
             */
            last_name: string | null;
            /**
             * @description Phone number with an optional extension, such as x12. Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`), in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
             * @example +1 415 555 0132
             */
            phone: string | null;
            /**
             * @description E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
             * @example grace.hopper@example.com
             */
            email: string | null;
            /**
             * @description Free text; lists filter by its exact value.
             * @example new
             */
            status: string | null;
            /**
             * @description How likely the lead is to buy.
             * @example warm
             * @enum {string|null}
             */
            temperature: "cold" | "warm" | "hot" | null;
            /**
             * @description Computed from the other fields on every write; higher is more promising.
             * @example 80
             */
            lead_score: number;
            /**
             * @description Company.
             * @example Harbor Roofing
             */
            company: string | null;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
            /**
             * Format: date-time
             * @description When it was deleted.
             * @example 2026-01-05T16:20:00.000Z
             */
            deleted_at: string;
        };
        CreateLead: {
            /**
             * @description Given name.
             * @example Grace
             */
            first_name: string;
            /**
             * @description Family name.
             * @example Hopper
             */
            last_name?: string | null;
            /**
             * @description Phone number with an optional extension, such as x12. Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`), in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
             * @example +1 415 555 0132
             */
            phone?: string | null;
            /**
             * @description E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
             * @example grace.hopper@example.com
             */
            email?: string | null;
            /**
             * @description Company.
             * @example Harbor Roofing
             */
            company?: string | null;
            /**
             * @description Street and house number.
             * @example 12 Pier Street
             */
            address_street?: string | null;
            /**
             * @description City.
             * @example Oakland
             */
            city?: string | null;
            /**
             * @description State, abbreviated.
             * @example CA
             */
            state?: string | null;
            /**
             * @description Postal code.
             * @example 94607
             */
            zip?: string | null;
            /**
             * @description Free text; lists filter by its exact value.
             * @example new
             */
            status?: string | null;
            /**
             * @description How likely the lead is to buy.
             * @example warm
             * @enum {string|null}
             */
            temperature?: "cold" | "warm" | "hot" | null;
            /**
             * @description Where it came from. Default: `api`.
             * @example website
             * @enum {string|null}
             */
            source?: "manual" | "api" | "website" | "referral" | "import" | "other" | null;
            /**
             * @description Free text.
             * @example Prefers calls in the morning.
             */
            notes?: string | null;
            /**
             * @description Labels; an update replaces all. Repetitions are removed, the order is kept. Default: `[]`.
             * @example [
             *       "roof",
             *       "spring"
             *     ]
             */
            tags?: string[] | null;
            /**
             * @description Keys and JSON values; an update replaces all. At most 32768 bytes as JSON and 8 levels deep. Numbers at any depth are from -9007199254740992 to 9007199254740992. Default: `{}`.
             * @example {
             *       "budget": 12500,
             *       "roof": {
             *         "material": "slate"
             *       }
             *     }
             */
            custom_fields?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Opted out of text messages. The lead must not be sent any. Default: `false`.
             * @example false
             */
            sms_opted_out?: boolean | null;
            /**
             * @description Is on a do-not-call list. The lead must not be contacted. Default: `false`.
             * @example false
             */
            on_dnc_list?: boolean | null;
            /**
             * @description Id in the system that it comes from. Compared exactly; no two leads share it.
             * @example crm-4711
             */
            external_id?: string | null;
        };
        Lead: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description Given name.
             * @example Grace
             */
            first_name: string;
            /**
             * @description Family name.
             * @example Hopper
             */
            last_name: string | null;
            /**
             * @description Phone number with an optional extension, such as x12. Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`), in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
             * @example +1 415 555 0132
             */
            phone: string | null;
            /**
             * @description E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
             * @example grace.hopper@example.com
             */
            email: string | null;
            /**
             * @description Company.
             * @example Harbor Roofing
             */
            company: string | null;
            /**
             * @description Street and house number.
             * @example 12 Pier Street
             */
            address_street: string | null;
            /**
             * @description City.
             * @example Oakland
             */
            city: string | null;
            /**
             * @description State, abbreviated.
             * @example CA
             */
            state: string | null;
            /**
             * @description Postal code.
             * @example 94607
             */
            zip: string | null;
            /**
             * @description Free text; lists filter by its exact value.
             * @example new
             */
            status: string | null;
            /**
             * @description How likely the lead is to buy.
             * @example warm
             * @enum {string|null}
             */
            temperature: "cold" | "warm" | "hot" | null;
            /**
             * @description Where it came from.
             * @example website
             * @enum {string}
             */
            source: "manual" | "api" | "website" | "referral" | "import" | "other";
            /**
             * @description Free text.
             * @example Prefers calls in the morning.
             */
            notes: string | null;
            /**
             * @description Labels; an update replaces all. Repetitions are removed, the order is kept.
             * @example [
             *       "roof",
             *       "spring"
             *     ]
             */
            tags: string[];
            /**
             * @description Keys and JSON values; an update replaces all. At most 32768 bytes as JSON and 8 levels deep.
             * @example {
             *       "budget": 12500,
             *       "roof": {
             *         "material": "slate"
             *       }
             *     }
             */
            custom_fields: {
                [key: string]: unknown;
            };
            /**
             * @description Opted out of text messages. The lead must not be sent any.
             * @example false
             */
            sms_opted_out: boolean;
            /**
             * @description Is on a do-not-call list. The lead must not be contacted.
             * @example false
             */
            on_dnc_list: boolean;
            /**
             * @description Id in the system that it comes from. Compared exactly; no two leads share it.
             * @example crm-4711
             */
            external_id: string | null;
            /**
             * @description Computed from the other fields on every write; higher is more promising.
             * @example 80
             */
            lead_score: number;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
        };
        LeadGroup: {
            /**
             * @description The first ten leads of the group, in the order of their ids.
             * @example [
             *       {
             *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
             *         "first_name": "Grace",
             *         "last_name": "Hopper",
             *         "phone": "+1 415 555 0132",
             *         "email": "grace.hopper@example.com",
             *         "status": "new",
             *         "temperature": "warm",
             *         "lead_score": 80,
             *         "company": "Harbor Roofing",
             *         "created_at": "2026-01-05T16:20:00.000Z",
             *         "updated_at": "2026-01-05T16:20:00.000Z"
             *       }
             *     ]
             */
            leads: {
                /**
                 * Format: uuid
                 * @description Identifier, given by the service.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
                /**
                 * @description Given name.
                 * @example Grace
                 */
                first_name: string;
                /**
                 * @description Family name.
                 * @example Hopper
                 */
                last_name: string | null;
                /**
                 * @description Phone number with an optional extension, such as x12. Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`), in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
                 * @example +1 415 555 0132
                 */
                phone: string | null;
                /**
                 * @description E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
                 * @example grace.hopper@example.com
                 */
                email: string | null;
                /**
                 * @description Free text; lists filter by its exact value.
                 * @example new
                 */
                status: string | null;
                /**
                 * @description How likely the lead is to buy.
                 * @example warm
                 * @enum {string|null}
                 */
                temperature: "cold" | "warm" | "hot" | null;
                /**
                 * @description Computed from the other fields on every write; higher is more promising.
                 * @example 80
                 */
                lead_score: number;
                /**
                 * @description Company.
                 * @example Harbor Roofing
                 */
                company: string | null;
                /**
                 * Format: date-time
                 * @description When it was created, to the millisecond.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description When it last changed; it moves forward with every real change.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                updated_at: string;
            }[];
            /**
             * @description Number of leads in the group.
             * @example 2
             */
            total: number;
            /**
             * @description What is equal in leads of the group.
             * @example [
             *       "email"
             *     ]
             */
            reasons: ("email" | "phone" | "name_zip" | "name_company")[];
        };
        ValueCount: {
            /**
             * @description The value. Null for records without one.
             * @example new
             */
            value: string | number | boolean | null;
            /**
             * @description Number of records with this value.
             * @example 12
             */
            count: number;
        };
        CountsMeta: {
            /**
             * @description Exact number of records, each counted once.
             * @example 12
             */
            total: number;
            /**
             * @description Sum of the counts of values that are not among the rows.
             * @example 0
             */
            other: number;
        };
        UpdateLead: {
            /**
             * @description Given name.
             * @example Grace
             */
            first_name?: string;
            /**
             * @description Family name.
             * @example Hopper
             */
            last_name?: string | null;
            /**
             * @description Phone number with an optional extension, such as x12. Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`), in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
             * @example +1 415 555 0132
             */
            phone?: string | null;
            /**
             * @description E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
             * @example grace.hopper@example.com
             */
            email?: string | null;
            /**
             * @description Company.
             * @example Harbor Roofing
             */
            company?: string | null;
            /**
             * @description Street and house number.
             * @example 12 Pier Street
             */
            address_street?: string | null;
            /**
             * @description City.
             * @example Oakland
             */
            city?: string | null;
            /**
             * @description State, abbreviated.
             * @example CA
             */
            state?: string | null;
            /**
             * @description Postal code.
             * @example 94607
             */
            zip?: string | null;
            /**
             * @description Free text; lists filter by its exact value.
             * @example new
             */
            status?: string | null;
            /**
             * @description How likely the lead is to buy.
             * @example warm
             * @enum {string|null}
             */
            temperature?: "cold" | "warm" | "hot" | null;
            /**
             * @description Where it came from.
             * @example website
             * @enum {string}
             */
            source?: "manual" | "api" | "website" | "referral" | "import" | "other";
            /**
             * @description Free text.
             * @example Prefers calls in the morning.
             */
            notes?: string | null;
            /**
             * @description Labels; an update replaces all. Repetitions are removed, the order is kept.
             * @example [
             *       "roof",
             *       "spring"
             *     ]
             */
            tags?: string[];
            /**
             * @description Keys and JSON values; an update replaces all. At most 32768 bytes as JSON and 8 levels deep. Numbers at any depth are from -9007199254740992 to 9007199254740992.
             * @example {
             *       "budget": 12500,
             *       "roof": {
             *         "material": "slate"
             *       }
             *     }
             */
            custom_fields?: {
                [key: string]: unknown;
            };
            /**
             * @description Opted out of text messages. The lead must not be sent any.
             * @example false
             */
            sms_opted_out?: boolean;
            /**
             * @description Is on a do-not-call list. The lead must not be contacted.
             * @example false
             */
            on_dnc_list?: boolean;
            /**
             * @description Id in the system that it comes from. Compared exactly; no two leads share it.
             * @example crm-4711
             */
            external_id?: string | null;
            /**
             * @description Tags to add. They follow those that the record has. Not together with tags.
             * @example [
             *       "autumn"
             *     ]
             */
            add_tags?: string[];
            /**
             * @description Tags to remove. The others stay. Not together with tags.
             * @example [
             *       "spring"
             *     ]
             */
            remove_tags?: string[];
            /**
             * @description Text to append to the notes. It gets a line of its own, unless they end with it. Not together with notes.
             * @example Called, no answer.
             */
            append_notes?: string;
        };
        Deleted: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description Always true.
             * @example true
             */
            deleted: boolean;
        };
        UpsertLead: {
            /**
             * @description Fields that find the lead; one must have a value in data.
             * @example [
             *       "external_id",
             *       "email"
             *     ]
             */
            match_on: ("email" | "phone" | "external_id")[];
            /**
             * @description Fields of the lead, as in an update. A new lead needs first_name.
             * @example {
             *       "first_name": "Grace",
             *       "email": "grace.hopper@example.com",
             *       "external_id": "crm-4711"
             *     }
             */
            data: {
                /**
                 * @description Given name.
                 * @example Grace
                 */
                first_name?: string;
                /**
                 * @description Family name.
                 * @example Hopper
                 */
                last_name?: string | null;
                /**
                 * @description Phone number with an optional extension, such as x12. Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`), in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
                 * @example +1 415 555 0132
                 */
                phone?: string | null;
                /**
                 * @description E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
                 * @example grace.hopper@example.com
                 */
                email?: string | null;
                /**
                 * @description Company.
                 * @example Harbor Roofing
                 */
                company?: string | null;
                /**
                 * @description Street and house number.
                 * @example 12 Pier Street
                 */
                address_street?: string | null;
                /**
                 * @description City.
                 * @example Oakland
                 */
                city?: string | null;
                /**
                 * @description State, abbreviated.
                 * @example CA
                 */
                state?: string | null;
                /**
                 * @description Postal code.
                 * @example 94607
                 */
                zip?: string | null;
                /**
                 * @description Free text; lists filter by its exact value.
                 * @example new
                 */
                status?: string | null;
                /**
                 * @description How likely the lead is to buy.
                 * @example warm
                 * @enum {string|null}
                 */
                temperature?: "cold" | "warm" | "hot" | null;
                /**
                 * @description Where it came from.
                 * @example website
                 * @enum {string}
                 */
                source?: "manual" | "api" | "website" | "referral" | "import" | "other";
                /**
                 * @description Free text.
                 * @example Prefers calls in the morning.
                 */
                notes?: string | null;
                /**
                 * @description Labels; an update replaces all. Repetitions are removed, the order is kept.
                 * @example [
                 *       "roof",
                 *       "spring"
                 *     ]
                 */
                tags?: string[];
                /**
                 * @description Keys and JSON values; an update replaces all. At most 32768 bytes as JSON and 8 levels deep. Numbers at any depth are from -9007199254740992 to 9007199254740992.
                 * @example {
                 *       "budget": 12500,
                 *       "roof": {
                 *         "material": "slate"
                 *       }
                 *     }
                 */
                custom_fields?: {
                    [key: string]: unknown;
                };
                /**
                 * @description Opted out of text messages. The lead must not be sent any.
                 * @example false
                 */
                sms_opted_out?: boolean;
                /**
                 * @description Is on a do-not-call list. The lead must not be contacted.
                 * @example false
                 */
                on_dnc_list?: boolean;
                /**
                 * @description Id in the system that it comes from. Compared exactly; no two leads share it.
                 * @example crm-4711
                 */
                external_id?: string | null;
                /**
                 * @description Tags to add. They follow those that the record has. Not together with tags.
                 * @example [
                 *       "autumn"
                 *     ]
                 */
                add_tags?: string[];
                /**
                 * @description Tags to remove. The others stay. Not together with tags.
                 * @example [
                 *       "spring"
                 *     ]
                 */
                remove_tags?: string[];
                /**
                 * @description Text to append to the notes. It gets a line of its own, unless they end with it. Not together with notes.
                 * @example Called, no answer.
                 */
                append_notes?: string;
            };
            /**
             * @description Whether the upsert may create a lead, update one, or do either. Default: `create_or_update`.
             * @example create_or_update
             * @enum {string|null}
             */
            mode?: "create_or_update" | "update_only" | "create_only" | null;
        };
        UpsertMeta: {
            /**
             * @description What was done.
             * @example created
             * @enum {string}
             */
            action: "created" | "updated" | "unchanged";
        };
        LeadBatch: {
            /**
             * @description Whether one item that fails undoes all. Default: `false`.
             * @example false
             */
            atomic?: boolean | null;
            /**
             * @description Each is carried out as a request of its own.
             * @example [
             *       {
             *         "action": "create",
             *         "data": {
             *           "first_name": "Ada",
             *           "email": "ada@example.com"
             *         }
             *       },
             *       {
             *         "action": "upsert",
             *         "match_on": [
             *           "external_id"
             *         ],
             *         "data": {
             *           "external_id": "crm-4711",
             *           "first_name": "Grace"
             *         }
             *       }
             *     ]
             */
            items: {
                /**
                 * @description What to do.
                 * @enum {string}
                 */
                action: "create" | "update" | "upsert" | "delete";
                /** @description Fields that find the lead of an upsert. */
                match_on?: ("email" | "phone" | "external_id")[];
                /**
                 * @description What an upsert may do.
                 * @enum {string}
                 */
                mode?: "create_or_update" | "update_only" | "create_only";
                /**
                 * Format: uuid
                 * @description The record of an update or a delete.
                 */
                id?: string;
                /** @description Entity tags, as in `If-Match`, for an update or a delete. */
                if_match?: string;
                /** @description The fields, as in a request for one record. */
                data?: {
                    [key: string]: unknown;
                };
            }[];
        };
        BatchResult: {
            /**
             * @description Position of the item, from 0.
             * @example 0
             */
            index: number;
            /**
             * @description What was done.
             * @example failed
             * @enum {string}
             */
            status: "created" | "updated" | "unchanged" | "deleted" | "cancelled" | "failed";
            /**
             * Format: uuid
             * @description The record, or null if there is none.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string | null;
            /**
             * @description Why it failed; only then.
             * @example {
             *       "code": "not_found",
             *       "message": "There is no such lead.",
             *       "retryable": false
             *     }
             */
            error?: {
                code: string;
                message: string;
                retryable: boolean;
                details?: {
                    field: string;
                    message: string;
                    /** Format: uuid */
                    existing_id?: string;
                    /** Format: uuid */
                    merged_into?: string;
                    free?: {
                        [key: string]: unknown;
                    }[];
                }[];
            };
        };
        BatchMeta: {
            /**
             * @description Items that did not fail.
             * @example 0
             */
            succeeded: number;
            /**
             * @description Items that failed.
             * @example 1
             */
            failed: number;
        };
        MergeLeadBody: {
            /**
             * Format: uuid
             * @description The lead to merge into this one, which is deleted.
             * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            lead_id: string;
            /**
             * @description Whose value to keep, by field: target (default, the lead that stays) or source.
             * @example {
             *       "phone": "source"
             *     }
             */
            prefer?: {
                /** @enum {string|null} */
                first_name?: "target" | "source" | null;
                /** @enum {string|null} */
                last_name?: "target" | "source" | null;
                /** @enum {string|null} */
                phone?: "target" | "source" | null;
                /** @enum {string|null} */
                email?: "target" | "source" | null;
                /** @enum {string|null} */
                company?: "target" | "source" | null;
                /** @enum {string|null} */
                address_street?: "target" | "source" | null;
                /** @enum {string|null} */
                city?: "target" | "source" | null;
                /** @enum {string|null} */
                state?: "target" | "source" | null;
                /** @enum {string|null} */
                zip?: "target" | "source" | null;
                /** @enum {string|null} */
                status?: "target" | "source" | null;
                /** @enum {string|null} */
                temperature?: "target" | "source" | null;
                /** @enum {string|null} */
                source?: "target" | "source" | null;
                /** @enum {string|null} */
                notes?: "target" | "source" | null;
                /** @enum {string|null} */
                tags?: "target" | "source" | null;
                /** @enum {string|null} */
                custom_fields?: "target" | "source" | null;
                /** @enum {string|null} */
                sms_opted_out?: "target" | "source" | null;
                /** @enum {string|null} */
                on_dnc_list?: "target" | "source" | null;
                /** @enum {string|null} */
                external_id?: "target" | "source" | null;
            } | null;
            /**
             * @description Checks everything and changes nothing. Default: `false`.
             * @example false
             */
            dry_run?: boolean | null;
        };
        LeadMergePreview: {
            /**
             * @description Nothing was changed.
             * @example true
             */
            dry_run: boolean;
            /**
             * @description The lead that the merge would return.
             * @example {
             *       "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
             *       "first_name": "Grace",
             *       "last_name": "Hopper",
             *       "phone": "+1 415 555 0132",
             *       "email": "grace.hopper@example.com",
             *       "company": "Harbor Roofing",
             *       "address_street": "12 Pier Street",
             *       "city": "Oakland",
             *       "state": "CA",
             *       "zip": "94607",
             *       "status": "new",
             *       "temperature": "warm",
             *       "source": "website",
             *       "notes": "Prefers calls in the morning.",
             *       "tags": [
             *         "roof",
             *         "spring"
             *       ],
             *       "custom_fields": {
             *         "budget": 12500,
             *         "roof": {
             *           "material": "slate"
             *         }
             *       },
             *       "sms_opted_out": false,
             *       "on_dnc_list": false,
             *       "external_id": "crm-4711",
             *       "lead_score": 80,
             *       "created_at": "2026-01-05T16:20:00.000Z",
             *       "updated_at": "2026-01-05T16:20:00.000Z"
             *     }
             */
            would_answer: {
                /**
                 * Format: uuid
                 * @description Identifier, given by the service.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
                /**
                 * @description Given name.
                 * @example Grace
                 */
                first_name: string;
                /**
                 * @description Family name.
                 * @example Hopper
                 */
                last_name: string | null;
                /**
                 * @description Phone number with an optional extension, such as x12. Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`), in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
                 * @example +1 415 555 0132
                 */
                phone: string | null;
                /**
                 * @description E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
                 * @example grace.hopper@example.com
                 */
                email: string | null;
                /**
                 * @description Company.
                 * @example Harbor Roofing
                 */
                company: string | null;
                /**
                 * @description Street and house number.
                 * @example 12 Pier Street
                 */
                address_street: string | null;
                /**
                 * @description City.
                 * @example Oakland
                 */
                city: string | null;
                /**
                 * @description State, abbreviated.
                 * @example CA
                 */
                state: string | null;
                /**
                 * @description Postal code.
                 * @example 94607
                 */
                zip: string | null;
                /**
                 * @description Free text; lists filter by its exact value.
                 * @example new
                 */
                status: string | null;
                /**
                 * @description How likely the lead is to buy.
                 * @example warm
                 * @enum {string|null}
                 */
                temperature: "cold" | "warm" | "hot" | null;
                /**
                 * @description Where it came from.
                 * @example website
                 * @enum {string}
                 */
                source: "manual" | "api" | "website" | "referral" | "import" | "other";
                /**
                 * @description Free text.
                 * @example Prefers calls in the morning.
                 */
                notes: string | null;
                /**
                 * @description Labels; an update replaces all. Repetitions are removed, the order is kept.
                 * @example [
                 *       "roof",
                 *       "spring"
                 *     ]
                 */
                tags: string[];
                /**
                 * @description Keys and JSON values; an update replaces all. At most 32768 bytes as JSON and 8 levels deep.
                 * @example {
                 *       "budget": 12500,
                 *       "roof": {
                 *         "material": "slate"
                 *       }
                 *     }
                 */
                custom_fields: {
                    [key: string]: unknown;
                };
                /**
                 * @description Opted out of text messages. The lead must not be sent any.
                 * @example false
                 */
                sms_opted_out: boolean;
                /**
                 * @description Is on a do-not-call list. The lead must not be contacted.
                 * @example false
                 */
                on_dnc_list: boolean;
                /**
                 * @description Id in the system that it comes from. Compared exactly; no two leads share it.
                 * @example crm-4711
                 */
                external_id: string | null;
                /**
                 * @description Computed from the other fields on every write; higher is more promising.
                 * @example 80
                 */
                lead_score: number;
                /**
                 * Format: date-time
                 * @description When it was created, to the millisecond.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description When it last changed; it moves forward with every real change.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                updated_at: string;
            };
            /**
             * @description The lead that would stay, as it is.
             * @example {
             *       "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
             *       "first_name": "Grace",
             *       "last_name": "Hopper",
             *       "phone": "+1 415 555 0132",
             *       "email": "grace.hopper@example.com",
             *       "company": "Harbor Roofing",
             *       "address_street": "12 Pier Street",
             *       "city": "Oakland",
             *       "state": "CA",
             *       "zip": "94607",
             *       "status": "new",
             *       "temperature": "warm",
             *       "source": "website",
             *       "notes": "Prefers calls in the morning.",
             *       "tags": [
             *         "roof",
             *         "spring"
             *       ],
             *       "custom_fields": {
             *         "budget": 12500,
             *         "roof": {
             *           "material": "slate"
             *         }
             *       },
             *       "sms_opted_out": false,
             *       "on_dnc_list": false,
             *       "external_id": "crm-4711",
             *       "lead_score": 80,
             *       "created_at": "2026-01-05T16:20:00.000Z",
             *       "updated_at": "2026-01-05T16:20:00.000Z"
             *     }
             */
            target: {
                /**
                 * Format: uuid
                 * @description Identifier, given by the service.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
                /**
                 * @description Given name.
                 * @example Grace
                 */
                first_name: string;
                /**
                 * @description Family name.
                 * @example Hopper
                 */
                last_name: string | null;
                /**
                 * @description Phone number with an optional extension, such as x12. Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`), in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
                 * @example +1 415 555 0132
                 */
                phone: string | null;
                /**
                 * @description E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
                 * @example grace.hopper@example.com
                 */
                email: string | null;
                /**
                 * @description Company.
                 * @example Harbor Roofing
                 */
                company: string | null;
                /**
                 * @description Street and house number.
                 * @example 12 Pier Street
                 */
                address_street: string | null;
                /**
                 * @description City.
                 * @example Oakland
                 */
                city: string | null;
                /**
                 * @description State, abbreviated.
                 * @example CA
                 */
                state: string | null;
                /**
                 * @description Postal code.
                 * @example 94607
                 */
                zip: string | null;
                /**
                 * @description Free text; lists filter by its exact value.
                 * @example new
                 */
                status: string | null;
                /**
                 * @description How likely the lead is to buy.
                 * @example warm
                 * @enum {string|null}
                 */
                temperature: "cold" | "warm" | "hot" | null;
                /**
                 * @description Where it came from.
                 * @example website
                 * @enum {string}
                 */
                source: "manual" | "api" | "website" | "referral" | "import" | "other";
                /**
                 * @description Free text.
                 * @example Prefers calls in the morning.
                 */
                notes: string | null;
                /**
                 * @description Labels; an update replaces all. Repetitions are removed, the order is kept.
                 * @example [
                 *       "roof",
                 *       "spring"
                 *     ]
                 */
                tags: string[];
                /**
                 * @description Keys and JSON values; an update replaces all. At most 32768 bytes as JSON and 8 levels deep.
                 * @example {
                 *       "budget": 12500,
                 *       "roof": {
                 *         "material": "slate"
                 *       }
                 *     }
                 */
                custom_fields: {
                    [key: string]: unknown;
                };
                /**
                 * @description Opted out of text messages. The lead must not be sent any.
                 * @example false
                 */
                sms_opted_out: boolean;
                /**
                 * @description Is on a do-not-call list. The lead must not be contacted.
                 * @example false
                 */
                on_dnc_list: boolean;
                /**
                 * @description Id in the system that it comes from. Compared exactly; no two leads share it.
                 * @example crm-4711
                 */
                external_id: string | null;
                /**
                 * @description Computed from the other fields on every write; higher is more promising.
                 * @example 80
                 */
                lead_score: number;
                /**
                 * Format: date-time
                 * @description When it was created, to the millisecond.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description When it last changed; it moves forward with every real change.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                updated_at: string;
            };
            /**
             * @description The lead that would be deleted, as it is.
             * @example {
             *       "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
             *       "first_name": "Grace",
             *       "last_name": "Hopper",
             *       "phone": "+1 415 555 0132",
             *       "email": "grace.hopper@example.com",
             *       "company": "Harbor Roofing",
             *       "address_street": "12 Pier Street",
             *       "city": "Oakland",
             *       "state": "CA",
             *       "zip": "94607",
             *       "status": "new",
             *       "temperature": "warm",
             *       "source": "website",
             *       "notes": "Prefers calls in the morning.",
             *       "tags": [
             *         "roof",
             *         "spring"
             *       ],
             *       "custom_fields": {
             *         "budget": 12500,
             *         "roof": {
             *           "material": "slate"
             *         }
             *       },
             *       "sms_opted_out": false,
             *       "on_dnc_list": false,
             *       "external_id": "crm-4711",
             *       "lead_score": 80,
             *       "created_at": "2026-01-05T16:20:00.000Z",
             *       "updated_at": "2026-01-05T16:20:00.000Z"
             *     }
             */
            source: {
                /**
                 * Format: uuid
                 * @description Identifier, given by the service.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
                /**
                 * @description Given name.
                 * @example Grace
                 */
                first_name: string;
                /**
                 * @description Family name.
                 * @example Hopper
                 */
                last_name: string | null;
                /**
                 * @description Phone number with an optional extension, such as x12. Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`), in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
                 * @example +1 415 555 0132
                 */
                phone: string | null;
                /**
                 * @description E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
                 * @example grace.hopper@example.com
                 */
                email: string | null;
                /**
                 * @description Company.
                 * @example Harbor Roofing
                 */
                company: string | null;
                /**
                 * @description Street and house number.
                 * @example 12 Pier Street
                 */
                address_street: string | null;
                /**
                 * @description City.
                 * @example Oakland
                 */
                city: string | null;
                /**
                 * @description State, abbreviated.
                 * @example CA
                 */
                state: string | null;
                /**
                 * @description Postal code.
                 * @example 94607
                 */
                zip: string | null;
                /**
                 * @description Free text; lists filter by its exact value.
                 * @example new
                 */
                status: string | null;
                /**
                 * @description How likely the lead is to buy.
                 * @example warm
                 * @enum {string|null}
                 */
                temperature: "cold" | "warm" | "hot" | null;
                /**
                 * @description Where it came from.
                 * @example website
                 * @enum {string}
                 */
                source: "manual" | "api" | "website" | "referral" | "import" | "other";
                /**
                 * @description Free text.
                 * @example Prefers calls in the morning.
                 */
                notes: string | null;
                /**
                 * @description Labels; an update replaces all. Repetitions are removed, the order is kept.
                 * @example [
                 *       "roof",
                 *       "spring"
                 *     ]
                 */
                tags: string[];
                /**
                 * @description Keys and JSON values; an update replaces all. At most 32768 bytes as JSON and 8 levels deep.
                 * @example {
                 *       "budget": 12500,
                 *       "roof": {
                 *         "material": "slate"
                 *       }
                 *     }
                 */
                custom_fields: {
                    [key: string]: unknown;
                };
                /**
                 * @description Opted out of text messages. The lead must not be sent any.
                 * @example false
                 */
                sms_opted_out: boolean;
                /**
                 * @description Is on a do-not-call list. The lead must not be contacted.
                 * @example false
                 */
                on_dnc_list: boolean;
                /**
                 * @description Id in the system that it comes from. Compared exactly; no two leads share it.
                 * @example crm-4711
                 */
                external_id: string | null;
                /**
                 * @description Computed from the other fields on every write; higher is more promising.
                 * @example 80
                 */
                lead_score: number;
                /**
                 * Format: date-time
                 * @description When it was created, to the millisecond.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description When it last changed; it moves forward with every real change.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                updated_at: string;
            };
            /**
             * @description How many records of each kind would move.
             * @example {
             *       "appointments": 2,
             *       "tasks": 1
             *     }
             */
            moves: {
                [key: string]: number | null;
            };
        };
        Event: {
            /**
             * Format: uuid
             * @description Unique, and in the order of events.
             * @example 019ad2c1-7c4e-71a3-8000-000000000000
             */
            id: string;
            /**
             * @description What happened to which kind of record.
             * @example lead.updated
             */
            type: string;
            /**
             * @description Of events that time causes: whether the lead has neither opted out of text messages nor is on the do-not-call list. Only for readers with `leads:read`.
             * @example true
             */
            contactable?: boolean;
            /**
             * @description Of `appointment.starting`: how many minutes before the start it is due.
             * @example 60
             */
            remind_before_minutes?: number;
            /**
             * Format: date-time
             * @description When the record was changed.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * @description The record after the change, as GET returns it. For a deletion, its last state.
             * @example {
             *       "id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
             *       "first_name": "Ada"
             *     }
             */
            record: {
                /** Format: uuid */
                id: string;
            } & {
                [key: string]: unknown;
            };
            /**
             * @description The names of the fields whose values changed. Empty for creations and deletions.
             * @example [
             *       "email"
             *     ]
             */
            changed: string[];
            /**
             * @description Who changed it.
             * @example {
             *       "key_id": "01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10",
             *       "key_name": "n8n",
             *       "channel": "api",
             *       "request_id": "5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f",
             *       "grant_id": "01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54",
             *       "client_id": "https://claude.ai/oauth/client.json"
             *     }
             */
            actor: {
                /**
                 * @description Id of the key; null for jobs and commands.
                 * @example 01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10
                 */
                key_id: string | null;
                /**
                 * @description Its name; null if it is no key of the organization.
                 * @example n8n
                 */
                key_name: string | null;
                /**
                 * @description `api` through REST, `ai` through /mcp, `import` by an import; null for jobs and commands.
                 * @example api
                 */
                channel: string | null;
                /**
                 * @description The `X-Request-Id` of the request; null for jobs and commands.
                 * @example 5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f
                 */
                request_id: string | null;
                /**
                 * @description Id of the grant by which an application has changed the record, else null.
                 * @example 01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54
                 */
                grant_id: string | null;
                /**
                 * @description Id of this application: the URL of its metadata, or that of its registration.
                 * @example https://claude.ai/oauth/client.json
                 */
                client_id: string | null;
            };
        };
        CustomField: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description The key in `custom_fields`. It cannot be changed.
             * @example roof_age
             */
            key: string;
            /**
             * @description What people read.
             * @example Age of the roof
             */
            label: string | null;
            /**
             * @description What the field means.
             * @example In years, as the owner says.
             */
            description: string | null;
            /**
             * @description The type of the values.
             * @example number
             * @enum {string}
             */
            type: "text" | "number" | "boolean" | "date" | "datetime" | "select" | "multi_select";
            /**
             * @description The values of a `select` or `multi_select`, each once.
             * @example []
             */
            options: {
                /**
                 * @description The value.
                 * @example slate
                 */
                value: string;
                /**
                 * @description What people read.
                 * @example Slate
                 */
                label: string | null;
            }[];
            /**
             * @description Whether a new lead needs a value.
             * @example false
             */
            required: boolean;
            /**
             * @description Whether no two leads share a value.
             * @example false
             */
            unique: boolean;
            /**
             * @description Whether filters find values by an index.
             * @example true
             */
            filterable: boolean;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
        };
        CreateCustomField: {
            /**
             * @description The key in `custom_fields`. It cannot be changed.
             * @example roof_age
             */
            key: string;
            /**
             * @description What people read.
             * @example Age of the roof
             */
            label?: string | null;
            /**
             * @description What the field means.
             * @example In years, as the owner says.
             */
            description?: string | null;
            /**
             * @description The type of the values.
             * @example number
             * @enum {string}
             */
            type: "text" | "number" | "boolean" | "date" | "datetime" | "select" | "multi_select";
            /**
             * @description The values of a `select` or `multi_select`, each once. Default: `[]`.
             * @example []
             */
            options?: {
                /**
                 * @description The value.
                 * @example slate
                 */
                value: string;
                /**
                 * @description What people read.
                 * @example Slate
                 */
                label?: string | null;
            }[] | null;
            /**
             * @description Whether a new lead needs a value. Default: `false`.
             * @example false
             */
            required?: boolean | null;
            /**
             * @description Whether no two leads share a value. Default: `false`.
             * @example false
             */
            unique?: boolean | null;
            /**
             * @description Whether filters find values by an index. Default: `false`.
             * @example true
             */
            filterable?: boolean | null;
            /**
             * @description Whether nothing is stored, and only the stored leads are checked. Default: `false`.
             * @example false
             */
            dry_run?: boolean | null;
        };
        UpdateCustomField: {
            /**
             * @description What people read.
             * @example Age of the roof
             */
            label?: string | null;
            /**
             * @description What the field means.
             * @example In years, as the owner says.
             */
            description?: string | null;
            /**
             * @description The type of the values.
             * @example number
             * @enum {string}
             */
            type?: "text" | "number" | "boolean" | "date" | "datetime" | "select" | "multi_select";
            /**
             * @description The values of a `select` or `multi_select`, each once.
             * @example []
             */
            options?: {
                /**
                 * @description The value.
                 * @example slate
                 */
                value: string;
                /**
                 * @description What people read.
                 * @example Slate
                 */
                label?: string | null;
            }[];
            /**
             * @description Whether a new lead needs a value.
             * @example false
             */
            required?: boolean;
            /**
             * @description Whether no two leads share a value.
             * @example false
             */
            unique?: boolean;
            /**
             * @description Whether filters find values by an index.
             * @example true
             */
            filterable?: boolean;
            /**
             * @description Whether nothing is stored, and only the stored leads are checked.
             * @example false
             */
            dry_run?: boolean;
        };
        Appointment: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * Format: uuid
             * @description The lead that it is with. It must exist in the organization and cannot be changed.
             * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            lead_id: string;
            /**
             * Format: date-time
             * @description When it begins. Times in the past are allowed, and overlaps without a resource.
             * @example 2026-03-02T17:00:00.000Z
             */
            start_time: string;
            /**
             * Format: date-time
             * @description When it ends. It must be after start_time.
             * @example 2026-03-02T18:00:00.000Z
             */
            end_time: string;
            /**
             * Format: uuid
             * @description The resource whose time it takes.
             * @example 01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64
             */
            resource_id: string | null;
            /**
             * @description What it is for; free text.
             * @example Estimate
             */
            type: string | null;
            /**
             * @description Where it is.
             * @example 12 Pier Street, Oakland
             */
            location: string | null;
            /**
             * @description Free text.
             * @example Bring samples of slate.
             */
            notes: string | null;
            /**
             * @description Any status may follow any other.
             * @example scheduled
             * @enum {string}
             */
            status: "scheduled" | "confirmed" | "completed" | "cancelled" | "no_show";
            /**
             * @description Minutes before the start at which to remind. It then writes `appointment.starting`. Without it, those of the resource count.
             * @example [
             *       1440,
             *       60
             *     ]
             */
            remind_before_minutes: number[] | null;
            /**
             * @description What came of it; free text.
             * @example Offer accepted
             */
            outcome: string | null;
            /**
             * @description More about what came of it.
             * @example Starts in April.
             */
            outcome_notes: string | null;
            /**
             * Format: uuid
             * @description The organization that it belongs to: that of the key.
             * @example 01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21
             */
            organization_id: string;
            /**
             * @description Who booked it: `api` through REST, `ai` through /mcp.
             * @example api
             * @enum {string}
             */
            booked_by: "api" | "ai";
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
        };
        CreateAppointment: {
            /**
             * Format: uuid
             * @description The lead that it is with. It must exist in the organization and cannot be changed.
             * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            lead_id: string;
            /**
             * @description When it begins. Times in the past are allowed, and overlaps without a resource. ISO 8601 date-time or date.
             * @example 2026-03-02T17:00:00.000Z
             */
            start_time?: string | null;
            /**
             * @description When it ends. It must be after start_time. ISO 8601 date-time or date.
             * @example 2026-03-02T18:00:00.000Z
             */
            end_time?: string | null;
            /**
             * Format: uuid
             * @description The resource whose time it takes.
             * @example 01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64
             */
            resource_id?: string | null;
            /**
             * @description What it is for; free text.
             * @example Estimate
             */
            type?: string | null;
            /**
             * @description Where it is.
             * @example 12 Pier Street, Oakland
             */
            location?: string | null;
            /**
             * @description Free text.
             * @example Bring samples of slate.
             */
            notes?: string | null;
            /**
             * @description Any status may follow any other. Default: `scheduled`.
             * @example scheduled
             * @enum {string|null}
             */
            status?: "scheduled" | "confirmed" | "completed" | "cancelled" | "no_show" | null;
            /**
             * @description Minutes before the start at which to remind. It then writes `appointment.starting`. Without it, those of the resource count.
             * @example [
             *       1440,
             *       60
             *     ]
             */
            remind_before_minutes?: number[] | null;
            /**
             * @description What came of it; free text.
             * @example Offer accepted
             */
            outcome?: string | null;
            /**
             * @description More about what came of it.
             * @example Starts in April.
             */
            outcome_notes?: string | null;
            /**
             * @description Resources, of which it takes one that is free. It is the one with the fewest appointments that day.
             * @example [
             *       "01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64"
             *     ]
             */
            any_of?: string[] | null;
            /**
             * Format: uuid
             * @description Hold that becomes the appointment, with its times and resource.
             * @example 01a1fbde-41d7-7b0a-8c6f-3e5a9d2b7f18
             */
            hold_id?: string | null;
            /**
             * @description Whether to refuse a time outside of the hours of the resource.
             * @example false
             */
            within_hours?: boolean | null;
        };
        UpdateAppointment: {
            /**
             * @description When it begins. Times in the past are allowed, and overlaps without a resource. ISO 8601 date-time or date.
             * @example 2026-03-02T17:00:00.000Z
             */
            start_time?: string;
            /**
             * @description When it ends. It must be after start_time. ISO 8601 date-time or date.
             * @example 2026-03-02T18:00:00.000Z
             */
            end_time?: string;
            /**
             * Format: uuid
             * @description The resource whose time it takes.
             * @example 01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64
             */
            resource_id?: string | null;
            /**
             * @description What it is for; free text.
             * @example Estimate
             */
            type?: string | null;
            /**
             * @description Where it is.
             * @example 12 Pier Street, Oakland
             */
            location?: string | null;
            /**
             * @description Free text.
             * @example Bring samples of slate.
             */
            notes?: string | null;
            /**
             * @description Any status may follow any other.
             * @example scheduled
             * @enum {string}
             */
            status?: "scheduled" | "confirmed" | "completed" | "cancelled" | "no_show";
            /**
             * @description Minutes before the start at which to remind. It then writes `appointment.starting`. Without it, those of the resource count.
             * @example [
             *       1440,
             *       60
             *     ]
             */
            remind_before_minutes?: number[] | null;
            /**
             * @description What came of it; free text.
             * @example Offer accepted
             */
            outcome?: string | null;
            /**
             * @description More about what came of it.
             * @example Starts in April.
             */
            outcome_notes?: string | null;
            /**
             * @description Text to append to the notes. It gets a line of its own, unless they end with it. Not together with notes.
             * @example Called, no answer.
             */
            append_notes?: string;
            /**
             * @description Whether to refuse a time outside of the hours of the resource.
             * @example false
             */
            within_hours?: boolean;
        };
        CancelledAppointment: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description Always true.
             * @example true
             */
            cancelled: boolean;
        };
        RecordBatch: {
            /**
             * @description Whether one item that fails undoes all. Default: `false`.
             * @example false
             */
            atomic?: boolean | null;
            /**
             * @description Each is carried out as a request of its own.
             * @example [
             *       {
             *         "action": "update",
             *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
             *         "data": {
             *           "status": "completed"
             *         }
             *       },
             *       {
             *         "action": "delete",
             *         "id": "01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43"
             *       }
             *     ]
             */
            items: {
                /**
                 * @description What to do.
                 * @enum {string}
                 */
                action: "create" | "update" | "delete";
                /**
                 * Format: uuid
                 * @description The record of an update or a delete.
                 */
                id?: string;
                /** @description Entity tags, as in `If-Match`, for an update or a delete. */
                if_match?: string;
                /** @description The fields, as in a request for one record. */
                data?: {
                    [key: string]: unknown;
                };
            }[];
        };
        Calendar: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description Whether appointments show their location and the name of the lead, for which the key needs `leads:read`.
             * @example false
             */
            details: boolean;
            /**
             * Format: uuid
             * @description The resource whose appointments it has.
             * @example 01a1fbdd-7c3e-7b18-9a4f-2d1c7e6b5a43
             */
            resource_id: string;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
        };
        CreateCalendar: {
            /**
             * @description Whether appointments show their location and the name of the lead, for which the key needs `leads:read`. Default: `false`.
             * @example false
             */
            details?: boolean | null;
        };
        CalendarWithAddress: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description Whether appointments show their location and the name of the lead, for which the key needs `leads:read`.
             * @example false
             */
            details: boolean;
            /**
             * Format: uuid
             * @description The resource whose appointments it has.
             * @example 01a1fbdd-7c3e-7b18-9a4f-2d1c7e6b5a43
             */
            resource_id: string;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * @description The secret address for calendar applications. It is never shown again, also not in a replay.
             * @example https://crm.example/calendars/Yh1rVn0oUQ2mCq8sXlT5eJ7wK3zB9dGa.ics
             */
            url?: string;
        };
        Resource: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description What it is called.
             * @example Crew 1
             */
            name: string;
            /**
             * Format: uuid
             * @description The team member whose time it is: an id of your own users.
             * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
             */
            user_id: string | null;
            /**
             * @description The zone of its hours: a name of the IANA database.
             * @example Europe/Berlin
             */
            time_zone: string;
            /**
             * @description When it can be booked, in local time, by weekday. An end before its start is on the next day. Without hours it is never free.
             * @example {
             *       "monday": [
             *         {
             *           "start": "09:00",
             *           "end": "12:00"
             *         }
             *       ]
             *     }
             */
            hours: {
                sunday?: {
                    start: string;
                    end: string;
                }[];
                monday?: {
                    start: string;
                    end: string;
                }[];
                tuesday?: {
                    start: string;
                    end: string;
                }[];
                wednesday?: {
                    start: string;
                    end: string;
                }[];
                thursday?: {
                    start: string;
                    end: string;
                }[];
                friday?: {
                    start: string;
                    end: string;
                }[];
                saturday?: {
                    start: string;
                    end: string;
                }[];
            } | null;
            /**
             * @description Dates with other hours. Without intervals, it is closed on that date.
             * @example [
             *       {
             *         "date": "2026-12-24",
             *         "hours": []
             *       }
             *     ]
             */
            exceptions: {
                date: string;
                hours: {
                    start: string;
                    end: string;
                }[];
            }[];
            /**
             * @description Minutes that it needs before each appointment.
             * @example 15
             */
            buffer_before_minutes: number;
            /**
             * @description Minutes that it needs after each appointment.
             * @example 15
             */
            buffer_after_minutes: number;
            /**
             * @description How many minutes before their start its appointments write `appointment.starting`, unless they say it themselves.
             * @example [
             *       1440,
             *       60
             *     ]
             */
            remind_before_minutes: number[] | null;
            /**
             * @description Whether it can be booked.
             * @example true
             */
            active: boolean;
            /**
             * Format: uuid
             * @description The organization that it belongs to: that of the key.
             * @example 01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21
             */
            organization_id: string;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
        };
        CreateResource: {
            /**
             * @description What it is called.
             * @example Crew 1
             */
            name: string;
            /**
             * Format: uuid
             * @description The team member whose time it is: an id of your own users.
             * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
             */
            user_id?: string | null;
            /**
             * @description The zone of its hours: a name of the IANA database. Default: `UTC`.
             * @example Europe/Berlin
             */
            time_zone?: string | null;
            /**
             * @description When it can be booked, in local time, by weekday. An end before its start is on the next day. Without hours it is never free.
             * @example {
             *       "monday": [
             *         {
             *           "start": "09:00",
             *           "end": "12:00"
             *         }
             *       ]
             *     }
             */
            hours?: {
                sunday?: {
                    start: string;
                    end: string;
                }[];
                monday?: {
                    start: string;
                    end: string;
                }[];
                tuesday?: {
                    start: string;
                    end: string;
                }[];
                wednesday?: {
                    start: string;
                    end: string;
                }[];
                thursday?: {
                    start: string;
                    end: string;
                }[];
                friday?: {
                    start: string;
                    end: string;
                }[];
                saturday?: {
                    start: string;
                    end: string;
                }[];
            } | null;
            /**
             * @description Dates with other hours. Without intervals, it is closed on that date. Default: `[]`.
             * @example [
             *       {
             *         "date": "2026-12-24",
             *         "hours": []
             *       }
             *     ]
             */
            exceptions?: {
                date: string;
                hours: {
                    start: string;
                    end: string;
                }[];
            }[] | null;
            /**
             * @description Minutes that it needs before each appointment. Default: `0`.
             * @example 15
             */
            buffer_before_minutes?: number | null;
            /**
             * @description Minutes that it needs after each appointment. Default: `0`.
             * @example 15
             */
            buffer_after_minutes?: number | null;
            /**
             * @description How many minutes before their start its appointments write `appointment.starting`, unless they say it themselves.
             * @example [
             *       1440,
             *       60
             *     ]
             */
            remind_before_minutes?: number[] | null;
            /**
             * @description Whether it can be booked. Default: `true`.
             * @example true
             */
            active?: boolean | null;
        };
        UpdateResource: {
            /**
             * @description What it is called.
             * @example Crew 1
             */
            name?: string;
            /**
             * Format: uuid
             * @description The team member whose time it is: an id of your own users.
             * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
             */
            user_id?: string | null;
            /**
             * @description The zone of its hours: a name of the IANA database.
             * @example Europe/Berlin
             */
            time_zone?: string;
            /**
             * @description When it can be booked, in local time, by weekday. An end before its start is on the next day. Without hours it is never free.
             * @example {
             *       "monday": [
             *         {
             *           "start": "09:00",
             *           "end": "12:00"
             *         }
             *       ]
             *     }
             */
            hours?: {
                sunday?: {
                    start: string;
                    end: string;
                }[];
                monday?: {
                    start: string;
                    end: string;
                }[];
                tuesday?: {
                    start: string;
                    end: string;
                }[];
                wednesday?: {
                    start: string;
                    end: string;
                }[];
                thursday?: {
                    start: string;
                    end: string;
                }[];
                friday?: {
                    start: string;
                    end: string;
                }[];
                saturday?: {
                    start: string;
                    end: string;
                }[];
            } | null;
            /**
             * @description Dates with other hours. Without intervals, it is closed on that date.
             * @example [
             *       {
             *         "date": "2026-12-24",
             *         "hours": []
             *       }
             *     ]
             */
            exceptions?: {
                date: string;
                hours: {
                    start: string;
                    end: string;
                }[];
            }[];
            /**
             * @description Minutes that it needs before each appointment.
             * @example 15
             */
            buffer_before_minutes?: number;
            /**
             * @description Minutes that it needs after each appointment.
             * @example 15
             */
            buffer_after_minutes?: number;
            /**
             * @description How many minutes before their start its appointments write `appointment.starting`, unless they say it themselves.
             * @example [
             *       1440,
             *       60
             *     ]
             */
            remind_before_minutes?: number[] | null;
            /**
             * @description Whether it can be booked.
             * @example true
             */
            active?: boolean;
        };
        Availability: {
            /**
             * Format: uuid
             * @description The resource.
             * @example 01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64
             */
            resource_id: string;
            /**
             * @description Its time zone.
             * @example Europe/Berlin
             */
            time_zone: string;
            /**
             * @description Its free times, in their order.
             * @example [
             *       {
             *         "start_time": "2026-03-02T08:00:00.000Z",
             *         "end_time": "2026-03-02T09:00:00.000Z",
             *         "local_start": "2026-03-02T09:00:00.000+01:00"
             *       }
             *     ]
             */
            slots: {
                /**
                 * Format: date-time
                 * @description When it begins.
                 * @example 2026-03-02T08:00:00.000Z
                 */
                start_time: string;
                /**
                 * Format: date-time
                 * @description When it ends.
                 * @example 2026-03-02T09:00:00.000Z
                 */
                end_time: string;
                /**
                 * @description When it begins, with the offset of the zone.
                 * @example 2026-03-02T09:00:00.000+01:00
                 */
                local_start: string;
            }[];
        };
        AvailabilityMeta: {
            /**
             * Format: date-time
             * @description The beginning of the window.
             * @example 2026-03-02T00:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description The end of the window.
             * @example 2026-03-07T00:00:00.000Z
             */
            to: string;
        };
        Hold: {
            /**
             * Format: uuid
             * @description Identifier of the hold.
             * @example 01a1fbde-41d7-7b0a-8c6f-3e5a9d2b7f18
             */
            id: string;
            /**
             * Format: uuid
             * @description The resource whose time it takes.
             * @example 01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64
             */
            resource_id: string;
            /**
             * Format: date-time
             * @description When it begins.
             * @example 2026-03-02T17:00:00.000Z
             */
            start_time: string;
            /**
             * Format: date-time
             * @description When it ends.
             * @example 2026-03-02T18:00:00.000Z
             */
            end_time: string;
            /**
             * Format: date-time
             * @description When it ends by itself.
             * @example 2026-03-02T16:05:00.000Z
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
        };
        CreateHold: {
            /**
             * Format: uuid
             * @description The resource whose time it takes.
             * @example 01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64
             */
            resource_id?: string | null;
            /**
             * @description Resources, of which it takes one that is free. It is the one with the fewest appointments that day.
             * @example [
             *       "01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64"
             *     ]
             */
            any_of?: string[] | null;
            /**
             * @description When it begins. ISO 8601 date-time or date.
             * @example 2026-03-02T17:00:00.000Z
             */
            start_time: string;
            /**
             * @description When it ends. It must be after start_time. ISO 8601 date-time or date.
             * @example 2026-03-02T18:00:00.000Z
             */
            end_time: string;
            /**
             * @description How long it lasts.
             * @example 300
             */
            seconds: number;
        };
        Task: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description What is to be done.
             * @example Send the offer
             */
            title: string;
            /**
             * @description Free text.
             * @example With the prices of this spring.
             */
            description: string | null;
            /**
             * @description How pressing it is. Lists sort it by meaning, from low to urgent.
             * @example high
             * @enum {string}
             */
            priority: "low" | "medium" | "high" | "urgent";
            /**
             * @description Any status may follow any other.
             * @example open
             * @enum {string}
             */
            status: "open" | "in_progress" | "completed" | "cancelled";
            /**
             * Format: date-time
             * @description When it is due.
             * @example 2026-03-06T17:00:00.000Z
             */
            due_date: string | null;
            /**
             * Format: uuid
             * @description The lead that it is about. It must exist in the organization.
             * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            contact_id: string | null;
            /**
             * Format: uuid
             * @description The team member who does it: an id of your own users.
             * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
             */
            assigned_to_user_id: string | null;
            /**
             * Format: uuid
             * @description The organization that it belongs to: that of the key.
             * @example 01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21
             */
            organization_id: string;
            /**
             * Format: uuid
             * @description The user whom the key that created it names, if it names one.
             * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
             */
            created_by_user_id: string | null;
            /**
             * @description Whether it was created through /mcp.
             * @example false
             */
            created_by_ai: boolean;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
        };
        DeletedTask: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description What is to be done.
             * @example Send the offer
             */
            title: string;
            /**
             * @description Free text.
             * @example With the prices of this spring.
             */
            description: string | null;
            /**
             * @description How pressing it is. Lists sort it by meaning, from low to urgent.
             * @example high
             * @enum {string}
             */
            priority: "low" | "medium" | "high" | "urgent";
            /**
             * @description Any status may follow any other.
             * @example open
             * @enum {string}
             */
            status: "open" | "in_progress" | "completed" | "cancelled";
            /**
             * Format: date-time
             * @description When it is due.
             * @example 2026-03-06T17:00:00.000Z
             */
            due_date: string | null;
            /**
             * Format: uuid
             * @description The lead that it is about. It must exist in the organization.
             * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            contact_id: string | null;
            /**
             * Format: uuid
             * @description The team member who does it: an id of your own users.
             * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
             */
            assigned_to_user_id: string | null;
            /**
             * Format: uuid
             * @description The organization that it belongs to: that of the key.
             * @example 01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21
             */
            organization_id: string;
            /**
             * Format: uuid
             * @description The user whom the key that created it names, if it names one.
             * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
             */
            created_by_user_id: string | null;
            /**
             * @description Whether it was created through /mcp.
             * @example false
             */
            created_by_ai: boolean;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
            /**
             * Format: date-time
             * @description When it was deleted.
             * @example 2026-01-05T16:20:00.000Z
             */
            deleted_at: string;
        };
        CreateTask: {
            /**
             * @description What is to be done.
             * @example Send the offer
             */
            title: string;
            /**
             * @description Free text.
             * @example With the prices of this spring.
             */
            description?: string | null;
            /**
             * @description How pressing it is. Lists sort it by meaning, from low to urgent. Default: `medium`.
             * @example high
             * @enum {string|null}
             */
            priority?: "low" | "medium" | "high" | "urgent" | null;
            /**
             * @description Any status may follow any other. Default: `open`.
             * @example open
             * @enum {string|null}
             */
            status?: "open" | "in_progress" | "completed" | "cancelled" | null;
            /**
             * @description When it is due. ISO 8601 date-time or date.
             * @example 2026-03-06T17:00:00.000Z
             */
            due_date?: string | null;
            /**
             * Format: uuid
             * @description The lead that it is about. It must exist in the organization.
             * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            contact_id?: string | null;
            /**
             * Format: uuid
             * @description The team member who does it: an id of your own users.
             * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
             */
            assigned_to_user_id?: string | null;
        };
        UpdateTask: {
            /**
             * @description What is to be done.
             * @example Send the offer
             */
            title?: string;
            /**
             * @description Free text.
             * @example With the prices of this spring.
             */
            description?: string | null;
            /**
             * @description How pressing it is. Lists sort it by meaning, from low to urgent.
             * @example high
             * @enum {string}
             */
            priority?: "low" | "medium" | "high" | "urgent";
            /**
             * @description Any status may follow any other.
             * @example open
             * @enum {string}
             */
            status?: "open" | "in_progress" | "completed" | "cancelled";
            /**
             * @description When it is due. ISO 8601 date-time or date.
             * @example 2026-03-06T17:00:00.000Z
             */
            due_date?: string | null;
            /**
             * Format: uuid
             * @description The lead that it is about. It must exist in the organization.
             * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            contact_id?: string | null;
            /**
             * Format: uuid
             * @description The team member who does it: an id of your own users.
             * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
             */
            assigned_to_user_id?: string | null;
        };
        Webhook: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description Where events are sent. Private addresses are refused.
             * @example https://example.com/hooks/latitude
             */
            url: string;
            /**
             * @description The types of events to send. The key must have the read scope of each.
             * @example [
             *       "lead.created",
             *       "lead.updated"
             *     ]
             */
            types: string[];
            /**
             * @description Fields of the record: only updates that change any of them are sent, and creations with a value of any.
             * @example [
             *       "status",
             *       "tags"
             *     ]
             */
            changed: string[] | null;
            /**
             * @description Only events whose record matches are sent. A filter without relations, as lists take it. All types are then of one kind of record.
             * @example {
             *       "temperature": "hot",
             *       "or": [
             *         {
             *           "city": "Oakland"
             *         },
             *         {
             *           "zip": {
             *             "starts_with": "94"
             *           }
             *         }
             *       ]
             *     }
             */
            filter: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Free text.
             * @example Synchronizes the newsletter.
             */
            description: string | null;
            /**
             * @description Whether events are sent. Setting it to true also continues a webhook that was disabled.
             * @example true
             */
            enabled: boolean;
            /**
             * @description Why it was disabled: the receiver answered 410, failed for three days, a backup was restored, or its filter is not valid any more.
             * @example failing
             * @enum {string|null}
             */
            disabled_reason: "gone" | "failing" | "invalid_filter" | "restored" | null;
            /**
             * Format: date-time
             * @description When the first attempt failed after the last successful one.
             * @example 2026-01-05T16:20:00.000Z
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description Until when events are signed with the previous secret as well.
             * @example 2026-01-06T16:20:00.000Z
             */
            previous_secret_expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
        };
        CreateWebhook: {
            /**
             * @description Where events are sent. Private addresses are refused.
             * @example https://example.com/hooks/latitude
             */
            url: string;
            /**
             * @description The types of events to send. The key must have the read scope of each.
             * @example [
             *       "lead.created",
             *       "lead.updated"
             *     ]
             */
            types: string[];
            /**
             * @description Fields of the record: only updates that change any of them are sent, and creations with a value of any.
             * @example [
             *       "status",
             *       "tags"
             *     ]
             */
            changed?: string[] | null;
            /**
             * @description Only events whose record matches are sent. A filter without relations, as lists take it. All types are then of one kind of record.
             * @example {
             *       "temperature": "hot",
             *       "or": [
             *         {
             *           "city": "Oakland"
             *         },
             *         {
             *           "zip": {
             *             "starts_with": "94"
             *           }
             *         }
             *       ]
             *     }
             */
            filter?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Free text.
             * @example Synchronizes the newsletter.
             */
            description?: string | null;
            /**
             * @description Whether events are sent. Setting it to true also continues a webhook that was disabled. Default: `true`.
             * @example true
             */
            enabled?: boolean | null;
        };
        WebhookWithSecret: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description Where events are sent. Private addresses are refused.
             * @example https://example.com/hooks/latitude
             */
            url: string;
            /**
             * @description The types of events to send. The key must have the read scope of each.
             * @example [
             *       "lead.created",
             *       "lead.updated"
             *     ]
             */
            types: string[];
            /**
             * @description Fields of the record: only updates that change any of them are sent, and creations with a value of any.
             * @example [
             *       "status",
             *       "tags"
             *     ]
             */
            changed: string[] | null;
            /**
             * @description Only events whose record matches are sent. A filter without relations, as lists take it. All types are then of one kind of record.
             * @example {
             *       "temperature": "hot",
             *       "or": [
             *         {
             *           "city": "Oakland"
             *         },
             *         {
             *           "zip": {
             *             "starts_with": "94"
             *           }
             *         }
             *       ]
             *     }
             */
            filter: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Free text.
             * @example Synchronizes the newsletter.
             */
            description: string | null;
            /**
             * @description Whether events are sent. Setting it to true also continues a webhook that was disabled.
             * @example true
             */
            enabled: boolean;
            /**
             * @description Why it was disabled: the receiver answered 410, failed for three days, a backup was restored, or its filter is not valid any more.
             * @example failing
             * @enum {string|null}
             */
            disabled_reason: "gone" | "failing" | "invalid_filter" | "restored" | null;
            /**
             * Format: date-time
             * @description When the first attempt failed after the last successful one.
             * @example 2026-01-05T16:20:00.000Z
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description Until when events are signed with the previous secret as well.
             * @example 2026-01-06T16:20:00.000Z
             */
            previous_secret_expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
            /**
             * @description The key of the signatures. It is never shown again, also not in a replay.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret?: string;
        };
        UpdateWebhook: {
            /**
             * @description Where events are sent. Private addresses are refused.
             * @example https://example.com/hooks/latitude
             */
            url?: string;
            /**
             * @description The types of events to send. The key must have the read scope of each.
             * @example [
             *       "lead.created",
             *       "lead.updated"
             *     ]
             */
            types?: string[];
            /**
             * @description Fields of the record: only updates that change any of them are sent, and creations with a value of any.
             * @example [
             *       "status",
             *       "tags"
             *     ]
             */
            changed?: string[] | null;
            /**
             * @description Only events whose record matches are sent. A filter without relations, as lists take it. All types are then of one kind of record.
             * @example {
             *       "temperature": "hot",
             *       "or": [
             *         {
             *           "city": "Oakland"
             *         },
             *         {
             *           "zip": {
             *             "starts_with": "94"
             *           }
             *         }
             *       ]
             *     }
             */
            filter?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Free text.
             * @example Synchronizes the newsletter.
             */
            description?: string | null;
            /**
             * @description Whether events are sent. Setting it to true also continues a webhook that was disabled.
             * @example true
             */
            enabled?: boolean;
        };
        Delivery: {
            /**
             * Format: uuid
             * @description Identifier of the delivery.
             * @example 01a1fbe0-7c15-7e42-b6a1-95d3f08c4e10
             */
            id: string;
            /**
             * Format: uuid
             * @description The webhook.
             * @example 01a1fbdf-3b7e-7d19-8a54-0c6d5f1e2b77
             */
            webhook_id: string;
            /**
             * @description The id of the event: the header webhook-id.
             * @example 01a1fbdd-52f0-7360-8000-000000000000
             */
            event_id: string;
            /**
             * @description The type of the event.
             * @example lead.updated
             */
            type: string;
            /**
             * Format: uuid
             * @description The record that the event is about.
             * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            record_id: string;
            /**
             * @description Whether it will be attempted (pending), was answered with 2xx (succeeded), or has no attempt left (failed).
             * @example pending
             * @enum {string}
             */
            status: "pending" | "succeeded" | "failed";
            /**
             * @description Attempts so far.
             * @example 1
             */
            attempts: number;
            /**
             * Format: date-time
             * @description When it is attempted next. Null while it waits for an earlier event of the record.
             * @example 2026-01-05T16:20:02.000Z
             */
            next_attempt_at: string | null;
            /**
             * Format: date-time
             * @description When it was last attempted.
             * @example 2026-01-05T16:20:00.000Z
             */
            last_attempt_at: string | null;
            /**
             * @description Duration of the last attempt in milliseconds.
             * @example 38
             */
            duration_ms: number | null;
            /**
             * @description Status of the answer to the last attempt. Null if there was none.
             * @example 503
             */
            response_status: number | null;
            /**
             * @description Start of the answer to the last attempt.
             * @example try again later
             */
            response_body: string | null;
            /**
             * @description Why the last attempt failed. Null if it succeeded.
             * @example The receiver answered 503.
             */
            error: string | null;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed; it moves forward with every real change.
             * @example 2026-01-05T16:20:00.000Z
             */
            updated_at: string;
        };
        PersonalData: {
            /**
             * @description The lead, and those that were merged with it. Deleted ones are included.
             * @example [
             *       {
             *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
             *         "first_name": "Grace",
             *         "last_name": "Hopper",
             *         "phone": "+1 415 555 0132",
             *         "email": "grace.hopper@example.com",
             *         "company": "Harbor Roofing",
             *         "address_street": "12 Pier Street",
             *         "city": "Oakland",
             *         "state": "CA",
             *         "zip": "94607",
             *         "status": "new",
             *         "temperature": "warm",
             *         "source": "website",
             *         "notes": "Prefers calls in the morning.",
             *         "tags": [
             *           "roof",
             *           "spring"
             *         ],
             *         "custom_fields": {
             *           "budget": 12500,
             *           "roof": {
             *             "material": "slate"
             *           }
             *         },
             *         "sms_opted_out": false,
             *         "on_dnc_list": false,
             *         "external_id": "crm-4711",
             *         "lead_score": 80,
             *         "created_at": "2026-01-05T16:20:00.000Z",
             *         "updated_at": "2026-01-05T16:20:00.000Z",
             *         "deleted_at": "2026-01-05T16:20:00.000Z",
             *         "merged_into": "01a1fbde-995e-72a3-a032-ab1c988b9794"
             *       }
             *     ]
             */
            leads: {
                /**
                 * Format: uuid
                 * @description Identifier, given by the service.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
                /**
                 * @description Given name.
                 * @example Grace
                 */
                first_name: string;
                /**
                 * @description Family name.
                 * @example Hopper
                 */
                last_name: string | null;
                /**
                 * @description Phone number with an optional extension, such as x12. Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`), in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
                 * @example +1 415 555 0132
                 */
                phone: string | null;
                /**
                 * @description E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
                 * @example grace.hopper@example.com
                 */
                email: string | null;
                /**
                 * @description Company.
                 * @example Harbor Roofing
                 */
                company: string | null;
                /**
                 * @description Street and house number.
                 * @example 12 Pier Street
                 */
                address_street: string | null;
                /**
                 * @description City.
                 * @example Oakland
                 */
                city: string | null;
                /**
                 * @description State, abbreviated.
                 * @example CA
                 */
                state: string | null;
                /**
                 * @description Postal code.
                 * @example 94607
                 */
                zip: string | null;
                /**
                 * @description Free text; lists filter by its exact value.
                 * @example new
                 */
                status: string | null;
                /**
                 * @description How likely the lead is to buy.
                 * @example warm
                 * @enum {string|null}
                 */
                temperature: "cold" | "warm" | "hot" | null;
                /**
                 * @description Where it came from.
                 * @example website
                 * @enum {string}
                 */
                source: "manual" | "api" | "website" | "referral" | "import" | "other";
                /**
                 * @description Free text.
                 * @example Prefers calls in the morning.
                 */
                notes: string | null;
                /**
                 * @description Labels; an update replaces all. Repetitions are removed, the order is kept.
                 * @example [
                 *       "roof",
                 *       "spring"
                 *     ]
                 */
                tags: string[];
                /**
                 * @description Keys and JSON values; an update replaces all. At most 32768 bytes as JSON and 8 levels deep.
                 * @example {
                 *       "budget": 12500,
                 *       "roof": {
                 *         "material": "slate"
                 *       }
                 *     }
                 */
                custom_fields: {
                    [key: string]: unknown;
                };
                /**
                 * @description Opted out of text messages. The lead must not be sent any.
                 * @example false
                 */
                sms_opted_out: boolean;
                /**
                 * @description Is on a do-not-call list. The lead must not be contacted.
                 * @example false
                 */
                on_dnc_list: boolean;
                /**
                 * @description Id in the system that it comes from. Compared exactly; no two leads share it.
                 * @example crm-4711
                 */
                external_id: string | null;
                /**
                 * @description Computed from the other fields on every write; higher is more promising.
                 * @example 80
                 */
                lead_score: number;
                /**
                 * Format: date-time
                 * @description When it was created, to the millisecond.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description When it last changed; it moves forward with every real change.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                updated_at: string;
                /**
                 * Format: date-time
                 * @description When it was deleted; null for a lead that exists.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                deleted_at: string | null;
                /**
                 * Format: uuid
                 * @description The lead that it was merged into, if it was merged.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                merged_into: string | null;
            }[];
            /**
             * @description Appointments of these leads.
             * @example [
             *       {
             *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
             *         "lead_id": "01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43",
             *         "start_time": "2026-03-02T17:00:00.000Z",
             *         "end_time": "2026-03-02T18:00:00.000Z",
             *         "resource_id": "01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64",
             *         "type": "Estimate",
             *         "location": "12 Pier Street, Oakland",
             *         "notes": "Bring samples of slate.",
             *         "status": "scheduled",
             *         "remind_before_minutes": [
             *           1440,
             *           60
             *         ],
             *         "outcome": "Offer accepted",
             *         "outcome_notes": "Starts in April.",
             *         "organization_id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
             *         "booked_by": "api",
             *         "created_at": "2026-01-05T16:20:00.000Z",
             *         "updated_at": "2026-01-05T16:20:00.000Z"
             *       }
             *     ]
             */
            appointments: {
                /**
                 * Format: uuid
                 * @description Identifier, given by the service.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
                /**
                 * Format: uuid
                 * @description The lead that it is with. It must exist in the organization and cannot be changed.
                 * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
                 */
                lead_id: string;
                /**
                 * Format: date-time
                 * @description When it begins. Times in the past are allowed, and overlaps without a resource.
                 * @example 2026-03-02T17:00:00.000Z
                 */
                start_time: string;
                /**
                 * Format: date-time
                 * @description When it ends. It must be after start_time.
                 * @example 2026-03-02T18:00:00.000Z
                 */
                end_time: string;
                /**
                 * Format: uuid
                 * @description The resource whose time it takes.
                 * @example 01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64
                 */
                resource_id: string | null;
                /**
                 * @description What it is for; free text.
                 * @example Estimate
                 */
                type: string | null;
                /**
                 * @description Where it is.
                 * @example 12 Pier Street, Oakland
                 */
                location: string | null;
                /**
                 * @description Free text.
                 * @example Bring samples of slate.
                 */
                notes: string | null;
                /**
                 * @description Any status may follow any other.
                 * @example scheduled
                 * @enum {string}
                 */
                status: "scheduled" | "confirmed" | "completed" | "cancelled" | "no_show";
                /**
                 * @description Minutes before the start at which to remind. It then writes `appointment.starting`. Without it, those of the resource count.
                 * @example [
                 *       1440,
                 *       60
                 *     ]
                 */
                remind_before_minutes: number[] | null;
                /**
                 * @description What came of it; free text.
                 * @example Offer accepted
                 */
                outcome: string | null;
                /**
                 * @description More about what came of it.
                 * @example Starts in April.
                 */
                outcome_notes: string | null;
                /**
                 * Format: uuid
                 * @description The organization that it belongs to: that of the key.
                 * @example 01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21
                 */
                organization_id: string;
                /**
                 * @description Who booked it: `api` through REST, `ai` through /mcp.
                 * @example api
                 * @enum {string}
                 */
                booked_by: "api" | "ai";
                /**
                 * Format: date-time
                 * @description When it was created, to the millisecond.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description When it last changed; it moves forward with every real change.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                updated_at: string;
            }[];
            /**
             * @description Tasks about these leads. Deleted ones are included.
             * @example [
             *       {
             *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
             *         "title": "Send the offer",
             *         "description": "With the prices of this spring.",
             *         "priority": "high",
             *         "status": "open",
             *         "due_date": "2026-03-06T17:00:00.000Z",
             *         "contact_id": "01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43",
             *         "assigned_to_user_id": "01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18",
             *         "organization_id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
             *         "created_by_user_id": "01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18",
             *         "created_by_ai": false,
             *         "created_at": "2026-01-05T16:20:00.000Z",
             *         "updated_at": "2026-01-05T16:20:00.000Z"
             *       }
             *     ]
             */
            tasks: {
                /**
                 * Format: uuid
                 * @description Identifier, given by the service.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
                /**
                 * @description What is to be done.
                 * @example Send the offer
                 */
                title: string;
                /**
                 * @description Free text.
                 * @example With the prices of this spring.
                 */
                description: string | null;
                /**
                 * @description How pressing it is. Lists sort it by meaning, from low to urgent.
                 * @example high
                 * @enum {string}
                 */
                priority: "low" | "medium" | "high" | "urgent";
                /**
                 * @description Any status may follow any other.
                 * @example open
                 * @enum {string}
                 */
                status: "open" | "in_progress" | "completed" | "cancelled";
                /**
                 * Format: date-time
                 * @description When it is due.
                 * @example 2026-03-06T17:00:00.000Z
                 */
                due_date: string | null;
                /**
                 * Format: uuid
                 * @description The lead that it is about. It must exist in the organization.
                 * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
                 */
                contact_id: string | null;
                /**
                 * Format: uuid
                 * @description The team member who does it: an id of your own users.
                 * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
                 */
                assigned_to_user_id: string | null;
                /**
                 * Format: uuid
                 * @description The organization that it belongs to: that of the key.
                 * @example 01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21
                 */
                organization_id: string;
                /**
                 * Format: uuid
                 * @description The user whom the key that created it names, if it names one.
                 * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
                 */
                created_by_user_id: string | null;
                /**
                 * @description Whether it was created through /mcp.
                 * @example false
                 */
                created_by_ai: boolean;
                /**
                 * Format: date-time
                 * @description When it was created, to the millisecond.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description When it last changed; it moves forward with every real change.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                updated_at: string;
            }[];
            /**
             * @description Events of these records, oldest first.
             * @example [
             *       {
             *         "id": "019ad2c1-7c4e-71a3-8000-000000000000",
             *         "type": "lead.updated",
             *         "contactable": true,
             *         "remind_before_minutes": 60,
             *         "created_at": "2026-01-05T16:20:00.000Z",
             *         "record": {
             *           "id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
             *           "first_name": "Ada"
             *         },
             *         "changed": [
             *           "email"
             *         ],
             *         "actor": {
             *           "key_id": "01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10",
             *           "key_name": "n8n",
             *           "channel": "api",
             *           "request_id": "5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f",
             *           "grant_id": "01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54",
             *           "client_id": "https://claude.ai/oauth/client.json"
             *         }
             *       }
             *     ]
             */
            events: {
                /**
                 * Format: uuid
                 * @description Unique, and in the order of events.
                 * @example 019ad2c1-7c4e-71a3-8000-000000000000
                 */
                id: string;
                /**
                 * @description What happened to which kind of record.
                 * @example lead.updated
                 */
                type: string;
                /**
                 * @description Of events that time causes: whether the lead has neither opted out of text messages nor is on the do-not-call list. Only for readers with `leads:read`.
                 * @example true
                 */
                contactable?: boolean;
                /**
                 * @description Of `appointment.starting`: how many minutes before the start it is due.
                 * @example 60
                 */
                remind_before_minutes?: number;
                /**
                 * Format: date-time
                 * @description When the record was changed.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                created_at: string;
                /**
                 * @description The record after the change, as GET returns it. For a deletion, its last state.
                 * @example {
                 *       "id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
                 *       "first_name": "Ada"
                 *     }
                 */
                record: {
                    /** Format: uuid */
                    id: string;
                } & {
                    [key: string]: unknown;
                };
                /**
                 * @description The names of the fields whose values changed. Empty for creations and deletions.
                 * @example [
                 *       "email"
                 *     ]
                 */
                changed: string[];
                /**
                 * @description Who changed it.
                 * @example {
                 *       "key_id": "01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10",
                 *       "key_name": "n8n",
                 *       "channel": "api",
                 *       "request_id": "5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f",
                 *       "grant_id": "01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54",
                 *       "client_id": "https://claude.ai/oauth/client.json"
                 *     }
                 */
                actor: {
                    /**
                     * @description Id of the key; null for jobs and commands.
                     * @example 01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10
                     */
                    key_id: string | null;
                    /**
                     * @description Its name; null if it is no key of the organization.
                     * @example n8n
                     */
                    key_name: string | null;
                    /**
                     * @description `api` through REST, `ai` through /mcp, `import` by an import; null for jobs and commands.
                     * @example api
                     */
                    channel: string | null;
                    /**
                     * @description The `X-Request-Id` of the request; null for jobs and commands.
                     * @example 5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f
                     */
                    request_id: string | null;
                    /**
                     * @description Id of the grant by which an application has changed the record, else null.
                     * @example 01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54
                     */
                    grant_id: string | null;
                    /**
                     * @description Id of this application: the URL of its metadata, or that of its registration.
                     * @example https://claude.ai/oauth/client.json
                     */
                    client_id: string | null;
                };
            }[];
            /**
             * @description Deliveries of these events to webhooks.
             * @example [
             *       {
             *         "id": "01a1fbe0-7c15-7e42-b6a1-95d3f08c4e10",
             *         "webhook_id": "01a1fbdf-3b7e-7d19-8a54-0c6d5f1e2b77",
             *         "event_id": "01a1fbdd-52f0-7360-8000-000000000000",
             *         "type": "lead.updated",
             *         "record_id": "01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43",
             *         "status": "pending",
             *         "attempts": 1,
             *         "next_attempt_at": "2026-01-05T16:20:02.000Z",
             *         "last_attempt_at": "2026-01-05T16:20:00.000Z",
             *         "duration_ms": 38,
             *         "response_status": 503,
             *         "response_body": "try again later",
             *         "error": "The receiver answered 503.",
             *         "created_at": "2026-01-05T16:20:00.000Z",
             *         "updated_at": "2026-01-05T16:20:00.000Z"
             *       }
             *     ]
             */
            deliveries: {
                /**
                 * Format: uuid
                 * @description Identifier of the delivery.
                 * @example 01a1fbe0-7c15-7e42-b6a1-95d3f08c4e10
                 */
                id: string;
                /**
                 * Format: uuid
                 * @description The webhook.
                 * @example 01a1fbdf-3b7e-7d19-8a54-0c6d5f1e2b77
                 */
                webhook_id: string;
                /**
                 * @description The id of the event: the header webhook-id.
                 * @example 01a1fbdd-52f0-7360-8000-000000000000
                 */
                event_id: string;
                /**
                 * @description The type of the event.
                 * @example lead.updated
                 */
                type: string;
                /**
                 * Format: uuid
                 * @description The record that the event is about.
                 * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
                 */
                record_id: string;
                /**
                 * @description Whether it will be attempted (pending), was answered with 2xx (succeeded), or has no attempt left (failed).
                 * @example pending
                 * @enum {string}
                 */
                status: "pending" | "succeeded" | "failed";
                /**
                 * @description Attempts so far.
                 * @example 1
                 */
                attempts: number;
                /**
                 * Format: date-time
                 * @description When it is attempted next. Null while it waits for an earlier event of the record.
                 * @example 2026-01-05T16:20:02.000Z
                 */
                next_attempt_at: string | null;
                /**
                 * Format: date-time
                 * @description When it was last attempted.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                last_attempt_at: string | null;
                /**
                 * @description Duration of the last attempt in milliseconds.
                 * @example 38
                 */
                duration_ms: number | null;
                /**
                 * @description Status of the answer to the last attempt. Null if there was none.
                 * @example 503
                 */
                response_status: number | null;
                /**
                 * @description Start of the answer to the last attempt.
                 * @example try again later
                 */
                response_body: string | null;
                /**
                 * @description Why the last attempt failed. Null if it succeeded.
                 * @example The receiver answered 503.
                 */
                error: string | null;
                /**
                 * Format: date-time
                 * @description When it was created, to the millisecond.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description When it last changed; it moves forward with every real change.
                 * @example 2026-01-05T16:20:00.000Z
                 */
                updated_at: string;
            }[];
            /**
             * @description Records of extensions that refer to the person, by table.
             * @example {
             *       "messages": [
             *         {
             *           "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
             *           "text": "Hello"
             *         }
             *       ]
             *     }
             */
            other_records: {
                [key: string]: {
                    [key: string]: unknown;
                }[];
            };
        };
        ErasedLead: {
            /**
             * @description Always true.
             * @example true
             */
            erased: boolean;
            /**
             * @description Ids of the erased leads: this one, and those that were merged with it.
             * @example [
             *       "01a1fbde-995e-72a3-a032-ab1c988b9794"
             *     ]
             */
            lead_ids: string[];
        };
        Me: {
            /**
             * @description The organization that the key belongs to.
             * @example {
             *       "id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
             *       "name": "Harbor Roofing",
             *       "time_zone": "Europe/Berlin"
             *     }
             */
            organization: {
                /**
                 * Format: uuid
                 * @description Identifier of the organization.
                 * @example 01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21
                 */
                id: string;
                /**
                 * @description Its name.
                 * @example Harbor Roofing
                 */
                name: string;
                /**
                 * @description The zone of its days.
                 * @example Europe/Berlin
                 */
                time_zone: string;
            };
            /**
             * @description The key of the request.
             * @example {
             *       "id": "01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10",
             *       "name": "n8n"
             *     }
             */
            key: {
                /**
                 * Format: uuid
                 * @description Identifier of the key.
                 * @example 01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10
                 */
                id: string;
                /**
                 * @description What it is for.
                 * @example n8n
                 */
                name: string;
            };
            /**
             * @description What the key may do.
             * @example [
             *       "leads:read",
             *       "leads:write"
             *     ]
             */
            scopes: ("appointments:read" | "appointments:write" | "audit:read" | "events:read" | "fields:write" | "keys:read" | "keys:write" | "leads:erase" | "leads:read" | "leads:write" | "organization:write" | "resources:write" | "tasks:read" | "tasks:write" | "webhooks:read" | "webhooks:write")[];
            /**
             * Format: date-time
             * @description When the key expires; null if it does not expire.
             * @example 2027-01-01T00:00:00.000Z
             */
            expires_at: string | null;
            /**
             * @description How many requests the key may make.
             * @example {
             *       "reads_per_minute": 60,
             *       "writes_per_minute": 30
             *     }
             */
            limits: {
                /**
                 * @description Reads (GET, HEAD) in a window of 60 seconds.
                 * @example 60
                 */
                reads_per_minute: number;
                /**
                 * @description Writes in a window of 60 seconds.
                 * @example 30
                 */
                writes_per_minute: number;
            };
        };
        OwnOrganization: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description Its name.
             * @example Harbor Roofing
             */
            name: string;
            /**
             * @description Country of phone numbers without a country code. Without it, the default of the server.
             * @example US
             */
            phone_region: string | null;
            /**
             * @description The zone of its days. No stored time depends on it.
             * @example Europe/Berlin
             */
            time_zone: string;
            /**
             * @description Whether requests may set keys of `custom_fields` that no definition has. Keys that a lead has stay.
             * @example allow
             * @enum {string}
             */
            unknown_fields: "allow" | "refuse";
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * @description Number of records of each kind that the key may read, otherwise null.
             * @example {
             *       "appointments": 12,
             *       "keys": null,
             *       "leads": 340,
             *       "tasks": 27
             *     }
             */
            counts: {
                [key: string]: number | null;
            };
            /**
             * @description How many requests the key may make.
             * @example {
             *       "reads_per_minute": 60,
             *       "writes_per_minute": 30
             *     }
             */
            limits: {
                /**
                 * @description Reads (GET, HEAD) in a window of 60 seconds.
                 * @example 60
                 */
                reads_per_minute: number;
                /**
                 * @description Writes in a window of 60 seconds.
                 * @example 30
                 */
                writes_per_minute: number;
            };
        };
        UpdateOwnOrganization: {
            /**
             * @description The zone of its days. No stored time depends on it.
             * @example Europe/Berlin
             */
            time_zone?: string;
            /**
             * @description Whether requests may set keys of `custom_fields` that no definition has. Keys that a lead has stay.
             * @example allow
             * @enum {string}
             */
            unknown_fields?: "allow" | "refuse";
        };
        ApiKey: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description What it is for.
             * @example n8n
             */
            name: string;
            /**
             * @description What the key may do: scopes that the key of the request has.
             * @example [
             *       "leads:read",
             *       "leads:write"
             *     ]
             */
            scopes: ("appointments:read" | "appointments:write" | "audit:read" | "events:read" | "fields:write" | "keys:read" | "keys:write" | "leads:erase" | "leads:read" | "leads:write" | "organization:write" | "resources:write" | "tasks:read" | "tasks:write" | "webhooks:read" | "webhooks:write")[];
            /**
             * Format: date-time
             * @description When it expires. Without it, when the key of the request does.
             * @example 2027-06-30T00:00:00.000Z
             */
            expires_at: string | null;
            /**
             * Format: uuid
             * @description The author of records that the key creates. Without it, that of the key of the request.
             * @example 01a1fbdc-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            user_id: string | null;
            /**
             * @description Whether tools of /mcp ask the user before they delete, cancel or merge, if the client can show forms.
             * @example never
             * @enum {string}
             */
            confirmations: "ask" | "never";
            /**
             * @description Reads in a window of 60 seconds. Null: the default limit of the service.
             * @example 60
             */
            reads_per_minute: number | null;
            /**
             * @description Writes in a window of 60 seconds. Null: the default limit of the service.
             * @example 30
             */
            writes_per_minute: number | null;
            /**
             * @description The first characters of the key.
             * @example lat_3fGh
             */
            key_start: string;
            /**
             * @description The ids of the keys whose end ends this one, such as the key that made it.
             * @example []
             */
            ends_with: string[];
            /**
             * Format: uuid
             * @description The key that has replaced this one in a rotation.
             * @example 01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10
             */
            successor_id: string | null;
            /**
             * Format: date-time
             * @description When it was last used, to a minute.
             * @example 2026-01-05T16:20:00.000Z
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked.
             * @example 2026-01-05T16:20:00.000Z
             */
            revoked_at: string | null;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
        };
        CreateKey: {
            /**
             * @description What it is for.
             * @example n8n
             */
            name: string;
            /**
             * @description What the key may do: scopes that the key of the request has.
             * @example [
             *       "leads:read",
             *       "leads:write"
             *     ]
             */
            scopes: ("appointments:read" | "appointments:write" | "audit:read" | "events:read" | "fields:write" | "keys:read" | "keys:write" | "leads:erase" | "leads:read" | "leads:write" | "organization:write" | "resources:write" | "tasks:read" | "tasks:write" | "webhooks:read" | "webhooks:write")[];
            /**
             * @description When it expires. Without it, when the key of the request does. ISO 8601 date-time or date.
             * @example 2027-06-30T00:00:00.000Z
             */
            expires_at?: string | null;
            /**
             * Format: uuid
             * @description The author of records that the key creates. Without it, that of the key of the request.
             * @example 01a1fbdc-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            user_id?: string | null;
            /**
             * @description Whether tools of /mcp ask the user before they delete, cancel or merge, if the client can show forms. Default: `never`.
             * @example never
             * @enum {string|null}
             */
            confirmations?: "ask" | "never" | null;
            /**
             * @description Reads in a window of 60 seconds. Null: the default limit of the service.
             * @example 60
             */
            reads_per_minute?: number | null;
            /**
             * @description Writes in a window of 60 seconds. Null: the default limit of the service.
             * @example 30
             */
            writes_per_minute?: number | null;
        };
        ApiKeyWithSecret: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description What it is for.
             * @example n8n
             */
            name: string;
            /**
             * @description What the key may do: scopes that the key of the request has.
             * @example [
             *       "leads:read",
             *       "leads:write"
             *     ]
             */
            scopes: ("appointments:read" | "appointments:write" | "audit:read" | "events:read" | "fields:write" | "keys:read" | "keys:write" | "leads:erase" | "leads:read" | "leads:write" | "organization:write" | "resources:write" | "tasks:read" | "tasks:write" | "webhooks:read" | "webhooks:write")[];
            /**
             * Format: date-time
             * @description When it expires. Without it, when the key of the request does.
             * @example 2027-06-30T00:00:00.000Z
             */
            expires_at: string | null;
            /**
             * Format: uuid
             * @description The author of records that the key creates. Without it, that of the key of the request.
             * @example 01a1fbdc-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            user_id: string | null;
            /**
             * @description Whether tools of /mcp ask the user before they delete, cancel or merge, if the client can show forms.
             * @example never
             * @enum {string}
             */
            confirmations: "ask" | "never";
            /**
             * @description Reads in a window of 60 seconds. Null: the default limit of the service.
             * @example 60
             */
            reads_per_minute: number | null;
            /**
             * @description Writes in a window of 60 seconds. Null: the default limit of the service.
             * @example 30
             */
            writes_per_minute: number | null;
            /**
             * @description The first characters of the key.
             * @example lat_3fGh
             */
            key_start: string;
            /**
             * @description The ids of the keys whose end ends this one, such as the key that made it.
             * @example []
             */
            ends_with: string[];
            /**
             * Format: uuid
             * @description The key that has replaced this one in a rotation.
             * @example 01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10
             */
            successor_id: string | null;
            /**
             * Format: date-time
             * @description When it was last used, to a minute.
             * @example 2026-01-05T16:20:00.000Z
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked.
             * @example 2026-01-05T16:20:00.000Z
             */
            revoked_at: string | null;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * @description The key itself. It is never shown again, also not in a replay.
             * @example lat_3fGhJkLmNpQrStUvWxYz123456789AbCdEf0
             */
            key?: string;
        };
        RevokedKey: {
            /**
             * Format: uuid
             * @description Identifier of the key.
             * @example 01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10
             */
            id: string;
            /**
             * Format: date-time
             * @description When it was revoked.
             * @example 2026-01-05T16:20:00.000Z
             */
            revoked_at: string;
        };
        RotateKey: {
            /**
             * @description How long the old key stays valid. It never ends later than before. Default: `0`.
             * @example 86400
             */
            overlap_seconds?: number | null;
        };
        Organization: {
            /**
             * Format: uuid
             * @description Identifier, given by the service.
             * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
             */
            id: string;
            /**
             * @description Its name.
             * @example Harbor Roofing
             */
            name: string;
            /**
             * @description Country of phone numbers without a country code. Without it, the default of the server.
             * @example US
             */
            phone_region: string | null;
            /**
             * @description The zone of its days. No stored time depends on it.
             * @example Europe/Berlin
             */
            time_zone: string;
            /**
             * @description Whether requests may set keys of `custom_fields` that no definition has. Keys that a lead has stay.
             * @example allow
             * @enum {string}
             */
            unknown_fields: "allow" | "refuse";
            /**
             * @description Whether its keys are refused, and its deliveries are held.
             * @example false
             */
            suspended: boolean;
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * @description Whether it has ever had a key. If so, no first key can be created.
             * @example false
             */
            has_had_key: boolean;
        };
        CreateOrganization: {
            /**
             * @description Its name.
             * @example Harbor Roofing
             */
            name: string;
            /**
             * @description Country of phone numbers without a country code. Without it, the default of the server.
             * @example US
             */
            phone_region?: string | null;
            /**
             * @description The zone of its days. No stored time depends on it. Default: `UTC`.
             * @example Europe/Berlin
             */
            time_zone?: string | null;
        };
        UpdateOrganization: {
            /**
             * @description Its name.
             * @example Harbor Roofing
             */
            name?: string;
            /**
             * @description The zone of its days. No stored time depends on it.
             * @example Europe/Berlin
             */
            time_zone?: string;
            /**
             * @description Whether its keys are refused, and its deliveries are held.
             * @example false
             */
            suspended?: boolean;
        };
        FirstKey: {
            /**
             * @description Reads in a window of 60 seconds. Null: the default limit of the service.
             * @example 60
             */
            reads_per_minute?: number | null;
            /**
             * @description Writes in a window of 60 seconds. Null: the default limit of the service.
             * @example 30
             */
            writes_per_minute?: number | null;
            /**
             * @description What it is for.
             * @example First key
             */
            name: string;
            /**
             * @description What the key may do. Default: all scopes except those that a key has only if they are named.
             * @example [
             *       "leads:read",
             *       "leads:write"
             *     ]
             */
            scopes?: ("appointments:read" | "appointments:write" | "events:read" | "leads:read" | "leads:write" | "resources:write" | "tasks:read" | "tasks:write" | "webhooks:read" | "webhooks:write")[] | null;
            /**
             * @description When it expires. ISO 8601 date-time or date.
             * @example 2027-06-30T00:00:00.000Z
             */
            expires_at?: string | null;
            /**
             * Format: uuid
             * @description The author of records that the key creates.
             * @example 01a1fbdc-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            user_id?: string | null;
        };
        UpdateKeyLimits: {
            /**
             * @description Reads in a window of 60 seconds. Null: the default limit of the service.
             * @example 60
             */
            reads_per_minute?: number | null;
            /**
             * @description Writes in a window of 60 seconds. Null: the default limit of the service.
             * @example 30
             */
            writes_per_minute?: number | null;
        };
        Grant: {
            /**
             * Format: uuid
             * @description Identifier of the grant.
             * @example 01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54
             */
            id: string;
            /**
             * Format: uuid
             * @description The organization that it belongs to: that of the key.
             * @example 01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21
             */
            organization_id: string;
            /**
             * Format: uuid
             * @description The API key that the person gave when signing in.
             * @example 01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10
             */
            key_id: string;
            /**
             * Format: uuid
             * @description The user whom the key names, if it names one.
             * @example 01a1fbdc-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            user_id: string | null;
            /**
             * @description Id of the application: the URL of its metadata, or that of its registration.
             * @example https://claude.ai/oauth/client.json
             */
            client_id: string;
            /**
             * @description The name that the application has given itself.
             * @example Claude
             */
            client_name: string | null;
            /**
             * @description What the application may do.
             * @example [
             *       "leads:read"
             *     ]
             */
            scopes: string[];
            /**
             * @description Whether tools of /mcp ask the user before they delete, cancel or merge, if the client can show forms.
             * @example ask
             * @enum {string}
             */
            confirmations: "ask" | "never";
            /**
             * Format: date-time
             * @description When it was created, to the millisecond.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ends, unless it is revoked earlier.
             * @example 2026-07-04T16:20:00.000Z
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description When it was last used, to a minute.
             * @example 2026-01-05T16:20:00.000Z
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked.
             * @example 2026-01-05T16:20:00.000Z
             */
            revoked_at: string | null;
        };
        UpdateGrant: {
            /**
             * @description Whether tools of /mcp ask the user before they delete, cancel or merge, if the client can show forms.
             * @example ask
             * @enum {string}
             */
            confirmations: "ask" | "never";
        };
        RevokedGrant: {
            /**
             * Format: uuid
             * @description Identifier of the grant.
             * @example 01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54
             */
            id: string;
            /**
             * Format: date-time
             * @description When it was revoked.
             * @example 2026-01-05T16:20:00.000Z
             */
            revoked_at: string;
        };
        AuditEntry: {
            /**
             * Format: uuid
             * @description Identifier of the entry.
             * @example 01a1fbe1-2c4d-7b60-9e1f-3a7c5d8b0e42
             */
            id: string;
            /**
             * @description What was done to which type of record.
             * @example webhook.created
             */
            type: string;
            /**
             * Format: date-time
             * @description When it was done.
             * @example 2026-01-05T16:20:00.000Z
             */
            at: string;
            /**
             * @description Who has done it.
             * @example {
             *       "channel": "api",
             *       "request_id": "5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f",
             *       "grant_id": "01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54",
             *       "client_id": "https://claude.ai/oauth/client.json",
             *       "kind": "key",
             *       "key_id": "01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10",
             *       "key_name": "n8n"
             *     }
             */
            actor: {
                /**
                 * @description `api` through REST, `ai` through /mcp, `import` by an import; null for jobs and commands.
                 * @example api
                 */
                channel: string | null;
                /**
                 * @description The `X-Request-Id` of the request; null for jobs and commands.
                 * @example 5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f
                 */
                request_id: string | null;
                /**
                 * @description Id of the grant by which an application has changed the record, else null.
                 * @example 01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54
                 */
                grant_id: string | null;
                /**
                 * @description Id of this application: the URL of its metadata, or that of its registration.
                 * @example https://claude.ai/oauth/client.json
                 */
                client_id: string | null;
                /**
                 * @description An API key, the key of an operator, a token of another issuer, a command of the command line, or the service itself.
                 * @example key
                 * @enum {string}
                 */
                kind: "key" | "operator" | "token" | "command" | "service";
                /**
                 * @description Id of the key; null for commands and the service.
                 * @example 01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10
                 */
                key_id: string | null;
                /**
                 * @description Its name; null for commands and the service.
                 * @example n8n
                 */
                key_name: string | null;
            };
            /**
             * @description Address of the client; null for commands and the service, and after 90 days.
             * @example 203.0.113.7
             */
            address: string | null;
            /**
             * @description What it was done to.
             * @example {
             *       "type": "webhook",
             *       "id": "01a1fbdf-3b7e-7d19-8a54-0c6d5f1e2b77",
             *       "organization_id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21"
             *     }
             */
            record: {
                /**
                 * @description Its type.
                 * @example webhook
                 */
                type: string;
                /**
                 * Format: uuid
                 * @description Its id; null for an export.
                 * @example 01a1fbdf-3b7e-7d19-8a54-0c6d5f1e2b77
                 */
                id: string | null;
                /**
                 * Format: uuid
                 * @description In the entries of an operator: the organization in which it has acted.
                 * @example 01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21
                 */
                organization_id?: string;
            };
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    appointmentsList: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
                /**
                 * @description Only appointments with this status.
                 * @example scheduled
                 */
                status?: "scheduled" | "confirmed" | "completed" | "cancelled" | "no_show";
                /**
                 * @description Only appointments of this lead.
                 * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
                 */
                lead_id?: string;
                /**
                 * @description Only appointments of this resource.
                 * @example 01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64
                 */
                resource_id?: string;
                /**
                 * @description Only appointments that start at this time or later. ISO 8601 date-time or date.
                 * @example 2026-03-01T00:00:00Z
                 */
                start_after?: string;
                /**
                 * @description Only appointments that start before this time. ISO 8601 date-time or date.
                 * @example 2026-04-01T00:00:00Z
                 */
                start_before?: string;
                /**
                 * @description Conditions, such as {"status":{"ne":"cancelled"},"lead":{"temperature":"hot"}}; errors list fields and operators.
                 * @example {"status":{"ne":"cancelled"},"lead":{"temperature":"hot"}}
                 */
                filter?: string;
                /**
                 * @description Field by which the list is ordered.
                 * @example start_time
                 */
                sort_by?: "start_time" | "created_at" | "updated_at";
                /**
                 * @description Only appointments with exactly this type.
                 * @example Estimate
                 */
                type?: string;
                /**
                 * @description Only appointments that end before this time. ISO 8601 date-time or date.
                 * @example 2026-04-01T00:00:00Z
                 */
                end_before?: string;
                /**
                 * @description Only appointments changed at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                updated_after?: string;
                /**
                 * @description Only appointments changed last before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                updated_before?: string;
                /**
                 * @description Reads the list by cursor, in the order of creation and without totals: only records after this one. Empty at first, then `meta.next` of the previous page.
                 * @example
                 */
                after?: string;
                /**
                 * @description Reads the list by cursor, like `after`, but the newest first: only records before this one. Empty at first, then `meta.next` of the previous page.
                 * @example
                 */
                before?: string;
                /**
                 * @description Fields of the items, separated by commas, or `*` for all. `id` is always one of them.
                 * @example created_at,updated_at
                 */
                fields?: string;
                /**
                 * @description Fields about related records to add: lead. Several are separated by commas.
                 * @example lead
                 */
                include?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    appointmentsCount: {
        parameters: {
            query: {
                /**
                 * @description Only appointments with this status.
                 * @example scheduled
                 */
                status?: "scheduled" | "confirmed" | "completed" | "cancelled" | "no_show";
                /**
                 * @description Only appointments of this lead.
                 * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
                 */
                lead_id?: string;
                /**
                 * @description Only appointments of this resource.
                 * @example 01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64
                 */
                resource_id?: string;
                /**
                 * @description Only appointments that start at this time or later. ISO 8601 date-time or date.
                 * @example 2026-03-01T00:00:00Z
                 */
                start_after?: string;
                /**
                 * @description Only appointments that start before this time. ISO 8601 date-time or date.
                 * @example 2026-04-01T00:00:00Z
                 */
                start_before?: string;
                /**
                 * @description Conditions, such as {"status":{"ne":"cancelled"},"lead":{"temperature":"hot"}}; errors list fields and operators.
                 * @example {"status":{"ne":"cancelled"},"lead":{"temperature":"hot"}}
                 */
                filter?: string;
                /**
                 * @description Only appointments with exactly this type.
                 * @example Estimate
                 */
                type?: string;
                /**
                 * @description Only appointments that end before this time. ISO 8601 date-time or date.
                 * @example 2026-04-01T00:00:00Z
                 */
                end_before?: string;
                /**
                 * @description Only appointments changed at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                updated_after?: string;
                /**
                 * @description Only appointments changed last before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                updated_before?: string;
                /**
                 * @description What the records are counted by.
                 * @example status
                 */
                by: "status" | "type" | "resource_id" | "start_day";
                /**
                 * @description Zone of days, weeks and months, an IANA name. Default: the time zone of the organization.
                 * @example Europe/Vienna
                 */
                time_zone?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    appointmentsGet: {
        parameters: {
            query?: {
                /**
                 * @description Fields about related records to add: lead. Several are separated by commas.
                 * @example lead
                 */
                include?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    appointmentsListEvents: {
        parameters: {
            query?: {
                /**
                 * @description Only events after this one: `meta.next` of the previous page or the id of an event. `latest` skips all published events. Without it, the list begins with the oldest event.
                 * @example 019ad2c1-7c4e-71a3-8000-000000000000
                 */
                after?: string;
                /**
                 * @description Most events on a page.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    auditList: {
        parameters: {
            query?: {
                /**
                 * @description Reads the list by cursor, in the order of creation and without totals: only records after this one. Empty at first, then `meta.next` of the previous page.
                 * @example
                 */
                after?: string;
                /**
                 * @description Reads the list by cursor, like `after`, but the newest first: only records before this one. Empty at first, then `meta.next` of the previous page.
                 * @example
                 */
                before?: string;
                /**
                 * @description Most entries on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only entries of this type.
                 * @example webhook.created
                 */
                type?: "key.created" | "key.updated" | "key.rotated" | "key.revoked" | "operator_key.created" | "operator_key.rotated" | "operator_key.revoked" | "grant.created" | "grant.updated" | "grant.revoked" | "organization.created" | "organization.updated" | "organization.suspended" | "organization.resumed" | "organization.removed" | "webhook.created" | "webhook.updated" | "webhook.secret_rotated" | "webhook.disabled" | "webhook.deleted" | "custom_field.created" | "custom_field.updated" | "custom_field.deleted" | "resource.created" | "resource.updated" | "resource.deleted" | "calendar.created" | "calendar.deleted" | "import.created" | "import.cancelled" | "export.read" | "personal_data.read" | "lead.erased";
                /**
                 * @description Only entries of what this key has done.
                 * @example 01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10
                 */
                key_id?: string;
                /**
                 * @description Only entries about this record.
                 * @example 01a1fbdf-3b7e-7d19-8a54-0c6d5f1e2b77
                 */
                record_id?: string;
                /**
                 * @description Only entries of this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only entries before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    availabilityFind: {
        parameters: {
            query: {
                /**
                 * @description The resources, separated by commas.
                 * @example [
                 *       "01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64"
                 *     ]
                 */
                resource_id: string[];
                /**
                 * @description Free times begin at this time or later. ISO 8601 date-time or date.
                 * @example 2026-03-02T00:00:00Z
                 */
                from: string;
                /**
                 * @description Free times end by this time, at most 62 days after from. It must be after from. ISO 8601 date-time or date.
                 * @example 2026-03-07T00:00:00Z
                 */
                to: string;
                /**
                 * @description Length of the free times.
                 * @example 60
                 */
                duration_minutes: number;
                /**
                 * @description Free times begin in these steps from each opening of the hours.
                 * @example 30
                 */
                step_minutes?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    customFieldsList: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    eventsList: {
        parameters: {
            query?: {
                /**
                 * @description Only events after this one: `meta.next` of the previous page or the id of an event. `latest` skips all published events. Without it, the list begins with the oldest event.
                 * @example 019ad2c1-7c4e-71a3-8000-000000000000
                 */
                after?: string;
                /**
                 * @description Most events on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only events of these types, separated by commas.
                 * @example lead.created,lead.updated
                 */
                types?: string;
                /**
                 * @description How many seconds the request waits for an event if there is none.
                 * @example 0
                 */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    grantsList: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    keysList: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    leadsList: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
                /**
                 * @description Only leads whose name, company, e-mail or phone contains this. A name is the first, the last or the full one, in either order. Case and accents are ignored, and a phone is found by every spelling of it.
                 * @example hopper
                 */
                search?: string;
                /**
                 * @description Only leads with exactly this status.
                 * @example new
                 */
                status?: string;
                /**
                 * @description Only leads of this temperature.
                 * @example warm
                 */
                temperature?: "cold" | "warm" | "hot";
                /**
                 * @description Only the lead with this external id.
                 * @example crm-4711
                 */
                external_id?: string;
                /**
                 * @description Only leads created at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                created_after?: string;
                /**
                 * @description Only leads created before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                created_before?: string;
                /**
                 * @description Conditions, such as {"source":{"in":["website","referral"]},"tasks":{"none":{"status":"open"}}}; errors list fields and operators.
                 * @example {"source":{"in":["website","referral"]},"tasks":{"none":{"status":"open"}}}
                 */
                filter?: string;
                /**
                 * @description Field by which the list is ordered.
                 * @example created_at
                 */
                sort_by?: "created_at" | "updated_at" | "first_name" | "last_name" | "lead_score";
                /**
                 * @description Only leads from this source.
                 * @example website
                 */
                source?: "manual" | "api" | "website" | "referral" | "import" | "other";
                /**
                 * @description Only leads with this tag, in any case. Repeated, only those with all of them.
                 * @example [
                 *       "roof"
                 *     ]
                 */
                tag?: string[];
                /**
                 * @description Only leads changed at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                updated_after?: string;
                /**
                 * @description Only leads changed last before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                updated_before?: string;
                /**
                 * @description Reads the list by cursor, in the order of creation and without totals: only records after this one. Empty at first, then `meta.next` of the previous page.
                 * @example
                 */
                after?: string;
                /**
                 * @description Reads the list by cursor, like `after`, but the newest first: only records before this one. Empty at first, then `meta.next` of the previous page.
                 * @example
                 */
                before?: string;
                /**
                 * @description Fields of the items, separated by commas, or `*` for all. `id` is always one of them.
                 * @example created_at,updated_at
                 */
                fields?: string;
                /**
                 * @description Fields about related records to add: next_appointment, open_task_count. Several are separated by commas.
                 * @example next_appointment
                 */
                include?: string;
                /**
                 * @description Lists the deleted leads instead, the most recently deleted first, by cursor. Only `limit` and `after` can be given with it.
                 * @example false
                 */
                deleted?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    leadsCount: {
        parameters: {
            query: {
                /**
                 * @description Only leads whose name, company, e-mail or phone contains this. A name is the first, the last or the full one, in either order. Case and accents are ignored, and a phone is found by every spelling of it.
                 * @example hopper
                 */
                search?: string;
                /**
                 * @description Only leads with exactly this status.
                 * @example new
                 */
                status?: string;
                /**
                 * @description Only leads of this temperature.
                 * @example warm
                 */
                temperature?: "cold" | "warm" | "hot";
                /**
                 * @description Only the lead with this external id.
                 * @example crm-4711
                 */
                external_id?: string;
                /**
                 * @description Only leads created at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                created_after?: string;
                /**
                 * @description Only leads created before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                created_before?: string;
                /**
                 * @description Conditions, such as {"source":{"in":["website","referral"]},"tasks":{"none":{"status":"open"}}}; errors list fields and operators.
                 * @example {"source":{"in":["website","referral"]},"tasks":{"none":{"status":"open"}}}
                 */
                filter?: string;
                /**
                 * @description Only leads from this source.
                 * @example website
                 */
                source?: "manual" | "api" | "website" | "referral" | "import" | "other";
                /**
                 * @description Only leads with this tag, in any case. Repeated, only those with all of them.
                 * @example [
                 *       "roof"
                 *     ]
                 */
                tag?: string[];
                /**
                 * @description Only leads changed at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                updated_after?: string;
                /**
                 * @description Only leads changed last before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                updated_before?: string;
                /**
                 * @description What the records are counted by: status, temperature, source, tag, city, created_day, created_week, created_month, custom_fields.KEY.
                 * @example status
                 */
                by: string;
                /**
                 * @description Zone of days, weeks and months, an IANA name. Default: the time zone of the organization.
                 * @example Europe/Vienna
                 */
                time_zone?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    leadsListDuplicates: {
        parameters: {
            query?: {
                /**
                 * @description Only groups after this one: `meta.next` of the previous page.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                after?: string;
                /**
                 * @description Most groups on a page.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    leadsExport: {
        parameters: {
            query?: {
                /**
                 * @description Only leads whose name, company, e-mail or phone contains this. A name is the first, the last or the full one, in either order. Case and accents are ignored, and a phone is found by every spelling of it.
                 * @example hopper
                 */
                search?: string;
                /**
                 * @description Only leads with exactly this status.
                 * @example new
                 */
                status?: string;
                /**
                 * @description Only leads of this temperature.
                 * @example warm
                 */
                temperature?: "cold" | "warm" | "hot";
                /**
                 * @description Only the lead with this external id.
                 * @example crm-4711
                 */
                external_id?: string;
                /**
                 * @description Only leads created at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                created_after?: string;
                /**
                 * @description Only leads created before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                created_before?: string;
                /**
                 * @description Conditions, such as {"source":{"in":["website","referral"]},"tasks":{"none":{"status":"open"}}}; errors list fields and operators.
                 * @example {"source":{"in":["website","referral"]},"tasks":{"none":{"status":"open"}}}
                 */
                filter?: string;
                /**
                 * @description Only leads from this source.
                 * @example website
                 */
                source?: "manual" | "api" | "website" | "referral" | "import" | "other";
                /**
                 * @description Only leads with this tag, in any case. Repeated, only those with all of them.
                 * @example [
                 *       "roof"
                 *     ]
                 */
                tag?: string[];
                /**
                 * @description Only leads changed at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                updated_after?: string;
                /**
                 * @description Only leads changed last before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                updated_before?: string;
                /**
                 * @description CSV, or a JSON object a line.
                 * @example csv
                 */
                format?: "csv" | "ndjson";
                /**
                 * @description Whether cells that a spreadsheet would take for formulas get a leading quote.
                 * @example formulas
                 */
                escape?: "formulas" | "none";
                /**
                 * @description What separates the cells of CSV. Default: comma.
                 * @example semicolon
                 */
                delimiter?: "comma" | "semicolon" | "tab" | "pipe";
                /**
                 * @description Whether CSV begins with a byte order mark, so that Excel reads it as UTF-8.
                 * @example false
                 */
                bom?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    leadImportsList: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
                /**
                 * @description Only imports with this status.
                 * @example running
                 */
                status?: "pending" | "running" | "completed" | "cancelled" | "failed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    leadImportsCreate: {
        parameters: {
            query?: {
                /**
                 * @description What a line may do, as in an upsert.
                 * @example create_or_update
                 */
                mode?: "create_or_update" | "update_only" | "create_only";
                /**
                 * @description Fields that find the lead of a line. Default: external_id and email, those of them that the file has; phone if it has neither.
                 * @example [
                 *       "email"
                 *     ]
                 */
                match_on?: ("id" | "email" | "phone" | "external_id")[];
                /**
                 * @description JSON object of columns and fields: `{"Owner":"custom_fields.owner","Score":null}`. Null leaves a column out.
                 * @example {"Owner":"custom_fields.owner"}
                 */
                map?: string;
                /**
                 * @description JSON object of fields that all lines have: tags are added, other values stand in for empty and missing cells.
                 * @example {"tags":["fair"],"source":"website"}
                 */
                set?: string;
                /**
                 * @description Whether a file with unknown columns is refused, or they become custom fields.
                 * @example refuse
                 */
                unknown_columns?: "refuse" | "custom_fields";
                /**
                 * @description Whether nothing is written.
                 * @example false
                 */
                dry_run?: boolean;
                /**
                 * @description Encoding of the file. Default: the charset of its content type, else utf-8. A byte order mark of UTF-16 is recognized.
                 * @example utf-8
                 */
                encoding?: "utf-8" | "utf-16" | "windows-1252";
                /**
                 * @description What separates the cells of CSV. Default: what the first line has most often.
                 * @example semicolon
                 */
                delimiter?: "comma" | "semicolon" | "tab" | "pipe";
                /**
                 * @description Whether an empty cell of CSV clears its field.
                 * @example false
                 */
                clear_empty?: boolean;
                /**
                 * @description Set it to `latitude` for a file of an export, whose cells may have a quote before a formula.
                 * @example none
                 */
                escaped?: "none" | "latitude";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    leadImportsRejected: {
        parameters: {
            query?: {
                /**
                 * @description Whether cells that a spreadsheet would take for formulas get a leading quote.
                 * @example formulas
                 */
                escape?: "formulas" | "none";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    leadImportsResults: {
        parameters: {
            query?: {
                /**
                 * @description CSV, or a JSON object a line.
                 * @example csv
                 */
                format?: "csv" | "ndjson";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    leadsListEvents: {
        parameters: {
            query?: {
                /**
                 * @description Only events after this one: `meta.next` of the previous page or the id of an event. `latest` skips all published events. Without it, the list begins with the oldest event.
                 * @example 019ad2c1-7c4e-71a3-8000-000000000000
                 */
                after?: string;
                /**
                 * @description Most events on a page.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    organizationsList: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    organizationsListKeys: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    resourcesList: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
                /**
                 * @description Only resources of this team member.
                 * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
                 */
                user_id?: string;
                /**
                 * @description Only resources that can, or cannot, be booked.
                 * @example true
                 */
                active?: boolean;
                /**
                 * @description Only resources changed at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                updated_after?: string;
                /**
                 * @description Only resources changed last before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                updated_before?: string;
                /**
                 * @description Field by which the list is ordered.
                 * @example created_at
                 */
                sort_by?: "created_at" | "updated_at";
                /**
                 * @description Reads the list by cursor, in the order of creation and without totals: only records after this one. Empty at first, then `meta.next` of the previous page.
                 * @example
                 */
                after?: string;
                /**
                 * @description Reads the list by cursor, like `after`, but the newest first: only records before this one. Empty at first, then `meta.next` of the previous page.
                 * @example
                 */
                before?: string;
                /**
                 * @description Fields of the items, separated by commas, or `*` for all. `id` is always one of them.
                 * @example created_at,updated_at
                 */
                fields?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    calendarsList: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    resourcesListEvents: {
        parameters: {
            query?: {
                /**
                 * @description Only events after this one: `meta.next` of the previous page or the id of an event. `latest` skips all published events. Without it, the list begins with the oldest event.
                 * @example 019ad2c1-7c4e-71a3-8000-000000000000
                 */
                after?: string;
                /**
                 * @description Most events on a page.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    tasksList: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
                /**
                 * @description Only tasks with this status.
                 * @example open
                 */
                status?: "open" | "in_progress" | "completed" | "cancelled";
                /**
                 * @description Only tasks that are assigned to this team member.
                 * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
                 */
                assigned_to?: string;
                /**
                 * @description Only tasks about this lead.
                 * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
                 */
                contact_id?: string;
                /**
                 * @description Only tasks that are due before this time. ISO 8601 date-time or date.
                 * @example 2026-04-01T00:00:00Z
                 */
                due_before?: string;
                /**
                 * @description Conditions, such as {"status":{"in":["open","in_progress"]},"lead":{"temperature":"hot"}}; errors list fields and operators.
                 * @example {"status":{"in":["open","in_progress"]},"lead":{"temperature":"hot"}}
                 */
                filter?: string;
                /**
                 * @description Field by which the list is ordered.
                 * @example created_at
                 */
                sort_by?: "due_date" | "created_at" | "updated_at" | "priority";
                /**
                 * @description Only tasks with this priority.
                 * @example high
                 */
                priority?: "low" | "medium" | "high" | "urgent";
                /**
                 * @description Only tasks that are due at this time or later. ISO 8601 date-time or date.
                 * @example 2026-03-01T00:00:00Z
                 */
                due_after?: string;
                /**
                 * @description Only tasks created at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                created_after?: string;
                /**
                 * @description Only tasks changed at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                updated_after?: string;
                /**
                 * @description Only tasks changed last before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                updated_before?: string;
                /**
                 * @description Reads the list by cursor, in the order of creation and without totals: only records after this one. Empty at first, then `meta.next` of the previous page.
                 * @example
                 */
                after?: string;
                /**
                 * @description Reads the list by cursor, like `after`, but the newest first: only records before this one. Empty at first, then `meta.next` of the previous page.
                 * @example
                 */
                before?: string;
                /**
                 * @description Fields of the items, separated by commas, or `*` for all. `id` is always one of them.
                 * @example created_at,updated_at
                 */
                fields?: string;
                /**
                 * @description Fields about related records to add: lead. Several are separated by commas.
                 * @example lead
                 */
                include?: string;
                /**
                 * @description Lists the deleted tasks instead, the most recently deleted first, by cursor. Only `limit` and `after` can be given with it.
                 * @example false
                 */
                deleted?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    tasksCount: {
        parameters: {
            query: {
                /**
                 * @description Only tasks with this status.
                 * @example open
                 */
                status?: "open" | "in_progress" | "completed" | "cancelled";
                /**
                 * @description Only tasks that are assigned to this team member.
                 * @example 01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18
                 */
                assigned_to?: string;
                /**
                 * @description Only tasks about this lead.
                 * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
                 */
                contact_id?: string;
                /**
                 * @description Only tasks that are due before this time. ISO 8601 date-time or date.
                 * @example 2026-04-01T00:00:00Z
                 */
                due_before?: string;
                /**
                 * @description Conditions, such as {"status":{"in":["open","in_progress"]},"lead":{"temperature":"hot"}}; errors list fields and operators.
                 * @example {"status":{"in":["open","in_progress"]},"lead":{"temperature":"hot"}}
                 */
                filter?: string;
                /**
                 * @description Only tasks with this priority.
                 * @example high
                 */
                priority?: "low" | "medium" | "high" | "urgent";
                /**
                 * @description Only tasks that are due at this time or later. ISO 8601 date-time or date.
                 * @example 2026-03-01T00:00:00Z
                 */
                due_after?: string;
                /**
                 * @description Only tasks created at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                created_after?: string;
                /**
                 * @description Only tasks changed at this time or later. ISO 8601 date-time or date.
                 * @example 2026-01-01T00:00:00Z
                 */
                updated_after?: string;
                /**
                 * @description Only tasks changed last before this time. ISO 8601 date-time or date.
                 * @example 2026-02-01T00:00:00Z
                 */
                updated_before?: string;
                /**
                 * @description What the records are counted by.
                 * @example status
                 */
                by: "status" | "priority" | "assigned_to" | "due_day";
                /**
                 * @description Zone of days, weeks and months, an IANA name. Default: the time zone of the organization.
                 * @example Europe/Vienna
                 */
                time_zone?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    tasksGet: {
        parameters: {
            query?: {
                /**
                 * @description Fields about related records to add: lead. Several are separated by commas.
                 * @example lead
                 */
                include?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    tasksListEvents: {
        parameters: {
            query?: {
                /**
                 * @description Only events after this one: `meta.next` of the previous page or the id of an event. `latest` skips all published events. Without it, the list begins with the oldest event.
                 * @example 019ad2c1-7c4e-71a3-8000-000000000000
                 */
                after?: string;
                /**
                 * @description Most events on a page.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    webhooksList: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    webhooksListDeliveries: {
        parameters: {
            query?: {
                /**
                 * @description Number of the page. One past the last is empty.
                 * @example 1
                 */
                page?: number;
                /**
                 * @description Most records on a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.
                 * @example desc
                 */
                sort_dir?: "asc" | "desc";
                /**
                 * @description Only deliveries with this status.
                 * @example failed
                 */
                status?: "pending" | "succeeded" | "failed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
}
