// Times the first view of the console in Chromium, on a server that has records, such as those of `latitude demo --leads 100000`.
// Usage: node bench/console.mjs URL KEY
import { chromium } from 'playwright-core';

const ROUNDS = 7;

/** The path of each page, and what shows that it is there. The first one has no script, and shows what the browser takes. */
const PAGES = {
  '/': 'h1',
  '/console/': 'section:has-text("Leads by status") tbody tr',
  '/console/leads': 'tbody tr',
  '/console/leads?search=son': 'tbody tr',
  '/console/leads?sort=lead_score:desc': 'tbody tr',
};

const [url, key] = process.argv.slice(2);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const flags = ['--no-sandbox', '--disable-gpu'];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });
const times = Object.fromEntries(Object.keys(PAGES).map((path) => [path, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [path, shown] of Object.entries(PAGES)) {
    // A new profile each time, without a cache.
    const page = await browser.newPage();
    const start = performance.now();
    await page.goto(`${url}${path}#key=${key}`);
    await page.locator(shown).first().waitFor();
    times[path].push(performance.now() - start);
    await page.close();
  }
}
for (const [path, all] of Object.entries(times)) {
  console.log(`${path}: ${median(all).toFixed()} ms (${all.map((ms) => ms.toFixed()).join(', ')})`);
}
await browser.close();
