/** All texts of the console. A group for each view, beside those that views share. */
export const texts = {
  name: 'Latitude',
  skip: 'Skip to the content',
  navigation: 'Views',
  notFound: 'There is no such view.',
  toStart: 'To the start',
  zone: (zone: string) => `Times are in ${zone}.`,

  signIn: {
    title: 'Sign in with a key',
    explanation:
      'The first start of the service prints a link with a key, and so does the command “latitude console”. The key stays in this tab until you sign out.',
    key: 'API key',
    submit: 'Sign in',
    connecting: 'Connecting…',
    invalid: 'The service does not accept this key. It may be mistyped, expired or revoked.',
    refused:
      'The key is no longer valid: it was revoked or has expired. What you typed is still here. Enter another key to continue.',
  },

  head: {
    account: 'Key and organization',
    organization: 'Organization',
    key: 'Key',
    expires: 'Expires',
    scopes: 'Scopes',
    limits: 'Left in this minute',
    reads: (remaining: number, limit: number) => `${remaining} of ${limit} reads`,
    writes: (remaining: number, limit: number) => `${remaining} of ${limit} writes`,
    signOut: 'Sign out',
  },

  connection: {
    lost: 'The connection to the service is lost. What you typed is still here. Trying again.',
    waiting: (time: string) => `The limit of this key is reached. The page continues at ${time}.`,
  },

  data: {
    loading: 'Loading…',
    empty: 'Nothing here yet.',
    failed: 'This could not be loaded.',
    refused: 'This key may not see this.',
    offline: 'The service cannot be reached.',
    again: 'Try again',
    requestId: (id: string) => `Request ${id}`,
    next: 'Next page',
    first: 'First page',
    sortBy: (column: string) => `Sort by ${column}`,
    showAll: 'Show all',
    showLess: 'Show less',
    none: '–',
    yes: 'Yes',
    no: 'No',
    asTable: 'As a table',
    value: 'Value',
    count: 'Number',
    noValue: 'none',
  },

  form: {
    save: 'Save',
    create: 'Create',
    cancel: 'Cancel',
    close: 'Close',
    delete: 'Delete',
    required: 'required',
    saved: 'Saved.',
    failed: 'This was not saved.',
    draft: 'You have unsaved changes.',
    discard: 'Discard them',
    number: 'Enter a number.',
    json: 'Enter JSON.',
    listHint: 'Separate them with commas.',
    conflictTitle: 'Somebody else changed the same fields',
    conflict: 'Choose the value of each field. All other changes are kept.',
    yours: 'Yours',
    theirs: 'Theirs',
  },

  filters: {
    title: 'Filters',
    add: 'Add filter',
    remove: (filter: string) => `Remove filter ${filter}`,
    clear: 'Remove all',
  },

  start: { title: 'Start' },
};
