/**
 * The types of the extensions that a program contains. `app.module.ts` adds those of Latitude's features, and the
 * manifest of a team's extension adds its own, by declaration merging. `RequireScope` and `ApiError` then accept their
 * scopes and error codes.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- filled by declaration merging
export interface RegisteredExtensions {}

/** The union of all registered manifests. */
export type RegisteredExtension = RegisteredExtensions[keyof RegisteredExtensions];
