/** The name of a lead for people. */
export function leadName(lead: { first_name?: string; last_name?: string | null }): string {
  return [lead.first_name, lead.last_name].filter(Boolean).join(' ');
}
