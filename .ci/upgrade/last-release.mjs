import { execFileSync } from 'node:child_process';

/** The output of git. */
export function git(repository, ...args) {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: 'pipe' }).trim();
}

/**
 * Compares the last release with the tags of a repository. It is the newest one. If the code has the version of the newest
 * tag, the code can be that of the release itself, and the last release can be the one before. Without tags, the commit
 * that is named counts.
 * @param release what `release.json` names
 * @param version the version of the code
 * @throws Error if another release is the last one
 */
export function assertLastRelease(repository, release, version) {
  const [newest, previous] = git(repository, 'tag', '--list', 'v*', '--sort=-version:refname')
    .split('\n')
    .filter((tag) => tag !== '');
  if (newest === undefined) return;
  const possible = newest === `v${version}` ? [newest, previous] : [newest];
  const named = `v${release.version}`;
  if (possible.includes(named) && git(repository, 'rev-list', '-n1', named) === release.commit) {
    return;
  }
  throw new Error(`.ci/upgrade/release.json names ${named}, but the last release is ${newest}`);
}
