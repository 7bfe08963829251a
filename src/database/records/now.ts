/** Default of a time column, as its migration declares it: now, to the millisecond. */
export const NOW = () => "date_trunc('milliseconds', now())";
