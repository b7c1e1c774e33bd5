import { buildSchema, Kind, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import sdl from '../../../docs/schema.graphql?raw';
import { operationOf, resultOf, risen } from './ask';
import { plain } from './plain';
import { changedTo, charts, type Definition, definitionOf, faultOf, inWords, intervals, measures, paramsOf, splits } from './question';
import { ready } from './ready';
import { spanOf } from './span';

const calendar = { timeZone: 'Europe/Berlin', billingDay: 1, currentPeriod: { startsAt: '2026-10-31T23:00:00Z', endsAt: '2026-11-30T23:00:00Z' } };
const now = Date.parse('2026-11-20T10:00:00Z');
const first = definitionOf(new URLSearchParams());

/** All that the controls can choose, one after another, from each of the others. */
function* reachable(): Generator<Definition> {
  for (const [chart] of charts) {
    for (const [split] of [...splits, [null] as const]) {
      for (const [measure] of measures) {
        for (const groupId of [null, 7]) yield changedTo(changedTo(changedTo(changedTo(first, { chart }), { split }), { measure }), { groupId });
      }
    }
  }
}

describe('questions', () => {
  it('stand in the address as a whole', () => {
    for (const d of [...reachable(), ...ready.map(({ definition }) => definition)]) expect(definitionOf(new URLSearchParams(paramsOf(d)))).toEqual(d);
  });
  it('that the controls give can be asked, in operations that the schema knows', () => {
    const schema = buildSchema(sdl);
    const operations = new Set<string>();
    const declared = new Map<string, string[]>();
    for (const d of [...reachable(), ...ready.map(({ definition }) => definition)]) {
      expect([inWords(d), faultOf(d)]).toEqual([inWords(d), null]);
      const { document, variables } = operationOf(d, spanOf(d, calendar, now), calendar.timeZone);
      if (!declared.has(document)) declared.set(document, parse(document).definitions.flatMap((one) => (one.kind === Kind.OPERATION_DEFINITION ? (one.variableDefinitions ?? []) : [])).map(({ variable }) => variable.name.value));
      expect(Object.keys(variables).filter((name) => !declared.get(document)!.includes(name))).toEqual([]);
      operations.add(document).add(plain(document, variables).query);
    }
    for (const query of operations) expect([query, ...validate(schema, parse(query))]).toEqual([query]);
  }, 60_000);
  it('that cannot be asked say why', () => {
    const faulty: Partial<Definition>[] = [
      { span: 'DAYS' }, { span: 'DAYS', firstDay: '2026-02-30', lastDay: '2026-03-02' }, { span: 'DAYS', firstDay: '2026-03-02', lastDay: '2026-03-01' }, { span: 'LAST_YEAR', interval: 'HOUR' },
      { span: 'LAST_YEAR', split: 'COUNTRY', chart: 'TOP' }, { measure: 'SESSIONS', split: 'PROTOCOL', chart: 'TOP' }, { chart: 'NUMBER', split: 'GROUP' }, { groupId: 1, tagName: 'x' },
    ];
    for (const change of faulty) expect(faultOf({ ...first, ...change })).not.toBeNull();
    for (const [interval] of intervals) expect(faultOf({ ...first, interval })).toBeNull();
  });
  it('read what is wrong in an address as not said', () => {
    expect(definitionOf(new URLSearchParams('span=SOON&measure=MOOD&group=x&split=PIE'))).toMatchObject({ span: 'THIS_PERIOD', measure: 'TOTAL', groupId: null, split: null });
  });
});

describe('answers', () => {
  const span = { from: Date.parse('2026-09-30T22:00:00Z'), to: now, before: { from: 0, to: now }, isRunning: true };
  const of = (change: Partial<Definition>): Definition => ({ ...first, compare: null, ...change });
  it('of several months add up, with the others in one', () => {
    const point = (start: string, total: string) => ({ start, total });
    const series = (value: string, total: string, start: string) => ({ value, label: value, isOthers: false, total, points: [point(start, total)] });
    const values = (start: string) => Array.from({ length: 10 }, (_, i) => series(`C${i}`, String(10 - i), start));
    const [october, november] = ['2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z'];
    const result = resultOf({ of: { asked1: { totals: { total: '55' }, seriesBy: values(october) }, asked2: { totals: { total: '55' }, seriesBy: values(november) } } }, of({ split: 'COUNTRY', chart: 'STACKED', interval: 'MONTH' }), span, now)!;
    expect(result.total).toBe(110);
    expect(result.parts.map(({ label, total }) => `${label} ${total}`)).toEqual(['C0 20', 'C1 18', 'C2 16', 'C3 14', 'C4 12', 'C5 10', 'C6 8', 'C7 6', 'others 6']);
    expect(result.parts.at(-1)!.values).toEqual([3, 3]);
    expect(result.parts.reduce((all, { total }) => all + total, 0)).toBe(result.total);
  });
  it('list what rose first, and do not guess what was not listed before', () => {
    const share = (value: string, total: number) => ({ value, label: value, total: String(total) });
    const d = of({ chart: 'RISERS', split: 'TARIFF', compare: 'BEFORE' });
    const usage = (list: ReturnType<typeof share>[]) => ({ totals: { total: '0' }, breakdown: list });
    const some = resultOf({ of: { asked: usage([share('a', 9), share('b', 8)]), before: usage([share('a', 9), share('c', 4)]) } }, d, span, now)!;
    expect(some.parts.map(({ label, total, before }) => [label, total, before])).toEqual([['b', 8, 0], ['a', 9, 9], ['c', 0, 4]]);
    const full = Array.from({ length: 100 }, (_, i) => share(`t${i}`, 1));
    const cut = resultOf({ of: { asked: usage([share('new', 9)]), before: usage(full) } }, d, span, now)!;
    expect(cut.parts[0]).toMatchObject({ label: 'new', before: undefined, atMost: 1 });
    expect(risen(cut.parts[0]!)).toBe(8);
  });
  it('leave out a day of which the span has no whole hour', () => {
    const days = { from: Date.parse('2026-11-02T04:00:00Z'), to: Date.parse('2026-11-03T04:00:00Z'), before: null, isRunning: false };
    const series = [{ start: '2026-11-02T03:30:00Z', total: '5' }, { start: '2026-11-03T03:30:00Z', total: '0' }];
    expect(resultOf({ of: { asked: { totals: { total: '5' }, series } } }, of({}), days, now)!.times).toEqual([Date.parse('2026-11-02T03:30:00Z')]);
  });
  it('are null where the caller sees no such group', () => expect(resultOf({ of: null }, first, span, now)).toBeNull());
});
