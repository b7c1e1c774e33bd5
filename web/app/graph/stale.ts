import { useRef } from 'react';
import { Problem } from './problem';

/** The fields of what is read now that differ from what was shown; of some fields, where they are named. */
export function changedOf<T extends object>(shown: T, now: Partial<T>, of?: string[]): (keyof T)[] {
  return (Object.keys(now) as (keyof T & string)[]).filter((key) => (!of || of.includes(key)) && JSON.stringify(shown[key]) !== JSON.stringify(now[key]));
}

/**
 * Returns a check that an edit makes before it is saved: it reads again what the form
 * was made from, and throws STALE where somebody else has changed it since. The next
 * save compares with what the last check has read, so it goes on. A form that sends some
 * fields names them: the others are not written over.
 */
export function useMadeFrom<T extends object>(of: T | null, read: () => Promise<Partial<T> | null | undefined>): (fields?: string[]) => Promise<void> {
  const from = useRef(of);
  return async (fields) => {
    if (from.current === null) return;
    const now = await read();
    if (!now) throw new Problem('NOT_FOUND', 'It is not there any more, or you may no longer see it.');
    const shown = from.current;
    const changed = changedOf(shown, now, fields);
    if (changed.length === 0) return;
    from.current = { ...shown, ...now };
    const values = changed.map((key) => `“${wordsOf(key)}” from ${textOf(shown[key])} to ${textOf(now[key])}`);
    throw new Problem('STALE', `Somebody else has changed ${values.join(', ')}. Nothing is saved yet. Save again to replace that by what stands in this form, or cancel.`);
  };
}

/** A field's name in words: tariffName is "tariff name", isDisabled "disabled". */
export const wordsOf = (key: PropertyKey) => String(key).replace(/^is(?=[A-Z])/, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase()).replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A value as people read it. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(textOf).join(', ');
  if (typeof value === 'object') return 'nodes' in value ? textOf(value.nodes) : 'name' in value ? textOf(value.name) : JSON.stringify(value);
  return String(value);
}
