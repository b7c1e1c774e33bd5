import { expect, test } from 'vitest';
import { linesOf } from './Template';
import { columnsOf, fields, guess, needed } from './upload';

const file = (text: string | Uint8Array<ArrayBuffer>) => new File([text], 'sims.csv');

test('the columns of a file are read with comma or semicolon, and behind a byte order mark', async () => {
  expect(await columnsOf(file('physicalId,nickname\n1,van\n'))).toEqual(['physicalId', 'nickname']);
  expect(await columnsOf(file('\ufeffphysicalId;nickname\r\n1;van\r\n'))).toEqual(['physicalId', 'nickname']);
});

test('columns are assigned by their names, each field once', () => {
  const mapped = guess(['ICCID', 'nickname', 'something else', 'nickname']);
  expect(mapped[1]).toBe('nickname');
  expect(mapped[2]).toBe('');
  expect(mapped.filter((field) => field === 'nickname')).toHaveLength(1);
});

test('a template has what its cells can name, as notes', () => {
  const lines = linesOf({
    tariffs: { nodes: [{ name: 'IoT 50' }], pageInfo: { hasNextPage: true } },
    operators: { nodes: [{ code: '23415', name: 'Vodafone UK' }], pageInfo: { hasNextPage: false } },
    groups: { nodes: [{ groupId: 12, name: 'Vans' }], pageInfo: { hasNextPage: false } },
  }, true);
  expect(lines[0]).toEqual([...fields]);
  expect(lines.slice(1).every(([first]) => String(first).startsWith('# '))).toBe(true);
  expect(lines.slice(-4)).toEqual([['# tariffName', 'IoT 50'], ['# tariffName', '…', 'there are more'], ['# operatorCode', '23415', 'Vodafone UK'], ['# groupId', 12, 'Vans']]);
  for (const field of needed) expect(lines[3]?.[fields.indexOf(field)]).toBeTruthy();
});
