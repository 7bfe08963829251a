import { createServer } from 'node:http';
import { LatitudeClient } from 'latitude-client';

const { LATITUDE_URL, LATITUDE_KEY, TIME_ZONE = 'UTC', PORT = '8080' } = process.env;
const client = new LatitudeClient({ baseUrl: LATITUDE_URL, apiKey: LATITUDE_KEY });
const { data: resources } = await client.resources.list({ active: true, limit: 20 });
const any_of = resources.map(({ id }) => id);
const clock = { dateStyle: 'full', timeStyle: 'short', timeZone: TIME_ZONE };
const local = (time) => new Date(time).toLocaleString('en', clock);
const safe = (text) => String(text).replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
const hidden = (name, value) => `<input type="hidden" name="${name}" value="${safe(value)}">`;

const choice = (slots) =>
  slots.map(({ start_time, end_time }) => {
    const fields = hidden('start_time', start_time) + hidden('end_time', end_time);
    return `<form method="post" action="/hold">${fields}<button>${local(start_time)}</button></form>`;
  });

/** The hours of the next seven days in which somebody is free. */
async function start() {
  const [from, to] = [0, 7].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
  const hour = { duration_minutes: 60, step_minutes: 60 };
  const { data } = await client.availability({ resource_id: any_of, from, to, ...hour });
  const slots = new Map(data.flatMap((one) => one.slots.map((slot) => [slot.start_time, slot])));
  return choice([...slots.keys()].sort().map((time) => slots.get(time)));
}

/** Keeps the time for five minutes, and asks who comes. */
async function hold({ start_time, end_time }) {
  const { id } = await client.holds.create({ any_of, start_time, end_time, seconds: 300 });
  return `<p>${local(start_time)} is yours for five minutes.</p>
    <form method="post" action="/book">${hidden('hold_id', id)}<input name="first_name" placeholder="Name">
    <input name="email" placeholder="E-mail"><button>Book</button></form>`;
}

/** Makes the hold an appointment. A form that is sent twice books once. */
async function book({ hold_id = '', first_name, email }) {
  const data = { first_name, email };
  const { record } = await client.leads.upsert({ match_on: ['email'], data });
  const booking = { lead_id: record.id, hold_id };
  const made = await client.appointments.create(booking, { idempotencyKey: `book-${hold_id}` });
  return `<p>Booked: ${local(made.start_time)}. See you!</p>`;
}

/** What the page says about an error, with times that are free. */
async function refusal({ code, message, details }) {
  if (code === 'slot_taken') return ['Somebody was faster. Free next:', ...choice(details[0].free)];
  if (code === 'not_found') return ['The five minutes are over.', ...(await start())];
  return [code === 'validation_error' ? safe(message) : 'Please try again later.'];
}

const pages = { 'GET /': start, 'POST /hold': hold, 'POST /book': book };
createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) if (body.length < 10_000) body += chunk;
  const form = Object.fromEntries(new URLSearchParams(body));
  const show = pages[`${request.method} ${request.url}`] ?? start;
  const parts = await show(form)
    .catch(refusal)
    .catch(() => ['Please try again later.']);
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(
    `<!doctype html><title>Book an hour</title><h1>Book an hour</h1>${[parts].flat().join('')}`,
  );
}).listen(PORT);
