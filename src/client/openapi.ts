// Made from the OpenAPI document by `npm run client:types`. Do not edit.

export interface paths {
    "/api/v1/appointments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List appointments
         * @description Requires the scope `appointments:read`; counts as a read.
         */
        get: operations["appointmentsList"];
        put?: never;
        /**
         * Create an appointment
         * @description Requires the scope `appointments:write`; counts as a write.
         */
        post: operations["appointmentsCreate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/appointments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an appointment
         * @description Requires the scope `appointments:read`; counts as a read.
         */
        get: operations["appointmentsGet"];
        /**
         * Update an appointment
         * @description A `status`, even the stored one, always moves `updated_at`. Changes only the given fields; `null` clears a nullable field. Requires the scope `appointments:write`; counts as a write.
         */
        put: operations["appointmentsUpdate"];
        post?: never;
        /**
         * Cancel an appointment
         * @description Its status becomes `cancelled` and it stays readable. Cancelling again is no error. Requires the scope `appointments:write`; counts as a write.
         */
        delete: operations["appointmentsCancel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/appointments/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of an appointment
         * @description Who changed it and how, oldest first, also after its deletion. Requires the scope `events:read`; counts as a read.
         */
        get: operations["appointmentsListEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description The changes of records, oldest first, of the kinds that the key may read. `wait` keeps the request open until there is one. Requires the scope `events:read`; counts as a read.
         */
        get: operations["eventsList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/leads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List leads
         * @description Requires the scope `leads:read`; counts as a read.
         */
        get: operations["leadsList"];
        put?: never;
        /**
         * Create a lead
         * @description Requires the scope `leads:write`; counts as a write.
         */
        post: operations["leadsCreate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/leads/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a lead
         * @description Requires the scope `leads:read`; counts as a read.
         */
        get: operations["leadsGet"];
        /**
         * Update a lead
         * @description Changes only the given fields; `null` clears a nullable field. Requires the scope `leads:write`; counts as a write.
         */
        put: operations["leadsUpdate"];
        post?: never;
        /**
         * Delete a lead
         * @description It is found no more, and its e-mail and phone are free. What links to it stays. Requires the scope `leads:write`; counts as a write.
         */
        delete: operations["leadsDelete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/leads/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of a lead
         * @description Who changed it and how, oldest first, also after its deletion. Requires the scope `events:read`; counts as a read.
         */
        get: operations["leadsListEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Test a key
         * @description Accepts any valid key; counts as a read.
         */
        get: operations["meGet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tasks
         * @description Requires the scope `tasks:read`; counts as a read.
         */
        get: operations["tasksList"];
        put?: never;
        /**
         * Create a task
         * @description Requires the scope `tasks:write`; counts as a write.
         */
        post: operations["tasksCreate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a task
         * @description Requires the scope `tasks:read`; counts as a read.
         */
        get: operations["tasksGet"];
        /**
         * Update a task
         * @description Changes only the given fields; `null` clears a nullable field. Requires the scope `tasks:write`; counts as a write.
         */
        put: operations["tasksUpdate"];
        post?: never;
        /**
         * Delete a task
         * @description It is found no more. Requires the scope `tasks:write`; counts as a write.
         */
        delete: operations["tasksDelete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of a task
         * @description Who changed it and how, oldest first, also after its deletion. Requires the scope `events:read`; counts as a read.
         */
        get: operations["tasksListEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Requires the scope `webhooks:read`; counts as a read.
         */
        get: operations["webhooksList"];
        put?: never;
        /**
         * Create a webhook
         * @description The secret is shown only in this response. Requires the scope `webhooks:write`; counts as a write.
         */
        post: operations["webhooksCreate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook
         * @description Requires the scope `webhooks:read`; counts as a read.
         */
        get: operations["webhooksGet"];
        /**
         * Update a webhook
         * @description Another URL or other types need the read scopes of all types. Changes only the given fields; `null` clears a nullable field. Requires the scope `webhooks:write`; counts as a write.
         */
        put: operations["webhooksUpdate"];
        post?: never;
        /**
         * Delete a webhook
         * @description Its deliveries are removed. Requires the scope `webhooks:write`; counts as a write.
         */
        delete: operations["webhooksDelete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook
         * @description Requires the scope `webhooks:read`; counts as a read.
         */
        get: operations["webhooksListDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an event again
         * @description A pending delivery is attempted at once, another one after the pending ones of its record. Requires the scope `webhooks:write`; counts as a write.
         */
        post: operations["webhooksRedeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of a webhook
         * @description For 24 hours, events have signatures of both secrets. Requires the scope `webhooks:write`; counts as a write.
         */
        post: operations["webhooksRotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description The event is sent once, after this response. The list of deliveries has the outcome. Requires the scope `webhooks:write`; counts as a write.
         */
        post: operations["webhooksTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description The codes that Latitude and its extensions declare.
         * @enum {string}
         */
        ErrorCode: "bad_request" | "no_session" | "validation_error" | "unauthorized" | "insufficient_scope" | "session_mismatch" | "origin_not_allowed" | "not_found" | "lead_not_found" | "duplicate" | "idempotency_key_in_use" | "cursor_expired" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "compliance_blocked" | "idempotency_key_reused" | "rate_limit_exceeded" | "query_failed" | "create_failed" | "internal_error" | "too_many_sessions" | "overloaded" | "webhook_disabled" | "too_many_webhooks";
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
                /** @description The fields at fault, at most 100, on `validation_error`, `duplicate` and `lead_not_found`. */
                details?: {
                    /** @description The field or parameter; `body` or `query` for a problem of the whole. */
                    field: string;
                    /** @description What is wrong with it. */
                    message: string;
                    /**
                     * Format: uuid
                     * @description On `duplicate`: the id of the other record, if the key may read it.
                     */
                    existing_id?: string;
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
        Me: {
            /**
             * @description The organization that the key belongs to.
             * @example {
             *       "id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
             *       "name": "Harbor Roofing"
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
            };
            /**
             * @description The key itself, which is never shown again.
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
            scopes: ("appointments:read" | "appointments:write" | "events:read" | "leads:read" | "leads:write" | "tasks:read" | "tasks:write" | "webhooks:read" | "webhooks:write")[];
            /**
             * Format: date-time
             * @description When the key ends; null where it does not.
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
             * @description Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `ext.`). Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
             * @example +1 415 555 0132
             */
            phone: string | null;
            /**
             * @description E-mail address, returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
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
             * @description Name of the company.
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
             * @description Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `ext.`). Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
             * @example +1 415 555 0132
             */
            phone?: string | null;
            /**
             * @description E-mail address, returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
             * @example grace.hopper@example.com
             */
            email?: string | null;
            /**
             * @description Name of the company.
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
             * @description State or province, abbreviated.
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
             * @description Labels of your own, all of which an update replaces. Repetitions are removed, the order is kept. Default: `[]`.
             * @example [
             *       "roof",
             *       "spring"
             *     ]
             */
            tags?: string[] | null;
            /**
             * @description Keys and JSON values of your own, all of which an update replaces. At most 32768 bytes as JSON and 8 levels deep. Numbers at any depth are from -9007199254740992 to 9007199254740992. Default: `{}`.
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
             * @description Whether the lead opted out of text messages. It must not be sent any. Default: `false`.
             * @example false
             */
            sms_opted_out?: boolean | null;
            /**
             * @description Whether the lead is on a do-not-call list. It must not be contacted. Default: `false`.
             * @example false
             */
            on_dnc_list?: boolean | null;
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
             * @description Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `ext.`). Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
             * @example +1 415 555 0132
             */
            phone: string | null;
            /**
             * @description E-mail address, returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
             * @example grace.hopper@example.com
             */
            email: string | null;
            /**
             * @description Name of the company.
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
             * @description State or province, abbreviated.
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
             * @description Labels of your own, all of which an update replaces. Repetitions are removed, the order is kept.
             * @example [
             *       "roof",
             *       "spring"
             *     ]
             */
            tags: string[];
            /**
             * @description Keys and JSON values of your own, all of which an update replaces. At most 32768 bytes as JSON and 8 levels deep.
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
             * @description Whether the lead opted out of text messages. It must not be sent any.
             * @example false
             */
            sms_opted_out: boolean;
            /**
             * @description Whether the lead is on a do-not-call list. It must not be contacted.
             * @example false
             */
            on_dnc_list: boolean;
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
             * @description Consists of digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `ext.`). Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.
             * @example +1 415 555 0132
             */
            phone?: string | null;
            /**
             * @description E-mail address, returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.
             * @example grace.hopper@example.com
             */
            email?: string | null;
            /**
             * @description Name of the company.
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
             * @description State or province, abbreviated.
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
             * @description Labels of your own, all of which an update replaces. Repetitions are removed, the order is kept.
             * @example [
             *       "roof",
             *       "spring"
             *     ]
             */
            tags?: string[];
            /**
             * @description Keys and JSON values of your own, all of which an update replaces. At most 32768 bytes as JSON and 8 levels deep. Numbers at any depth are from -9007199254740992 to 9007199254740992.
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
             * @description Whether the lead opted out of text messages. It must not be sent any.
             * @example false
             */
            sms_opted_out?: boolean;
            /**
             * @description Whether the lead is on a do-not-call list. It must not be contacted.
             * @example false
             */
            on_dnc_list?: boolean;
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
             * Format: date-time
             * @description When the record was changed.
             * @example 2026-01-05T16:20:00.000Z
             */
            created_at: string;
            /**
             * @description The record after the change, as GET answers it; of a deleted one the last state.
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
             * @description The names of the fields that have another value. Empty for creations and deletions.
             * @example [
             *       "email"
             *     ]
             */
            changed: string[];
            /**
             * @description Who changed it.
             * @example {
             *       "key_id": "01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10",
             *       "channel": "api",
             *       "request_id": "5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f"
             *     }
             */
            actor: {
                /**
                 * @description Id of the key; null for jobs and commands.
                 * @example 01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10
                 */
                key_id: string | null;
                /**
                 * @description `api` through REST, `ai` through /mcp; null for jobs and commands.
                 * @example api
                 */
                channel: string | null;
                /**
                 * @description The `X-Request-Id` of the request; null for jobs and commands.
                 * @example 5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f
                 */
                request_id: string | null;
            };
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
             * @description The lead that it is with. It must be a live one of the organization, and cannot be changed.
             * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            lead_id: string;
            /**
             * Format: date-time
             * @description When it begins. Times in the past and overlaps are allowed.
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
             * @description The lead that it is with. It must be a live one of the organization, and cannot be changed.
             * @example 01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43
             */
            lead_id: string;
            /**
             * @description When it begins. Times in the past and overlaps are allowed. ISO 8601 date-time or date.
             * @example 2026-03-02T17:00:00.000Z
             */
            start_time: string;
            /**
             * @description When it ends. It must be after start_time. ISO 8601 date-time or date.
             * @example 2026-03-02T18:00:00.000Z
             */
            end_time: string;
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
             * @description What came of it; free text.
             * @example Offer accepted
             */
            outcome?: string | null;
            /**
             * @description More about what came of it.
             * @example Starts in April.
             */
            outcome_notes?: string | null;
        };
        UpdateAppointment: {
            /**
             * @description When it begins. Times in the past and overlaps are allowed. ISO 8601 date-time or date.
             * @example 2026-03-02T17:00:00.000Z
             */
            start_time?: string;
            /**
             * @description When it ends. It must be after start_time. ISO 8601 date-time or date.
             * @example 2026-03-02T18:00:00.000Z
             */
            end_time?: string;
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
             * @description What came of it; free text.
             * @example Offer accepted
             */
            outcome?: string | null;
            /**
             * @description More about what came of it.
             * @example Starts in April.
             */
            outcome_notes?: string | null;
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
             * @description The lead that it is about. It must be a live one of the organization.
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
             * @description The lead that it is about. It must be a live one of the organization.
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
             * @description The lead that it is about. It must be a live one of the organization.
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
             * @description Why it was disabled: the receiver answered 410, or failed for three days.
             * @example failing
             * @enum {string|null}
             */
            disabled_reason: "gone" | "failing" | null;
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
             * @description Why it was disabled: the receiver answered 410, or failed for three days.
             * @example failing
             * @enum {string|null}
             */
            disabled_reason: "gone" | "failing" | null;
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
             * @description The key of the signatures. It is never shown again.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string;
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
    };
    responses: {
        /** @description `unauthorized`: The API key is missing, invalid or expired. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "unauthorized";
                    };
                };
            };
        };
        /** @description `rate_limit_exceeded`: Too many requests in the current window. */
        RateLimitExceeded: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "rate_limit_exceeded";
                    };
                };
            };
        };
        /** @description `payload_too_large`: The request body is too large. */
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "payload_too_large";
                    };
                };
            };
        };
        /** @description `validation_error`: The request is not valid. `bad_request`: The request could not be read. */
        ValidationErrorOrBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "validation_error" | "bad_request";
                    };
                };
            };
        };
        /** @description `query_failed`: The database read failed. Try again. `internal_error`: An unexpected error occurred. */
        QueryFailedOrInternalError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "query_failed" | "internal_error";
                    };
                };
            };
        };
        /** @description `overloaded`: The service is overloaded. */
        Overloaded: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "overloaded";
                    };
                };
            };
        };
        /** @description `bad_request`: The request could not be read. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "bad_request";
                    };
                };
            };
        };
        /** @description `insufficient_scope`: The API key lacks the required scope. */
        InsufficientScope: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "insufficient_scope";
                    };
                };
            };
        };
        /** @description `unsupported_media_type`: Send the body as application/json in UTF-8. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "unsupported_media_type";
                    };
                };
            };
        };
        /** @description `duplicate`: The record violates a unique constraint. `idempotency_key_in_use`: A request with this Idempotency-Key is in progress. */
        DuplicateOrIdempotencyKeyInUse: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "duplicate" | "idempotency_key_in_use";
                    };
                };
            };
        };
        /** @description `idempotency_key_reused`: This Idempotency-Key was used with another request. */
        IdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "idempotency_key_reused";
                    };
                };
            };
        };
        /** @description `create_failed`: The database write failed. Try again with the same body. `internal_error`: An unexpected error occurred. */
        CreateFailedOrInternalError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "create_failed" | "internal_error";
                    };
                };
            };
        };
        /** @description `not_found`: There is no such resource. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "not_found";
                    };
                };
            };
        };
        /** @description `duplicate`: The record violates a unique constraint. */
        Duplicate: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "duplicate";
                    };
                };
            };
        };
        /** @description `precondition_failed`: The record is not the version that If-Match names. */
        PreconditionFailed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "precondition_failed";
                    };
                };
            };
        };
        /** @description `cursor_expired`: The events after this position are no longer stored. */
        CursorExpired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "cursor_expired";
                    };
                };
            };
        };
        /** @description `lead_not_found`: There is no such lead. */
        LeadNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "lead_not_found";
                    };
                };
            };
        };
        /** @description `idempotency_key_in_use`: A request with this Idempotency-Key is in progress. */
        IdempotencyKeyInUse: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "idempotency_key_in_use";
                    };
                };
            };
        };
        /** @description `not_found`: There is no such resource. `lead_not_found`: There is no such lead. */
        NotFoundOrLeadNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "not_found" | "lead_not_found";
                    };
                };
            };
        };
        /** @description `too_many_webhooks`: The organization has 50 webhooks, which is the maximum. `idempotency_key_in_use`: A request with this Idempotency-Key is in progress. */
        TooManyWebhooksOrIdempotencyKeyInUse: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "too_many_webhooks" | "idempotency_key_in_use";
                    };
                };
            };
        };
        /** @description `webhook_disabled`: The webhook is disabled. `idempotency_key_in_use`: A request with this Idempotency-Key is in progress. */
        WebhookDisabledOrIdempotencyKeyInUse: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error: {
                        /** @enum {string} */
                        code: "webhook_disabled" | "idempotency_key_in_use";
                    };
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description Identifies the request in the log. It is the value of the request header (1 to 128 visible ASCII characters) or a new UUID.
         * @example 5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f
         */
        "X-Request-Id": string;
        /**
         * @description Maximum number of reads or writes in a window of 60 seconds.
         * @example 60
         */
        "RateLimit-Limit": number;
        /**
         * @description Number of requests that are left in the window.
         * @example 59
         */
        "RateLimit-Remaining": number;
        /**
         * @description End of the window as Unix time in seconds.
         * @example 1767630060
         */
        "RateLimit-Reset": number;
        /**
         * @description Seconds to wait before the request is retried.
         * @example 42
         */
        "Retry-After": number;
        /**
         * @description Path of the new record.
         * @example /api/v1/leads/01a1fbde-995e-72a3-a032-ab1c988b9794
         */
        Location: string;
        /**
         * @description The version of the record, for `If-Match` and `If-None-Match`.
         * @example "NEw9L3W74r0fjtSdGiBUEoR5wdMWhIEmJKW6571Oi_8"
         */
        ETag: string;
        /**
         * @description How to authenticate; on 403 also the missing scope.
         * @example Bearer realm="latitude"
         */
        "WWW-Authenticate": string;
        /**
         * @description Sent if the response to an earlier request with this `Idempotency-Key` is repeated.
         * @example true
         */
        "Idempotency-Replayed": "true";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
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
                 * @description Field by which the list is ordered.
                 * @example start_time
                 */
                sort_by?: "start_time" | "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *           "lead_id": "01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43",
                     *           "start_time": "2026-03-02T17:00:00.000Z",
                     *           "end_time": "2026-03-02T18:00:00.000Z",
                     *           "type": "Estimate",
                     *           "location": "12 Pier Street, Oakland",
                     *           "notes": "Bring samples of slate.",
                     *           "status": "scheduled",
                     *           "outcome": "Offer accepted",
                     *           "outcome_notes": "Starts in April.",
                     *           "organization_id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
                     *           "booked_by": "api",
                     *           "created_at": "2026-01-05T16:20:00.000Z",
                     *           "updated_at": "2026-01-05T16:20:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "limit": 50,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Appointment"][];
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            408: components["responses"]["BadRequest"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    appointmentsCreate: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes retries safe. Requests with the same key and body are executed once and get the same response for 24 hours.
                 * @example a8098c1a-f86e-4d3a-9b5c-2f0e6d7c1b94
                 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAppointment"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *         "lead_id": "01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43",
                     *         "start_time": "2026-03-02T17:00:00.000Z",
                     *         "end_time": "2026-03-02T18:00:00.000Z",
                     *         "type": "Estimate",
                     *         "location": "12 Pier Street, Oakland",
                     *         "notes": "Bring samples of slate.",
                     *         "status": "scheduled",
                     *         "outcome": "Offer accepted",
                     *         "outcome_notes": "Starts in April.",
                     *         "organization_id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
                     *         "booked_by": "api",
                     *         "created_at": "2026-01-05T16:20:00.000Z",
                     *         "updated_at": "2026-01-05T16:20:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Appointment"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["LeadNotFound"];
            408: components["responses"]["BadRequest"];
            409: components["responses"]["IdempotencyKeyInUse"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["BadRequest"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    appointmentsGet: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The response is 304 if the record has one of these entity tags.
                 * @example "NEw9L3W74r0fjtSdGiBUEoR5wdMWhIEmJKW6571Oi_8"
                 */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *         "lead_id": "01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43",
                     *         "start_time": "2026-03-02T17:00:00.000Z",
                     *         "end_time": "2026-03-02T18:00:00.000Z",
                     *         "type": "Estimate",
                     *         "location": "12 Pier Street, Oakland",
                     *         "notes": "Bring samples of slate.",
                     *         "status": "scheduled",
                     *         "outcome": "Offer accepted",
                     *         "outcome_notes": "Starts in April.",
                     *         "organization_id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
                     *         "booked_by": "api",
                     *         "created_at": "2026-01-05T16:20:00.000Z",
                     *         "updated_at": "2026-01-05T16:20:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Appointment"];
                    };
                };
            };
            /** @description Not Modified */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    appointmentsUpdate: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Changes the record only if it has one of these entity tags, such as the `ETag` of an earlier response; `*` means any.
                 * @example *
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateAppointment"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *         "lead_id": "01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43",
                     *         "start_time": "2026-03-02T17:00:00.000Z",
                     *         "end_time": "2026-03-02T18:00:00.000Z",
                     *         "type": "Estimate",
                     *         "location": "12 Pier Street, Oakland",
                     *         "notes": "Bring samples of slate.",
                     *         "status": "scheduled",
                     *         "outcome": "Offer accepted",
                     *         "outcome_notes": "Starts in April.",
                     *         "organization_id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
                     *         "booked_by": "api",
                     *         "created_at": "2026-01-05T16:20:00.000Z",
                     *         "updated_at": "2026-01-05T16:20:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Appointment"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    appointmentsCancel: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Changes the record only if it has one of these entity tags, such as the `ETag` of an earlier response; `*` means any.
                 * @example *
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *         "cancelled": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["CancelledAppointment"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    appointmentsListEvents: {
        parameters: {
            query?: {
                /**
                 * @description Only events after this one: `meta.next` of the previous page or the id of an event. `latest` skips all events until now. Without it, the list begins with the oldest event.
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
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "019ad2c1-7c4e-71a3-8000-000000000000",
                     *           "type": "lead.updated",
                     *           "created_at": "2026-01-05T16:20:00.000Z",
                     *           "record": {
                     *             "id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
                     *             "first_name": "Ada"
                     *           },
                     *           "changed": [
                     *             "email"
                     *           ],
                     *           "actor": {
                     *             "key_id": "01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10",
                     *             "channel": "api",
                     *             "request_id": "5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f"
                     *           }
                     *         }
                     *       ],
                     *       "meta": {
                     *         "next": "019ad2c1-7c4e-71a3-8000-000000000000",
                     *         "has_more": false
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Event"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            410: components["responses"]["CursorExpired"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    eventsList: {
        parameters: {
            query?: {
                /**
                 * @description Only events after this one: `meta.next` of the previous page or the id of an event. `latest` skips all events until now. Without it, the list begins with the oldest event.
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
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "019ad2c1-7c4e-71a3-8000-000000000000",
                     *           "type": "lead.updated",
                     *           "created_at": "2026-01-05T16:20:00.000Z",
                     *           "record": {
                     *             "id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
                     *             "first_name": "Ada"
                     *           },
                     *           "changed": [
                     *             "email"
                     *           ],
                     *           "actor": {
                     *             "key_id": "01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10",
                     *             "channel": "api",
                     *             "request_id": "5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f"
                     *           }
                     *         }
                     *       ],
                     *       "meta": {
                     *         "next": "019ad2c1-7c4e-71a3-8000-000000000000",
                     *         "has_more": false
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Event"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            408: components["responses"]["BadRequest"];
            410: components["responses"]["CursorExpired"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
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
                 * @description Only leads whose first, last or full name (in either order), company, e-mail or phone contains this. Case is ignored, and a phone is found by every spelling of it.
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
                 * @description Field by which the list is ordered.
                 * @example created_at
                 */
                sort_by?: "created_at" | "updated_at" | "first_name" | "last_name" | "lead_score";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *           "first_name": "Grace",
                     *           "last_name": "Hopper",
                     *           "phone": "+1 415 555 0132",
                     *           "email": "grace.hopper@example.com",
                     *           "status": "new",
                     *           "temperature": "warm",
                     *           "lead_score": 80,
                     *           "company": "Harbor Roofing",
                     *           "created_at": "2026-01-05T16:20:00.000Z",
                     *           "updated_at": "2026-01-05T16:20:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "limit": 50,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["LeadListItem"][];
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            408: components["responses"]["BadRequest"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    leadsCreate: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes retries safe. Requests with the same key and body are executed once and get the same response for 24 hours.
                 * @example a8098c1a-f86e-4d3a-9b5c-2f0e6d7c1b94
                 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateLead"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
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
                     *         "lead_score": 80,
                     *         "created_at": "2026-01-05T16:20:00.000Z",
                     *         "updated_at": "2026-01-05T16:20:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Lead"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            408: components["responses"]["BadRequest"];
            409: components["responses"]["DuplicateOrIdempotencyKeyInUse"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["BadRequest"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    leadsGet: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The response is 304 if the record has one of these entity tags.
                 * @example "NEw9L3W74r0fjtSdGiBUEoR5wdMWhIEmJKW6571Oi_8"
                 */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
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
                     *         "lead_score": 80,
                     *         "created_at": "2026-01-05T16:20:00.000Z",
                     *         "updated_at": "2026-01-05T16:20:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Lead"];
                    };
                };
            };
            /** @description Not Modified */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    leadsUpdate: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Changes the record only if it has one of these entity tags, such as the `ETag` of an earlier response; `*` means any.
                 * @example *
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateLead"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
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
                     *         "lead_score": 80,
                     *         "created_at": "2026-01-05T16:20:00.000Z",
                     *         "updated_at": "2026-01-05T16:20:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Lead"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            409: components["responses"]["Duplicate"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    leadsDelete: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Changes the record only if it has one of these entity tags, such as the `ETag` of an earlier response; `*` means any.
                 * @example *
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *         "deleted": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Deleted"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    leadsListEvents: {
        parameters: {
            query?: {
                /**
                 * @description Only events after this one: `meta.next` of the previous page or the id of an event. `latest` skips all events until now. Without it, the list begins with the oldest event.
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
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "019ad2c1-7c4e-71a3-8000-000000000000",
                     *           "type": "lead.updated",
                     *           "created_at": "2026-01-05T16:20:00.000Z",
                     *           "record": {
                     *             "id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
                     *             "first_name": "Ada"
                     *           },
                     *           "changed": [
                     *             "email"
                     *           ],
                     *           "actor": {
                     *             "key_id": "01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10",
                     *             "channel": "api",
                     *             "request_id": "5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f"
                     *           }
                     *         }
                     *       ],
                     *       "meta": {
                     *         "next": "019ad2c1-7c4e-71a3-8000-000000000000",
                     *         "has_more": false
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Event"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            410: components["responses"]["CursorExpired"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    meGet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "organization": {
                     *           "id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
                     *           "name": "Harbor Roofing"
                     *         },
                     *         "key": {
                     *           "id": "01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10",
                     *           "name": "n8n"
                     *         },
                     *         "scopes": [
                     *           "leads:read",
                     *           "leads:write"
                     *         ],
                     *         "expires_at": "2027-01-01T00:00:00.000Z",
                     *         "limits": {
                     *           "reads_per_minute": 60,
                     *           "writes_per_minute": 30
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Me"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            408: components["responses"]["BadRequest"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
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
                 * @description Field by which the list is ordered.
                 * @example created_at
                 */
                sort_by?: "due_date" | "created_at" | "priority";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *           "title": "Send the offer",
                     *           "description": "With the prices of this spring.",
                     *           "priority": "high",
                     *           "status": "open",
                     *           "due_date": "2026-03-06T17:00:00.000Z",
                     *           "contact_id": "01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43",
                     *           "assigned_to_user_id": "01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18",
                     *           "organization_id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
                     *           "created_by_user_id": "01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18",
                     *           "created_by_ai": false,
                     *           "created_at": "2026-01-05T16:20:00.000Z",
                     *           "updated_at": "2026-01-05T16:20:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "limit": 50,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Task"][];
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            408: components["responses"]["BadRequest"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    tasksCreate: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes retries safe. Requests with the same key and body are executed once and get the same response for 24 hours.
                 * @example a8098c1a-f86e-4d3a-9b5c-2f0e6d7c1b94
                 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTask"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
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
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Task"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["LeadNotFound"];
            408: components["responses"]["BadRequest"];
            409: components["responses"]["IdempotencyKeyInUse"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["BadRequest"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    tasksGet: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The response is 304 if the record has one of these entity tags.
                 * @example "NEw9L3W74r0fjtSdGiBUEoR5wdMWhIEmJKW6571Oi_8"
                 */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
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
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Task"];
                    };
                };
            };
            /** @description Not Modified */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    tasksUpdate: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Changes the record only if it has one of these entity tags, such as the `ETag` of an earlier response; `*` means any.
                 * @example *
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateTask"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
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
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Task"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFoundOrLeadNotFound"];
            408: components["responses"]["BadRequest"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    tasksDelete: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Changes the record only if it has one of these entity tags, such as the `ETag` of an earlier response; `*` means any.
                 * @example *
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *         "deleted": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Deleted"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    tasksListEvents: {
        parameters: {
            query?: {
                /**
                 * @description Only events after this one: `meta.next` of the previous page or the id of an event. `latest` skips all events until now. Without it, the list begins with the oldest event.
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
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "019ad2c1-7c4e-71a3-8000-000000000000",
                     *           "type": "lead.updated",
                     *           "created_at": "2026-01-05T16:20:00.000Z",
                     *           "record": {
                     *             "id": "01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21",
                     *             "first_name": "Ada"
                     *           },
                     *           "changed": [
                     *             "email"
                     *           ],
                     *           "actor": {
                     *             "key_id": "01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10",
                     *             "channel": "api",
                     *             "request_id": "5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f"
                     *           }
                     *         }
                     *       ],
                     *       "meta": {
                     *         "next": "019ad2c1-7c4e-71a3-8000-000000000000",
                     *         "has_more": false
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Event"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            410: components["responses"]["CursorExpired"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
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
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *           "url": "https://example.com/hooks/latitude",
                     *           "types": [
                     *             "lead.created",
                     *             "lead.updated"
                     *           ],
                     *           "description": "Synchronizes the newsletter.",
                     *           "enabled": true,
                     *           "disabled_reason": "failing",
                     *           "failing_since": "2026-01-05T16:20:00.000Z",
                     *           "previous_secret_expires_at": "2026-01-06T16:20:00.000Z",
                     *           "created_at": "2026-01-05T16:20:00.000Z",
                     *           "updated_at": "2026-01-05T16:20:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "limit": 50,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Webhook"][];
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            408: components["responses"]["BadRequest"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    webhooksCreate: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes retries safe. Requests with the same key and body are executed once and get the same response for 24 hours.
                 * @example a8098c1a-f86e-4d3a-9b5c-2f0e6d7c1b94
                 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *         "url": "https://example.com/hooks/latitude",
                     *         "types": [
                     *           "lead.created",
                     *           "lead.updated"
                     *         ],
                     *         "description": "Synchronizes the newsletter.",
                     *         "enabled": true,
                     *         "disabled_reason": "failing",
                     *         "failing_since": "2026-01-05T16:20:00.000Z",
                     *         "previous_secret_expires_at": "2026-01-06T16:20:00.000Z",
                     *         "created_at": "2026-01-05T16:20:00.000Z",
                     *         "updated_at": "2026-01-05T16:20:00.000Z",
                     *         "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["WebhookWithSecret"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            408: components["responses"]["BadRequest"];
            409: components["responses"]["TooManyWebhooksOrIdempotencyKeyInUse"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["BadRequest"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    webhooksGet: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The response is 304 if the record has one of these entity tags.
                 * @example "NEw9L3W74r0fjtSdGiBUEoR5wdMWhIEmJKW6571Oi_8"
                 */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *         "url": "https://example.com/hooks/latitude",
                     *         "types": [
                     *           "lead.created",
                     *           "lead.updated"
                     *         ],
                     *         "description": "Synchronizes the newsletter.",
                     *         "enabled": true,
                     *         "disabled_reason": "failing",
                     *         "failing_since": "2026-01-05T16:20:00.000Z",
                     *         "previous_secret_expires_at": "2026-01-06T16:20:00.000Z",
                     *         "created_at": "2026-01-05T16:20:00.000Z",
                     *         "updated_at": "2026-01-05T16:20:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
            /** @description Not Modified */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    webhooksUpdate: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Changes the record only if it has one of these entity tags, such as the `ETag` of an earlier response; `*` means any.
                 * @example *
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhook"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *         "url": "https://example.com/hooks/latitude",
                     *         "types": [
                     *           "lead.created",
                     *           "lead.updated"
                     *         ],
                     *         "description": "Synchronizes the newsletter.",
                     *         "enabled": true,
                     *         "disabled_reason": "failing",
                     *         "failing_since": "2026-01-05T16:20:00.000Z",
                     *         "previous_secret_expires_at": "2026-01-06T16:20:00.000Z",
                     *         "created_at": "2026-01-05T16:20:00.000Z",
                     *         "updated_at": "2026-01-05T16:20:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    webhooksDelete: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Changes the record only if it has one of these entity tags, such as the `ETag` of an earlier response; `*` means any.
                 * @example *
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *         "deleted": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Deleted"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
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
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01a1fbe0-7c15-7e42-b6a1-95d3f08c4e10",
                     *           "webhook_id": "01a1fbdf-3b7e-7d19-8a54-0c6d5f1e2b77",
                     *           "event_id": "01a1fbdd-52f0-7360-8000-000000000000",
                     *           "type": "lead.updated",
                     *           "record_id": "01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43",
                     *           "status": "pending",
                     *           "attempts": 1,
                     *           "next_attempt_at": "2026-01-05T16:20:02.000Z",
                     *           "last_attempt_at": "2026-01-05T16:20:00.000Z",
                     *           "duration_ms": 38,
                     *           "response_status": 503,
                     *           "response_body": "try again later",
                     *           "error": "The receiver answered 503.",
                     *           "created_at": "2026-01-05T16:20:00.000Z",
                     *           "updated_at": "2026-01-05T16:20:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "limit": 50,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Delivery"][];
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            413: components["responses"]["PayloadTooLarge"];
            417: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["QueryFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    webhooksRedeliver: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes retries safe. Requests with the same key and body are executed once and get the same response for 24 hours.
                 * @example a8098c1a-f86e-4d3a-9b5c-2f0e6d7c1b94
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
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
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Delivery"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            409: components["responses"]["WebhookDisabledOrIdempotencyKeyInUse"];
            417: components["responses"]["BadRequest"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    webhooksRotateSecret: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes retries safe. Requests with the same key and body are executed once and get the same response for 24 hours.
                 * @example a8098c1a-f86e-4d3a-9b5c-2f0e6d7c1b94
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01a1fbde-995e-72a3-a032-ab1c988b9794",
                     *         "url": "https://example.com/hooks/latitude",
                     *         "types": [
                     *           "lead.created",
                     *           "lead.updated"
                     *         ],
                     *         "description": "Synchronizes the newsletter.",
                     *         "enabled": true,
                     *         "disabled_reason": "failing",
                     *         "failing_since": "2026-01-05T16:20:00.000Z",
                     *         "previous_secret_expires_at": "2026-01-06T16:20:00.000Z",
                     *         "created_at": "2026-01-05T16:20:00.000Z",
                     *         "updated_at": "2026-01-05T16:20:00.000Z",
                     *         "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["WebhookWithSecret"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            409: components["responses"]["IdempotencyKeyInUse"];
            417: components["responses"]["BadRequest"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
    webhooksTest: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes retries safe. Requests with the same key and body are executed once and get the same response for 24 hours.
                 * @example a8098c1a-f86e-4d3a-9b5c-2f0e6d7c1b94
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Identifier of the record.
                 * @example 01a1fbde-995e-72a3-a032-ab1c988b9794
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
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
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Delivery"];
                    };
                };
            };
            400: components["responses"]["ValidationErrorOrBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["BadRequest"];
            409: components["responses"]["WebhookDisabledOrIdempotencyKeyInUse"];
            417: components["responses"]["BadRequest"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimitExceeded"];
            431: components["responses"]["BadRequest"];
            500: components["responses"]["CreateFailedOrInternalError"];
            503: components["responses"]["Overloaded"];
        };
    };
}
