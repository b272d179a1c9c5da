// Runs as data: what the page lets one download and what the desktop program writes, and their half-times.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { ROOT } from './harness.mjs';

// The files of a zip: name to bytes. Reads what the list at its end says.
export function unzip(zip) {
  const files = {};
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'));
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [method, size] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field));
    const local = zip.readUInt32LE(at + 42);
    const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const packed = zip.subarray(from, from + size);
    files[zip.toString('utf8', at + 46, at + 46 + name)] = method === 0 ? packed : inflateRawSync(packed);
    at += 46 + name + extra + comment;
  }
  return files;
}

// A run from its files, wherever they were written.
function runOf(read) {
  return { ...JSON.parse(read('run.json')), rows: rowsOf(String(read('metrics.csv'))) };
}

export function runOfZip(zip) {
  const files = unzip(zip);
  const named = (name) => Object.entries(files).find(([path]) => path.split('/').pop() === name)[1];
  return runOf(named);
}

// `rows[step][index]`: the values of sigma, one a member.
function rowsOf(csv) {
  const rows = new Map();
  for (const line of csv.trim().split('\n').slice(1)) {
    const [step, , , metric, index, value] = line.split(',');
    if (metric !== 'sigma') continue;
    const row = rows.get(Number(step)) ?? rows.set(Number(step), []).get(Number(step));
    (row[Number(index)] ??= []).push(Number(value));
  }
  return rows;
}

// The same run by the desktop program.
export function desktop(...options) {
  const folder = mkdtempSync(join(tmpdir(), 'plateau-'));
  try {
    execFileSync(`${ROOT}target/release/plateau`, ['-q', 'run', 'saxe', '--out', join(folder, 'run'), ...options], { stdio: 'pipe' });
    return runOf((name) => readFileSync(join(folder, 'run', name)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// Steps at which the median of each mode over the members reaches half its target, between rows in a straight line.
export function halfTimes(run) {
  return run.spec.model.spectrum.map((strength, mode) => {
    let before;
    for (const [step, row] of run.rows) {
      const value = median(row[mode]);
      if (value >= strength / 2) {
        return before ? before[0] + ((step - before[0]) * (strength / 2 - before[1])) / (value - before[1]) : step;
      }
      before = [step, value];
    }
    return undefined;
  });
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}
