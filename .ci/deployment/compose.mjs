// Reads docker/compose.yaml and checks it.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../server.mjs';

const DOCKER = path.join(ROOT, 'docker');

/** https://github.com/compose-spec/compose-spec/blob/main/schema/compose-spec.json (Apache License 2.0) */
const SCHEMA = path.join(import.meta.dirname, 'compose-spec.json');

/** Services that run the image of Latitude, and those that are instances of it. */
export const INSTANCES = ['latitude-1', 'latitude-2'];
const OF_LATITUDE = ['migrate', ...INSTANCES];

export function readCompose() {
  return parse(readFileSync(path.join(DOCKER, 'compose.yaml'), 'utf8'), { merge: true });
}

/** @returns what is wrong with the file, by the schema of Compose and by the rules of this project */
export async function problemsOfCompose(compose) {
  return [
    ...problemsBySchema(compose),
    ...problemsOfServices(compose),
    ...(await problemsOfSettings(compose)),
  ];
}

function problemsBySchema(compose) {
  const fromRoot = createRequire(path.join(ROOT, 'package.json'));
  const { Ajv } = fromRoot('ajv');
  const ajv = new Ajv({ allErrors: true, strict: false, allowUnionTypes: true });
  fromRoot('ajv-formats')(ajv);
  ajv.addFormat('ports', true).addFormat('expose', true).addFormat('subnet_ip_address', true);
  const { $schema: _, ...schema } = JSON.parse(readFileSync(SCHEMA, 'utf8'));
  ajv.validate(schema, compose);
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

function problemsOfServices({ services, secrets }) {
  const isChecked = (name) => INSTANCES.includes(name) || Boolean(services[name].healthcheck?.test);
  return Object.entries(services).flatMap(([name, service]) => {
    const problems = [];
    const expectThat = (isTrue, problem) => isTrue || problems.push(`${name} ${problem}`);
    expectThat(service.mem_limit !== undefined, 'has no memory limit');
    expectThat(isChecked(name) || service.restart === 'no', 'has no health check');
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const expected = isChecked(other) ? 'service_healthy' : 'service_completed_successfully';
      expectThat(condition === expected, `waits for ${other} with ${condition}`);
    }
    for (const secret of service.secrets ?? []) {
      expectThat(secrets[secret] !== undefined, `has the unknown secret ${secret}`);
    }
    const used = JSON.stringify([service.environment, service.command]);
    for (const [, secret] of used.matchAll(/\/run\/secrets\/(\w+)/g)) {
      expectThat(
        service.secrets?.includes(secret),
        `reads ${secret}, which is not among its secrets`,
      );
    }
    for (const volume of service.volumes ?? []) {
      const [source] = volume.split(':');
      const isThere = !source.startsWith('.') || existsSync(path.join(DOCKER, source));
      expectThat(isThere, `mounts ${source}, which does not exist`);
    }
    return problems;
  });
}

/** The variables of Latitude have to be settings, and the servers of haproxy.cfg instances. */
async function problemsOfSettings({ services }) {
  const settings = await import(path.join(ROOT, 'dist/src/platform/config/settings.js'));
  const unknown = OF_LATITUDE.flatMap((name) =>
    Object.keys(services[name].environment)
      .filter((variable) => !settings.SETTING_NAMES.includes(variable))
      .map((variable) => `${name} has the unknown setting ${variable}`),
  );
  const balancer = readFileSync(path.join(DOCKER, 'haproxy.cfg'), 'utf8');
  const servers = [...balancer.matchAll(/^ +server \S+ (\S+):3000$/gm)].map(([, host]) => host);
  const isSame = servers.join() === INSTANCES.join();
  return isSame ? unknown : [...unknown, `haproxy.cfg has the servers ${servers.join()}`];
}
