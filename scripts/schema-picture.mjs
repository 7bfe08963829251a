// Writes src/ops/doctor/schema.txt: the schema that the migrations of the build create, as src/ops/doctor/schema-picture.sql describes it.
// It uses a temporary PostgreSQL, or that of TEST_DATABASE_URL.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withClient } from '../src/testing/cluster.mjs';
import setUp from '../src/testing/global-setup.mjs';
import tearDown from '../src/testing/global-teardown.mjs';

process.chdir(path.dirname(import.meta.dirname));
await setUp();
const { template, ...cluster } = JSON.parse(process.env.LATITUDE_TEST_CLUSTER);
const picture = readFileSync('src/ops/doctor/schema-picture.sql', 'utf8');
const { rows } = await withClient(cluster, (client) => client.query(picture), template);
writeFileSync('src/ops/doctor/schema.txt', rows.map(({ line }) => `${line}\n`).join(''));
await tearDown();
