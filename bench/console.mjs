// Times the first view of the console in Chromium, on a server that has records, such as those of `latitude demo --leads 100000`.
// Usage: node bench/console.mjs URL KEY
import { chromium } from 'playwright-core';

const ROUNDS = 7;

/** Each view, and what shows that its records are there. */
const VIEWS = {
  start: 'section:has-text("Leads by status") tbody tr',
  leads: 'tbody tr',
  'leads?search=son': 'tbody tr',
  'leads?sort=lead_score:desc': 'tbody tr',
};

const [url, key] = process.argv.slice(2);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const flags = ['--no-sandbox', '--disable-gpu'];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });
for (const [view, rows] of Object.entries(VIEWS)) {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    // A new profile each time, without a cache.
    const page = await browser.newPage();
    const start = performance.now();
    await page.goto(`${url}/console/${view === 'start' ? '' : view}#key=${key}`);
    await page.locator(rows).first().waitFor();
    times.push(performance.now() - start);
    await page.close();
  }
  const shown = times.map((ms) => ms.toFixed()).join(', ');
  console.log(`${view}: ${median(times).toFixed()} ms until the first row (${shown})`);
}
await browser.close();
