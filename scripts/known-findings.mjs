// Compares what a check finds with a file of known findings, one on each line.
import { readFileSync } from 'node:fs';

/**
 * Fails the process if a finding is not in the file, or if a line of the file is no longer found.
 * @param findings a map from each finding to a place where it is
 */
export function compareWithKnown(check, file, findings) {
  const lines = readFileSync(file, 'utf8').split('\n');
  const known = new Set(lines.filter((line) => line !== ''));
  const problems = [
    ...[...findings]
      .filter(([finding]) => !known.has(finding))
      .map(([finding, place]) => `${finding} (${place})`),
    ...[...known]
      .filter((finding) => !findings.has(finding))
      .map((finding) => `no longer found, so remove it from ${file}: ${finding}`),
  ].sort();
  for (const problem of problems) console.error(`${check}: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`${check}: nothing new; ${known.size} known in ${file}`);
}
