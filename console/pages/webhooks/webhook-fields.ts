import type { FieldSpec } from '../../forms/kinds.js';
import { typeInWords } from '../../components/change.js';
import { texts } from '../../texts.js';
import { useEventTypes } from '../events/event-types.js';

const { labels, hints } = texts.webhooks;

/** The fields of a webhook that people enter. @param stored types of the webhook, which an extension may have added */
export function useWebhookFields(stored: readonly string[] = []): readonly FieldSpec[] {
  const types = [...new Set([...useEventTypes(), ...stored])];
  return [
    { name: 'url', label: labels.url, kind: 'url', isRequired: true, hint: hints.url },
    {
      name: 'types',
      label: labels.types,
      kind: 'choices',
      isRequired: true,
      options: types.map((type) => ({ value: type, label: typeInWords(type) })),
    },
    { name: 'description', label: labels.description, kind: 'text' },
    { name: 'changed', label: labels.changed, kind: 'lines', hint: hints.changed },
    { name: 'filter', label: labels.filter, kind: 'json', hint: hints.filter },
    { name: 'enabled', label: labels.enabled, kind: 'checkbox' },
  ];
}
