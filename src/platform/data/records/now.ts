/** Default of a time column, as in its migration: the current time in milliseconds. */
export const NOW = () => "date_trunc('milliseconds', now())";
