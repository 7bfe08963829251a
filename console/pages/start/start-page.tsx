import { Page } from '../../components/page.js';
import { texts } from '../../texts.js';

/** What an operator wants to know first. */
export function StartPage() {
  return <Page title={texts.start.title}>{null}</Page>;
}
