import { useRef } from 'react';
import { day, moment, startOfDay } from '../format/time';
import { Problem, problemOf } from './problem';

/** The fields of what is read now that differ from what was shown; of some fields, where they are named. */
export function changedOf<T extends object>(shown: T, now: Partial<T>, of?: string[]): (keyof T)[] {
  return (Object.keys(now) as (keyof T & string)[]).filter((key) => (!of || of.includes(key)) && JSON.stringify(shown[key]) !== JSON.stringify(now[key]));
}

/** Writes what somebody else has made of fields into the form, by field; whole is all that is there now. */
export type Take<T> = { [K in keyof T]?: (value: T[K], whole: T) => void };

export interface MadeFrom {
  /**
   * Sends an edit with the version that it was made from. Where somebody else has changed one of the
   * fields since, those of take when none are named, it fails with STALE, and the next one is made
   * from what is there now. Where others were changed, it is sent again: they are not written over.
   */
  send: <R>(edit: (expectedVersion: string) => Promise<R>, fields?: string[]) => Promise<R>;
  /** Writes into the form what the last STALE was about. */
  takeTheirs: () => void;
  /** What the last STALE was about: the fields with what somebody else has made of them. */
  theirs: () => Record<string, unknown>;
}

/** How often an edit is sent again while others change what it does not. */
const mostTries = 5;

/**
 * Edits what a form was made from, which is read again where somebody else has changed it meanwhile.
 * What was changed is said in the zone in which the form shows times; one without times needs none.
 */
export function useMadeFrom<T extends { version: string }>(of: T | null | undefined, read: () => Promise<Partial<T> | null | undefined>, take: Take<T>, timeZone = 'UTC'): MadeFrom {
  const from = useRef(of);
  const theirs = useRef<Partial<T>>({});
  const send = async <R>(edit: (expectedVersion: string) => Promise<R>, fields = Object.keys(take)): Promise<R> => {
    for (let tries = 1; ; tries++) {
      const shown = from.current!;
      try {
        return await edit(shown.version);
      } catch (error) {
        if (problemOf(error).code !== 'STALE' || tries === mostTries) throw error;
      }
      const now = await read();
      if (!now) throw new Problem('NOT_FOUND', 'It is not there any more, or you may no longer see it.');
      from.current = { ...shown, ...now };
      const changed = changedOf(shown, now, fields);
      if (changed.length === 0) continue;
      theirs.current = Object.fromEntries(changed.map((key) => [key, now[key]])) as Partial<T>;
      const values = changed.map((key) => `“${wordsOf(key)}” from ${textOf(shown[key], timeZone)} to ${textOf(now[key], timeZone)}`);
      throw new Problem('STALE', `Somebody else has changed ${values.join(', ')}. Nothing is saved yet.`);
    }
  };
  const takeTheirs = () => {
    for (const key of Object.keys(theirs.current) as (keyof T)[]) take[key]?.(theirs.current[key] as T[typeof key], from.current!);
  };
  return { send, takeTheirs, theirs: () => theirs.current };
}

/** A field's name in words: tariffName is "tariff name", isDisabled "disabled". */
export const wordsOf = (key: PropertyKey) => String(key).replace(/^is(?=[A-Z])/, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase()).replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A moment as the graph and the audit log write it. */
const isMoment = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));

/** A value as people read it; a moment at which a day begins is that day. */
export function textOf(value: unknown, timeZone = 'UTC'): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (isMoment(value)) return startOfDay(Date.parse(value), timeZone) === Date.parse(value) ? day(value, timeZone) : moment(value, timeZone);
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((one) => textOf(one, timeZone)).join(', ');
  if (typeof value === 'object') return 'nodes' in value ? textOf(value.nodes, timeZone) : 'name' in value ? textOf(value.name, timeZone) : JSON.stringify(value);
  return String(value);
}

/** A change as the audit log has it. */
export interface Noted {
  field: string;
  after: string | null;
}

// Enums have other words in the log than in the graph, and long texts are cut there.
const bare = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Whether the log's text is of a value; undefined where that cannot be said, such as of a condition. */
function isOf(after: string | null, value: unknown): boolean | undefined {
  const text = after ?? '';
  if (value === null || value === undefined || value === '') return text === '';
  if (Array.isArray(value)) {
    if (value.some((one) => typeof one === 'object')) return undefined;
    const sorted = (list: unknown[]) => list.map((one) => bare(String(one))).sort().join();
    return text.endsWith('…') ? undefined : sorted(text === '' ? [] : text.split(', ')) === sorted(value);
  }
  if (typeof value === 'object') return undefined;
  if (isMoment(value)) return Date.parse(text) === Date.parse(value);
  return text.endsWith('…') ? bare(String(value)).startsWith(bare(text)) : bare(text) === bare(String(value));
}

const nameOf = (field: string) => wordsOf(field).replaceAll(' ', '');

/**
 * Whether an entry of the audit log made values what they are now: one that says so of any of them.
 * Where it can be said of none, an edit is taken for it, unless the subject is also changed by what has no entry of its own, such as an operation.
 */
export function hasMade({ action, changes }: { action: string; changes: readonly Noted[] }, now: Record<string, unknown>, isChangedUnnoted: boolean): boolean {
  const values = new Map(Object.entries(now).map(([field, value]) => [nameOf(field), value]));
  const said = changes.filter(({ field }) => values.has(nameOf(field))).map(({ field, after }) => isOf(after, values.get(nameOf(field)))).filter((is) => is !== undefined);
  return said.length > 0 ? said.includes(true) : !isChangedUnnoted && action.endsWith('.edit');
}
