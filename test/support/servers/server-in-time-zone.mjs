/**
 * A second instance on the database of a test. It is a separate process, because TZ changes the time zone of
 * a process. It sends its port to its parent. Each message of the parent is a time zone, and it replies when
 * it has changed to this zone. Usage: server-in-time-zone.mjs <database as JSON>
 */
import { createApp } from '../../../dist/src/app.js';
import { setLogLevel } from '../../../dist/src/platform/config/logger.js';
import { readSettings } from '../../../dist/src/platform/config/settings.js';

const unlimited = '1000000';
const settings = readSettings({
  LOG_LEVEL: 'silent',
  RATE_LIMIT_READS_PER_MINUTE: unlimited,
  RATE_LIMIT_WRITES_PER_MINUTE: unlimited,
});
setLogLevel(settings.logLevel);
const app = await createApp({ settings, database: JSON.parse(process.argv[2]) });
await app.listen(0, '127.0.0.1');
process.on('message', (zone) => {
  process.env.TZ = zone;
  process.send(zone);
});
process.on('disconnect', () => process.exit());
process.send(app.getHttpServer().address().port);
