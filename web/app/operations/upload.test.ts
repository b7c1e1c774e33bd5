import { expect, test } from 'vitest';
import { columnsOf, guess } from './upload';

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
