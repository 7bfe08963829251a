/**
 * The types of the extensions that a program contains. A manifest adds its own type by declaration
 * merging, so that `RequireScope` and `ApiError` accept its scopes and error codes.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- merged by each manifest
export interface RegisteredExtensions {}

/** The union of all registered manifests. */
export type RegisteredExtension = RegisteredExtensions[keyof RegisteredExtensions];
