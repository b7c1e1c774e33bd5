import { expect, test } from 'vitest';
import { cutSample, type Draft, expressionOf, guess, inputOf, readsAs } from './profile';

const usage = { id: 1, imsi: '901405100000001', sim: { iccid: '8988280666000000001', id: 7 }, start_timestamp: '2026-11-20T10:00:00Z', end_timestamp: '2026-11-20T10:10:00Z', volume: { tx: 1.5, rx: 0.25 } };
const byField = (draft: Pick<Draft, 'fields'>) => Object.fromEntries(draft.fields.map(({ field, expression }) => [field, expression]));

test('a first profile names the fields of a JSON document', () => {
  const draft = guess(JSON.stringify([usage]));
  expect(draft).toEqual({ format: 'JSON', records: '', delimiter: '', unit: 'BYTES', fields: draft.fields });
  expect(byField(draft)).toEqual({
    PHYSICAL_ID: 'r.sim.iccid', STARTED_AT: 'r.start_timestamp', ENDED_AT: 'r.end_timestamp', MOBILE_ORIGINATED: 'r.volume.tx', MOBILE_TERMINATED: 'r.volume.rx', RECORD_ID: 'r.id',
  });
});

test('records are found below names, one a line, and in events', () => {
  expect(guess(JSON.stringify({ meta: { page: 1 }, data: { items: [usage] } }))).toMatchObject({ format: 'JSON', records: 'data.items' });
  expect(guess(JSON.stringify(usage))).toMatchObject({ format: 'JSON', records: '' });
  expect(guess(`${JSON.stringify(usage)}\n${JSON.stringify(usage)}\n`).format).toBe('NDJSON');
  expect(guess(JSON.stringify({ specversion: '1.0', data: { sim_iccid: '89' } }))).toMatchObject({ format: 'CLOUDEVENTS', fields: [{ field: 'PHYSICAL_ID', expression: 'r.data.sim_iccid' }] });
  expect(guess(`[${JSON.stringify(usage)}, {"broken`)).toMatchObject({ format: 'JSON', records: '' });
});

test('a first profile reads the header of CSV, its separator and its unit', () => {
  const draft = guess('\ufeff"Phone no";Start;kB\r\n+4477;19.11.2026 10:00;1,5\r\n');
  expect(draft).toEqual({ format: 'CSV', records: '', delimiter: ';', unit: 'KB', fields: [{ field: 'MSISDN', expression: 'r["Phone no"]' }, { field: 'STARTED_AT', expression: 'r.Start' }, { field: 'VOLUME', expression: 'r.kB' }] });
  expect(guess('').fields).toEqual([]);
});

test('names that are no identifiers, or words of the language, are written in brackets', () => {
  expect(expressionOf(['sim', 'iccid'])).toBe('r.sim.iccid');
  expect(expressionOf(['Phone no'])).toBe('r["Phone no"]');
  expect(expressionOf(['in', 'a"b'])).toBe('r["in"]["a\\"b"]');
});

test('a long sample is cut to whole records', () => {
  const rows = Array.from({ length: 150 }, (_, i) => `${i},"two\nlines"`);
  expect(cutSample(`a,b\n${rows.join('\n')}\n`, 'CSV').split('two').length - 1).toBe(100);
  expect(cutSample('{"a":1}\n{"a":2}\n', 'NDJSON', 1)).toBe('{"a":1}\n');
  expect(cutSample('[{"a":"],["},{"a":9007199254740993},3]', 'JSON', 2)).toBe('[{"a":"],["},{"a":9007199254740993}]');
  expect(cutSample('{"data":{"items":[1,[2,3],4]},"meta":1}', 'JSON', 2)).toBe('{"data":{"items":[1,[2,3]]}}');
  for (const short of ['[1,2]', '{"a":1}', '', '[']) expect(cutSample(short, 'JSON', 2)).toBe(short);
  const long = `[${Array.from({ length: 90 }, () => JSON.stringify({ text: 'x'.repeat(5_000) })).join(',')}]`;
  expect(JSON.parse(cutSample(long, 'JSON')).length).toBe(39);
});

test('a draft is sent without what is empty, and is compared by what it reads', () => {
  const draft: Draft = { name: ' a ', description: '', format: 'JSON', records: '', delimiter: '', skip: '', counters: 'DELTA', unit: 'BYTES', direction: 'MOBILE_TERMINATED', timeZone: 'UTC', fields: [{ field: 'IMSI', expression: 'r.imsi' }, { field: 'APN', expression: ' ' }], dateFormats: 'unix\n\n dd.MM.yyyy ' };
  expect(inputOf(draft)).toMatchObject({ name: 'a', fields: [{ field: 'IMSI', expression: 'r.imsi' }], dateFormats: ['unix', 'dd.MM.yyyy'] });
  expect(readsAs(draft, { ...draft, name: 'b' })).toBe(true);
  expect(readsAs(draft, { ...draft, unit: 'MB' })).toBe(false);
});
