// Bytes for people: in SI units, which count in 1000, as mails and tariffs do. IEC
// units, which count in 1024, are a choice that the browser keeps.
import { useSyncExternalStore } from 'react';

export type System = 'IEC' | 'SI';

const key = 'simgraph:units';
const listeners = new Set<() => void>();
let system: System = localStorage.getItem(key) === 'IEC' ? 'IEC' : 'SI';

export function setSystem(next: System) {
  system = next;
  localStorage.setItem(key, next);
  listeners.forEach((listener) => listener());
}

export const useSystem = (): System =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => system,
  );

const prefixes = { IEC: ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'], SI: ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'] };
const bases = { IEC: 1024, SI: 1000 };

/** The factor and name of the unit in which n is best written. */
export function scaleOf(n: number, of: System = system): { factor: number; unit: string } {
  const base = bases[of];
  let power = 0;
  while (Math.abs(n) >= base ** (power + 1) * 0.9995 && power < prefixes[of].length - 1) power++;
  return { factor: base ** power, unit: prefixes[of][power]! };
}

/** Bytes with three significant digits, such as 1.23 GB. */
export function bytes(n: number | string, of: System = system): string {
  const value = Number(n);
  const { factor, unit } = scaleOf(value, of);
  return `${significant(value / factor)}\u00a0${unit}`;
}

function significant(n: number): string {
  const digits = Math.abs(n) >= 100 ? 0 : Math.abs(n) >= 10 ? 1 : 2;
  return n.toLocaleString('en', { maximumFractionDigits: digits });
}

export const count = (n: number | string): string => Number(n).toLocaleString('en');

/** Such as 1.2 M, for axes and tiles. */
export const short = (n: number): string => n.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A share of one, in whole percent; what is not all or nothing does not read so. */
export const percent = (share: number): string => (share > 0 && share < 0.01 ? '< 1 %' : share > 0.99 && share < 1 ? '> 99 %' : `${count(Math.round(share * 100))} %`);

/** A share such as +12 %, or null when there is nothing to compare with. */
export function change(now: number, before: number): string | null {
  if (before === 0) return null;
  const share = (now / before - 1) * 100;
  return `${share >= 0 ? '+' : '−'}${Math.abs(share).toLocaleString('en', { maximumFractionDigits: Math.abs(share) < 10 ? 1 : 0 })}\u00a0%`;
}

const factors: Record<string, bigint> = {
  b: 1n, kb: 1000n, mb: 1000n ** 2n, gb: 1000n ** 3n, tb: 1000n ** 4n, pb: 1000n ** 5n,
  kib: 1024n, mib: 1024n ** 2n, gib: 1024n ** 3n, tib: 1024n ** 4n, pib: 1024n ** 5n,
};

/** Reads "500 MB", "1.5 GiB" or plain bytes; null when it is none of these. Exact. */
export function parseBytes(text: string): string | null {
  const found = /^\s*(\d+)(?:[.,](\d{1,9}))?\s*([kmgtp]?i?b)?\s*$/i.exec(text);
  const factor = factors[(found?.[3] ?? 'b').toLowerCase()];
  if (!found || factor === undefined) return null;
  const fraction = found[2] ?? '';
  return ((BigInt(found[1]! + fraction) * factor) / 10n ** BigInt(fraction.length)).toString();
}
