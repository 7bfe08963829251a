// Platformatic's REST API of one table. Run by peers/platformatic.mjs with one argument:
// {installed, connectionString, port, poolSize}.
import { createRequire } from 'node:module';
import path from 'node:path';

const { installed, port, ...database } = JSON.parse(process.argv[2]);
const require = createRequire(path.join(installed, 'package.json'));

const app = require('fastify')();
app.register(require('@platformatic/sql-mapper'), { ...database, autoTimestamp: true });
app.register(require('@platformatic/sql-openapi'));
await app.listen({ host: '127.0.0.1', port });
