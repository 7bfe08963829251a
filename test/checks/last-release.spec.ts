import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const MODULE = pathToFileURL(path.resolve('.ci/upgrade/last-release.mjs')).href;

let repository: string;
let commits: Record<'first' | 'second', string>;

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=n', '-c', 'user.email=n@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd: repository, encoding: 'utf8' }).trim();
}

function commit(message: string): string {
  git('commit', '--quiet', '--allow-empty', '--no-gpg-sign', '-m', message);
  return git('rev-parse', 'HEAD');
}

beforeEach(() => {
  repository = mkdtempSync(path.join(tmpdir(), 'latitude-releases-'));
  git('init', '--quiet');
  commits = { first: commit('0.3.0'), second: commit('0.4.0') };
});
afterEach(() => {
  rmSync(repository, { recursive: true });
});

/** Checks the last release in a process of its own, because Jest does not load modules of .ci. @returns the error */
function problem(release: { version: string; commit: string }, version: string): string {
  const call = `assertLastRelease(${[repository, release, version].map((value) => JSON.stringify(value)).join(', ')})`;
  const program = `import { assertLastRelease } from '${MODULE}';
    try { ${call} } catch (error) { console.log(error.message) }`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  }).trim();
}

const release = (version: string, of: keyof typeof commits) => ({ version, commit: commits[of] });
const tagFirst = () => git('tag', 'v0.3.0', commits.first);
const tagBoth = () => [tagFirst(), git('tag', 'v0.4.0', commits.second)];

describe('the last release of the tests of upgrades', () => {
  it('is the one that is named if the repository has no tags', () => {
    expect(problem(release('0.3.0', 'first'), '0.4.0')).toBe('');
  });

  it.each(['0.3.0', '0.4.0'])('is that of the only tag, with code of version %s', (version) => {
    tagFirst();
    expect(problem(release('0.3.0', 'first'), version)).toBe('');
    expect(problem(release('0.2.0', 'first'), version)).toContain('the last release is v0.3.0');
    expect(problem(release('0.3.0', 'second'), version)).toContain('names v0.3.0');
  });

  it('can be the one before the newest tag if the code has the version of this tag', () => {
    tagBoth();
    expect(problem(release('0.3.0', 'first'), '0.4.0')).toBe('');
    expect(problem(release('0.4.0', 'second'), '0.4.0')).toBe('');
    expect(problem(release('0.2.0', 'first'), '0.4.0')).toContain('the last release is v0.4.0');
  });

  it('is that of the newest tag if the code has a later version', () => {
    tagBoth();
    expect(problem(release('0.4.0', 'second'), '0.5.0')).toBe('');
    expect(problem(release('0.3.0', 'first'), '0.5.0')).toContain('the last release is v0.4.0');
  });
});
