// Loaded before Latitude. It records the files of dist/src that each `POST /api/v1/leads` enters, and appends a line of JSON
// for each request to the file of the parameter `report` of its URL.
import diagnostics from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import inspector from 'node:inspector';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { LeadsService } from '../../dist/src/modules/leads/leads.service.js';

const SOURCES = `${pathToFileURL(path.resolve(import.meta.dirname, '../../dist/src'))}/`;

/** A text in the body of each request. */
const MARKER = 'Traced Lead';
const report = new URL(import.meta.url).searchParams.get('report');

const session = new inspector.Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** @returns the files with functions that were called since the last time. The session calls back at once. */
function filesEntered() {
  let files;
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    files = result
      .filter(({ url, functions }) => url.startsWith(SOURCES) && functions.some(isCalled))
      .map(({ url }) => url.slice(SOURCES.length).replace(/\.js$/, '.ts'));
  });
  return files;
}

function isCalled({ ranges: [{ count }] }) {
  return count > 0;
}

/** The parts of the running request. There is one request at a time. */
let parts;

diagnostics.subscribe('http.server.request.start', ({ request }) => {
  if (request.method !== 'POST' || request.url !== '/api/v1/leads') return;
  filesEntered();
  parts = {};
});

diagnostics.subscribe('http.server.response.finish', () => {
  // Listeners of `finish` are part of the request.
  setImmediate(() => {
    if (!parts) return;
    parts.after = filesEntered();
    appendFileSync(report, `${JSON.stringify(parts)}\n`);
    parts = undefined;
  });
});

/** Ends a part of the running request, unless it has ended. */
function endPart(name) {
  if (parts) parts[name] ??= filesEntered();
}

const { create } = LeadsService.prototype;
LeadsService.prototype.create = function (...args) {
  endPart('before');
  return create.apply(this, args);
};

const { bind } = pg.Connection.prototype;
pg.Connection.prototype.bind = function (config, ...others) {
  // Other connections can send statements meanwhile, such as the look-up of a key.
  if (JSON.stringify(config.values).includes(MARKER)) endPart('service');
  return bind.call(this, config, ...others);
};
